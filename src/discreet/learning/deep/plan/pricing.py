"""What a training costs: the releases that dominate it, by its sampler, its noise and its number of steps."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.errors import MissingParameter, ParameterError
from discreet.laws import Enclosure
from discreet.laws.number import Number, round_down, round_up
from discreet.learning.deep.plan.mixing import sensitivity_ratio
from discreet.learning.deep.plan.noises import TrainingNoise
from discreet.learning.deep.plan.placed_samplers import BallsInBins, CyclicPoisson
from discreet.learning.deep.plan.samplers import BatchSampler, FullBatch, PoissonBatches
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, Guarantee, PrivacyLoss, Relation, Sampler, compose
from discreet.privacy.adaptive import gaussian_with_delta
from discreet.privacy.loss import gaussian_square
from discreet.privacy.numbers import as_computed, decimals, exactly, nonnegative, probability, root_upward, written
from discreet.privacy.records import ReleaseRecord

_LOOSE = 1e-2
_TIGHT = 2e-4  # the width of epsilon that is asked for, over epsilon


@dataclass(frozen=True, slots=True)
class TrainingPrice:
    """The price of a training: a record of its steps, and the chance that a batch was cut.

    Privacy. With d(e) the delta of the steps, the training has delta(e) <= (1 - tau) d(e) + tau, tau = `cut`; `delta`
        and `epsilon` are this bound, solved for one or the other.
        Proof: `BatchSampler`. Composition with ApproxDP(0, tau) has exactly this curve: with chance tau, apart from
        everything else, all is shown.
    """

    steps: ReleaseRecord
    cut: Fraction

    @property
    def records(self) -> tuple[ReleaseRecord, ...]:
        """The releases that together cost as much."""
        if not self.cut:
            return (self.steps,)
        who: dict[str, Any] = {"relation": self.steps.relation, "unit": self.steps.unit}
        return self.steps, ReleaseRecord.of("approx", epsilon=0, delta=self.cut, **who)

    @property
    def loss(self) -> PrivacyLoss:
        """The whole curve."""
        return compose(record.loss for record in self.records)

    def delta(self, epsilon: Number) -> Enclosure:
        """Return delta at an epsilon: that of the steps, and the chance that a batch was cut."""
        level = nonnegative(epsilon, name="epsilon")
        found = self.steps.loss.delta(level, tolerance=_TIGHT * max(float(level), _LOOSE))
        if not self.cut:
            return found
        low, middle, high = (
            Fraction(end) * (1 - self.cut) + self.cut for end in (found.lower, found.estimate, found.upper)
        )
        upper = min(round_up(high), 1.0)
        return Enclosure(min(round_down(low), upper), min(float(middle), upper), upper, found.method)

    def epsilon(self, delta: Number) -> Enclosure:
        """Return epsilon at a delta, of which a cut batch takes its chance away first.

        Accuracy. The ends are at most a few ten-thousandths apart: where the sharpest engine is fast they are much
        nearer, and where it is not (small rates, few steps) it would take minutes.
        """
        loss, left = self.steps.loss, round_down(self.of_steps(delta))
        if (
            self.steps.sampler is Sampler.BALLS_IN_BINS
        ):  # their law is wider than its answers: asking again tells little
            return loss.epsilon(left)
        near = loss.epsilon(left, tolerance=_LOOSE)
        return loss.epsilon(left, tolerance=_TIGHT * max(near.upper, _LOOSE)) if math.isfinite(near.upper) else near

    def of_steps(self, delta: Number) -> Fraction:
        """Return the delta that is left to the steps; it is read by its decimals, as ledgers read it."""
        stated = decimals(probability(delta, name="delta"))
        if stated <= self.cut and self.cut:
            raise ParameterError(
                "delta must be more than the chance 2^-60 that a batch is cut; got less, write delta=1e-6, for example",
                parameter="delta",
            )
        return (stated - self.cut) / (1 - self.cut)

    @property
    def mu_squared(self) -> Fraction | None:
        """The square of the mu of Gaussian DP where nobody is sampled, None where there is no useful one."""
        sampled = self.cut or self.steps.sampler is not Sampler.EVERYONE
        return None if sampled else gaussian_square(self.steps.loss)

    def under(self, budget: Guarantee, delta: Number | None) -> Guarantee:
        """Return what an account with a budget is charged: a point of the curve, or a mu or rho for all of it.

        Privacy. The training keeps the guarantee returned.
            Proof: an (epsilon, delta) budget: the point at delta. A Gaussian or zCDP budget, nobody sampled: mu, or
            rho = mu^2/2, of Gaussian releases. Somebody sampled: with d = (delta - tau)/(1 - tau) the steps are
            d-approximate mu-Gaussian DP (`gaussian_with_delta`), and with chance tau apart from that all is shown: the
            training is delta-approximate mu-Gaussian DP. Such a release shows all with chance delta and is else a
            post-processing of a normal pair, which is (mu^2/2)-zCDP.
        """
        relation, squared = self.steps.relation, self.mu_squared
        match budget:
            case GaussianDP() if squared is not None:
                return as_computed(GaussianDP(root_upward(squared), relation=relation))
            case ZCDP() if squared is not None:
                return ZCDP(exactly(squared / 2), relation=relation)
            case ApproxDP():
                return as_computed(ApproxDP(self.epsilon(_stated(delta)).upper, exact_delta(delta), relation=relation))
            case GaussianDP() | ZCDP() if Fraction(budget.delta):
                chance = exact_delta(delta)
                found = gaussian_with_delta(self.steps.loss, round_down(self.of_steps(_stated(delta))))
                if isinstance(budget, GaussianDP):
                    return as_computed(GaussianDP(found.mu, chance, relation=relation))
                return ZCDP(exactly(written(found.mu) ** 2 / 2), chance, relation=relation)
        raise ParameterError(
            "the budget must be in epsilon and delta, or in mu or rho with a delta in reserve, because a sampled "
            "training has no useful mu or rho without one; got another, write a ledger with gaussian_budget(epsilon=, "
            "delta=, reserve=), for example. Nothing was spent.",
            parameter="ledger",
        )


def exact_delta(delta: Number | None) -> Fraction:
    """Return the delta that a plan states, exactly."""
    return decimals(_stated(delta))


def _stated(delta: Number | None) -> Number:
    if delta is None:
        raise MissingParameter(
            "delta must be stated for this account; got none, write Plan(..., delta=1e-6), for example. Nothing was "
            "spent.",
            parameter="delta",
        )
    return delta


def price_of(sampler: BatchSampler, noise: TrainingNoise, steps: int, relation: Relation, unit: str) -> TrainingPrice:
    """Return the price of a training; raise an error where none is proven.

    Privacy. Let the noise have the coefficients k, and one participation move one x_t by at most D, so that it moves
    all releases by at most |k| D, which is 1/scale of the noise's deviation. Full batches: everyone takes part in every
    step. Fresh noise: `steps` Gaussian releases. Correlated noise: one Gaussian release, its sensitivity that of the
    pattern 0, 1, 2, ... Under change-one the person's two rows move x_t by at most 2 D.
        Proof: `mixing`; change-one is a removal and an addition, each of which moves x_t by at most D. Poisson batches,
        balls in bins and cyclic batches: see there.
    """
    sampler.refuse_relation(relation)
    release = _release(sampler, noise.coefficients(steps), steps, relation)
    record = ReleaseRecord.of(**release, scale=noise.scale, relation=relation, unit=unit)
    return TrainingPrice(record, sampler.overflow_chance(steps))


def _release(sampler: BatchSampler, mixed: Sequence[int], steps: int, relation: Relation) -> dict[str, Any]:
    """Return the kind of release, its sensitivity over what one participation moves, its sample and its count."""
    match sampler:
        case FullBatch():
            moves = 2 if relation is Relation.CHANGE_ONE else 1
            return _everyone(mixed, steps, separation=1, most=steps, moves=moves)
        case PoissonBatches(share=share):
            _refuse_correlated(sampler, mixed)
            return {"kind": "gaussian", "count": steps, **_poisson(share)}
        case BallsInBins(steps_per_epoch=bins):
            _refuse_correlated(sampler, mixed)
            return {
                "kind": "gaussian",
                "count": sampler.begun_epochs(steps),
                "sampler": "balls in bins",
                "rate": Fraction(1, bins),
            }
        case CyclicPoisson(cycle=cycle, group_rate=rate):
            if rate == 1:
                return _everyone(mixed, steps, separation=cycle, most=sampler.turns(steps))
            if len(mixed) > cycle:
                raise ParameterError(
                    f"bands must be at most the {cycle} groups of the sampler, because only then a release is moved by "
                    f"one participation; got {len(mixed)}, write fewer bands or more groups",
                    parameter="noise",
                )
            return {"kind": _kind(mixed), "count": sampler.turns(steps), **_poisson(rate)}
    raise ParameterError(
        f"sampler must be one that has a price here; got {type(sampler).__name__}, write PoissonBatches(rate=...) or "
        "FullBatch(), for example",
        parameter="sampler",
    )


def _everyone(mixed: Sequence[int], steps: int, *, separation: int, most: int, moves: int = 1) -> dict[str, Any]:
    """Return the Gaussian release to people who take part at least `separation` steps apart, unsampled."""
    if len(mixed) <= separation:  # columns that do not overlap: as many releases as participations
        return {"kind": _kind(mixed), "sensitivity": moves, "count": most}
    ratio = sensitivity_ratio(mixed, steps, separation=separation, most=most)
    return {"kind": "matrix gaussian", "sensitivity": root_upward(ratio * moves**2)}


def _refuse_correlated(sampler: BatchSampler, mixed: Sequence[int]) -> None:
    """Raise an error for correlated noise where a person may take part in neighboring steps of a sample."""
    if len(mixed) > 1:
        raise ParameterError(
            f"noise must be independent with {sampler.name}, where a person may take part in steps that follow each "
            "other; got correlated noise, write sampler=CyclicPoisson(rate=..., groups=...) or FullBatch() with it",
            parameter="noise",
        )


def _kind(mixed: Sequence[int]) -> str:
    return "gaussian" if len(mixed) == 1 else "matrix gaussian"


def _poisson(rate: Fraction) -> dict[str, Any]:
    """Return the sample of a record; a rate of 1 is no sample."""
    return {} if rate == 1 else {"sampler": "poisson", "rate": rate}

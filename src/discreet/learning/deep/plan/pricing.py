"""What a training costs: the releases that dominate it, by its sampler, its noise and its number of steps."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.errors import ParameterError
from discreet.laws import Enclosure
from discreet.laws.number import Number, round_down, round_up
from discreet.learning.deep.plan.noises import Noise
from discreet.learning.deep.plan.samplers import BatchSampler, FullBatch, PoissonBatches
from discreet.privacy import PrivacyLoss, Relation, compose
from discreet.privacy.numbers import nonnegative, probability
from discreet.privacy.records import ReleaseRecord


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

    def delta(self, epsilon: Number, tolerance: Number | None = None) -> Enclosure:
        """Return delta at an epsilon: that of the steps, and the chance that a batch was cut."""
        level = nonnegative(epsilon, name="epsilon")
        found = self.steps.loss.delta(level, tolerance=tolerance)
        if not self.cut:
            return found
        low, middle, high = (
            Fraction(end) * (1 - self.cut) + self.cut for end in (found.lower, found.estimate, found.upper)
        )
        upper = min(round_up(high), 1.0)
        return Enclosure(min(round_down(low), upper), min(float(middle), upper), upper, found.method)

    def epsilon(self, delta: Number) -> Enclosure:
        """Return epsilon at a delta, of which a cut batch takes its chance away first."""
        left = self.of_steps(probability(delta, name="delta"))
        if left <= 0 < self.cut:
            raise ParameterError(
                "delta must be more than the chance 2^-60 that a batch is cut; got less, write delta=1e-6, for "
                "example, or a smaller most_people in the sampler",
                parameter="delta",
            )
        return self.steps.loss.epsilon(round_down(left) if self.cut else delta)

    def of_steps(self, delta: Number) -> Fraction:
        """Return the delta that is left to the steps."""
        return (Fraction(delta) - self.cut) / (1 - self.cut)


def price_of(sampler: BatchSampler, noise: Noise, steps: int, relation: Relation, unit: str) -> TrainingPrice:
    """Return the price of a training; raise an error where none is proven."""
    sampler.refuse_relation(relation)
    release = _release(sampler, steps, relation)
    record = ReleaseRecord.of(**release, scale=noise.scale, relation=relation, unit=unit)
    return TrainingPrice(record, sampler.overflow_chance(steps))


def _release(sampler: BatchSampler, steps: int, relation: Relation) -> dict[str, Any]:
    """Return the kind of release, its sensitivity over what one participation moves, its sample and its count."""
    match sampler:
        case FullBatch():
            moves = 2 if relation is Relation.CHANGE_ONE else 1
            return {"kind": "gaussian", "sensitivity": moves, "count": steps}
        case PoissonBatches(rate=rate):
            return {"kind": "gaussian", "count": steps, **_poisson(Fraction(rate))}
    raise ParameterError(
        f"sampler must be one that has a price here; got {type(sampler).__name__}, write PoissonBatches(rate=...) or "
        "FullBatch(), for example",
        parameter="sampler",
    )


def _poisson(rate: Fraction) -> dict[str, Any]:
    """Return the sample of a record; a rate of 1 is no sample."""
    return {} if rate == 1 else {"sampler": "poisson", "rate": rate}

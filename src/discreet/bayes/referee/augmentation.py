"""Data augmentation: the posterior under a user's own model, by drawing parameters and latent records in turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.base import Diagnostics, Model, Parameter, Posterior, Values
from discreet.bayes.referee.chains import Chains
from discreet.bayes.referee.record_model import RecordModel
from discreet.bayes.referee.sum_likelihood import SumLikelihood
from discreet.display import Progress
from discreet.errors import NotConverged, ParameterError
from discreet.privacy import Target
from discreet.privacy.numbers import whole
from discreet.statistics.measurement import Counts, Group, Measurement, MeasurementPlan

_FIRST, _MOST_PEOPLE = 500, 1_000_000


@dataclass(frozen=True)
class DataAugmentation(Model):
    """Any model of records, under any release to which every record adds its own: slow, and right.

    `people` is their public number, or a range of numbers that are equally likely beforehand. Where a model of
    `discreet.bayes` computes the same posterior, use that: this one is what it is compared with.

    Accuracy. The draws come from a Markov chain whose stationary law is the posterior: of the parameters, of the number
        of people, and of what they add up to. None is handed out unless R-hat is at most 1.01 and there are 400
        effective draws in the bulk and in the tails of every parameter; the chains are doubled until then, the first
        half dropped each time, and `most_sweeps` ends that with NotConverged.
        Proof: with parameters h, N records x_1 .. x_N, N the largest number of people, and the number n of people, the
        target is p(h) p(n) f(x_1 | h) ... f(x_N | h) L(t(x_1) + ... + t(x_n)), L(s) the product of the noise's pmf at
        released - s over all integers. Summed over the spare records it is the posterior, for the f integrate to 1.
        Parameters: they are drawn, or moved, so that p(h | x_1 .. x_n) stays as it is, which is the target without
        spare records; these are then drawn from f(. | h), their law given all the rest. Both together leave the target
        as it is. Records, one after the other: from x_i, x' is offered with density f(x' | h) and taken with
        probability min(1, L(s') / L(s)), s' = s - t(x_i) + t(x'). The flow from x_i to x' is f(x_i | h) L(s) f(x' | h)
        min(1, L(s') / L(s)) = f(x_i | h) f(x' | h) min(L(s), L(s')), symmetric in the two: detailed balance. People: n
        is drawn from its law given all else, p(n) L(t(x_1) + ... + t(x_n)). A composition of steps that leave the
        target as it is leaves it as it is. From anywhere with L > 0 every set of records is reached in one sweep where
        noise has no bounded range, so that the stationary law is the only one.
        Acceptance: if the release is epsilon-DP when one record is changed for another, L(s') / L(s) >= e^-epsilon by
        definition, so that every offer is taken with at least that probability, whatever the model; for an epsilon
        under add/remove, at least e^(-2 epsilon). The more private the release, the more is taken; but then the sum
        moves by single records while many sums are likely, and the chains need more sweeps.
    Cost. One record of every chain at a time: `people` steps of numpy a sweep.
    Reference. Ju, Awan, Gong, Rao 2022. Their chains have a public number of people; the spare records, instead of
        jumps between dimensions, are those of Carlin, Chib 1995.

    >>> from discreet.laws import DiscreteLaplace
    >>> from discreet.privacy import PureDP
    >>> from discreet.bayes.referee import BernoulliRecords
    >>> plan = MeasurementPlan("count", (), ((),), Counts("rows"), DiscreteLaplace(1))
    >>> measured = plan.measured([[24]], (1,), PureDP(1))
    >>> model = DataAugmentation(BernoulliRecords(1, 1), people=30)
    >>> rng = np.random.default_rng(1)
    >>> found = model.fit([measured], generator=rng, progress=lambda done, total: None)
    >>> found.draws["frequency"].shape, found.draws["frequency"].mean().round(2)
    ((16, 250), np.float64(0.78))
    """

    records: RecordModel
    people: int | range
    one_row_a_person: bool = False
    chains: int = 16
    most_sweeps: int = 32_000

    def __post_init__(self) -> None:
        if not isinstance(self.records, RecordModel):
            raise ParameterError(
                f"records must be a model of records; got {type(self.records).__name__}, write for example "
                "BernoulliRecords(1, 1)",
                parameter="records",
            )
        if not isinstance(self.people, range):
            whole(self.people, name="people")
        elif len(self.people) == 0 or self.people.step != 1 or self.people.start < 0:
            raise ParameterError(
                "people must be a number, or a range of numbers from 0 on; got another range, write range(900, 1101)",
                parameter="people",
            )
        if self._range.stop > _MOST_PEOPLE + 1:
            raise ParameterError(
                f"people must be at most {_MOST_PEOPLE:,} where every record is drawn; got more, write a model that "
                "sums over them, such as BetaBinomial",
                parameter="people",
            )
        if whole(self.chains, name="chains") < 2:
            raise ParameterError("chains must be at least 2, to be compared; got 1, write 16", parameter="chains")
        whole(self.most_sweeps, name="most_sweeps")

    @property
    def _range(self) -> range:
        """The numbers of people that are possible."""
        return self.people if isinstance(self.people, range) else range(int(self.people), int(self.people) + 1)

    def fit(
        self, measurements: Sequence[Measurement], *, generator: np.random.Generator, progress: Progress
    ) -> Posterior:
        """Run the chains, twice as long each time, until their second half passes."""
        totals = SumLikelihood(self.records, measurements, self._range, one_row_a_person=self.one_row_a_person)
        chains = Chains(self.records, totals, self._range, chains=int(self.chains), generator=generator)
        plans = [one.plan for one in measurements]
        kept: dict[str, list[NDArray[Any]]] = {}
        for done in self._lengths():
            while (made := len(next(iter(kept.values()), []))) < done:
                chains.sweep()
                for name, value in self._named(chains, totals, plans).items():
                    kept.setdefault(name, []).append(np.array(value))
                progress(made + 1, None)
            draws = {name: np.stack(values[done // 2 :], axis=1) for name, values in kept.items()}
            complaint = _complaint(draws) if chains.possible else "no records make the release possible"
            if not complaint:
                break
        else:
            raise NotConverged(
                f"the chains failed after {done:,} sweeps: {complaint}. Write a larger most_sweeps=, or a model of "
                "discreet.bayes that needs no records"
            )
        taken = chains.accepted / max(chains.offered, 1)
        return Posterior(
            model=self,
            measurements=tuple(measurements),
            parameters=self._parameters(plans),
            drawn=draws,
            method=f"data augmentation, {self.chains} chains of {done:,} sweeps, the second half of each; "
            f"{taken:.0%} of the offered records taken",
        )

    def prior(self, plans: Sequence[MeasurementPlan], generator: np.random.Generator) -> Values:
        """Draw parameters, people and their counts."""
        values = self.records.draw_prior(1, generator)
        people = int(generator.integers(self._range.start, self._range.stop))
        drawn = {name: np.asarray(value)[0] for name, value in values.items()}
        if len(self._range) > 1:
            drawn["people"] = np.asarray(people)
        if self._counted(plans):
            made = self.records.draw_records(values, people, generator)
            for name, plan in zip(_count_names(plans), plans, strict=True):
                counts = self.records.contribution(made, plan).sum(axis=(0, 1, 2)) // plan.adds_up.weight  # type: ignore[attr-defined]
                drawn[name] = _shaped(counts, plan)
        return drawn

    def integers(
        self, values: Values, plans: Sequence[MeasurementPlan], generator: np.random.Generator
    ) -> list[NDArray[Any]]:
        """Return the counts that are given, or draw the records and add up what they contribute."""
        names = _count_names(plans)
        if self._counted(plans) and all(name in values for name in names):
            return [
                np.asarray(values[name]).reshape(1, -1) * plan.adds_up.weight  # type: ignore[attr-defined]
                for name, plan in zip(names, plans, strict=True)
            ]
        people = int(values["people"]) if "people" in values else self._range.start
        own = {one.name: np.asarray(values[one.name])[np.newaxis] for one in self.records.parameters}
        made = self.records.draw_records(own, people, generator)
        return [self.records.contribution(made, plan).sum(axis=(0, 1)) for plan in plans]

    def _lengths(self) -> Iterator[int]:
        """Yield how many sweeps are made before each look at the draws."""
        done = min(_FIRST, int(self.most_sweeps))
        while done <= int(self.most_sweeps):
            yield done
            done *= 2

    def _counted(self, plans: Sequence[MeasurementPlan]) -> bool:
        """Whether all integers count each record once or not at all."""
        default = type(self.records).contribution is RecordModel.contribution
        return default and all(isinstance(plan.adds_up, Counts) for plan in plans)

    def _named(
        self, chains: Chains, totals: SumLikelihood, plans: Sequence[MeasurementPlan]
    ) -> dict[str, NDArray[Any]]:
        """Return the state of all chains by the names of the parameters."""
        named = {one.name: chains.values[one.name] for one in self.records.parameters}
        if len(self._range) > 1:
            named["people"] = chains.people
        counts = totals.counts(chains.sums)
        if counts is not None:
            for name, one, plan in zip(_count_names(plans), counts, plans, strict=True):
                named[name] = _shaped(one, plan)
        return named

    def _parameters(self, plans: Sequence[MeasurementPlan]) -> tuple[Parameter, ...]:
        """Return what the draws are about."""
        found = list(self.records.parameters)
        if len(self._range) > 1:
            found.append(Parameter("people", "how many people there are", Target.TABLE))
        if self._counted(plans):
            for name, plan in zip(_count_names(plans), plans, strict=True):
                found.append(Parameter(name, f"how many people {plan.name} counts", Target.TABLE, _groups(plan)))
        return tuple(found)


def _count_names(of: Sequence[object]) -> list[str]:
    """Return the names of the counts of each answer."""
    return ["count"] if len(of) == 1 else [f"count {place + 1}" for place in range(len(of))]


def _groups(plan: MeasurementPlan) -> tuple[Group, ...]:
    """Return the groups of a count, none where it is one number for all."""
    return plan.keys if plan.key_names else ()


def _shaped(counts: NDArray[Any], plan: MeasurementPlan) -> NDArray[Any]:
    """Return the counts of the groups, or the one number for all."""
    return counts if plan.key_names else counts[..., 0]


def _complaint(draws: Values) -> str:
    """Return what stands against the draws of the parameters, in words."""
    found = {name: Diagnostics.of(value).complaint for name, value in draws.items()}
    return "; ".join(f"{name}: {words}" for name, words in found.items() if words)

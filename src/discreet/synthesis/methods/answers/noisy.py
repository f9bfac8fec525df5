"""Noise on every answer: the plainest release of a workload, made consistent afterwards."""

from __future__ import annotations

import enum
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.display import Progress
from discreet.errors import ParameterError
from discreet.laws.number import Number
from discreet.privacy import ApproxDP, Relation
from discreet.statistics.pricing import NoisyVector
from discreet.synthesis.base import Allowance, Neighbors, Noisy, Synthesizer, SyntheticRelease, deviation_of, noise_for
from discreet.synthesis.domain import Records, SyntheticTable
from discreet.synthesis.methods.answers.consistency import (
    boxed,
    fits_whole,
    fitted,
    fitted_records,
    record_count,
    truth_matrix,
)
from discreet.synthesis.methods.weights import whole_domain
from discreet.synthesis.workloads import PADDING, Marginals, Workload

_MOST_WORK = 1 << 26


class AnswerSource(enum.Enum):
    """Which answers are given: the noisy ones cut off at 0 and 1, or those of the table that fits them."""

    NOISY = "noisy, cut off at 0 and 1"
    TABLE = "of the table"


@dataclass(frozen=True, eq=False)
class NoisyAnswers(Synthesizer):
    """Add noise to the count of every query at once: Gaussian for rho, mu and with delta, Laplace for pure epsilon.

    Equal queries are measured once, and so are a query and its negation where the number of records is public or
    measured along. Of the two ways under add/remove, counts, or 2c - N with N, the one with less noise is taken. A
    table is fitted to the noisy answers: weights of all cells where the domain is small, else of few records, found by
    best responses. Fitted over all cells it is no worse than the noise, for certain (`Fitted`) where `people` is the
    number of records, and the answers are its own. Else they are the noisy ones cut off at 0 and 1, unless `given` asks
    for the table's: where there are many more queries than records in the table these are usually far better, but there
    is no theorem.

    Privacy. Keeps the guarantee of the allowance.
        Proof: one `NoisyVector`, with the distances of `NoisedIntegers`, calibrated for the whole guarantee where that
        is approximate; all else is computed from what it released.
    Accuracy. Before anything is made consistent each answer is unbiased, and its noise has the standard deviation
        `deviation`. For a workload of m queries with nothing known about them, rho-zCDP and add/remove, the variance of
        a count is about (sqrt(m) + 1)^2/(8 rho), a quarter of the m/(2 rho) of noise on the counts themselves.
        Proof: c = ((2c - N) + N)/2, so with noise of variance s = (m + a^2)/(2 rho) the variance is s (1 + 1/a^2)/4 =
        (m + 1 + a^2 + m/a^2)/(8 rho), which is least, (sqrt(m) + 1)^2/(8 rho), at a^2 = sqrt(m); a is a whole number.
    Cost. One pass over the records for the exact counts, and a draw for each query.
    Reference. Dwork, McSherry, Nissim, Smith 2006; 2c - N: the symmetric form that DualQuery uses for its scores.

    >>> from discreet import Relation
    >>> from discreet.synthesis import Domain, Neighbors, marginals
    >>> pairs = marginals(Domain.of(sex=["f", "m"], rooms=range(1, 5)), ways=1)
    >>> method = NoisyAnswers.of(
    ...     pairs, Neighbors(Relation.ADD_REMOVE, people=10_000), rho=0.01
    ... )
    >>> (
    ...     method.measurement.squared,
    ...     round(method.deviation, 2),
    ... )  # each of the two histograms moves by one
    (2, 10.0)
    """

    name: ClassVar[str] = "answers"
    workload: Workload
    allowance: Allowance
    given: AnswerSource

    @classmethod
    def of(
        cls,
        workload: Workload,
        neighbors: Neighbors,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        given: AnswerSource | None = None,
    ) -> NoisyAnswers:
        """State the price: `epsilon` alone is pure, with `delta` approximate, `rho` concentrated, `mu` Gaussian.

        Unless stated, the answers `given` are the table's where it is over all cells, else the noisy ones.
        """
        if given is not None and not isinstance(given, AnswerSource):
            raise ParameterError("given must be AnswerSource.NOISY or AnswerSource.TABLE", parameter="given")
        whole = fits_whole(workload.domain, len(workload))
        allowance = Allowance.of(neighbors, epsilon=epsilon, delta=delta, rho=rho, mu=mu)
        return cls(workload, allowance, given or (AnswerSource.TABLE if whole else AnswerSource.NOISY))

    @cached_property
    def measurement(self) -> NoisedIntegers:
        """What gets noise; public."""
        neighbors = self.allowance.neighbors
        rows, known = neighbors.rows, neighbors.same_count
        tied = ties(self.workload, negations=known)
        families = overlap(self.workload, tied.measured)
        if neighbors.relation is Relation.CHANGE_ONE:
            changed = max(families.changed, 1)
            return NoisedIntegers(tied, None, rows * changed, rows**2 * changed)
        added = max(families.added, 1)
        direct = NoisedIntegers(tied, None, rows * added, rows**2 * added)
        signed = ties(self.workload, negations=True)
        factor = _best_factor(len(signed.measured), pure=self.allowance.pure)
        queries = len(signed.measured)
        centered = NoisedIntegers(signed, factor, rows * (queries + factor), rows**2 * (queries + factor**2))
        return min((direct, centered), key=self._deviation_with)

    def _noise(self, measurement: NoisedIntegers) -> NoisyVector:
        """Return the noise that the whole price buys."""
        guarantee = self.allowance.guarantee
        if isinstance(guarantee, ApproxDP):
            return NoisyVector.calibrated(guarantee, sensitivity=measurement.shift, squared=measurement.squared)
        return noise_for(
            self.allowance, self.allowance.amount, sensitivity=measurement.shift, squared=measurement.squared
        )

    def _deviation_with(self, measurement: NoisedIntegers) -> float:
        """Return the standard deviation of a count when that is measured."""
        return measurement.deviation(deviation_of(self._noise(measurement)))

    @property
    def deviation(self) -> float:
        """The standard deviation of the noise of every count; public."""
        return self._deviation_with(self.measurement)

    @property
    def plan(self) -> Mapping[str, Any]:
        """The public parameters."""
        measurement = self.measurement
        return {
            "queries": len(self.workload),
            "measured": len(measurement.ties.measured),
            "form": "counts" if measurement.factor is None else "2c - N, with N",
            "noise": "Laplace" if self.allowance.pure else "Gaussian",
            "L1 distance of neighbors": measurement.shift,
            "square of their L2 distance": measurement.squared,
            "deviation of a count": self.deviation,
            "answers": self.given.value,
        }

    def _release(self, records: Records, progress: Progress) -> SyntheticRelease:
        """Count, add noise, make consistent."""
        measurement, known = self.measurement, self.allowance.neighbors.stated_count
        counts = self.workload.counts(records)[measurement.ties.measured]
        mechanism = self._noise(measurement)
        released = np.asarray(mechanism(measurement.steps(counts, len(records))))
        every, total = measurement.counts(released.astype(np.float64), known)
        people = self.allowance.neighbors.people
        noisy = every / people
        table, answers, evidence = self._consistent(noisy, progress)
        if total is not None:
            evidence["number of records"] = total
        deviations = np.full(len(self.workload), self.deviation / people) if self._as_near else None
        histograms = self._histograms(released, mechanism)
        return self._made(table, answers, {**evidence, "noisy answers": noisy}, deviations, histograms)

    def _histograms(self, released: NDArray[Any], mechanism: NoisyVector) -> list[tuple[tuple[int, ...], Noisy]]:
        """Return the marginals whose cells got noise, each as a histogram; none where something else got it."""
        if self.measurement.factor is not None or not isinstance(self.workload, Marginals):
            return []
        tables = [self.workload.table(place, released) for place in range(len(self.workload.sets))]
        noisy = [Noisy(one.astype(np.int64), deviation_of(mechanism), mechanism.noise) for one in tables]
        return list(zip(self.workload.sets, noisy, strict=True))

    @property
    def _as_near(self) -> bool:
        """Whether the answers are, in L2, no farther from the truth than their noise."""
        return self.given is AnswerSource.NOISY or fits_whole(self.workload.domain, len(self.workload))

    def _consistent(
        self, noisy: NDArray[np.float64], progress: Progress
    ) -> tuple[SyntheticTable, NDArray[np.float64], dict[str, Any]]:
        """Return a table, the answers to give, and what they are."""
        tied = self.measurement.ties
        queries = tied.measured
        if fits_whole(self.workload.domain, len(self.workload)):
            support = whole_domain(self.workload.domain)
            fit, made = fitted(truth_matrix(self.workload, support, queries), noisy[queries]), "weights of all cells"
            table = SyntheticTable(support, fit.weights)
            progress(1, 1)
        else:
            steps, made = record_count(len(queries)), "weights of records found by best responses"
            table, fit = fitted_records(self.workload, queries, noisy[queries], lambda done: progress(done, steps))
        held = fit.answers[tied.place]
        answers = noisy if self.given is AnswerSource.NOISY else np.where(tied.turned, 1 - held, held)
        certificate = {
            "gap of the fit": fit.gap,
            "square of the fit's move": fit.moved,
            "surely nearer": fit.surely_nearer,
        }
        return table, boxed(answers), {"table": made, "answers": self.given.value, **certificate}


@dataclass(frozen=True, slots=True, eq=False)
class NoisedIntegers:
    """The integers that get noise: counts c, or, with a factor a, all 2c - N and then a N; and how far neighbors are.

    Privacy. Let m queries be measured, of which a record satisfies at most M, and two records differ in at most C. One
        unit of at most r records moves the counts by at most r M in L1 and r sqrt(M) in L2 under add/remove, and by at
        most r C and r sqrt(C) under change-one. It moves the vector of all 2c - N, with a N, by at most r (m + a) and
        r sqrt(m + a^2) under add/remove.
        Proof: a record adds a vector of at most M ones to the counts, and a vector of m entries of +1 or -1, and an
        entry a, to the other; r of them add at most r times as much in any norm. Under change-one the difference u - v
        of the vectors of two units has, in a family of k queries, entries between -r and r, so L1 at most r k and
        square at most r^2 k; and as u, v >= 0, L1 at most that of u plus v, 2 r most, and |u - v|^2 <= |u|^2 + |v|^2 <=
        2 r^2 most. The smaller of the two holds in each family, and families add up. A unit without records has u = 0,
        and these bounds hold for it as for any other.
    """

    ties: Ties
    factor: int | None
    shift: int
    squared: int

    def steps(self, counts: NDArray[np.int64], records: int) -> NDArray[np.int64]:
        """Return the integers to release, from the exact counts of the measured queries."""
        if self.factor is None:
            return counts
        return np.append(2 * counts - records, self.factor * records)

    def deviation(self, noise: float) -> float:
        """Return the standard deviation of a count, from that of one entry's noise."""
        return noise if self.factor is None else noise * math.sqrt(1 + 1 / self.factor**2) / 2

    def counts(self, released: NDArray[np.float64], known: int | None) -> tuple[NDArray[np.float64], float | None]:
        """Return estimated counts of all queries of the workload, and the number of records if it is known or told."""
        total: float | None = known
        measured = released
        if self.factor is not None:
            total = float(released[-1]) / self.factor
            measured = (released[:-1] + total) / 2
        every = measured[self.ties.place]
        if self.ties.turned.any():
            if total is None:
                raise AssertionError("negations are tied only where the number of records is known")
            every = np.where(self.ties.turned, total - every, every)
        return every, total


def _best_factor(queries: int, *, pure: bool) -> int:
    """Return the whole number a for which 2c - N with a N, at the price of their distance, gives the least variance."""

    def variance(a: int) -> float:
        return ((queries + a) ** 2 if pure else queries + a * a) * (1 + 1 / (a * a))

    about = round(queries ** (1 / 3 if pure else 1 / 4))
    return min(range(max(about - 2, 1), about + 3), key=variance)


@dataclass(frozen=True, slots=True, eq=False)
class Ties:
    """Which queries to measure, and how each query follows: `turned` says that it is the negation of its own."""

    measured: NDArray[np.int64]
    place: NDArray[np.int64]
    turned: NDArray[np.bool_]


def ties(workload: Workload, *, negations: bool) -> Ties:
    """Return the different queries; with `negations`, a query and its negation count once.

    Queries are the same here if they are made of the same literals; others may be the same for other reasons.
    """
    if isinstance(workload, Marginals):
        every = np.arange(len(workload), dtype=np.int64)
        return Ties(every, every, np.zeros(len(workload), dtype=np.bool_))
    form = _canonical(workload)
    form = np.column_stack([form, workload.parity, np.where(negations, False, workload.negated)])
    _, measured, place = np.unique(form, axis=0, return_index=True, return_inverse=True)
    place = place.reshape(-1).astype(np.int64)
    turned = workload.negated ^ workload.negated[measured][place]
    return Ties(measured.astype(np.int64), place, turned)


def _canonical(workload: Workload) -> NDArray[np.int64]:
    """Return the literals of each query in order, numbered so that equal ones have one number."""
    literals = workload.literals
    rows = np.column_stack([literals.attribute.astype(np.int64), np.packbits(literals.accepts, axis=1)])
    number = np.append(np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1), PADDING)
    form = np.sort(number[workload.members], axis=1)
    again = np.zeros(form.shape, dtype=np.bool_)
    again[:, 1:] = (form[:, 1:] == form[:, :-1]) & ~workload.parity[:, None]
    ordered: NDArray[np.int64] = np.sort(np.where(again, PADDING, form), axis=1).astype(np.int64)
    return ordered


@dataclass(frozen=True, slots=True)
class Overlap:
    """Families of queries: how many there are in each, and how many of them one record satisfies at most."""

    sizes: tuple[int, ...]
    most: tuple[int, ...]

    @property
    def added(self) -> int:
        """How many queries one record satisfies at most."""
        return sum(self.most)

    @property
    def changed(self) -> int:
        """How many queries tell two records apart at most."""
        return sum(min(size, 2 * most) for size, most in zip(self.sizes, self.most, strict=True))


def overlap(workload: Workload, queries: NDArray[np.int64]) -> Overlap:
    """Return the families of queries about the same attributes, counted over all their values where that is quick.

    Accuracy. A record satisfies at most `added` of the queries, and two records differ in at most `changed` of them.
        Proof: whether a record satisfies the queries of a family depends on its values of the family's attributes only;
        `most` is the largest number over all combinations of them, or the number of queries, never less. Two records
        differ in no more queries of a family than there are, and in no more than the two satisfy together.
    """
    if isinstance(workload, Marginals):
        return Overlap(tuple(np.diff(workload.offsets).tolist()), (1,) * len(workload.sets))
    members = workload.members[queries]
    attributes = np.where(members == PADDING, PADDING, workload.literals.attribute[members])
    attributes = np.sort(attributes, axis=1)
    kinds, family = np.unique(attributes, axis=0, return_inverse=True)
    order = np.argsort(family.reshape(-1), kind="stable")
    sizes = np.bincount(family.reshape(-1), minlength=len(kinds))
    most, work, start = [], 0, 0
    for kind, size in zip(kinds, sizes.tolist(), strict=True):
        mine, start = queries[order[start : start + size]], start + size
        names = np.unique(kind[kind != PADDING])
        effort = size * math.prod(workload.domain.sizes[name] for name in names.tolist())
        quick = size > 1 and work + effort <= _MOST_WORK
        work += effort if quick else 0
        most.append(_most(workload, mine, names) if quick else size)
    return Overlap(tuple(sizes.tolist()), tuple(most))


def _most(workload: Workload, queries: NDArray[np.int64], names: NDArray[np.int32]) -> int:
    """Return how many of some queries one combination of the values of their attributes satisfies at most."""
    shape = [workload.domain.sizes[name] for name in names.tolist()]
    axis = {name: place for place, name in enumerate(names.tolist())}
    satisfied = np.zeros(shape, dtype=np.int64)
    literals = workload.literals
    for query in queries.tolist():
        parity = bool(workload.parity[query])
        held = np.full(shape, not parity)
        for one in workload.members[query][workload.members[query] != PADDING].tolist():
            place = axis[int(literals.attribute[one])]
            mask = literals.accepts[one][: shape[place]].reshape([-1 if at == place else 1 for at in range(len(shape))])
            held = held ^ mask if parity else held & mask
        satisfied += held ^ workload.negated[query]
    return int(satisfied.max())

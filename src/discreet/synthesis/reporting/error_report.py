"""How good a release is: its errors against the truth for who owns it, and what is known without it.

Both stand beside answers that anybody can give without an algorithm: what a release must beat to be worth its price.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.display import Table, format_number, paragraph
from discreet.errors import InputError, MissingParameter
from discreet.privacy.numbers import probability
from discreet.synthesis.base import SyntheticRelease, require_records
from discreet.synthesis.domain import Records
from discreet.synthesis.methods.forest import Forest
from discreet.synthesis.reporting.prediction import Prediction, predict
from discreet.synthesis.workloads import Marginals, Workload

if TYPE_CHECKING:
    from discreet.display.plots import Plot

WARNING = "computed from the private table: do not publish"
ITS_TABLE = "its table"
_ROUNDING = 1e-9  # answers that differ by less are the same


class Baseline(Enum):
    """A way to answer without having looked, or having looked at single attributes only."""

    ZERO = "zero"  # nobody, every time
    UNIFORM = "uniform"  # every value alike
    MODAL = "modal record"  # everybody has the most frequent value of each attribute
    INDEPENDENT = "product of one-ways"  # attributes taken to be independent

    def __repr__(self) -> str:
        return f"Baseline.{self.name}"


_ALL = tuple(Baseline)


def report(
    release: SyntheticRelease,
    truth: Records | None = None,
    *,
    baselines: Iterable[Baseline] = _ALL,
    beside: Sequence[SyntheticRelease] = (),
    confidence: float = 0.95,
) -> Report:
    """Report the errors of a release: against `truth`, if the caller owns the private table, else what is public.

    A report with the truth is not private and says so. Its line `its table` tells the errors of counting in the
    synthetic table, with its weights, and is left out where that gives the release's answers. Its baselines `MODAL` and
    `INDEPENDENT` are made of exact one-way shares, better than any private release of them. Without the truth they are
    made of the release's own. `beside` are other releases of the same workload.

    >>> from discreet.privacy import Relation
    >>> from discreet.synthesis import Domain, Independent, Neighbors, queries
    >>> domain = Domain.of(sex=["f", "m"], rooms=[1, 2, 3])
    >>> people = domain.encode({"sex": ["f", "m"] * 500, "rooms": [1, 2, 3, 1] * 250})
    >>> asked = queries(
    ...     domain, [{"sex": "f", "rooms": 1}, {"sex": "m", "rooms": [1, 2]}]
    ... )
    >>> release = Independent.of(
    ...     asked, Neighbors(Relation.CHANGE_ONE, 1000), epsilon=1
    ... )(people)
    >>> report(release), report(release, people)
    (Report(independent, public), Report(independent, private))
    """
    probability(confidence, name="confidence")
    if not isinstance(release, SyntheticRelease):
        raise InputError(
            f"a report must be about a SyntheticRelease, not {type(release).__name__}: report(release, truth)"
        )
    if truth is not None:
        require_records(truth, "the truth")
    workload = release.workload
    gaps = [float(share) for _, share in release.evidence.get("gaps", ())]
    known = predict(release, confidence=confidence), sum(gaps) / len(gaps) if gaps else None
    marginals = marginals_of(workload)
    if truth is None:
        shares = one_way_shares(release.table.records, release.table.weights)
        distances = tuple(
            Errors.between(
                f"distance to {one.value}", release.answers, baseline_answers(one, workload, shares), marginals
            )
            for one in baselines
        )
        return Report(release, (), distances, None, (), *known)
    if truth.domain != workload.domain:
        raise InputError("the truth must be of the same domain as the release")
    if any(other.workload.digest != workload.digest for other in beside):
        raise InputError("a release beside this one must answer the same queries")
    exact, shares = workload.frequencies(truth), one_way_shares(truth)
    others = [(other.method, other.answers) for other in beside]
    others += [(one.value, baseline_answers(one, workload, shares)) for one in baselines]
    lines = [(release.method, release.answers), *_answers_of_table(release), *others]
    errors = tuple(Errors.between(name, answers, exact, marginals) for name, answers in lines)
    differences = tuple((name, answers - exact) for name, answers in others)
    return Report(release, errors, (), release.answers - exact, differences, *known)


@dataclass(frozen=True, slots=True)
class Errors:
    """How far answers are from others: on average, at most, root-mean-square, and in L1 a marginal where there are any.

    `l1` is the mean over the marginals of the sum over cells of absolute differences, at most 2.
    """

    name: str
    average: float
    maximum: float
    root_mean_square: float
    l1: float | None = None

    @classmethod
    def between(
        cls,
        name: str,
        answers: NDArray[np.float64],
        others: NDArray[np.float64],
        marginals: NDArray[np.int64] | None = None,
    ) -> Errors:
        """Compare answers with others, to the same queries; `marginals` numbers the marginal of each."""
        off = np.abs(answers - others)
        l1 = None if marginals is None else float(off.sum() / (marginals.max() + 1))
        return cls(name, float(off.mean()), float(off.max()), float(np.sqrt(np.mean(off**2))), l1)


@dataclass(frozen=True, eq=False, repr=False)
class Report:
    """What is known about the errors of a release: in full where the truth was given, else what is public.

    With the truth, `errors` are those of the release, of its table where that answers differently, and then of other
    releases and of baselines, and `differences` the release's answers minus the truth: all of that is private. Without
    it, `errors` is empty, and `distances` say how far the answers are from baselines made of the release itself.
    `prediction` and `gap` are public.
    """

    release: SyntheticRelease
    errors: tuple[Errors, ...]
    distances: tuple[Errors, ...]
    differences: NDArray[np.float64] | None
    beside: tuple[tuple[str, NDArray[np.float64]], ...]
    prediction: Prediction | None
    gap: float | None

    @property
    def private(self) -> bool:
        """Whether it was computed from the private table."""
        return self.differences is not None

    def table(self) -> Table:
        """Return one line for the release, its prediction, and each baseline."""
        rows: list[tuple[object, ...]] = [_cells(one) for one in self.errors]
        if self.prediction is not None:
            rows.insert(1 if self.errors else 0, _predicted_cells(self.release.method, self.prediction))
        rows += [_cells(one) for one in self.distances]
        columns = ["answers", "average", "maximum", "root-mean-square", "L1"]
        if all(row[-1] is None for row in rows):
            columns, rows = columns[:-1], [row[:-1] for row in rows]
        return Table(columns, rows, self._caption(), digits=3)

    def notes(self) -> list[str]:
        """Return what a reader should know beside the table."""
        said = [f"guarantee: {self.release.guarantee}"]
        if self.prediction is None:
            played = "weights" in self.release.plan and "eta" in self.release.plan
            reason = "its theorem is for records that count alike" if played else "its error has no closed form"
            said.append(f"no prediction: {reason}")
        else:
            said.append(f"prediction: from {self.prediction.source}")
        if self.gap is not None:
            rounds = len(self.release.evidence["gaps"])
            share = format_number(100 * self.gap, digits=3)
            said.append(
                f"solver gap: {share} % of a round's draws, on average over {rounds} rounds that were certified"
            )
        return said

    def _caption(self) -> str:
        queries = f"{len(self.release.workload):,} queries"
        if self.private:
            return f"{self.release.method}, {queries}: errors against the truth ({WARNING})"
        return f"{self.release.method}, {queries}: what is known without the table"

    def __repr__(self) -> str:
        return f"Report({self.release.method}, {'private' if self.private else 'public'})"

    def __str__(self) -> str:
        return "\n".join([str(self.table()), *self.notes()])

    def _repr_html_(self) -> str:
        """Return the table and the notes for a notebook."""
        return self.table()._repr_html_() + "".join(paragraph(note) for note in self.notes())

    def plot(self) -> Plot:
        """Draw the frequency of queries with an error above x, against x; it needs the truth and the extra `plot`."""
        from discreet.synthesis.reporting.plot import plot_errors

        if self.differences is None:
            raise MissingParameter(
                "errors are drawn from the truth: report(release, truth=records), for who owns it", parameter="truth"
            )
        return plot_errors(self.release.method, self.differences, self.beside, self.prediction)


def marginals_of(workload: Workload) -> NDArray[np.int64] | None:
    """Return the number of the marginal that each query is a cell of, or None if they are not cells of marginals."""
    if not isinstance(workload, Marginals):
        return None
    return np.repeat(np.arange(len(workload.sets)), np.diff(workload.offsets))


def one_way_shares(records: Records, weights: NDArray[np.float64] | None = None) -> list[NDArray[np.float64]]:
    """Return, for each attribute, the frequency of records, or of their weight, with each code."""
    sizes = records.domain.sizes
    if not len(records):
        return [np.full(size, 1 / size) for size in sizes]
    found = [
        np.bincount(codes, weights=weights, minlength=size) for codes, size in zip(records.codes, sizes, strict=True)
    ]
    return [counts / counts.sum() for counts in found]


def baseline_answers(
    baseline: Baseline, workload: Workload, shares: Sequence[NDArray[np.float64]]
) -> NDArray[np.float64]:
    """Return what a baseline answers to every query, given the one-way shares it may use.

    >>> from discreet.synthesis import Domain, queries
    >>> domain = Domain.of(sex=["f", "m"], rooms=[1, 2, 3, 4])
    >>> asked = queries(domain, [{"sex": "f", "rooms": 1}])
    >>> baseline_answers(
    ...     Baseline.INDEPENDENT,
    ...     asked,
    ...     [np.array([0.5, 0.5]), np.array([0.2, 0.4, 0.2, 0.2])],
    ... ).tolist()
    [0.1]
    """
    if baseline is Baseline.ZERO:
        return np.zeros(len(workload))
    if baseline is Baseline.MODAL:
        record = np.array([int(np.argmax(one)) for one in shares], dtype=np.uint16)
        return workload.truths(record).astype(np.float64)
    if baseline is Baseline.UNIFORM:
        shares = [np.full(size, 1 / size) for size in workload.domain.sizes]
    return Forest.of(workload.domain, shares).answers(workload)


def _answers_of_table(release: SyntheticRelease) -> list[tuple[str, NDArray[np.float64]]]:
    """Return what the table of a release answers, with the name of the line, unless the release answers just that."""
    counted = release.workload.frequencies(release.table.records, release.table.weights)
    return [] if np.allclose(counted, release.answers, rtol=0, atol=_ROUNDING) else [(ITS_TABLE, counted)]


def _cells(errors: Errors) -> tuple[object, ...]:
    return errors.name, errors.average, errors.maximum, errors.root_mean_square, errors.l1


def _predicted_cells(method: str, prediction: Prediction) -> tuple[object, ...]:
    name = f"{method}, predicted ({100 * prediction.confidence:g} %)"
    return name, prediction.average, prediction.maximum, prediction.root_mean_square, None

"""What every way of releasing a workload has in common: a public plan with its price, and a synthetic table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, wraps
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.display import Progress, listener
from discreet.errors import InputError, ParameterError
from discreet.privacy import Guarantee
from discreet.statistics.measurement import Group, Measurement, Source, by_hand
from discreet.synthesis.base.allowance import Allowance, Noisy
from discreet.synthesis.base.measured_histogram import MeasuredHistogram
from discreet.synthesis.base.neighbors import Neighbors
from discreet.synthesis.domain import Records, SyntheticTable
from discreet.synthesis.workloads import Workload, require_own


@dataclass(frozen=True, kw_only=True)
class SyntheticRelease:
    """What left: a synthetic table, the answers to the workload, the guarantee they keep, and how they were made.

    Everything here is public: it was computed from what the mechanisms released. `plan` holds the public parameters,
    `evidence` what the method noted about its own work (solver gaps, chosen edges, drawn queries).
    """

    method: str
    workload: Workload
    neighbors: Neighbors
    guarantee: Guarantee
    table: SyntheticTable
    answers: NDArray[np.float64]
    plan: Mapping[str, Any]
    evidence: Mapping[str, Any] = field(default_factory=dict)
    deviations: NDArray[np.float64] | None = None  # of the noise of each answer, where that is known in closed form
    histograms: tuple[MeasuredHistogram, ...] = field(default=(), repr=False)  # measured with independent noise
    source: Source = field(default_factory=Source, repr=False)  # whose records they are
    identity: Group = field(default_factory=lambda: by_hand()[:-1], repr=False)  # of the release

    @cached_property
    def measurements(self) -> tuple[Measurement, ...]:
        """The noisy histograms that were measured, for inference; none where a method measures something else.

        Independent attributes, trees, residuals with Laplace noise, and noisy answers to all cells of marginals measure
        histograms with independent integer noise. Residuals with Gaussian noise are no counts, and rounds of chosen
        queries measure other sums. A release that was stored by an earlier version has none.
        """
        plans = [one.plan(self.workload.domain, self.neighbors, self.source) for one in self.histograms]
        return tuple(
            plan.measured([one.values.ravel().tolist()], (*self.identity, place), self.guarantee)
            for place, (plan, one) in enumerate(zip(plans, self.histograms, strict=True))
        )

    def __repr__(self) -> str:
        sizes = f"{len(self.workload):,} queries, {len(self.table):,} rows"
        return f"SyntheticRelease({self.method}, {sizes}, {self.guarantee})"


class Synthesizer(ABC):
    """One way to release a workload: everything about it is public and fixed before data is read.

    A leaf is a frozen dataclass that holds at least `workload` and `allowance`, is made by its class method `of` from
    (workload, neighbors, price), and reads records in `_release` only.
    """

    name: ClassVar[str]
    workload: Workload
    allowance: Allowance

    def __init_subclass__(cls, **given: Any) -> None:
        super().__init_subclass__(**given)
        of = cls.__dict__.get("of")
        if isinstance(of, classmethod):
            cls.of = classmethod(_with_checks(of.__func__))  # type: ignore[attr-defined]

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the whole release: what a ledger is charged."""
        return self.allowance.guarantee

    @property
    @abstractmethod
    def plan(self) -> Mapping[str, Any]:
        """The public parameters, by name, as `explain` prints them."""

    @property
    def foreseen(self) -> str | None:
        """What is known about the errors before data is read, in words; None where nothing is said."""
        return None

    @abstractmethod
    def _release(self, records: Records, progress: Progress) -> SyntheticRelease:
        """Release; the only place where records are read."""

    def _made(
        self,
        table: SyntheticTable,
        answers: NDArray[np.float64],
        evidence: Mapping[str, Any],
        deviations: NDArray[np.float64] | None = None,
        measured: Iterable[tuple[tuple[int, ...], Noisy]] = (),
    ) -> SyntheticRelease:
        """Return what was made together with what was guaranteed, and the noisy histograms that it was made of."""
        kept = tuple(MeasuredHistogram(one, it.values, it.noise) for one, it in measured if it.noise is not None)
        return SyntheticRelease(
            method=self.name, workload=self.workload, neighbors=self.allowance.neighbors, guarantee=self.guarantee,
            table=table, answers=answers, plan=self.plan, evidence=evidence, deviations=deviations, histograms=kept,
        )  # fmt: skip

    def __call__(self, records: Records, *, progress: Progress | None = None) -> SyntheticRelease:
        """Release the workload of a table; `progress` is told public step numbers only."""
        require_records(records, "the table")
        require_own(self.workload, records)
        return self._release(records, listener(progress))


def require_records(table: object, name: str) -> None:
    """Refuse a table that is not in codes yet."""
    if not isinstance(table, Records):
        raise InputError(f"{name} must be Records, not {type(table).__name__}; encode it first: domain.encode(frame)")


def _with_checks(of: Callable[..., Any]) -> Callable[..., Any]:
    """Return a class method `of` that refuses, in one sentence, what is neither a workload nor neighbors."""

    @wraps(of)
    def checked(cls: type[Any], workload: object, neighbors: object, *args: Any, **choices: Any) -> Any:
        if not isinstance(workload, Workload):
            raise ParameterError(
                f"a Workload is needed, not {type(workload).__name__}: make one with queries(domain, [...]), "
                "marginals(domain, ways=2) or conjunctions(domain)",
                parameter="workload",
            )
        if not isinstance(neighbors, Neighbors):
            raise ParameterError(
                f"Neighbors are needed, not {type(neighbors).__name__}: say who is protected, and about how many "
                "records there are, as in Neighbors(Relation.ADD_REMOVE, 5000)",
                parameter="neighbors",
            )
        return of(cls, workload, neighbors, *args, **choices)

    return checked

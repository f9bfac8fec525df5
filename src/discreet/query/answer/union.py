"""The answer to a UNION of answers: several releases, each charged and stored by itself, in one table."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

from discreet.errors import ParameterError
from discreet.privacy import Estimate, Guarantee
from discreet.privacy.guarantees import basic_composition
from discreet.query.answer.after_noise import Finished, finish
from discreet.query.answer.answer import CONFIDENCE, Answer
from discreet.query.engines import evaluate
from discreet.query.measures import Estimated
from discreet.query.plan import UnionOfAnswers
from discreet.query.pricing import PricedQuery
from discreet.statistics.measurement import Measurement


@dataclass(frozen=True)
class UnionAnswer(Answer):
    """Answers that UNION puts together: each row with the interval that it has in its own answer.

    `priced`, `released` and `record` are those of the first; `parts` has all of them.
    """

    parts: tuple[Answer, ...] = ()

    @property
    def releases(self) -> tuple[Answer, ...]:
        """The parts."""
        return self.parts

    def as_rehearsal(self) -> Self:
        """Return the answer, and all of its parts, as from made-up rows."""
        parts = tuple(one.as_rehearsal() for one in self.parts)
        return replace(self, record=parts[0].record, parts=parts)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee that all releases keep together."""
        return basic_composition([one.guarantee for one in self.parts])

    @property
    def measured(self) -> tuple[str, ...]:
        """The columns that are aggregates as they were released in every part."""
        return tuple(name for name, kind in zip(self.columns, self._kinds(), strict=True) if kind == {True})

    @property
    def derived(self) -> tuple[str, ...]:
        """The other columns that have an interval in some part."""
        return tuple(name for name, kind in zip(self.columns, self._kinds(), strict=True) if kind and kind != {True})

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns without intervals, which tell the rows apart."""
        return tuple(name for name, kind in zip(self.columns, self._kinds(), strict=True) if not kind)

    def _kinds(self) -> list[set[bool]]:
        """Return for each column whether it is released, or computed, in the parts; empty where some has neither."""
        found: list[set[bool]] = []
        for place in range(len(self.columns)):
            names = [(one, one.columns[place]) for one in self.parts]
            known = [name in one.measured + one.derived for one, name in names]
            found.append({name in one.measured for one, name in names} if all(known) else set())
        return found

    def _is_derived(self, column: str) -> bool:
        self._place(column)
        return column in self.derived

    def _source(self, column: str) -> str | None:
        self._place(column)
        return column if column in self.measured else None

    def _intervals(self, column: str, confidence: float) -> list[Estimated]:
        place = self._place(column)
        found = [one._intervals(one.columns[place], confidence) for one in self.parts]
        every = list(itertools.chain(*found))
        return [every[row] for row in self.finished.sources]

    @property
    def _cells(self) -> int:
        """How many numbers with intervals there are, of all parts."""
        return sum(one._cells for one in self.parts)

    def bias(self, column: str, confidence: float = CONFIDENCE) -> list[Estimate]:  # noqa: ARG002
        """Refuse: what is cut is asked of each part."""
        raise ParameterError(f"how much is cut of {column!r} is said by each of `parts`")

    @property
    def noise(self) -> dict[str, float | None]:
        """The standard deviation of the noise of each aggregate, where it is the same in all parts."""
        found: dict[str, float | None] = {}
        for name in self.measured:
            place = self._place(name)
            spreads = {one.noise[one.columns[place]] for one in self.parts}
            found[name] = spreads.pop() if len(spreads) == 1 else None
        return found

    @property
    def bounding(self) -> str:
        """How units are bounded, in all parts."""
        return "; ".join(dict.fromkeys(one.bounding for one in self.parts))

    @property
    def left_out(self) -> tuple[str, ...]:
        """What the answers leave out beside the noise, a sentence each."""
        return tuple(dict.fromkeys(itertools.chain(*(one.left_out for one in self.parts))))

    @property
    def measurements(self) -> tuple[Measurement, ...]:
        """What was released in all parts, for inference."""
        return tuple(itertools.chain(*(one.measurements for one in self.parts)))

    def facts(self) -> list[tuple[str, str]]:
        """Return what goes with the table, with the record of every part."""
        found = [(name, words) for name, words in super().facts() if name not in ("record", "paid before", "about cut")]
        return found + [
            (name, words) for one in self.parts for name, words in one.facts() if name in ("record", "paid before")
        ]


def put_together(plan: UnionOfAnswers, parts: Sequence[Answer], sql: str) -> UnionAnswer:
    """Return the answers to the parts of a UNION as one, in its order and number of rows."""
    first = parts[0]
    columns: dict[str, list[Any]] = {
        name: list(itertools.chain(*(one[one.columns[place]] for one in parts)))
        for place, (name, _) in enumerate(plan.step.columns)
    }
    types = {name: expression.type for name, expression in plan.step.columns}
    made = finish(columns, types, (plan.step,), evaluate)
    shaped = Finished(made.names, made.rows, made.sources, (None,) * len(made.names), rounding=first.finished.rounding)
    return UnionAnswer(
        first.priced,
        first.released,
        shaped,
        first.record,
        first.unit,
        first.lineage,
        sql,
        first.budget,
        tuple(parts),
    )


def guarantee_together(made: Sequence[PricedQuery]) -> Guarantee:
    """Return what several priced queries keep together."""
    return basic_composition([one.guarantee for one in made])

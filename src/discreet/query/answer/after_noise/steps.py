"""The steps after the noise, in order on the released table: totals, HAVING, windows, columns, ORDER BY, LIMIT."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from discreet.query.answer.after_noise.rounding import Rounding, adjusted
from discreet.query.answer.after_noise.windows import added, computed
from discreet.query.expression import Column, Expression, Literal, Type, Value
from discreet.query.measures import OneInteger, SelectedKeys
from discreet.query.plan import AnswerWindow, PostProcessing, QueryPlan, gone
from discreet.query.pricing import PricedQuery, ReleasedTable

Columns = Mapping[str, list[Value]]
Types = Mapping[str, Type]
Evaluate = Callable[[Sequence[Expression], Columns, Types], list[list[Value]]]


@dataclass(frozen=True, slots=True)
class GroupTotals:
    """A released table with its totals: rows of keys, the released groups that each adds up, and which keys are gone.

    Privacy. Costs nothing: sums of what was released.
    """

    keys: tuple[tuple[Value, ...], ...]
    members: tuple[tuple[int, ...], ...]
    gone: tuple[tuple[int, ...], ...]  # for each row and key 1 where the row adds up all values of the key

    def added(self, released: Sequence[Sequence[int]]) -> list[list[int]]:
        """Return the integers of one measure for all rows."""
        return [[sum(entry[one] for one in rows) for rows in self.members] for entry in released]


@dataclass(frozen=True, slots=True)
class StepTaken:
    """What one step did: its columns before the selection, the rows that met its condition, and those it shows."""

    columns: Columns
    types: Types
    first: tuple[int, ...]  # places among the rows before the step
    windowed: Columns  # of those rows, with windows beside them
    windowed_types: Types
    last: tuple[int, ...]  # places among the first ones


@dataclass(frozen=True, slots=True)
class Finished:
    """The rows of an answer as they are shown.

    `sources` names for each row the row of `totals` it stands on, `shown` for each column the released column that it
    shows unchanged, or None.
    """

    names: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    sources: tuple[int, ...]
    shown: tuple[str | None, ...]
    stages: tuple[StepTaken, ...] = ()
    totals: GroupTotals | None = None
    rounding: Rounding = Rounding.NONE


def finished(
    made: PricedQuery, released: ReleasedTable, evaluate: Evaluate, rounding: Rounding = Rounding.NONE
) -> Finished:
    """Shape released integers into the table that was asked for; `evaluate` computes with released columns."""
    aggregation = made.query.aggregation
    totals = _with_totals(made.query, released)
    columns: dict[str, list[Value]] = {
        key.name: [one[place] for one in totals.keys] for place, key in enumerate(aggregation.keys)
    }
    types = {key.name: key.expression.type for key in aggregation.keys}
    known = [
        measure.values(totals.added(released.released[index]) if made.query.totals else released.released[index])
        for index, measure in enumerate(made.measures)
    ]
    for asked in aggregation.asked:
        index, inner = made.places[asked.name]
        columns[asked.name] = list(known[index][inner])
        if rounding and isinstance(made.measures[index], OneInteger | SelectedKeys):
            whole = adjusted(made.measures[index].values(released.released[index])[inner], asked, rounding)
            columns[asked.name] = [added([whole[one] for one in rows]) for rows in totals.members]
        types[asked.name] = Type.REAL
    if made.query.totals:
        for place, key in enumerate(aggregation.keys):
            columns[gone(key.name)] = [one[place] for one in totals.gone]
            types[gone(key.name)] = Type.INTEGER
    return replace(finish(columns, types, made.query.finish, evaluate, totals), rounding=rounding)


def finish(
    released: Columns,
    types: Types,
    steps: Sequence[PostProcessing],
    evaluate: Evaluate,
    totals: GroupTotals | None = None,
) -> Finished:
    """Run the steps in order; `evaluate` computes expressions row by row on columns that were released.

    Privacy. Costs nothing: `released` was released, and nothing else is looked at.
    """
    columns: Columns = {name: list(values) for name, values in released.items()}
    shown: dict[str, str | None] = {name: name for name in columns}
    sources = list(range(len(next(iter(columns.values()), []))))
    stages: list[StepTaken] = []
    for step in steps:
        stage, columns, types = _step(step, columns, types, len(sources), evaluate)
        stages.append(stage)
        shown = {name: shown.get(one.name) if isinstance(one, Column) else None for name, one in step.columns}
        sources = [sources[stage.first[place]] for place in stage.last]
    rows = tuple(zip(*columns.values(), strict=True)) if columns else ()
    return Finished(tuple(columns), rows, tuple(sources), tuple(shown.values()), tuple(stages), totals)


def _step(
    step: PostProcessing, columns: Columns, types: Types, count: int, evaluate: Evaluate
) -> tuple[StepTaken, Columns, Types]:
    """Select rows, look through windows, compute the columns, leave out repetitions, order, cut."""
    first = list(range(count))
    if step.condition is not None:
        kept = evaluated([step.condition], columns, types, count, evaluate)[0]
        first = [place for place in first if kept[place] is True]
    windowed = {name: [values[place] for place in first] for name, values in columns.items()}
    kinds = dict(types)
    for name, window in step.windows:
        windowed[name] = _window(window, windowed, kinds, len(first), evaluate)
        kinds[name] = window.type
    wanted = [*([step.kept] if step.kept is not None else []), *(one.expression for one in step.order)]
    made = evaluated([*wanted, *(one for _, one in step.columns)], windowed, kinds, len(first), evaluate)
    last = list(range(len(first)))
    if step.kept is not None:
        meets = made.pop(0)
        last = [place for place in last if meets[place] is True]
    by, made = made[: len(step.order)], made[len(step.order) :]
    if step.distinct:
        last = sorted({tuple([values[place] for values in made]): place for place in reversed(last)}.values())
    for term, values in reversed(list(zip(step.order, by, strict=True))):
        there = [place for place in last if values[place] is not None]
        there.sort(key=lambda place, values=values: values[place], reverse=term.descending)  # type: ignore[misc]
        last = [*there, *(place for place in last if values[place] is None)]  # NULLs last, either way
    last = last[step.offset :]
    if step.limit is not None:
        last = last[: step.limit]
    names = [name for name, _ in step.columns]
    found = {name: [values[place] for place in last] for name, values in zip(names, made, strict=True)}
    stage = StepTaken(columns, types, tuple(first), windowed, kinds, tuple(last))
    return stage, found, {name: expression.type for name, expression in step.columns}


def _window(window: AnswerWindow, columns: Columns, types: Types, count: int, evaluate: Evaluate) -> list[Value]:
    """Return the column of a window."""
    read = list(dict.fromkeys(window.read))
    found = dict(zip(read, evaluated(read, columns, types, count, evaluate), strict=True))
    return computed(window, found.__getitem__, count)


def evaluated(
    wanted: Sequence[Expression], columns: Columns, types: Types, count: int, evaluate: Evaluate
) -> list[list[Value]]:
    """Return the values of expressions; bare columns and constants need no evaluation."""
    hard = [one for one in wanted if not isinstance(one, Column | Literal)]
    found = iter(evaluate(hard, columns, types) if hard and count else [[] for _ in hard])
    made: list[list[Value]] = []
    for one in wanted:
        if isinstance(one, Column):
            made.append(list(columns[one.name]))
        else:
            made.append([one.value] * count if isinstance(one, Literal) else next(found))
    return made


def _with_totals(plan: QueryPlan, released: ReleasedTable) -> GroupTotals:
    """Return the rows of an answer before anything is selected or computed: the groups, or the grouping sets."""
    width = len(plan.aggregation.keys)
    if not plan.totals:
        every = range(len(released.keys))
        return GroupTotals(released.keys, tuple([(one,) for one in every]), ((0,) * width,) * len(released.keys))
    keys: list[tuple[Value, ...]] = []
    members: list[tuple[int, ...]] = []
    gone: list[tuple[int, ...]] = []
    for kept in plan.totals:
        found: dict[tuple[Value, ...], list[int]] = {} if kept else {(None,) * width: []}
        for place, key in enumerate(released.keys):
            shown = tuple([value if one in kept else None for one, value in enumerate(key)])
            found.setdefault(shown, []).append(place)
        keys += found
        members += [tuple(rows) for rows in found.values()]
        gone += [tuple([int(one not in kept) for one in range(width)])] * len(found)
    return GroupTotals(tuple(keys), tuple(members), tuple(gone))

"""Post-processing of a released table: HAVING, ORDER BY, LIMIT, arithmetic on answers, outer SELECTs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from discreet.query.expression import Column, Expression, Type, Value
from discreet.query.plan import Finish

Columns = Mapping[str, list[Value]]
Evaluate = Callable[[Sequence[Expression], Columns, Mapping[str, Type]], list[list[Value]]]


@dataclass(frozen=True, slots=True)
class Finished:
    """The rows of an answer as they are shown.

    `sources` names for each row the released row it stands on, `shown` for each column the released column that it
    shows unchanged, or None.
    """

    names: tuple[str, ...]
    rows: tuple[tuple[Value, ...], ...]
    sources: tuple[int, ...]
    shown: tuple[str | None, ...]


def finish(released: Columns, types: Mapping[str, Type], steps: Sequence[Finish], evaluate: Evaluate) -> Finished:
    """Run the steps in order; `evaluate` computes expressions row by row on columns that were released.

    Privacy. Costs nothing: `released` was released, and nothing else is looked at.
    """
    columns = {name: list(values) for name, values in released.items()}
    kinds = dict(types)
    shown: dict[str, str | None] = {name: name for name in columns}
    sources = list(range(len(next(iter(columns.values()), []))))
    for step in steps:
        columns, kinds, shown, sources = _step(step, columns, kinds, shown, sources, evaluate)
    rows = tuple(zip(*columns.values(), strict=True)) if columns else ()
    return Finished(tuple(columns), rows, tuple(sources), tuple(shown.values()))


State = tuple[dict[str, list[Value]], dict[str, Type], dict[str, str | None], list[int]]


def _step(
    step: Finish,
    columns: dict[str, list[Value]],
    kinds: dict[str, Type],
    shown: dict[str, str | None],
    sources: list[int],
    evaluate: Evaluate,
) -> State:
    """Select rows, order them, cut them, then compute the columns."""
    wanted = [*([step.condition] if step.condition is not None else []), *(one.expression for one in step.order)]
    wanted += [expression for _, expression in step.columns]
    computed = _evaluated(wanted, columns, kinds, evaluate)
    places = list(range(len(sources)))
    if step.condition is not None:
        kept = computed.pop(0)
        places = [place for place in places if kept[place] is True]
    for term, values in reversed(list(zip(step.order, computed, strict=False))):
        there = [place for place in places if values[place] is not None]
        there.sort(key=lambda place, values=values: values[place], reverse=term.descending)  # type: ignore[misc]
        places = [*there, *(place for place in places if values[place] is None)]  # NULLs last, either way
    if step.limit is not None:
        places = places[: step.limit]
    made = computed[len(step.order) :]
    names = [name for name, _ in step.columns]
    return (
        {name: [values[place] for place in places] for name, values in zip(names, made, strict=True)},
        {name: expression.type for name, expression in step.columns},
        {name: shown.get(one.name) if isinstance(one, Column) else None for name, one in step.columns},
        [sources[place] for place in places],
    )


def _evaluated(
    wanted: Sequence[Expression], columns: Columns, kinds: Mapping[str, Type], evaluate: Evaluate
) -> list[list[Value]]:
    """Return the values of expressions; bare columns need no evaluation."""
    hard = [one for one in wanted if not isinstance(one, Column)]
    found = iter(evaluate(hard, columns, kinds) if hard else [])
    return [list(columns[one.name]) if isinstance(one, Column) else next(found) for one in wanted]

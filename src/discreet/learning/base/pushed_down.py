"""Counts of rows by class in boxes of their features, as one SELECT that an engine adds up instead of numpy.

A box is an intersection of conditions low <= x < high on single features, low and high floats. Comparisons of floats
mean the same in SQL and in numpy, and the counts are integers: both roads give the same ones, to the last unit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import UnsupportedSQL
from discreet.frames import Type, is_large
from discreet.learning.base.declared_columns import FeatureColumn
from discreet.query.expression import Expression, Operation, typing_rules
from discreet.query.plan import Cell, EachRow, Engine, FilterRows, Key, One, Present, RowWeights, Scan, SumRequest, Sums
from discreet.query.policy import ColumnPolicy, TablePolicy, UnitIsRow

if TYPE_CHECKING:
    from discreet.learning.exact import Classes

Floats = NDArray[np.float64]
Box = tuple[tuple[int, float, float], ...]
"""Conditions on the features of a row: the place of a feature, its lower end, which belongs to the box, its upper."""

MOST_CELLS = 2000  # of one SELECT
_LARGEST = float(np.finfo(np.float64).max)
_PYTHON = {Type.TEXT: (str,), Type.BOOLEAN: (bool,), Type.INTEGER: (int,), Type.REAL: (int, float)}
_apply, _literal = typing_rules.apply, typing_rules.literal


class PushedCounts:
    """The counts of every class in every box, as a request to an engine and back.

    Rows that count for nothing do so here too: one with a cell that is missing, infinite or not declared, and one of
    no declared class.
    """

    def __init__(
        self,
        table: TablePolicy,
        features: Sequence[FeatureColumn],
        target: ColumnPolicy,
        classes: Classes,
        boxes: Sequence[Box],
    ) -> None:
        self._classes, self._boxes = len(classes), boxes
        read = [_Feature(table.columns[one.name], one) for one in features]
        conditions = [_all([read[place].within(low, high) for place, low, high in box]) for box in boxes]
        self._cells = [place for place, one in enumerate(conditions) if one is not _NEVER]
        cells = [_cell(one) for one in conditions if one is not _NEVER]
        aim = typing_rules.column(target.name, target.type)
        same = [_apply(Operation.EQUAL, aim, _of_type(label, target.type)) for label in classes.labels]
        codes = [part for code, one in enumerate(same) for part in (one, _literal(code))]
        key = Key("#class", _apply(Operation.CASE, *codes, _literal(None)), None)
        counted = _joined(Operation.AND, [_joined(Operation.OR, same), *(one.there() for one in read)])
        self.request = SumRequest(FilterRows(Scan(table.name), counted), (key,), EachRow(), tuple(cells))

    def counts(self, sums: Sums) -> NDArray[np.int64]:
        """Return the counts of an engine as a matrix, a line a box. Private."""
        found = np.zeros((len(self._boxes), self._classes), dtype=np.int64)
        for group, (code,) in enumerate(sums.keys):
            if isinstance(code, int):
                found[self._cells, code] = [cell[group] for cell in sums.cells]
        return found


def pushed_counts(
    engine: Engine,
    table: TablePolicy,
    features: Sequence[FeatureColumn],
    target: ColumnPolicy | None,
    classes: Classes | None,
    boxes: Sequence[Box] | None,
) -> PushedCounts | None:
    """Return counts as a request that an engine can run; None where it cannot, which follows from what is public."""
    if boxes is None or target is None or classes is None or len(boxes) > MOST_CELLS:
        return None
    kinds = _PYTHON.get(target.type, ())
    if any(type(label) not in kinds or is_large(label) for label in classes.labels):
        return None
    try:
        made = PushedCounts(table, features, target, classes, boxes)
        # the bounded table of units with several rows is not there yet; a form for such rows writes the same conditions
        row = isinstance(table.unit, UnitIsRow)
        engine.text(made.request if row else replace(made.request, form=RowWeights(1)))
    except UnsupportedSQL:  # a text that no engine writes, a statement that is too long
        return None
    return made


def first_float(bin_of: Callable[[Floats], NDArray[np.int64]], low: float, high: float, place: int) -> float:
    """Return the least float from `low` to `high` whose bin is at least `place`, infinity where there is none.

    `bin_of` never falls, so it can be found by halving; there are less than 2^64 floats.

    >>> first_float(lambda x: np.floor(x * 4).astype(np.int64), 0.0, 1.0, 3)
    0.75
    """
    below, found = _order(low), _order(high)
    if int(bin_of(np.array([high]))[0]) < place:
        return float("inf")
    if int(bin_of(np.array([low]))[0]) >= place:
        return low
    while found - below > 1:
        middle = (below + found) // 2
        if int(bin_of(np.array([_float(middle)]))[0]) >= place:
            found = middle
        else:
            below = middle
    return _float(found)


def _order(value: float) -> int:
    """Return the place of a float among all floats."""
    bits = int(np.float64(value).view(np.int64))
    return bits if bits >= 0 else -(bits & _SIGNLESS)


_SIGNLESS = (1 << 63) - 1


def _float(order: int) -> float:
    return float(np.int64(order).view(np.float64)) if order >= 0 else -float(np.int64(-order).view(np.float64))


_ALWAYS, _NEVER = object(), object()
Condition = Any  # an expression, or one of the two above


class _Feature:
    """A feature as a column of SQL: a float, or one of the declared values."""

    def __init__(self, column: ColumnPolicy, feature: FeatureColumn) -> None:
        self._column = typing_rules.column(column.name, column.type)
        self._values = (False, True) if column.type is Type.BOOLEAN else feature.values
        self._number = None if self._values is not None else _apply(Operation.CAST, self._column, type=Type.REAL)

    def there(self) -> Expression:
        """Say that the cell counts: a finite number, or a declared value."""
        if self._number is not None:
            above = _apply(Operation.AT_LEAST, self._number, _literal(-_LARGEST))
            return _apply(Operation.AND, above, _apply(Operation.AT_MOST, self._number, _literal(_LARGEST)))
        return self._one_of(self._values or ())

    def within(self, low: float, high: float) -> Condition:
        """Say that the number, or the code of the value, is at least `low` and below `high`."""
        if self._number is None:
            values = self._values or ()
            inside = [value for code, value in enumerate(values) if low <= code < high]
            return _ALWAYS if len(inside) == len(values) else _NEVER if not inside else self._one_of(inside)
        ends = [_apply(Operation.AT_LEAST, self._number, _literal(low))] if low > -_LARGEST else []
        ends += [_apply(Operation.LESS, self._number, _literal(high))] if high <= _LARGEST else []
        return _NEVER if low > _LARGEST else _all(ends)

    def _one_of(self, values: Sequence[Any]) -> Expression:
        if self._column.type is Type.BOOLEAN:
            if len(values) == 2:
                return _apply(Operation.NOT, _apply(Operation.IS_NULL, self._column))
            return self._column if values[0] else _apply(Operation.NOT, self._column)
        return _apply(Operation.IN, self._column, *(_of_type(value, self._column.type) for value in values))


def _all(conditions: Sequence[Condition]) -> Condition:
    """Return that all conditions hold."""
    if any(one is _NEVER for one in conditions):
        return _NEVER
    stated = [one for one in conditions if one is not _ALWAYS]
    return _joined(Operation.AND, stated) if stated else _ALWAYS


def _joined(operation: Operation, conditions: Sequence[Expression]) -> Expression:
    """Return AND or OR of conditions, nested no deeper than their number needs."""
    if len(conditions) == 1:
        return conditions[0]
    half = len(conditions) // 2
    return _apply(operation, _joined(operation, conditions[:half]), _joined(operation, conditions[half:]))


def _cell(condition: Condition) -> Cell:
    if condition is _ALWAYS:
        return One()
    return Present(_apply(Operation.CASE, condition, _literal(1), _literal(None)))


def _of_type(value: Any, kind: Type) -> Expression:
    return _literal(float(value) if kind is Type.REAL else value)

"""Whole requests answered slowly, in plain Python: the reference that engines are compared with."""

from __future__ import annotations

import hashlib
import math
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any

import numpy as np

from discreet.frames import Type
from discreet.query.expression.expression import Operation, Value
from discreet.query.expression.typing_rules import apply
from discreet.query.plan.query_plan import Key
from discreet.query.plan.request import (
    WEIGHT,
    Cell,
    EachRow,
    Engine,
    Groups,
    HistogramRequest,
    NormWeights,
    One,
    Paired,
    Present,
    RowWeights,
    Steps,
    SumRequest,
    Sums,
    Units,
    UnitTotal,
    ValuesRequest,
)
from discreet.query.plan.row_sources import (
    FilterRows,
    JoinKind,
    MatchKind,
    PerUnit,
    PrivateJoin,
    Project,
    PublicJoin,
    RowSource,
    Scan,
    UnionAll,
    UnitValue,
    UnitValueKind,
)
from discreet.query.policy.declarations import Policy, UnitColumn, UnitIsRow, UnitLink
from tests.query import oracle

Table = Sequence[Mapping[str, Any]]
KeyValues = tuple[Value, ...]
Weighted = list[tuple[KeyValues, Mapping[str, Any], Any, int]]  # key, row, unit, weight


class ReferenceEngine(Engine):
    """Every table is a list of rows; NULL is None."""

    def __init__(self, policy: Policy, tables: Mapping[str, Table]) -> None:
        self.policy = policy
        self.tables = tables

    def schema(self, table: str) -> Mapping[str, Type]:
        return {name: column.type for name, column in self._columns(table).items()}

    def text(self, request: SumRequest | HistogramRequest) -> str:
        return f"the sums of {type(request.form).__name__}, in Python"

    def run(self, request: SumRequest | ValuesRequest) -> Sums:
        if isinstance(request, ValuesRequest):
            return self._values(request)
        totals: dict[KeyValues, list[int]] = {} if request.keys else {(): [0] * len(request.cells)}
        units: dict[KeyValues, set[Any]] = defaultdict(set)
        held: dict[Any, list[int]] = defaultdict(list)  # what the rows of a unit add to a cell of a group
        for key, row, unit, weight in self.weighted(request):
            sums = totals.setdefault(key, [0] * len(request.cells))
            for index, cell in enumerate(request.cells):
                if isinstance(cell, Units):
                    units[key].add(unit)
                    sums[index] = len(units[key])
                elif isinstance(cell, UnitTotal):
                    there = isinstance(cell.cell, One) or oracle.evaluate(cell.cell.argument, row) is not None
                    held[key, index, unit] += [_value(cell.cell, row)] if there else []
                else:
                    sums[index] += weight * _value(cell, row)
        for (key, index, _), values in held.items():
            clip = request.cells[index]
            assert isinstance(clip, UnitTotal)
            totals[key][index] += min(max(sum(values), clip.low), clip.high) if values else 0
        return Sums(list(totals), [[sums[index] for sums in totals.values()] for index in range(len(request.cells))])

    def _values(self, request: ValuesRequest) -> Sums:
        """Count the values of every group; by groups a unit keeps pairs of a group and a value."""
        there = FilterRows(request.source, apply(Operation.NOT, apply(Operation.IS_NULL, request.argument)))
        source = there if isinstance(request.form, Groups) else request.source
        keys = (*request.keys, Key("#value", request.argument, None))
        found: dict[KeyValues, set[Any]] = defaultdict(set)
        for (*key, value), _, _, _ in self.weighted(SumRequest(source, keys, request.form, ())):
            found[tuple(key)].update([] if value is None else [value])
        if not request.keys:
            found[()].update()
        return Sums(list(found), [[len(values) for values in found.values()]])

    def histogram(self, request: HistogramRequest) -> dict[KeyValues, tuple[Any, Any]]:
        weights: dict[KeyValues, Counter[int]] = {} if request.keys else {(): Counter()}
        for key, row, _, weight in self.weighted(request):
            place = oracle.position(oracle.evaluate(request.argument, row), request.scale)
            group = weights.setdefault(key, Counter())
            if place is not None:
                group[place] += weight
        return {
            key: (np.array(sorted(group), dtype=np.int64), np.array([group[place] for place in sorted(group)]))
            for key, group in weights.items()
        }

    def rows(self, source: RowSource, columns: Sequence[str]) -> Mapping[str, Any]:
        made = list(self.made(source))
        arrays = {name: np.array([row[name] for _, row in made], dtype=object) for name in columns}
        return arrays | {"unit": np.array([unit for unit, _ in made], dtype=object)}

    def bound(self, table: str, rows: int) -> str:
        raise NotImplementedError("a bounded table is checked by what is in it")

    def unique_violated(self, table: str, columns: Sequence[str]) -> bool:
        rows = [tuple(self._read(table, stored)[name] for name in columns) for stored in self.tables[table]]
        there = [row for row in rows if None not in row]
        return len(set(there)) < len(there)

    def close(self) -> None:
        """Nothing is held."""

    def made(self, rows: RowSource) -> Iterator[tuple[Any, Mapping[str, Any]]]:
        """Yield the rows, each with its unit."""
        if isinstance(rows, Scan):
            for index, stored in enumerate(self.tables[rows.table]):
                for unit in [index] if self._by_row(rows.table) else dict.fromkeys(self._units(rows.table, stored)):
                    yield unit, self._read(rows.table, stored)
        elif isinstance(rows, FilterRows):
            yield from ((u, row) for u, row in self.made(rows.source) if oracle.evaluate(rows.condition, row) is True)
        elif isinstance(rows, Project):
            for unit, row in self.made(rows.source):
                yield unit, {name: oracle.evaluate(expression, row) for name, expression in rows.columns}
        elif isinstance(rows, PublicJoin):
            yield from self._joined(rows)
        elif isinstance(rows, PrivateJoin):
            yield from self._matched(rows)
        elif isinstance(rows, PerUnit):
            yield from self._per_unit(rows)
        elif isinstance(rows, UnionAll):
            for part in rows.parts:
                yield from ((unit, {name: row[name] for name, _ in rows.columns}) for unit, row in self.made(part))
        else:
            raise TypeError

    def weighted(self, request: SumRequest | HistogramRequest) -> Weighted:
        """Return the rows that count, with keys and weights."""
        form = request.form
        rows = [(tuple(_key(key, row) for key in request.keys), row, unit) for unit, row in self.made(request.source)]
        if isinstance(form, EachRow):
            return [(key, row, unit, 1) for key, row, unit in rows]
        if isinstance(form, RowWeights):
            counts = Counter(unit for _, _, unit in rows)
            return [(key, row, unit, min(WEIGHT, form.rows * WEIGHT // counts[unit])) for key, row, unit in rows]
        rows = [(key, row, unit) for key, row, unit in rows if _public(request.keys, key)]
        pairs = Counter((unit, key) for key, _, unit in rows)
        if isinstance(form, NormWeights):
            squares: Counter[Any] = Counter()
            for (unit, _), number in pairs.items():
                squares[unit] += number**2
            norms = {unit: math.isqrt(square - 1) + 1 for unit, square in squares.items()}
            return [(key, row, unit, min(WEIGHT, form.rows * WEIGHT // norms[unit])) for key, row, unit in rows]
        assert isinstance(form, Groups)
        kept = self._kept(request, form, pairs)
        return [
            (key, row, unit, min(WEIGHT, form.rows * WEIGHT // pairs[unit, key]))
            for key, row, unit in rows
            if key in kept[unit]
        ]

    def _kept(self, request: SumRequest | HistogramRequest, form: Groups, pairs: Mapping[Any, int]) -> dict[Any, Any]:
        groups: dict[Any, list[KeyValues]] = defaultdict(list)
        for unit, key in pairs:
            groups[unit].append(key)
        salt = int.from_bytes(hashlib.sha256(self.policy.lineage.encode()).digest()[:4], "big") & (2**30 - 1)

        def place(unit: Any, key: KeyValues) -> Any:
            factor = _factor((_whole(unit) % 2**30) + salt)
            order = [(value is None, 0 if value is None else value) for value in key]
            return factor * _factor(_code(request.keys, key)) % 2**31, order

        return {unit: sorted(keys, key=lambda key: place(unit, key))[: form.groups] for unit, keys in groups.items()}

    def _columns(self, table: str) -> Mapping[str, Any]:
        private = self.policy.tables.get(table)
        return private.columns if private is not None else self.policy.public[table].columns

    def _read(self, table: str, stored: Mapping[str, Any]) -> dict[str, Any]:
        """Return a row as it is read; decimal numbers, which are units here, as they are written."""
        return {
            name: str(stored[name]) if isinstance(stored[name], Decimal) else oracle.stored(stored[name], column.type)
            for name, column in self._columns(table).items()
        }

    def _by_row(self, table: str) -> bool:
        return isinstance(self.policy.tables[table].unit, UnitIsRow)

    def _units(self, table: str, stored: Mapping[str, Any]) -> Iterator[Any]:
        """Yield the unit of a row, or several, some more than once, where a link leads to several rows."""
        unit, row = self.policy.tables[table].unit, self._read(table, stored)
        if isinstance(unit, UnitColumn):
            if row[unit.column] is not None:
                yield row[unit.column]
        elif isinstance(unit, UnitLink) and row[unit.column] is not None:
            for other in self.tables[unit.table]:
                if self._read(unit.table, other)[unit.key] == row[unit.column]:
                    yield from self._units(unit.table, other)

    def _joined(self, rows: PublicJoin) -> Iterator[tuple[Any, Mapping[str, Any]]]:
        public = [self._read(rows.table, stored) for stored in self.tables[rows.table]]
        for unit, row in self.made(rows.source):
            wanted = [oracle.evaluate(expression, row) for expression, _ in rows.keys]
            match = [
                other for other in public if None not in wanted and wanted == [other[column] for _, column in rows.keys]
            ]
            if match or rows.kind is JoinKind.LEFT:
                found = match[0] if match else {}
                yield unit, {**row, **{name: found.get(column) for name, column, _ in rows.columns}}

    def _matched(self, rows: PrivateJoin) -> Iterator[tuple[Any, Mapping[str, Any]]]:
        others = list(self.made(rows.other))
        for unit, row in self.made(rows.source):
            both = [{**row, **{name: o[own] for name, own, _ in rows.columns}} for mine, o in others if mine == unit]
            there = [one for one in both if rows.condition is None or oracle.evaluate(rows.condition, one) is True]
            if rows.kind in (MatchKind.SEMI, MatchKind.ANTI):
                if bool(there) is (rows.kind is MatchKind.SEMI):
                    yield unit, row
            elif there or rows.kind is MatchKind.INNER:
                yield from ((unit, one) for one in there)
            else:
                yield unit, {**row, **{name: None for name, _, _ in rows.columns}}

    def _per_unit(self, rows: PerUnit) -> Iterator[tuple[Any, Mapping[str, Any]]]:
        groups: dict[Any, list[Mapping[str, Any]]] = defaultdict(list)
        for unit, row in self.made(rows.source):
            groups[unit, tuple(_zeroed(oracle.evaluate(one, row)) for _, one in rows.keys)].append(row)
        for (unit, key), group in groups.items():
            named = dict(zip([name for name, _ in rows.keys], key, strict=True))
            yield unit, {**named, **{one.name: _of_all(one, group) for one in rows.values}}


def _of_all(one: UnitValue, group: Sequence[Mapping[str, Any]]) -> Any:
    """Return a value of all rows of a unit."""
    if one.argument is None:
        return len(group)
    values = [_zeroed(oracle.evaluate(one.argument, row)) for row in group]
    there = [value for value in values if value is not None]
    if one.kind in _COUNTED:
        return _COUNTED[one.kind](there)
    return _OF_THERE.get(one.kind, lambda found: _total(one, found))(there) if there else None


def _total(one: UnitValue, there: Sequence[Any]) -> Any:
    """Return a sum or a mean of values that are there."""
    grid = one.scale
    total = sum(there) if grid is None else sum((oracle.position(v, grid) or 0) + grid.start for v in there)
    if not -(2**63) <= total < 2**63:
        return None
    if grid is None and one.kind is UnitValueKind.SUM:
        return total
    real = float(total) * (1.0 if grid is None else float(grid.grid))
    return real if one.kind is UnitValueKind.SUM else real / float(len(there))


_COUNTED = {UnitValueKind.COUNT_VALUES: len, UnitValueKind.COUNT_DISTINCT: lambda there: len(set(there))}
_OF_THERE: Mapping[UnitValueKind, Any] = {
    UnitValueKind.MIN: min,
    UnitValueKind.MAX: max,
    UnitValueKind.ANY: any,
    UnitValueKind.ALL: all,
}


def _zeroed(value: Any) -> Any:
    return value + 0.0 if isinstance(value, float) else value


def _value(cell: Cell, row: Mapping[str, Any]) -> int:
    if isinstance(cell, One):
        return 1
    if isinstance(cell, Present):
        return int(oracle.evaluate(cell.argument, row) is not None)
    if isinstance(cell, Paired):
        places = [oracle.position(oracle.evaluate(one.argument, row), one.scale) for one in (cell.first, cell.second)]
        if None in places:
            return 0
        offsets = (cell.first.offset, cell.second.offset)
        return math.prod((place + off) ** p for place, off, p in zip(places, offsets, cell.powers, strict=True))
    assert isinstance(cell, Steps)
    place = oracle.position(oracle.evaluate(cell.argument, row), cell.scale)
    return 0 if place is None else (place + cell.offset) ** cell.power


def _key(key: Key, row: Mapping[str, Any]) -> Any:
    value = oracle.evaluate(key.expression, row)
    return value + 0.0 if isinstance(value, float) else value


def _public(keys: tuple[Key, ...], values: KeyValues) -> bool:
    return all(key.domain is None or value in key.domain for key, value in zip(keys, values, strict=True))


def _code(keys: tuple[Key, ...], values: KeyValues) -> int:
    """Return the place in the product of domains, or a code from the values where one key has no domain."""
    code = 0
    if all(key.domain is not None for key in keys) and math.prod(len(key.domain or ()) for key in keys) <= 2**30:
        for key, value in zip(keys, values, strict=True):
            assert key.domain is not None
            code = code * len(key.domain) + key.domain.index(value)
        return code
    for index, value in enumerate(values):
        own = 715_827_883 if value is None else _whole(value) % 2**30
        code = own if index == 0 else (code * 1_000_000_007 + own) % 2**30
    return code


def _whole(value: Any) -> int:
    if isinstance(value, float):
        scaled = value * 1024
        whole = math.floor(scaled) if math.isfinite(scaled) else 0
        return whole if -(2**63) <= whole < 2**63 else 0
    if isinstance(value, str):
        return int(hashlib.md5(value.encode(), usedforsecurity=False).hexdigest()[:15], 16)
    if isinstance(value, datetime):
        return (value - datetime(1970, 1, 1)) // timedelta(microseconds=1)
    if isinstance(value, date):
        return (value - date(1970, 1, 1)).days
    return int(value)


def _factor(code: int) -> int:
    """Return an odd number below 2^31, the last half of the choice's hash."""
    start = code % 2**30 * 1_103_515_245 % 2**30
    return ((start ^ start >> 15) * 805_306_457 % 2**30) * 2 + 1

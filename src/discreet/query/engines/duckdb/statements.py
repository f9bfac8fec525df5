"""From a request to one SELECT of DuckDB: what is added up of the rows, and which rows these are.

Every number in a statement is an integer and fits: a row adds less than 2^42 times a weight of at most 2^20, which
64 bits hold, and DuckDB adds up in 128 bits, which no number of rows can overflow.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from discreet.errors import ParameterError
from discreet.query.engines.duckdb.bounded_rows import (
    Bounded,
    ComputedSum,
    Source,
    bounded,
    less_excess,
    summed,
    weighted,
)
from discreet.query.engines.duckdb.expressions import render
from discreet.query.engines.duckdb.group_keys import Coded, StoredDomain, coded
from discreet.query.engines.duckdb.rows import Block, block, native_keys, read_by
from discreet.query.engines.duckdb.text import indented, position
from discreet.query.engines.duckdb.units import Tables
from discreet.query.expression import Expression
from discreet.query.plan import (
    WEIGHT,
    Cell,
    EachRow,
    Groups,
    HistogramRequest,
    Key,
    NormWeights,
    Paired,
    Present,
    RowWeights,
    Steps,
    SumRequest,
    Units,
    UnitTotal,
    ValuesRequest,
)

_VALUE_BITS = 42
_TOTAL_BITS = 62
_LARGEST_ROWS = 1 << 40
_FEW_POSITIONS = 1 << 24
PACKED_BITS = WEIGHT.bit_length()  # those of the weight of one row


@dataclass(frozen=True, slots=True)
class SumStatement:
    """A SELECT, the tables of public keys it joins, and how to read its columns: keys first, then parts of cells."""

    text: str
    domains: tuple[StoredDomain, ...]
    keys: tuple[Key, ...]
    code: tuple[int, ...] | None  # the sizes of the domains, where one number stands for all keys
    cells: tuple[tuple[int, ...], ...]  # the factors of the parts of each cell


def statement(tables: Tables, request: SumRequest, salt: int) -> SumStatement:
    """Return the statement of a request."""
    below = _checked_block(tables, request, _read(request.cells))
    items, cells = _cell_columns(request.cells, below)
    source = _source(request, below, items)
    form, flat = request.form, [part for parts in cells for part in parts]
    if isinstance(form, EachRow):
        flat = [_clipped(cell, part) for cell, parts in zip(request.cells, cells, strict=True) for part in parts]
    found = less_excess(source, form, flat) if isinstance(form, RowWeights | NormWeights) else None
    if found is not None:
        sums = [f"sum(c_{index})" for index in range(1, len(flat) + 1)]
    else:
        values = dict.fromkeys(part.value for part in flat if part.value is not None)
        names = {value: f"s_{index}" for index, value in enumerate(values, 1)}
        found = bounded(source, form, [f"sum({value}) AS {name}" for value, name in names.items()], salt)
        if isinstance(form, EachRow | RowWeights):
            sums = [summed(part, "" if isinstance(form, EachRow) else "weight") for part in flat]
        else:
            sums = [
                _of_pairs(cell, "n" if part.value is None else names[part.value])
                for cell, parts in zip(request.cells, cells, strict=True)
                for part in parts
            ]
    sums = [f"{text} AS c_{index}" for index, text in enumerate(sums, 1)]
    factors = tuple(tuple(part.factor for part in parts) for parts in cells)
    text = _final(found, source.keys, sums, source.keys)
    return SumStatement(text, source.domains, request.keys, source.sizes, factors)


def _of_pairs(cell: Cell, name: str) -> str:
    """Return what pairs of a unit and a group add up to, given the sum of the rows of a pair."""
    if isinstance(cell, Units):
        return "count(*)"
    return f"sum({_clip(cell, name)})" if isinstance(cell, UnitTotal) else f"sum(weight * {name})"


def _clip(cell: UnitTotal, total: str) -> str:
    """Return what a unit adds, given its total: clipped; nothing where it has no value, which NULL or a count 0 says.

    It cannot raise: the ends have at most 62 bits, and the total is a sum, which DuckDB keeps in 128.
    """
    there = f"{total} > 0" if isinstance(cell.cell, Present) else f"{total} IS NOT NULL"
    return f"CASE WHEN {there} THEN least(greatest({total}, {cell.low}), {cell.high}) END"


def _clipped(cell: Cell, part: ComputedSum) -> ComputedSum:
    """Return a part of a cell where every row is all that its unit has."""
    if not isinstance(cell, UnitTotal):
        return part
    return ComputedSum(1, f"({_clip(cell, '1' if part.value is None else part.value)})")


def histogram_statement(tables: Tables, request: HistogramRequest, salt: int) -> SumStatement:
    """Return the statement of a histogram: positions and weights, of a group with keys in one row.

    By keys a row of a group holds its keys and either a list of positions times 2^21 plus weights, one for every row
    with a value, or, where all groups together have few positions, two lists: of the positions, and of their weights.
    Without keys a row holds a position (NULL for rows without a value) and its weight.
    """
    below = _checked_block(tables, request, [request.argument])
    text = position(render(request.argument, below.columns), request.scale, request.argument.type)
    source, form = _source(request, below, [f"{text} AS x_1"]), request.form
    keys = [f"rows.{key}" for key in source.keys]
    found = bounded(source, form, [], salt)
    if isinstance(form, NormWeights):
        found = replace(found, tables=weighted("rows", "weights"))
    elif isinstance(form, Groups):
        same = [f"{key} IS NOT DISTINCT FROM kept.{key.partition('.')[2]}" for key in keys]
        found = replace(found, tables="rows JOIN kept ON " + " AND ".join(["rows.unit = kept.unit", *same]))
    there = "FILTER (WHERE x_1 IS NOT NULL), []"  # a group without a value is there, and its list is empty
    if request.keys and _many_positions(request):
        each = "1" if isinstance(form, EachRow) else "weight"
        packed = f"coalesce(list(x_1 * {1 << PACKED_BITS} + {each}) {there}) AS packed"
        final = _final(found, keys, [packed], keys)
        return SumStatement(final, source.domains, request.keys, source.sizes, ())
    weight = "count(*)" if isinstance(form, EachRow) else "sum(weight)"
    final = _final(found, keys, ["x_1", f"CAST({weight} AS BIGINT) AS weight"], [*keys, "x_1"])
    if request.keys:
        lists = [f"coalesce(list({name} ORDER BY x_1) {there}) AS {name}s" for name in ("x_1", "weight")]
        listed = ", ".join(source.keys)
        final = f"SELECT {', '.join([listed, *lists])}\nFROM (\n{indented(final)}\n)\nGROUP BY {listed}"
    return SumStatement(final, source.domains, request.keys, source.sizes, ())


def _many_positions(request: HistogramRequest) -> bool:
    """Say whether the groups have too many positions for adding up by position to save memory; public."""
    if request.scale.steps >= 1 << _VALUE_BITS - 1:
        raise ParameterError("a position of a histogram must be less than 2^41")
    groups = math.prod(_FEW_POSITIONS if key.domain is None else len(key.domain) for key in request.keys)
    return groups * (request.scale.steps + 1) > _FEW_POSITIONS


def values_statement(tables: Tables, request: ValuesRequest, salt: int) -> SumStatement:
    """Return the statement that counts different values: keys, and how many there are.

    Stability. A unit moves all counts together by at most the number of pairs it brings, and none of them down when it
    comes.
        Proof: the count of a group is the number of values that some kept pair of it holds. The pairs of a unit are
        kept by its own pairs alone, at most `groups` of them (see `_groups`); by `EachRow` each row is one pair. With
        the unit, a value that nobody else brings to a group is one more, and there are at most as many as its pairs.
    """
    value = Key("#value", request.argument, None)
    own = (*request.keys, value)
    asked = SumRequest(request.source, own, request.form, (), request.bounded)
    below = _checked_block(tables, asked, [])
    if isinstance(request.form, Groups):
        there = f"{render(request.argument, below.columns)} IS NOT NULL"
        below = replace(below, conditions=(*below.conditions, there))
    source = _source(asked, below, [])
    found = bounded(source, request.form, [], salt)
    *keys, last = source.keys
    text = _final(found, keys, [f"count(DISTINCT {last}) AS c_1"], keys)
    return SumStatement(text, source.domains, request.keys, None, ((1,),))


def _checked_block(tables: Tables, request: SumRequest | HistogramRequest, read: Sequence[Expression]) -> Block:
    """Return the rows of a request, if its form bounds them."""
    form, cells = request.form, request.cells if isinstance(request, SumRequest) else ()
    wanted = read_by([*[key.expression for key in request.keys], *read])
    below = block(tables, request.source, wanted, request.bounded).nested()
    if below.unit is None and not isinstance(form, EachRow):
        raise ParameterError("rows that are units, and bounded tables, are for EachRow alone")
    if below.unit is not None and isinstance(form, EachRow) and not request.source.single:
        raise ParameterError("EachRow is for rows that are units, for at most one row a unit, and for bounded tables")
    if not isinstance(form, EachRow) and not 1 <= getattr(form, "rows", 1) <= _LARGEST_ROWS:
        raise ParameterError("the rows of a unit are bounded by an integer from 1 to 2^40")
    if isinstance(form, Groups) and not 1 <= form.groups <= _LARGEST_ROWS:
        raise ParameterError("the groups of a unit are bounded by an integer from 1 to 2^40")
    rows_are_units = isinstance(form, EachRow) and request.bounded is None
    if any(isinstance(cell, Units) for cell in cells) and not (isinstance(form, Groups) or rows_are_units):
        raise ParameterError("units are counted in the form Groups, or where a row is a unit")
    for cell in cells:
        if isinstance(cell, UnitTotal):
            _check_total(cell, by_units=isinstance(form, Groups) or rows_are_units)
    return below


def _check_total(cell: UnitTotal, *, by_units: bool) -> None:
    """Refuse a total of a unit where units have weights instead, or that 64 bits do not hold."""
    if not by_units:
        raise ParameterError("totals of units are clipped in the form Groups, or where a row is a unit")
    if cell.low > cell.high or max(abs(cell.low), abs(cell.high)) >= 1 << _TOTAL_BITS:
        raise ParameterError("a total of a unit lies between two integers of less than 2^62")
    if isinstance(cell.cell, Steps) and cell.cell.power != 1:
        raise ParameterError("a total of a unit is one of values, not of squares")


def _read(cells: Sequence[Cell]) -> list[Expression]:
    """Return the expressions that cells read."""
    pairs = [part for cell in cells if isinstance(cell, Paired) for part in (cell.first, cell.second)]
    inner = [cell.cell if isinstance(cell, UnitTotal) else cell for cell in (*cells, *pairs)]
    return [cell.argument for cell in inner if isinstance(cell, Present | Steps)]


def _cell_columns(cells: Sequence[Cell], below: Block) -> tuple[list[str], list[list[ComputedSum]]]:
    """Return the columns x_1, x_2, ... that cells need of a row, and every cell as sums of values made from them."""
    names: dict[str, str] = {}
    parts: list[list[ComputedSum]] = []
    for cell in [one.cell if isinstance(one, UnitTotal) else one for one in cells]:
        if isinstance(cell, Present):
            text = f"CASE WHEN {render(cell.argument, below.columns)} IS NULL THEN 0 ELSE 1 END"
            parts.append([ComputedSum(1, names.setdefault(text, f"x_{len(names) + 1}"))])
        elif isinstance(cell, Steps):
            parts.append(_powers(cell, _steps_column(cell, below, names)))
        elif isinstance(cell, Paired):
            parts.append([_product(cell, *(_steps_column(one, below, names) for one in (cell.first, cell.second)))])
        else:
            parts.append([ComputedSum(1, None)])
    return [f"{text} AS {name}" for text, name in names.items()], parts


def _steps_column(cell: Steps, below: Block, names: dict[str, str]) -> str:
    """Return the name of the column with a value in steps."""
    text = position(render(cell.argument, below.columns), cell.scale, cell.argument.type)
    text = f"{text} + {cell.offset}" if cell.offset > 0 else f"{text} - {-cell.offset}" if cell.offset else text
    return names.setdefault(text, f"x_{len(names) + 1}")


def _product(cell: Paired, first: str, second: str) -> ComputedSum:
    """Return the product of powers of two columns of steps where both are there."""
    pairs = [(cell.first, cell.powers[0]), (cell.second, cell.powers[1])]
    if sum(_bits(one) * power for one, power in pairs) > _VALUE_BITS or sum(cell.powers) not in (0, 1, 2):
        raise ParameterError("a product of values in steps must be less than 2^42, and of two of them at most")
    factors = [first] * cell.powers[0] + [second] * cell.powers[1]
    value = " * ".join(factors) or "1"
    return ComputedSum(1, f"(CASE WHEN {first} IS NOT NULL AND {second} IS NOT NULL THEN {value} ELSE 0 END)")


def _bits(cell: Steps) -> int:
    return max(abs(cell.offset), abs(cell.offset + cell.scale.steps)).bit_length()


def _powers(cell: Steps, name: str) -> list[ComputedSum]:
    """Return a value or its square in parts of less than 42 bits each: (2^h a + b)^2 = 2^2h a^2 + 2^(h+1) a b + b^2."""
    bits = _bits(cell)
    if bits > _VALUE_BITS or cell.power not in (1, 2):
        raise ParameterError("a value in steps of its grid must be less than 2^42, and its power 1 or 2")
    if cell.power == 1:
        return [ComputedSum(1, name)]
    if 2 * bits <= _VALUE_BITS:
        return [ComputedSum(1, f"({name} * {name})")]
    half = (bits + 1) // 2
    high, low = f"(abs({name}) >> {half})", f"(abs({name}) & {(1 << half) - 1})"
    return [
        ComputedSum(1 << 2 * half, f"({high} * {high})"),
        ComputedSum(1 << half + 1, f"({high} * {low})"),
        ComputedSum(1, f"({low} * {low})"),
    ]


def _source(request: SumRequest | HistogramRequest, below: Block, items: list[str]) -> Source:
    """Return rows with their keys; where groups of a unit matter, rows outside public domains are left out first."""
    unit = [] if below.unit is None or isinstance(request.form, EachRow) else [f"{below.unit} AS unit"]
    if isinstance(request.form, Groups | NormWeights):
        made = coded(request.keys, below)
    else:
        made = Coded(below, native_keys(request.keys, below), None, ())
    names = [item.rpartition(" AS ")[2] for item in made.items]
    rows = made.block.select([*unit, *made.items, *items] or ["1"])
    types = [key.expression.type for key in request.keys]
    return Source(
        rows, names, below.unit_type, made.sizes, made.domains, types, request.source.plain and "JOIN " not in rows
    )


def _final(made: Bounded, keys: list[str], sums: list[str], grouped: list[str]) -> str:
    """Return the whole text."""
    # What several read is computed once; not the rows, which are read again rather than kept.
    once = ("names", "hashes") if any(name == "hashes" for name, _ in made.queries) else ("pairs",)
    named = [
        f"{name} AS {'' if name in once else 'NOT '}MATERIALIZED (\n{indented(text)}\n)" for name, text in made.queries
    ]
    text = "WITH " + ",\n".join(named) + f"\nSELECT {', '.join([*keys, *sums])}\nFROM {made.tables}"
    return text + (f"\nGROUP BY {', '.join(grouped)}" if grouped else "")

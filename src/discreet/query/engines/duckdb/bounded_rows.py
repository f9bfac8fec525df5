"""The rows of a request with their weights, as named subqueries of DuckDB: one function for each form of bounding.

What a unit has too much is often in few rows. Where rows are cheap to read again, all of them are added up in full, and
what units over the bound have too much is taken away: the same integers, without a weight for every row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from discreet.query.engines.duckdb import group_keys as choice
from discreet.query.engines.duckdb.group_keys import StoredDomain
from discreet.query.engines.duckdb.text import indented
from discreet.query.expression import Type
from discreet.query.plan import WEIGHT, EachRow, Groups, NormWeights, RowWeights

_LISTED_GROUPS = 64  # the list of the smallest takes memory for as many, in every unit
_MARKED_ROWS = 64  # up to this bound the marks of 64 groups tell enough of a unit's rows
_ROOTS = "FROM (SELECT *, CAST(ceil(sqrt(CAST(squares AS DOUBLE))) AS HUGEINT) AS r FROM over_bound)"


@dataclass(frozen=True, slots=True)
class ComputedSum:
    """A sum that DuckDB computes: `value` of a row in terms of the columns of `rows`, None for 1; times `factor`."""

    factor: int
    value: str | None


@dataclass(frozen=True, slots=True)
class Source:
    """The rows that every form starts from: `rows` has the columns unit, the keys (or `code`) and x_1, x_2, ..."""

    rows: str
    keys: list[str]
    unit: Type | None
    sizes: tuple[int, ...] | None
    domains: tuple[StoredDomain, ...]
    key_types: list[Type]
    scans: bool  # whether rows are cheap to read again


@dataclass(frozen=True, slots=True)
class Bounded:
    """What a form makes of the rows: named subqueries, and where the weighted rows or pairs are."""

    queries: list[tuple[str, str]]
    tables: str


def bounded(source: Source, form: object, pair_sums: list[str], salt: int) -> Bounded:
    """Return what a form makes of the rows; `pair_sums` are added up for every unit in each of its groups."""
    match form:
        case EachRow():
            return Bounded([("rows", source.rows)], "rows")
        case RowWeights():
            return _row_weights(source, form)
        case NormWeights():
            return _norm_weights(source, form, pair_sums)
        case Groups():
            return _groups(source, form, pair_sums, salt)
    raise TypeError(f"no rule for {type(form).__name__}")


def _row_weights(source: Source, form: RowWeights) -> Bounded:
    """Give every row of a unit of n rows the weight min(2^20, floor(rows 2^20 / n)).

    Stability. A unit adds at most rows 2^20 in all, if each of its rows adds at most its weight.
        Proof: n times min(2^20, floor(rows 2^20 / n)) is at most rows 2^20. No other unit's weights depend on it.
    """
    over = f"SELECT unit, {form.rows * WEIGHT} // count(*) AS weight\n{_over(form)}"
    return Bounded([("rows", source.rows), ("over_bound", over)], weighted("rows", "over_bound"))


def less_excess(source: Source, form: RowWeights | NormWeights, parts: Sequence[ComputedSum]) -> Bounded | None:
    """Return the sums of all rows, and what units over the bound add too much to them; None where rows cost much.

    Cost. A pass over the rows for the sums and one by unit; rows of units over the bound alone are read again.
    """
    if not source.scans or (isinstance(form, NormWeights) and source.sizes is None):
        return None
    queries = _row_excess(form) if isinstance(form, RowWeights) else _norm_excess(form)
    full = [f"{summed(part, '')} * CAST({WEIGHT} AS HUGEINT) AS c_{index}" for index, part in enumerate(parts, 1)]
    less = [f"-{summed(part, 'excess')} AS c_{index}" for index, part in enumerate(parts, 1)]
    grouped = f"\nGROUP BY {', '.join(source.keys)}" if source.keys else ""
    both = (
        f"SELECT {', '.join([*source.keys, *full])}\nFROM rows{grouped}\nUNION ALL\n"
        f"SELECT {', '.join([*source.keys, *less])}\nFROM rows JOIN {queries[-1][0]} USING (unit){grouped}"
    )
    return Bounded([("rows", source.rows), *queries, ("weighted", both)], "weighted")


def _row_excess(form: RowWeights) -> list[tuple[str, str]]:
    """Return for units over the bound how much the weights of `_row_weights` are below 2^20."""
    over = f"SELECT unit, CAST({WEIGHT} - {form.rows * WEIGHT} // count(*) AS INTEGER) AS excess\n{_over(form)}"
    return [("over_bound", over)]


def _over(form: RowWeights) -> str:
    return f"FROM rows\nGROUP BY unit\nHAVING count(*) > {form.rows}"


def _norm_weights(source: Source, form: NormWeights, pair_sums: list[str]) -> Bounded:
    """Give every row of a unit the weight min(2^20, floor(rows 2^20 / c)), c the ceiling of the norm of its row counts.

    Stability. The vector of what a unit adds to the groups has Euclidean norm at most rows 2^20.
        Proof: it is at most w times the vector of the row counts, of norm s, and w s <= rows 2^20 s / c <= rows 2^20,
        as c >= s. The float square root of an integer below 2^100 is off by less than 1/2, so its ceiling r is c - 1,
        c or c + 1, and the two comparisons of exact integers tell which. Where s <= rows the weight is 2^20.
    """
    weights = f"SELECT unit, {_norm_weight(form)} AS weight\n{_ROOTS}"
    queries = [("rows", source.rows), ("pairs", _pairs(source.keys, pair_sums)), ("over_bound", _over_norm(form))]
    return Bounded([*queries, ("weights", weights)], weighted("pairs", "weights"))


def _norm_weight(form: NormWeights) -> str:
    """Return the weight of a unit's rows from its `squares` and their rounded root `r`."""
    ceiling = "CASE WHEN r * r < squares THEN r + 1 WHEN (r - 1) * (r - 1) >= squares THEN r - 1 ELSE r END"
    return f"CAST({form.rows * WEIGHT} // ({ceiling}) AS BIGINT)"


def _over_norm(form: NormWeights) -> str:
    """Return the text of the units over the bound: the squares of their row counts add up to more than its square."""
    squares = "sum(CAST(n AS HUGEINT) * n)"
    return f"SELECT unit, {squares} AS squares\nFROM pairs\nGROUP BY unit\nHAVING {squares} > {form.rows**2}"


def _norm_excess(form: NormWeights) -> list[tuple[str, str]]:
    """Return for units over the bound how much the weights of `_norm_weights` are below 2^20.

    Stability. The weights are those of `_norm_weights`, whatever the rows are.
        Proof: `many` holds every unit over the bound c. Let a unit have n rows in g groups, so that the squares of its
        row counts add up to s. A sum of squares of integers from 1 on with a given sum n is largest where all but one
        are 1: s <= (n - g + 1)^2 + g - 1. The right side falls in g up to n, for from g to g + 1 it loses 2 (n - g),
        and the d places modulo 64 that its groups have are at most g. So where n <= c, or (n - d + 1)^2 + d - 1 <= c^2,
        the unit is not over the bound; for n - d + 1 > c the test takes c + 1 in its place, whose square is enough.
        Of the units in `many` all pairs are counted, as for all units there. Where c is large, d is left out, as if 1.
    """
    here = f"FROM rows\nGROUP BY unit\nHAVING count(*) > {form.rows}"
    many = f"SELECT unit\n{here}"
    if form.rows <= _MARKED_ROWS:
        marks = "CAST(bit_count(bit_or(CAST(1 AS UBIGINT) << CAST(code & 63 AS UBIGINT))) AS BIGINT)"
        fewest = f"least(n - d + 1, {form.rows + 1})"
        counted = f"SELECT unit, count(*) AS n, {marks} AS d\n{here}"
        many = f"SELECT unit\nFROM (\n{indented(counted)}\n)\nWHERE {fewest} * {fewest} + d - 1 > {form.rows**2}"
    pairs = _pairs(["code"], [], "rows SEMI JOIN many USING (unit)")
    excess = f"SELECT unit, CAST({WEIGHT} - {_norm_weight(form)} AS INTEGER) AS excess\n{_ROOTS}"
    return [("many", many), ("pairs", pairs), ("over_bound", _over_norm(form)), ("weights", excess)]


def weighted(rows: str, weights: str) -> str:
    """Return the text of rows or pairs with their weights: 2^20 for units that have none of their own."""
    text = f"SELECT {rows}.*, coalesce(weight, {WEIGHT}) AS weight\nFROM {rows} LEFT JOIN {weights} USING (unit)"
    return f"(\n{indented(text)}\n) AS {rows}"


def _groups(source: Source, form: Groups, pair_sums: list[str], salt: int) -> Bounded:
    """Keep the groups of a unit that come first by (hash, key), in each with weight min(2^20, floor(rows 2^20 / n)).

    Stability. A unit touches at most `groups` groups and adds at most rows 2^20 to each.
        Proof: exactly the first groups in an order of the unit's own groups are kept. It has no ties: the numbers that
        are compared contain the group's code. In each group, n rows have weights that add to rows 2^20 at most. Which
        groups come first depends on no other unit's rows: the hash comes from unit and key, and of the codes, which
        may count all keys there are, only the order matters, the order of the keys.
    """
    keys, sums, queries = source.keys, [_name(text) for text in pair_sums], [("rows", source.rows)]
    group, pairs, numbered = choice.start("code"), "rows", "pairs"
    if source.sizes is None:
        code = choice.key_code(list(zip(keys, source.key_types, strict=True)))
        order, listed = ", ".join(f"{key} NULLS LAST" for key in keys), ", ".join(keys)
        names = f"SELECT *, row_number() OVER (ORDER BY {order}) AS code, {choice.start(code)} AS b\n"
        queries.append(("names", f"{names}FROM (SELECT DISTINCT {listed} FROM rows)"))
        same = " AND ".join(f"rows.{key} IS NOT DISTINCT FROM names.{key}" for key in keys)
        group, pairs, numbered = "b", f"rows JOIN names ON {same}", "pairs JOIN names USING (code)"
    queries.append(("pairs", _pairs(["code"], pair_sums, pairs)))
    weight = f"least({WEIGHT}, {form.rows * WEIGHT} // n) AS weight"
    if source.sizes is not None and math.prod(source.sizes) <= form.groups:  # every group counts: none is chosen
        kept = f"SELECT {', '.join(['unit', *keys, weight, 'n', *sums])}\nFROM pairs"
        return Bounded([*queries, ("kept", kept)], "kept")
    unit = choice.unit_start("unit", source.unit or Type.INTEGER, salt)
    hashes = (
        f"SELECT {', '.join(['unit', *keys, 'n', *sums])}, {choice.hashed('x', 'y')} * {1 << 32} + code AS place\n"
        f"FROM (SELECT *, {choice.factor('a')} AS x, {choice.factor('b')} AS y\n"
        f"      FROM (SELECT *, {unit} AS a{'' if group == 'b' else f', {group} AS b'} FROM {numbered}))"
    )
    listed = ", ".join(["unit", *keys, weight, "n", *sums])
    if form.groups <= _LISTED_GROUPS:
        cut = f"SELECT unit, min(place, {form.groups})[-1] AS last\nFROM hashes\nGROUP BY unit"
        kept = f"SELECT {listed}\nFROM hashes JOIN cut USING (unit)\nWHERE place <= last"
        return Bounded([*queries, ("hashes", hashes), ("cut", cut), ("kept", kept)], "kept")
    first = f"QUALIFY row_number() OVER (PARTITION BY unit ORDER BY place) <= {form.groups}"
    return Bounded([*queries, ("hashes", hashes), ("kept", f"SELECT {listed}\nFROM hashes\n{first}")], "kept")


def _pairs(keys: list[str], pair_sums: list[str], tables: str = "rows") -> str:
    """Return the sums of every unit in each of its groups."""
    items = ", ".join(["unit", *keys, "count(*) AS n", *pair_sums])
    return f"SELECT {items}\nFROM {tables}\nGROUP BY {', '.join(['unit', *keys])}"


def _name(item: str) -> str:
    """Return the name that an item of a SELECT gives."""
    return item.rpartition(" AS ")[2]


def summed(part: ComputedSum, weight: str) -> str:
    """Return the sum of a part over rows, each with a weight if there is one."""
    if part.value is None:
        return f"sum({weight})" if weight else "count(*)"
    return f"sum({weight} * {part.value})" if weight else f"sum({part.value})"

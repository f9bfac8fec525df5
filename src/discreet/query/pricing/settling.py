"""Settle everything about a query before its data is read: bounding, noise, the division of the price."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from discreet.errors import ParameterError, PrivateKeys, UnsupportedSQL
from discreet.privacy import Price
from discreet.query.expression import Type, declared_otherwise
from discreet.query.measures import Measure
from discreet.query.plan import (
    Aggregate,
    Aggregation,
    Bounding,
    EachRow,
    MeasureKind,
    Noise,
    QueryPlan,
    choose,
    limits_of,
    of_values,
    ordered_asked,
    with_stated,
)
from discreet.query.policy import Policy, SourceKind, TablePolicy, UnitLimits, UnitLink
from discreet.query.pricing.measures_of_query import measures_and_keys
from discreet.query.pricing.price import cheapest, cost_under, noise_of, word_of
from discreet.query.pricing.priced_query import PricedQuery

_MOST_GROUPS = 1_000_000
_HALF_WIDTH = {Noise.LAPLACE: 3.0, Noise.GAUSSIAN: 1.96}  # of one noise at 95 %, about, in its scale
_NEXT_TO_NOTHING = Fraction(1, 1 << 60)
_MOST_INTEGERS = 1 << 20  # of an answer over public keys: more would be longer than a ledger keeps


def priced(
    query: QueryPlan,
    policy: Policy,
    price: Price,
    *,
    rows_expected: int | None = None,
    bounded: str | None = None,
    bounded_rows: int | None = None,
    limits: UnitLimits = UnitLimits(),  # noqa: B008  a frozen value
    bias: bool = False,
) -> PricedQuery:
    """Settle everything about a query before its data is read: bounding, noise, the division of the price.

    `rows_expected` is about how many rows a group has: the error of a mean depends on it, so error= needs it. `limits`
    are bounds on a unit that the question states in place of the policy's: any are sound, since they are enforced. With
    `bias` what bounding takes from counts and sums is bought too.
    """
    aggregation = query.aggregation
    table = policy.tables[aggregation.table]
    stated = table.limits if aggregation.source.plain else limits_of(aggregation.source, policy.tables)
    table = replace(table, limits=with_stated(stated, limits))
    _check_size(query)
    _check_rows_expected(rows_expected)
    unit = " and ".join(_unit_path(policy, one) for one in sorted(aggregation.source.tables))
    relation, noise = policy.relation, noise_of(policy.budget, price)
    frames = policy.source.kind is SourceKind.FRAMES
    bounding = choose(aggregation, table, relation, noise, bounded_rows=bounded_rows, frames=frames)
    values = None
    if any(one.kind is MeasureKind.COUNT_DISTINCT for one in aggregation.asked):
        values = of_values(aggregation, table, relation, bounded_rows=bounded_rows)
    where = bounded if bounded_rows is not None else None
    public, asked = aggregation.public, ordered_asked(aggregation)
    outer = _outer_rows(aggregation, table, bounding, price) if bias else None

    def at(settled: Price) -> PricedQuery:
        cost = cost_under(policy.budget, settled, private_keys=not public, relation=relation)
        made, places, selection = measures_and_keys(asked, bounding, values, cost, private_keys=not public, outer=outer)
        weights = [_HALF_WIDTH[cost.noise]] * len(made)
        if selection is not None:
            weights[-1] = selection.weight(cost.noise)
        parts = cost.parts(weights)
        return PricedQuery(
            query=query,
            bounding=bounding,
            cost=cost,
            measures=made,
            places=places,
            selection=selection,
            parts=parts,
            selection_part=None if selection is None else parts[-1],
            version=policy.version,
            unit=unit,
            ordered=asked,
            bounded=where,
            outer=outer,
            limits=limits,
        )

    if price.error is None:
        return _checked_length(at(price))
    word = word_of(policy.budget, price)

    def with_amount(amount: Fraction) -> PricedQuery:
        return at(Price(delta=price.delta, **{word: amount}))

    settled = _cheapest_parts if public else _cheapest_whole
    return _checked_length(settled(with_amount, price.error, rows_expected))


def _outer_rows(aggregation: Aggregation, table: TablePolicy, bounding: Bounding, price: Price) -> int:
    """Return the most rows of a unit that there can be, or say why no bias can be bought."""
    kinds = (MeasureKind.COUNT_ROWS, MeasureKind.COUNT_VALUES, MeasureKind.SUM)
    words = ""
    if isinstance(bounding.form, EachRow):
        words = "every row counts in full here, so there is no bias to buy: leave bias= out"
    elif not aggregation.source.plain:
        words = "bias= is bought for rows of one table; these come from several: leave it out"
    elif not any(one.kind in kinds for one in aggregation.asked):
        words = "bias= is bought for COUNT(*), COUNT(x) and SUM(x), and none is asked: leave it out"
    elif price.error is not None:
        words = "bias= takes a price of its own, which error= does not name: write epsilon=, rho=, mu= or share="
    elif table.limits.outer_rows is None:
        words = (
            "bias= needs the most rows of one unit that there can be: add outer_rows = ... under "
            f"[tables.{table.name}] (outer_rows= in from_frames)"
        )
    if words:
        raise ParameterError(f"{words}. Nothing was spent.", parameter="bias")
    return table.limits.outer_rows or 1


def _cheapest_parts(at: Callable[[Fraction], PricedQuery], error: Fraction, rows_expected: int | None) -> PricedQuery:
    """Buy every measure at its own cheapest price for the error; together they are the cheapest for all of them."""
    some = at(Fraction(1))

    def part(measure: Measure) -> Fraction | None:
        def width(amount: Fraction) -> float:
            return _widest(measure, some.cost.part(amount), rows_expected)

        return None if width(_NEXT_TO_NOTHING) <= error else cheapest(width, error)

    found = [part(measure) for measure in some.measures]
    needed = sum((one for one in found if one is not None), Fraction(0))
    if not needed:
        return at(cheapest(lambda amount: _widest(some.measures[0], some.cost.part(amount), rows_expected), error))
    parts = [needed / 100 if one is None else one for one in found]  # what its bounds keep anyway gets a little
    made = at(some.cost.together(parts))
    return replace(made, parts=tuple(made.cost.part(one) for one in parts))


def _cheapest_whole(at: Callable[[Fraction], PricedQuery], error: Fraction, rows_expected: int | None) -> PricedQuery:
    """Find the least price whose usual division keeps the error: part of it selects keys."""

    def width(amount: Fraction) -> float:
        made = at(amount)
        parts = zip(made.measures, made.parts, strict=True)
        return max(_widest(measure, part, rows_expected) for measure, part in parts if measure.asked)

    return at(cheapest(width, error))


def _widest(measure: Measure, part: Price, rows_expected: int | None) -> float:
    """Return the largest half-width predicted for a measure."""
    found = []
    for asked, one in zip(measure.asked, measure.width(part, 0.95, rows_expected), strict=False):
        if one is None:
            raise _no_width(asked)
        found.append(one)
    return max(found)


def _no_width(asked: Aggregate) -> ParameterError:
    if asked.kind in (MeasureKind.QUANTILE, MeasureKind.CORRELATION, MeasureKind.SLOPE):
        return ParameterError(
            f"the error of {asked.name} in value depends on the data, so no price can be named for it: say epsilon= or "
            "rho=. Nothing was spent.",
            parameter="error",
        )
    return ParameterError(
        f"the error of {asked.name} depends on how many rows a group has, which is private: with error= state "
        "rows_expected=, about how many there are. Nothing was spent.",
        parameter="rows_expected",
    )


def _unit_path(policy: Policy, table: str) -> str:
    """Return where the unit of a table is found, along its links."""
    unit = policy.tables[table].unit
    return f"{unit!r} {_unit_path(policy, unit.table)}" if isinstance(unit, UnitLink) else repr(unit)


def _check_rows_expected(given: int | None) -> None:
    if given is not None and (isinstance(given, bool) or not isinstance(given, int) or given < 1):
        raise ParameterError(
            "rows_expected=, about how many rows a group has, must be a whole number of at least 1. Nothing was spent.",
            parameter="rows_expected",
        )


def _check_size(query: QueryPlan) -> None:
    """Refuse an answer of more groups than anybody reads; the number is public."""
    size = 1
    for key in query.aggregation.keys:
        if key.domain is None and key.expression.type is Type.REAL:
            raise PrivateKeys(
                f'"{key.label}" is a real number, and few people share one. Group by bins of it, such as '
                f"FLOOR(x / 10), or give its values with keys={declared_otherwise([key.expression], Type.INTEGER)}. "
                "Nothing was spent."
            )
        size *= len(key.domain) if key.domain is not None else 1
        if key.domain is not None and len(set(key.domain)) < len(key.domain):
            raise ParameterError(
                f"the public values of {key.label!r} hold one twice, and a group must not be answered twice at one "
                "price. Leave out one of them. Nothing was spent.",
                parameter="keys",
            )
    if size > _MOST_GROUPS:
        raise UnsupportedSQL(
            f"the public keys of this query make {size:,} groups, each of which would be answered; the most is "
            f"{_MOST_GROUPS:,}. Group by fewer columns, or by bins. Nothing was spent."
        )


def _checked_length(made: PricedQuery) -> PricedQuery:
    """Refuse an answer over public keys that the ledger could not keep, before anything is charged for it."""
    groups = math.prod(len(key.domain or ()) for key in made.query.aggregation.keys)
    if made.selection is None and groups * sum(one.entries for one in made.measures) > _MOST_INTEGERS:
        raise UnsupportedSQL(
            f"an answer of {groups:,} groups with these aggregates is longer than the ledger keeps. Group by fewer "
            "columns or by bins, or ask for fewer aggregates at a time. Nothing was spent."
        )
    return made

"""A priced query: everything settled before any data is read, and the one function that reads it."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property

from discreet.errors import ParameterError, PrivateKeys, UnsupportedSQL
from discreet.privacy import Guarantee, Price
from discreet.query.expression import Column, Type, Value, declared_otherwise
from discreet.query.measures import (
    Additive,
    Measure,
    NumberOfValues,
    QuantilesOfGroups,
    SelectedKeys,
)
from discreet.query.plan import (
    Aggregate,
    Bounding,
    Engine,
    HistogramRequest,
    MeasureKind,
    Noise,
    QueryPlan,
    Request,
    SumRequest,
    Sums,
    Units,
    ValuesRequest,
    canonical,
    choose,
    key_from_text,
    key_to_text,
    limits_of,
    of_values,
    ordered_asked,
)
from discreet.query.policy import Policy, SourceKind, UnitLink
from discreet.query.pricing.measures_of_query import Place, measures_and_keys
from discreet.query.pricing.price import Cost, cheapest, cost_under, noise_of, word_of
from discreet.query.pricing.released_table import Evaluate, Finished, ReleasedTable, finish, public_keys
from discreet.randomness import bits

_MOST_GROUPS = 1_000_000
_HALF_WIDTH = {Noise.LAPLACE: 3.0, Noise.GAUSSIAN: 1.96}  # of one noise at 95 %, about, in its scale
_FORMAT = 3
_NEXT_TO_NOTHING = Fraction(1, 1 << 60)
_MOST_INTEGERS = 1 << 20  # of an answer over public keys: more would be longer than a ledger keeps


@dataclass(frozen=True)
class PricedQuery:
    """A query with its bounding, its noise and its price: public, and settled without a look at the data.

    Privacy. `release` keeps `guarantee`.
        Proof: the parts of the price add up to it; every measure keeps its part (see the measures); sums and choices
        are asked of rows bounded as `bounding` says, and private keys are selected first, at their own part, the other
        measures being asked of the selected keys only. Composition is adaptive addition in the notion of the budget.
    """

    query: QueryPlan
    bounding: Bounding
    cost: Cost
    measures: tuple[Measure, ...]
    places: Mapping[str, Place]
    selection: SelectedKeys | None
    parts: tuple[Price, ...]  # one for each measure
    selection_part: Price | None
    version: str
    unit: str  # where the unit of protection is found in the table
    ordered: tuple[Aggregate, ...]  # what is asked, in the order of its meaning
    bounded: str | None = None

    @cached_property
    def guarantee(self) -> Guarantee:
        """What the whole release keeps."""
        return self.cost.guarantee

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical plan with mechanism, privacy parameters, relation, unit and declared version.

        What happens after the release is not in it: another order, limit, name or arithmetic is the same release.
        """
        measured = [_said(measure) for measure in self.measures]
        spent = [f"{part.epsilon} {part.rho if part.mu is None else f'mu {part.mu}'}" for part in self.parts]
        together = [self.places[one.name] for one in self.ordered]
        parts = [
            _FORMAT,
            canonical(_nameless(self.query, self.ordered)),
            together,
            repr(self.bounding.form),
            f"Relation.{self.bounding.relation.name}",
            [str(self.bounding.total), str(self.bounding.squared)],
            self.bounded,
            self.cost.noise.value,
            str(self.cost.amount),
            str(self.cost.delta),
            self.version,
            self.unit,
            measured,
            spent,
        ]
        return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()

    def words(self) -> tuple[str, ...]:
        """Return public words about what is released, for the ledger."""
        return tuple([measure.words(part) for measure, part in zip(self.measures, self.parts, strict=True)])

    def request(self) -> SumRequest:
        """Return what the engine is asked for all sums: the same object each time, so that an engine can know it."""
        return self._request

    @property
    def requests(self) -> list[Request]:
        """Everything that the engine is asked."""
        sums = [self._request] if self._request.cells else []
        return [*sums, *self._values_requests.values(), *self._histogram_requests]

    @cached_property
    def _request(self) -> SumRequest:
        cells = [cell for measure in self.measures if isinstance(measure, Additive) for cell in measure.cells]
        if self.selection is not None:
            cells = [Units(), *cells]
        rows = self.query.aggregation
        return SumRequest(rows.source, rows.keys, self.bounding.form, tuple(dict.fromkeys(cells)), self.bounded)

    @cached_property
    def _values_requests(self) -> dict[int, ValuesRequest]:
        """What is asked for the numbers of different values, by the place of the measure."""
        rows = self.query.aggregation
        return {
            place: measure.wanted(rows.source, rows.keys, self.bounded)
            for place, measure in enumerate(self.measures)
            if isinstance(measure, NumberOfValues)
        }

    @cached_property
    def _histogram_requests(self) -> list[HistogramRequest]:
        rows, form = self.query.aggregation, self.bounding.form
        return [
            HistogramRequest(rows.source, rows.keys, form, one.argument, one.scale, self.bounded)
            for one in self.measures
            if isinstance(one, QuantilesOfGroups)
        ]

    def release(self, engine: Engine) -> ReleasedTable:
        """Read the data, add the noise, forget the data: the only road from rows to an answer."""
        request, keys = self._request, public_keys(self.query)
        sums = engine.run(request) if request.cells else Sums([], [])
        values = {place: _by_key(engine.run(one)) for place, one in self._values_requests.items()}
        histograms = iter(list(map(engine.histogram, self._histogram_requests)))
        units: list[int] = []
        if self.selection is not None:
            keys, units = self._selected(self.selection, sums)
        place = {key: index for index, key in enumerate(sums.keys)}
        released: list[tuple[tuple[int, ...], ...]] = []
        for index, (measure, part) in enumerate(zip(self.measures, self.parts, strict=True)):
            noisy: Sequence[Sequence[int]] = [units]
            if isinstance(measure, NumberOfValues):
                counts = values[index]
                noisy = measure.release([[counts.get(key, 0) for key in keys]], part)
            elif isinstance(measure, QuantilesOfGroups):
                found = next(histograms)
                noisy = measure.release([found.get(key, ((), ())) for key in keys], part)
            elif isinstance(measure, Additive):
                columns = [sums.cells[request.cells.index(cell)] for cell in measure.cells]
                noisy = measure.release(
                    [[column[place[key]] if key in place else 0 for key in keys] for column in columns], part
                )
            released.append(tuple(map(tuple, noisy)))
        return ReleasedTable(tuple(keys), tuple(released))

    def _selected(self, selection: SelectedKeys, sums: Sums) -> tuple[list[tuple[Value, ...]], list[int]]:
        """Return the groups that are selected, with their noisy numbers of units; private until here."""
        keys = self.query.aggregation.keys
        domains = [None if key.domain is None else set(key.domain) for key in keys]
        counts = {
            key_to_text(key): count
            for key, count in zip(sums.keys, sums.cells[self._request.cells.index(Units())], strict=True)
            if count and all(domain is None or value in domain for value, domain in zip(key, domains, strict=True))
        }
        named = selection.release(counts, self.parts[-1])
        types = [key.expression.type for key in keys]
        return [key_from_text(text, types) for text in named], list(named.values())

    def finished(self, released: ReleasedTable, evaluate: Evaluate) -> Finished:
        """Shape released integers into the table that was asked for; `evaluate` computes with released columns."""
        aggregation = self.query.aggregation
        columns: dict[str, list[Value]] = {
            key.name: [one[place] for one in released.keys] for place, key in enumerate(aggregation.keys)
        }
        types = {key.name: key.expression.type for key in aggregation.keys}
        known = [measure.values(released.released[index]) for index, measure in enumerate(self.measures)]
        for asked in aggregation.asked:
            index, inner = self.places[asked.name]
            columns[asked.name] = list(known[index][inner])
            types[asked.name] = Type.REAL
        return finish(columns, types, self.query.finish, evaluate)


def _by_key(sums: Sums) -> dict[tuple[Value, ...], int]:
    """Return the one cell of sums by key."""
    return dict(zip(sums.keys, sums.cells[0], strict=True))


def _said(measure: Measure) -> str:
    """Return a measure in a digest; one that bounds units in its own way says how."""
    own = f" {measure.bounding.form!r} {measure.bounding.total}" if isinstance(measure, NumberOfValues) else ""
    return f"{type(measure).__name__} {measure.entries}{own}"


def fresh_digest() -> str:
    """Return a digest that no other release has: for what is never asked the same way twice."""
    return f"{bits(256):064x}"


def as_released(query: QueryPlan) -> bool:
    """Say whether a query shows what is released and nothing computed, selected or cut from it."""
    return all(
        step.condition is None and step.limit is None and all(isinstance(one, Column) for _, one in step.columns)
        for step in query.finish
    )


def priced(
    query: QueryPlan,
    policy: Policy,
    price: Price,
    *,
    rows_expected: int | None = None,
    bounded: str | None = None,
    bounded_rows: int | None = None,
) -> PricedQuery:
    """Settle everything about a query before its data is read: bounding, noise, the division of the price.

    `rows_expected` is about how many rows a group has: the error of a mean depends on it, so error= needs it.
    """
    aggregation = query.aggregation
    table = policy.tables[aggregation.table]
    if not aggregation.source.plain:
        table = replace(table, limits=limits_of(aggregation.source, policy.tables))
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

    def at(settled: Price) -> PricedQuery:
        cost = cost_under(policy.budget, settled, private_keys=not public, relation=relation)
        made, places, selection = measures_and_keys(asked, bounding, values, cost, private_keys=not public)
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
        )

    if price.error is None:
        return _checked_length(at(price))
    word = word_of(policy.budget, price)

    def with_amount(amount: Fraction) -> PricedQuery:
        return at(Price(delta=price.delta, **{word: amount}))

    settled = _cheapest_parts if public else _cheapest_whole
    return _checked_length(settled(with_amount, price.error, rows_expected))


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


def _nameless(query: QueryPlan, ordered: tuple[Aggregate, ...]) -> QueryPlan:
    """Return what is released by a query: without names, order of aggregates and post-processing."""
    aggregation = query.aggregation
    keys = tuple(replace(key, name=f"k{place}") for place, key in enumerate(aggregation.keys))
    asked = tuple(replace(one, name=f"a{place}") for place, one in enumerate(ordered))
    return QueryPlan(replace(aggregation, keys=keys, asked=asked), ())


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

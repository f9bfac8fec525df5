"""A priced query: everything settled before any data is read, and the one function that reads it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from discreet.privacy import Guarantee, Price
from discreet.query.expression import Column, Value
from discreet.query.measures import (
    Additive,
    CutRows,
    Measure,
    NumberOfValues,
    QuantilesOfGroups,
    SelectedKeys,
    Simple,
    UnitTotals,
)
from discreet.query.plan import (
    Aggregate,
    Bounding,
    Cell,
    Engine,
    HistogramRequest,
    PostProcessing,
    QueryPlan,
    Request,
    RowWeights,
    SumRequest,
    Sums,
    Units,
    ValuesRequest,
    canonical,
    key_from_text,
    key_to_text,
)
from discreet.query.policy import UnitLimits
from discreet.query.pricing.measures_of_query import Place, may_be_cut
from discreet.query.pricing.price import Cost
from discreet.query.pricing.released_table import ReleasedTable, public_keys
from discreet.randomness import bits

_FORMAT = 3


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
    outer: int | None = None  # nobody has more rows, as the policy says: what is cut is bought up to there
    limits: UnitLimits = field(default_factory=UnitLimits, repr=False)  # as the question states them

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

    @cached_property
    def cuts(self) -> dict[str, int]:
        """The places of the measures that say how much is cut, by the name of the aggregate."""
        places = [place for place, one in enumerate(self.measures) if isinstance(one, CutRows)]
        cut = [
            place
            for place, one in enumerate(self.measures)
            if places and isinstance(one, Simple | UnitTotals) and may_be_cut(one)
        ]
        by_place = dict(zip(cut, places, strict=True))
        return {name: by_place[place] for name, (place, _) in self.places.items() if place in by_place}

    @cached_property
    def _outer_request(self) -> SumRequest:
        cells = [cell for measure in self.measures if isinstance(measure, CutRows) for cell in measure.cells]
        rows = self.query.aggregation
        return SumRequest(rows.source, rows.keys, RowWeights(self.outer or 1), tuple(dict.fromkeys(cells)))

    @property
    def requests(self) -> list[Request]:
        """Everything that the engine is asked."""
        sums = [self._request] if self._request.cells else []
        sums += [self._outer_request] if self._outer_request.cells else []
        return [*sums, *self._values_requests.values(), *self._histogram_requests]

    @cached_property
    def _request(self) -> SumRequest:
        own = [one for one in self.measures if isinstance(one, Additive) and not isinstance(one, CutRows)]
        cells = [cell for measure in own for cell in measure.cells]
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
        whole = engine.run(self._outer_request) if self._outer_request.cells else Sums([], [])
        values = {place: _by_key(engine.run(one)) for place, one in self._values_requests.items()}
        histograms = iter(list(map(engine.histogram, self._histogram_requests)))
        units: list[int] = []
        if self.selection is not None:
            keys, units = self._selected(self.selection, sums)
        found, wide = _by_cell(request, sums), _by_cell(self._outer_request, whole)
        released: list[tuple[tuple[int, ...], ...]] = []
        for index, (measure, part) in enumerate(zip(self.measures, self.parts, strict=True)):
            noisy: Sequence[Sequence[int]] = [units]
            if isinstance(measure, NumberOfValues):
                counts = values[index]
                noisy = measure.release([[counts.get(key, 0) for key in keys]], part)
            elif isinstance(measure, QuantilesOfGroups):
                histogram = next(histograms)
                noisy = measure.release([histogram.get(key, ((), ())) for key in keys], part)
            elif isinstance(measure, Additive):
                columns = [found[cell] for cell in measure.cells if cell in found]
                if isinstance(measure, CutRows):
                    columns = [wide[measure.cells[0]], found[measure.own]]
                noisy = measure.release([[column.get(key, 0) for key in keys] for column in columns], part)
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


def _by_cell(request: SumRequest, sums: Sums) -> dict[Cell, dict[tuple[Value, ...], int]]:
    """Return every cell by key."""
    return {
        cell: dict(zip(sums.keys, column, strict=True)) for cell, column in zip(request.cells, sums.cells, strict=False)
    }


def _by_key(sums: Sums) -> dict[tuple[Value, ...], int]:
    """Return the one cell of sums by key."""
    return dict(zip(sums.keys, sums.cells[0], strict=True))


def _said(measure: Measure) -> str:
    """Return a measure in a digest; one that bounds units in its own way says how."""
    own = f" {measure.bounding.form!r} {measure.bounding.total}" if isinstance(measure, NumberOfValues) else ""
    own = f" {measure.bounding.form!r} {measure.norms.one}" if isinstance(measure, CutRows) else own
    return f"{type(measure).__name__} {measure.entries}{own}"


def fresh_digest() -> str:
    """Return a digest that no other release has: for what is never asked the same way twice."""
    return f"{bits(256):064x}"


def as_released(query: QueryPlan) -> bool:
    """Say whether a query shows what is released and nothing computed, selected or cut from it."""
    return not query.totals and all(
        replace(step, order=()) == PostProcessing(step.columns, None, (), None)
        and all(isinstance(one, Column) for _, one in step.columns)
        for step in query.finish
    )


def shown_unchanged(query: QueryPlan) -> set[str]:
    """Return the names of the keys and aggregates that the answer shows as they are released."""
    names = [*(key.name for key in query.aggregation.keys), *(one.name for one in query.aggregation.asked)]
    shown: dict[str, str | None] = {name: name for name in names}
    for step in query.finish:
        shown = {name: shown.get(one.name) if isinstance(one, Column) else None for name, one in step.columns}
    return {name for name in shown.values() if name is not None}


def _nameless(query: QueryPlan, ordered: tuple[Aggregate, ...]) -> QueryPlan:
    """Return what is released by a query: without names, order of aggregates and post-processing."""
    aggregation = query.aggregation
    keys = tuple(replace(key, name=f"k{place}") for place, key in enumerate(aggregation.keys))
    asked = tuple(replace(one, name=f"a{place}") for place, one in enumerate(ordered))
    return QueryPlan(replace(aggregation, keys=keys, asked=asked), ())

"""Tables small enough to list all of them, plans over them, and engines that are told what to return."""

# ruff: noqa: ARG002  an engine that was told what to say does not listen

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np

from discreet.errors import UnknownName
from discreet.frames import Type
from discreet.privacy import PureDP
from discreet.query.expression.expression import Column
from discreet.query.plan.query_plan import Aggregate, Aggregation, Key, MeasureKind, QueryPlan
from discreet.query.plan.request import Engine, Sums, ValuesRequest
from discreet.query.plan.row_sources import FilterRows, Scan
from discreet.query.policy.declarations import (
    Analyst,
    ColumnPolicy,
    Policy,
    Source,
    SourceKind,
    TablePolicy,
    UnitColumn,
    UnitIsRow,
    UnitLimits,
)
from discreet.query.pricing.price import read_price
from discreet.query.pricing.settling import priced
from tests.query.reference_engine import ReferenceEngine

GROUPS = (0, 1)


def table_policy(*, rows=None, groups=None, rows_per_group=None, unit="u", people=None, low=0, high=5):
    """A table t with a unit u, a public key g, a private key w, and a value x."""
    columns = {
        "u": ColumnPolicy("u", Type.INTEGER),
        "g": ColumnPolicy("g", Type.INTEGER, values=GROUPS),
        "w": ColumnPolicy("w", Type.TEXT),
        "x": ColumnPolicy("x", Type.INTEGER, Fraction(low), Fraction(high)),
    }
    owner = UnitIsRow() if unit == "row" else UnitColumn(unit)
    return TablePolicy("t", owner, columns, UnitLimits(rows, groups, rows_per_group), people)


def policy_for(table, budget=None, **changes):
    given = {
        "source": Source(SourceKind.FRAMES, None),
        "lineage": "small",
        "version": "1",
        "unit": "person",
        "tables": {"t": table},
        "budget": budget or PureDP(10),
        "analysts": {"ana": Analyst("ana")},
    }
    return Policy(**{**given, **changes})


def x_column(low=0, high=5, type=Type.INTEGER):
    return Column(type, (Fraction(low), Fraction(high)), "x")


def asked(kind, name="answer", *, low=0, high=5, level=None, type=Type.INTEGER):
    """One aggregate over x, or over rows or units."""
    bare = kind in (MeasureKind.COUNT_ROWS, MeasureKind.COUNT_UNITS)
    ranged = not kind.name.startswith("COUNT_")
    pairs = kind in (MeasureKind.CORRELATION, MeasureKind.SLOPE)
    return Aggregate(
        name,
        kind,
        None if bare else x_column(low, high, type),
        (Fraction(low), Fraction(high)) if ranged else None,
        level,
        second=x_column(low, high, type) if pairs else None,
        second_bounds=(Fraction(low), Fraction(high)) if pairs else None,
    )


def public_key(domain=GROUPS):
    return Key("g", Column(Type.INTEGER, None, "g"), domain)


def private_key():
    return Key("w", Column(Type.TEXT, None, "w"), None)


def query_for(*aggregates, keys=(), condition=None):
    source = Scan("t") if condition is None else FilterRows(Scan("t"), condition)
    return QueryPlan(Aggregation(source, tuple(keys), tuple(aggregates)), ())


def priced_for(table, *aggregates, keys=(), budget=None, rows_expected=None, bounded_rows=None, **price):
    """A query with its price, as a session would make it."""
    policy = policy_for(table, budget)
    bounded = None if bounded_rows is None else "bounded t"
    return priced(
        query_for(*aggregates, keys=keys),
        policy,
        read_price(**price),
        rows_expected=rows_expected,
        bounded=bounded,
        bounded_rows=bounded_rows,
    )


def persons(values, *, most, groups=GROUPS):
    """Every person with at most so many rows: a tuple of rows (g, x), order left out."""
    kinds = list(itertools.product(groups, values))
    return [rows for count in range(most + 1) for rows in itertools.combinations_with_replacement(kinds, count)]


def stored(rows, *, unit=0):
    """The rows of one person as the engine stores them."""
    return [{"u": unit, "g": g, "w": f"key {g}", "x": x} for g, x in rows]


class Told(Engine):
    """An engine that returns what it was told, and counts how often it was asked."""

    def __init__(self, sums=None, histograms=None):
        self.sums, self.histograms = sums, histograms or {}
        self.reads = 0

    def schema(self, table):
        raise UnknownName("no table")

    def text(self, request):
        return "SELECT what was told"

    def run(self, request):
        self.reads += 1
        keys, cells = self.sums
        if isinstance(request, ValuesRequest):
            return Sums(list(keys), [list(cells.get("Values", [0] * len(keys)))])
        return Sums(list(keys), [list(cells[type(cell).__name__]) for cell in request.cells])

    def histogram(self, request):
        self.reads += 1
        return {
            key: (np.array(places, dtype=np.int64), np.array(weights, dtype=np.int64))
            for key, (places, weights) in self.histograms.items()
        }

    def rows(self, source, columns):
        self.reads += 1
        return {name: np.zeros(1) for name in (*columns, "unit")}

    def bound(self, table, rows):
        return "bounded"

    def unique_violated(self, table, columns):
        return False

    def close(self):
        pass


class Untouchable(Told):
    """An engine whose data must not be looked at."""

    def __init__(self, message="the diagnosis of Ana is secret-4711"):
        super().__init__()
        self.message = message

    def run(self, request):
        self.reads += 1
        raise RuntimeError(self.message)

    def histogram(self, request):
        self.reads += 1
        raise RuntimeError(self.message)

    def rows(self, source, columns):
        self.reads += 1
        raise RuntimeError(self.message)

    def bound(self, table, rows):
        raise RuntimeError(self.message)


class Slow(ReferenceEngine):
    """The reference engine on tables without public ones."""

    def unique_violated(self, table, columns):
        return False

    def bound(self, table, rows):
        return "bounded"

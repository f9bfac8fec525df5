"""A policy for tests of the SQL front end: visits of patients, patients, a log of single rows, public tables."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from fractions import Fraction

from discreet.frames import Type
from discreet.privacy import ZCDP, Relation
from discreet.query.expression.expression import Expression, Value
from discreet.query.policy.declarations import (
    Analyst,
    ColumnPolicy,
    Policy,
    PublicTable,
    Source,
    SourceKind,
    TablePolicy,
    UnitColumn,
    UnitIsRow,
    UnitLink,
)
from tests.query import oracle


def column(name, type, low=None, high=None, **rest):
    ends = [Fraction(end) if isinstance(end, int) else end for end in (low, high)]
    return ColumnPolicy(name, type, *ends, **rest)


def columns(*found):
    return {one.name: one for one in found}


VISITS = TablePolicy(
    "visits",
    UnitColumn("patient"),
    columns(
        column("patient", Type.INTEGER),
        column("region", Type.TEXT, values=("north", "south", "west")),
        column("ward", Type.TEXT),
        column("Age", Type.INTEGER, 0, 120),
        column("days", Type.INTEGER, 0, 30, public=True),
        column("cost", Type.REAL, 0, 500),
        column("fee", Type.REAL),
        column("score", Type.INTEGER),
        column("emergency", Type.BOOLEAN),
        column("day", Type.DATE, date(2023, 1, 1), date(2023, 12, 31)),
        column("born", Type.DATE),
        column("arrived", Type.TIMESTAMP, datetime(2023, 1, 1), datetime(2023, 12, 31, 23, 59)),
        column("code", Type.TEXT),
    ),
)
PATIENTS = TablePolicy("patients", UnitColumn("id"), columns(column("id", Type.INTEGER), column("born", Type.DATE)))
STAYS = TablePolicy(
    "stays",
    UnitLink("patient", "patients", "id"),
    columns(column("patient", Type.INTEGER), column("number", Type.INTEGER), column("cost", Type.REAL, 0, 10)),
)
NOTES = TablePolicy(
    "notes",
    UnitLink("stay", "stays", "number"),
    columns(column("stay", Type.INTEGER), column("length", Type.INTEGER, 0, 100)),
)
LOG = TablePolicy("log", UnitIsRow(), columns(column("size", Type.INTEGER, 0, 9), column("unit", Type.TEXT)))
REGIONS = PublicTable(
    "regions",
    columns(
        column("code", Type.TEXT),
        column("country", Type.TEXT, values=("A", "B")),
        column("people", Type.INTEGER, 0, 1000),
        column("area", Type.REAL),
    ),
    unique=(frozenset({"code"}),),
)
PRICES = PublicTable(
    "prices",
    columns(column("ward", Type.TEXT), column("days", Type.INTEGER), column("price", Type.REAL, 0, 9)),
    unique=(frozenset({"ward", "days"}),),
)

POLICY = Policy(
    source=Source(SourceKind.FRAMES, None),
    lineage="test",
    version="1",
    unit="patient",
    tables={table.name: table for table in (VISITS, PATIENTS, STAYS, NOTES, LOG)},
    public={table.name: table for table in (REGIONS, PRICES)},
    budget=ZCDP(1, relation=Relation.ADD_REMOVE),
    analysts={"ana": Analyst("ana")},
)


def evaluate(expression: Expression, values: Mapping[str, list[Value]]) -> list[Value]:
    """Compute an expression for every combination, row by row."""
    names = list(values)
    return [
        oracle.evaluate(expression, dict(zip(names, row, strict=True))) for row in zip(*values.values(), strict=True)
    ]

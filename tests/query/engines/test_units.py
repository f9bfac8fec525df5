"""Units and links: equal exactly where they are equal as they are stored, and everybody counts."""

from __future__ import annotations

import tempfile
from datetime import date
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from discreet.errors import PolicyError
from discreet.frames import Type
from discreet.privacy import ZCDP, Relation
from discreet.query.engines.duckdb.engine import DuckDBEngine
from discreet.query.expression.typing_rules import column
from discreet.query.plan.query_plan import Key
from discreet.query.plan.request import (
    WEIGHT,
    EachRow,
    Groups,
    HistogramRequest,
    NormWeights,
    One,
    RowWeights,
    SumRequest,
    Units,
)
from discreet.query.plan.row_sources import Scan
from discreet.query.policy.declarations import (
    ColumnPolicy,
    Policy,
    Source,
    SourceKind,
    TablePolicy,
    UnitColumn,
    UnitLink,
)
from discreet.statistics.columns.fixed_point import FixedPoint

WARD = Key("ward", column("ward", Type.TEXT), None)
PUBLIC = Key("ward", column("ward", Type.TEXT), ("a", "b"))
STORED = {
    "uint64": pa.array([0, 1, 2**63 - 1, 2**63, 2**64 - 1], pa.uint64()),
    "decimal": pa.array([Decimal(2**53 + more) for more in range(5)], pa.decimal128(20, 0)),
    "decimal with a fraction": pa.array(
        [Decimal(10) ** 20 + Decimal(more) / 100 for more in range(5)], pa.decimal128(30, 2)
    ),
    "long decimal": pa.array([Decimal(10**37 + more) for more in range(5)], pa.decimal128(38, 0)),
    "nanoseconds": pa.array([0, 1, 999, 1000, 1001], pa.timestamp("ns")),
    "text": pa.array(["", "a", "A", " a", "é"], pa.string()),
    "category": pa.array(["", "a", "A", " a", "é"], pa.string()).dictionary_encode(),
    "day": pa.array([date(1, 1, 1), date(9999, 12, 31), *(date(2026, 1, day) for day in (1, 2, 3))], pa.date32()),
    "second": pa.array([0, 1, 2, 3, 4], pa.timestamp("s")),
    "zoned": pa.array([0, 1, 2, 3, 4], pa.timestamp("us", "Europe/Berlin")),
    "byte": pa.array([-128, -1, 0, 1, 127], pa.int8()),
}


@pytest.fixture(autouse=True)
def empty_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def engine(tables, *, links=False, types=None):
    """Return an engine over Parquet files, which may store units with any type; frames have integers and texts."""

    def table(name, unit):
        return TablePolicy(name, unit, {key: ColumnPolicy(key, kind) for key, kind in (types or {}).items()})

    unit = UnitLink("link", "people", "key") if links else UnitColumn("person")
    folder = Path(tempfile.mkdtemp(dir="."))
    for name, stored in tables.items():
        parquet.write_table(stored, folder / f"{name}.parquet")
    stated = {"visits": table("visits", unit)} | ({"people": table("people", UnitColumn("person"))} if links else {})
    policy = Policy(
        source=Source(SourceKind.PARQUET, folder),
        lineage="units",
        version="1",
        unit="person",
        tables=stated,
        public={},
        budget=ZCDP(1, relation=Relation.ADD_REMOVE),
        analysts={},
    )
    return DuckDBEngine(policy, threads=1)


def sums(made, form, key=WARD, cell=One()):  # noqa: B008 - a value
    answer = made.run(SumRequest(Scan("visits"), (key,), form, (cell,)))
    return dict(zip(answer.keys, answer.cells[0], strict=True))


@pytest.mark.parametrize("kind", list(STORED))
def test_every_person_counts_and_is_bounded_alone(kind):
    people = STORED[kind].take(pa.array([0, 0, 0, 1, 2, 3, 4]))
    frame = pa.table({"person": people, "ward": ["a", "a", "b", "a", "a", "b", "b"]})
    made = engine({"visits": frame})
    third = WEIGHT // 3
    assert sums(made, RowWeights(1)) == {("a",): 2 * third + 2 * WEIGHT, ("b",): third + 2 * WEIGHT}
    assert sum(sums(made, Groups(1, 1), cell=Units()).values()) == 5
    assert sum(sums(made, Groups(1, 1), PUBLIC, Units()).values()) == 5
    assert sums(made, NormWeights(9)) == {("a",): 4 * WEIGHT, ("b",): 3 * WEIGHT}
    handle = made.bound("visits", 1)
    answer = made.run(SumRequest(Scan("visits"), (), EachRow(), (One(),), handle))
    assert answer.cells == [[5]]
    assert len(set(made.rows(Scan("visits"), ["ward"])["unit"].tolist())) == 5


@pytest.mark.parametrize("kind", list(STORED))
def test_links_lead_to_one_person_each(kind):
    frames = {
        "visits": pa.table({"link": STORED[kind].take(pa.array([0, 1, 1, 2, 3, 4])), "ward": ["a"] * 6}),
        "people": pa.table({"key": STORED[kind], "person": ["p", "q", "r", None, "s"]}),
    }
    made = engine(frames, links=True)
    assert sums(made, RowWeights(9)) == {("a",): 5 * WEIGHT}
    assert sums(made, Groups(1, 1), cell=Units()) == {("a",): 4}


ONES = {
    "int8": pa.array([1, 2], pa.int8()),
    "int64": pa.array([1, 2], pa.int64()),
    "uint64": pa.array([1, 2], pa.uint64()),
    "decimal": pa.array([Decimal(1), Decimal(2)], pa.decimal128(10, 0)),
    "longer decimal": pa.array([Decimal(1), Decimal(2)], pa.decimal128(10, 3)),
    "text": pa.array(["1", "02.0"], pa.string()),
}


@pytest.mark.parametrize("one", list(ONES))
@pytest.mark.parametrize("two", list(ONES))
def test_numbers_are_linked_by_value_however_they_are_stored(one, two):
    frames = {
        "visits": pa.table({"link": ONES[one], "ward": ["a"] * 2}),
        "people": pa.table({"key": ONES[two], "person": ["p", "q"]}),
    }
    made = engine(frames, links=True, types={"link": Type.INTEGER, "key": Type.INTEGER})
    assert sums(made, Groups(1, 1), cell=Units()) == {("a",): 2}


def test_texts_that_are_declared_as_integers_are_one_person_for_each_integer():
    same = ["7", "+7", " 007", "7.0", "7.", "\t7 ", "0" * 60 + "7"]
    others = ["1", str(2**53), str(2**53 + 1), str(2**63), str(2**64), "-7", "9" * 38]
    nobody = ["three", "", None, "1.4", "1.40", "7e0", "0x7", "7_0", "1e3", "1" + "0" * 38]
    people = pa.array([*same, *others, *nobody])
    wards = ["a"] * len(same) + ["b"] * len(others) + ["c"] * len(nobody)
    made = engine({"visits": pa.table({"person": people, "ward": wards})}, types={"person": Type.INTEGER})
    assert sums(made, RowWeights(1)) == {("a",): len(same) * (WEIGHT // len(same)), ("b",): len(others) * WEIGHT}
    assert sums(made, Groups(1, 1), cell=Units()) == {("a",): 1, ("b",): len(others)}


FLOATS = {
    "float": pa.array([1, 2], pa.float32()),
    "double": pa.array([0.0, -0.0], pa.float64()),
    "nobody": pa.array([None, None], pa.float64()),
}


@pytest.mark.parametrize("kind", list(FLOATS))
def test_floats_name_nobody_whatever_they_hold(kind):
    made = engine({"visits": pa.table({"person": FLOATS[kind], "ward": ["a", "b"]})})
    with pytest.raises(PolicyError, match=r"person is of type .* cannot name a unit: large ids"):
        sums(made, RowWeights(1))
    with pytest.raises(PolicyError, match="cannot name a unit"):
        made.bound("visits", 1)
    with pytest.raises(PolicyError, match="cannot name a unit"):
        made.rows(Scan("visits"), ["ward"])


@pytest.mark.parametrize("end", ["link", "key", "person"])
def test_no_end_of_a_link_is_a_float(end):
    whole, floats = pa.array([1, 2], pa.int64()), FLOATS["double"]
    columns = {"link": whole, "key": whole, "person": whole} | {end: floats}
    frames = {
        "visits": pa.table({"link": columns["link"], "ward": ["a", "b"]}),
        "people": pa.table({"key": columns["key"], "person": columns["person"]}),
    }
    made = engine(frames, links=True, types={"link": Type.INTEGER, "key": Type.INTEGER})
    with pytest.raises(PolicyError, match=f"{end} is of type DOUBLE"):
        sums(made, RowWeights(1))


def test_texts_that_are_declared_as_reals_name_nobody():
    made = engine({"visits": pa.table({"person": ["1.5", "1.50"], "ward": ["a", "b"]})}, types={"person": Type.REAL})
    with pytest.raises(PolicyError, match='Declare `type = "integer"` or `type = "text"`'):
        sums(made, RowWeights(1))


def test_the_statement_for_a_bounded_table_does_not_tell_what_is_in_it():
    texts = {
        "nothing": [None] * 3,
        "one": ["x", "x", None],
        "too many to keep as numbers": [f"w{number}" for number in range(20_000)],
    }
    scale = FixedPoint.between((0, 1), grid=1)
    shown, nulls = set(), []
    for wards in texts.values():
        frame = {"person": np.arange(len(wards)), "ward": pa.array(wards, pa.string()), "cost": np.zeros(len(wards))}
        made = engine({"visits": pa.table(frame)})
        handle = made.bound("visits", 1)
        count = SumRequest(Scan("visits"), (WARD,), EachRow(), (One(),), handle)
        places = HistogramRequest(Scan("visits"), (WARD,), EachRow(), column("cost", Type.REAL), scale, handle)
        shown.add((made.text(count), made.text(places)))
        nulls.append((None,) in made.histogram(places))
        assert made.histogram(places).keys() == set(made.run(count).keys)
    assert len(shown) == 1
    assert nulls == [True, True, False]


def test_which_zero_a_bounded_table_keeps_does_not_depend_on_the_order_of_the_rows():
    kept = set()
    for zeros in ([0.0, -0.0], [-0.0, 0.0]):
        made = engine({"visits": pa.table({"person": [1, 1], "cost": zeros})})
        made.bound("visits", 1)
        kept.add(made._connection.execute("SELECT signbit(cost) FROM memory.made.bounded_1").fetchall()[0][0])
    assert len(kept) == 1

"""Every road that takes units x twelve spellings of one id: the person is counted once, or the units are refused."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from discreet import statistics
from discreet.attacks import Scoreboard, intersection, mondrian
from discreet.attacks.linking.anonymity import AttackedRelease
from discreet.errors import DiscreetError, StreamSpent
from discreet.local import (
    DirectResponse,
    DuchiBit,
    HashedGeometry,
    HybridMean,
    MemoizedClient,
    OneBitHadamard,
    UnitVectors,
)
from discreet.privacy import PureDP
from discreet.query import Session
from discreet.query.plan import bounded
from discreet.query.plan.request import Groups, SumRequest, Units
from discreet.query.plan.row_sources import Scan
from discreet.statistics.columns.keys import bounded_keys
from discreet.testing.spellings import SPELLINGS
from tests.conftest import Rounds
from tests.statistics.taking_units import TAKE_UNITS

REFUSED = "refused"
COPIES = 4
Road = Callable[[Any], int]


def statistic(name: str) -> Road:
    """Return a road on which two persons are measured otherwise than one."""
    make, values = TAKE_UNITS[name]

    def measured(other: Any) -> bytes:
        unit = [1] * 12 + [other] * 12
        return pickle.dumps(make().measure(statistics.Rows((values * 24)[:24], unit)))

    def road(spelling: Any) -> int:
        assert measured(1) != measured(2)
        return 1 if measured(spelling) == measured(1) else 2

    return road


def counted(session: Any) -> int:
    """Return the exact number of units: private, for us only."""
    with session:
        answer = session.engine.run(SumRequest(Scan("t"), (), Groups(1, 1), (Units(),)))
    return int(answer.cells[0][0])


def frames(column: Callable[[list[Any]], Any]) -> Road:
    def road(spelling: Any) -> int:
        frame = column([1, spelling] * COPIES)
        return counted(Session.from_frames(t=frame, unit="person", budget=PureDP(1), groups=1, rows_per_group=1))

    return road


def release(people: list[Any]) -> AttackedRelease:
    facts = np.arange(len(people))[:, None]
    return AttackedRelease(mondrian(facts, k=2), np.arange(len(people)), people)  # type: ignore[arg-type]


def shared(spelling: Any) -> int:
    first, second = release([1, 2, 3, 4]), release([spelling, 5, 6, 7])
    return 2 - len(intersection(first, second).people)


def rated(spelling: Any) -> int:
    table = {"person": [1, spelling], "item": [0, 1], "stars": [1, 2], "day": [1, 2]}
    found = Scoreboard(table).scores([0, 1], [1, 2], [1, 2])
    return int(np.count_nonzero(found))


def memoized(make: Callable[[], Any], value: Callable[[Any], Any]) -> Road:
    def road(spelling: Any) -> int:
        client = MemoizedClient(make(), distinct=1)
        client.report(value(1))
        try:
            client.report(value(spelling))
        except StreamSpent:
            return 2
        return 1

    return road


def plain(value: Any) -> Any:
    return value


ROADS: dict[str, Road] = {
    **{f"statistics.{name}": statistic(name) for name in TAKE_UNITS},
    "statistics.bounded_keys": lambda one: len(bounded_keys(list("abcdef"), [1, one] * 3, keys=1)[0]),
    "synthesis": lambda one: len(bounded([1, one] * COPIES, 1)),
    "synthesis, objects": lambda one: len(bounded(np.array([1, one] * COPIES, dtype=object), 1)),
    "from_frames, pandas": frames(lambda ids: pd.DataFrame({"person": pd.Series(ids, dtype=object)})),
    "from_frames, pandas as inferred": frames(lambda ids: pd.DataFrame({"person": ids})),
    "from_frames, Polars": frames(lambda ids: pl.DataFrame({"person": pl.Series(ids, strict=False)})),
    "attacks.AttackedRelease": lambda one: len(release([1, one, 2, 3]).person) - 2,
    "attacks.intersection": shared,
    "attacks.Scoreboard": rated,
    "local.DirectResponse": memoized(lambda: DirectResponse(epsilon=1, categories=4), plain),
    "local.DirectResponse, labels": memoized(
        lambda: DirectResponse(epsilon=1, categories=("no", "yes")), lambda one: "yes" if one is True else one
    ),
    "local.OneBitHadamard": memoized(lambda: OneBitHadamard(epsilon=1, categories=4), plain),
    "local.HashedGeometry": memoized(
        lambda: HashedGeometry(epsilon=1, keys="integer:8", prime=2, dimension=3, rows=2, seed=8), plain
    ),
    "local.DuchiBit": memoized(lambda: DuchiBit(epsilon=1, bounds=(0, 2)), plain),
    "local.HybridMean": memoized(lambda: HybridMean(epsilon=1, bounds=(0, 2)), plain),
    "local.UnitVectors": memoized(
        lambda: UnitVectors(epsilon=1, dimension=2, codewords=5, cap=2, codebooks=2), lambda one: [one, 0]
    ),
}  # fmt: skip


@pytest.mark.parametrize("place", range(len(SPELLINGS)), ids=lambda place: type(SPELLINGS[place]).__name__ + str(place))
@pytest.mark.parametrize("name", ROADS)
def test_a_person_is_counted_once_or_refused(name: str, place: int, record_property: Any) -> None:
    outcome: Any
    try:
        outcome = ROADS[name](SPELLINGS[place])
    except DiscreetError as error:
        assert error.__context__ is None  # noqa: PT017  refused is as good as counted once
        outcome = REFUSED
    record_property("outcome", outcome)
    assert outcome in (1, REFUSED)


POLICY = """[data]
source = "{source}"
lineage = "people"
version = "1"
[protect]
unit = "person"
[budget]
notion = "pure"
epsilon = 1
ledger = "ledger.sqlite"
[analysts]
ana = {{}}
[tables.t]
unit = "{unit}"
groups = 1
rows_per_group = 1
"""
WRITTEN = ["1", "+1", "01", "1.0", "1.", " 1", "1 ", "\t1", "001.000", "1e0", "0x1", "0" * 50 + "1"]
STORED = {
    "TINYINT": 1, "SMALLINT": 1, "INTEGER": 1, "DOUBLE": REFUSED, "BIGINT": 1, "UTINYINT": 1, "UHUGEINT": 1,
    "UBIGINT": 1, "HUGEINT": 1, "DECIMAL(10,2)": 1, "DECIMAL(10,0)": 1, "FLOAT": REFUSED,
}  # fmt: skip


def opened(folder: Path, source: str, unit: str, more: str = "") -> Any:
    (folder / "policy.toml").write_text(POLICY.format(source=source, unit=unit) + more)
    return Session.open(folder / "policy.toml", analyst="ana")


def outcome_of(make: Callable[[], Any]) -> Any:
    try:
        return counted(make())
    except DiscreetError as error:
        words = str(error)
    assert "cannot name a unit" in words or "Link columns of one type" in words
    return REFUSED


def test_a_person_of_a_csv_file_is_counted_once_in_all_spellings(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    lines = [f"{spelling},a\n" for spelling in WRITTEN]
    (tmp_path / "data" / "t.csv").write_text("person,x\n" + "".join(lines))
    declared = '[tables.t.columns]\nperson = {type = "integer"}\n'
    assert counted(opened(tmp_path, "data", "person", declared)) == 1


@pytest.mark.parametrize("end", ["person", "link", "key"])
def test_a_person_of_a_database_is_counted_once_or_refused(end: str, tmp_path: Path, rounds: Rounds) -> None:
    for kind in list(STORED)[:: 12 // rounds(sample=4, full=12)]:
        kinds = {"person": "BIGINT", "link": "BIGINT", "key": "BIGINT"} | {end: kind}
        folder = tmp_path / kind
        folder.mkdir()
        with duckdb.connect(str(folder / "data.duckdb")) as made:
            made.execute(f"CREATE TABLE people (key {kinds['key']}, person {kinds['person']})")
            made.execute("INSERT INTO people VALUES (1, 1), (2, 1), (3, NULL)")
            made.execute(f"CREATE TABLE t (link {kinds['link']})")
            made.execute("INSERT INTO t VALUES (1), (1), (2), (3), (4), (NULL)")
        more = '[tables.people]\nunit = "person"\nrows = 1\n'
        outcome = outcome_of(partial(opened, folder, "data.duckdb", "link -> people.key", more))
        linked_reals = end != "person" and kind.startswith("DECIMAL")  # a link compares columns of one type
        assert outcome == (REFUSED if linked_reals else STORED[kind])


@pytest.mark.parametrize(
    ("kind", "wanted"),
    [(pa.int8(), 1), (pa.int64(), 1), (pa.uint64(), 1), (pa.decimal128(10, 2), 1), (pa.string(), 1), (pa.bool_(), 1),
     (pa.float32(), REFUSED), (pa.float64(), REFUSED), (pa.binary(), REFUSED), (pa.list_(pa.int64()), REFUSED),
     (pa.time32("s"), REFUSED)],
    ids=str,
)  # fmt: skip
def test_a_person_of_a_parquet_file_is_counted_once_or_refused(kind: Any, wanted: Any, tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    one = {"string": "1", "binary": b"1", "bool": True}.get(str(kind), [1] if pa.types.is_list(kind) else 1)
    people = pa.array([one, one, None], kind)
    parquet.write_table(pa.table({"person": people, "x": [1, 2, 3]}), tmp_path / "data" / "t.parquet")
    assert outcome_of(lambda: opened(tmp_path, "data", "person")) == wanted


@pytest.mark.parametrize("collation", ["NOCASE", "NOACCENT", "NFC", "POSIX"])
def test_a_collation_in_which_texts_that_differ_are_equal_is_refused(collation: str, tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "data.duckdb")) as made:
        made.execute(f"CREATE TABLE people (key VARCHAR COLLATE {collation}, person VARCHAR COLLATE {collation})")
        made.execute("INSERT INTO people VALUES ('a', 'p'), ('A', 'P'), ('ä', 'p')")
        made.execute("CREATE TABLE t (link VARCHAR)")
        made.execute("INSERT INTO t VALUES ('a'), ('A'), ('ä'), ('a')")
    more = '[tables.people]\nunit = "person"\nrows = 1\n'
    expected = 2 if collation == "POSIX" else REFUSED
    assert outcome_of(lambda: opened(tmp_path, "data.duckdb", "link -> people.key", more)) == expected

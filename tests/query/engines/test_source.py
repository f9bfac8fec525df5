"""A DuckDB file, Parquet, CSV and data frames give the same sums, and the connection reaches nothing else."""

from __future__ import annotations

import gzip
import itertools
from datetime import date, datetime

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from discreet.errors import InputError, PolicyError, QueryFailed, UnknownName
from discreet.frames import Type
from discreet.privacy import ZCDP, Relation
from discreet.query.engines.duckdb import Resources, connect
from discreet.query.engines.duckdb.engine import DuckDBEngine
from discreet.query.expression.typing_rules import column
from discreet.query.plan.query_plan import Key
from discreet.query.plan.request import WEIGHT, EachRow, One, Present, RowWeights, Steps, SumRequest
from discreet.query.plan.row_sources import Scan
from discreet.query.policy.declarations import (
    ColumnPolicy,
    Policy,
    PublicTable,
    Source,
    SourceKind,
    TablePolicy,
    UnitColumn,
    UnitIsRow,
)
from discreet.query.policy.source import table_files, table_names
from discreet.statistics.columns.fixed_point import FixedPoint

COLUMNS = {"person": Type.INTEGER, "ward": Type.TEXT, "cost": Type.REAL, "day": Type.DATE, "ill": Type.BOOLEAN}
ROWS = [
    (1, "a", 10.0, date(2020, 1, 1), True),
    (1, "b", 2.5, date(2020, 1, 2), False),
    (2, "a", float("nan"), None, None),
    (2, 'it\'s, "so"\n', 99.0, date(1999, 12, 31), True),
    (3, None, None, date(2020, 1, 1), False),
    (None, "a", 50.0, date(2020, 1, 1), True),
]
REQUEST = SumRequest(
    Scan("visits"),
    (Key("ward", column("ward", Type.TEXT), None),),
    RowWeights(1),
    (
        One(),
        Present(column("ill", Type.BOOLEAN)),
        Steps(column("cost", Type.REAL), FixedPoint.between((0, 64), grid=0.5)),
    ),
)
HALF = WEIGHT // 2
EXPECTED = {
    ("a",): (2 * HALF, HALF, HALF * 20),
    ("b",): (HALF, HALF, HALF * 5),
    ('it\'s, "so"\n',): (HALF, HALF, HALF * 128),
    (None,): (WEIGHT, WEIGHT, 0),
}


def policy(kind, path=None, *, unit=None, columns=COLUMNS, table="visits"):
    declared = {name: ColumnPolicy(name, type_) for name, type_ in columns.items()}
    areas = {"name": ColumnPolicy("name", Type.TEXT)}
    return Policy(
        source=Source(kind, path),
        lineage="visits 2026",
        version="1",
        unit="person",
        tables={table: TablePolicy(table, unit or UnitColumn("person"), declared)},
        public={"areas": PublicTable("areas", areas, (frozenset({"name"}),))},
        budget=ZCDP(1, relation=Relation.ADD_REMOVE),
        analysts={},
    )


def answer(engine, request=REQUEST):
    sums = engine.run(request)
    engine.close()
    return {key: tuple(cell[index] for cell in sums.cells) for index, key in enumerate(sums.keys)}


@pytest.fixture
def stored():
    """Return a connection that has the rows in a table."""
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE visits (person INTEGER, ward VARCHAR, cost DOUBLE, day DATE, ill BOOLEAN)")
        connection.executemany("INSERT INTO visits VALUES (?, ?, ?, ?, ?)", ROWS)
        yield connection


def pandas_frame():
    return pd.DataFrame(ROWS, columns=list(COLUMNS)).astype({"person": "Int64"})  # floats name nobody


def test_a_database_file_is_read(stored, tmp_path):
    path = tmp_path / "hospital.duckdb"
    stored.execute(f"ATTACH '{path}' AS file; CREATE TABLE file.visits AS FROM visits; DETACH file")
    before = path.read_bytes()
    assert answer(DuckDBEngine(policy(SourceKind.DUCKDB, path))) == EXPECTED
    assert path.read_bytes() == before


def test_a_table_of_another_schema_is_named_with_it(stored, tmp_path):
    path = tmp_path / "hospital.duckdb"
    stored.execute(f"ATTACH '{path}' AS file; CREATE SCHEMA file.raw; CREATE TABLE file.raw.visits AS FROM visits")
    stored.execute("DETACH file")
    engine = DuckDBEngine(policy(SourceKind.DUCKDB, path, table="raw.visits"))
    assert set(engine.schema("raw.visits")) == set(COLUMNS)
    engine.close()


@pytest.mark.parametrize("name", ["visits.parquet", "visits/part-0.parquet"])
def test_parquet_files_are_read(stored, tmp_path, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    stored.execute(f"COPY visits TO '{tmp_path / name}' (FORMAT parquet)")
    engine = DuckDBEngine(policy(SourceKind.PARQUET, tmp_path))
    assert engine.schema("visits") == COLUMNS
    assert answer(engine) == EXPECTED


@pytest.mark.parametrize("name", ["visits.csv", "visits/2026.csv", "visits.csv.gz"])
def test_csv_files_are_read_as_the_declared_types(stored, tmp_path, name):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    stored.execute(f"COPY visits TO '{tmp_path / name}' (FORMAT csv, HEADER)")
    engine = DuckDBEngine(policy(SourceKind.CSV, tmp_path))
    assert engine.schema("visits") == dict.fromkeys(COLUMNS, Type.TEXT)
    assert answer(engine) == EXPECTED


def test_csv_records_that_do_not_fit_raise_nothing(tmp_path):
    lines = [
        b"person,ward,cost,day,ill",
        b"1,a,5,2020-01-01,true",
        b"2,a",
        b"three,a,5,2020-01-01,true",
        b"4,a,twelve,2020-99-01,perhaps",
        b"5,a,1,2020-01-01,true,too,many",
        b",a,1,2020-01-01,true",
        b"",
        b"7," + b"x" * 100_000 + b",1,,",
        b'8,"",1,,',
    ]
    (tmp_path / "visits.csv").write_bytes(b"\r\n".join(lines))
    found = answer(DuckDBEngine(policy(SourceKind.CSV, tmp_path)))
    assert found[("a",)][0] == 4 * WEIGHT  # people 1, 2, 4 and 5; nobody is called three
    assert found[(None,)][0] == WEIGHT  # person 8: an empty cell is NULL, in quotes too


@pytest.mark.parametrize(
    "line",
    [
        b'9,"never closed',
        b'9,"',
        b'9,a"b,"c',
        b'9,"a"b"',
        b'9,"two\nlines"',
        b'9,"two\r\n4,lines"',
        b"9," + b"x" * 3_000_000,
        b"9,\xff",
        b"9,\0",
        b"\0",
        b"#",
        b"\\",
        b"9,a,b,c,d,e,f,g",
        b",,,,,,,,,,",
        b"'",
    ],
)
@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
@pytest.mark.parametrize("place", [0, 3, 6])
def test_no_record_of_a_csv_file_changes_another_or_the_file_is_refused(tmp_path, line, end, place):
    lines = [b'%d,"a, ""%d""",%d' % (person, person, person) for person in range(6)]
    (tmp_path / "visits.csv").write_bytes(end.join([b"person,ward,cost", *lines[:place], line, *lines[place:], b""]))
    columns = {"person": Type.TEXT, "ward": Type.TEXT, "cost": Type.INTEGER}
    try:
        engine = DuckDBEngine(policy(SourceKind.CSV, tmp_path, columns=columns))
    except PolicyError as refused:
        assert "'visits.csv' of 'visits' cannot be read as it is declared" in str(refused)  # noqa: PT017
        return
    keys = tuple(Key(name, column(name, kind), None) for name, kind in columns.items())
    found = answer(engine, SumRequest(Scan("visits"), keys, RowWeights(1), (One(),)))
    rows = {(str(person), f'a, "{person}"', person): (WEIGHT,) for person in range(6)}
    assert rows.items() <= found.items()
    assert len(found) <= 6 + 1


def test_cells_of_csv_files_are_what_is_between_the_quotes(tmp_path):
    cells = ['""', '""""', '" "', '","', "", " ", "'", "\\", '"a""""b"', '""""""', "NULL", '"é"']
    lines = [f"{place},{cell}" for place, cell in enumerate(cells)]
    (tmp_path / "visits.csv").write_text("\n".join(["person,ward", *lines, "99,a,too,many", "98"]), encoding="utf-8")
    engine = DuckDBEngine(policy(SourceKind.CSV, tmp_path, columns={"person": Type.INTEGER, "ward": Type.TEXT}))
    keys = (Key("person", column("person", Type.INTEGER), None), Key("ward", column("ward", Type.TEXT), None))
    found = dict(answer(engine, SumRequest(Scan("visits"), keys, RowWeights(1), (One(),))))
    expected = [None, '"', " ", ",", None, " ", "'", "\\", 'a""b', '""', "NULL", "é"]
    assert set(found) == {*enumerate(expected), (99, "a"), (98, None)}


@pytest.mark.parametrize("header", ["ward,person", "person", "person,ward,cost", "person,Ward"])
def test_csv_files_with_other_first_lines_are_refused(tmp_path, header):
    (tmp_path / "visits").mkdir()
    (tmp_path / "visits" / "a.csv").write_text("person,ward\n1,a\n")
    (tmp_path / "visits" / "b.csv").write_text(f"{header}\n1,a\n")
    with pytest.raises(PolicyError, match=r"the CSV files of 'visits' must have the same first line: 'b\.csv'"):
        DuckDBEngine(policy(SourceKind.CSV, tmp_path))


@pytest.mark.parametrize(
    ("other", "named"),
    [
        ({"person": [1], "ward": [2]}, "ward"),
        ({"person": [1]}, "ward"),
        ({"person": [1], "ward": ["a"], "more": [1]}, "more"),
        ({"person": [1.0], "ward": ["a"]}, "person"),
        ({"person": [1], "Ward": ["a"]}, "ward"),
    ],
)
def test_parquet_files_with_other_columns_are_refused(tmp_path, other, named):
    (tmp_path / "visits").mkdir()
    parquet.write_table(pa.table({"person": [1], "ward": ["a"]}), tmp_path / "visits" / "a.parquet")
    parquet.write_table(pa.table(other), tmp_path / "visits" / "b.parquet")
    with pytest.raises(PolicyError, match=f"column '{named}' of 'visits' is missing from 'b.parquet'"):
        DuckDBEngine(policy(SourceKind.PARQUET, tmp_path))


def test_parquet_files_with_columns_in_another_order_are_read_by_name(tmp_path):
    (tmp_path / "visits").mkdir()
    for name, frame in (("a", {"person": ["p"], "ward": ["a"]}), ("b", {"ward": ["a"], "person": ["q"]})):
        parquet.write_table(pa.table(frame), tmp_path / "visits" / f"{name}.parquet")
    engine = DuckDBEngine(policy(SourceKind.PARQUET, tmp_path, columns={"person": Type.TEXT, "ward": Type.TEXT}))
    keys = (Key("ward", column("ward", Type.TEXT), None),)
    assert answer(engine, SumRequest(Scan("visits"), keys, RowWeights(1), (One(),))) == {("a",): (2 * WEIGHT,)}


def not_text():
    """Return an Arrow array of texts, the last of which is none."""
    null, offsets, content = pa.array([b"a", b"\xff\xfe"], pa.binary()).buffers()
    return pa.StringArray.from_buffers(2, offsets, content, null)


def test_a_text_of_a_frame_that_is_none_is_null():
    request = SumRequest(Scan("visits"), (Key("ward", column("ward", Type.TEXT), None),), RowWeights(1), (One(),))
    for array in (not_text(), pa.chunked_array([not_text()]), pa.DictionaryArray.from_arrays([0, 1], not_text())):
        stated = policy(SourceKind.FRAMES, columns={"person": Type.INTEGER})
        engine = DuckDBEngine(stated, {"visits": pa.table({"person": [1, 2], "ward": array})})
        assert answer(engine, request) == {("a",): (WEIGHT,), (None,): (WEIGHT,)}


@pytest.mark.parametrize("zone", [None, "UTC", "Europe/Berlin"])
@pytest.mark.parametrize("unit", ["s", "ms", "us"])
@pytest.mark.parametrize("far", [10**18, -(10**18), 2**63 - 1, -(2**63)])
def test_a_time_that_is_too_far_away_is_null(unit, far, zone):
    times = pa.array([0, far], pa.int64()).cast(pa.timestamp(unit, zone))
    stated = policy(SourceKind.FRAMES, columns={"person": Type.INTEGER, "at": Type.TIMESTAMP})
    engine = DuckDBEngine(stated, {"visits": pa.table({"person": [1, 2], "at": times})})
    request = SumRequest(Scan("visits"), (Key("at", column("at", Type.TIMESTAMP), None),), RowWeights(1), (One(),))
    assert set(answer(engine, request)) == {(datetime(1970, 1, 1),), (None,)}


def test_times_with_a_zone_are_read_in_utc():
    for unit, zone in itertools.product(("s", "ms", "us"), ("UTC", "Europe/Berlin")):
        times = pa.array([0], pa.int64()).cast(pa.timestamp(unit, zone))
        stated = policy(SourceKind.FRAMES, columns={"person": Type.INTEGER, "at": Type.TIMESTAMP})
        engine = DuckDBEngine(stated, {"visits": pa.table({"person": [1], "at": times})})
        request = SumRequest(Scan("visits"), (Key("at", column("at", Type.TIMESTAMP), None),), RowWeights(1), (One(),))
        assert answer(engine, request) == {(datetime(1970, 1, 1),): (WEIGHT,)}


def test_a_csv_file_that_is_not_there_or_no_file_is_refused(tmp_path):
    (tmp_path / "visits").mkdir()
    (tmp_path / "visits" / "a.csv").symlink_to(tmp_path / "nowhere.csv")
    with pytest.raises(PolicyError, match="must name every column"):
        DuckDBEngine(policy(SourceKind.CSV, tmp_path))
    (tmp_path / "visits" / "a.csv").unlink()
    (tmp_path / "visits" / "a.csv.gz").write_bytes(b"no gzip")
    with pytest.raises(PolicyError, match="is not compressed with gzip"):
        DuckDBEngine(policy(SourceKind.CSV, tmp_path))


def test_a_parquet_file_with_a_text_that_is_none_fails_in_our_words(tmp_path):
    parquet.write_table(pa.table({"person": [1, 2], "ward": not_text()}), tmp_path / "visits.parquet")
    engine = DuckDBEngine(policy(SourceKind.PARQUET, tmp_path, columns={"person": Type.INTEGER, "ward": Type.TEXT}))
    keys = (Key("ward", column("ward", Type.TEXT), None),)
    with pytest.raises(QueryFailed) as caught:
        engine.run(SumRequest(Scan("visits"), keys, RowWeights(1), (One(),)))
    assert caught.value.__context__ is None
    with pytest.raises(QueryFailed):
        engine.bound("visits", 1)
    engine.close()


@pytest.mark.parametrize("header", [b"", b"person,person\n1,2\n", b"person,\n1,2\n"])
def test_a_csv_file_without_names_of_columns_is_refused(tmp_path, header):
    (tmp_path / "visits.csv").write_bytes(header)
    with pytest.raises(PolicyError, match="must name every column, each once"):
        DuckDBEngine(policy(SourceKind.CSV, tmp_path))


def test_only_the_first_line_of_a_csv_file_is_read_for_its_schema(tmp_path):
    (tmp_path / "visits.csv.gz").write_bytes(gzip.compress(b"person,ward,cost,day,ill\n") + b"this is no gzip")
    engine = DuckDBEngine(policy(SourceKind.CSV, tmp_path), header_only=True)
    assert list(engine.schema("visits")) == list(COLUMNS)
    engine.close()
    with pytest.raises(PolicyError, match="cannot be read as it is declared"):
        DuckDBEngine(policy(SourceKind.CSV, tmp_path))


def frames():
    table = pa.Table.from_pandas(pandas_frame(), preserve_index=False)
    return {
        "pandas": pandas_frame(),
        "pandas objects": pandas_frame().astype(object),
        "pandas categories": pandas_frame().astype({"ward": "category"}),
        "pandas nullable": pandas_frame().astype({"person": "Int64", "cost": "Float64", "ill": "boolean"}),
        "polars": pl.DataFrame(ROWS, schema=list(COLUMNS), orient="row"),
        "polars categories": pl.DataFrame(ROWS, schema=list(COLUMNS), orient="row").with_columns(
            pl.col("ward").cast(pl.Categorical)
        ),
        "arrow": table,
        "arrow batch": table.to_batches()[0],
    }


@pytest.mark.parametrize("name", list(frames()))
def test_frames_of_three_libraries_are_read(name):
    assert answer(DuckDBEngine(policy(SourceKind.FRAMES), {"visits": frames()[name]})) == EXPECTED


def test_times_of_frames_are_read():
    when = [datetime(2020, 1, 1, 12), None]
    for frame in (pd.DataFrame({"at": when}), pl.DataFrame({"at": when}), pa.table({"at": when})):
        engine = DuckDBEngine(
            policy(SourceKind.FRAMES, columns={"at": Type.TIMESTAMP}, unit=UnitIsRow()), {"visits": frame}
        )
        assert engine.schema("visits") == {"at": Type.TIMESTAMP}
        request = SumRequest(Scan("visits"), (Key("at", column("at", Type.TIMESTAMP), None),), EachRow(), (One(),))
        assert answer(engine, request) == {(when[0],): (1,), (None,): (1,)}


ADDRESS = "4711 Main Street"


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (pl.DataFrame({"person": [1], "lists": [[ADDRESS]]}), "column 'lists' of the frame 'visits' has a type"),
        (pa.table({"person": [1], "bytes": [ADDRESS.encode()]}), "column 'bytes' of the frame 'visits' has a type"),
        (pd.DataFrame({"person": [1], "gap": [pd.Timedelta(1)]}), "column 'gap' of the frame 'visits' has a type"),
        (pd.DataFrame({"person": [1], "z": [pd.Period("2026")]}), "column 'z' of the frame 'visits' has a type"),
        ({"person": [ADDRESS]}, "the frame 'visits' must be a pandas or Polars DataFrame or an Arrow table"),
        (pl.LazyFrame({"person": [ADDRESS]}), "the frame 'visits' must be a pandas or Polars DataFrame"),
        (np.array([ADDRESS]), "the frame 'visits' must be a pandas or Polars DataFrame"),
    ],
)
def test_a_frame_that_cannot_be_queried_is_refused_by_name_without_a_value(frame, words):
    with pytest.raises(InputError) as caught:
        DuckDBEngine(policy(SourceKind.FRAMES), {"visits": frame})
    assert str(caught.value).startswith(words)
    assert ADDRESS not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_a_table_that_is_absent_is_unknown(tmp_path):
    for engine in (
        DuckDBEngine(policy(SourceKind.FRAMES), {}),
        DuckDBEngine(policy(SourceKind.PARQUET, tmp_path)),
        DuckDBEngine(policy(SourceKind.PARQUET, tmp_path, table="../visits")),
    ):
        table = next(iter(engine._tables.policy.tables))
        with pytest.raises(UnknownName, match="the source has no table"):
            engine.schema(table)
        engine.close()


def test_a_source_that_is_absent_or_no_database_is_refused_in_our_words(tmp_path):
    with pytest.raises(PolicyError, match="the source does not exist"):
        DuckDBEngine(policy(SourceKind.DUCKDB, tmp_path / "nothing.duckdb"))
    (tmp_path / "wrong.duckdb").write_bytes(ADDRESS.encode() * 1_000)
    with pytest.raises(PolicyError, match="the source cannot be opened") as caught:
        DuckDBEngine(policy(SourceKind.DUCKDB, tmp_path / "wrong.duckdb"))
    assert caught.value.__context__ is None
    assert ADDRESS not in str(caught.value)


def test_values_of_a_frame_that_are_not_of_the_declared_type_are_null():
    engine = DuckDBEngine(policy(SourceKind.FRAMES), {"visits": pandas_frame().assign(ill=date(2020, 1, 1))})
    assert {key: cells[1] for key, cells in answer(engine).items()} == dict.fromkeys(EXPECTED, 0)


def test_a_type_that_cannot_be_read_as_the_declared_one_is_refused(tmp_path):
    table = pa.Table.from_pandas(pandas_frame().assign(ill=date(2020, 1, 1)), preserve_index=False)
    parquet.write_table(table, tmp_path / "visits.parquet")
    engine = DuckDBEngine(policy(SourceKind.PARQUET, tmp_path))
    with pytest.raises(PolicyError, match="declared as boolean, but stored as another type"):
        engine.run(REQUEST)
    engine.close()


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM '{other}/visits.parquet'",
        "SELECT * FROM read_csv('{folder}/../other/visits.csv')",
        "COPY (SELECT 1) TO '{other}/out.csv'",
        "ATTACH '{other}/new.duckdb' AS new",
        "EXPORT DATABASE '{other}'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "SET threads = 3",
        "RESET lock_configuration",
        "SELECT * FROM glob('/etc/*')",
        "SELECT * FROM frame_of_this_process",
    ],
)
def test_the_connection_reaches_nothing_but_the_source(stored, tmp_path, statement):
    folder, other = tmp_path / "folder", tmp_path / "other"
    folder.mkdir()
    other.mkdir()
    stored.execute(f"COPY visits TO '{folder}/visits.parquet'; COPY visits TO '{other}/visits.parquet'")
    frame_of_this_process = pandas_frame()
    engine = DuckDBEngine(policy(SourceKind.PARQUET, folder))
    with pytest.raises(duckdb.Error):
        engine._connection.execute(statement.format(folder=folder, other=other))
    assert answer(engine) == EXPECTED
    assert len(frame_of_this_process) == len(ROWS)
    assert [path.name for path in other.iterdir()] == ["visits.parquet"]


def test_a_failure_of_the_engine_says_one_thing_and_carries_nothing(stored, tmp_path):
    stored.execute(f"COPY visits TO '{tmp_path}/visits.parquet'")
    engine = DuckDBEngine(policy(SourceKind.PARQUET, tmp_path))
    content = (tmp_path / "visits.parquet").read_bytes()
    (tmp_path / "visits.parquet").write_bytes(content[:40] + ADDRESS.encode() * 40)
    with pytest.raises(QueryFailed) as caught:
        engine.run(REQUEST)
    assert "the engine gave no answer" in str(caught.value)
    assert "visits" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    engine.close()


@pytest.mark.parametrize(
    ("kind", "names", "told"),
    [
        (SourceKind.CSV, ["v.csv", "v.csv.gz"], ("v.csv", "v.csv.gz")),
        (SourceKind.CSV, ["v.CSV", "v.csv"], ("v.CSV", "v.csv")),
        (SourceKind.PARQUET, ["v.parquet", "v.pq"], ("v.parquet", "v.pq")),
        (SourceKind.PARQUET, ["v.parquet", "v/one.parquet"], ("v.parquet", "v/")),
        (SourceKind.CSV, ["v/one.csv", "v/one.csv.gz", "v/two.csv"], ("one.csv", "one.csv.gz")),
    ],
)
def test_two_files_of_one_name_are_not_read_as_one_table(tmp_path, kind, names, told):
    (tmp_path / "v").mkdir()
    for name in names:
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(PolicyError, match=r"both the table 'v', .*Remove one of them") as refusal:
        list(table_files(tmp_path, kind, ["v"]))
    assert all(repr(name) in str(refusal.value) for name in told)


def test_endings_may_be_in_capitals(tmp_path):
    (tmp_path / "parts").mkdir()
    for name in ["v.CSV", "w.Csv.GZ", "parts/one.CSV", "parts/two.csv", "other.txt"]:
        (tmp_path / name).write_bytes(b"")
    found = {name: [file.name for file in files] for name, files in table_files(tmp_path, SourceKind.CSV, "vwx")}
    assert found == {"v": ["v.CSV"], "w": ["w.Csv.GZ"]}
    assert dict(table_files(tmp_path, SourceKind.CSV, ["parts"])).keys() == {"parts"}
    assert table_names(tmp_path, SourceKind.CSV) == ["parts", "v", "w"]


def test_a_query_never_prints_how_far_it_has_come() -> None:
    """DuckDB draws a bar on standard output for a query of some seconds, and how fast it grows depends on the rows."""
    connection = connect(Resources(None, None, None))
    assert connection.execute("SELECT current_setting('enable_progress_bar')").fetchone() == (False,)

"""A policy and the schema of its source agree, or every difference is reported with its line."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import PolicyError
from discreet.frames import Type
from discreet.query.policy.check import check, with_schema
from discreet.query.policy.declarations import UnitColumn, UnitLink
from discreet.query.policy.file import parse_policy
from tests.query.policy.policies import DATA, SCHEMA, TABLES, policy_text


@pytest.fixture
def policy_of(tmp_path):
    (tmp_path / "hospital.duckdb").touch()
    (tmp_path / "text").mkdir()
    (tmp_path / "text" / "visits.csv").touch()

    def parse(**parts):
        return parse_policy(policy_text(**parts), folder=tmp_path)

    return parse


def changed(table, **columns):
    kept = {name: kind for name, kind in SCHEMA[table].items() if columns.get(name, kind)}
    return SCHEMA | {table: kept | {name: kind for name, kind in columns.items() if kind}}


def test_a_policy_that_agrees_with_its_source_has_no_problem(policy_of):
    assert check(policy_of(), SCHEMA) == []


def test_every_column_of_the_source_is_there_in_its_order(policy_of):
    full = with_schema(policy_of(), SCHEMA)
    assert {name: column.type for name, column in full.tables["visits"].columns.items()} == SCHEMA["visits"]
    assert list(full.tables["visits"].columns) == list(SCHEMA["visits"])
    assert {name: column.type for name, column in full.public["regions"].columns.items()} == SCHEMA["regions"]
    hidden = full.tables["visits"].columns["visit_id"]
    assert (hidden.interval, hidden.domain, hidden.public) == (None, None, False)


def test_the_type_of_the_source_wins_over_an_inferred_one(policy_of):
    columns = '[tables.visits]\nunit = "row"\ncolumns.cost = {min = 0, max = 5}\ncolumns.age = {values = [1.0, 2.0]}\n'
    full = with_schema(policy_of(tables=columns), SCHEMA).tables["visits"].columns
    assert full["cost"].type is Type.REAL
    assert full["cost"].interval == (Fraction(0), Fraction(5))
    assert full["age"].type is Type.INTEGER
    assert [type(value) for value in full["age"].values] == [int, int]


def test_names_are_spelled_as_in_the_source(policy_of):
    link = '[tables.drugs]\nunit = "VISIT_ID -> Visits.Visit_id"\nrows = 1\n'
    schema = {
        "VISITS": {name.upper(): kind for name, kind in SCHEMA["visits"].items()},
        "Drugs": {"visit_id": Type.INTEGER},
        "regions": {"Region": Type.TEXT},
    }
    full = with_schema(policy_of(tables=TABLES + link), schema)
    assert full.tables["VISITS"].unit == UnitColumn("PATIENT_ID")
    assert full.tables["VISITS"].columns["COST"].interval == (0, 500)
    assert full.tables["Drugs"].unit == UnitLink("visit_id", "VISITS", "VISIT_ID")
    assert full.public["regions"].unique == (frozenset({"Region"}),)


def test_the_types_of_csv_files_are_the_declared_ones(policy_of):
    tables = '[tables.visits]\nunit = "patient_id"\nrows = 1\ncolumns.cost = {type = "real", min = 0, max = 5}\n'
    tables += 'columns.patient_id = {type = "text"}\n'
    all_text = {table: dict.fromkeys(columns, Type.TEXT) for table, columns in SCHEMA.items()}
    full = with_schema(policy_of(data=DATA.replace("hospital.duckdb", "text"), tables=tables), all_text)
    types = {name: column.type for name, column in full.tables["visits"].columns.items()}
    assert types.pop("cost") is Type.REAL
    assert set(types.values()) == {Type.TEXT}


def test_ids_in_csv_files_have_a_declared_type_at_both_ends_of_a_link(policy_of):
    tables = '[tables.visits]\nunit = "patient_id"\nrows = 1\n'
    tables += '[tables.drugs]\nunit = "visit_id -> visits.visit_id"\nrows = 1\n'
    all_text = {table: dict.fromkeys(columns, Type.TEXT) for table, columns in {**SCHEMA, **DRUGS}.items()}
    policy = policy_of(data=DATA.replace("hospital.duckdb", "text"), tables=tables)
    words = [problem for _, problem in check(policy, all_text)]
    assert [word.partition("Add the line ")[2].partition(". ")[0] for word in words] == [
        '`patient_id = {type = "integer"}`, or "text", under [tables.visits.columns].',
        '`visit_id = {type = "integer"}`, or "text", under [tables.drugs.columns].',
        '`visit_id = {type = "integer"}`, or "text", under [tables.visits.columns].',
    ]
    types = 'columns.{0} = {{type = "integer"}}\n'.format
    whole = tables.replace("rows = 1\n", "rows = 1\n" + types("visit_id")).replace(
        "[tables.drugs]", types("patient_id") + "[tables.drugs]"
    )
    assert not check(policy_of(data=DATA.replace("hospital.duckdb", "text"), tables=whole), all_text)


LINK = TABLES + '[tables.drugs]\nunit = "visit_id -> visits.visit_id"\nrows = 1\n'
DRUGS = {"drugs": {"visit_id": Type.INTEGER}}


@pytest.mark.parametrize(
    ("tables", "schema", "line", "words"),
    [
        (TABLES, {"regions": SCHEMA["regions"]}, 15, "no table visits"),
        (TABLES, {"visit": SCHEMA["visits"], "regions": SCHEMA["regions"]}, 15, "Did you mean visit?"),
        (TABLES, {"visits": SCHEMA["visits"]}, 25, "no table regions"),
        (TABLES, changed("visits", patient_id=None), 16, "no column patient_id"),
        (TABLES, changed("visits", cost=None, costs=Type.REAL), 21, "Did you mean costs?"),
        (TABLES, changed("regions", region=None), 26, "no column region"),
        (TABLES, changed("visits", note=Type.INTEGER), 24, 'Write `type = "integer"`'),
        (TABLES, changed("visits", day=Type.TIMESTAMP), 23, "the source has type timestamp"),
        (TABLES, changed("visits", department=Type.INTEGER), 20, "Write the values as numbers"),
        (TABLES, changed("visits", department=Type.DATE), 20, "dates without quotes"),
        (TABLES, changed("visits", cost=Type.TEXT), 21, "no range"),
        (TABLES, changed("visits", cost=Type.BOOLEAN), 21, "no range"),
        (TABLES, changed("visits", cost=Type.DATE), 21, "dates"),
        (TABLES, changed("visits", age=Type.REAL), 22, "values = [...]"),
        (LINK, SCHEMA | {"drugs": {"visit": Type.INTEGER}}, 26, "Did you mean visit?"),
        (LINK, changed("visits", visit_id=None) | DRUGS, 26, "visits has no column visit_id"),
        (LINK, changed("visits", visit_id=Type.TEXT) | DRUGS, 26, "Link columns of one type"),
    ],
)
def test_a_difference_is_reported_with_its_line_and_the_remedy(policy_of, tables, schema, line, words):
    policy = policy_of(tables=tables)
    found = check(policy, schema)
    assert (line, True) in {(at, words in said) for at, said in found}, found
    with pytest.raises(PolicyError) as caught:
        with_schema(policy, schema)
    assert list(caught.value.problems) == found


def test_values_that_a_type_does_not_have_are_refused(policy_of):
    tables = (
        '[tables.visits]\nunit = "row"\ncolumns.age = {values = [1.5]}\ncolumns.cost = {values = [9007199254740993]}\n'
    )
    assert [line for line, _ in check(policy_of(tables=tables), SCHEMA)] == [17, 18]


def test_every_difference_is_reported_at_once(policy_of):
    found = check(policy_of(), {"visits": {"id": Type.INTEGER}})
    assert [line for line, _ in found] == [16, 20, 21, 22, 23, 24, 25]


@pytest.mark.parametrize("stored", ["DOUBLE", "FLOAT", "BLOB", "INTEGER[]", "STRUCT(a INTEGER)", "INTERVAL", "TIME"])
def test_a_column_whose_type_cannot_name_a_unit_is_named_with_it(policy_of, stored):
    queryable = {"patient_id": Type.REAL if stored in ("DOUBLE", "FLOAT") else None}
    ((line, words),) = check(policy_of(), changed("visits", **queryable), {"visits": {"Patient_ID": stored}})
    assert line is not None
    assert words.startswith(
        f"[tables.visits] unit: Patient_ID is of type {stored.partition('(')[0]}, which cannot name"
    )
    assert ("large ids that differ are equal as floats" in words) == (stored in ("DOUBLE", "FLOAT"))
    assert "Store the ids as integers or texts" in words


@pytest.mark.parametrize(("table", "column"), [("drugs", "visit_id"), ("visits", "visit_id")])
def test_both_ends_of_a_link_are_checked(policy_of, table, column):
    link = '[tables.drugs]\nunit = "visit_id -> visits.visit_id"\nrows = 1\n'
    schema = SCHEMA | {"drugs": {"visit_id": Type.INTEGER}}
    ((_, words),) = check(policy_of(tables=TABLES + link), schema, {table: {column: "DOUBLE"}})
    assert words.startswith("[tables.drugs] unit: visit_id is of type DOUBLE, which cannot name a unit")


def test_a_unit_of_csv_files_is_not_declared_as_real(policy_of):
    tables = '[tables.visits]\nunit = "patient_id"\nrows = 1\ncolumns.patient_id = {type = "real"}\n'
    policy = policy_of(data=DATA.replace("hospital.duckdb", "text"), tables=tables, public="")
    ((_, words),) = check(policy, {"visits": {"patient_id": Type.TEXT}})
    assert "patient_id is of type real, which cannot name a unit" in words
    assert 'Declare `type = "integer"` or `type = "text"`' in words

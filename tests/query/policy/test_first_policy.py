"""A skeleton names everything and decides nothing."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError, PolicyError
from discreet.frames import Type
from discreet.privacy import ZCDP, Relation
from discreet.query.policy.check import check, with_schema
from discreet.query.policy.declarations import SourceKind, UnitColumn, UnitIsRow, UnitLink
from discreet.query.policy.file import parse_policy
from discreet.query.policy.first_policy import skeleton
from tests.query.policy.policies import SCHEMA

DRUGS = {"drugs": {"visit_id": Type.INTEGER, "drug": Type.TEXT, "given": Type.TIMESTAMP, "paid": Type.BOOLEAN}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("skeleton")
    (place / "hospital.duckdb").touch()
    return place


def missing(text, folder):
    with pytest.raises(PolicyError) as caught:
        parse_policy(text, folder=folder)
    said = [re.match(r"(\[.*?\]): (\w+)", words) for _, words in caught.value.problems]
    return [(match[1], match[2]) for match in said]


def test_an_untouched_skeleton_lacks_precisely_what_nobody_but_the_curator_can_decide(folder):
    text = skeleton("hospital.duckdb", "patient_id", SCHEMA | DRUGS)
    assert missing(text, folder) == [
        ("[data]", "lineage"),
        ("[data]", "version"),
        ("[protect]", "unit"),
        ("[budget]", "notion"),
        ("[budget]", "rho"),
        ("[budget]", "delta"),
        ("[analysts]", "nobody"),
        ("[tables.visits]", "rows"),
        ("[tables.regions]", "unit"),
        ("[tables.drugs]", "unit"),
    ]


def test_a_skeleton_filled_in_is_a_policy(folder):
    text = skeleton("hospital.duckdb", "PATIENT_ID", SCHEMA | DRUGS)
    answers = [
        ('# lineage = "..."', 'lineage = "hospital"'),
        ('# version = "..."', 'version = "1"'),
        ('# unit = "PATIENT"', 'unit = "patient"'),
        ('# notion = "zcdp"', 'notion = "zcdp"'),
        ("# rho = ...", "rho = 0.5"),
        ("# delta = ...", "delta = 0"),
        ("# ana = {}", "ana = {}"),
        ("# rows = ...", "rows = 20"),
        ('# unit = "visit_id -> visits.visit_id"', 'unit = "visit_id -> visits.visit_id"'),
        ("[tables.regions", "[public.regions"),
        ("# cost = {min = ..., max = ...}", "cost = {min = 0, max = 500}"),
        ("# paid = {", "paid = {"),
        ('# department = {values = ["...", "..."]}', 'department = {values = ["surgery"]}'),
        ("# given = {min = ..., max = ...}", "given = {min = 2025-01-01, max = 2025-12-31}"),
    ]
    for question, answer in answers:
        assert question in text
        text = text.replace(question, answer)
    head, tail = text.split("\n[public.regions]\n")
    text = head + "\n[public.regions]\n" + tail.replace("rows = 20\n", "", 1)
    policy = parse_policy(text, folder=folder)
    assert check(policy, SCHEMA | DRUGS) == []
    assert policy.budget == ZCDP(policy.budget.rho, 0, relation=Relation.ADD_REMOVE)
    assert policy.tables["visits"].unit == UnitColumn("patient_id")
    assert policy.tables["drugs"].unit == UnitLink("visit_id", "visits", "visit_id")
    assert policy.tables["drugs"].columns["paid"].domain == (False, True)
    assert set(policy.public) == {"regions"}


def test_every_table_and_column_is_named_with_its_type():
    lines = skeleton("hospital.duckdb", "patient_id", SCHEMA | DRUGS).splitlines()
    for table, columns in (SCHEMA | DRUGS).items():
        start = lines.index(f"[tables.{table}.columns]")
        for offset, (column, kind) in enumerate(columns.items(), start=1):
            assert lines[start + offset].startswith(f"# {column} ")
            assert kind.value in lines[start + offset]


def test_csv_columns_are_asked_for_their_types():
    text = skeleton("folder", "patient_id", SCHEMA, kind=SourceKind.CSV)
    assert '# cost = {type = "..."}' in text
    assert "(integer)" not in text


def test_rows_can_be_the_units(folder):
    text = skeleton("hospital.duckdb", "row", SCHEMA)
    assert not any(place.startswith("[tables") for place, _ in missing(text, folder))


def test_a_unit_that_no_table_has_is_refused():
    with pytest.raises(ParameterError, match="no table has a column person"):
        skeleton("hospital.duckdb", "person", SCHEMA)
    with pytest.raises(ParameterError, match="no table"):
        skeleton("hospital.duckdb", "person", {})


names = st.text(
    st.characters(exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp", "Cn", "Co", "Cf")), min_size=1, max_size=6
)


@given(st.dictionaries(names, st.sampled_from(list(Type)), min_size=1, max_size=4), names, st.data())
def test_a_skeleton_of_any_names_says_what_the_schema_says(folder, columns, table, data):
    unit = data.draw(st.sampled_from(sorted(columns)))
    text = skeleton("hospital.duckdb", unit, {table: columns})
    for question, answer in [
        ('# lineage = "..."', 'lineage = "l"'),
        ('# version = "..."', 'version = "1"'),
        ("# notion =", "notion ="),
        ("# rho = ...", "rho = 1"),
        ("# delta = ...", "delta = 0"),
        ("# ana =", "ana ="),
        ("# rows = ...", "rows = 1"),
        ("[protect]", "[protect]\nunit = 'someone'"),
    ]:
        text = text.replace(question, answer, 1)
    policy = parse_policy(text, folder=folder)
    expected = UnitIsRow() if unit == "row" else UnitColumn(unit)
    assert policy.tables[table].unit == expected
    full = with_schema(policy, {table: columns})
    assert {name: column.type for name, column in full.tables[table].columns.items()} == columns


@given(st.dictionaries(st.text(max_size=6), st.dictionaries(st.text(max_size=6), st.sampled_from(list(Type)))))
def test_a_skeleton_of_hostile_names_is_toml(folder, schema):
    held = {name: columns | {"id": Type.INTEGER} for name, columns in schema.items()} | {"t": {"id": Type.INTEGER}}
    text = skeleton("hospital.duckdb", "id", held)
    with pytest.raises(PolicyError) as caught:
        parse_policy(text, folder=folder)
    assert not any(words.startswith("is no TOML") for _, words in caught.value.problems)


def test_the_type_of_ids_in_csv_files_is_a_question_too():
    text = skeleton("data", "person", {"t": {"person": Type.TEXT, "x": Type.TEXT}}, kind=SourceKind.CSV)
    assert '# person = {type = "..."}  # the unit of protection' in text

"""A policy file is read exactly, and every mistake in it is reported at once, with its line and the remedy."""

from __future__ import annotations

import copy
import pickle
from datetime import date, datetime
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import PolicyError
from discreet.frames import Type
from discreet.privacy import ZCDP, ApproxDP, PureDP, Relation
from discreet.query.policy.declarations import SourceKind, UnitColumn, UnitIsRow, UnitLimits, UnitLink
from discreet.query.policy.file import parse_policy, read_policy
from tests.query.policy.policies import ANALYSTS, BUDGET, DATA, PROTECT, PUBLIC, TABLES, policy_text


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("policy")
    (place / "hospital.duckdb").touch()
    (place / "one.parquet").touch()
    (place / "empty").mkdir()
    for name, file in (("tables", "visits.parquet"), ("deep/visits", "part-0.parquet"), ("text", "visits.csv")):
        (place / name).mkdir(parents=True)
        (place / name / file).touch()
    (place / "mixed").mkdir()
    (place / "mixed" / "a.csv").touch()
    (place / "mixed" / "b.PARQUET").touch()
    return place


def problems(text, folder):
    with pytest.raises(PolicyError) as caught:
        parse_policy(text, folder=folder)
    return caught.value.problems


def test_a_policy_says_what_its_file_says(folder):
    policy = parse_policy(policy_text(), folder=folder)
    assert (policy.lineage, policy.version, policy.unit) == ("hospital-2026", "2026-11-01", "patient")
    assert policy.source.kind is SourceKind.DUCKDB
    assert policy.source.path == folder / "hospital.duckdb"
    assert policy.ledger == folder / "ledger.sqlite"
    assert policy.anchor is None
    assert not policy.shared_answers
    assert policy.budget == ZCDP(Fraction(1, 2), Fraction(1, 10**7), relation=Relation.ADD_REMOVE)
    assert policy.analysts["ana"].cap is None
    assert policy.analysts["ben"].cap == ZCDP(Fraction(1, 8), Fraction(1, 4 * 10**7), relation=Relation.ADD_REMOVE)
    visits = policy.tables["visits"]
    assert visits.unit == UnitColumn("patient_id")
    assert visits.limits == UnitLimits(rows=20)
    assert visits.columns["department"].domain == ("surgery", "oncology")
    assert visits.columns["cost"].interval == (0, 500)
    assert visits.columns["cost"].domain is None
    assert visits.columns["age"].domain == tuple(range(121))
    assert visits.columns["day"].domain[-1] == date(2026, 12, 31)
    assert visits.columns["note"].type is Type.TEXT
    assert policy.public["regions"].unique == (frozenset({"region"}),)


def test_decimals_are_taken_as_they_are_written(folder):
    tables = '[tables.t]\nunit = "row"\ncolumns.x = {min = 0.1, max = 1_000.25e-1}\n'
    column = parse_policy(policy_text(tables=tables), folder=folder).tables["t"].columns["x"]
    assert (column.low, column.high) == (Fraction(1, 10), Fraction(100_025, 1000))


def test_a_public_size_makes_neighbors_change_one_unit(folder):
    policy = parse_policy(policy_text(tables=TABLES.replace("rows = 20", "rows = 20\npeople = 5000")), folder=folder)
    assert policy.relation is Relation.CHANGE_ONE
    assert policy.budget.relation is Relation.CHANGE_ONE
    assert policy.analysts["ben"].cap.relation is Relation.CHANGE_ONE


@pytest.mark.parametrize(
    ("written", "unit"),
    [
        ('"row"', UnitIsRow()),
        ('"patient id"', UnitColumn("patient id")),
        ("'\"row\"'", UnitColumn("row")),
        ("'\"a.b\"'", UnitColumn("a.b")),
        ('\'"say ""a"""\'', UnitColumn('say "a"')),
        ('"a-b"', UnitColumn("a-b")),
        ('"visit_id->VISITS.key"', UnitLink("visit_id", "visits", "key")),
        ('\'"x y" -> visits . "k.y"\'', UnitLink("x y", "visits", "k.y")),
    ],
)
def test_a_unit_is_a_row_a_column_or_a_link(folder, written, unit):
    bound = "" if unit == UnitIsRow() else "rows = 1\n"
    tables = f"{TABLES}[tables.drugs]\nunit = {written}\n{bound}"
    assert parse_policy(policy_text(tables=tables), folder=folder).tables["drugs"].unit == unit


def test_links_may_be_chained(folder):
    more = '[tables.a]\nunit = "x -> b.x"\nrows = 1\n[tables.b]\nunit = "y -> visits.y"\nrows = 1\n'
    policy = parse_policy(policy_text(tables=TABLES + more), folder=folder)
    assert policy.tables["a"].unit == UnitLink("x", "b", "x")


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        ('notion = "pure"\nepsilon = 1', PureDP(1)),
        ('notion = "approx"\nepsilon = 0.5\ndelta = 1e-6', ApproxDP(Fraction(1, 2), Fraction(1, 10**6))),
        ('notion = "zcdp"\nrho = 0.1\ndelta = 0', ZCDP(Fraction(1, 10), 0)),
    ],
)
def test_a_budget_is_exact_in_its_notion(folder, budget, expected):
    text = policy_text(budget=f'[budget]\n{budget}\nledger = "l"\n')
    assert parse_policy(text, folder=folder).budget == expected.under(Relation.ADD_REMOVE)


@pytest.mark.parametrize(
    ("written", "cap"),
    [
        ("{}", None),
        ("{rho = 0.1}", ZCDP(Fraction(1, 10), Fraction(1, 10**7))),
        ("{rho = 0.1, delta = 0}", ZCDP(Fraction(1, 10), 0)),
        ("{share = 1}", ZCDP(Fraction(1, 2), Fraction(1, 10**7))),
    ],
)
def test_a_cap_left_out_is_held_by_the_total(folder, written, cap):
    policy = parse_policy(policy_text(analysts=f"[analysts]\nana = {written}\n"), folder=folder)
    assert policy.analysts["ana"].cap == (None if cap is None else cap.under(Relation.ADD_REMOVE))


@pytest.mark.parametrize(
    ("written", "unique"),
    [
        ('"a"', [{"a"}]),
        ('["a", "b"]', [{"a", "b"}]),
        ('[["a"], ["b", "c"]]', [{"a"}, {"b", "c"}]),
    ],
)
def test_a_list_of_columns_is_one_key(folder, written, unique):
    policy = parse_policy(policy_text(public=f"[public.regions]\nunique = {written}\n"), folder=folder)
    assert policy.public["regions"].unique == tuple(frozenset(key) for key in unique)


@pytest.mark.parametrize(
    ("written", "type_", "values"),
    [
        ("{values = [1, 2]}", Type.INTEGER, (1, 2)),
        ("{values = [1, 2.5]}", Type.REAL, (1.0, 2.5)),
        ('{type = "real", values = [1, 2]}', Type.REAL, (1.0, 2.0)),
        ("{values = [true]}", Type.BOOLEAN, (True,)),
        ('{values = ["", "a"]}', Type.TEXT, ("", "a")),
        ("{values = [2026-01-01]}", Type.DATE, (date(2026, 1, 1),)),
        ("{values = [2026-01-01T10:00:00]}", Type.TIMESTAMP, (datetime(2026, 1, 1, 10),)),
        ('{type = "boolean", public = true}', Type.BOOLEAN, (False, True)),
        ("{min = 2026-01-01T00:00:00, max = 2026-01-02T00:00:00}", Type.TIMESTAMP, None),
        ("{min = 0.5, max = 2}", Type.REAL, None),
        ('{type = "integer", min = 0.5, max = 2.5}', Type.INTEGER, None),
    ],
)
def test_a_type_follows_from_what_is_declared(folder, written, type_, values):
    text = policy_text(tables=f'[tables.t]\nunit = "row"\ncolumns.x = {written}\n')
    column = parse_policy(text, folder=folder).tables["t"].columns["x"]
    assert column.type is type_
    assert column.domain == values
    assert values is None or [type(one) for one in column.domain] == [type(one) for one in values]


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("hospital.duckdb", SourceKind.DUCKDB),
        ("tables", SourceKind.PARQUET),
        ("deep", SourceKind.PARQUET),
        ("text", SourceKind.CSV),
    ],
)
def test_the_kind_of_a_source_is_seen_from_names(folder, source, kind):
    tables = '[tables.t]\nunit = "row"\n'
    text = policy_text(data=DATA.replace("hospital.duckdb", source), tables=tables)
    assert parse_policy(text, folder=folder).source.kind is kind


T = '[tables.t]\nunit = "row"\n[tables.t.columns]\n'
BAD = [
    # data, lines 1-4
    ("data", "", None, "source is missing"),
    ("data", DATA.replace('lineage = "hospital-2026"\n', ""), 1, "Add the line `lineage"),
    ("data", DATA.replace('version = "2026-11-01"\n', ""), 1, "version is missing"),
    ("data", DATA.replace('"2026-11-01"', "2026-11-01"), 4, "in quotes"),
    ("data", DATA.replace('"hospital-2026"', '" "'), 3, "empty"),
    ("data", DATA.replace("lineage", "linage"), 3, "Did you mean lineage?"),
    ("data", DATA + "rho = 1\n", 5, "belongs into [budget]"),
    ("data", DATA.replace("hospital.duckdb", "nowhere"), 2, "no such file"),
    ("data", DATA.replace("hospital.duckdb", "one.parquet"), 2, "Write the folder"),
    ("data", DATA.replace("hospital.duckdb", "empty"), 2, "without a .parquet"),
    ("data", DATA.replace("hospital.duckdb", "mixed"), 2, "both"),
    ("data", DATA.replace("hospital.duckdb", "a\\u0000b"), 2, "cannot be printed"),
    ("data", DATA.replace("hospital.duckdb", "x" * 900), 2, "Write the path"),
    # protect, lines 5-6
    ("protect", "", None, "Add the line `unit"),
    ("protect", "[protect]\nunit = 1\n", 6, "in quotes"),
    ("protect", "[protct]\nunit = 'x'\n", 5, "Did you mean protect?"),
    # budget, lines 7-11
    ("budget", "[budget]\nledger = 'l'\n", 7, "rho is missing"),
    ("budget", "[budget]\nledger = 'l'\n", 7, "notion is missing"),
    ("budget", BUDGET.replace('"zcdp"', '"zcpd"'), 8, "Did you mean zcdp?"),
    ("budget", BUDGET.replace("rho = 0.5", "rho = 0"), 9, "greater than 0"),
    ("budget", BUDGET.replace("rho = 0.5", "rho = -1"), 9, "greater than 0"),
    ("budget", BUDGET.replace("rho = 0.5", "rho = inf"), 9, "finite"),
    ("budget", BUDGET.replace("rho = 0.5", "rho = nan"), 9, "finite"),
    ("budget", BUDGET.replace("rho = 0.5", "rho = true"), 9, "not a truth value"),
    ("budget", BUDGET.replace("rho = 0.5", 'rho = "0.5"'), 9, "without quotes"),
    ("budget", BUDGET.replace("rho = 0.5", "rho = 1e400"), 9, "sensible size"),
    ("budget", BUDGET.replace("rho = 0.5", "rho = 1e99999999999999999999"), 9, "finite"),
    ("budget", BUDGET.replace("rho = 0.5", "rho = 20_000"), 9, "protects nobody"),
    ("budget", BUDGET.replace("rho = 0.5", "rho = 0.5\nepsilon = 1"), 10, "both given"),
    ("budget", BUDGET.replace("delta = 1e-7\n", ""), 7, "delta is missing"),
    ("budget", BUDGET.replace("1e-7", "1"), 10, "less than 1"),
    ("budget", BUDGET.replace("1e-7", "-1e-7"), 10, "at least 0"),
    ("budget", BUDGET.replace('"zcdp"', '"pure"').replace("rho", "epsilon"), 10, "no delta"),
    ("budget", BUDGET.replace('"zcdp"', '"approx"'), 9, "write `epsilon"),
    ("budget", BUDGET.replace('"zcdp"', '"approx"').replace("rho", "epsilon").replace("1e-7", "0"), 10, "pure"),
    ("budget", BUDGET.replace("rho", "epsilon").replace("0.5", "1e-200").replace("1e-7", "1e-290"), 9, "write rho"),
    ("budget", BUDGET.replace('ledger = "ledger.sqlite"\n', ""), 7, "ledger is missing"),
    ("budget", BUDGET.replace("ledger.sqlite", "empty"), 11, "is a folder"),
    ("budget", BUDGET.replace("ledger.sqlite", "no/where.sqlite"), 11, "Make the folder"),
    ("budget", BUDGET.replace("ledger.sqlite", "empty/../hospital.duckdb"), 11, "the data itself"),
    ("budget", BUDGET + 'anchor = "ledger.sqlite"\n', 12, "the ledger itself"),
    ("budget", BUDGET + "shared_answers = 1\n", 12, "true or false"),
    ("budget", "budget = 3\n", None, "must be a section"),
    # analysts, lines 12-14
    ("analysts", "", None, "nobody may ask"),
    ("analysts", "[analysts]\nana = 0.25\n", 13, "ana = {share = 0.25}"),
    ("analysts", "[analysts]\n'' = {}\n", 13, "empty"),
    ("analysts", "[analysts]\nana = {}\nAna = {}\n", 14, "only in case"),
    ("analysts", "[analysts]\nana = {share = 0}\n", 13, "at most 1"),
    ("analysts", "[analysts]\nana = {share = 1.5}\n", 13, "at most 1"),
    ("analysts", "[analysts]\nana = {share = true}\n", 13, "truth value"),
    ("analysts", "[analysts]\nana = {shares = 1}\n", 13, "Did you mean share?"),
    ("analysts", "[analysts]\nana = {share = 0.5, rho = 0.1}\n", 13, "Keep share alone"),
    ("analysts", "[analysts]\nana = {delta = 0.1}\n", 13, "states no cap"),
    ("analysts", "[analysts]\nana = {rho = 0.6}\n", 13, "larger than the budget"),
    ("analysts", "[analysts]\nana = {epsilon = 0.1}\n", 13, "delta is missing"),
    # tables, from line 15
    ("tables", "", None, "no private table"),
    ("tables", "[tables]\nvisits = 3\n", 16, "must be a table"),
    ("tables", "[[tables.visits]]\nunit = 'row'\n", 15, "must be a table"),
    ("tables", "[tables.t]\n", 15, "unit is missing"),
    ("tables", "[tables.t]\nunit = 'p'\n", 15, "Add the line `rows"),
    ("tables", "[tables.t]\nunit = 'p'\nrows = 0\n", 17, "at least 1"),
    ("tables", "[tables.t]\nunit = 'p'\nrows = 2.0\n", 17, "whole number"),
    ("tables", "[tables.t]\nunit = 'p'\nrows = true\n", 17, "whole number"),
    ("tables", "[tables.t]\nunit = 'p'\nrows = 10_000_000_000\n", 17, "smaller number"),
    ("tables", "[tables.t]\nunit = 'p'\nrows = 0x" + "f" * 5000 + "\n", 17, "smaller number"),
    ("tables", "[tables.t]\nunit = 'p'\ngroups = 5\n", 15, "rows_per_group is missing"),
    ("tables", "[tables.t]\nunit = 'p'\nrows_per_group = 5\n", 15, "groups is missing"),
    ("tables", "[tables.t]\nunit = 'p'\ngroups = 100_000\nrows_per_group = 100_000\n", 17, "smaller numbers"),
    ("tables", "[tables.t]\nunit = 'row'\nrows = 3\n", 17, "Remove the line"),
    ("tables", "[tables.t]\nunit = 'row'\npeople = 0\n", 17, "at least 1"),
    ("tables", "[tables.t]\nunit = 'row'\nsize = 5\n", 17, "size"),
    ("tables", "[tables.t]\nunit = 'a.b'\nrows = 3\n", 16, "not understood"),
    ("tables", "[tables.t]\nunit = 'a -> b'\nrows = 3\n", 16, "not understood"),
    ("tables", "[tables.t]\nunit = 'a -> b.c -> d.e'\nrows = 3\n", 16, "one step"),
    ("tables", "[tables.t]\nunit = 'a -> t.c'\nrows = 3\n", 16, "circle"),
    ("tables", "[tables.t]\nunit = 'a -> u.c'\nrows = 3\n[tables.u]\nunit = 'a -> t.c'\nrows = 1\n", 16, "circle"),
    ("tables", "[tables.t]\nunit = 'a -> tt.c'\nrows = 3\n", 16, "not a table of this policy"),
    ("tables", "[tables.t]\nunit = 'a -> regions.c'\nrows = 3\n", 16, "a public table"),
    ("tables", "[tables.t]\nunit = 'row'\n[tables.T]\nunit = 'row'\n", 17, "only in case"),
    ("tables", "[tables.regions]\nunit = 'row'\n", 17, "also a private table"),
    ("tables", "[tables.t]\nunit = 'row'\nunits = 1\n", 17, "Did you mean unit?"),
    ("tables", "[tables.t]\nunit = 'row'\ncolumns = 3\n", 17, "must be a section"),
    ("tables", T + "x = {}\n", 18, "says nothing"),
    ("tables", T + "x = 3\n", 18, "must be a table"),
    ("tables", T + "x = {public = true}\n", 18, "which keys are public?"),
    ("tables", T + "x = {type = 'integer', public = true}\n", 18, "Add min and max"),
    ("tables", T + "x = {type = 'int'}\n", 18, "Did you mean integer?"),
    ("tables", T + "x = {type = 'bool'}\n", 18, "Did you mean boolean?"),
    ("tables", T + "x = {type = 3}\n", 18, "in quotes"),
    ("tables", T + "x = {min = 0}\n", 18, "max is missing"),
    ("tables", T + "x = {max = 0}\n", 18, "min is missing"),
    ("tables", T + "x = {min = 3, max = 3}\n", 18, "less than max"),
    ("tables", T + "x = {min = 0, max = inf}\n", 18, "finite"),
    ("tables", T + "x = {min = 0, max = true}\n", 18, "truth value"),
    ("tables", T + "x = {min = 0, max = 9223372036854775808}\n", 18, "64-bit"),
    ("tables", T + "x = {min = 0, max = 2026-01-01}\n", 18, "different types"),
    ("tables", T + 'x = {min = "a", max = "b"}\n', 18, "not be in quotes"),
    ("tables", T + "x = {min = 10:00:00, max = 11:00:00}\n", 18, "not a date or a time"),
    ("tables", T + "x = {min = 2026-01-01T00:00:00Z, max = 2026-01-02T00:00:00Z}\n", 18, "time zone"),
    ("tables", T + "x = {type = 'text', min = 0, max = 1}\n", 18, "no range"),
    ("tables", T + "x = {type = 'date', min = 0, max = 1}\n", 18, "dates without quotes"),
    ("tables", T + "x = {type = 'integer', min = 2026-01-01, max = 2026-01-02}\n", 18, "as numbers"),
    ("tables", T + "x = {type = 'timestamp', min = 1, max = 2}\n", 18, "dates, or times without a zone"),
    ("tables", T + "x = {type = 'real', min = 0, max = 1, public = true}\n", 18, "values = [...]"),
    ("tables", T + "x = {min = 0.5, max = 1.5, type = 'integer', public = true}\n", 18, "whole numbers"),
    ("tables", T + "x = {min = 0, max = 100_000, public = true}\n", 18, "Narrow it"),
    ("tables", T + "x = {min = 0001-01-01, max = 9999-12-31, public = true}\n", 18, "Narrow it"),
    ("tables", T + "x = {values = []}\n", 18, "is empty"),
    ("tables", T + "x = {values = 'a'}\n", 18, "must be a list"),
    ("tables", T + "x = {values = ['a',\n 'a']}\n", 19, "twice"),
    ("tables", T + "x = {values = [1, 1.0]}\n", 18, "twice"),
    ("tables", T + "x = {values = ['a', 1]}\n", 18, "mixes integer and text"),
    ("tables", T + "x = {values = [true, 1]}\n", 18, "mixes"),
    ("tables", T + "x = {values = [1.0,\nnan]}\n", 19, "finite"),
    ("tables", T + "x = {values = [9223372036854775808]}\n", 18, "64-bit"),
    ("tables", T + "x = {values = [['a']]}\n", 18, "cannot be a list"),
    ("tables", T + 'x = {values = ["a\\u0000"]}\n', 18, "zero character"),
    ("tables", T + "x = {values = [2026-01-01T00:00:00Z]}\n", 18, "with a zone"),
    ("tables", T + "x = {values = ['a'], public = false}\n", 18, "Remove one"),
    ("tables", T + "x = {values = [1, 9], min = 0, max = 5}\n", 18, "outside min and max"),
    ("tables", T + "x = {values = [1.5], type = 'integer'}\n", 18, "type integer"),
    ("tables", T + "x = {lower = 0, upper = 3}\n", 18, "Known here: type, values, min"),
    ("tables", T + "'Ä' = {type = 'text'}\n'ä' = {type = 'text'}\n", 19, "only in case"),
    ("tables", T + "' x' = {type = 'text'}\n", 18, "space"),
    # public, from line 25
    ("public", "[public.r]\nunique = 3\n", 26, "must name columns"),
    ("public", "[public.r]\nunique = []\n", 26, "Remove the line"),
    ("public", "[public.r]\nunique = [['a'], 'b']\n", 26, "a list of names"),
    ("public", "[public.r]\nunique = ['a', 'A']\n", 26, "twice"),
    ("public", "[public.r]\nunique = [['a'], ['a']]\n", 26, "listed twice"),
    ("public", "[public.r]\nunit = 'a'\n", 26, "unknown key"),
    ("public", PUBLIC + "[extra]\n", 27, "no such section"),
]


@pytest.mark.parametrize(("part", "text", "line", "words"), BAD)
def test_a_mistake_is_reported_with_its_line_and_the_remedy(folder, part, text, line, words):
    if part == "budget" and text.startswith("budget"):
        whole = text + policy_text(budget="")
        line = 1
    else:
        whole = policy_text(**{part: text})
    found = problems(whole, folder)
    assert (line, True) in {(at, words in said) for at, said in found}, found


def test_every_mistake_is_reported_at_once(folder):
    bad = [
        ("data", DATA.replace("lineage", "linage")),
        ("protect", "[protect]\n"),
        ("budget", BUDGET.replace("0.5", "0")),
        ("analysts", "[analysts]\nana = {share = 3}\n"),
        ("tables", T + "x = {min = 1, max = 0}\ny = {values = []}\n"),
        ("public", "[public.r]\nunique = 1\n"),
    ]
    found = problems(policy_text(**dict(bad)), folder)
    assert len(found) == 8
    lines = [line for line, _ in found]
    assert lines == sorted(lines)


def test_csv_columns_need_a_type(folder):
    text = policy_text(data=DATA.replace("hospital.duckdb", "text"))
    assert parse_policy(text, folder=folder).tables  # ranges and values tell the types
    found = problems(text.replace("cost = {min = 0, max = 500}", "cost = {public = true}"), folder)
    assert [line for line, words in found if "type is missing" in words]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("", None, "is empty"),
        ("\n \n", None, "is empty"),
        ("[data]\nsource = hospital", 2, "quotes"),
        ("[data]\nsource = 'a'\nsource = 'b'", 3, "once"),
        ("[data", 1, "is not TOML"),
        ("a = " + "9" * 5_000, None, "smaller"),
        ("a = 2026-02-30", 1, "TOML"),
        ("a = '\ud800'", None, "half a character"),
        ("\ufeff[data]", 1, "TOML"),
    ],
)
def test_a_text_that_is_no_toml_is_refused_in_words(tmp_path, text, line, words):
    found = problems(text, tmp_path)
    assert len(found) == 1
    assert found[0][0] == line
    assert words in found[0][1]


def test_a_text_of_brackets_is_refused(tmp_path):
    assert len(problems("a = " + "[" * 20_000, tmp_path)) == 1


@pytest.mark.parametrize(
    ("content", "line", "words"),
    [
        (b"\xef\xbb\xbf[data]\n", None, "byte order mark"),
        ("[data]\n".encode("utf-16"), None, "byte order mark"),
        (b"[data]\nlineage = '\xe9'\n", 2, "not UTF-8"),
        (b"", None, "is empty"),
    ],
)
def test_a_file_that_is_no_utf8_is_refused_in_words(tmp_path, content, line, words):
    (tmp_path / "policy.toml").write_bytes(content)
    with pytest.raises(PolicyError, match=words) as caught:
        read_policy(tmp_path / "policy.toml")
    assert caught.value.problems[0][0] == line


def test_the_mistakes_of_a_policy_can_be_sent_to_another_process(folder):
    with pytest.raises(PolicyError) as caught:
        parse_policy("[data]\nsorce = 1\n", folder=folder, file="hospital.toml")
    for again in (pickle.loads(pickle.dumps(caught.value)), copy.copy(caught.value)):  # noqa: S301 (our own bytes)
        assert (str(again), again.problems, again.file) == (str(caught.value), caught.value.problems, "hospital.toml")
    assert "hospital.toml, line 2" in str(again)


def test_a_folder_and_a_missing_file_are_refused_in_words(tmp_path):
    with pytest.raises(PolicyError, match="is a folder"):
        read_policy(tmp_path)
    with pytest.raises(PolicyError, match="no such file"):
        read_policy(tmp_path / "policy.toml")
    (tmp_path / "large.toml").write_bytes(b"#" * (2**24 + 1))
    with pytest.raises(PolicyError, match="larger than 16 MiB"):
        read_policy(tmp_path / "large.toml")


def test_a_file_with_windows_line_ends_keeps_its_lines(folder):
    text = policy_text(budget=BUDGET.replace("0.5", "0")).replace("\n", "\r\n")
    assert [line for line, _ in problems(text, folder)] == [9]


def test_paths_are_relative_to_the_policy_file(folder, monkeypatch):
    (folder / "policy.toml").write_text(policy_text(), encoding="utf-8")
    monkeypatch.chdir(folder)
    policy = read_policy("policy.toml")
    assert policy.source.path == folder / "hospital.duckdb"
    assert policy.file == "policy.toml"


fragments = st.sampled_from(
    [
        *policy_text().splitlines(),
        "[tables.visits]",
        "[[tables]]",
        "[public.visits.columns]",
        "unit = 'a -> visits.b'",
        "unit = '\"'",
        "rows = -0.0",
        "x = {min = -1e300, max = 1e300, public = true}",
        "x = {values = [[], {}]}",
        "tables.visits = []",
        "columns = {x = {values = [1e-300, 0.0, -0.0]}}",
        "epsilon = 1e-300",
        'notion = "approx"',
        "[analysts.ana]",
        "unique = [[]]",
    ]
)


def outcome(text: str, folder) -> PolicyError | None:
    """Return what a text is refused with; anything but a PolicyError goes through and fails the test."""
    try:
        parse_policy(text, folder=folder)
    except PolicyError as problem:
        return problem
    return None


@given(st.lists(fragments | st.text(max_size=12), max_size=30))
def test_any_text_is_a_policy_or_a_policy_error(folder, lines):
    problem = outcome("\n".join(lines), folder)
    assert problem is None or problem.problems
    assert problem is None or all(words and words[-1] in ".?" for _, words in problem.problems)


@given(st.data())
def test_a_policy_with_a_part_replaced_by_anything_is_a_policy_or_a_policy_error(folder, data):
    lines = policy_text().splitlines()
    position = data.draw(st.integers(0, len(lines) - 1))
    key = lines[position].split("=")[0] if "=" in lines[position] else ""
    anything = st.sampled_from(["[]", "{}", "''", "0", "-1", "1e9", "nan", "true", "2026-01-01", "{x = 1}", "['a']"])
    lines[position] = f"{key}= {data.draw(anything)}" if key else data.draw(st.text(max_size=8))
    problem = outcome("\n".join(lines), folder)
    assert problem is None or str(problem)


def test_the_parts_of_a_policy_are_where_the_table_of_mistakes_thinks():
    assert [text.count("\n") for text in (DATA, PROTECT, BUDGET, ANALYSTS)] == [4, 2, 5, 3]
    assert TABLES.count("\n") == 10

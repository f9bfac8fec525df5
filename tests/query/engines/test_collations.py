"""Columns of a DuckDB file with a collation: they name no unit, and every other use of them is by what is stored."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
from click.testing import CliRunner

from discreet.cli.curating.check import check
from discreet.errors import PolicyError
from discreet.frames import Type
from discreet.privacy import PureDP
from discreet.query import Session
from discreet.query.engines.duckdb.engine import DuckDBEngine
from discreet.query.expression.typing_rules import column
from discreet.query.plan.query_plan import Key
from discreet.query.plan.request import EachRow, One, SumRequest
from discreet.query.plan.row_sources import Scan
from discreet.query.policy.file import read_policy

POLICY = """[data]
source = "people.duckdb"
lineage = "people"
version = "1"
[protect]
unit = "person"
[budget]
notion = "pure"
epsilon = 1000
ledger = "ledger.sqlite"
[analysts]
ana = {}
"""
TABLE = '[tables.%s]\nunit = "%s"\nrows = 1\ngroups = 1\nrows_per_group = 1\n'
ALIKE = ("Ana", "ana", "ANA")
REFUSED = {
    "nocase": "p VARCHAR COLLATE NOCASE",
    "noaccent": "p VARCHAR COLLATE NOACCENT",
    "nfc": "p VARCHAR COLLATE NFC",
    "nocase.noaccent": "p VARCHAR COLLATE NOCASE.NOACCENT",
    "de": "p VARCHAR COLLATE de",
}
EXPRESSIONS = (
    "n", "s COLLATE NOCASE", "lower(n)", "n || s", "coalesce(s, n)", "{'a': n}.a", "[n][1]", "n::VARCHAR", "trim(n)",
    "max(n) OVER ()", "CASE WHEN s = 'x' THEN n ELSE s END", "(SELECT max(n) FROM base)", "unnest([n, s])",
    "CAST(n AS VARCHAR(9))", "concat(s, n)", "n COLLATE \"C\" COLLATE NOACCENT",
)  # fmt: skip
FINE = ("s", 's COLLATE "C"', 'n COLLATE "C"', 'lower(n) COLLATE "C"', "s COLLATE POSIX", 's COLLATE "binary"')


def policy_with(folder: Path, *statements: str, tables: str = TABLE % ("t", "p")) -> Path:
    with duckdb.connect(folder / "people.duckdb") as connection:
        for statement in statements:
            connection.execute(statement)
    (folder / "policy.toml").write_text(POLICY + tables)
    return folder / "policy.toml"


def refusal(policy: Path) -> str:
    """Return the words by which opening refuses; `discreet check` refuses too."""
    with pytest.raises(PolicyError) as told:
        Session.open(policy, analyst="ana")
    ((_, words),) = told.value.problems
    shown = CliRunner().invoke(check, [str(policy), "--json"])
    assert shown.exit_code == 1
    assert "has the collation" in shown.output
    assert not (policy.parent / "ledger.sqlite").exists()
    return words


@pytest.mark.parametrize("name", list(REFUSED))
def test_a_unit_with_a_collation_is_refused_by_its_name_whatever_it_holds(tmp_path: Path, name: str) -> None:
    told = set()
    for folder, rows in (("empty", ()), ("full", ALIKE)):
        (tmp_path / folder).mkdir()
        texts = [f"INSERT INTO t VALUES ('{row}', 'x')" for row in rows]  # noqa: S608
        told.add(refusal(policy_with(tmp_path / folder, f"CREATE TABLE t({REFUSED[name]}, k VARCHAR)", *texts)))
    (words,) = told
    assert words.startswith(f"[tables.t] unit: p has the collation {name.lower()}, which cannot name a unit")
    assert "Store the ids without a collation" in words
    assert ('lower(p) COLLATE "C"' in words) is (name == "nocase")


@pytest.mark.parametrize("end", ["link", "key", "person"])
def test_no_end_of_a_link_and_no_unit_behind_it_has_a_collation(tmp_path: Path, end: str) -> None:
    kinds = {one: " COLLATE NOCASE" if one == end else "" for one in ("link", "key", "person")}
    policy = policy_with(
        tmp_path,
        f"CREATE TABLE visits(link VARCHAR{kinds['link']})",
        f"CREATE TABLE people(key VARCHAR{kinds['key']}, person VARCHAR{kinds['person']})",
        tables=TABLE % ("visits", "link -> people.key") + TABLE % ("people", "person"),
    )
    assert f"{end} has the collation nocase" in refusal(policy)


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_collation_inside_an_expression_of_a_view_is_found(tmp_path: Path, expression: str) -> None:
    base = "CREATE TABLE base(n VARCHAR COLLATE NOCASE, s VARCHAR)"
    view = f"CREATE VIEW t AS SELECT 'COLLATE, (' AS \"p VARCHAR, c0 VARCHAR\", {expression} AS p FROM base"  # noqa: S608
    assert "p has the collation no" in refusal(policy_with(tmp_path, base, view))


@pytest.mark.parametrize("order", ["n, s", "s, n"])
def test_a_collation_of_one_part_of_a_union_is_found(tmp_path: Path, order: str) -> None:
    one, two = order.split(", ")
    base = "CREATE TABLE base(n VARCHAR COLLATE NOCASE, s VARCHAR)"
    view = f"CREATE VIEW t AS SELECT {one} AS p FROM base UNION ALL SELECT {two} FROM base"  # noqa: S608
    assert "p has the collation nocase" in refusal(policy_with(tmp_path, base, view))


@pytest.mark.parametrize("expression", FINE)
def test_a_unit_that_is_compared_by_its_bytes_is_read(tmp_path: Path, expression: str) -> None:
    policy = policy_with(
        tmp_path,
        "CREATE TABLE base(n VARCHAR COLLATE NOCASE, s VARCHAR)",
        *(f"INSERT INTO base VALUES ('{one}', '{one}')" for one in ALIKE),  # noqa: S608
        f"CREATE VIEW t AS SELECT {expression} AS p, n AS other FROM base",  # noqa: S608
    )
    people = 1 if "lower" in expression else 3
    with Session.open(policy, analyst="ana") as session, session.grant("t", ["other"], PureDP(1)) as rows:
        assert len(set(rows["unit"].tolist())) == people


def test_no_row_is_read_to_find_collations(tmp_path: Path) -> None:
    view = "CREATE VIEW t AS SELECT CASE WHEN p = 'x' THEN error('read') ELSE p END AS p, k FROM base"
    policy = policy_with(
        tmp_path, "CREATE TABLE base(p VARCHAR, k VARCHAR)", "INSERT INTO base VALUES ('x', 'y')", view
    )
    Session.open(policy, analyst="ana").close()


@pytest.mark.parametrize("domain", [None, ("Ana", "ana", "x")])
def test_keys_with_a_collation_are_grouped_as_those_without(tmp_path: Path, domain: tuple[str, ...] | None) -> None:
    found = {}
    for collation in ("", "COLLATE NOCASE"):
        policy = policy_with(
            tmp_path,
            f"CREATE OR REPLACE TABLE t(p INTEGER, k VARCHAR {collation})",
            *(f"INSERT INTO t VALUES ({place}, '{one}')" for place, one in enumerate(ALIKE)),  # noqa: S608
            tables='[tables.t]\nunit = "row"\n',
        )
        engine = DuckDBEngine(read_policy(policy), threads=1)
        sums = engine.run(SumRequest(Scan("t"), (Key("k", column("k", Type.TEXT), domain),), EachRow(), (One(),)))
        found[collation] = dict(zip(sums.keys, sums.cells[0], strict=True))
        engine.close()
    assert found[""] == found["COLLATE NOCASE"]
    assert {found[""][one,] for one in ("Ana", "ana")} == {1}

"""`init` and `check`: a policy from the schema alone, and every mistake with its line."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from discreet.cli.curating.check import declared
from discreet.query.policy.file import read_policy
from tests.cli.program import POLICY, clinic, leaks, run


def test_init_writes_a_policy_that_check_then_finds_unfinished(tmp_path: Path) -> None:
    clinic(tmp_path)
    target = tmp_path / "new.toml"
    result = run("init", tmp_path / "clinic.duckdb", "--unit", "patient_id", "--output", target)
    assert result.exit_code == 0, result.output
    text = target.read_text(encoding="utf-8")
    assert 'source = "clinic.duckdb"' in text
    assert 'unit = "patient_id"' in text
    assert all(column in text for column in ("ward", "illness", "cost", "name"))
    assert leaks(text, result.output) == []
    assert run("check", target).exit_code == 1


def test_init_reads_the_schema_and_no_row(tmp_path: Path) -> None:
    clinic(tmp_path)
    full, empty = (tmp_path / name for name in ("full.toml", "empty.toml"))
    run("init", tmp_path / "clinic.duckdb", "--unit", "patient_id", "--output", full)
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute("DELETE FROM visits")
    run("init", tmp_path / "clinic.duckdb", "--unit", "patient_id", "--output", empty)
    assert full.read_text(encoding="utf-8") == empty.read_text(encoding="utf-8")


@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_init_takes_folders_of_files(tmp_path: Path, ending: str) -> None:
    (tmp_path / "data" / "parts").mkdir(parents=True)
    with duckdb.connect() as connection:
        for name in ("visits", "parts/one", "parts/two"):
            connection.execute(f"COPY (SELECT 1 AS person, 2.5 AS cost) TO '{tmp_path}/data/{name}.{ending}'")
    target = tmp_path / "policy.toml"
    result = run("init", tmp_path / "data", "--unit", "person", "--output", target)
    assert result.exit_code == 0, result.output
    text = target.read_text(encoding="utf-8")
    assert "[tables.visits]" in text
    assert "[tables.parts]" in text
    assert 'source = "data"' in text


def test_init_never_overwrites_a_policy(tmp_path: Path) -> None:
    policy = clinic(tmp_path)
    result = run("init", tmp_path / "clinic.duckdb", "--unit", "patient_id", "--output", policy)
    assert result.exit_code == 2
    assert "not overwritten" in result.stderr
    assert policy.read_text(encoding="utf-8") == POLICY


def test_init_names_what_is_wrong_with_a_source_or_a_unit(tmp_path: Path) -> None:
    clinic(tmp_path)
    (tmp_path / "broken.duckdb").write_bytes(b"no database" * 1000)
    target = tmp_path / "new.toml"
    for source, unit, words in (
        (tmp_path / "nowhere", "x", "no such file"),
        (tmp_path / "broken.duckdb", "x", "cannot be opened"),
        (tmp_path / "clinic.duckdb", "nobody", "no table has a column nobody"),
    ):
        result = run("init", source, "--unit", unit, "--output", target)
        assert (result.exit_code, words in result.stderr) == (2, True), result.stderr
        assert not target.exists()
    assert run("init", tmp_path / "clinic.duckdb").exit_code == 2, "the unit is never guessed"


def test_check_says_what_a_policy_declares_and_where_it_is_sharp(tmp_path: Path) -> None:
    policy = clinic(tmp_path)
    result = run("check", policy)
    assert result.exit_code == 0, result.output
    text = " ".join(result.stdout.split())
    for words in ("is in order", "visits", "patient_id", "4 rows", "ward", "epsilon 4, delta 1e-06", "ana", "anchor"):
        assert words in text
    assert leaks(result.output) == []
    assert read_policy(policy).unit == "patient"


def test_check_shows_ranges_of_dates_too(tmp_path: Path) -> None:
    policy = clinic(tmp_path, POLICY + "admitted = {min = 2026-01-01, max = 2026-12-31}\n")
    row = next(row for row in declared(read_policy(policy)).rows if row[0] == "visits")
    assert "admitted" in str(row[3])


def test_check_lists_every_mistake_with_its_line_and_exits_with_one(tmp_path: Path) -> None:
    policy = clinic(tmp_path, POLICY.replace("epsilon = 4", "epsilon = -4").replace("rows = 4\n", "rows = 0\n"))
    result = run("check", policy)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "2 mistakes" in result.stderr
    assert "line 11" in result.stderr
    assert "line 20" in result.stderr
    assert "Traceback" not in result.output


def test_check_compares_names_with_the_source(tmp_path: Path) -> None:
    result = run("check", clinic(tmp_path, POLICY.replace("ward =", "wart =")))
    assert result.exit_code == 1
    assert "wart" in result.stderr
    assert "Did you mean ward?" in result.stderr


def test_check_in_json_lists_mistakes_or_what_is_declared(tmp_path: Path) -> None:
    policy = clinic(tmp_path)
    good = run("check", policy, "--json")
    assert json.loads(good.stdout)["ok"] is True
    policy.write_text(POLICY.replace('unit = "patient"\n', ""), encoding="utf-8")
    bad = run("check", policy, "--json")
    assert bad.exit_code == 1
    found = json.loads(bad.stdout)
    assert found["ok"] is False
    assert found["problems"][0]["line"] == 6
    assert "unit is missing" in found["problems"][0]["problem"]


def test_check_finds_a_public_key_that_is_not_unique(tmp_path: Path) -> None:
    policy = clinic(tmp_path, f'{POLICY}\n[public.wards]\nunique = ["ward"]\n')
    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute("CREATE TABLE wards AS SELECT unnest(['north', 'south', 'south']) AS ward")
    result = run("check", policy)
    assert result.exit_code == 1
    assert "two rows agree on ward" in result.stderr
    assert "line 29" in result.stderr


def test_check_finds_a_budget_that_the_ledger_does_not_know(tmp_path: Path) -> None:
    policy = clinic(tmp_path)
    assert run("budget", "--policy", policy).exit_code == 0
    policy.write_text(POLICY.replace("epsilon = 4", "epsilon = 40"), encoding="utf-8")
    result = run("check", policy)
    assert result.exit_code == 1
    assert "discreet ledger amend" in result.stderr


CSV_POLICY = POLICY.replace('source = "clinic.duckdb"', 'source = "data"').split("[tables.visits]")[0]
CSV_TABLE = """[tables.visits]
unit = "patient_id"
rows = 4

[tables.visits.columns]
patient_id = {type = "integer"}
cost = {type = "real", min = 0, max = 500}
"""


def clinic_in_csv(folder: Path, content: bytes, csv: str = "") -> Path:
    (folder / "data").mkdir()
    (folder / "data" / "visits.csv").write_bytes(content)
    policy = folder / "policy.toml"
    policy.write_text(f"{CSV_POLICY}{csv}\n{CSV_TABLE}", encoding="utf-8")
    return policy


def test_check_refuses_a_csv_file_with_the_record_and_asking_with_the_file_only(tmp_path: Path) -> None:
    policy = clinic_in_csv(tmp_path, b'patient_id,note,cost\n1,"a\nb",2\n4711,"secret,3\n')
    result = run("check", policy)
    assert result.exit_code == 1
    assert "nothing was spent" in result.stderr
    assert "the CSV file 'visits.csv': record 3, on line 4: a quote is opened and never closed." in result.stderr
    found = json.loads(run("check", policy, "--json").stdout)
    assert "record 3, on line 4" in found["problems"][0]["problem"]
    asked = run("ask", "SELECT COUNT(*) FROM visits", "--policy", policy, "--epsilon", 1)
    assert asked.exit_code == 1
    assert "'visits.csv' of 'visits' cannot be read as it is declared" in asked.stderr
    assert "record" not in asked.stderr.replace("visits.csv", "")
    for text in (result.output, asked.output):
        assert "4711" not in text
        assert "secret" not in text
    assert not (tmp_path / "ledger.sqlite").exists()


def test_check_converts_anew_what_asking_then_reads(tmp_path: Path) -> None:
    policy = clinic_in_csv(tmp_path, b"patient_id,note,cost\n1,a,2\n")
    assert run("check", policy).exit_code == 0
    question = ("ask", "SELECT COUNT(*) FROM visits", "--policy", policy, "--epsilon", 1)
    assert run(*question).exit_code == 0
    (tmp_path / "data" / "visits.csv").write_bytes(b"patient_id,note,cost\n1,a,2\n2,b,3\n")
    refused = run(*question)
    assert refused.exit_code == 1
    assert "discreet check" in refused.stderr
    assert run("check", policy).exit_code == 0
    assert run(*question).exit_code == 0


def test_init_takes_how_csv_files_are_written(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "visits.csv").write_bytes("patient_id\tcost\tStraße\n1\t2,5\tx\n".encode("cp1252"))
    target = tmp_path / "policy.toml"
    stated = ("--delimiter", "\\t", "--decimal", ",", "--encoding", "windows-1252")
    result = run("init", tmp_path / "data", "--unit", "patient_id", "--output", target, *stated)
    assert result.exit_code == 0, result.output
    text = target.read_text(encoding="utf-8")
    assert "[data.csv]" in text
    for line in ('delimiter = "\\u0009"', '# quote = "\\""', 'decimal = ","', 'encoding = "cp1252"'):
        assert f"\n{line}\n" in text
    assert "Straße" in text
    clinic(tmp_path)
    for source, option, words in (
        (tmp_path / "data", ("--delimiter", "ab"), "one character"),
        (tmp_path / "clinic.duckdb", ("--delimiter", ";"), "holds no CSV files"),
    ):
        bad = run("init", source, "--unit", "patient_id", "--output", tmp_path / "more.toml", *option)
        assert (bad.exit_code, words in bad.stderr) == (2, True), bad.stderr


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("v.csv", b"person;cost\n1;2\n", 'Add --delimiter ";"'),
        ("v.csv", b"person\tcost\n1\t2\n", 'Add --delimiter "\\t"'),
        ("v.csv", b"person,,cost\n1,2,3\n", "name 2 of 3 is empty"),
        ("v.csv", b"person,cost,Cost\n1,2,3\n", "name 3 of 3 is name 2 again, but for capitals"),
        ("v.csv", b"person,cost,\n", "what --delimiter, --quote and --encoding say"),
        ("v.csv.gz", b"person,cost\n1,2\n", "'v.csv.gz' of 'v' is not compressed with gzip"),
    ],
)
def test_init_says_what_is_wrong_with_a_header_and_blames_no_policy(
    tmp_path: Path, name: str, content: bytes, words: str
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / name).write_bytes(content)
    result = run("init", tmp_path / "data", "--unit", "person", "--output", tmp_path / "policy.toml")
    told = " ".join(result.stderr.split())
    assert result.exit_code == 2
    assert words in told
    assert "policy.toml" not in told
    assert "[data.csv]" not in told
    assert not (tmp_path / "policy.toml").exists()


def test_check_names_the_folder_of_the_private_copy(tmp_path: Path) -> None:
    policy = clinic_in_csv(tmp_path, b"patient_id,note,cost\n1,a,2\n")
    result = run("check", policy)
    assert result.exit_code == 0, result.output
    (folder,) = tmp_path.glob("*.copies")
    assert f"{folder.name}, beside the ledger" in " ".join(result.stdout.split())


def test_a_missing_policy_is_refused_with_what_to_do(tmp_path: Path) -> None:
    for command in (("check", tmp_path / "none.toml"), ("budget", "--policy", tmp_path / "none.toml")):
        result = run(*command)
        assert result.exit_code == 1
        assert "discreet init" in result.stderr

"""`synthesize`: what it writes, what it charges, how it fails, and what it never shows."""

from __future__ import annotations

import csv
import json
import os
from fractions import Fraction
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from tests.cli.program import POLICY, clinic, leaks, run

WARDS = ("--column", "ward", "--column", "cost", "--bins", "4", "--marginals", "2", "--people", "2000")
TREE = ("--method", "tree")


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    return clinic(tmp_path)


def spent(policy: Path) -> float:
    return json.loads(run("budget", "--policy", policy, "--json").stdout)["spent"]["epsilon"]


def made(policy: Path, *more: object) -> tuple[int, str, str]:
    result = run("synthesize", "visits", "--policy", policy, *more)
    assert not leaks(result.stdout, result.stderr)
    assert "Traceback" not in result.output
    return result.exit_code, result.stdout, result.stderr


def test_a_table_is_written_charged_and_reported(policy: Path, tmp_path: Path) -> None:
    out = tmp_path / "made.csv"
    code, text, _ = made(policy, *WARDS, *TREE, "--epsilon", 1, "--size", 50, "--out", out)
    assert code == 0
    for words in ("method", "tree", "epsilon 1", "15: ", "record", "parameter", str(out)):
        assert words in text
    rows = list(csv.DictReader(out.read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 50
    assert {row["ward"] for row in rows} <= {"north", "south", ""}
    assert {row["cost"] for row in rows} <= {"62.5", "187.5", "312.5", "437.5", ""}
    assert not leaks(out.read_text(encoding="utf-8"))
    assert spent(policy) == 1


def test_the_same_request_is_free_and_parquet_holds_the_same_rows(policy: Path, tmp_path: Path) -> None:
    first = made(policy, *WARDS, *TREE, "--epsilon", 1, "--out", tmp_path / "made.csv", "--json")
    again = made(policy, *WARDS, *TREE, "--epsilon", 1, "--out", tmp_path / "made.parquet", "--json")
    found = [json.loads(text) for _, text, _ in (first, again)]
    assert [one["replayed"] for one in found] == [False, True]
    assert found[0]["entry"] == found[1]["entry"]
    assert found[0]["guarantee"] == {"notion": "PureDP", "relation": "add/remove", "epsilon": 1.0}
    assert (found[0]["queries"], found[0]["method"]) == (15, "tree")
    assert spent(policy) == 1
    table = pq.read_table(tmp_path / "made.parquet")
    rows = list(csv.DictReader((tmp_path / "made.csv").read_text(encoding="utf-8").splitlines()))
    assert table.num_rows == len(rows) == found[0]["rows"]
    assert [value or "" for value in table["ward"].to_pylist()] == [row["ward"] for row in rows]


def test_explain_says_the_plan_and_spends_nothing(policy: Path) -> None:
    code, text, _ = made(policy, *WARDS, "--epsilon", 1, "--explain")
    assert code == 0
    for words in ("best", "15: ", "epsilon 1", "4 times into what is left", "reason", "nothing was spent"):
        assert words in text
    found = json.loads(made(policy, *WARDS, "--epsilon", 1, "--explain", "--json")[1])
    assert (found["method"], found["fits"], found["cost"]["epsilon"]) == ("best", 4, 1.0)
    assert spent(policy) == 0


def test_reasons_are_whole_names_have_spaces_and_numbers_are_numbers(policy: Path) -> None:
    found = json.loads(made(policy, *WARDS, "--epsilon", 1, "--explain", "--json")[1])
    text = " ".join(made(policy, *WARDS, "--epsilon", 1, "--explain")[1].split())
    assert f"reason {found['plan']['reason']}" in text
    assert (found["plan"]["size"], set(found["plan"]["noise"])) == (100_000, {"ward", "cost"})
    drawn = json.loads(made(policy, *WARDS, *TREE, "--epsilon", 1, "--explain", "--json")[1])
    assert drawn["plan"]["pairs"] == float(Fraction(drawn["exact"]["pairs"]))
    text = made(policy, *WARDS, *TREE, "--epsilon", 1, "--explain")[1]
    assert "most edges" in text
    assert "most_edges" not in text
    assert "Fraction" not in text


def test_how_many_rows_were_written_is_said(policy: Path, tmp_path: Path) -> None:
    given = (*WARDS, "--method", "mwem", "--epsilon", 1, "--size", 50, "--out", tmp_path / "made.csv")
    text = made(policy, *given)[1]
    assert "15 rows, weighted" in text
    assert ["written", "50", "rows"] in [line.split() for line in text.splitlines()]
    found = json.loads(made(policy, *given, "--json")[1])
    assert (found["rows"], found["weighted"]) == (50, False)


@pytest.mark.parametrize("name", ["dual_query", "dual query", "Dual-Query"])
def test_a_method_has_one_name_in_every_spelling(policy: Path, name: str) -> None:
    found = json.loads(made(policy, *DRAWN[:-1], name, "--epsilon", 1, "--explain", "--json")[1])
    assert found["method"] == "dual query"


def test_random_questions_are_the_default(policy: Path) -> None:
    columns = ("--column", "ward", "--column", "cost", "--people", 2000, "--epsilon", 1, "--explain")
    code, text, _ = made(policy, *columns, "--ways", 2, "--queries", 70, *TREE)
    assert code == 0
    assert "70: random 2-literal" in text


@pytest.mark.parametrize(
    ("options", "code", "words"),
    [
        ((*WARDS, "--epsilon", 1), 2, "--out"),
        ((*WARDS, "--epsilon", 1, "--out", "made.txt"), 2, ".csv or .parquet"),
        ((*WARDS, "--epsilon", 1, "--out", "nowhere/made.csv"), 2, "does not exist"),
        ((*WARDS, "--out", "made.csv"), 2, "write --epsilon, --rho, --mu or --share"),
        ((*WARDS, "--epsilon", "x", "--out", "made.csv"), 2, "--epsilon"),
        ((*WARDS, "--rho", 1, "--out", "made.csv"), 2, "under a budget in epsilon"),
        ((*WARDS, "--epsilon", 5, "--out", "made.csv"), 3, "Nothing was spent"),
        ((*WARDS, "--ways", 2, "--epsilon", 1, "--out", "made.csv"), 2, "keep one"),
        ((*WARDS[:-2], "--epsilon", 1, "--out", "made.csv"), 2, "has: --people, a number"),
        (("--epsilon", 1, "--people", 9, "--out", "made.csv"), 1, "illness = {values = [...]}"),
        (("--column", "nothing", "--epsilon", 1, "--people", 9, "--out", "made.csv"), 1, "no column"),
        ((*WARDS, "--method", "magic", "--epsilon", 1), 2, "--method"),
        ((*WARDS[:-2], "--people", 10**400, "--epsilon", 1, "--explain"), 2, "--people"),
        (("--column", "ward", "--ways", 10**9, "--epsilon", 1, "--explain"), 2, "--ways"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_spent(
    policy: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[object, ...], code: int, words: str
) -> None:
    monkeypatch.chdir(policy.parent)
    found, _, told = made(policy, *options)
    assert found == code
    assert words in " ".join(told.split())
    assert spent(policy) == 0
    assert not (policy.parent / "made.csv").exists()


def test_a_policy_that_is_not_there_or_names_two_analysts_is_said_so(tmp_path: Path) -> None:
    assert made(tmp_path / "none.toml", "--epsilon", 1, "--explain")[0] == 1
    two = clinic(tmp_path, POLICY.replace("ana = {}", "ana = {}\nben = {}"))
    code, _, told = made(two, *WARDS, "--epsilon", 1, "--explain")
    assert code == 2
    assert "say who asks" in told
    assert made(two, *WARDS, "--epsilon", 1, "--explain", "--analyst", "ben")[0] == 0


def test_an_unknown_table_is_an_error_in_words(policy: Path) -> None:
    result = run("synthesize", "nobody", "--policy", policy, "--epsilon", 1, "--explain")
    assert result.exit_code == 1
    assert "no private table 'nobody'" in result.stderr


DRAWN = ("--column", "ward", "--ways", 1, "--queries", 3, "--people", 2000, "--method", "dual-query")


def test_a_transcript_keeps_the_draws_and_the_same_command_goes_on_with_it(policy: Path, tmp_path: Path) -> None:
    given = (*DRAWN, "--epsilon", 1, "--out", tmp_path / "made.csv", "--transcript", tmp_path / "draws", "--json")
    first, again = (json.loads(made(policy, *given)[1]) for _ in range(2))
    assert [first["replayed"], again["replayed"]] == [False, True]
    rounds = first["plan"]["rounds"]
    assert len((tmp_path / "draws").read_text(encoding="ascii").splitlines()) == rounds + 1
    assert spent(policy) == 1


def test_a_transcript_that_cannot_be_kept_is_refused_before_anything_is_spent(policy: Path, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("a line of somebody else\n", encoding="utf-8")
    for name, method, words in (
        ("draws", TREE, "only --method dual-query draws"),
        ("made.csv", (), "are two files"),
        ("nowhere/draws", (), "cannot be opened"),
        ("mine.txt", (), "is no transcript"),
        ("policy.toml", (), "is no transcript"),
        ("ledger.sqlite", (), "is no transcript"),
    ):
        options = (*DRAWN, *method, "--epsilon", 1, "--out", tmp_path / "made.csv", "--transcript", tmp_path / name)
        code, _, told = made(policy, *options)
        assert code in (1, 2)
        assert words in " ".join(told.split())
        assert spent(policy) == 0
    assert (tmp_path / "mine.txt").read_text(encoding="utf-8") == "a line of somebody else\n"
    assert policy.read_text(encoding="utf-8") == POLICY


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_spent(policy: Path, tmp_path: Path) -> None:
    (tmp_path / "folder.csv").mkdir()
    os.mkfifo(tmp_path / "pipe.csv")
    (tmp_path / "loop.csv").symlink_to(tmp_path / "loop.csv")
    for name in ("folder.csv", "pipe.csv", "loop.csv", f"{'x' * 300}.csv", "\udcff.csv", "a\nb.csv"):
        code, _, _ = made(policy, *WARDS, *TREE, "--epsilon", 1, "--out", tmp_path / name)
        assert code in (1, 2)
        assert spent(policy) == 0


def test_a_folder_without_permission_is_refused_before_anything_is_spent(
    policy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened = Path.open

    def forbidden(self: Path, *given: Any, **named: Any) -> Any:
        if self.name == "made.csv":
            raise PermissionError(13, "Permission denied", str(self))
        return opened(self, *given, **named)

    monkeypatch.setattr(Path, "open", forbidden)
    code, _, told = made(policy, *WARDS, *TREE, "--epsilon", 1, "--out", tmp_path / "made.csv")
    assert code == 2
    assert "Permission denied" in told
    assert spent(policy) == 0


def test_an_old_file_stays_until_there_is_a_new_table(policy: Path, tmp_path: Path) -> None:
    out = tmp_path / "made.csv"
    out.write_text("old", encoding="utf-8")
    assert made(policy, *WARDS, *TREE, "--epsilon", 5, "--out", out)[0] == 3
    assert out.read_text(encoding="utf-8") == "old"
    assert made(policy, *WARDS, *TREE, "--epsilon", 1, "--out", out)[0] == 0
    assert out.read_text(encoding="utf-8").startswith("ward,cost")


def test_a_table_is_never_written_among_the_private_ones(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    rows = "patient_id,ward,cost\n" + "".join(f"{row},north,{row}.5\n" for row in range(9))
    (tmp_path / "data" / "visits.csv").write_text(rows, encoding="utf-8")
    policy = tmp_path / "policy.toml"
    policy.write_text(POLICY.replace("clinic.duckdb", "data") + 'patient_id = {type = "integer"}\n', encoding="utf-8")
    for name in ("data/visits.csv", "data/new.csv", "data/../data/new.csv"):
        code, _, told = made(policy, *WARDS, *TREE, "--epsilon", 1, "--out", tmp_path / name)
        assert code == 2
        assert "where the private tables are" in " ".join(told.split())
    assert (tmp_path / "data" / "visits.csv").read_text(encoding="utf-8") == rows
    assert sorted(one.name for one in (tmp_path / "data").iterdir()) == ["visits.csv"]
    assert made(policy, *WARDS, *TREE, "--epsilon", 1, "--out", tmp_path / "made.csv")[0] == 0


@pytest.mark.parametrize("name", ["naïve ✓.csv", "[red]x.csv", "-x.csv", "a b'c\".csv", "$(id).csv"])
def test_hostile_file_names_are_names(policy: Path, tmp_path: Path, name: str) -> None:
    code, text, _ = made(policy, *WARDS, *TREE, "--epsilon", 1, "--out", tmp_path / name)
    assert code == 0
    assert (tmp_path / name).exists()
    assert "Wrote" in text

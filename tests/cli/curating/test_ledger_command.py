"""`discreet ledger`: entries, verification, the exported head, amendments, and a ledger that was tampered with."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from tests.cli.program import POLICY, clinic, leaks, run

COUNT = "SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward"


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    found = clinic(tmp_path)
    assert run("ask", COUNT, "--policy", found, "--epsilon", 1).exit_code == 0
    return found


def test_the_ledger_lists_what_was_asked_and_what_it_cost(policy: Path) -> None:
    result = run("ledger", "--policy", policy)
    assert result.exit_code == 0, result.output
    for words in ("open", "charge", "answer", "ana", "epsilon 1", "clinic"):
        assert words in result.stdout
    found = json.loads(run("ledger", "--policy", policy, "--json", "--last", 2).stdout)
    assert [one["kind"] for one in found] == ["charge", "answer"]
    assert found[0]["cost"]["epsilon"] == 1
    assert "answer" not in found[1], "a stored answer is shown by its own query only"


def test_verify_checks_everything_and_finds_an_exported_head(policy: Path) -> None:
    head = run("ledger", "head", "--policy", policy).stdout.strip()
    assert len(head) == 64
    assert run("ask", COUNT, "--policy", policy, "--epsilon", 2).exit_code == 0
    result = run("ledger", "verify", "--policy", policy, "--head", head)
    assert result.exit_code == 0, result.output
    assert "is entry 3" in result.stdout
    assert "epsilon 3" in result.stdout
    found = json.loads(run("ledger", "--policy", policy, "verify", "--json").stdout)
    assert (found["ok"], found["charges"], found["entries"]) == (True, 2, 5)
    assert run("ledger", "verify", "--policy", policy, "--head", "0" * 64).exit_code == 4


def test_an_old_ledger_put_back_is_found_by_every_command(policy: Path, tmp_path: Path) -> None:
    assert run("budget", "--policy", policy).exit_code == 0
    shutil.copy(tmp_path / "ledger.sqlite", tmp_path / "old")
    assert run("ask", COUNT, "--policy", policy, "--epsilon", 2).exit_code == 0
    for leftover in tmp_path.glob("ledger.sqlite-*"):
        leftover.unlink()
    shutil.copy(tmp_path / "old", tmp_path / "ledger.sqlite")
    for command in (("ledger", "verify"), ("budget",), ("ask", COUNT, "--epsilon", 1), ("ledger",)):
        result = run(*command, "--policy", policy)
        assert result.exit_code == 4, result.output
        assert result.stdout == ""
        assert leaks(result.output) == []


def test_a_changed_entry_is_named(policy: Path, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "ledger.sqlite") as connection:
        names = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")]
        for name in names:
            connection.execute(f'DROP TRIGGER "{name}"')
        connection.execute("UPDATE entries SET body = replace(body, '\"ana\"', '\"bob\"') WHERE number = 2")
    connection.close()
    result = run("ledger", "verify", "--policy", policy)
    assert result.exit_code == 4, result.output


def test_amend_takes_over_what_the_policy_says_now_with_a_reason(policy: Path) -> None:
    nothing = run("ledger", "amend", "--policy", policy, "--reason", "why not", "--by", "me")
    assert (nothing.exit_code, "already" in nothing.stderr) == (1, True)
    policy.write_text(POLICY.replace("epsilon = 4", "epsilon = 5"), encoding="utf-8")
    differs = run("ask", COUNT, "--policy", policy, "--epsilon", 2)
    assert (differs.exit_code, "ledger amend" in differs.stderr) == (1, True)
    assert run("ledger", "verify", "--policy", policy).exit_code == 0, (
        "a ledger can be checked whatever the policy says"
    )
    assert run("ledger", "amend", "--policy", policy, "--by", "me").exit_code == 2
    done = run("ledger", "amend", "--policy", policy, "--reason", "a second study", "--by", "the board")
    assert done.exit_code == 0, done.output
    assert "epsilon 5" in done.stdout
    assert run("ask", COUNT, "--policy", policy, "--epsilon", 4).exit_code == 0
    assert run("ask", COUNT, "--policy", policy, "--epsilon", 0.5).exit_code == 3
    assert "a second study" in " ".join(run("ledger", "--policy", policy).stdout.split())


def test_amend_does_not_turn_a_ledger_into_that_of_other_people(policy: Path) -> None:
    policy.write_text(POLICY.replace('"clinic"', '"another clinic"'), encoding="utf-8")
    result = run("ledger", "amend", "--policy", policy, "--reason", "x", "--by", "y")
    assert result.exit_code == 1
    assert "no amendment changes" in result.stderr


def test_a_lost_anchor_is_made_anew_with_the_newest_head(policy: Path, tmp_path: Path) -> None:
    head = run("ledger", "head", "--policy", policy).stdout.strip()
    (tmp_path / "ledger.sqlite.anchor").unlink()
    lost = run("ledger", "verify", "--policy", policy)
    assert lost.exit_code == 4
    assert "SqliteLedger.reanchor(path, head=..., reason=..., by=...), or `discreet ledger reanchor`" in lost.stderr
    wrong = ("ledger", "reanchor", "--policy", policy, "--head", "0" * 64, "--reason", "disk", "--by", "me")
    assert run(*wrong).exit_code == 4
    done = run("ledger", "reanchor", "--policy", policy, "--head", head, "--reason", "disk", "--by", "me")
    assert done.exit_code == 0, done.output
    assert run("ledger", "verify", "--policy", policy).exit_code == 0


def test_without_a_ledger_there_is_nothing_to_list(tmp_path: Path) -> None:
    result = run("ledger", "--policy", clinic(tmp_path))
    assert result.exit_code == 1
    assert "first `discreet ask` begins it" in result.stderr
    assert not (tmp_path / "ledger.sqlite").exists()

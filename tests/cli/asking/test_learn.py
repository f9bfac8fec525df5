"""`discreet learn`: explained for nothing, trained and scored at a price, predicted for nothing."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import POLICY, clinic, leaks, run

FIT = ("visits", "--feature", "cost", "--target", "ward", "--people", 2000)
PRICE = ("--epsilon", 1, "--delta", 1e-7)


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    return clinic(tmp_path)


def spent(policy: Path) -> Any:
    return json.loads(run("budget", "--policy", policy, "--json").stdout)["spent"]["epsilon"]


def trained(policy: Path, *more: object) -> Path:
    out = policy.parent / "model.json"
    done = run("learn", "train", *FIT, *PRICE, "--policy", policy, "--out", out, *more)
    assert done.exit_code == 0, done.stderr
    return out


def test_a_model_is_explained_without_data_and_without_a_charge(policy: Path) -> None:
    done = run("learn", "explain", *FIT, *PRICE, "--policy", policy)
    assert done.exit_code == 0
    assert "nothing was spent" in done.stdout
    assert "rows by a grant" in done.stdout
    told = json.loads(run("learn", "explain", *FIT, *PRICE, "--policy", policy, "--json").stdout)
    assert told["estimator"] == "LogisticRegression"
    assert told["fits"] == 4
    assert spent(policy) == 0


def test_a_model_is_charged_once_written_and_replayed(policy: Path) -> None:
    out = trained(policy)
    first, text = spent(policy), out.read_text()
    again = run("learn", "train", *FIT, *PRICE, "--policy", policy, "--out", out, "--json")
    assert json.loads(again.stdout)["replayed"]
    assert (first, spent(policy)) == (1, 1)
    assert out.read_text() == text
    assert not leaks(text, again.stdout, again.stderr)


def test_a_model_of_counts_is_read_in_sql_and_takes_its_parameters(policy: Path) -> None:
    more = ("--estimator", "CategoricalNB", "--set", "bins=5")
    told = run("learn", "explain", *FIT, "--epsilon", 1, "--policy", policy, *more, "--json")
    assert json.loads(told.stdout)["reads"] == "counts in SQL"
    out = policy.parent / "counts.json"
    done = run("learn", "train", *FIT, "--epsilon", 1, "--policy", policy, *more, "--out", out)
    assert done.exit_code == 0
    assert json.loads(out.read_text())["parameters"]["bins"] == 5


def test_a_model_predicts_rows_of_a_file_for_nothing(policy: Path) -> None:
    model, rows, out = trained(policy), policy.parent / "new.csv", policy.parent / "out.csv"
    rows.write_text('who,cost\n"a,b",12.5\nc,\nd,what\n', encoding="utf-8")
    before = spent(policy)
    assert run("learn", "predict", model, rows, "--out", out).exit_code == 0
    with out.open(newline="", encoding="utf-8") as opened:
        found = list(csv.DictReader(opened))
    assert [row["who"] for row in found] == ["a,b", "c", "d"]
    assert {row["prediction"] for row in found} <= {"north", "south"}
    assert run("learn", "predict", model, rows).stdout == out.read_text()
    assert spent(policy) == before


def test_a_file_of_predictions_starts_no_formula_and_no_escape_sequence(policy: Path) -> None:
    model, rows = trained(policy), policy.parent / "new.csv"
    plain = json.loads(model.read_text())
    plain["fitted"]["classes_"]["texts"][1] = ["=cmd()", "@sum"]
    model.write_text(json.dumps(plain), encoding="utf-8")
    rows.write_text("\ufeffcost,=name,sign\n12.5,=1+1,-3.5\n1,\x1b[2Jx,+1e3\n2,@x\x00,-cmd\n", encoding="utf-8")
    done = run("learn", "predict", model, rows)
    assert done.exit_code == 0, done.stderr
    assert done.stdout.isascii()
    assert not {"\x1b", "\x00"} & set(done.stdout)
    found = list(csv.reader(done.stdout.splitlines()))
    assert found[0] == ["cost", "'=name", "sign", "prediction"]
    assert [row[2] for row in found[1:]] == ["-3.5", "+1e3", "'-cmd"]
    assert {row[3] for row in found[1:]} <= {"'=cmd()", "'@sum"}
    assert found[1][1] == "'=1+1"


def test_a_full_disk_after_the_charge_is_said_and_asking_again_is_free(
    policy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    out = policy.parent / "model.json"
    out.write_text("an older one", encoding="utf-8")
    monkeypatch.setattr("discreet.learning.model_file.write_whole", full)
    done = run("learn", "train", *FIT, *PRICE, "--policy", policy, "--out", out)
    assert done.exit_code == 1
    assert "The charge stands as record" in " ".join(done.stderr.split())
    assert "which is free" in " ".join(done.stderr.split())
    assert (out.read_text(), spent(policy)) == ("an older one", 1)
    monkeypatch.undo()
    assert json.loads(trained(policy).read_text())["estimator"] == "LogisticRegression"
    assert spent(policy) == 1


@pytest.mark.parametrize("people", [1 << 40, (1 << 40) + 1])
def test_people_are_bounded_as_estimators_have_it(policy: Path, people: int) -> None:
    done = run("learn", "explain", *FIT[:-1], people, *PRICE, "--policy", policy)
    assert done.exit_code == (0 if people == 1 << 40 else 2)
    assert ("--people" in done.stderr) == (done.exit_code == 2)


def test_a_score_is_charged_and_replayed(policy: Path) -> None:
    model = trained(policy)
    done = run("learn", "evaluate", model, "visits", "--epsilon", 0.5, "--policy", policy, "--json")
    told = json.loads(done.stdout)
    assert told["score"] == "accuracy"
    assert 0 <= told["low"] <= told["value"] <= told["high"] <= 1
    assert spent(policy) == 1.5
    again = run("learn", "evaluate", model, "visits", "--epsilon", 0.5, "--policy", policy)
    assert "handed out again at no cost" in again.stdout
    assert spent(policy) == 1.5


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((*FIT, *PRICE, "--out", "model.txt"), "must end in .json"),
        ((*FIT, "--out", "model.json"), "--epsilon"),
        ((*FIT, *PRICE, "--out", "model.json", "--set", "bins=3"), "has no parameter 'bins'"),
        ((*FIT, *PRICE, "--out", "model.json", "--set", "bounds=("), "in JSON"),
        ((*FIT, *PRICE, "--out", "model.json", "--set", f"bounds=[0,1{'0' * 400}]"), "at most 300 digits"),
        (
            (
                *FIT,
                *PRICE,
                "--out",
                "model.json",
                "--estimator",
                "CategoricalNB",
                "--set",
                "bins=2",
                "--set",
                "alpha=1e200",
            ),
            "alpha must be a finite number above 0",
        ),
        ((*FIT, *PRICE, "--out", "model.json", "--feature", "name"), "name = {values = [...]}"),
        (("visits", "--feature", "cost", *PRICE, "--people", 9, "--out", "model.json"), "write --target income"),
        (("visits", "--feature", "cost", "--target", "ward", *PRICE, "--out", "model.json"), "people must be given"),
    ],
)
def test_what_is_refused_costs_nothing(
    policy: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[object, ...], words: str
) -> None:
    monkeypatch.chdir(policy.parent)
    done = run("learn", "train", *arguments)
    assert done.exit_code == (1 if "values" in words else 2)  # the policy is to be changed, or the command
    assert words in " ".join(done.stderr.split())
    assert spent(policy) == 0
    assert not (policy.parent / "model.json").exists()


OUT = {
    ".json": ("learn", "train", *FIT, *PRICE, "--out"),
    ".csv": ("synthesize", "visits", "--epsilon", 1, "--people", 2000, "--out"),
    ".html": ("ask", "SELECT COUNT(*) FROM visits", "--epsilon", 1, "--certificate"),
}


@pytest.mark.parametrize(
    ("ending", "kept", "how"),
    [
        *((".json", kept, how) for kept in ("ledger", "policy") for how in ("itself", "symbolic", "hard", "dotted")),
        (".json", "anchor", "symbolic"),
        (".csv", "ledger", "symbolic"),
        (".html", "ledger", "hard"),
    ],
)
def test_what_is_written_never_takes_the_place_of_the_ledger_or_the_policy(
    tmp_path: Path, ending: str, kept: str, how: str
) -> None:
    clinic(tmp_path, POLICY.replace('"ledger.sqlite"', f'"ledger{ending}"\nanchor = "anchor{ending}"'))
    policy = (tmp_path / "policy.toml").rename(tmp_path / f"policy{ending}")
    assert spent(policy) == 0  # the ledger is there now
    place, out = tmp_path / f"{kept}{ending}", tmp_path / f"model{ending}"
    if how == "symbolic":
        out.symlink_to(place)
    elif how == "hard":
        out.hardlink_to(place)
    else:
        out = place if how == "itself" else tmp_path / ".." / tmp_path.name / place.name
    before = place.read_bytes()
    done = run(*OUT[ending], out, "--policy", policy)
    assert (done.exit_code, place.read_bytes()) == (2, before)
    assert "is the policy or belongs to the ledger" in done.stderr
    assert spent(policy) == 0


def test_files_that_are_no_models_or_no_rows_are_refused_in_words(policy: Path) -> None:
    model, odd, rows = trained(policy), policy.parent / "odd.json", policy.parent / "rows.csv"
    odd.write_text("{}", encoding="utf-8")
    rows.write_text("age\n1\n", encoding="utf-8")
    assert "one that discreet has written" in run("learn", "predict", odd, rows).stderr
    assert "no column 'cost'" in run("learn", "predict", model, rows).stderr
    assert "cannot read" in run("learn", "predict", model, policy.parent / "nothing.csv").stderr
    rows.write_text("cost,cost\n1,2\n", encoding="utf-8")
    assert "each once" in run("learn", "predict", model, rows).stderr
    rows.write_bytes(b"cost\n\xff\n")
    assert "CSV file in UTF-8" in run("learn", "predict", model, rows).stderr
    rows.write_text(f"cost\n{'1' * 200_000}\n", encoding="utf-8")
    assert "cells of at most 131,072 characters" in run("learn", "predict", model, rows).stderr


def test_more_than_the_budget_is_refused_with_its_own_code(policy: Path) -> None:
    done = run(
        "learn", "train", *FIT, "--epsilon", 9, "--delta", 1e-7, "--policy", policy, "--out", policy.parent / "m.json"
    )
    assert done.exit_code == 3
    assert spent(policy) == 0

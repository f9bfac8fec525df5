"""`discreet learn`: explained for nothing, trained and scored at a price, predicted for nothing."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import clinic, leaks, run

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


def test_more_than_the_budget_is_refused_with_its_own_code(policy: Path) -> None:
    done = run(
        "learn", "train", *FIT, "--epsilon", 9, "--delta", 1e-7, "--policy", policy, "--out", policy.parent / "m.json"
    )
    assert done.exit_code == 3
    assert spent(policy) == 0

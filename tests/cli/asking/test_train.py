"""`discreet train`: the plan is shown before the charge, steps are told, and the same request again is free."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.program import POLICY, clinic, leaks, run

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

ONE_ROW = POLICY.replace("rows = 4\ngroups = 2\nrows_per_group = 2", "rows = 1\ngroups = 1\nrows_per_group = 1")
NETWORK = ("--table", "visits", "--feature", "cost", "--target", "ward", "--people", 1000, "--steps", 3, "--hidden", 4)
PRICE = ("--epsilon", 1, "--delta", 1e-7)


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    return clinic(tmp_path, ONE_ROW)


def spent(policy: Path) -> Any:
    return json.loads(run("budget", "--policy", policy, "--json").stdout)["spent"]["epsilon"]


def test_a_plan_is_explained_without_data_and_without_a_charge(policy: Path) -> None:
    done = run("train", *NETWORK, *PRICE, "--policy", policy, "--explain")
    assert done.exit_code == 0, done.stderr
    for words in ("full batches", "epsilon at delta = 1e-07", "row independence", "nothing was spent"):
        assert words in done.stdout
    told = json.loads(run("train", *NETWORK, *PRICE, "--policy", policy, "--explain", "--json").stdout)
    assert told["estimator"] == "DeepClassifier"
    assert told["training"]["steps"] == 3
    assert told["cost"]["epsilon"] == pytest.approx(1, abs=1e-6)
    assert told["fits"] == 4
    assert spent(policy) == 0


def test_a_network_is_charged_once_written_and_replayed(policy: Path) -> None:
    out = policy.parent / "model.json"
    first = run("train", *NETWORK, *PRICE, "--policy", policy, "--out", out)
    assert first.exit_code == 0, first.stderr
    assert first.stdout.index("row independence") < first.stdout.index("charged")
    text, cost = out.read_text(), spent(policy)
    again = run("train", *NETWORK, *PRICE, "--policy", policy, "--out", out, "--json")
    assert json.loads(again.stdout)["replayed"]
    assert (cost, spent(policy)) == (pytest.approx(1, abs=1e-6), cost)
    assert out.read_text() == text
    assert not leaks(text, first.stdout, first.stderr, again.stdout, again.stderr)


def test_steps_are_told_while_it_trains(policy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told: list[tuple[int, int]] = []

    class Watched:
        def __init__(self, *_: object, **__: object) -> None:
            pass

        def __enter__(self) -> Any:
            return lambda **now: told.append((now["completed"], now["total"]))

        def __exit__(self, *_: object) -> None:
            pass

    monkeypatch.setattr("discreet.cli.asking.train.progressing", Watched)
    out = policy.parent / "model.json"
    assert run("train", *NETWORK, *PRICE, "--policy", policy, "--out", out).exit_code == 0
    assert told == [(1, 3), (2, 3), (3, 3)]


def test_a_network_predicts_rows_of_a_file_for_nothing(policy: Path) -> None:
    model, rows = policy.parent / "model.json", policy.parent / "new.csv"
    assert run("train", *NETWORK, *PRICE, "--policy", policy, "--out", model).exit_code == 0
    rows.write_text("cost\n12.5\n400\n", encoding="utf-8")
    before = spent(policy)
    done = run("learn", "predict", model, rows)
    assert done.exit_code == 0, done.stderr
    found = list(csv.DictReader(done.stdout.splitlines()))
    assert {row["prediction"] for row in found} <= {"north", "south"}
    assert spent(policy) == before


def test_a_number_is_predicted_from_sampled_batches(policy: Path) -> None:
    out = policy.parent / "model.json"
    asked = ("--table", "visits", "--feature", "ward", "--target", "cost", "--people", 1000, "--predict", "number")
    more = ("--steps", 2, "--batch", 100, "--linear", "--share", 0.25)
    done = run("train", *asked, *more, "--policy", policy, "--out", out, "--json")
    assert done.exit_code == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["training"]["sampler"] == "Poisson batches"
    assert json.loads(out.read_text())["estimator"] == "DeepRegressor"


@pytest.mark.parametrize(
    ("asked", "code", "words"),
    [
        ((*NETWORK, *PRICE), 2, "--out model.json"),
        ((*NETWORK, "--epsilon", 1, "--out", "m.json"), 2, "--epsilon 1 --delta 1e-7"),
        ((*NETWORK, *PRICE, "--linear", "--out", "m.json"), 2, "--linear and --hidden"),
        ((*NETWORK, *PRICE, "--out", "m.pt"), 2, "must end in .json"),
        ((*NETWORK, "--epsilon", 9, "--delta", 1e-7, "--out", "m.json"), 3, "Nothing was spent"),
        (("--table", "nowhere", *NETWORK[2:], *PRICE, "--out", "m.json"), 1, "no private table"),
    ],
)
def test_what_cannot_be_trained_is_refused_before_the_charge(
    policy: Path, asked: tuple[object, ...], code: int, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(policy.parent)
    done = run("train", *asked, "--policy", policy)
    assert done.exit_code == code
    assert words in " ".join(done.stderr.split())
    assert spent(policy) == 0
    assert not leaks(done.stdout, done.stderr)


def test_a_table_with_several_rows_a_unit_is_refused(tmp_path: Path) -> None:
    policy = clinic(tmp_path)
    done = run("train", *NETWORK, *PRICE, "--policy", policy, "--out", tmp_path / "model.json")
    assert done.exit_code == 2
    assert "one row" in " ".join(done.stderr.split())
    assert spent(policy) == 0


def test_a_recipe_is_charged_once_and_predicts_for_nothing(policy: Path) -> None:
    asked = ("train", "--recipe", *NETWORK[:8], *PRICE, "--policy", policy)
    told = run(*asked, "--explain")
    assert told.exit_code == 0, told.stderr
    assert "RecipeClassifier" in told.stdout
    assert "70 (70 epochs)" in told.stdout
    out, rows = policy.parent / "model.json", policy.parent / "new.csv"
    first = run(*asked, "--out", out)
    assert first.exit_code == 0, first.stderr
    cost = spent(policy)
    again = run(*asked, "--out", out, "--json")
    assert json.loads(again.stdout)["replayed"]
    assert (cost, spent(policy)) == (pytest.approx(1, abs=1e-6), cost)
    rows.write_text("cost\n12.5\n400\n\n", encoding="utf-8")
    found = run("learn", "predict", out, rows)
    assert found.exit_code == 0, found.stderr
    assert not leaks(out.read_text(), first.stdout, first.stderr, found.stdout, found.stderr)


@pytest.mark.parametrize(
    "beside", [("--steps", 3), ("--hidden", 4), ("--linear",), ("--norm", 2), ("--batch", 9), ("--predict", "number")]
)
def test_a_recipe_refuses_what_it_decides_by_itself(policy: Path, beside: tuple[Any, ...]) -> None:
    done = run("train", "--recipe", *NETWORK[:8], *PRICE, "--policy", policy, "--explain", *beside)
    assert done.exit_code == 2
    assert "--recipe" in done.stderr
    assert spent(policy) == 0

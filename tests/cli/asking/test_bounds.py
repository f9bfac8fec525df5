"""Bounds in the shell: `--rows`, `--groups`, `--sums`, `--bounds`, `--keys`, `--bias`, and `discreet suggest`."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from discreet.cli.asking.options import ranges_and_keys
from discreet.cli.console import Refusal
from tests.cli.program import POLICY, clinic, leaks, run

COUNT = "SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward"


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    return clinic(tmp_path)


def explained(policy: Path, *options: object) -> dict[str, object]:
    result = run("explain", COUNT, "--policy", policy, "--epsilon", 1, "--json", *options)
    assert result.exit_code == 0, result.output
    return dict(json.loads(result.stdout))


def test_bounds_of_the_question_stand_in_place_of_the_policys(policy: Path) -> None:
    assert "down to 4 in all" in str(explained(policy)["bounding"])
    assert "down to 9 in all" in str(explained(policy, "--rows", 9)["bounding"])
    grouped = str(explained(policy, "--groups", 1, "--rows-per-group", 3)["bounding"])
    assert "at most 1 group" in grouped
    assert "3 rows in each" in grouped
    clipped = explained(policy, "--sums", "visits=0:5")
    assert "clipped together" in str(clipped["bounding"])
    assert "of visits a patient adds no more than 5 to a group" in str(clipped["left out"])


@pytest.mark.parametrize("option", ["keys", "sums", "bounds"])
def test_a_name_that_is_stated_twice_is_refused(option: str) -> None:
    given = ("ward=a", "ward = b") if option == "keys" else ("cost=0:1", "cost=0:2")
    with pytest.raises(Refusal, match=f"--{option} names one column twice"):
        ranges_and_keys({option: tuple(one.replace(" ", "") for one in given)})


def test_a_list_of_lists_of_any_depth_is_refused() -> None:
    with pytest.raises(Refusal, match="no list of JSON"):
        ranges_and_keys({"keys": ("ward=" + "[" * 200_000,)})


def test_ranges_and_keys_are_read_exactly() -> None:
    found = ranges_and_keys(
        {
            "bounds": ("cost=0:0.1",),
            "sums": ("SUM(cost)=-1/3:5", "n = x=0:1"),
            "keys": ("ward=north,south", "age=1,2", 'name=["a, b","3"]', "day=2026-01-31,x", "yes=true"),
        }
    )
    assert found["bounds"]["cost"] == (0, pytest.approx(0.1))
    assert str(found["bounds"]["cost"][1]) == "1/10"
    assert set(found["sums"]) == {"SUM(cost)", "n = x"}
    assert found["keys"] == {
        "ward": ["north", "south"],
        "age": [1, 2],
        "name": ["a, b", "3"],
        "day": [date(2026, 1, 31), "x"],
        "yes": [True],
    }


@pytest.mark.parametrize(
    "option", [{"bounds": ("cost",)}, {"sums": ("x=1",)}, {"sums": ("x=a:b",)}, {"keys": ("x",)}, {"keys": ("x=[1",)}]
)
def test_what_cannot_be_read_is_refused_with_how_it_is_written(option: dict[str, tuple[str, ...]]) -> None:
    with pytest.raises(Refusal, match=next(iter(option))):
        ranges_and_keys(option)


def test_bias_is_bought_by_an_option(tmp_path: Path) -> None:
    policy = clinic(tmp_path, POLICY.replace("rows = 4\n", "rows = 1\nouter_rows = 9\n"))
    result = run("ask", "SELECT COUNT(*) AS n FROM visits", "--policy", policy, "--epsilon", 1, "--bias")
    assert result.exit_code == 0, result.output
    assert "about cut" in result.stdout
    assert "nobody has more than 9" in " ".join(result.stdout.split())


def test_suggest_prints_what_to_write_and_is_charged_once(policy: Path) -> None:
    for _ in "ab":
        result = run("suggest", COUNT, "--policy", policy, "--epsilon", 0.5)
        assert result.exit_code == 0, result.output
        assert "--groups" in result.stdout
        assert "chosen for an answer at" in result.stdout
        assert not leaks(result.stdout)
    spent = json.loads(run("budget", "--policy", policy, "--json").stdout)["spent"]["epsilon"]
    assert spent == 0.5
    found = json.loads(run("suggest", "visits", "--policy", policy, "--epsilon", 0.5, "--json").stdout)
    assert any(one["line"].startswith("[tables.visits] rows = ") for one in found["bounds"])


def test_suggest_refuses_what_it_cannot_do_and_spends_nothing(policy: Path) -> None:
    for what in ("nothing", "SELECT 1", "SELECT COUNT(*) FROM nothing"):
        result = run("suggest", what, "--policy", policy, "--epsilon", 0.5)
        assert result.exit_code == 1
        assert "Nothing was spent" in result.stderr

"""The attacks on counts and averages from outside: what they print, what they draw, and how they end."""

from __future__ import annotations

import sys
import tempfile

import pytest

from discreet.cli.attack.differencing import GRID
from discreet.cli.attack.people import attacked_hospital
from tests.cli.program import run


def told(result) -> str:
    assert result.exit_code == 0, result.output
    assert "Traceback" not in result.output
    assert "\x1b" not in result.output
    return " ".join(result.stdout.split())


def test_differencing_tells_all_four_targets(tmp_path):
    drawing = tmp_path / "bit.svg"
    text = told(run("attack", "differencing", "--people", 630, "--patient", 5, "--plot", drawing))
    assert "practice = 0 AND card = 6" in text
    assert text.count("100.0 %") == 4
    assert "patient alone is refused" in text
    for words in ("a plain database", "individual tracker", "general tracker", "a curator", "a session", "52.5 %"):
        assert words in text
    assert drawing.read_text(encoding="utf-8").startswith("<?xml")
    assert f"Wrote {drawing}" in text


def test_averaging_tells_the_toy_engines_and_the_session(tmp_path):
    drawing = tmp_path / "average.png"
    arguments = ("--people", 630, "--wordings", 50, "--epsilon", 0.1, "--seed", 3, "--plot", drawing)
    text = told(run("attack", "averaging", *arguments))
    assert "noise by text 50 other words 50 0 1.41" in text
    assert "Wordings answered before the budget was spent: 20." in text
    # the first of the twenty was paid for as a spelling, and is one of the answers that were averaged
    assert "20 other dummies 20 1" in text
    assert "standard error would have been 0.707" in text
    assert "averaging loses" in text
    assert drawing.read_bytes().startswith(b"\x89PNG")
    # fifty spellings cost one answer
    assert "50 49" in text


def test_a_budget_for_one_wording_is_told_with_its_price():
    text = told(run("attack", "averaging", "--people", 630, "--wordings", 2, "--epsilon", 2))
    assert "Wordings answered before the budget was spent: 1." in text
    assert "∞" not in text
    assert "averaging loses" not in text


def test_differencing_states_the_chance_of_the_noise_that_a_session_has():
    with attacked_hospital(people=630, seed=1, purpose="a test") as hospital:
        answer = hospital.session.sql("SELECT COUNT(*) AS people FROM patients WHERE marker = 1", epsilon=0.1)
    assert answer.priced.measures[0].step == GRID
    text = told(run("attack", "differencing", "--people", 630, "--epsilon", 0.3))
    assert "53.9 %" in text  # integer noise
    assert "53.8 %" in text  # on the grid of a session
    # the budget ends the last attack: no guess, and no chance of a right one
    assert "general tracker 4 2 none 57.5 %" in text


def test_a_temporary_folder_may_have_a_quote_in_its_name(tmp_path, monkeypatch):
    folder = tmp_path / "o'brien"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    with attacked_hospital(people=630, seed=1, purpose="a test") as hospital:
        assert hospital.plain("SELECT COUNT(*) FROM patients") == [(630,)]


def test_averaging_within_the_budget_is_not_said_to_be_refused():
    text = told(run("attack", "averaging", "--people", 630, "--wordings", 5, "--epsilon", 0.1))
    assert "budget was spent" not in text


def test_membership_tells_exact_rounded_and_private(tmp_path):
    drawing = tmp_path / "curve.svg"
    arguments = ("--people", 100, "--positions", 2000, "--epsilon", 1, "--plot", drawing)
    text = told(run("attack", "membership", *arguments))
    for words in ("exact", "2 decimals", "private", "(1, 1e-05)-differentially private", "0.576"):
        assert words in text
    assert drawing.read_text(encoding="utf-8").startswith("<?xml")


def test_the_map_tells_its_borders_and_draws_itself(tmp_path):
    drawing = tmp_path / "map.png"
    arguments = ("--people", 63, "--queries", 64, "--seed", 2**63 - 1, "--plot", drawing)
    text = told(run("attack", "map", *arguments))
    assert "queries reconstructed up to traced up to safe from" in text
    assert "16.9" in text
    assert "(epsilon, delta) = (1, 1e-06)" in text
    assert drawing.read_bytes().startswith(b"\x89PNG")


def test_the_same_seed_attacks_the_same_people():
    lines = []
    for _ in range(2):
        shown = run("attack", "membership", "--people", 50, "--positions", 500, "--seed", 4).stdout.splitlines()
        lines.append([line for line in shown if line.startswith(("exact", "2 decimals"))])
    assert lines[0] == lines[1]
    assert len(lines[0]) == 2


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("differencing", ("--patient", 630, "--people", 630)),
        ("differencing", ("--people", 10)),
        ("differencing", ("--epsilon", 5)),
        ("differencing", ("--epsilon", "nan", "--people", 630)),
        ("averaging", ("--epsilon", "nan", "--people", 630)),
        ("averaging", ("--deviation", "nan", "--people", 630)),
        ("averaging", ("--wordings", 1)),
        ("averaging", ("--deviation", 0)),
        ("membership", ("--positions", 100_000)),
        ("membership", ("--delta", 0)),
        ("map", ("--people", 62)),
        ("map", ("--queries", 32)),
        ("map", ("--seed", 2**63)),
        ("membership", ("--level", "much")),
    ],
)
def test_senseless_options_are_usage_errors(name, arguments):
    result = run("attack", name, *arguments)
    assert result.exit_code == 2
    assert "Traceback" not in result.output


@pytest.mark.parametrize("name", ["differencing", "averaging"])
def test_without_duckdb_the_extra_is_named(monkeypatch, name):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    result = run("attack", name, "--people", 630)
    assert result.exit_code == 1
    assert "discreet[sql]" in result.output


def test_a_drawing_that_cannot_be_made_is_one_line(tmp_path):
    result = run("attack", "membership", "--people", 50, "--positions", 100, "--plot", tmp_path / "curve.doc")
    assert result.exit_code == 2
    assert ".svg, .png or .pdf" in result.stderr

"""The attacks on counts from outside: what they print, where they draw, and how they refuse."""

from __future__ import annotations

import importlib
import re
from dataclasses import replace
from pathlib import Path

import pytest

from discreet import attacks
from tests.cli.program import run


def recovered(text: str, who: str) -> float:
    """Return the share in the row of a table that starts with these words."""
    (row,) = (line for line in text.splitlines() if line.startswith(who))
    return float(re.findall(r"([\d.]+) %", row)[0])


@pytest.mark.parametrize("decoder", ["least-squares", "iterative", "lp", "l1", "exhaustive"])
def test_every_decoder_recovers_a_column_from_exact_answers(decoder):
    result = run("attack", "reconstruction", "--decoder", decoder, "--people", 12, "--queries", 60)
    assert result.exit_code == 0, result.output
    assert recovered(result.stdout, "exact answers") == 100.0


@pytest.mark.parametrize("decoder", ["least-squares", "iterative", "lp", "l1"])
def test_noise_below_the_square_root_of_the_people_hardly_helps(decoder):
    arguments = ("--decoder", decoder, "--people", 100, "--queries", 400, "--noise", 0.1, "--seed", 3)
    result = run("attack", "reconstruction", "--against", "noisy", *arguments)
    assert result.exit_code == 0, result.output
    assert recovered(result.stdout, "noise up to 1") >= 95


def test_what_is_certain_about_few_people_stands_beside_what_was_found():
    result = run("attack", "reconstruction", "--decoder", "exhaustive", "--against", "noisy", "--noise", 0.28)
    assert result.exit_code == 0, result.output
    assert "75.0 %" in result.stdout


@pytest.mark.parametrize(("decoder", "people"), [("least-squares", 16), ("lp", 16), ("exhaustive", 4)])
def test_a_session_answers_the_same_questions_for_a_price_with_a_ceiling(decoder, people):
    arguments = ("--decoder", decoder, "--people", people, "--rho", 0.5)
    result = run("attack", "reconstruction", "--against", "discreet", *arguments)
    assert result.exit_code == 0, result.output
    assert "a session, rho 0.5 in all" in result.stdout
    assert "69.2 %" in result.stdout  # Phi(sqrt(rho / 2)): the best test between two tables one row apart


@pytest.mark.parametrize("against", ["plain", "noisy"])
def test_tables_give_a_column_away(against):
    arguments = ("--people", 200, "--attributes", 25, "--noise", 0.2)
    result = run("attack", "marginals", "--against", against, *arguments)
    assert result.exit_code == 0, result.output
    assert recovered(result.stdout, "exact tables") == 100.0
    if against == "noisy":
        assert recovered(result.stdout, "noise up to 0.2") == 100.0


def test_private_tables_have_a_ceiling():
    arguments = ("--people", 30, "--attributes", 6, "--rho", 0.5)
    result = run("attack", "marginals", "--against", "discreet", *arguments)
    assert result.exit_code == 0, result.output
    assert "69.2 %" in result.stdout


def test_a_block_is_proven_in_part_and_private_tables_prove_nobody(monkeypatch):
    # an error beyond the one that is allowed for may leave no block that agrees
    monkeypatch.setattr(importlib.import_module("discreet.cli.attack.census"), "_SURELY", 1 - 1e-12)
    result = run("attack", "census", "--people", 12, "--seed", 2)
    assert result.exit_code == 0, result.output
    text = " ".join(result.stdout.split())
    assert "proven, with age, sex, race and origin 10" in text
    assert "no block agrees with them" in text
    assert "0 people, right if the error is within" in text


@pytest.mark.parametrize(
    "arguments",
    [
        ("reconstruction", "--people", 20, "--queries", 80),
        ("marginals", "--people", 40, "--attributes", 12),
        ("census", "--people", 7),
    ],
    ids=lambda arguments: arguments[0],
)
def test_the_result_is_drawn_where_asked(arguments, tmp_path: Path):
    result = run("attack", *arguments, "--plot", tmp_path / "drawn.svg")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "drawn.svg").read_text(encoding="utf-8").startswith("<?xml")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("reconstruction", "--decoder", "exhaustive", "--people", 17), "at most 16 people"),
        (("reconstruction", "--decoder", "lp", "--people", 1001), "at most 1,000 people"),
        (("reconstruction", "--people", 50, "--queries", 49), "at least as many queries"),
        (("reconstruction", "--against", "discreet", "--people", 3000), "at most 4,096 queries"),
        (("marginals", "--against", "discreet", "--attributes", 70), "at most 2,000 counts"),
        (("marginals", "--ways", 4, "--attributes", 150), "too large"),
        (("census", "--people", 0), "--people"),
    ],
    ids=str,
)
def test_what_cannot_be_done_is_refused_in_one_line(arguments, words):
    result = run("attack", *arguments)
    assert result.exit_code == 2, result.output
    assert words in result.stderr
    assert "Traceback" not in result.output


@pytest.mark.parametrize("name", ["reconstruction", "marginals"])
def test_a_share_that_is_certain_is_rounded_down(name, monkeypatch):
    attack = "random_least_squares" if name == "reconstruction" else "from_marginals"
    real = getattr(attacks, attack)

    def almost(*arguments, **more):
        return replace(real(*arguments, **more), floor=0.9996)

    monkeypatch.setattr(attacks, attack, almost)
    result = run("attack", name, "--people", 20)
    assert result.exit_code == 0, result.output
    assert "99.9 %" in result.output

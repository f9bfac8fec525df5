"""The commands on linkage, ratings and k-anonymity tell what they did, draw where asked, and never raise."""

from __future__ import annotations

import sys

import pytest

from tests.cli.program import run

SMALL = {
    "linkage": ("--people", 2000),
    "ratings": ("--people", 600, "--items", 300, "--targets", 10),
    "anonymity": ("--people", 4000, "--cube", 500, "--k", 5),
}


@pytest.mark.parametrize("name", SMALL)
def test_an_attack_tells_its_story_in_plain_letters_and_draws(name, tmp_path):
    picture = tmp_path / "picture.svg"
    done = run("attack", name, *SMALL[name], "--seed", 3, "--plot", picture)
    assert done.exit_code == 0, done.output
    assert done.output.isascii()
    assert f"Wrote {picture}" in done.output
    assert picture.read_text(encoding="utf-8").startswith("<?xml")


def test_linkage_tells_uniques_the_join_and_a_private_table():
    text = " ".join(run("attack", "linkage", *SMALL["linkage"], "--epsilon", 0.5).output.split())
    for words in ("a register of 1,000 people", "400 patients", "+ birth_date", "expected", "epsilon 0.5"):
        assert words in text
    # a price of 1/2 for one row allows at most 1 / (1 + e^(-1/2)) = 62.2... %
    assert "62.3 %" in text


def test_ratings_tells_shares_and_the_threshold():
    text = run("attack", "ratings", *SMALL["ratings"], "--threshold", 4).output
    for words in ("600 people", "eccentricity of 4", "claimed if absent", "The first 8 of 300 items"):
        assert words in text


def test_anonymity_tells_exposures_and_the_curse():
    text = run("attack", "anonymity", *SMALL["anonymity"]).output
    for words in ("800 patients", "from both", "500 people in groups of 5 or more", "mean side"):
        assert words in text


def test_the_same_seed_tells_the_same_story():
    first, second = (run("attack", "anonymity", *SMALL["anonymity"], "--seed", 9).output for _ in range(2))
    assert first == second


@pytest.mark.parametrize(
    "arguments",
    [
        ("linkage", "--people", 5),
        ("linkage", "--epsilon", 0),
        ("ratings", "--wrong", 1),
        ("anonymity", "--k", 1),
        ("anonymity", "--cube", 100, "--k", 200),
    ],
    ids=str,
)
def test_a_value_out_of_range_is_a_usage_error(arguments):
    done = run("attack", *arguments)
    assert done.exit_code == 2
    assert "Traceback" not in done.output


def test_a_plot_of_an_unknown_kind_and_a_missing_package_are_refused(tmp_path, monkeypatch):
    done = run("attack", "anonymity", *SMALL["anonymity"], "--plot", tmp_path / "picture.bmp")
    assert done.exit_code == 2
    assert ".svg" in done.output
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    done = run("attack", "anonymity", *SMALL["anonymity"], "--plot", tmp_path / "picture.svg")
    assert done.exit_code == 1
    assert "discreet[plot]" in done.output

"""Every table of the attacks and audits fits a terminal of 80 columns, and a plot is refused before the work."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

import pytest

from discreet import attacks
from discreet.audit import Outcome
from discreet.cli import options
from discreet.cli.attack import synthetic
from discreet.cli.program import ATTACKS
from discreet.testing.museum import benchmark, exhibit_named
from discreet.testing.museum import tour as museum_tour
from tests.cli.program import run

COMMANDS = [
    ("linkage", "--people", 2000),
    ("ratings", "--people", 2000),
    ("anonymity", "--people", 2000, "--cube", 200),
    ("differencing",),
    ("reconstruction", "--people", 64, "--against", "noisy"),
    ("reconstruction", "--decoder", "exhaustive", "--people", 6, "--against", "discreet"),
    ("fourier",),
    ("fourier", "--people", 1023, "--against", "noisy", "--garbage", 0.1),
    ("fourier", "--people", 1023, "--against", "noisy", "--kind", "malicious"),
    ("fourier", "--people", 15, "--against", "discreet"),
    ("marginals", "--people", 40, "--attributes", 8, "--against", "discreet"),
    ("census", "--people", 8),
    ("membership", "--people", 50, "--positions", 100),
    ("synthetic", "--people", 400),
    ("inversion", "--models", 4),
    ("lira", "--people", 60, "--columns", 5, "--models", 8),
    ("training", "--canaries", 100, "--guesses", 40),
    ("text", "--people", 50, "--order", 3),
    ("averaging", "--people", 630, "--wordings", 12),
    ("map", "--people", 63, "--queries", 64),
]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: " ".join(map(str, words)))
def test_an_attack_fits_eighty_columns(words, monkeypatch):
    monkeypatch.setattr(synthetic, "_QUERIES", 300)
    result = run("attack", *words, COLUMNS="80")
    assert result.exit_code == 0, result.output
    assert max(map(len, result.output.splitlines())) <= 80


def test_every_attack_is_among_those_measured():
    assert {words[0] for words in COMMANDS} == set(ATTACKS)


def test_the_runs_of_the_museum_fit_eighty_columns_and_break_no_name(monkeypatch):
    whole = museum_tour.tour
    few = [exhibit_named(name) for name in ("TruncatedGeometric", "ShuffledBatches", "NoisyHist2")]
    monkeypatch.setattr(museum_tour, "tour", lambda **given: whole(few, **given))
    sampled = run("audit", "museum", "--statistical", "--draws", 2000, COLUMNS="80")
    assert max(map(len, sampled.output.splitlines())) <= 80
    for exhibit in few:
        assert any(line.startswith(f"{exhibit.label.name} ") for line in sampled.output.splitlines())


@pytest.mark.parametrize("command", [("attack", "map"), ("attack", "fourier"), ("audit", "museum")])
@pytest.mark.parametrize(("file", "words"), [("plot.doc", ".svg, .png or .pdf"), ("nowhere/plot.svg", "no folder")])
def test_a_plot_that_cannot_be_written_is_refused_before_the_work(command, file, words, tmp_path, monkeypatch):
    def worked(*_: object, **__: object) -> None:
        raise AssertionError("it worked before it looked")

    monkeypatch.setattr(attacks, "fundamental_law", worked)
    monkeypatch.setattr(import_module("discreet.cli.attack.fourier"), "invented_bits", worked)
    monkeypatch.setattr(museum_tour, "tour", worked)
    result = run(*command, "--plot", tmp_path / file)
    assert result.exit_code == 2
    assert words in " ".join(result.stderr.split()).replace("│", "")
    assert not result.stdout


def test_a_plot_that_can_be_written_passes(tmp_path):
    assert options._drawable(None, None, tmp_path / "plot.svg") == tmp_path / "plot.svg"  # type: ignore[arg-type]
    assert options._drawable(None, None, None) is None  # type: ignore[arg-type]


def test_the_map_is_drawn_for_the_guarantee_asked_for():
    words = ("attack", "map", "--people", 63, "--queries", 64)
    default, dearer = run(*words), run(*words, "--epsilon", 4, "--delta", 1e-4)
    assert "(1, 1e-06)" in default.output
    assert "(4, 0.0001)" in dearer.output
    assert default.output.splitlines()[-8:] != dearer.output.splitlines()[-8:]


def test_an_exhaustive_search_says_that_it_asks_about_all_sets():
    result = run("attack", "reconstruction", "--decoder", "exhaustive", "--people", 5)
    assert "32 counts" in result.output
    assert "one of all sets of people" in " ".join(result.output.split())
    assert "about half" not in " ".join(result.output.split())


def test_too_few_queries_name_the_option_and_not_the_solver():
    result = run("attack", "reconstruction", "--people", 64, "--queries", 20)
    assert result.exit_code == 2
    assert "--decoder iterative" in result.stderr
    assert "Solver" not in result.stderr


@pytest.mark.parametrize(
    "words",
    [("attack", name) for name in ("fourier", "reconstruction", "averaging", "map", "marginals", "anonymity", "census")]
    + [("audit", "museum"), ("audit", "self")],
)
def test_a_long_command_says_how_long_it_takes(words):
    assert "Takes " in run(*words, "--help").output


def test_a_verdict_that_is_not_on_the_label_says_so(monkeypatch):
    found = museum_tour.tour(benchmark()[:1])
    (stop,) = found.stops
    wrong = replace(stop, label=replace(stop.label, expected=Outcome.REFUTED))
    monkeypatch.setattr(museum_tour, "tour", lambda **_: replace(found, stops=(wrong,)))
    result = run("audit", "museum")
    assert result.exit_code == 1
    assert "kept, not refuted" in result.output

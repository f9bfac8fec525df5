"""`discreet audit museum` shows every exhibit with its verdict, and fails when one is not that on the label."""

from __future__ import annotations

from dataclasses import replace

import pytest

from discreet.audit import Outcome
from discreet.testing.museum import MUSEUM, benchmark
from discreet.testing.museum import tour as museum_tour
from discreet.testing.museum.tour import Tour
from tests.cli.program import run


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Shorten the tour to three exhibits."""
    whole = museum_tour.tour
    monkeypatch.setattr(museum_tour, "tour", lambda **options: whole(benchmark()[1:4], **options))


def test_the_whole_museum_gets_the_verdicts_on_its_labels():
    result = run("audit", "museum", "--published", COLUMNS="80")
    assert result.exit_code == 0, result.output
    assert max(map(len, result.output.splitlines())) <= 80
    for exhibit in MUSEUM:
        assert exhibit.label.name in result.output
    assert "10.0022*" in result.output
    assert "0.3008*" in result.output
    assert result.output.count("*") == 3  # two bounds and the line that explains the star
    assert "Every verdict is the one on the label." in result.output


@pytest.mark.usefixtures("few")
def test_runs_are_shown_beside_when_asked_for():
    result = run("audit", "museum", "--statistical", "--draws", 20_000)
    assert result.exit_code == 0, result.output
    assert "sampled" in result.output
    assert "20,000 runs" in result.output


def test_runs_are_made_on_the_neighbors_that_are_told_apart_best() -> None:
    (best,) = museum_tour.told_apart_best(benchmark()[18])  # running totals: all ten counts move
    assert abs(best[0] - best[1]).tolist() == [1.0] * 10
    floating = next(exhibit for exhibit in MUSEUM if exhibit.label.name == "FloatingLaplace")
    assert museum_tour.told_apart_best(floating) == floating.neighbors()


def test_progress_counts_every_exhibit() -> None:
    told: list[tuple[int, int | None]] = []
    museum_tour.tour(benchmark()[:3], progress=lambda *step: told.append(step))
    assert told == [(0, 3), (1, 3), (2, 3), (3, 3)]


@pytest.mark.usefixtures("few")
def test_the_losses_can_be_drawn(tmp_path):
    pytest.importorskip("matplotlib")
    result = run("audit", "museum", "--plot", tmp_path / "museum.svg")
    assert result.exit_code == 0, result.output
    assert "<svg" in (tmp_path / "museum.svg").read_text(encoding="utf-8")


def test_a_wrong_verdict_ends_with_an_error(monkeypatch):
    whole = museum_tour.tour

    def mislabeled(**options: object) -> Tour:
        found = whole(benchmark()[:2], **options)
        first = found.stops[0]
        wrong = replace(first, label=replace(first.label, expected=Outcome.REFUTED))
        return Tour((wrong, *found.stops[1:]), found.seconds)

    monkeypatch.setattr(museum_tour, "tour", mislabeled)
    result = run("audit", "museum")
    assert result.exit_code == 1
    assert "not the verdict on the label: Laplace" in result.output

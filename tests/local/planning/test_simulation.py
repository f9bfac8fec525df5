"""Invented fleets: the measured error is that of the law, the same people come from the same seed."""

from __future__ import annotations

import pytest

from discreet.errors import ParameterError
from discreet.local.planning.simulation import _ticks, simulate


def test_the_measured_error_is_near_the_predicted_one():
    found = simulate(people=[50_000, 200_000], categories=512, epsilons=[0.5, 1, 3], seed=4)
    assert [(e.people, e.epsilon) for e in found.errors] == [
        (n, epsilon) for n in (50_000, 200_000) for epsilon in (0.5, 1.0, 3.0)
    ]
    for error in found.errors:
        # a mean square over hundreds of hardly correlated values: outside less often than once in 1e15
        assert 1 / 1.8 < (error.measured / error.predicted) ** 2 < 1.8
        assert 0.98 <= error.predicted / error.optimum <= 1.06


def test_more_people_and_a_higher_price_have_less_error():
    few, many = simulate(people=[1000, 100_000], categories=64, epsilons=[1], seed=4).errors
    assert few.predicted == pytest.approx(10 * many.predicted)
    cheap, dear = simulate(people=[1000], categories=64, epsilons=[0.5, 2], seed=4).errors
    assert dear.predicted < cheap.predicted / 3


def test_progress_counts_fleets_and_the_result_shows_itself(tmp_path):
    told: list[tuple[int, int | None]] = []
    found = simulate(
        people=[1000, 2000], categories=16, epsilons=[1, 2], seed=1, progress=lambda *seen: told.append(seen)
    )
    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert "randomized-response" in str(found)
    assert "<table" in found._repr_html_()
    assert found.plot().save(tmp_path / "error.svg").read_text(encoding="utf-8").startswith("<?xml")


@pytest.mark.parametrize(("people", "epsilons"), [([1000], [1]), ([1000], [1, 2]), ([1000, 10**6], [0.1, 8])])
def test_the_axis_of_errors_has_numbers(people, epsilons):
    drawn = simulate(people=people, categories=16, epsilons=epsilons, seed=1).plot().figure.axes[0]
    low, high = drawn.get_ylim()
    shown = [tick.get_text() for tick in drawn.get_yticklabels() if low <= float(tick.get_text()) <= high]
    assert 2 <= len(shown) <= 10
    drawn.figure.clear()


def test_lines_of_many_fleets_differ_and_their_prices_can_be_read():
    found = simulate(people=[100, 200, 300, 400, 500, 600], categories=4, epsilons=[1, 1.03, 1.06, 2], seed=1)
    drawn = found.plot().figure.axes[0]
    lines = [
        (line.get_color(), line.get_linestyle()) for line in drawn.get_lines() if "people" in str(line.get_label())
    ]
    assert len(set(lines)) == len(lines) == 6
    assert [tick.get_text() for tick in drawn.get_xticklabels()] == ["1", "", "1.06", "2"]
    drawn.figure.clear()


def test_ends_four_times_apart_have_two_numbers_between_them():
    for place in range(-200, 0):
        low = 10 ** (place / 50)
        assert len(_ticks(low, 4 * low)) >= 2


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"people": []}, "people"),
        ({"people": 100}, "lists of at least one"),
        ({"people": "12"}, "lists of at least one"),
        ({"epsilons": []}, "lists of at least one"),
        ({"epsilons": "1"}, "lists of at least one"),
        ({"categories": 1}, "categories"),
        ({"exponent": float("nan")}, "exponent"),
        ({"exponent": float("inf")}, "exponent"),
        ({"exponent": -1}, "exponent"),
        ({"exponent": "1"}, "exponent"),
    ],
)
def test_nothing_to_simulate_is_refused(change, word):
    asked = {"people": [100], "categories": 4, "epsilons": [1], "seed": 1} | change
    with pytest.raises(ParameterError, match=word):
        simulate(**asked)

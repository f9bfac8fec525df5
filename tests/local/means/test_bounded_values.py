"""Rounding by chance is exact, and what is no value in the range is refused without being shown."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.data.invention import coins
from discreet.errors import InputError, MissingParameter, ParameterError
from discreet.local.means import piecewise as bounded_values
from discreet.local.means.one_bit_and_hybrid import DuchiBit
from discreet.local.means.piecewise import checked_values, grid_positions

LOW, HIGH = Fraction(-1), Fraction(3)
UNIT = Fraction(0), Fraction(1)


class Surprise:
    def __repr__(self) -> str:
        return "Surprise()"

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("secret 42")


@pytest.mark.parametrize(
    "values",
    [
        [float("nan")],
        [float("inf")],
        [-float("inf")],
        [3.0000000000000004],
        [-1.0000000000000002],
        [Fraction(31, 10)],
        [True],
        [np.timedelta64(1)],
        np.array([np.timedelta64(1)], dtype=object),
        ["1"],
        [None],
        [Decimal(1)],
        [1 + 0j],
        [[1.0]],
        [np.longdouble(1)],
        1.0,
        "1",
        np.array([True]),
        np.array([[1.0]]),
        np.array([1.0], dtype=np.longdouble),
        np.array([np.nan, 1.0]),
        np.array(["1"]),
        np.array([b"1"]),
        np.array([2**63], dtype=np.uint64),
        np.ma.masked_array([1.0, 2.0], mask=[False, True]),
        np.datetime64("2020-01-01"),
        Surprise(),
    ],
    ids=repr,
)
def test_what_is_no_number_in_the_range_is_refused_in_the_same_words(values: Any) -> None:
    with pytest.raises(InputError, match="nothing was reported") as caught:
        checked_values(values, (LOW, HIGH))
    assert "42" not in str(caught.value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_the_range_is_judged_by_its_exact_ends() -> None:
    third = Fraction(1, 3)
    below = float(third)  # the nearest float is less than a third
    assert Fraction(below) < third
    with pytest.raises(InputError):
        checked_values([below], (third, Fraction(1)))
    assert checked_values([np.nextafter(below, 1), third, 1], (third, Fraction(1))).size == 3
    assert checked_values(np.array([], dtype=np.float64), (LOW, HIGH)).size == 0


def test_minus_zero_is_zero_and_integers_are_exact() -> None:
    assert grid_positions(checked_values([-0.0], UNIT), UNIT, 5)[0] == 0
    large = np.array([2**60 + 1], dtype=np.int64)
    found = checked_values(large, (Fraction(0), Fraction(2**62)))
    assert found.tolist() == [2**60 + 1]
    assert isinstance(found[0], Fraction)


@pytest.mark.theorem("grid_positions.accuracy")
@pytest.mark.parametrize("steps", [1, 7, 64])
@pytest.mark.parametrize(
    ("low", "high"),
    [(LOW, HIGH), (Fraction(1, 3), Fraction(5, 3)), (Fraction(10**12), Fraction(10**12 + 1)), (LOW, Fraction(1e-3))],
)
def test_floats_round_as_exact_arithmetic_does_on_the_same_words(
    steps: int, low: Fraction, high: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    invented = coins(5, steps)
    width = float(high - low)
    values = np.clip(float(low) + width * invented.random(3000), float(low) + width / 99, float(high) - width / 99)
    words = invented.integers(0, 2**64, size=3000, dtype=np.uint64, endpoint=False)
    # words that put the sum just below or above an integer, but never leave it open
    for index in range(0, 3000, 3):
        rest = 1 - steps * (Fraction(values[index]) - low) / (high - low) % 1
        words[index] = min(max(int(rest * 2**64) + (-2, -1, 1, 2)[index % 4], 0), 2**64 - 1)
    monkeypatch.setattr(bounded_values, "words", lambda count: words[:count])
    fast = grid_positions(values, (low, high), steps)
    exact = np.array([Fraction(value) for value in values], dtype=object)
    assert np.array_equal(fast, grid_positions(exact, (low, high), steps))


@pytest.mark.theorem("grid_positions.accuracy")
def test_the_position_counts_words_in_proportion_to_the_share(monkeypatch: pytest.MonkeyPatch) -> None:
    # all 2^10 first words of 10 bits: a value at t = 1 + 307/1024 goes up for exactly 307 of them
    words = np.arange(1024, dtype=np.uint64) << np.uint64(54)
    monkeypatch.setattr(bounded_values, "words", lambda count: words[:count])
    positions = grid_positions(np.full(1024, (1 + 307 / 1024) / 4), UNIT, 4)
    assert np.bincount(positions).tolist() == [0, 1024 - 307, 307]


def test_a_value_on_the_grid_stays_there() -> None:
    values = np.array([0.0, 0.25, 0.5, 0.75, 1.0] * 200)
    positions = grid_positions(values, UNIT, 4)
    assert np.array_equal(positions, values * 4)


def test_more_bits_are_drawn_where_the_first_word_does_not_settle_it(monkeypatch: pytest.MonkeyPatch) -> None:
    first = int(Fraction(2, 3) * 2**64)  # 1 - 1/3 lies strictly within this word
    monkeypatch.setattr(bounded_values, "words", lambda count: np.full(count, first, dtype=np.uint64))
    third = np.array([Fraction(1, 3)] * 200, dtype=object)
    # 2/3 = .1010...: of the bits after the first word, 2/3 lie below
    assert set(grid_positions(third, UNIT, 1).tolist()) == {0, 1}


@pytest.mark.parametrize(
    ("low", "high", "error"),
    [
        (None, 1, ParameterError),
        (0, None, ParameterError),
        (1, 1, ParameterError),
        (2, 1, ParameterError),
        (float("nan"), 1, ParameterError),
        (0, float("inf"), ParameterError),
        (True, 2, ParameterError),
        ("0", 1, ParameterError),
        (0, Fraction(1, 10**300), ParameterError),
        (0, 10**300, ParameterError),
        (Fraction(1, 3**1000), 1, ParameterError),
    ],
)
def test_bounds_are_public_finite_and_apart(low: Any, high: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        DuchiBit(epsilon=Fraction(1), bounds=(low, high))


@pytest.mark.parametrize("bounds", [(), (1,), (0, 1, 2), 5, "01", {0, 1}])
def test_bounds_are_two_numbers(bounds: Any) -> None:
    with pytest.raises(ParameterError, match="two numbers"):
        DuchiBit(epsilon=1, bounds=bounds)
    with pytest.raises(MissingParameter):
        DuchiBit(epsilon=1, bounds=None)  # type: ignore[arg-type]

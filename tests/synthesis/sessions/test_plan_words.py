"""Plans in words and in plain values: few numbers in full, many as their range, fractions exactly beside."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.privacy import Price, Relation
from discreet.synthesis import Domain, Neighbors, marginals
from discreet.synthesis.methods import METHODS
from discreet.synthesis.sessions.in_words import exact, plain, plan_lines, value_in_words

HOME = Domain.of(sex=["f", "m"], rooms=range(1, 6), tenure=["own", "rent"])


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (100_000, "100,000"),
        (True, "True"),
        (Fraction(1, 3), "0.333333"),
        (Fraction(10**400), str(10**400)),
        (float("inf"), "inf"),
        (np.float64(0.5), "0.5"),
        (Relation.ADD_REMOVE, "add/remove"),
        ("a reason " * 30, "a reason " * 30),
        ({"age": 1.25, "sex": 3}, "age 1.25, sex 3"),
        ({str(place): place for place in range(50)}, "50 values from 0 to 49"),
        ((4,) * 9, "4 for each of 9"),
        (("a",) * 9, "9 values"),
    ],
)
def test_values_are_short_and_reasons_whole(value: Any, words: str) -> None:
    assert value_in_words(value) == words


@pytest.mark.parametrize("method", METHODS)
def test_every_plan_has_short_lines_and_plain_values(method: str) -> None:
    made = METHODS[method](marginals(HOME, ways=2), Neighbors(Relation.ADD_REMOVE, 1000), Price(epsilon=Fraction(1)))
    lines = dict(plan_lines(made.plan))
    assert len(lines) == len(made.plan)
    assert not any("_" in name or "Fraction" in words or "{" in words for name, words in lines.items())
    values = plain(made.plan)
    assert json.loads(json.dumps(values, allow_nan=False)) == values
    for name, value in made.plan.items():
        if isinstance(value, int | float | Fraction):
            assert values[name] == pytest.approx(float(value), rel=1e-15)
    for name, text in exact(made.plan).items():
        assert Fraction(text) == made.plan[name]


def test_what_is_not_finite_or_no_float_is_none_or_text() -> None:
    assert plain([float("nan"), float("-inf"), Fraction(10**400), Relation.ADD_REMOVE]) == [
        None, None, str(10**400), "add/remove",
    ]  # fmt: skip

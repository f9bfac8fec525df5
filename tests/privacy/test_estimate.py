"""Estimates: a value, its interval, what it is for, and how it reads."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.privacy import Estimate, PureDP, Target


def estimate(value=0.412, low=0.371, high=0.453, confidence=0.95, target=Target.TABLE, guarantee=None, method="law"):
    """Return an estimate with everything defaulted but what a test is about."""
    return Estimate(value, low, high, confidence, target, guarantee or PureDP(1), method)


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (estimate(), "0.412 [0.371, 0.453] (95 %, table)"),
        (estimate(41, 38, 44), "41 [38, 44] (95 %, table)"),
        (estimate(1234567, 1234000, 1235000, 0.9), "1234567 [1234000, 1235000] (90 %, table)"),
        (estimate(0.5, 0.1, 0.9, 0.999, Target.POPULATION), "0.50 [0.10, 0.90] (99.9 %, population)"),
        (estimate(-0.02, 0.0, 0.05), "-0.020 [0.000, 0.050] (95 %, table)"),
        (estimate(10, -math.inf, 12), "10 [-∞, 12] (95 %, table)"),
        (estimate(Fraction(1, 3), 0.3, 0.4), "0.333 [0.300, 0.400] (95 %, table)"),
        (estimate(123.456, 100.0, 150.0), "123 [100, 150] (95 %, table)"),
        (estimate(41, 38, 44, 1 - 0.05 / 9), "41 [38, 44] (99.4444 %, table)"),
        (estimate(41, 38, 44, 1 - 1e-10), "41 [38, 44] (99.99999999 %, table)"),
    ],
)
def test_an_estimate_reads_to_the_digits_that_mean_something(made, text):
    assert str(made) == text


@given(st.floats(-1e6, 1e6), st.floats(1e-6, 1e5))
def test_the_interval_that_is_shown_contains_the_one_that_is_meant(value, half):
    low, high = value - half, value + half
    text = str(estimate(value, low, high))
    shown_low, shown_high = (float(one) for one in text.partition("[")[2].partition("]")[0].split(","))
    slack = 1e-9 * max(abs(value), 1.0)
    assert shown_low <= low + slack
    assert shown_high >= high - slack
    assert shown_high - shown_low <= 2.6 * half + 2e-6


def test_numpy_scalars_become_plain_numbers():
    made = estimate(np.float64(1.5), np.float32(1.0), np.int64(2))
    assert (type(made.value), type(made.low), type(made.high)) == (float, float, float)
    assert float(made) == 1.5


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"value": math.nan}, "value"),
        ({"value": "1"}, "value"),
        ({"value": True}, "value"),
        ({"low": math.nan}, "low"),
        ({"low": 0.9, "high": 0.1}, "low"),
        ({"high": None}, "high"),
        ({"confidence": 0}, "confidence"),
        ({"confidence": 1}, "confidence"),
        ({"confidence": 95}, "confidence"),
        ({"confidence": math.nan}, "confidence"),
        ({"target": "table"}, "target"),
        ({"guarantee": 1.0}, "guarantee"),
    ],
)
def test_what_is_no_estimate_is_refused_by_name(change, name):
    with pytest.raises(ParameterError) as caught:
        estimate(**change)
    assert caught.value.parameter == name


def test_html_is_escaped_and_says_the_guarantee():
    html = estimate(method="<script>")._repr_html_()
    assert "<script>" not in html
    assert "1-differential privacy" in html
    assert "95 % interval for the table" in html

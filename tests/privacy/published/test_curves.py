"""One release as other accountants publish it: every printed number agrees with our certified bounds."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.laws import DiscreteGaussian, DiscreteLaplace, FinitePair, LocationPair
from discreet.privacy.loss.release import largest_of
from discreet.privacy.pairs import LaplacePair, NormalPair, PoissonPair
from tests.privacy.published import curves

PLACES = 5e-8  # the tables are compared to seven places by their authors


def pair_of(kind, scale, sensitivity, rate, side):
    """Return the pair of a release in one direction, on a sample if the rate is below 1."""
    scale = Fraction(scale)
    base = {
        "laplace": lambda: LaplacePair(sensitivity / scale),
        "gaussian": lambda: NormalPair(sensitivity / scale),
        "discrete laplace": lambda: LocationPair(DiscreteLaplace(1 / scale), shift=sensitivity),
        "discrete gaussian": lambda: LocationPair(DiscreteGaussian(scale), shift=sensitivity),
    }[kind]()
    return base if rate == 1 else PoissonPair(base, rate, side)


def cut_gaussian(scale, sensitivity, cut):
    """Return the pair of discrete Gaussian noise that is cut off and scaled to 1."""
    places = np.arange(-cut - sensitivity, cut + sensitivity + 1)
    weights = [
        np.where(np.abs(places - center) <= cut, np.exp(-((places - center) ** 2) / (2 * scale**2)), 0.0)
        for center in (sensitivity, 0)
    ]
    p, q = (weight / math.fsum(weight) for weight in weights)
    slack = 1e-14
    return FinitePair(list(places), p * (1 - slack), p * (1 + slack), q * (1 - slack), q * (1 + slack))


ROWS = [
    *(("laplace", *row) for row in curves.LAPLACE),
    *(("gaussian", *row) for row in curves.GAUSSIAN),
    *(("discrete laplace", *row) for row in curves.DISCRETE_LAPLACE),
]


def close(enclosure, printed, places=PLACES):
    """Say whether a printed number lies within certified bounds, but for its rounding."""
    return enclosure.lower - places <= printed <= enclosure.upper + places and enclosure.width <= places


@pytest.mark.parametrize(("kind", "scale", "sensitivity", "rate", "sides", "printed"), ROWS)
def test_published_deltas_agree(kind, scale, sensitivity, rate, sides, printed):
    for side in sides:
        pair = pair_of(kind, scale, sensitivity, rate, side)
        for level, delta in printed.items():
            places = 1e-6 if scale == 0.333333 else PLACES  # that scale is itself rounded
            assert close(pair.delta(level), delta, places), (side, level)


@pytest.mark.parametrize(("scale", "sensitivity", "cut", "rate", "sides", "printed"), curves.CUT_GAUSSIAN)
def test_published_deltas_of_noise_that_is_cut_off_agree(scale, sensitivity, cut, rate, sides, printed):
    for side in sides:
        base = cut_gaussian(scale, sensitivity, cut)
        pair = base if rate == 1 else PoissonPair(base, rate, side)
        assert all(close(pair.delta(level), delta) for level, delta in printed.items())


@pytest.mark.parametrize(("kind", "scale", "sensitivity", "rate", "side", "step", "printed"), curves.DOTS)
def test_published_masses_are_second_differences_of_our_curve(kind, scale, sensitivity, rate, side, step, printed):
    pair = pair_of(kind, scale, sensitivity, rate, side)
    found = {}
    for place in range(min(printed) - 1, max(printed) + 2):
        levels = [(place + move) * step for move in (-1, 0, 1)]
        low, here, high = (math.exp(level) for level in levels)
        deltas = [pair.delta(level).estimate for level in levels]
        found[place] = here * ((deltas[2] - deltas[1]) / (high - here) - (deltas[1] - deltas[0]) / (here - low))
    assert all(found[place] == pytest.approx(mass, abs=2e-7) for place, mass in printed.items())
    if kind != "gaussian":  # whose tables stop where their authors cut the tails
        assert sum(abs(mass) for place, mass in found.items() if place not in printed) <= 1e-6


def delta_at(kind, scale, sensitivity, rate, epsilon):
    """Return the enclosed delta of a release in its worse direction, with a scale in its table's own terms."""
    return largest_of([pair_of(kind, scale, sensitivity, rate, side).delta(epsilon) for side in curves.BOTH])


@pytest.mark.parametrize("row", curves.TARGETS)
def test_published_noise_meets_its_target_within_its_rounding(row):
    kind, sensitivity, rate, epsilon, delta, scale, rounding = row
    ends = [delta_at(kind, scale + move, sensitivity, rate, epsilon) for move in (-rounding, rounding)]
    assert min(end.lower for end in ends) <= delta <= max(end.upper for end in ends)


@pytest.mark.parametrize("row", curves.SPARING)
def test_published_noise_that_spends_no_delta_meets_its_target_and_more(row):
    kind, sensitivity, rate, epsilon, delta, scale = row
    assert delta_at(kind, scale, sensitivity, rate, epsilon).upper <= 1e-8 < delta

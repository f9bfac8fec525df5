"""Draws of two hyperparameters follow their density, whatever the spline between nodes does."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest

from discreet.bayes.base import HalfNormal, Normal
from discreet.bayes.regression.areas.plane import Plane, Wedge
from discreet.errors import NotConverged

# Seeds are fixed, so that these pass always or never: KS p above .001 for every number.


@pytest.mark.theorem("Plane.accuracy")
@pytest.mark.parametrize("narrow", [0.5, 0.05, 0.0005])
def test_draws_follow_a_wedge_whatever_its_tip(narrow):
    """The spread is exponential; the center given the spread is normal with deviation `narrow` + spread."""

    def density(x, y):
        return -0.5 * (x / (narrow + y)) ** 2 - np.log(narrow + y) - y

    generator = np.random.default_rng(4)
    plane = Plane.of(density, Wedge(0.3 * narrow, narrow, narrow, 40.0), generator=generator)
    x, y = plane.drawn(4000, generator)
    assert kstest(y, "expon").pvalue > 0.001
    assert kstest(x / (narrow + y), "norm").pvalue > 0.001
    assert plane.log_total == pytest.approx(0.5 * np.log(2 * np.pi), abs=0.01)


@pytest.mark.theorem("Plane.accuracy")
@pytest.mark.parametrize("largest", [0.02, 0.5])
def test_spreads_are_drawn_from_beyond_where_the_search_begins(largest):
    """The prior of the spread may end long before what was released does."""

    def density(x, y):
        return -0.5 * (x / (0.1 + y)) ** 2 - np.log(0.1 + y) - y

    generator = np.random.default_rng(7)
    plane = Plane.of(density, Wedge(0.0, 0.1, 0.01, largest), generator=generator)
    assert kstest(plane.drawn(4000, generator)[1], "expon").pvalue > 0.001
    assert plane.log_total == pytest.approx(0.5 * np.log(2 * np.pi), abs=0.01)


@pytest.mark.parametrize("place", [3.2, -0.001, -400.0])
@pytest.mark.parametrize("narrow", [1.0, 0.001])
def test_a_peak_is_found_wherever_it_is(place, narrow):
    def density(x, y):
        return -0.5 * ((x - place) / (narrow + y)) ** 2 - np.log(narrow + y) - 0.5 * ((y - 0.4) / 0.01) ** 2

    generator = np.random.default_rng(5)
    wedge = Wedge.of(density, Normal(0, 2), HalfNormal(1), 0.1)
    assert wedge.middle == pytest.approx(place, abs=0.01 * wedge.width)
    x, y = Plane.of(density, wedge, generator=generator).drawn(4000, generator)
    assert kstest((x - place) / (narrow + y), "norm").pvalue > 0.001
    assert kstest((y - 0.4) / 0.01, "norm").pvalue > 0.001


@pytest.mark.theorem("Plane.accuracy")
def test_a_density_that_no_grid_holds_is_refused():
    jagged = np.random.default_rng(6)
    with pytest.raises(NotConverged, match="write narrower priors"):
        Plane.of(lambda x, y: jagged.normal(size=x.shape) - x**2 - y, Wedge(0.0, 1.0, 1.0, 9.0), generator=jagged)

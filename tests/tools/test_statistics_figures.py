"""The lines in the figures of statistics stand for what their names say."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.privacy import Relation
from discreet.statistics import Mean
from tools.figures.statistics.sums import _count, _mean, _mean_of_known_size, _ratio, _sum


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
def test_the_centered_ratio_is_what_the_mean_releases_under_change_one_with_missing_values(epsilon):
    statistic = Mean(bounds=(0, 100), relation=Relation.CHANGE_ONE, epsilon=epsilon)
    whole = statistic.scale.steps * 100_000
    exact = statistic.estimate(np.array([2 * (whole * 3 // 10) - whole, whole], dtype=object), public_rows=None)
    assert (exact.high - exact.low) / 2 == pytest.approx(_ratio(epsilon, 100_000, (1.0, 0.4)), rel=1e-2)


def test_two_distances_lie_below_the_other_means_at_every_place_drawn():
    for epsilon in (0.01, 0.1, 2.0):
        best = _mean(epsilon, 10_000)
        assert best < _mean_of_known_size(epsilon, 10_000) < _ratio(epsilon, 10_000, (1.0, 0.4))
        assert _ratio(epsilon, 10_000, (1.0, 0.4)) < _ratio(epsilon, 10_000, (2.0, 0.6))


def test_half_widths_are_in_people_and_in_the_unit_of_the_values():
    assert _count(1.0) == 3
    assert _count(1.0, rows=3) == pytest.approx(9, abs=0.05)
    assert _sum(1.0, (0, 100), Relation.ADD_REMOVE) == pytest.approx(300, abs=1)
    assert _sum(1.0, (-50, 100), Relation.CHANGE_ONE) == pytest.approx(450, abs=1)

"""Residuals from noisy histograms: their combination is generalized least squares, to rounding."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from discreet.data.invention import coins
from discreet.synthesis.base.allowance import Noisy
from discreet.synthesis.methods.residual.basis import cell_variance
from discreet.synthesis.methods.residual.method import combined, maximal

SIZES = (2, 3, 4)
SETS = [(0, 1), (1, 2), (0, 2)]


def _rows(one: tuple[int, ...]) -> np.ndarray:
    people = list(product(*map(range, SIZES)))
    cells = product(*(range(SIZES[place]) for place in one))
    return np.array([[tuple(person[place] for place in one) == cell for person in people] for cell in cells], float)


@pytest.mark.theorem("combined.accuracy")
def test_the_combination_is_generalized_least_squares() -> None:
    deviations = [1.5, 4.0, 0.7]
    noisy = [
        Noisy(coins(place).integers(0, 50, [SIZES[at] for at in one]), deviation)
        for place, (one, deviation) in enumerate(zip(SETS, deviations, strict=True))
    ]
    found = combined(SETS, noisy, SIZES, None)
    design = np.concatenate([_rows(one) / deviation for one, deviation in zip(SETS, deviations, strict=True)])
    values = np.concatenate([one.values.ravel() / one.deviation for one in noisy])
    inverse = np.linalg.pinv(design.T @ design, hermitian=True)
    for one in [*SETS, (1,), (2,)]:
        rows = _rows(one)
        assert np.allclose(rows @ inverse @ design.T @ values, found.marginal(one).ravel(), atol=1e-9)
        assert np.allclose(np.diag(rows @ inverse @ rows.T), found.variance(one), rtol=1e-9)


def test_a_known_total_is_kept_exactly() -> None:
    found = combined([(0, 1)], [Noisy(np.arange(6).reshape(2, 3), 2.0)], SIZES, 100)
    assert found.marginal((0, 1)).sum() == pytest.approx(100)
    assert found.variance((0,)) < cell_variance((0,), SIZES, {**found.variances, (): 24.0})


def test_only_maximal_sets_are_measured_and_once() -> None:
    assert maximal([(0,), (0, 1), (1, 0)[::-1], (2,), (2,)]) == ((2,), (0, 1))
    assert maximal([()]) == ((),)

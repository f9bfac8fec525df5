"""The robust Fourier attack recovers a column where a share of the answers is garbage, and knows how near it came."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from discreet.attacks import Characters, fourier, noisy_answers, robust_fourier
from discreet.attacks.asking.noise import garbage, uniform_noise
from discreet.attacks.reconstructing.fourier_attack import least_absolute, polished
from discreet.errors import InputError, ParameterError


def bits(people: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2, people)


def spoiled(design: Characters, secret: np.ndarray, level: float, share: float) -> np.ndarray:
    error = level * np.sqrt(design.length)
    return noisy_answers(secret, garbage(share, seed=21, of=uniform_noise(error, seed=22)))(design)


@pytest.mark.parametrize(
    ("power", "relabelings", "level", "share"),
    [(14, 4, 0.1, 0.1), (14, 4, 0.1, 0.2), (14, 4, 0.1, 0.3), (14, 8, 0.25, 0.2), (12, 8, 0.1, 0.4)],
)
def test_garbage_defeats_squares_and_not_absolute_values(power, relabelings, level, share, rounds):
    power = rounds(sample=power, full=16)
    people = 2**power - 1
    design, secret = Characters(people=people, relabelings=relabelings, seed=23), bits(people, 24)
    answers = spoiled(design, secret, level, share)
    squares = fourier(lambda _: answers, people, relabelings=relabelings, seed=23, truth=secret)
    found = robust_fourier(lambda _: answers, people, relabelings=relabelings, seed=23, truth=secret)
    assert squares.recovered <= 0.6
    assert found.recovered >= 0.999
    assert found.queries == relabelings * 2**power


@pytest.mark.theorem("least_absolute.accuracy", "robust_fourier.accuracy")
@pytest.mark.parametrize("share", [0.0, 0.1, 0.3])
def test_the_sum_of_absolute_residuals_is_the_least_by_linear_programming(share):
    design, secret = Characters(people=13, relabelings=4, seed=1), bits(13, 2)
    answers = spoiled(design, secret, 0.1, share)
    matrix = np.array([design.times(column) for column in np.eye(16)]).T
    rows, columns = matrix.shape
    most = np.concatenate([[13.0], np.ones(13), np.zeros(2)])
    # least sum of t with -t <= M u - y <= t
    solved = linprog(
        np.concatenate([np.zeros(columns), np.ones(rows)]),
        A_ub=np.block([[matrix, -np.eye(rows)], [-matrix, -np.eye(rows)]]),
        b_ub=np.concatenate([answers, -answers]),
        bounds=[*((0, top) for top in most), *((0, None) for _ in range(rows))],
    )
    for rounds, near in ((1, None), (60, 0.05), (3000, 1e-3)):
        fit = least_absolute(design, answers, rounds=rounds)
        assert fit.least <= solved.fun * (1 + 1e-9)
        assert solved.fun * (1 - 1e-9) <= fit.distance
        assert near is None or fit.distance <= fit.least * (1 + near)
        assert fit.distance == pytest.approx(np.abs(matrix @ fit.column - answers).sum())
        assert fit.column.min() >= 0
        assert np.all(fit.column <= most)


@pytest.mark.theorem("least_absolute.accuracy", "robust_fourier.accuracy")
@pytest.mark.parametrize(("level", "share"), [(0.0, 0.0), (0.0, 0.2), (0.1, 0.1), (0.25, 0.2)])
def test_sixty_rounds_come_within_a_hundredth_of_the_least(level, share):
    design, secret = Characters(people=4000, relabelings=4, seed=3), bits(4000, 4)
    answers = spoiled(design, secret, level, share)
    fit = least_absolute(design, answers)
    assert 0 <= fit.least <= fit.distance * (1 + 1e-9)
    assert fit.distance - fit.least <= 0.01 * fit.least + 1e-3 * len(design)


def test_polishing_averages_what_is_plausible():
    design, secret = Characters(people=4095, relabelings=8, seed=5), bits(4095, 6)
    answers = spoiled(design, secret, 0.25, 0.2)
    fit = least_absolute(design, answers)
    before = np.count_nonzero((fit.column[1:] > 0.5) != secret)
    after = np.count_nonzero((polished(design, answers, fit)[1:] > 0.5) != secret)
    assert after < before
    kept = np.abs(fit.residuals) <= 4 * np.median(np.abs(fit.residuals))
    # the normal equations of the answers that are kept
    left = design.transposed(kept * (design.times(polished(design, answers, fit)) - answers))
    assert np.abs(left).max() <= 1e-3 * np.abs(design.transposed(kept * answers)).max()


@pytest.mark.theorem("robust_fourier.privacy")
def test_the_ceiling_of_a_price_is_told_beside_the_result():
    import discreet as dp

    secret = bits(100)
    loss = dp.PureDP(1, relation=dp.Relation.ADD_REMOVE).loss
    ask = noisy_answers(secret, uniform_noise(1, seed=1))
    found = robust_fourier(ask, 100, relabelings=4, seed=1, truth=secret, loss=loss)
    assert found.ceiling.upper == pytest.approx(0.7310585786)
    assert "100" in repr(found)


@pytest.mark.parametrize("wrong", [{"rounds": 0}, {"relabelings": 0}, {"truth": [0, 1]}])
def test_what_makes_no_attack_is_refused(wrong):
    with pytest.raises((ParameterError, InputError)):
        robust_fourier(lambda design: np.zeros(len(design)), 10, **{"relabelings": 4, "seed": 1} | wrong)

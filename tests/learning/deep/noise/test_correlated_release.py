"""Correlated noise is exact noise on mixed integer sums, and what a step added is recovered from releases alone."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from discreet.errors import LedgerMismatch, NotCopyable, ParameterError, StreamSpent  # noqa: E402  torch comes first
from discreet.laws import RoundedGaussian  # noqa: E402
from discreet.learning.deep.noise import CorrelatedRelease, GradientGrid, SecretSums  # noqa: E402
from tests.laws.agreement import assert_fits  # noqa: E402
from tests.randomness.sources import in_child  # noqa: E402

DIMENSION = 400
SHAPES = [(10, 30), (100,)]
ROOTS = (1024, 512, 384, 320, 280)  # square root of prefix sums, times 2^10


def released(coefficients=ROOTS, *, steps=20, scale=Fraction(1), **changed):
    numbers = {
        "norm": Fraction(1),
        "dimension": DIMENSION,
        "physical": 4,
        "batches": 2,
        "summation_error": Fraction(1, 10**9),
        "scale": Fraction(scale),
        "fixed_slots": False,
    }
    return CorrelatedRelease(GradientGrid(**numbers | changed), SHAPES, steps=steps, coefficients=coefficients)


def shaped(flat):
    flat = torch.as_tensor(flat, dtype=torch.float64)
    return [flat[:300].reshape(10, 30), flat[300:]]


def flattened(tensors):
    return torch.cat([one.reshape(-1) for one in tensors]).numpy()


class Noises:
    """Known noise in place of drawn noise, which is tested elsewhere."""

    def __init__(self, noises):
        self._left = [np.array(one, dtype=np.int64) for one in noises]

    def take(self, *, more=True):
        assert isinstance(more, bool)
        return self._left.pop(0).copy()


def run(release, sums, noises, first=0):
    """Return what the steps release, in steps of the grid."""
    release._noise = Noises(noises)
    found = []
    for step, one in enumerate(sums, first):
        release.add(shaped(one * float(release.grid.step)))
        found.append(flattened(release.release(step)) / float(release.grid.step))
    return np.array(found)


def mixture(release, step):
    """Return the mixed sums of a step whose noise is zero: the noise is what they are added to."""
    held, fresh = [], release._fresh
    release._fresh = lambda at: held.append(fresh(at)) or held[0]
    release.release(step)
    release._fresh = fresh
    return held[0]


def matrix(coefficients, steps):
    return sum(np.diag(np.full(steps - j, float(k)), -j) for j, k in enumerate(coefficients[:steps]))


@pytest.mark.theorem("CorrelatedRelease.privacy")
@pytest.mark.parametrize("coefficients", [(1,), (3, 2), ROOTS, tuple(range(40, 0, -1))], ids=len)
def test_the_noise_on_the_mixed_sums_has_the_law(coefficients, rounds):
    steps = rounds(sample=50, full=2_000)
    release = released(coefficients, steps=steps)
    mix = matrix(coefficients, steps)
    found = []
    for step in range(steps):
        release.add(shaped(np.full(DIMENSION, 0.5)))
        found.append(flattened(release.release(step)) / float(release.grid.step))
    mixed = mix @ np.array(found)
    exact = mix @ np.full((steps, 1), np.rint(0.5 / float(release.grid.step)))
    noise = mixed - exact
    assert np.abs(noise - np.rint(noise)).max() < 0.1  # integers, to the rounding of floats
    length = Fraction(sum(k * k for k in coefficients))
    assert release.grid.noise_scale**2 >= length * release.grid.distance**2
    # 4 comparisons at 1e-9 in all
    law = RoundedGaussian(release.grid.noise_scale)
    assert_fits(law, np.rint(noise).astype(np.int64).ravel(), comparisons=4, degrees=5)


@pytest.mark.parametrize("coefficients", [(1,), (2, 1), ROOTS])
def test_what_is_recovered_is_the_sum_plus_the_inverse_of_the_mixing_on_the_noise(coefficients):
    random = np.random.default_rng(5)
    sums, noises = random.integers(-1000, 1000, (200, DIMENSION)), random.integers(-(10**8), 10**8, (200, DIMENSION))
    found = run(released(coefficients, steps=200), sums, noises)
    wanted = sums + np.linalg.solve(matrix(coefficients, 200), noises.astype(float))
    assert np.abs(found - wanted).max() < 1e-6


@pytest.mark.theorem("CorrelatedRelease.privacy")
def test_one_participation_moves_all_releases_by_no_more_than_stated(rounds):
    random = np.random.default_rng()
    for _ in range(rounds(sample=10, full=1_000)):
        coefficients = tuple(sorted(random.integers(0, 900, int(random.integers(1, 9))).tolist(), reverse=True))
        coefficients = (max(coefficients[0], 1), *coefficients[1:])
        sums = random.integers(-1000, 1000, (12, DIMENSION))
        other = sums.copy()
        first = released(coefficients, steps=12)
        step = int(random.integers(12))
        other[step] += int(first.grid.distance / DIMENSION**0.5)
        lost = sorted(set(random.integers(0, 12, 3).tolist()))
        mixed = []
        for one in (sums, other):
            release, moved = released(coefficients, steps=12), []
            release._noise = Noises(np.zeros((12, DIMENSION)))
            for at in range(12):
                if at not in lost:
                    release._sums._fine.add_(torch.from_numpy(one[at] << release.grid.carry_bits))
                    release._sums._touched = True
                    moved.append(mixture(release, at))
            mixed.append(torch.stack(moved))
        apart = float((mixed[0] - mixed[1]).double().square().sum().sqrt())
        length = sum(k * k for k in coefficients) ** 0.5
        assert apart <= length * first.grid.distance <= float(first.grid.noise_scale) * (1 + 1e-9)
        if step in lost:
            assert apart == 0
        elif step + len(coefficients) <= 12 and not any(step < at < step + len(coefficients) for at in lost):
            assert apart > 0.9 * length * first.grid.distance  # the bound is not far off


def test_steps_far_apart_move_different_releases():
    release = released((3, 2, 1), steps=8)
    release._noise, seen = Noises(np.zeros((8, DIMENSION))), []
    for step in range(8):
        if step in (0, 4):
            release.add(shaped(np.ones(DIMENSION)))
        seen.append(bool(mixture(release, step).any()))
    assert seen == [True, True, True, False, True, True, True, False]


def test_a_resumed_run_goes_on_as_if_nothing_had_happened():
    random = np.random.default_rng(6)
    sums, noises = random.integers(-1000, 1000, (20, DIMENSION)), random.integers(-(10**9), 10**9, (20, DIMENSION))
    whole = run(released(), sums, noises)
    first, second = released(), released()
    run(first, sums[:9], noises[:9])
    state, secret = first.recovered(), first.secret_sums().disclose()
    assert len(state["released"]) == len(secret["sums"]) == len(ROOTS) - 1
    second.resume(state, SecretSums.disclosed(secret), step=9)
    assert np.array_equal(run(second, sums[9:], noises[9:], first=9), whole[9:])
    with pytest.raises(StreamSpent):
        second.release(8)


def test_lost_steps_and_a_start_without_secrets_only_cost_accuracy():
    random = np.random.default_rng(7)
    sums, noises = random.integers(-1000, 1000, (20, DIMENSION)), random.integers(-(10**9), 10**9, (20, DIMENSION))
    fresh = run(released(), sums[9:], noises[9:], first=9)
    alone = run(released(), sums[9:], noises[9:], first=0)
    assert np.array_equal(fresh, alone)
    release = released()
    run(release, sums[:5], noises[:5])
    after = run(release, sums[7:], noises[7:], first=7)  # steps 5 and 6 were lost
    mix = matrix(ROOTS, 20)
    kept = [*range(5), *range(7, 20)]
    wanted = sums[kept] + np.linalg.solve(mix[np.ix_(kept, kept)], noises[kept].astype(float))
    assert np.abs(after - wanted[5:]).max() < 1e-4


def test_the_secret_sums_show_themselves_to_nobody():
    release = released()
    run(release, np.full((3, DIMENSION), 123456), np.zeros((3, DIMENSION)))
    secret = release.secret_sums()
    assert repr(secret) == str(secret) == "SecretSums(as private as the rows)"
    assert not hasattr(secret, "__dict__")
    assert "123456" not in repr(release)
    for way in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(NotCopyable, match="as private as the rows"):
            way(secret)
        with pytest.raises(NotCopyable):
            way(release)
    assert int(secret.disclose()["sums"][0][0]) == 123456


def test_a_state_holds_copies():
    release = released()
    run(release, np.full((3, DIMENSION), 5), np.zeros((3, DIMENSION)))
    release.recovered()["released"][0].zero_()
    release.secret_sums().disclose()["sums"][0].zero_()
    assert float(release.recovered()["released"][0].abs().min()) > 0
    assert int(release.secret_sums().disclose()["sums"][0][0]) == 5


def test_what_the_caller_does_to_a_release_changes_no_later_one():
    def returned(spoil):
        release = released(steps=2)
        release._noise = Noises(np.ones((2, DIMENSION)))
        first = release.release(0)
        if spoil:
            [one.zero_() for one in first]
        return flattened(release.release(1)).tolist()

    assert returned(spoil=True) == returned(spoil=False)


def test_states_that_do_not_fit_are_refused():
    first, other = released(), released(steps=5)
    run(first, np.zeros((3, DIMENSION)), np.zeros((3, DIMENSION)))
    run(other, np.zeros((2, DIMENSION)), np.zeros((2, DIMENSION)))
    with pytest.raises(LedgerMismatch, match="same steps"):
        released().resume(first.recovered(), other.secret_sums(), step=3)
    with pytest.raises(ParameterError, match="new release"):
        other.resume(first.recovered(), first.secret_sums(), step=3)
    with pytest.raises(ParameterError, match="steps before"):
        released().resume(first.recovered(), first.secret_sums(), step=2)


def test_a_forked_child_learns_nothing():
    release = released()
    run(release, np.zeros((3, DIMENSION)), np.zeros((3, DIMENSION)))

    def child():
        told = 0
        for act in (release.secret_sums, release.recovered, lambda: release.release(4)):
            try:
                act()
            except NotCopyable:
                told += 1
        return told

    assert in_child(child) == 3


@pytest.mark.parametrize("coefficients", [(), (0,), (1, 2), (2, -1), (2, 1.0), (True,), (-3, -4)])
def test_coefficients_must_fall(coefficients):
    with pytest.raises(ParameterError, match="do not grow"):
        released(coefficients)


def test_mixed_sums_leave_room_in_64_bits():
    grid = released(tuple([4096] * 64), batches=1 << 22, physical=64).grid
    assert sum([4096] * 64) * (grid.norm / grid.step) * (1 << 28) < 1 << 62
    assert grid.inflation < 1.05


def test_noise_scale_is_that_of_a_step_in_units_of_the_gradient():
    release = released((4, 3), scale=Fraction(2))
    assert release.noise_scale == pytest.approx(2 * 5 / 4, rel=1e-4)
    # 20 first steps of 400 coordinates: a mean square of 8,000 is off by 10 % (6.3 deviations) with a chance of 3e-10
    noise = np.array([flattened(released((4, 3), scale=Fraction(2)).release(0)) for _ in range(20)])
    assert np.mean(noise**2) == pytest.approx(release.noise_scale**2, rel=0.1)

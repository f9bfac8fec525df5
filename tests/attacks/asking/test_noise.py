"""The noise of toy curators has the law it is named by; malice stays within its bound."""

from __future__ import annotations

import math

import numpy as np
import pytest

from discreet.attacks import Characters
from discreet.attacks.asking.noise import garbage, gaussian_noise, malicious_noise, sign_noise, uniform_noise
from discreet.errors import InputError, ParameterError
from tests.chances import fewest, most

COUNTS = np.full(100_000, 50)


@pytest.mark.parametrize("make", [uniform_noise, sign_noise, gaussian_noise])
def test_a_seed_repeats_and_two_calls_differ(make):
    noise = make(3, seed=1)
    first, second = noise(COUNTS), noise(COUNTS)
    assert np.array_equal(first, make(3, seed=1)(COUNTS))
    assert not np.array_equal(first, second)
    assert first.dtype == np.float64


@pytest.mark.parametrize(
    ("make", "inside"),
    [(uniform_noise, 0.5), (gaussian_noise, math.erf(0.5 / math.sqrt(2)))],
    ids=["uniform", "normal"],
)
def test_half_of_the_width_is_passed_as_often_as_the_law_says(make, inside):
    noise = make(4, seed=2)(COUNTS) - 50
    for hits, chance in ((np.abs(noise) <= 2, inside), (noise > 0, 0.5)):
        assert fewest(len(COUNTS), chance) <= np.count_nonzero(hits) <= most(len(COUNTS), chance)


def test_bounded_noise_is_bounded():
    assert np.abs(uniform_noise(4, seed=3)(COUNTS) - 50).max() <= 4
    signs = sign_noise(4, seed=3)(COUNTS) - 50
    assert set(signs.tolist()) == {-4.0, 4.0}
    assert fewest(len(COUNTS), 0.5) <= np.count_nonzero(signs > 0) <= most(len(COUNTS), 0.5)


def test_garbage_replaces_its_share_and_leaves_the_rest_to_other_noise():
    answers = garbage(0.2, seed=4, of=sign_noise(1, seed=5))(COUNTS)
    lost = ~np.isin(answers, (49, 51))
    assert fewest(len(COUNTS), 0.2) <= np.count_nonzero(lost) <= most(len(COUNTS), 0.2)
    assert 0 <= answers[lost].min() < 1
    assert 49 < answers[lost].max() <= 50


@pytest.mark.parametrize("error", [0, 0.1, 0.3, 1, 7.5, 100])
def test_malice_stays_within_its_bound(error):
    design = Characters(people=255)
    exact = design.exact(np.arange(255) % 2)
    assert np.abs(malicious_noise(error, seed=6)(exact) - exact).max() <= error


def test_malice_turns_one_bit_as_soon_as_one_can_be_turned():
    design, secret = Characters(people=255), np.arange(255) % 2
    turned = [
        np.count_nonzero(design.decode(malicious_noise(error, seed=7)(design.exact(secret))) != secret)
        for error in (0.24, 0.27)
    ]
    assert turned == [0, 1]


@pytest.mark.parametrize("counts", [np.zeros(3), np.zeros((4, 2)), np.zeros(1)])
def test_malice_needs_all_answers_of_one_labeling(counts):
    with pytest.raises(InputError, match="one labeling"):
        malicious_noise(1, seed=1)(counts)


@pytest.mark.parametrize("make", [uniform_noise, sign_noise, gaussian_noise, malicious_noise])
def test_a_negative_size_is_refused(make):
    with pytest.raises(ParameterError, match="at least 0"):
        make(-1, seed=1)


def test_a_rate_above_one_is_refused():
    with pytest.raises(ParameterError, match="rate"):
        garbage(1.5, seed=1)

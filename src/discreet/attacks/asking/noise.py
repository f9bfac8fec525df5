"""Noise of a toy curator, to try attacks on: bounded, normal, garbage, and the worst that a bound allows.

None of it protects anybody: these curators draw from a seed. Protection is the business of a mechanism or a session.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike

from discreet.attacks.asking.counting import Floats
from discreet.data.invention import Coins
from discreet.data.invention import coins as invented_coins
from discreet.errors import InputError
from discreet.laws.number import Number
from discreet.laws.walsh_hadamard import walsh_hadamard
from discreet.privacy.numbers import nonnegative, probability

Noise = Callable[[ArrayLike], Floats]
"""True counts in, noisy answers out: what `noisy_answers` takes."""

_ROUNDS = 80
_OVERSHOOT = 1.8  # of a projection; any value below 2 converges, and this one fast
_AIM = 1 / 2 + 1e-3  # a bit is turned when its estimate is off by more than 1/2


def uniform_noise(error: Number, *, seed: int) -> Noise:
    """Return noise that is uniform on [-error, error], independent for every answer; its variance is error^2/3.

    >>> noise = uniform_noise(2, seed=1)
    >>> bool(np.all(np.abs(noise(np.zeros(1000))) <= 2))
    True
    """
    bound, coins = float(nonnegative(error, name="error")), invented_coins(seed)
    return lambda counts: _numbers(counts) + coins.uniform(-bound, bound, np.shape(counts))


def sign_noise(error: Number, *, seed: int) -> Noise:
    """Return noise that is error or -error, each with the chance 1/2; its variance is error^2.

    >>> sorted(set(sign_noise(2, seed=1)(np.zeros(100)).tolist()))
    [-2.0, 2.0]
    """
    bound, coins = float(nonnegative(error, name="error")), invented_coins(seed)
    return lambda counts: _numbers(counts) + bound * (2.0 * coins.integers(0, 2, np.shape(counts)) - 1.0)


def gaussian_noise(scale: Number, *, seed: int) -> Noise:
    """Return normal noise of this standard deviation.

    >>> 2.5 < float(np.std(gaussian_noise(3, seed=1)(np.zeros(1000)))) < 3.5
    True
    """
    deviation, coins = float(nonnegative(scale, name="scale")), invented_coins(seed)
    return lambda counts: _numbers(counts) + deviation * coins.standard_normal(np.shape(counts))


def garbage(rate: Number, *, seed: int, of: Noise | None = None) -> Noise:
    """Return noise that puts anything between 0 and the largest count in place of some answers.

    Each answer is garbage with the chance `rate`, whatever the others are; the rest goes through `of`, if given.

    >>> answers = garbage(0.25, seed=1)(np.full(1000, 100.0))
    >>> (
    ...     bool(150 < np.count_nonzero(answers != 100) < 350),
    ...     bool(answers.min() >= 0),
    ...     bool(answers.max() <= 100),
    ... )
    (True, True, True)
    """
    chance, coins = float(probability(rate, name="rate")), invented_coins(seed)

    def noise(counts: ArrayLike) -> Floats:
        numbers = _numbers(counts)
        lost = coins.random(numbers.shape) < chance
        rubbish = coins.uniform(0.0, max(float(numbers.max(initial=0.0)), 1.0), numbers.shape)
        return np.where(lost, rubbish, numbers if of is None else of(numbers))

    return noise


def malicious_noise(error: Number, *, seed: int) -> Noise:
    """Return errors within [-error, error] that turn as many bits of the Fourier attack as we know how to.

    It works on the answers of `Characters` with one labeling, of which it reads the secret first. A share of the
    people is picked by the seed, as large as errors within the bound were found to turn, and the errors are moved,
    round by round, to where all of these estimates are off by more than 1/2, and back within the bound: projections in
    turn onto two convex sets.

    >>> from discreet.attacks import Characters
    >>> secret = np.arange(1023) % 3 < 1
    >>> design = Characters(people=1023)
    >>> answers = malicious_noise(4, seed=1)(design.exact(secret))
    >>> bool(np.abs(answers - design.exact(secret)).max() <= 4)
    True
    >>> 80 < int(np.count_nonzero(design.decode(answers) != secret)) <= 16 * 4**2
    True
    """
    bound, coins = float(nonnegative(error, name="error")), invented_coins(seed)

    def noise(counts: ArrayLike) -> Floats:
        numbers = _numbers(counts)
        size = numbers.size
        if numbers.ndim != 1 or size < 2 or size & (size - 1):
            raise InputError("malicious noise is for all answers of Characters with one labeling, in one array")
        # sums are rounded: stay inside the bound by more than that
        inside = max(bound - 2.0**-50 * (float(np.abs(numbers).max()) + bound), 0.0)
        bits = walsh_hadamard(numbers) * (2 / size) > 0.5
        against = np.where(bits, -1.0, 1.0)
        return numbers + _errors(inside, against, _targets(bound, size, coins))

    return noise


def _targets(bound: float, size: int, coins: Coins) -> Floats:
    """Return 1 at the places to be turned and 0 elsewhere; nobody has the place 0."""
    level = bound / size**0.5
    # what projections were found to reach for bits and places in general position; 16 level^2 is the theorem's limit
    share = 0.9 * (9.6 - 11 * level) * level**2 if level < 0.5 else 0.9 if level < 0.55 else 1.0
    chosen = np.zeros(size)
    chosen[1 + coins.permutation(size - 1)[: max(1, int(share * (size - 1)))]] = 1.0
    return chosen


def _errors(bound: float, against: Floats, targets: Floats) -> Floats:
    """Return errors within the bound that push the estimates of the targets over 1/2, towards `against`."""
    aimed = against * targets
    errors = bound * np.sign(walsh_hadamard(aimed))
    best, most = errors, -1
    for _ in range(_ROUNDS):
        pushed = walsh_hadamard(errors) * against * (2 / len(errors))
        turned = int(np.count_nonzero(pushed[1:] > 0.5))
        if turned > most:
            best, most = errors, turned
        missing = np.maximum(_AIM - pushed, 0.0) * targets
        if not missing.any():
            break
        errors = np.clip(errors + _OVERSHOOT / 2 * walsh_hadamard(missing * against), -bound, bound)
    return best


def _numbers(counts: ArrayLike) -> Floats:
    return np.asarray(counts, dtype=np.float64)

"""The least threshold for private keys, then the least noise, on the exact delta of noise and threshold together."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache

from discreet.laws import DiscreteGaussian, DiscreteLaplace, RoundedGaussian, TruncatedLaplace
from discreet.laws.noise import IntegerNoise
from discreet.laws.number import round_up
from discreet.mechanisms.keys.exact_delta import MOST_SUMMED, WIDEST_SUMMED, KeysPair, curve
from discreet.mechanisms.noise import least_reach
from discreet.privacy.numbers import downward, number
from discreet.privacy.pairs import Side
from discreet.privacy.price import largest_mu
from discreet.randomness.rigor import Ball, ball

_FEW = 8  # for fewer moved counts the narrowest noise is the pure one, or within 1 % of it
_HALVINGS, _LAST_HALVINGS = 16, 8
_MORE_THRESHOLDS, _SHARE_OF_THRESHOLD = 16, 500
_TRIED = 12
_GOLDEN = (5**0.5 - 1) / 2


def least_start(noise: IntegerNoise, keys: int, allowed: Fraction) -> int:
    """Return the least t with 1 - (1 - P(X >= t))^keys <= allowed, decided exactly."""

    def named(tail: Ball) -> Ball:
        return 1 - (1 - tail) ** keys

    def too_often(tail: Ball) -> bool:
        return bool(named(tail) > ball(allowed))

    return noise._greatest_start(too_often, lambda tail: bool(named(tail) <= ball(allowed))) + 1


@lru_cache(maxsize=128)
def gaussian_threshold(epsilon: Fraction, delta: Fraction, keys: int, *, exchanged: bool) -> tuple[IntegerNoise, int]:
    """Return Gaussian noise and the least threshold that are (epsilon, delta)-DP together."""
    moved = 2 * keys if exchanged else keys
    normal = Fraction(round_up(Fraction(math.isqrt(moved * 10**40) + 1, 10**20) / largest_mu(epsilon, delta)))
    if normal >= WIDEST_SUMMED - 1 or moved > MOST_SUMMED:
        return _together(RoundedGaussian, normal, epsilon, delta, keys, exchanged=exchanged)

    def enough(scale: Fraction) -> bool:
        return curve(DiscreteGaussian(scale), moved, epsilon)[1] <= delta

    return _together(DiscreteGaussian, _least(enough, normal), epsilon, delta, keys, exchanged=exchanged)


@lru_cache(maxsize=128)
def laplace_threshold(epsilon: Fraction, delta: Fraction, keys: int, *, exchanged: bool) -> tuple[IntegerNoise, int]:
    """Return Laplace noise and the least threshold that are (epsilon, delta)-DP together.

    The noise is pure, of scale moved / epsilon, unless narrower noise that needs a part of delta has a lower threshold.
    """
    moved = 2 * keys if exchanged else keys
    pure = DiscreteLaplace(moved / epsilon)
    start = 1 + least_start(pure, keys, delta)
    if not _keeps(pure, start, epsilon, delta, keys, exchanged=exchanged):
        # names are given more often than counts differ: new keys of both tables are bounded together
        start = 1 + least_start(pure, 2 * keys, delta)

    def enough(scale: Fraction) -> bool:
        return curve(DiscreteLaplace(scale), moved, epsilon)[1] <= delta

    if moved < _FEW or 1 + least_start(DiscreteLaplace(least := _least(enough, pure.scale)), keys, delta) >= start:
        return pure, start
    found = _together(DiscreteLaplace, least, epsilon, delta, keys, exchanged=exchanged)
    return found if found[1] < start else (pure, start)


@lru_cache(maxsize=128)
def truncated_threshold(epsilon: Fraction, delta: Fraction, moved: int) -> tuple[TruncatedLaplace, int]:
    """Return truncated noise of the least reach that is (epsilon, delta)-DP on `moved` counts that move by 1.

    A count that moves by 1 has the worst pair of (1/scale, P(X = reach))-DP, and all keys are treated alike.
    """
    share = Fraction(downward(lambda: -((-number(delta)).log1p() / moved).expm1()))
    pure = moved / epsilon
    best = TruncatedLaplace(pure, reach=least_reach(pure, 1, share))
    if moved < _FEW:
        return best, 1 + best.reach

    def excess(reach: int, scale: Fraction) -> float:
        return curve(TruncatedLaplace(scale, reach=reach), moved, epsilon)[1]

    low, high = 0, best.reach
    while high - low > 1:
        middle = (low + high) // 2
        scale = _scale_within(lambda scale, reach=middle: excess(reach, scale), pure, delta)  # type: ignore[misc]
        if scale is None:
            low = middle
        else:
            best, high = TruncatedLaplace(scale, reach=middle), middle
    return best, 1 + best.reach


def _together(
    law: type[IntegerNoise], least: Fraction, epsilon: Fraction, delta: Fraction, keys: int, *, exchanged: bool
) -> tuple[IntegerNoise, int]:
    """Return the least threshold, then the least scale, at which noise of a law keeps the guarantee.

    No scale below `least` keeps it at any threshold, and at `least` a threshold below the first one tried names new
    keys too often by itself; a larger scale only names them more often. So the first threshold found is the least.
    Where epsilon is hardly larger than delta none may be found nearby: then each gets half of delta, and delta of both
    together is at most the sum.
    """
    first = 1 + least_start(law(least), keys, delta)
    step = 1 + first // _SHARE_OF_THRESHOLD  # high thresholds are tried in steps of a five-hundredth
    for threshold in range(first, first + _MORE_THRESHOLDS * step, step):

        def holds(scale: Fraction, threshold: int = threshold) -> bool:
            return _keeps(law(scale), threshold, epsilon, delta, keys, exchanged=exchanged)

        widest = _widest(law, least, threshold, keys, delta)
        for trial in (widest, (least + widest) / 2, (3 * least + widest) / 4, least):
            if holds(trial):
                return law(_least(holds, trial, floor=least)), threshold
    moved = 2 * keys if exchanged else keys
    halved = _least(lambda scale: curve(law(scale), moved, epsilon)[1] <= delta / 2, least)
    return law(halved), 1 + least_start(law(halved), keys, delta / 2)


def _keeps(
    noise: IntegerNoise, threshold: int, epsilon: Fraction, delta: Fraction, keys: int, *, exchanged: bool
) -> bool:
    """Say whether noise and threshold together are certainly (epsilon, delta)-DP, in both directions."""
    sides = (Side.REMOVE,) if exchanged else (Side.REMOVE, Side.ADD)
    return all(
        KeysPair.of(noise, threshold, keys=keys, exchanged=exchanged, side=side).keeps(epsilon, delta) for side in sides
    )


def _least(holds: Callable[[Fraction], bool], high: Fraction, *, floor: Fraction | None = None) -> Fraction:
    """Return a small scale at which a condition was found to hold; it holds for large ones, and none below `floor`."""
    while not holds(high):
        high *= Fraction(17, 16)
    low = high * Fraction(15, 16) if floor is None else floor
    while floor is None and holds(low):
        low, high = low * Fraction(15, 16), low
    for _ in range(_HALVINGS if floor is None else _LAST_HALVINGS):
        middle = Fraction(float((low + high) / 2))
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _widest(law: type[IntegerNoise], least: Fraction, threshold: int, keys: int, delta: Fraction) -> Fraction:
    """Return about the largest scale whose noise alone names new keys seldom enough at a threshold."""
    low, high = least, 2 * least
    for _ in range(_HALVINGS):
        middle = Fraction(float((low + high) / 2))
        low, high = (middle, high) if 1 + least_start(law(middle), keys, delta) <= threshold else (low, middle)
    return low


def _scale_within(excess: Callable[[Fraction], float], pure: Fraction, delta: Fraction) -> Fraction | None:
    """Return a scale at which the exact delta was found to be small enough, by a search for the least one."""
    low, high = math.log(float(pure)) - 3.0, math.log(float(pure))
    for _ in range(_TRIED):
        places = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        scales = [Fraction(math.exp(place)) for place in places]
        found = [excess(scale) for scale in scales]
        for scale, value in zip(scales, found, strict=True):
            if value <= delta:
                return scale
        low, high = (low, places[1]) if found[0] <= found[1] else (places[0], high)
    return None

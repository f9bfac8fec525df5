"""How far the rank of a released quantile may be off, and how far the ranks of a sample are from its population."""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.errors import ParameterError
from discreet.laws.number import Number, exact_rational, positive_rational
from discreet.privacy.numbers import number, upward
from discreet.randomness.rigor import Ball

_BISECTIONS = 200
_SLACK = 1e-9


def rank_error(*, rate: Number, candidates: int, failure: Number, best: int = 1) -> float:
    """Return t such that a candidate chosen at this rate has a rank distance above t with at most that probability.

    The rate is epsilon / (2 D), D the rank distance that one person can change; `best` of the candidates are known to
    have distance 0 (one always has).

    Accuracy. P(distance > t) <= failure for t = ln((candidates - best) / best * (1 - failure) / failure) / rate; on the
        worst table P(distance >= t) is `failure` exactly, so that no bound for all tables is less.
        Proof: the law is proportional to the weights exp(-rate * distance). Let w be the weight of the candidates
        beyond t: at most x = (candidates - best) exp(-rate t). The others weigh at least `best`, so the chance is at
        most x / (best + x), since w / (best + w) grows with w; and that is `failure`. Where all rows lie at one
        position, half of them t of the median, that position has distance 0 and every other candidate distance t.

    >>> round(rank_error(rate=0.5, candidates=1 << 38, failure=0.05), 1)
    58.6
    """
    exact = positive_rational(rate, name="rate")
    chance = exact_rational(failure, name="failure")
    if not 0 < chance < 1:
        raise ParameterError("failure must be a probability strictly between 0 and 1; got another", parameter="failure")
    if not 1 <= best <= candidates:
        raise ParameterError(
            "best must be the number of candidates at distance 0, at least 1; got less", parameter="best"
        )
    odds = Fraction(candidates - best, best) * (1 - chance) / chance
    if odds <= 1:
        return 0.0

    def bound() -> Ball:
        return number(odds).log() / number(exact)

    return upward(bound)


def line_below_counts(level: Fraction, rows_expected: int, failure: Fraction) -> tuple[Fraction, Fraction]:
    """Return (g, o) such that a count of independent successes is at most (level - g) n - o with chance <= failure.

    Accuracy. It holds for every n, and for every chance of success at or above the level; near n = rows_expected the
        line is about the closest there is.
        Proof: for s > 0 Chernoff's bound gives P(X <= (level - g) n - o) <= e^(-s o) (E e^(s (level - g - x)))^n, x
        one success or failure. The expectation is at most 1 - level + level e^-s times e^(s (level - g)), and that is
        at most 1 for every s between 0 and the positive root of its logarithm, which is convex and starts at 0 with
        slope -g. With o = ln(1 / failure) / s the bound is `failure`.
    Reference. Chernoff 1952.

    >>> slope, offset = line_below_counts(Fraction(1, 2), 10_000, Fraction(1, 40))
    >>> round(
    ...     float(slope * 10_000 + offset)
    ... )  # 2.7 standard deviations; the normal quantile would be 1.96
    136
    """
    rest = -math.log(float(failure))
    a = float(level)
    if a <= 0.0:
        return Fraction(0), Fraction(0)
    slope = min(math.sqrt(a * (1.0 - a) * rest / (2.0 * rows_expected)), a / 2)
    if slope == 0.0:  # a level of 1: every one is a success
        return Fraction(0), Fraction(1, 1 << 20)
    low, high = 0.0, 1.0
    while _logarithm(a, slope, high) < 0.0 and high < 1e6:
        low, high = high, 2 * high
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if _logarithm(a, slope, middle) < 0.0 else (low, middle)
    return Fraction(slope), Fraction(rest * (1 + _SLACK) / (low * (1 - _SLACK)))


def _logarithm(level: float, slope: float, tilt: float) -> float:
    """Return the logarithm of E e^(s (level - slope - x)), with a margin for rounding."""
    return math.log1p(level * math.expm1(-tilt)) + tilt * (level - slope) + _SLACK * slope * tilt

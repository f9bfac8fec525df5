"""Slow, independent truths for the accountant: delta as a function of epsilon, in balls of a hundred digits and more.

A curve takes epsilon, any real number, and returns a ball around the sum of (P - e^epsilon Q)+ over the outcomes of one
ordered pair (P, Q). Nothing here is shared with the library under test.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import wraps
from typing import Any

import flint

Ball = Any
Curve = Callable[[object], Ball]
BITS = 480


def ball(value: object) -> Ball:
    """Enclose a number; integers, floats and Fractions are taken exactly."""
    if isinstance(value, flint.arb):
        return value
    exact = Fraction(value)  # type: ignore[call-overload]
    return flint.arb(flint.fmpq(exact.numerator, exact.denominator))


def precise(function: Callable[..., Any]) -> Callable[..., Any]:
    """Run a function at the precision of the references."""

    @wraps(function)
    def wrapped(*given: object, **named: object) -> Any:
        with flint.ctx.workprec(BITS):
            return function(*given, **named)

    return wrapped


def positive(value: Ball) -> Ball:
    """Return max(value, 0)."""
    return value.max(flint.arb(0))


def gaussian(mu_squared: object) -> Curve:
    """Normal laws of variance 1 whose means are mu apart; the squares of mu add under composition."""

    @precise
    def delta(epsilon: object) -> Ball:
        level, mu, half = ball(epsilon), ball(mu_squared).sqrt(), flint.arb(1) / 2
        first = (half.sqrt() * (level / mu - mu / 2)).erfc() / 2
        second = (half.sqrt() * (level / mu + mu / 2)).erfc() / 2
        return first - level.exp() * second

    return delta


def laplace(epsilon: object, count: int = 1) -> Curve:
    """Laplace laws shifted by `epsilon` scales, `count` times.

    One loss is +e or -e with chances 1/2 and e^-e / 2, and between them has the density e^((l - e)/2) / 4. With m
    losses of the middle kind the density of their sum is that of m uniform ones, a piecewise polynomial, times an
    exponential: each piece integrates to a confluent hypergeometric function.
    """

    @precise
    def delta(level: object) -> Ball:
        step, asked, total = ball(epsilon), ball(level), flint.arb(0)
        for high in range(count + 1):
            for low in range(count + 1 - high):
                middle = count - high - low
                ways = math.factorial(count) // (math.factorial(high) * math.factorial(low) * math.factorial(middle))
                weight = ways * (-step * low).exp() / 2 ** (high + low)
                threshold = asked - (high - low) * step
                if middle:
                    total += weight * _uniform_part(middle, step, threshold)
                else:
                    total += weight * positive(1 - threshold.exp())
        return total

    return delta


def _uniform_part(count: int, step: Ball, threshold: Ball) -> Ball:
    """Integrate (1 - e^(threshold - s))+ against the density of the sum s of `count` losses of the middle kind."""
    start = threshold.max(-count * step)
    total = flint.arb(0)
    for turn in range(count + 1):
        corner = (count - 2 * turn) * step
        width = corner - start
        if not width > 0:
            continue
        first = (corner / 2).exp() * _moment(count, width, -1)
        second = (threshold - corner / 2).exp() * _moment(count, width, 1)
        total += (-1) ** turn * math.comb(count, turn) * (first - second)
    return total * (-count * step / 2).exp() / (4**count * math.factorial(count - 1))


def _moment(count: int, width: Ball, sign: int) -> Ball:
    """Return the integral of w^(count - 1) e^(sign w / 2) from 0 to width."""
    return width**count / count * (sign * width / 2).hypgeom_1f1(count, count + 1)


def binomial(count: int, first: object, second: object) -> Curve:
    """Count successes of chance `first` under P and the smaller `second` under Q, among `count` trials."""

    @precise
    def delta(epsilon: object) -> Ball:
        p, q, level = ball(first), ball(second), ball(epsilon)
        gain, least = (p / q).log() - ((1 - p) / (1 - q)).log(), count * ((1 - p) / (1 - q)).log()
        start = min(max(int(((level - least) / gain).mid().floor().unique_fmpz()) - 1, 0), count)
        return _binomial_tail(count, start, p, q, level.exp())

    return delta


def _binomial_tail(count: int, start: int, p: Ball, q: Ball, factor: Ball) -> Ball:
    """Sum the positive parts from `start` on, by the ratios of neighboring terms, until the rest is negligible."""
    logarithm = flint.arb(count + 1).lgamma() - flint.arb(start + 1).lgamma() - flint.arb(count - start + 1).lgamma()
    one = (logarithm + start * p.log() + (count - start) * (1 - p).log()).exp()
    two = factor * (logarithm + start * q.log() + (count - start) * (1 - q).log()).exp()
    total, odds, other = flint.arb(0), p / (1 - p), q / (1 - q)
    for index in range(start, count + 1):
        total += positive(one - two)
        ratio = flint.arb(count - index) / (index + 1)
        following = one * ratio * odds
        if index % 64 == 0 and ratio * odds < 1 and following < total * flint.arb(2) ** -300:
            rest = following / (1 - ratio * odds)
            return total + rest.union(flint.arb(0))
        one, two = following, two * ratio * other
    return total


def pure(epsilon: object, count: int = 1) -> Curve:
    """The worst composition of `count` releases that are epsilon-DP: randomized response (Kairouz, Oh, Viswanath)."""
    with flint.ctx.workprec(BITS):
        likely = 1 / (1 + (-ball(epsilon)).exp())
        return binomial(count, likely, 1 - likely)


def approximate(epsilon: object, leak: object, count: int = 1) -> Curve:
    """The worst composition of `count` releases that are (epsilon, leak)-DP (Kairouz, Oh, Viswanath)."""
    base = pure(epsilon, count)

    @precise
    def delta(level: object) -> Ball:
        kept = (1 - ball(leak)) ** count
        return 1 - kept + kept * base(level)

    return delta


def poisson_remove(base: Curve, rate: object) -> Curve:
    """((1 - rate) Q + rate P, Q) from the curve of (P, Q)."""

    @precise
    def delta(epsilon: object) -> Ball:
        factor, share = ball(epsilon).exp(), ball(rate)
        if not factor > 1 - share:
            return 1 - factor
        return share * base((1 + (factor - 1) / share).log())

    return delta


def poisson_add(base: Curve, rate: object) -> Curve:
    """(P, (1 - rate) P + rate Q) from the curve of (P, Q)."""

    @precise
    def delta(epsilon: object) -> Ball:
        factor, share = ball(epsilon).exp(), ball(rate)
        room = 1 - factor * (1 - share)
        if not room > 0:
            return flint.arb(0)
        return room * base((share * factor / room).log())

    return delta


@precise
def epsilon_of(curve: Curve, delta: object, *, digits: int = 60, least: object = 0) -> Ball:
    """Return a ball around the smallest epsilon >= `least` with curve(epsilon) <= delta, for a curve that gets there.

    False position with the Illinois rule on the logarithm of delta. Both ends of the ball are certified by the curve,
    so that a curve of few digits gives an epsilon of few digits.
    """
    target = ball(delta)
    low, high = ball(least), ball(least) + 1
    if not curve(low) > target:
        return low
    while not curve(high) < target:
        low, high = high, 2 * high - ball(least)
    left, right = _excess(curve, low, target), _excess(curve, high, target)
    tolerance = high * flint.arb(10) ** -digits
    while high - low > tolerance:
        guess = (high - right * (high - low) / (right - left)).mid()
        if not low < guess < high:
            guess = ((low + high) / 2).mid()
        # a step aside, towards the middle, lets both ends close in
        aside = guess + tolerance / 3 if (low + high) / 2 > guess else guess - tolerance / 3
        for trial in (guess, aside.mid()):
            if low < trial < high:
                value = _excess(curve, trial, target)
                if value > 0:
                    low, left, right = trial, value, right / 2
                elif value < 0:
                    high, right, left = trial, value, left / 2
                else:
                    return low.union(high)
    return low.union(high)


def _excess(curve: Curve, epsilon: Ball, target: Ball) -> Ball:
    """Return how far the logarithm of delta lies above that of the target; a delta of zero lies far below."""
    value = curve(epsilon)
    return (value / target).log() if value > 0 else flint.arb(-1000)

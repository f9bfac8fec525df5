"""Sampled plans beside a live session: as a Gaussian price with a delta, or fixed beforehand beside a Gaussian budget.

A release on a sample has no small mu and no small rho: its rarest outcomes are those of the release on everybody, and a
statement about the whole curve must cover them. Two ways are sound. A small delta may pay for these outcomes
(`gaussian_with_delta`): the plan is then charged to any Gaussian or zCDP session at any time. Or the plan is fixed
before the first answer, and the session is opened with what a stated (epsilon, delta) leaves beside it
(`gaussian_beside`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, pairwise

from discreet.errors import BudgetExceeded, NoSoundConversion
from discreet.laws.number import Number, round_down, round_up
from discreet.privacy.guarantees import GaussianDP
from discreet.privacy.loss import PrivacyLoss, compose, gaussian_loss
from discreet.privacy.numbers import bounds, nonnegative, normal_upper_tail, number, probability, written
from discreet.privacy.price import largest_mu
from discreet.randomness.rigor import Ball

_CELLS, _BISECTIONS, _TOLERANCE = 64, 14, 1e-3
_LEAST, _LARGEST = 2.0**-30, 2.0**10
_REMEMBERED = 128


@lru_cache(maxsize=_REMEMBERED)
def gaussian_with_delta(loss: PrivacyLoss, delta: Number) -> GaussianDP:
    """Return the least mu found for which releases are delta-approximate mu-Gaussian DP, from their whole curve.

    Privacy. The releases keep the returned guarantee, under adaptive composition like every other one.
        Proof: let W be the pair that with chance delta shows the table and else is N(mu, 1) against N(0, 1); its curve
        is W(e) = delta + (1 - delta) G(e), with G that of `NormalPair`, in both directions. If delta_loss(e) <= W(e)
        for all e, in both directions, the releases are a post-processing of W (Blackwell), which splits as the
        guarantee asks. For e >= 0 only: at -e both curves are 1 - e^-e + e^-e times the other direction's at e. With
        a = e^e, let u_i be upper bounds on delta_loss at a_0 = 1 < ... < a_n, the last at most delta, and t_i =
        max(0, u_i - delta)/(1 - delta). delta_loss is convex in a, so (delta_loss - delta)/(1 - delta) is below the
        chords of the t_i, and at most 0 from a_n on. G is convex in a, so above its tangents. Between two points the
        chord is below the tangent at a point m in the middle if it is at both ends. The tangent is G(m) - (a - m)
        F(-ln(m)/mu - mu/2), evaluated in balls.
    Accuracy. With 64 levels mu is about two thousandths above the least that would hold.

    >>> from discreet.privacy.loss import subsample
    >>> from discreet.privacy.relation import Relation
    >>> step = subsample(gaussian_loss(1, relation=Relation.ADD_REMOVE), rate=0.01)
    >>> round(float(gaussian_with_delta(step * 1000, 1e-7).mu), 2)
    0.47
    """
    exact = written(delta)
    top = loss.epsilon(round_down(exact)).upper if 0 < exact < 1 else math.inf
    if not math.isfinite(top):
        raise NoSoundConversion(
            "the delta must be above the chance of an unbounded loss, and below 1; got another, write a larger one"
        )
    if top == 0.0:
        return GaussianDP(0, delta, relation=loss.relation)
    levels = [Fraction(top * step / _CELLS) for step in range(_CELLS)] + [Fraction(top)]
    above = accumulate((loss.delta(level, tolerance=_TOLERANCE).upper for level in levels[:-1]), min)
    excess = [*(max((Fraction(one) - exact) / (1 - exact), Fraction(0)) for one in above), Fraction(0)]
    cells = [(low, high) for low, high in pairwise(zip(levels, excess, strict=True)) if low[1] > 0]
    mu = _least(lambda trial: all(_below_tangent(*cell, trial) for cell in cells))
    if mu is None:
        raise NoSoundConversion("no mu up to 1024 could be certified for these releases with this delta")
    return GaussianDP(mu, delta, relation=loss.relation)


def _below_tangent(low: tuple[Fraction, Fraction], high: tuple[Fraction, Fraction], mu: float) -> bool:
    """Say whether a chord is below the tangent of the normal pair's curve at a level in between, at both ends."""
    middle, mean = (low[0] + high[0]) / 2, Fraction(mu)

    def tangent(level: Fraction) -> Ball:
        far = normal_upper_tail(number(middle / mean + mean / 2))
        return normal_upper_tail(number(middle / mean - mean / 2)) - number(level).exp() * far

    return all(bounds(lambda level=level: tangent(level))[0] >= height for level, height in (low, high))  # type: ignore[misc]


def _least(holds: Callable[[float], bool]) -> float | None:
    """Return a small number for which a condition holds: the first power of two, then bisection below it."""
    high = _LEAST
    while not holds(high):
        high *= 2
        if high > _LARGEST:
            return None
    low = high / 2
    for _ in range(_BISECTIONS):
        middle = math.sqrt(low * high)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def gaussian_beside(loss: PrivacyLoss, *, epsilon: Number, delta: Number) -> GaussianDP:
    """Return the largest Gaussian budget for a live session beside a plan that is fixed before the first answer.

    Open the session with the returned budget and do not charge the plan to it. The plan may be carried out at any time
    and interleaved with the session, or not at all; it may not be exchanged for another one once an answer was seen.

    Privacy. The plan and all that the session admits are together (epsilon, delta)-DP.
        Proof: call K(b) the claim that whatever follows, with mus whose squares add up to at most b along every path
        and with the plan still to come, is a post-processing of the plan's pairs and one normal pair of square b. It
        holds if nothing follows, or only a part of the plan's steps, as less is a post-processing of more. Let a first
        release of square p <= b come: it is a post-processing of a normal pair of square p, and the rest, whatever the
        answer, of the plan's pairs and one of square b - p, the same for every answer; so together of the plan's pairs
        and one of square b (turn the axes). Let a first release be a step of the plan: its pair was fixed beforehand,
        and the rest is a post-processing of the plan's other pairs and one of square b. So the transcript is dominated
        by `loss` composed with N(mu, 1) against N(0, 1), of which delta(epsilon) was asked and is at most delta.
        Were the plan chosen in view of answers this would fail: one point of the curve is certified, and different
        answers could lead to the plan that is worst at what is left of epsilon. Charge such a plan by
        `gaussian_with_delta`.

    >>> from discreet.privacy.loss import subsample
    >>> from discreet.privacy.relation import Relation
    >>> step = subsample(gaussian_loss(1, relation=Relation.ADD_REMOVE), rate=0.01)
    >>> round(float(gaussian_beside(step * 1000, epsilon=3, delta=1e-6).mu), 2)
    0.46
    """
    level, chance = Fraction(nonnegative(epsilon, name="epsilon")), Fraction(probability(delta, name="delta"))

    def holds(mu: float) -> bool:
        beside = gaussian_loss(1, sensitivity=mu, relation=loss.relation)
        return compose([loss, beside]).delta(level, tolerance=_TOLERANCE).upper <= chance

    if loss.delta(level).upper > chance:
        raise BudgetExceeded(
            "the plan must cost less than the whole target; got one that costs more by itself. Nothing was spent. "
            "Write a plan with more noise or fewer steps."
        )
    low, high = 0.0, round_up(largest_mu(level, chance))
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return GaussianDP(low, relation=loss.relation)

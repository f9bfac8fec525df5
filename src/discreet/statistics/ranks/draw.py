"""Exact choice of a candidate with probability proportional to exp(-rate * rank distance), among up to 2^60 of them.

Candidates at one distance form a run; a run of length m at distance d weighs w = m exp(-rate d). Only the runs within
some reach are looked at: all others together weigh less than 2^-64 of the total, because the run at distance 0 has at
least one candidate and weighs at least 1.

Exactness. By rejection from an envelope in integers. Every run within reach gets an integer at or above w 2^k; every
candidate of the whole range gets, on top, the same integer share of the bound exp(-rate * reach) on what lies outside.
A uniform integer below the sum of the envelope picks a run (then a uniform candidate in it), or the outside (then a
uniform candidate of the range, drawn again if it is within reach). It is accepted with the probability w 2^k / envelope
of its run, or exp(-rate d) / bound: a coin decided in ball arithmetic. So each candidate comes out with probability
exactly proportional to exp(-rate d), whatever the floats were, as long as the envelope lies above: which float errors
could spoil, and the following excludes. Rejections have probability below 2^-30 in ordinary cases.

Lemma (envelope). Let x be the float of rate * d and e = 2^-49 rate (|whole| + 1). The exponent rate * d is at least
x - e: the rate is rounded down, `whole`, the fractional part and the sum are rounded once each, by at most
2^-53 (|whole| + 1) each, the product by 2^-53 of itself: together less than e. exp of a float in [-700, 0] is within
2^-40 of the truth (assumption float-log-exp, with its slack), the length and the product are rounded once each; the
factor 1 + 2^-38 covers the three. A larger exponent is cut to 700, which only raises the envelope.
Reference. McSherry, Talwar 2007; Smith 2011 for quantiles.

`toss` is the coin: its probability is a rational number times an exponential, exactly.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.errors import AssumptionFailed
from discreet.laws.number import round_down
from discreet.randomness import uniform_below, word
from discreet.randomness.rigor import ball, ceil_of_upper, ensure_tested, floor_of_lower, precision, uniform_is_below
from discreet.statistics.ranks.ranked import Ranked, Runs

_NEGLIGIBLE_BITS = 64
_ENVELOPE_BITS = 61
_LARGEST_EXPONENT = 700.0
_LARGEST_RATE = 1e280
_LN_2 = Fraction(6932, 10_000)  # a little more


def draw_by_rank(rows: Ranked, target: Fraction, rate: Fraction) -> int:
    """Return a candidate of the range with probability exactly proportional to exp(-rate * rank distance)."""
    ensure_tested()
    inner = _reach(rows.candidates, rate)
    runs = rows.runs(target, inner + 1)
    envelope, scale_bits = _envelope(runs, rate)
    ends = np.cumsum(envelope)
    within = int(ends[-1]) << _NEGLIGIBLE_BITS
    each = _outside_share(rate * inner, scale_bits + _NEGLIGIBLE_BITS)
    while True:
        drawn = uniform_below(within + each * rows.candidates)
        if drawn < within:
            index = int(np.searchsorted(ends, drawn >> _NEGLIGIBLE_BITS, side="right"))
            weight, length = int(envelope[index]), int(runs.length[index])
            if toss(Fraction(length, weight) * Fraction(2) ** scale_bits, rate * runs.distance(index)):
                return int(runs.first[index]) + uniform_below(length)
        else:
            candidate = rows.low + uniform_below(rows.candidates)
            chance = Fraction(2) ** (scale_bits + _NEGLIGIBLE_BITS) / each
            if not _is_within(runs, candidate) and toss(chance, rate * rows.distance(candidate, target)):
                return candidate


@lru_cache(maxsize=1 << 8)
def _reach(candidates: int, rate: Fraction) -> int:
    """Return a distance beyond which all candidates together weigh less than 2^-64; of public numbers alone."""
    return math.ceil((candidates.bit_length() + _NEGLIGIBLE_BITS) * _LN_2 / rate)


def _envelope(runs: Runs, rate: Fraction) -> tuple[NDArray[np.int64], int]:
    """Return integers at or above weight * 2^k of each run, 0 for empty runs, with a sum below 2^62, and k."""
    slow = min(round_down(rate), _LARGEST_RATE)
    whole = runs.whole.astype(np.float64)
    exponent = whole + runs.sign * float(runs.part)
    exponent *= slow
    whole += 1.0
    whole *= slow * 2.0**-49
    exponent -= whole
    np.clip(exponent, 0.0, _LARGEST_EXPONENT, out=exponent)
    np.negative(exponent, out=exponent)
    weight = np.exp(exponent, out=exponent)
    weight *= runs.length
    weight *= 1.0 + 2.0**-38
    scale_bits = _ENVELOPE_BITS - 1 - math.frexp(float(weight.sum()))[1]
    envelope = np.ceil(np.ldexp(weight, scale_bits, out=weight), out=weight).astype(np.int64)
    envelope += runs.length > 0
    return envelope, scale_bits


def _outside_share(exponent: Fraction, scale_bits: int) -> int:
    """Return an integer at or above exp(-exponent) * 2^k."""
    with precision(_NEGLIGIBLE_BITS):
        return ceil_of_upper((-ball(exponent)).exp() * ball(Fraction(2) ** scale_bits))


def _is_within(runs: Runs, candidate: int) -> bool:
    """Say whether a candidate lies in one of the runs looked at."""
    last = runs.first + runs.length
    return bool(np.any((runs.first <= candidate) & (candidate < last)))


_BITS = 64
_GUARD = 40


def toss(factor: Fraction, exponent: Fraction) -> bool:
    """Return True with probability exactly factor * exp(-exponent), which the caller has proven to be at most 1.

    >>> toss(Fraction(1), Fraction(0))
    True
    """

    def scaled(bit_count: int) -> tuple[int, int]:
        with precision(bit_count + _GUARD):
            chance = (-ball(exponent)).exp() * ball(factor * (1 << bit_count))
            return floor_of_lower(chance), ceil_of_upper(chance)

    if scaled(_BITS)[0] > 1 << _BITS:  # only if an assumption of the proof fails on this machine
        raise AssumptionFailed("an envelope computed in floats lies below the law: nothing was released")
    return uniform_is_below(word(), _BITS, scaled)

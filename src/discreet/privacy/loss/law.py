"""The loss as a random variable: its mean, its variance, draws of it, in the worse of the two directions."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.errors import NoSoundConversion, ParameterError
from discreet.laws import Enclosure, Pair
from discreet.laws.number import round_down, round_up
from discreet.privacy.guarantees import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP
from discreet.privacy.numbers import written
from discreet.privacy.pairs import LossMoments, NormalPair, PureApproxPair, Side, moments_of

if TYPE_CHECKING:
    from discreet.privacy.loss.release import Release

_MOST_DRAWS, _CHUNK = 1 << 27, 1 << 22
_SUM = "sum over the releases"
_Parts = tuple[tuple["Release", int], ...]


@dataclass(frozen=True, slots=True)
class LossLaw:
    """The total loss of independent releases under P, in the worse direction.

    Of each release the pair with the largest mean is taken, and the direction in which these add up to the larger mean
    (if both are equal, to the larger variance). The mean is the Kullback-Leibler divergence of P from Q, the Renyi
    divergence of order 1. A part of which only a guarantee is known has no law; its mean lies between 0 and what the
    guarantee says, its variance is not bounded.
    """

    parts: tuple[tuple[Pair | None, int], ...]
    mean: Enclosure
    variance: Enclosure

    def sample(self, count: int) -> NDArray[np.float64]:
        """Draw total losses, independently.

        Integer noise is drawn by its exact sampler; coins, tables and continuous noise by comparing uniform floats of
        53 bits with the law, so they follow it to about 2^-50. Normal pairs are added up in closed form.
        """
        wanted = sum(own for pair, own in self.parts if not isinstance(pair, NormalPair)) * count
        if wanted > _MOST_DRAWS:
            raise ParameterError(
                f"{count} sums of {wanted // count} losses are more than 2^27 single draws: ask for fewer",
                parameter="count",
            )
        total = np.zeros(count)
        for pair, own in self.parts:
            if pair is None:
                raise NoSoundConversion(
                    "a loss is drawn from a pair of laws, and one of the releases is known by its guarantee alone. "
                    "Start from the mechanism's own loss, or from one such as gaussian_loss."
                )
            total += _drawn(pair, own, count)
        return total


def _drawn(pair: Pair, times: int, count: int) -> NDArray[np.float64]:
    """Draw sums of independent losses of one pair."""
    if isinstance(pair, NormalPair):
        mean = float(pair.mu)
        noise = NormalPair(1).draw_losses(count) - 0.5
        return times * mean * mean / 2 + math.sqrt(times) * mean * noise
    total, rows = np.zeros(count), max(_CHUNK // count, 1)
    for start in range(0, times, rows):
        block = min(rows, times - start)
        total += pair.draw_losses(block * count).reshape(block, count).sum(axis=0)
    return total


def law_of(parts: _Parts, sides: Iterable[Side]) -> LossLaw:
    """Return the law of the loss in the worse of the directions priced."""
    found = [_towards(parts, side) for side in dict.fromkeys(sides)]
    worst = max(found, key=lambda law: (law.mean.estimate, law.variance.estimate))
    lower, upper = max(law.mean.lower for law in found), max(law.mean.upper for law in found)
    mean = Enclosure(lower, min(max(worst.mean.estimate, lower), upper), upper, _SUM)
    return LossLaw(worst.parts, mean, worst.variance)


def _towards(parts: _Parts, side: Side) -> LossLaw:
    """Return the law of the loss in one direction."""
    chosen = [(*_worst(release.towards(side), release.guarantee), count) for release, count in parts]
    mean = _added([(one.mean, count) for _, one, count in chosen])
    variance = _added([(one.variance, count) for _, one, count in chosen])
    return LossLaw(tuple((pair, count) for pair, _, count in chosen), mean, variance)


def _worst(pairs: tuple[Pair, ...], guarantee: Guarantee | None) -> tuple[Pair | None, LossMoments]:
    """Return the pair with the largest mean and its moments; a guarantee may lower the upper end of the mean."""
    ceiling = math.inf if guarantee is None else _mean_under(guarantee)
    if not pairs:
        nothing = Enclosure(0.0, ceiling, ceiling, "bound implied by the guarantee alone")
        return None, LossMoments(nothing, Enclosure(0.0, math.inf, math.inf, "nothing is known"))
    known = [(pair, _moments(pair)) for pair in pairs]
    pair, best = max(known, key=lambda one: (one[1].mean.estimate, one[1].variance.estimate))
    lower, upper = max(one.mean.lower for _, one in known), min(max(one.mean.upper for _, one in known), ceiling)
    lower = min(lower, upper)
    return pair, LossMoments(
        Enclosure(lower, min(max(best.mean.estimate, lower), upper), upper, best.mean.method), best.variance
    )


@lru_cache(maxsize=256)
def _moments(pair: Pair) -> LossMoments:
    return moments_of(pair)


def _mean_under(guarantee: Guarantee) -> float:
    """Return the largest mean loss that a guarantee allows: the divergence of order 1 is below those of all others."""
    match guarantee:
        case PureDP():
            return PureApproxPair(written(guarantee.epsilon)).moments()[0].upper
        case ZCDP() if guarantee.delta == 0:
            return round_up(written(guarantee.rho))
        case GaussianDP() if guarantee.delta == 0:
            return round_up(written(guarantee.mu) ** 2 / 2)
        case RenyiDP():
            return round_up(written(guarantee.epsilon))
        case ApproxDP() if guarantee.delta == 0:
            return PureApproxPair(written(guarantee.epsilon)).moments()[0].upper
    return math.inf


def _added(terms: list[tuple[Enclosure, int]]) -> Enclosure:
    """Enclose a sum of enclosed numbers, each with a multiplicity; exact but for one rounding."""

    def total(end: str) -> Fraction | None:
        values = [(getattr(one, end), count) for one, count in terms]
        if any(math.isinf(value) for value, _ in values):
            return None
        return sum((count * Fraction(value) for value, count in values), Fraction(0))

    exact = [total(end) for end in ("lower", "estimate", "upper")]
    low = math.inf if exact[0] is None else round_down(exact[0]) + 0.0  # minus zero becomes zero
    high = math.inf if exact[2] is None else round_up(exact[2])
    middle = high if exact[1] is None else float(exact[1])
    return Enclosure(low, min(max(middle, low), high), high, _SUM if len(terms) > 1 else terms[0][0].method)

"""What a price proves: guarantees of each notion that follow from its curve or from its parts."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import suppress
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.errors import NoSoundConversion
from discreet.privacy.guarantees import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP, convert
from discreet.privacy.numbers import written
from discreet.privacy.pairs import normal_pair_is_worse

if TYPE_CHECKING:
    from discreet.privacy.loss.loss import PrivacyLoss
    from discreet.privacy.loss.release import Release


def consequences(loss: PrivacyLoss, guarantee: Guarantee) -> Iterator[Guarantee]:
    """Yield guarantees that releases are proven to keep and that may imply the one asked for.

    Privacy. Every guarantee yielded holds for the releases together.
        Proof: the first is their own. Pure, approximate and Renyi guarantees are statements about `max_loss`, `delta`
        and `renyi`, whose upper ends hold; a concentrated one follows from `concentration`; a Gaussian one from
        `gaussian_square`, or from the curve by `normal_pair_is_worse`.
    """
    if loss.guarantee is not None:
        yield loss.guarantee
    largest = loss.max_loss().upper
    if math.isfinite(largest):
        yield PureDP(largest)
    match guarantee:
        case ApproxDP():
            yield ApproxDP(guarantee.epsilon, loss.delta(guarantee.epsilon).upper)
        case RenyiDP() if math.isfinite(bound := loss.renyi(guarantee.alpha).upper):
            yield RenyiDP(guarantee.alpha, bound)
        case ZCDP() if math.isfinite(rho := loss.concentration()):
            yield ZCDP(rho)
        case GaussianDP() if _is_gaussian(loss, largest, guarantee):
            yield guarantee
    delta = getattr(guarantee, "delta", 0)
    epsilon = loss.epsilon(delta).upper if delta else math.inf
    if math.isfinite(epsilon):
        yield ApproxDP(epsilon, delta)


def _is_gaussian(loss: PrivacyLoss, largest: float, guarantee: GaussianDP) -> bool:
    """Say whether the parts, or else the curve, prove a Gaussian guarantee."""
    square = gaussian_square(loss)
    if square is not None and square <= written(guarantee.mu) ** 2:
        return True
    return normal_pair_is_worse(lambda level: loss.delta(level).upper, largest, guarantee.mu)


def gaussian_square(loss: PrivacyLoss) -> Fraction | None:
    """Return the square of a mu for which the releases are mu-Gaussian DP, exactly; None where none is known.

    Privacy. The sum over releases of the square of each one's mu: that of its pairs, where a theorem gives them one, or
        what its guarantee or its largest loss implies.
        Proof: a release whose pairs are all post-processings of normal ones is one of the pair with the largest mu
        (`NormalPair`); the others by `convert`. Releases that are Gaussian DP add in squares (`basic_composition`).

    >>> from discreet.privacy.loss.reference import gaussian_loss
    >>> gaussian_square(gaussian_loss(2) * 4)
    Fraction(1, 1)
    """
    total = Fraction(0)
    for release, count in loss.parts:
        square = _square_of(release)
        if square is None:
            return None
        total += count * square
    return total


def _square_of(release: Release) -> Fraction | None:
    """Return the least mu^2 known of one release."""
    pairs = (*release.remove, *release.add)
    normal = [square for pair in pairs if (square := pair.gaussian_square()) is not None]
    found = [max(normal)] if pairs and len(normal) == len(pairs) else []
    largest = max((pair.max_loss().upper for pair in pairs), default=math.inf)
    known = [release.guarantee] if math.isinf(largest) else [release.guarantee, PureDP(largest)]
    for guarantee in known:
        with suppress(NoSoundConversion):
            found += [] if guarantee is None else [written(convert(guarantee, GaussianDP, delta=0).mu) ** 2]
    return min(found, default=None)

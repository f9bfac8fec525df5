"""What a release costs in a session's notion: its guarantee as stated, or the best guarantee its whole curve certifies.

Releases whose parameters are fixed before the first answer: priced tightly together, charged to a session once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from typing import Any, NoReturn

from discreet.errors import MissingParameter, NoSoundConversion, ParameterError
from discreet.laws.number import Number, round_down
from discreet.privacy.adaptive.notions import (
    ApproxBooks,
    Books,
    ConcentratedBooks,
    GaussianBooks,
    PureBooks,
    RenyiBooks,
    books_for,
)
from discreet.privacy.adaptive.reserved import gaussian_with_delta
from discreet.privacy.guarantees import (
    ZCDP,
    ApproxDP,
    GaussianDP,
    Guarantee,
    PureDP,
    RenyiDP,
    approx_to_gaussian,
    convert,
)
from discreet.privacy.loss import PrivacyLoss, compose, gaussian_square
from discreet.privacy.numbers import as_computed, as_written, root_upward, written
from discreet.privacy.pairs import Side

_DOUBLINGS = 40
_BISECTIONS = 8  # each step may compose a whole batch; within half a percent of what can be certified
_REMEMBERED = 256
_WORTH_SEARCHING = 1 - 2.0**-10


@dataclass(frozen=True, slots=True)
class Batch:
    """Releases whose prices are all fixed before the first of them is answered, as one price.

    The questions may still depend on earlier answers; how noisy each answer is, and how many there are, may not. That
    is what allows the tight composition of `PrivacyLoss`: a curve, not a number. A session charges the whole batch, in
    its own notion, before anything is released.

    Privacy. The releases together are dominated by `loss`, whichever questions are asked in view of earlier answers.
        Proof: each release, given the past, is a post-processing of its pair of laws, which is the same for every past;
        feed independent draws from all pairs to these post-processings in turn. So the transcript is a post-processing
        of the product of the pairs, which is what `loss` composes.
    Reference. Dong, Roth, Su 2022; Zhu, Dong, Wang 2022.

    >>> from discreet.privacy.guarantees.guarantee import PureDP
    >>> Batch([PureDP(0.1).loss] * 100).loss.epsilon(
    ...     1e-6
    ... ).upper  # by sums it would be 10
    4.7...
    """

    releases: PrivacyLoss | Guarantee | Iterable[PrivacyLoss | Guarantee]
    loss: PrivacyLoss = field(init=False)

    def __post_init__(self) -> None:
        given = self.releases
        releases = tuple(given) if isinstance(given, Iterable) else (given,)
        if not releases:
            raise ParameterError("a batch needs at least one release", parameter="releases")
        losses = tuple(_loss(release) for release in releases)
        object.__setattr__(self, "releases", losses)
        object.__setattr__(self, "loss", compose(losses))

    def __add__(self, other: object) -> NoReturn:
        raise ParameterError(
            "a batch is closed: its tight price holds because everything in it was fixed before the first answer. Make "
            "one Batch of all releases before any of them, or spend each on the session's filter, which adds them up "
            "in a way that is sound for later decisions.",
            parameter="releases",
        )

    __radd__ = __add__


def _loss(release: object) -> PrivacyLoss:
    match release:
        case PrivacyLoss():
            return release
        case Guarantee():
            return PrivacyLoss.from_guarantee(release)
    raise ParameterError(
        f"a batch is made of losses of releases, not of {type(release).__name__}. What a live session spends is "
        "decided as it goes and has no tight price: composing curves and stopping at a target is not sound there.",
        parameter="releases",
    )


Spendable = Guarantee | PrivacyLoss | Batch


def priced(release: object, books: Books, at_delta: Number | None) -> tuple[Guarantee, Number | None]:
    """Return a guarantee that a release keeps and the account can read, and the delta at which to read it."""
    match release:
        case Guarantee():
            return release, at_delta
        case Batch() | PrivacyLoss():
            loss = release.loss if isinstance(release, Batch) else release
            return as_computed(certified(loss, books, at_delta)), None
    kind = type(release).__name__
    raise ParameterError(
        f"a guarantee (for example PureDP(0.1)), the loss of a release or a Batch is needed, not {kind}. Nothing was "
        "spent.",
        parameter="guarantee",
    )


def charge_for(plan: Batch | PrivacyLoss, budget: Guarantee, *, at_delta: Number | None = None) -> Guarantee:
    """Return what a session or a ledger with a budget is charged for a plan, in the budget's notion.

    `at_delta` is the part of the budget's delta that the plan spends; it is never defaulted. A plan on samples needs
    it: without a delta no mu below that of the unsampled steps bounds its whole curve, and no rho either.

    Privacy. The plan keeps the guarantee returned, so it may be charged at any time, chosen in view of earlier answers.
        Proof: `certified`.

    >>> from discreet.privacy.loss import gaussian_loss, subsample
    >>> from discreet.privacy.relation import Relation
    >>> step = subsample(gaussian_loss(1, relation=Relation.ADD_REMOVE), rate=0.01)
    >>> budget = GaussianDP(1, delta=1e-6)
    >>> round(charge_for(step * 1000, budget, at_delta=1e-7).mu, 2)
    0.47
    >>> round(float(charge_for(step * 1000, budget).mu), 2)  # as if nobody were sampled
    31.62
    """
    loss = plan.loss if isinstance(plan, Batch) else plan
    return as_computed(certified(loss, books_for(budget), at_delta))


@lru_cache(maxsize=_REMEMBERED)
def certified(loss: PrivacyLoss, books: Books, at_delta: Number | None) -> Guarantee:
    """Return the least guarantee found, of the account's notion, that the whole curve is certified to keep.

    Privacy. Every release with this loss keeps the guarantee returned.
        Proof: pure: the largest loss. Approximate: the point of the curve at the named delta. zCDP without a delta: the
        `concentration`, a bound on D_alpha/alpha at all orders; with one: (epsilon, delta)-DP is delta-approximate
        (epsilon tanh(epsilon/2))-zCDP, and delta-approximate mu-Gaussian DP is delta-approximate mu^2/2-zCDP. Renyi:
        the divergence at the one order. Gaussian: a mu that follows from one of these or that `satisfies` certifies on
        the whole trade-off curve, both ends; with a delta: `approx_to_gaussian`, and `gaussian_with_delta`, which looks
        at the whole curve but for that delta. Releases on samples have no small rho or mu without a delta.
        A single point of the curve would not do for the last three: it says nothing about the rest of it. All of them
        in both directions.
    """
    if set(loss.sides) != set(Side):
        raise ParameterError(
            "this loss is of one direction only (a person removed, or added), and a session must hold for both: spend "
            "the whole loss",
            parameter="guarantee",
        )
    match books:
        case PureBooks():
            return _pure(loss)
        case ApproxBooks():
            if at_delta is None:
                raise _unnamed("its price in epsilon depends on the delta")
            return _approx(loss, at_delta)
        case ConcentratedBooks():
            return _concentrated(loss) if at_delta is None else _concentrated_with(loss, at_delta)
        case RenyiBooks(alpha=alpha):
            return _renyi(loss, alpha)
        case GaussianBooks():
            return _gaussian(loss) if at_delta is None else _gaussian_with(loss, at_delta)
    raise NoSoundConversion(f"no price is known in {type(books).__name__}")


def _pure(loss: PrivacyLoss) -> PureDP:
    found: list[Number] = [loss.max_loss().upper]
    if isinstance(loss.guarantee, PureDP):
        found.append(written(loss.guarantee.epsilon))  # exact, where the curve rounds up
    epsilon = _finite(
        found,
        "this release has no largest loss, so no epsilon bounds it in pure differential privacy. Keep the "
        "session's account in ApproxDP or ZCDP instead.",
    )
    return PureDP(epsilon, relation=loss.relation)


def _approx(loss: PrivacyLoss, delta: Number) -> ApproxDP:
    found: list[Number] = [loss.epsilon(round_down(written(delta))).upper]
    guarantee = loss.guarantee
    if isinstance(guarantee, PureDP) or (isinstance(guarantee, ApproxDP) and guarantee.delta <= delta):
        found.append(written(guarantee.epsilon))
    epsilon = _finite(
        found,
        f"this release has no epsilon at delta = {delta}: its loss is unbounded with a larger probability. Name a "
        "larger at_delta.",
    )
    return ApproxDP(epsilon, delta, relation=loss.relation)


def _renyi(loss: PrivacyLoss, alpha: Number) -> RenyiDP:
    known = [loss.renyi(alpha).upper, *(one.epsilon for one in _implied(loss, RenyiDP, alpha=alpha))]
    epsilon = _finite(
        known,
        f"no divergence of order {alpha} could be certified for this release. Keep the session's account in ApproxDP, "
        "or in ZCDP with a delta, and name at_delta.",
    )
    return RenyiDP(alpha, epsilon, relation=loss.relation)


def _finite(found: list[Number], otherwise: str) -> Number:
    """Return the least of several bounds, unless all are infinite."""
    least = min(found)
    if math.isinf(least):
        raise NoSoundConversion(otherwise)
    return least


def _concentrated(loss: PrivacyLoss) -> ZCDP:
    known: list[Number] = [one.rho for one in _implied(loss, ZCDP)]
    if not known:
        raise _unnamed("no rho could be certified over all orders without a delta")
    return ZCDP(min(known), relation=loss.relation)


def _gaussian(loss: PrivacyLoss) -> GaussianDP:
    known: list[Number] = [one.mu for one in _implied(loss, GaussianDP)]
    square = gaussian_square(loss)
    known += [] if square is None else [root_upward(square)]
    found = _least(lambda mu: loss.satisfies(GaussianDP(mu, relation=loss.relation)), min(known, default=None))
    if found is None:
        raise NoSoundConversion(
            "no mu could be certified: the trade-off curve of this release is below every normal one that was tried. "
            "Name at_delta, or keep the session's account in ApproxDP."
        )
    return GaussianDP(found, relation=loss.relation)


def _gaussian_with(loss: PrivacyLoss, delta: Number) -> GaussianDP:
    """Return the lesser mu of the curve's one point at the delta and of the whole curve but for the delta."""
    point = approx_to_gaussian(_approx(loss, delta))
    found = _but_for(loss, delta)
    return point if found is None else min(point, found, key=lambda one: written(one.mu))


def _concentrated_with(loss: PrivacyLoss, delta: Number) -> ZCDP:
    """Return the lesser rho of the curve's one point at the delta and of the Gaussian guarantee with the delta."""
    point = convert(_approx(loss, delta), ZCDP)
    found = _but_for(loss, delta)
    if found is None or written(point.rho) <= Fraction(found.mu) ** 2 / 2:
        return point
    return ZCDP(Fraction(found.mu) ** 2 / 2, delta, relation=loss.relation)


def _but_for(loss: PrivacyLoss, delta: Number) -> GaussianDP | None:
    """Return the Gaussian guarantee of the whole curve but for the delta, where there is one."""
    try:
        return gaussian_with_delta(loss, delta)
    except NoSoundConversion:
        return None


def _implied(loss: PrivacyLoss, notion: Any, **arguments: Any) -> list[Any]:
    """Return the guarantees of a notion, without a delta, that follow from the stated one, the loss or the rho."""
    largest, rho = loss.max_loss().upper, loss.concentration()
    sources: list[Guarantee | None] = [None if loss.guarantee is None else as_written(loss.guarantee)]
    sources += [PureDP(Fraction(largest))] if math.isfinite(largest) else []
    sources += [ZCDP(Fraction(rho))] if math.isfinite(rho) else []
    if isinstance(loss.guarantee, GaussianDP) and not loss.guarantee.delta:
        sources.append(ZCDP(written(loss.guarantee.mu) ** 2 / 2))  # exact, where the conversion rounds up
    found = []
    for source in sources:
        if source is None or Fraction(getattr(source, "delta", 0)):
            continue
        try:
            found.append(convert(source, notion, **arguments))
        except NoSoundConversion:
            continue
    return found


def _least(holds: Callable[[float], bool], start: Number | None) -> Number | None:
    """Return a small number for which a condition was found to hold; `start` is one that is known to."""
    if start is None:
        tried = (2.0**power for power in range(-_DOUBLINGS // 2, _DOUBLINGS // 2))
        start = next((candidate for candidate in tried if holds(candidate)), None)
        if start is None:
            return None
    high: Number = start
    if not start or not holds(float(start) * _WORTH_SEARCHING):
        return high
    low, high = 0.0, float(start) * _WORTH_SEARCHING
    for _ in range(_BISECTIONS):
        middle = low + (high - low) / 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _unnamed(reason: str) -> MissingParameter:
    return MissingParameter(
        f"{reason}: name the delta to spend on this release, spend(..., at_delta=...). It is never defaulted.",
        parameter="at_delta",
    )

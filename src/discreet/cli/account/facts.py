"""The facts about a price: the certified interval, both directions, what other theorems say, and a person's odds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from discreet.errors import ConflictingParameters, DiscreetError, MissingParameter
from discreet.laws import Enclosure
from discreet.laws.number import Number, round_up
from discreet.privacy import (
    ApproxDP,
    DeltaCurve,
    Guarantee,
    PrivacyLoss,
    PureDP,
    ReleaseRecord,
    RenyiDP,
    advanced_composition,
    replay,
)
from discreet.privacy.numbers import nonnegative, probability

FALSE_ALARMS = 0.05
_ORDERS = tuple(1 + 2.0 ** (step / 3) for step in range(-18, 31))
_COARSE = 1e-2
_SLACK = 1e-12
_SECTIONS, _GOLDEN, _LOWEST_LEVEL = 18, (5**0.5 - 1) / 2, -12.0
_NEAR, _FAR, _LEAST_DRAWN = 40, 24, 1e-12


@dataclass(frozen=True)
class AccountQuestion:
    """What is asked: epsilon at a delta, or delta at an epsilon; exactly one of them is given."""

    delta: Number | None
    epsilon: Number | None

    def __post_init__(self) -> None:
        if self.delta is None and self.epsilon is None:
            raise MissingParameter(
                "state what you ask: --delta 1e-5 asks for epsilon at that delta, --at-epsilon 1 for delta at that "
                "epsilon; neither is ever guessed",
                parameter="delta",
            )
        if self.delta is not None and self.epsilon is not None:
            raise ConflictingParameters(
                "ask one thing: --delta for epsilon at that delta, or --at-epsilon for delta at that epsilon",
                parameter="delta",
            )
        if self.delta is not None:
            probability(self.delta, name="delta")
        if self.epsilon is not None:
            nonnegative(self.epsilon, name="epsilon")

    @property
    def asked(self) -> str:
        """The name of the number asked for."""
        return "epsilon" if self.delta is not None else "delta"

    @property
    def given(self) -> Number:
        """The number given."""
        return self.delta if self.delta is not None else (self.epsilon or 0)

    def ask(self, loss: PrivacyLoss) -> Enclosure:
        """Return the answer for one price."""
        return loss.epsilon(self.given) if self.asked == "epsilon" else loss.delta(self.given)


@dataclass(frozen=True)
class Comparison:
    """What another theorem says about the same releases: an epsilon at the same delta, None where it says nothing."""

    theorem: str
    epsilon: float | None


@dataclass(frozen=True)
class CertifiedLoss:
    """The certified answer to a question about some records, and what belongs beside it."""

    records: tuple[ReleaseRecord, ...]
    loss: PrivacyLoss
    question: AccountQuestion
    answer: Enclosure
    removed: Enclosure
    added: Enclosure
    comparisons: tuple[Comparison, ...]
    misses: float

    @property
    def epsilon(self) -> float:
        """The safe epsilon of the answer."""
        return self.answer.upper if self.question.asked == "epsilon" else float(self.question.given)

    @property
    def delta(self) -> float:
        """The safe delta of the answer."""
        return self.answer.upper if self.question.asked == "delta" else float(self.question.given)


def certify(records: Sequence[ReleaseRecord], question: AccountQuestion) -> CertifiedLoss:
    """Answer a question about records."""
    loss = replay(records)
    answer = question.ask(loss)
    chance = Fraction(question.given) if question.asked == "epsilon" else Fraction(answer.upper)
    compared = comparisons(loss, chance) if loss.releases > 1 and 0 < chance < 1 else ()
    return CertifiedLoss(
        tuple(records), loss, question, answer, question.ask(loss.remove), question.ask(loss.add), compared,
        least_misses(loss, FALSE_ALARMS),
    )  # fmt: skip


def comparisons(loss: PrivacyLoss, delta: Fraction) -> tuple[Comparison, ...]:
    """Return what three older theorems say about the same releases at the same delta."""
    found = [Comparison("basic composition", basic(loss, delta))]
    if len(loss.parts) == 1:
        found.append(Comparison("advanced composition", advanced(loss, delta)))
    found.append(Comparison("Renyi, best order", renyi(loss, delta)))
    return tuple(found)


def basic(loss: PrivacyLoss, delta: Fraction) -> float | None:
    """Add up the largest losses, or the epsilons of all releases at equal shares of delta; the smaller."""
    singles = [(single(loss, place), count) for place, (_, count) in enumerate(loss.parts)]
    share = delta / loss.releases
    largest = _total((one.max_loss().upper, count) for one, count in singles)
    return _finite(min(largest, _total((one.epsilon(share).upper, count) for one, count in singles)))


def _total(bounds: Iterable[tuple[float, int]]) -> float:
    """Add up bounds, each as often as it counts, exactly and rounded up once."""
    given = list(bounds)
    if not all(math.isfinite(bound) for bound, _ in given):
        return math.inf
    return round_up(sum((count * Fraction(bound) for bound, count in given), Fraction(0)))


def advanced(loss: PrivacyLoss, delta: Fraction) -> float | None:
    """Return the theorem of Dwork, Rothblum and Vadhan for equal releases, or the plain sum where that is less."""
    one, count = single(loss, 0), loss.releases
    candidates: list[tuple[Guarantee, Fraction]] = []
    # a release with a largest loss leaves all of delta as slack; any other takes half of it for its own deltas
    largest, share = one.max_loss().upper, delta / (2 * count)
    if math.isfinite(largest):
        candidates.append((PureDP(largest), delta))
    if math.isfinite(bound := one.epsilon(share).upper):
        candidates.append((ApproxDP(bound, share), delta / 2))
    found = [float(advanced_composition(guarantee, count, slack).epsilon) for guarantee, slack in candidates]
    plain = basic(loss, delta)
    return _finite(min([*found, *([] if plain is None else [plain])], default=math.inf))


def renyi(loss: PrivacyLoss, delta: Fraction) -> float | None:
    """Return the least epsilon that the Renyi divergences of one order prove, over a fixed list of orders."""
    own = [float(part.guarantee.alpha) for part, _ in loss.parts if isinstance(part.guarantee, RenyiDP)]
    best, largest = math.inf, loss.max_loss().upper
    for order in (*_ORDERS, *own):
        divergence = loss.renyi(order).upper
        # a divergence of the size of the largest loss says nothing that basic composition does not say
        if divergence < largest:
            try:
                best = min(best, float(RenyiDP(order, divergence).to_approx(delta).epsilon))
            except DiscreetError:
                continue
    return _finite(best)


def single(loss: PrivacyLoss, place: int) -> PrivacyLoss:
    """Return the price of one release of one of the kinds."""
    return PrivacyLoss(((loss.parts[place][0], 1),), loss.relation, loss.sides)


def least_misses(loss: PrivacyLoss, alarms: float) -> float:
    """Return a chance of a miss that no test with this chance of a false alarm can beat.

    Privacy. For each level e >= 0, any test with false alarms a misses with chance at least 1 - delta(e) - e^e a and at
        least e^-e (1 - delta(e) - a); the largest over the levels tried is returned, rounded down.
        Proof: (e, delta)-DP for the event 'no alarm' and for the event 'alarm'. Which levels are tried decides how good
        the bound is, not whether it holds; both together are unimodal in the level, so golden sections find the best.
    Reference. Wasserman, Zhou 2010; Dong, Roth, Su 2022.
    """

    def height(level: float) -> float:
        return _height(level, loss.delta(abs(level), tolerance=_COARSE).upper, alarms)

    low, high = _LOWEST_LEVEL, -math.log(alarms)
    best = height(0.0)
    for _ in range(_SECTIONS):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        at_left, at_right = height(left), height(right)
        best = max(best, at_left, at_right)
        low, high = (low, right) if at_left >= at_right else (left, high)
    return min(max(best, 0.0), 1 - alarms)


def curve(price_: CertifiedLoss) -> DeltaCurve:
    """Return certified bounds on delta(epsilon), closer together where delta is large."""
    loss = price_.loss
    least = min(_LEAST_DRAWN, price_.delta / 100) if price_.delta > 0 else _LEAST_DRAWN
    middle, end = (loss.epsilon(chance, tolerance=_COARSE).upper for chance in (1e-3, least))
    if not math.isfinite(end):
        end = max(2 * price_.epsilon, 1.0) if math.isfinite(price_.epsilon) else 10.0
    middle = min(middle, end)
    levels = np.unique(np.concatenate([np.linspace(0.0, middle, _NEAR), np.linspace(middle, max(end, 1e-6), _FAR)]))
    found = [loss.delta(float(level), tolerance=_COARSE) for level in levels]
    return DeltaCurve.monotone(levels, np.array([one.lower for one in found]), np.array([one.upper for one in found]))


def misses_from(deltas: DeltaCurve, alarms: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Return `least_misses` for many chances of a false alarm, from the levels of a curve."""
    levels, chances = deltas.epsilon[:, None], deltas.upper[:, None]
    with np.errstate(over="ignore"):
        steep = 1 - chances - np.exp(levels) * alarms
    flat = np.exp(-levels) * (1 - chances - alarms)
    best: npt.NDArray[np.float64] = np.maximum(steep, flat).max(axis=0) - _SLACK
    return np.clip(best, 0.0, 1 - alarms)


def _height(level: float, delta: float, alarms: float) -> float:
    """Return the bound of one level; a negative one stands for the mirrored line."""
    if level >= 0:
        return 1 - delta - math.exp(level) * alarms - _SLACK
    return math.exp(level) * (1 - delta - alarms) - _SLACK


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None

"""An audit from one run: canaries put in by coins, guesses about them, and what the right ones refute.

Canaries are records put in or left out by secret fair coins; scores about them make the guesses.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.audit.canaries.right_guesses import (
    CurveBelow,
    Points,
    counting_tail,
    implied_points,
    is_allowed,
    tradeoff_tail,
)
from discreet.audit.verdict import Outcome, as_confidence, refuted_at
from discreet.display import definition_list
from discreet.errors import ParameterError
from discreet.laws.number import Number, round_up
from discreet.privacy import GaussianDP, Guarantee, PrivacyLoss, Relation, combine
from discreet.privacy.numbers import probability, whole
from discreet.randomness import bernoulli_array

if TYPE_CHECKING:
    from discreet.display.plots import Plot


_HALVINGS = 24
_LARGEST = 600.0


@dataclass(frozen=True, slots=True)
class OneRun:
    """What right guesses about canaries say about a mechanism that ran once.

    With the confidence stated the mechanism's epsilon at `delta` is at least `low`. `cap` is what `low` would have been
    had every guess been right: a guarantee above it can only pass. `p_value` bounds the chance of this many right
    guesses under the guarantee, where there is one; `mu` is the least parameter of Gaussian privacy that is not
    refuted.
    """

    guarantee: Guarantee | PrivacyLoss | None
    canaries: int
    guesses: int
    right: int
    delta: float
    confidence: float
    low: float
    mu: float
    cap: float
    p_value: float | None
    seconds: float

    @property
    def outcome(self) -> Outcome:
        """Refuted where the guarantee makes this many right guesses too unlikely; one run never certifies."""
        refuted = self.p_value is not None and self.p_value <= 1.0 - self.confidence
        return Outcome.REFUTED if refuted else Outcome.OPEN

    @property
    def refuted(self) -> bool:
        """Whether the guarantee is refuted at the confidence stated."""
        return self.outcome is Outcome.REFUTED

    def __str__(self) -> str:
        return "\n".join(f"{name}: {text}" for name, text in self._rows())

    def _rows(self) -> list[tuple[str, str]]:
        """Return what people want to read, in order; lower bounds are cut, not rounded."""
        verdict = refuted_at(self.confidence) if self.refuted else self.outcome.value  # never refuted for certain
        rows = [] if self.guarantee is None else [("guarantee", str(self.guarantee)), ("verdict", verdict)]
        at = f" at delta {self.delta:.6g}" if self.delta else ""
        rows += [
            ("epsilon", f"at least {_cut(self.low)}{at}"),
            ("Gaussian privacy", f"mu at least {_cut(self.mu)}"),
            ("guesses", f"{self.right:,} right of {self.guesses:,}, about {self.canaries:,} canaries in one run"),
            ("cap", f"{self.guesses:,} guesses can refute at most epsilon {self.cap:.2f}, all of them right"),
            ("confidence", as_confidence(self.confidence)),
        ]
        if self.p_value is not None:
            rows.append(("chance under the guarantee", f"at most {self.p_value:.3g}"))
        return rows

    def _repr_html_(self) -> str:
        """Show the same in a notebook."""
        return definition_list(self._rows())

    def plot(self) -> Plot:
        """Draw how likely this many right guesses can be, against epsilon, at this delta; needs the extra `plot`."""
        from discreet.display.plots import BLUE, INK, ORANGE, axes, plotted

        drawn = axes(
            title=f"{self.right:,} right of {self.guesses:,} guesses about canaries",
            x_label=f"epsilon of the guarantee, at delta {self.delta:.3g}",
            y_label="largest chance of this many right guesses",
        )
        levels = np.linspace(0.0, max(self.cap, self.low) * 1.15 + 0.1, 90)
        chances = [_tail(((float(level), self.delta),), self.canaries, self.guesses, self.right) for level in levels]
        drawn.semilogy(levels, np.maximum(chances, 1e-18), color=BLUE, linewidth=2)
        drawn.axhline(1.0 - self.confidence, color=INK, linewidth=1.2, linestyle="--")
        drawn.axvline(self.low, color=ORANGE, linewidth=1.6, label=f"refuted below {_cut(self.low)}")
        drawn.axvline(self.cap, color=INK, linewidth=1.2, linestyle=":", label=f"cap {self.cap:.2f}")
        drawn.set_ylim(max(min(chances) / 3, 1e-18), 1.0)
        drawn.legend(frameon=False, labelcolor=INK)
        return plotted(drawn)


def one_run(
    *,
    canaries: int,
    guesses: int,
    right: int,
    delta: Number = 0,
    confidence: Number = 0.95,
    guarantee: Guarantee | PrivacyLoss | None = None,
    relation: Relation = Relation.ADD_REMOVE,
) -> OneRun:
    """Bound a mechanism's epsilon from below by guesses about canaries that were put in, or left out, by fair coins.

    The numbers of canaries and of guesses are fixed before the run; a canary and its coin are one person under
    `relation`. For guarantees that are curves (Gaussian, concentrated, Renyi, a `PrivacyLoss`) the whole curve is used.

    Accuracy. If the mechanism keeps (epsilon, delta) for some epsilon below `low`, then `right` right guesses had a
        chance of at most 1 - confidence; the same holds for `mu`, and `p_value` bounds that chance under the guarantee.
        Proof: both `counting_tail` and `tradeoff_tail` bound the chance, so the smaller does. A guarantee implies every
        weaker one, so a bound of at most 1 - confidence at one epsilon refutes all smaller ones.
    Cost. About two seconds for 100 000 guesses.
    Figure. one-run.svg
    Reference. Steinke, Nasr, Jagielski 2023; Mahloujifar, Melis, Chaudhuri 2025.

    >>> from discreet.privacy import PureDP
    >>> found = one_run(canaries=1000, guesses=1000, right=900, guarantee=PureDP(1))
    >>> found.refuted, round(found.low, 2), round(found.cap, 2)
    (True, 2.02, 5.81)
    """
    started = time.perf_counter()
    count, made, tail_delta, sure = _checked(canaries, guesses, right, delta, confidence)
    if guarantee is not None:
        if not isinstance(guarantee, Guarantee | PrivacyLoss):
            raise ParameterError(
                "guarantee must be a Guarantee, such as PureDP(0.1), or a PrivacyLoss", parameter="guarantee"
            )
        combine(relation, guarantee.relation)
    rest = 1.0 - sure

    def refuted(points: Points, seen: int) -> bool:
        return _refuted(points, count, made, seen, rest)

    return OneRun(
        guarantee=guarantee,
        canaries=count,
        guesses=made,
        right=right,
        delta=tail_delta,
        confidence=sure,
        low=_largest_refuted(lambda epsilon: refuted(((epsilon, tail_delta),), right)),
        mu=_largest_refuted(lambda mu: _gaussian_refuted(mu, count, made, right, rest)),
        cap=_largest_refuted(lambda epsilon: refuted(((epsilon, tail_delta),), made)),
        p_value=None if guarantee is None else _tail(implied_points(guarantee), count, made, right),
        seconds=time.perf_counter() - started,
    )


def _checked(
    canaries: int, guesses: int, right: int, delta: Number, confidence: Number
) -> tuple[int, int, float, float]:
    """Return the numbers of the game; refuse those that no game has."""
    count, made = whole(canaries, name="canaries"), whole(guesses, name="guesses")
    if made > count:
        raise ParameterError(
            "there must be at most one guess about each canary: guesses <= canaries", parameter="guesses"
        )
    if isinstance(right, bool) or not isinstance(right, int | np.integer) or not 0 <= right <= made:
        raise ParameterError(
            "right must be the number of right guesses, an int from 0 to the number of guesses", parameter="right"
        )
    sure = float(confidence)
    if not 0.0 < sure < 1.0:
        raise ParameterError(f"confidence must lie strictly between 0 and 1, got {confidence}", parameter="confidence")
    return count, made, round_up(Fraction(probability(delta, name="delta"))), sure


def _tail(points: Points, canaries: int, guesses: int, right: int) -> float:
    """Bound the chance of this many right guesses under all points of a guarantee together."""
    curve = CurveBelow.through(points)
    chances = [
        counting_tail(right, canaries=canaries, guesses=guesses, epsilon=epsilon, delta=delta)
        for epsilon, delta in points
    ]
    return min(*chances, tradeoff_tail(right, canaries=canaries, guesses=guesses, curve=curve))


def _refuted(points: Points, canaries: int, guesses: int, right: int, rest: float) -> bool:
    """Say whether the points of a guarantee bound the chance by `rest`."""
    if right == 0:
        return False
    if not is_allowed(rest, right, canaries=canaries, guesses=guesses, curve=CurveBelow.through(points)):
        return True
    return any(
        counting_tail(right, canaries=canaries, guesses=guesses, epsilon=epsilon, delta=delta) <= rest
        for epsilon, delta in points
    )


def _largest_refuted(refuted: Callable[[float], bool]) -> float:
    """Return a parameter that is refuted, and with it all smaller ones; 0 if nothing is refuted."""
    low, high = 0.0, 0.25
    while high < _LARGEST and refuted(high):
        low, high = high, 2.0 * high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low


def _gaussian_refuted(mu: float, canaries: int, guesses: int, right: int, rest: float) -> bool:
    """Say whether Gaussian privacy of this parameter, if not 0, makes this many right guesses too unlikely."""
    if right == 0 or mu == 0.0:
        return False
    curve = CurveBelow.through(implied_points(GaussianDP(mu)))
    return not is_allowed(rest, right, canaries=canaries, guesses=guesses, curve=curve)


def _cut(value: float) -> str:
    """Write a lower bound with four decimals, cut."""
    return f"{math.floor(value * 10_000) / 10_000:.4f}"


@dataclass(frozen=True, eq=False, repr=False)
class Canaries:
    """The coins of the canaries, drawn once and kept apart from whoever guesses.

    `included` says which canaries go into the data. Whoever sees the output gives a score to each canary, larger ones
    for canaries that seem to be in; `audit` then guesses 'in' about the largest, 'out' about the smallest, and nothing
    about the others. The number of guesses is fixed beforehand, and one draw of coins serves one run.

    >>> canaries = Canaries.drawn(1000)
    >>> found = canaries.audit(
    ...     canaries.included + 0.0, guesses=100
    ... )  # a mechanism that hides nothing
    >>> found.right, round(found.low, 2) == round(found.cap, 2) == 3.49
    (100, True)
    """

    included: NDArray[np.bool_]

    def __post_init__(self) -> None:
        coins = np.array(self.included)
        if coins.ndim != 1 or coins.dtype != np.bool_:
            raise ParameterError("included must hold one bool for each canary", parameter="included")
        coins.flags.writeable = False
        object.__setattr__(self, "included", coins)

    @classmethod
    def drawn(cls, count: int) -> Canaries:
        """Toss exact fair coins for `count` canaries."""
        return cls(bernoulli_array(Fraction(1, 2), whole(count, name="count")))

    def __len__(self) -> int:
        return len(self.included)

    def __repr__(self) -> str:
        return f"Canaries({len(self)})"

    def right(self, scores: ArrayLike, *, guesses: int) -> int:
        """Return how many guesses are right, half of them about the largest scores and half about the smallest."""
        made = whole(guesses, name="guesses")
        ranked = _ranked(scores, len(self))
        if made > len(self):
            raise ParameterError("there must be at most one guess about each canary", parameter="guesses")
        lower, upper = made // 2, made - made // 2
        said_out, said_in = ranked[:lower], ranked[len(self) - upper :]
        return int(np.count_nonzero(~self.included[said_out]) + np.count_nonzero(self.included[said_in]))

    def audit(
        self,
        scores: ArrayLike,
        *,
        guesses: int,
        guarantee: Guarantee | PrivacyLoss | None = None,
        delta: Number = 0,
        confidence: Number = 0.95,
        relation: Relation = Relation.ADD_REMOVE,
    ) -> OneRun:
        """Guess by the scores and say what the right guesses refute; see `one_run`."""
        return one_run(
            canaries=len(self),
            guesses=guesses,
            right=self.right(scores, guesses=guesses),
            delta=delta,
            confidence=confidence,
            guarantee=guarantee,
            relation=relation,
        )


def _ranked(scores: ArrayLike, count: int) -> NDArray[np.intp]:
    """Return the places of the canaries from the smallest score to the largest."""
    values = np.asarray(scores, dtype=np.float64)
    if values.shape != (count,) or np.isnan(values).any():
        raise ParameterError("scores must be one number for each canary", parameter="scores")
    return np.argsort(values, kind="stable")

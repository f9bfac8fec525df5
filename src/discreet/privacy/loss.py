"""The price of one release: the worst of its exact pairs of output laws, and what its promise adds."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import overload

import numpy as np

from discreet.display import definition_list
from discreet.errors import ParameterError
from discreet.laws.enclosure import Enclosure, SafeEnd
from discreet.laws.number import Number, round_down, round_up
from discreet.laws.pair import Pair
from discreet.privacy.conversion import implies
from discreet.privacy.curves import delta_of, epsilon_of, tradeoff_of, worst_pair
from discreet.privacy.guarantee import ApproxDP, GaussianDP, Guarantee, PureDP, shown
from discreet.privacy.parameters import nonnegative, probability
from discreet.privacy.relation import Relation, combine, require_known
from discreet.privacy.tradeoff import TradeOff, normal_pair_is_worse

_CURVE_POINTS = 101
_SUMMARY_DELTA = 1e-6


@dataclass(frozen=True, slots=True)
class PrivacyLoss:
    """What one release can cost a person: the full curve of (epsilon, delta), from exact laws where they are known.

    `pairs` are the output laws on neighbouring tables, every direction that can occur; `claim` is a promise proven for
    the same release. Either may be missing. `attained` says whether the pairs are laws of the release itself, or the
    worst ones that keep its promise. Bounds on the side of privacy use whichever is better; bounds on the other side
    come from the pairs alone, because only they are attained.

    Privacy. `epsilon`, `delta` and `max_loss` return an `upper` that holds for the release, `tradeoff` a `lower`.
        Proof: the release's delta(epsilon) is the largest over its neighbouring pairs and directions, so the largest of
        the pairs' upper bounds holds; a proven claim bounds it too (`delta_of`, `epsilon_of`, `tradeoff_of`), and so
        does the smaller of the two.

    >>> PureDP(1).loss.delta(0.5).upper
    0.2876...
    """

    pairs: tuple[Pair, ...]
    claim: Guarantee | None
    relation: Relation
    attained: bool = True

    def __post_init__(self) -> None:
        """Refuse a price made from nothing."""
        if not self.pairs and self.claim is None:
            raise ParameterError("a price needs at least one pair of laws or a promise", parameter="pairs")

    @classmethod
    def from_pairs(
        cls, pairs: Iterable[Pair], *, relation: Relation = Relation.UNSTATED, claim: Guarantee | None = None
    ) -> PrivacyLoss:
        """Price a release by the pairs of its output laws on neighbours; each pair is used in both directions.

        The pairs must include a worst one for every level, for example all shifts up to the sensitivity. A relation is
        symmetric, so the reverse of each pair is added where it is missing.

        >>> from discreet.privacy.claim_pairs import NormalPair
        >>> PrivacyLoss.from_pairs([NormalPair(1)]).epsilon(1e-6).upper
        4.88655411746221...
        """
        given = list(pairs)
        if not all(isinstance(pair, Pair) for pair in given):
            raise ParameterError("pairs must be pairs of laws", parameter="pairs")
        directed: list[Pair] = []
        for pair in (*given, *(pair.reversed() for pair in given)):
            if pair not in directed:
                directed.append(pair)
        stated = relation if claim is None else combine(relation, claim.relation)
        return cls(tuple(directed), claim, stated)

    @classmethod
    def from_guarantee(cls, guarantee: Guarantee) -> PrivacyLoss:
        """Price a release of which only the promise is known: the worst release that keeps it."""
        if not isinstance(guarantee, Guarantee):
            raise ParameterError(f"a promise is needed, not {type(guarantee).__name__}", parameter="guarantee")
        pair = worst_pair(guarantee)
        return cls(() if pair is None else (pair,), guarantee, guarantee.relation, attained=False)

    def delta(self, epsilon: Number) -> Enclosure:
        """Enclose the least delta with which the release is (epsilon, delta)-DP."""
        level = nonnegative(epsilon, name="epsilon")
        exact = Fraction(level)
        found = [pair.delta(level if isinstance(level, float) else exact) for pair in self.pairs]
        return self._upper_kind(found, lambda claim: delta_of(claim, exact), largest=1.0)

    def epsilon(self, delta: Number) -> Enclosure:
        """Enclose the least epsilon >= 0 with which the release is (epsilon, delta)-DP; infinite if there is none."""
        exact = Fraction(probability(delta, name="delta"))
        # pairs take floats: a delta between two floats is bracketed by them, the smaller one giving the larger epsilon
        below, above = round_down(exact), round_up(exact)
        found = [pair.epsilon(below) for pair in self.pairs]
        if above != below:
            found = [_spanning(pair.epsilon(above), safe) for pair, safe in zip(self.pairs, found, strict=True)]
        return self._upper_kind(found, lambda claim: epsilon_of(claim, exact), largest=math.inf)

    def max_loss(self) -> Enclosure:
        """Enclose the largest loss of any outcome: the least epsilon of a pure promise (may be infinite)."""
        found = [pair.max_loss() for pair in self.pairs]
        return self._upper_kind(found, lambda claim: epsilon_of(claim, Fraction(0)), largest=math.inf)

    @overload
    def tradeoff(self, alpha: None = None) -> TradeOff: ...

    @overload
    def tradeoff(self, alpha: Number) -> Enclosure: ...

    def tradeoff(self, alpha: Number | None = None) -> Enclosure | TradeOff:
        """Enclose the least chance of a miss at a chance alpha of a false alarm; without alpha, give the curve."""
        if alpha is None:
            return self._curve()
        exact = Fraction(probability(alpha, name="alpha"))
        below, above = round_down(exact), round_up(exact)
        found = [(pair.tradeoff(above).lower, pair.tradeoff(below).upper) for pair in self.pairs]
        lower = min((low for low, _ in found), default=0.0)
        upper = min((high for _, high in found), default=round_up(1 - exact))
        if self.claim is not None:
            promised = tradeoff_of(self.claim, above)
            if promised > upper:
                raise self._refuted()
            lower = max(lower, promised)
        return Enclosure(lower, lower + (upper - lower) / 2, upper, self._method(), SafeEnd.LOWER)

    def satisfies(self, guarantee: Guarantee) -> bool:
        """Say whether the release is proven to keep a promise; False means 'not proven from what is known here'.

        Privacy. True only if the release keeps the promise.
            Proof: either the claim implies it; or the pairs do: pure and approximate promises are statements about
            `max_loss` and `delta`, whose upper ends hold; a Gaussian one is shown by `normal_pair_is_worse`; anything
            else must follow from the pure promise with epsilon = `max_loss` or, where the promise has a delta, from
            (`epsilon(delta)`, delta).

        >>> PureDP(1).loss.satisfies(ApproxDP(0.9, 0.07)), PureDP(1).loss.satisfies(ApproxDP(0.9, 0.01))
        (True, False)
        """
        require_known(self.relation, guarantee.relation)
        if self.claim is not None and _follows(self.claim, guarantee):
            return True
        return bool(self.pairs) and any(_follows(known, guarantee) for known in self._consequences(guarantee))

    def _curve(self) -> TradeOff:
        grid = np.linspace(0.0, 1.0, _CURVE_POINTS)
        points = [self.tradeoff(float(one)) for one in grid]
        return TradeOff(grid, np.array([one.lower for one in points]), np.array([one.upper for one in points]))

    def _consequences(self, guarantee: Guarantee) -> Iterable[Guarantee]:
        """Yield promises that the curve proves and that may imply the one asked for."""
        largest = self.max_loss().upper
        if math.isfinite(largest):
            yield PureDP(largest)
        if isinstance(guarantee, ApproxDP):
            yield ApproxDP(guarantee.epsilon, self.delta(guarantee.epsilon).upper)
        if isinstance(guarantee, GaussianDP) and normal_pair_is_worse(
            lambda level: self.delta(level).upper, largest, guarantee.mu
        ):
            yield GaussianDP(guarantee.mu)
        delta = getattr(guarantee, "delta", 0)
        epsilon = self.epsilon(delta).upper if delta else math.inf
        if math.isfinite(epsilon):
            yield ApproxDP(epsilon, delta)

    def _upper_kind(
        self, found: list[Enclosure], claimed: Callable[[Guarantee], float], *, largest: float
    ) -> Enclosure:
        """Combine the pairs (the largest counts) with the claim (it may lower the upper end only)."""
        lower = max((one.lower for one in found), default=0.0)
        upper = max((one.upper for one in found), default=largest)
        estimate = max((one.estimate for one in found), default=upper)
        if self.claim is not None:
            promised = claimed(self.claim)
            if promised < lower:
                raise self._refuted()
            upper = min(upper, promised)
        return Enclosure(lower, min(max(estimate, lower), upper), upper, self._method())

    def _method(self) -> str:
        if not self.pairs:
            return f"bound implied by {self.claim!r} alone; no pair of laws is known, so the other end is trivial"
        exact = f"worst of {len(self.pairs)} exact pair{'s' if len(self.pairs) > 1 else ''} of laws"
        return exact if self.claim is None else f"{exact}, and {self.claim!r} where it says more"

    def _refuted(self) -> ParameterError:
        return ParameterError(
            f"the claim {self.claim!r} is false for this release: its pairs of laws attain more than the claim allows",
            parameter="claim",
        )

    def __str__(self) -> str:
        """Say the price at one customary delta, and the largest loss."""
        return "; ".join(f"{name}: {text}" for name, text in self._summary())

    def _repr_html_(self) -> str:
        """Return the price as a list for a notebook."""
        return definition_list(self._summary())

    def _summary(self) -> list[tuple[str, str]]:
        priced, largest = self.epsilon(_SUMMARY_DELTA).upper, self.max_loss().upper
        rows = [("largest loss", _shown(largest)), (f"epsilon at delta = {_SUMMARY_DELTA:g}", _shown(priced))]
        if self.claim is not None:
            rows.append(("promise", self.claim.in_words()))
        return [*rows, ("neighbours", self.relation.sentence)]


def _follows(known: Guarantee, wanted: Guarantee) -> bool:
    """Say whether one promise implies another, their relations having been compared already."""
    return implies(known.under(Relation.UNSTATED), wanted.under(Relation.UNSTATED))


def _spanning(low: Enclosure, high: Enclosure) -> Enclosure:
    """Return an enclosure of every number from inside the first to inside the second."""
    return Enclosure(low.lower, max(low.lower, high.estimate), high.upper, high.method)


def _shown(value: float) -> str:
    return "unbounded" if math.isinf(value) else shown(value)

"""The privacy loss of releases: the worst of their pairs of output laws, what guarantees add, and how they add up."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from typing import overload

import numpy as np
from numpy.typing import NDArray

from discreet.display import definition_list
from discreet.errors import ParameterError
from discreet.laws import Enclosure, Pair, SafeEnd
from discreet.laws.number import Number, round_down, round_up
from discreet.privacy.guarantees import (
    ZCDP,
    Guarantee,
    basic_composition,
    delta_of,
    epsilon_of,
    implies,
    price_guarantees_by,
    repeated,
    shown,
    tradeoff_of,
    worst_pair,
)
from discreet.privacy.loss.consequences import consequences
from discreet.privacy.loss.delta_curve import DeltaCurve
from discreet.privacy.loss.law import LossLaw, law_of
from discreet.privacy.loss.release import DRAWN, Directions, Release, Sampler, largest_of, spanning
from discreet.privacy.loss.walk import LossWalk, walk_of
from discreet.privacy.numbers import as_written, nonnegative, positive, probability, renyi_order, whole, written
from discreet.privacy.pairs import Side, TradeOff
from discreet.privacy.relation import Relation, combine, require_known

_CURVE_POINTS = 101
_DELTA_POINTS = 61
_LEASTDRAWN = 1e-12
_SUMMARY_DELTA = 1e-6
_MOST_RELEASES = 1 << 60
_FAIR = 1e-4  # the relative width that every answer is to have; closed forms and samples come much closer


@dataclass(frozen=True, slots=True)
class PrivacyLoss:
    """The privacy loss of releases: the full curve of (epsilon, delta), from exact laws where they are known.

    A loss has `parts`, each a `Release` and how often it is made; `a + b` and `a * k` put parts together. The pairs of
    a release are its output laws on neighboring tables, kept apart by direction (a person removed, a person added);
    its guarantee is proven for it. Bounds on the side of privacy use whichever is better; bounds on the
    other side come from the pairs alone, because only they are attained.

    The engines for several releases hold when every release's parameters are fixed before the first answer is seen (the
    answers may be used in choosing what is asked). A live session, where parameters depend on answers, needs a filter:
    see `discreet.privacy.adaptive`.

    Privacy. `epsilon`, `delta`, `max_loss` and `renyi` return an `upper` that holds for the releases together,
        `tradeoff` a `lower`.
        Proof: a release's delta(epsilon) is the largest over its neighboring pairs and directions, so the largest of
        the pairs' upper bounds holds; a proven guarantee bounds it too (`delta_of`, `epsilon_of`, `tradeoff_of`), and
        so does the smaller of the two. Several releases: in each direction the product of dominating pairs dominates
        every
        adaptive composition (conditional on the past, each release is a post-processing of its pair), and the engines
        bound the product's delta from both sides.
    Reference. Dong, Roth, Su 2022; Zhu, Dong, Wang 2022.

    >>> from discreet.privacy import GaussianDP, PureDP
    >>> PureDP(1).loss.delta(0.5).upper
    0.2876...
    >>> (GaussianDP(0.02).loss * 1000).epsilon(1e-5)
    Enclosure(lower=2.59438338..., estimate=2.59438338..., upper=2.59438338..., ...)
    """

    parts: tuple[tuple[Release, int], ...]
    relation: Relation
    sides: tuple[Side, ...] = (Side.REMOVE, Side.ADD)

    @classmethod
    def from_pairs(
        cls,
        pairs: Iterable[Pair],
        *,
        relation: Relation = Relation.UNSTATED,
        guarantee: Guarantee | None = None,
        attained: bool = True,
    ) -> PrivacyLoss:
        """Price a release by the pairs of its output laws on neighbors; each pair is used in both directions.

        The pairs must include a worst one for every level, for example all shifts up to the sensitivity. A relation is
        symmetric, so the reverse of each pair is added where it is missing. `attained=False` says that the pairs only
        dominate the release, and are not laws of it.

        >>> from discreet.privacy.pairs.worst_pairs import NormalPair
        >>> PrivacyLoss.from_pairs([NormalPair(1)]).epsilon(1e-6).upper
        4.88655411746221...
        """
        given = _checked(pairs)
        if not given and guarantee is None:
            raise ParameterError("a price needs at least one pair of laws or a guarantee", parameter="pairs")
        directed_pairs = tuple(dict.fromkeys((*given, *(pair.reversed() for pair in given))))
        return cls(((Release(directed_pairs, directed_pairs, guarantee, attained), 1),), _stated(relation, guarantee))

    @classmethod
    def from_directions(
        cls,
        *,
        remove: Iterable[Pair],
        add: Iterable[Pair],
        relation: Relation,
        guarantee: Guarantee | None = None,
        sampler: Sampler = Sampler.EVERYONE,
        attained: bool = True,
    ) -> PrivacyLoss:
        """Price a release whose two directions differ: pairs for a removed person, pairs for an added one.

        Only under add/remove do all releases go the same way. Where a row is changed, one release may see the first
        law of its pair and the next the second, so unless the relation is add/remove both directions get all pairs.
        """
        removed, added = tuple(_checked(remove)), tuple(_checked(add))
        if relation is not Relation.ADD_REMOVE:
            removed = added = tuple(dict.fromkeys((*removed, *added)))
        release = Release(removed, added, guarantee, attained, sampler)
        return cls(((release, 1),), _stated(relation, guarantee))

    @classmethod
    def from_guarantee(cls, guarantee: Guarantee) -> PrivacyLoss:
        """Price a release of which only the guarantee is known: the worst release that keeps it."""
        if not isinstance(guarantee, Guarantee):
            raise ParameterError(f"a guarantee is needed, not {type(guarantee).__name__}", parameter="guarantee")
        pair = worst_pair(guarantee)
        pairs = () if pair is None else (pair,)
        return cls(((Release(pairs, pairs, guarantee, attained=False), 1),), guarantee.relation)

    @property
    def is_single(self) -> bool:
        """Whether this is the loss of one release."""
        return len(self.parts) == 1 and self.parts[0][1] == 1

    @property
    def releases(self) -> int:
        """How many releases this is the loss of."""
        return sum(count for _, count in self.parts)

    @property
    def pairs(self) -> tuple[Pair, ...]:
        """The pairs of a single release, of all directions that are priced; empty for several releases."""
        if not self.is_single:
            return ()
        release = self.parts[0][0]
        return tuple(dict.fromkeys(pair for side in self.sides for pair in release.towards(side)))

    @property
    def attained(self) -> bool:
        """Whether all pairs are laws of the releases themselves, rather than the worst that keep a guarantee."""
        return all(release.attained for release, _ in self.parts)

    @property
    def samplers(self) -> tuple[Sampler, ...]:
        """How the rows of the releases were sampled; each way once."""
        return tuple(dict.fromkeys(release.sampler for release, _ in self.parts))

    @property
    def guarantee(self) -> Guarantee | None:
        """The guarantee of the releases together, where their guarantees are of one notion and add up; else None."""
        if self.is_single:
            return self.parts[0][0].guarantee
        guarantees = [(release.guarantee, count) for release, count in self.parts]
        if any(guarantee is None for guarantee, _ in guarantees):
            return None
        try:
            return basic_composition(
                repeated(guarantee, count) for guarantee, count in guarantees if guarantee is not None
            )
        except ParameterError:
            return None

    @property
    def remove(self) -> PrivacyLoss:
        """The loss in one direction only: the person is in the first table, and not in its neighbor."""
        return replace(self, sides=(Side.REMOVE,))

    @property
    def add(self) -> PrivacyLoss:
        """The loss in the other direction only: the person is in the neighbor."""
        return replace(self, sides=(Side.ADD,))

    def __add__(self, other: PrivacyLoss) -> PrivacyLoss:
        return compose([self, other]) if isinstance(other, PrivacyLoss) else NotImplemented

    def __radd__(self, other: object) -> PrivacyLoss:
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def __mul__(self, times: int) -> PrivacyLoss:
        count = whole(times, name="times")
        if count > _MOST_RELEASES:
            raise ParameterError("at most 2^60 releases are priced together", parameter="times")
        return replace(self, parts=tuple((release, own * count) for release, own in self.parts))

    __rmul__ = __mul__

    def delta(self, epsilon: Number, *, tolerance: Number | None = None) -> Enclosure:
        """Enclose the least delta with which the releases are (epsilon, delta)-DP.

        `tolerance` is a width for epsilon that the bounds should correspond to. They hold whether or not they are as
        narrow; the answer's `met` says whether they differ by at most that share of delta, 1e-4 without a tolerance.
        """
        level = nonnegative(epsilon, name="epsilon")
        exact, wanted = Fraction(level), _tolerance(tolerance)
        if self.is_single:
            found = [pair.delta(level if isinstance(level, float) else exact) for pair in self.pairs]
        else:
            # delta falls as epsilon grows: a level between two floats is bracketed by them
            below, above = round_down(exact), round_up(exact)
            found = [self._directions.delta(below, wanted)]
            if above != below:
                found = [spanning(self._directions.delta(above, wanted), found[0])]
        best = self._upper_kind(found, lambda guarantee: delta_of(guarantee, exact), largest=1.0)
        return best.asked((_FAIR if wanted is None else wanted) * best.upper)

    def epsilon(self, delta: Number, *, tolerance: Number | None = None) -> Enclosure:
        """Enclose the least epsilon >= 0 with which the releases are (epsilon, delta)-DP; infinite if there is none.

        `tolerance` is the width that the bounds should have, by default a ten-thousandth of epsilon (of .001 where
        epsilon is smaller), and a millionth of it for releases on samples where that is quickly had; they hold whether
        or not it is met, and the answer's `met` says which.
        """
        exact = Fraction(probability(delta, name="delta"))
        # pairs take floats: a delta between two floats is bracketed by them, the smaller one giving the larger epsilon
        below, above = round_down(exact), round_up(exact)
        wanted = _tolerance(tolerance)
        found = self._epsilons(below, wanted)
        if above != below and found:
            found = [spanning(largest_of(self._epsilons(above, wanted)), largest_of(found))]
        found = self._directions.within_finite_losses(found, written(delta))
        best = self._upper_kind(found, lambda guarantee: epsilon_of(guarantee, exact), largest=math.inf)
        return best.asked(_FAIR * max(best.lower, 1e-3) if wanted is None else wanted)

    def max_loss(self) -> Enclosure:
        """Enclose the largest loss of any outcomes: the least epsilon of a pure guarantee (may be infinite)."""
        if self.is_single:
            found = [pair.max_loss() for pair in self.pairs]
        else:
            ends = [(side.least_max_loss(), side.max_loss()) for side in self._directions.engines()]
            found = [Enclosure(min(low, high), min(low, high), high, "sum of the largest losses") for low, high in ends]
        return self._upper_kind(found, lambda guarantee: epsilon_of(guarantee, Fraction(0)), largest=math.inf)

    def renyi(self, alpha: Number) -> Enclosure:
        """Enclose the Renyi divergence of an order alpha >= 1, the larger of the two directions; of order 1 the mean.

        >>> from discreet.privacy import GaussianDP
        >>> GaussianDP(1).loss.renyi(8).upper
        4.0
        """
        if alpha == 1:
            return self.mean
        order = Fraction(renyi_order(alpha, name="alpha"))
        # divergences grow with the order: each end is taken at a float on its outer side
        low, high = round_down(order), round_up(order)
        found = [side.renyi(high) for side in self._directions.engines()]
        if low != high:
            found = [
                spanning(side.renyi(low), top)
                for side, top in zip(self._directions.engines(), found, strict=True)
                if low > 1
            ]
        return largest_of(found) if found else Enclosure(0.0, math.inf, math.inf, "nothing is known")

    @property
    def mean(self) -> Enclosure:
        """The mean loss under P, the Kullback-Leibler divergence, in the worse direction; see `LossLaw`.

        >>> from discreet.privacy import PureDP
        >>> (PureDP(1).loss * 4).mean.upper  # 4 tanh(1/2)
        1.8484...
        """
        return self._law.mean

    @property
    def variance(self) -> Enclosure:
        """The variance of the loss under P, for the pairs whose mean is `mean`.

        >>> from discreet.privacy import GaussianDP
        >>> (GaussianDP(1).loss * 9).variance.upper
        9.0
        """
        return self._law.variance

    def sample(self, count: int) -> NDArray[np.float64]:
        """Draw total losses under P of the pairs whose mean is `mean`, for pictures and checks; see `LossLaw`.

        No privacy rests on these draws. They need pairs of laws: a guarantee alone has none to draw from.
        """
        return self._law.sample(whole(count, name="count"))

    def walk(self, count: int, *, delta: Number, walks: int = 40) -> LossWalk:
        """Return random walks of the total loss over `count` repetitions, and lines that bound them; see `LossWalk`.

        >>> from discreet.privacy import PureDP
        >>> print(round(PureDP(0.1).loss.walk(100, delta=1e-5).tight[-1], 3))
        4.307
        """
        return walk_of(self, whole(count, name="count"), probability(delta, name="delta"), whole(walks, name="walks"))

    @property
    def _law(self) -> LossLaw:
        return law_of(self.parts, self.sides)

    def concentration(self) -> float:
        """Return a rho for which the releases together are rho-zCDP, or infinity; the least that is proven here.

        Privacy. D_alpha <= alpha rho for every alpha > 1, in both directions.
            Proof: the sum of what is known of the parts, or the largest of D_alpha/alpha over a fine grid of orders, by
            `least_rho`; and the guarantee's own, if it has one.
        """
        known = [math.inf]
        guarantee = self.guarantee
        if isinstance(guarantee, ZCDP) and guarantee.delta == 0:
            known.append(round_up(Fraction(guarantee.rho)))
        from discreet.privacy.accounting import least_rho

        known.append(max(least_rho(side) for side in self._directions.engines()))
        return min(known)

    @overload
    def tradeoff(self, alpha: None = None) -> TradeOff: ...

    @overload
    def tradeoff(self, alpha: Number) -> Enclosure: ...

    def tradeoff(self, alpha: Number | None = None) -> Enclosure | TradeOff:
        """Enclose the least chance of a miss at a chance alpha of a false alarm; without alpha, give the curve."""
        if alpha is None:
            return self._tradeoff_curve()
        exact = Fraction(probability(alpha, name="alpha"))
        below, above = round_down(exact), round_up(exact)
        if self.is_single:
            found = [(pair.tradeoff(above).lower, pair.tradeoff(below).upper) for pair in self.pairs]
        else:
            found = [self._directions.tradeoff(side, below, above) for side in self.sides]
        lower = min((low for low, _ in found), default=0.0)
        upper = min((high for _, high in found), default=round_up(1 - exact))
        if self.guarantee is not None:
            guaranteed = tradeoff_of(self.guarantee, above)
            if guaranteed > upper and self.attained:
                raise self._refuted()
            lower, upper = max(lower, guaranteed), max(upper, guaranteed)
        return Enclosure(lower, lower + (upper - lower) / 2, upper, self._method(), SafeEnd.LOWER)

    def curve(self, epsilons: Sequence[Number] | None = None) -> DeltaCurve:
        """Return delta(epsilon) at many levels; by default from 0 to where delta is 1e-12, or to the largest loss."""
        if epsilons is None:
            end = min(self.epsilon(_LEASTDRAWN, tolerance=1e-2).upper, 2 * self.epsilon(1e-6, tolerance=1e-2).upper + 1)
            levels = np.linspace(0.0, end, _DELTA_POINTS)
        else:
            levels = np.sort(np.array([float(nonnegative(one, name="epsilons")) for one in epsilons]))
        found = [self.delta(float(level), tolerance=DRAWN) for level in levels]
        return DeltaCurve.monotone(
            levels, np.array([one.lower for one in found]), np.array([one.upper for one in found])
        )

    def satisfies(self, guarantee: Guarantee) -> bool:
        """Say whether the releases are proven to keep a guarantee; False means 'not proven from what is known here'.

        Privacy. True only if the releases together keep the guarantee.
            Proof: either the guarantee implies it; or one of the `consequences` does, each of which is proven.

        >>> from discreet.privacy import ApproxDP, PureDP
        >>> (
        ...     PureDP(1).loss.satisfies(ApproxDP(0.9, 0.07)),
        ...     PureDP(1).loss.satisfies(ApproxDP(0.9, 0.01)),
        ... )
        (True, False)
        """
        require_known(self.relation, guarantee.relation)
        return any(
            implies(known.under(Relation.UNSTATED), guarantee.under(Relation.UNSTATED))
            for known in consequences(self, guarantee)
        )

    def delta_ceiling(self, epsilon: Number) -> float:
        """Return an upper bound on delta that costs next to nothing: Renyi's, for several releases."""
        level = round_down(Fraction(nonnegative(epsilon, name="epsilon")))
        if self.is_single:
            return self.delta(epsilon).upper
        return max(side.delta_ceiling(level) for side in self._directions.engines())

    @property
    def _directions(self) -> Directions:
        return Directions(self.parts, self.sides, self.attained)

    def _epsilons(self, delta: float, tolerance: float | None) -> list[Enclosure]:
        """Return epsilon in each direction that may be the larger."""
        if self.is_single:
            return [pair.epsilon(delta) for pair in self.pairs]
        return self._directions.epsilons(delta, tolerance)

    def _tradeoff_curve(self) -> TradeOff:
        grid = np.linspace(0.0, 1.0, _CURVE_POINTS)
        # a guarantee adds nothing where the pairs are the laws themselves
        if not self.is_single and (self.guarantee is None or self.attained):
            return self._directions.tradeoff_curve(grid)
        points = [self.tradeoff(float(one)) for one in grid]
        return TradeOff(grid, np.array([one.lower for one in points]), np.array([one.upper for one in points]))

    def _upper_kind(
        self, found: list[Enclosure], claimed: Callable[[Guarantee], float], *, largest: float
    ) -> Enclosure:
        """Combine the directions (the largest counts) with the guarantee (it may lower the upper end only)."""
        if not found:
            found = [Enclosure(0.0, largest, largest, "")]
        best = largest_of(found)
        upper = best.upper
        guarantee = self.guarantee
        if guarantee is not None:
            guaranteed = claimed(guarantee)
            if guaranteed < best.lower:  # noise is made for the decimals of a float, which may be a little above it
                guaranteed = claimed(as_written(guarantee))
            if guaranteed < best.lower and self.attained:
                raise self._refuted()
            upper = min(upper, guaranteed)
        lower = min(best.lower, upper)
        method = self._method() if self.is_single else best.method
        estimate = min(max(best.estimate, lower), upper)
        return Enclosure(lower, estimate, upper, method, assumptions=best.assumptions)

    def _method(self) -> str:
        if not self.is_single:
            return f"{self.releases} releases"
        if not self.pairs:
            return f"bound implied by {self.guarantee!r} alone; no pair of laws is known, so the other end is trivial"
        exact = f"worst of {len(self.pairs)} exact pair{'s' if len(self.pairs) > 1 else ''} of laws"
        return exact if self.guarantee is None else f"{exact}, and {self.guarantee!r} where it says more"

    def _refuted(self) -> ParameterError:
        return ParameterError(
            f"the guarantee {self.guarantee!r} is false for this release: its pairs of laws attain more",
            parameter="guarantee",
        )

    def __repr__(self) -> str:
        kinds = "" if len(self.parts) == 1 else f" of {len(self.parts)} kinds"
        one = "" if self.sides == (Side.REMOVE, Side.ADD) else f", {self.sides[0].value} only"
        return f"<PrivacyLoss of {self.releases} release{'s'[: self.releases != 1]}{kinds}, {self.relation.value}{one}>"

    def __str__(self) -> str:
        return "; ".join(f"{name}: {text}" for name, text in self._summary())

    def _repr_html_(self) -> str:
        """Return the loss as a list for a notebook."""
        return definition_list(self._summary())

    def _summary(self) -> list[tuple[str, str]]:
        priced, largest = self.epsilon(_SUMMARY_DELTA).upper, self.max_loss().upper
        rows = [] if self.is_single else [("releases", str(self.releases))]
        rows += [("largest loss", _shown(largest)), (f"epsilon at delta = {_SUMMARY_DELTA:g}", _shown(priced))]
        if self.guarantee is not None:
            rows.append(("guarantee", self.guarantee.in_words()))
        if self.samplers != (Sampler.EVERYONE,):
            rows.append(("sampling", ", ".join(sampler.value for sampler in self.samplers)))
        return [*rows, ("neighbors", self.relation.sentence)]


price_guarantees_by(PrivacyLoss.from_guarantee)


def compose(losses: Iterable[PrivacyLoss]) -> PrivacyLoss:
    """Return the privacy loss of all releases together; their parameters are fixed before the first answer.

    Relations must agree (an unstated one takes on the other's), and equal releases are counted, not listed.

    >>> from discreet.privacy import GaussianDP, PureDP
    >>> compose([PureDP(0.1).loss] * 3 + [GaussianDP(0.5).loss]).releases
    4
    """
    given = list(losses)
    if not given:
        raise ParameterError("nothing to compose: pass at least one price", parameter="losses")
    if not all(isinstance(loss, PrivacyLoss) for loss in given):
        raise ParameterError("compose takes prices (a mechanism's .loss, a guarantee's .loss)", parameter="losses")
    if len({loss.sides for loss in given}) > 1:
        raise ParameterError(
            "prices of one direction compose only with prices of the same direction", parameter="losses"
        )
    counts: dict[Release, int] = {}
    for loss in given:
        for release, count in loss.parts:
            counts[release] = counts.get(release, 0) + count
    relation = reduce(combine, (loss.relation for loss in given))
    return PrivacyLoss(tuple(counts.items()), relation, given[0].sides)


def _checked(pairs: Iterable[Pair]) -> list[Pair]:
    given = list(pairs)
    if not all(isinstance(pair, Pair) for pair in given):
        raise ParameterError("pairs must be pairs of laws", parameter="pairs")
    return given


def _stated(relation: Relation, guarantee: Guarantee | None) -> Relation:
    return relation if guarantee is None else combine(relation, guarantee.relation)


def _tolerance(value: Number | None) -> float | None:
    return None if value is None else max(float(positive(value, name="tolerance")), 1e-15)


def _shown(value: float) -> str:
    return "unbounded" if math.isinf(value) else shown(value)

"""Losses made from a loss: of releases on a secret sample, for a group of people, and for a changed row."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.errors import NoSoundConversion, ParameterError, RelationMismatch
from discreet.laws import Enclosure, Pair
from discreet.laws.number import Number, exact_rational, round_down, round_up
from discreet.privacy.guarantees import ZCDP, GaussianDP, Guarantee, PureDP, group_privacy, worst_pair
from discreet.privacy.loss.loss import PrivacyLoss
from discreet.privacy.loss.release import Release, Sampler
from discreet.privacy.numbers import bounds, number, probability, upward, whole
from discreet.privacy.pairs import (
    ComposedPair,
    FixedSizePair,
    NormalPair,
    PoissonPair,
    PureApproxPair,
    Side,
    enclosed,
    tradeoff_from_deltas,
)
from discreet.privacy.relation import Relation

_METHOD = "chain of neighbors, the best split of epsilon found"
_GOLDEN = (5**0.5 - 1) / 2
_SECTIONS = 8
_HALVINGS, _LARGEST_LEVEL = 40, 600.0


def subsample(loss: PrivacyLoss, *, rate: Number, sampler: Sampler | str = Sampler.POISSON) -> PrivacyLoss:
    """Return the loss of a release made on a secret sample of the people, drawn afresh for it.

    With `sampler="poisson"` each person is in the sample independently with probability `rate`; the loss must be for
    add/remove. With `sampler="fixed size"` a share `rate` of all rows, a fixed number, is drawn without replacement;
    the loss must be for change-one. Several releases on one and the same sample: subsample their composition.

    Privacy. Poisson: `PoissonPair`, both directions. Fixed size: `FixedSizePair`.
        Proof: see there.
    Reference. Balle, Barthe, Gaboardi 2018; Zhu, Dong, Wang 2022.

    >>> from discreet.privacy.loss.reference import gaussian_loss
    >>> step = subsample(gaussian_loss(1, relation=Relation.ADD_REMOVE), rate=0.01)
    >>> (step * 10_000).epsilon(1e-5).upper
    6.18771...
    """
    if not isinstance(loss, PrivacyLoss):
        raise ParameterError("subsample takes a loss (a mechanism's .loss, a guarantee's .loss)", parameter="loss")
    share, how = probability(rate, name="rate"), Sampler.named(sampler)
    if share == 0:
        raise ParameterError("a sampling rate of 0 releases nothing about anybody", parameter="rate")
    if how is Sampler.BALLS_IN_BINS:
        raise ParameterError(
            "sampler must be 'poisson' or 'fixed size', for one step; balls in bins is a way to make a whole epoch: "
            "write balls_in_bins_loss(scale, steps=..., relation=Relation.ADD_REMOVE)",
            parameter="sampler",
        )
    if how is Sampler.EVERYONE:
        raise ParameterError("sampler must be 'poisson' or 'fixed size'", parameter="sampler")
    _require_relation(loss.relation, how)
    remove, add = (_pairs(loss, side) for side in (Side.REMOVE, Side.ADD))
    guarantee = _kept(loss.guarantee)
    if how is Sampler.POISSON:
        release = Release(
            tuple(PoissonPair(pair, share, Side.REMOVE) for pair in remove),
            tuple(PoissonPair(pair, share, Side.ADD) for pair in add),
            guarantee, loss.attained, how,
        )  # fmt: skip
    else:
        both = tuple(dict.fromkeys(FixedSizePair(pair, share) for pair in (*remove, *add)))
        release = Release(both, both, guarantee, False, how)
    return replace(loss, parts=((release, 1),))


def _pairs(loss: PrivacyLoss, side: Side) -> tuple[Pair, ...]:
    """Return what dominates the releases on the sample: the pairs of one, or the composition of several."""
    if loss.is_single:
        pairs = loss.parts[0][0].towards(side)
        if pairs:
            return pairs
    if loss.is_single and loss.guarantee is not None and worst_pair(loss.guarantee) is None:
        raise NoSoundConversion(
            f"sampling acts on the whole curve of a release, and {loss.guarantee!r} is only a bound on its moments: "
            "sampled from that bound alone it would hardly cost less. Start from the noise instead: "
            "subsample(Gaussian(...).loss, rate=...), or gaussian_loss(scale, sensitivity=..., relation=...) for the "
            "L2 sensitivity and the scale that the guarantee was computed from. Where only the guarantee is known, "
            "fix a delta: subsample(guarantee.to_approx(delta=...).loss, rate=...)."
        )
    return (ComposedPair(loss, side),)


def _kept(guarantee: Guarantee | None) -> Guarantee | None:
    """Return the part of a guarantee that a sample certainly keeps: a release on fewer people guarantees no less."""
    return (
        guarantee
        if isinstance(guarantee, PureDP | ZCDP | GaussianDP) and Fraction(getattr(guarantee, "delta", 0)) == 0
        else None
    )


def _require_relation(relation: Relation, sampler: Sampler) -> None:
    """Refuse the relations for which the theorem is false, or not known to hold."""
    needed = Relation.ADD_REMOVE if sampler is Sampler.POISSON else Relation.CHANGE_ONE
    if relation is needed:
        return
    if relation is Relation.UNSTATED:
        raise RelationMismatch(
            f"{sampler.value} sampling is priced for {needed.value!r} only, and this loss states no relation. State "
            f"it on the sensitivity, or where the loss is made: relation=Relation.{needed.name}."
        )
    reason = (
        "samples with and without a person differ in size, and a change-one loss, for which the number of rows is "
        "public, does not compare them"
        if sampler is Sampler.POISSON
        else "a sample of fixed size exchanges one row for another, which an add/remove loss does not compare"
    )
    raise RelationMismatch(
        f"{sampler.value} sampling is priced for {needed.value!r} only: {reason}. Price the base release with "
        f"relation=Relation.{needed.name}."
    )


@dataclass(frozen=True, slots=True)
class ChainPair(Pair):
    """Two tables joined by a chain of neighbors; each step has its own pair.

    Privacy. For levels e_1 + ... + e_k = e, delta(e) <= delta_1(e_1) + e^(e_1) delta_2(e_2) + e^(e_1 + e_2)
    delta_3(e_3)
        + ...
        Proof: P_0(S) <= e^(e_1) P_1(S) + delta_1(e_1) for every event S, and so on along the chain. Every split gives a
        bound; the best found is used.
    Reference. Dwork, Roth 2014, theorem 2.2, for equal parts.

    >>> from discreet.privacy.pairs.worst_pairs import PureApproxPair
    >>> ChainPair((PureApproxPair(0.5), PureApproxPair(0.5))).delta(1.0).upper
    0.0
    """

    steps: tuple[Pair, ...]

    def delta(self, epsilon: float | Fraction) -> Enclosure:
        """Bound delta from above by the best split; the chain says nothing from below but the trivial bound."""
        level = exact_rational(epsilon, name="epsilon")
        trivial = bounds(lambda: -number(min(level, Fraction(0))).expm1())
        if level >= self.max_loss().upper:
            return enclosed((0.0, 0.0), method=_METHOD)
        best = min(_chained(self.steps, level), 1.0)
        return enclosed((trivial[0] if level < 0 else 0.0, max(best, trivial[1] if level < 0 else 0.0)), method=_METHOD)

    def epsilon(self, delta: float) -> Enclosure:
        """Bound epsilon from above, by halving an interval; from below nothing is known."""
        largest = self.max_loss().upper
        high = 1.0 if math.isinf(largest) else largest
        while math.isinf(largest) and self.delta(high).upper > delta and high < _LARGEST_LEVEL:
            high *= 2
        if math.isinf(largest) and self.delta(high).upper > delta:
            return Enclosure(0.0, math.inf, math.inf, _METHOD)
        low = 0.0
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if self.delta(middle).upper <= delta else (middle, high)
        return Enclosure(0.0, high, high, _METHOD)

    def max_loss(self) -> Enclosure:
        """Bound the largest loss by the sum along the chain."""
        ends = [step.max_loss().upper for step in self.steps]
        high = math.inf if math.inf in ends else round_up(sum(map(Fraction, ends), Fraction(0)))
        return Enclosure(0.0, high, high, _METHOD)

    def tradeoff(self, alpha: float) -> Enclosure:
        """Bound the best miss from below."""
        return tradeoff_from_deltas(self.delta, self.reversed().delta, alpha)

    def moments(self) -> tuple[Enclosure, Enclosure]:
        """Bound the mean by that of randomized response with the largest loss, the variance by its square."""
        largest = max(self.max_loss().upper, self.reversed().max_loss().upper)
        high = (math.inf, math.inf)
        if math.isfinite(largest):
            high = PureApproxPair(largest).moments()[0].upper, round_up(Fraction(largest) ** 2)
        return Enclosure(0.0, high[0], high[0], _METHOD), Enclosure(0.0, high[1], high[1], _METHOD)

    def reversed(self) -> ChainPair:
        """Walk the chain backwards."""
        return ChainPair(tuple(step.reversed() for step in reversed(self.steps)))


def group_loss(loss: PrivacyLoss, group_size: int) -> PrivacyLoss:
    """Return the loss to a group of `group_size` people together, as a function of the curve for one.

    Gaussian losses scale exactly; others by the best split along a chain of neighbors.

    >>> from discreet.privacy.loss.reference import gaussian_loss
    >>> group_loss(gaussian_loss(4), 4).delta(1).upper == gaussian_loss(1).delta(
    ...     1
    ... ).upper
    True
    """
    count = whole(group_size, name="group_size")
    if count == 1:
        return loss
    guarantee = _of_guarantee(loss.guarantee, lambda guarantee: group_privacy(guarantee, count))
    remove, add = (_steps(loss, side, count) for side in (Side.REMOVE, Side.ADD))
    return replace(loss, parts=((Release((remove,), (add,), guarantee, attained=False), 1),))


def change_one_loss(loss: PrivacyLoss) -> PrivacyLoss:
    """Return the change-one loss that follows from an add/remove loss: a row removed, and another added.

    >>> from discreet.privacy.loss.reference import laplace_loss
    >>> change_one_loss(laplace_loss(2, relation=Relation.ADD_REMOVE)).max_loss().upper
    1.0
    """
    if loss.relation is not Relation.ADD_REMOVE:
        raise RelationMismatch(
            f"a change-one loss follows from an add/remove loss; this one is for {loss.relation.value!r}. State "
            "relation=Relation.ADD_REMOVE where the loss is made, if that is what it was computed for."
        )
    normal = _normal(loss)
    pair: Pair
    if normal is not None:
        pair = NormalPair(2 * Fraction(normal.mu))
    else:
        pair = ChainPair((ComposedPair(loss, Side.REMOVE), ComposedPair(loss, Side.ADD)))
    guarantee = _of_guarantee(loss.guarantee, lambda guarantee: group_privacy(guarantee, 2).under(Relation.CHANGE_ONE))
    # exchanging the two tables walks the same kinds of steps: one removed, one added
    return PrivacyLoss(((Release((pair,), (pair,), guarantee, attained=False), 1),), Relation.CHANGE_ONE)


def _normal(loss: PrivacyLoss) -> NormalPair | None:
    """Return the normal pair just worse than the loss, where the loss is Gaussian."""
    found = loss._directions.towards(Side.REMOVE).gaussian
    return None if found is None else found[1]


def _steps(loss: PrivacyLoss, side: Side, count: int) -> Pair:
    normal = _normal(loss)
    if normal is not None:
        return NormalPair(count * Fraction(normal.mu))
    return ChainPair((ComposedPair(loss, side),) * count)


def _of_guarantee(guarantee: Guarantee | None, change: Callable[[Guarantee], Guarantee]) -> Guarantee | None:
    try:
        return None if guarantee is None else change(guarantee)
    except NoSoundConversion:
        return None


def _chained(steps: Sequence[Pair], level: Fraction) -> float:
    """Return the least bound found over splits of the level: equal parts, and for two steps any split."""
    best = _equal(steps, level)
    if len(steps) != 2 or level <= 0:
        return best
    largest = [step.max_loss().upper for step in steps]
    if largest[0] <= level:  # a step at its own largest loss costs no delta
        best = min(best, _split(steps, level, Fraction(largest[0])))
    if largest[1] <= level:
        best = min(best, _split(steps, level, level - Fraction(largest[1])))
    low, high = 0.0, float(level)
    for _ in range(_SECTIONS):
        left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
        at_left, at_right = _split(steps, level, Fraction(left)), _split(steps, level, Fraction(right))
        best = min(best, at_left, at_right)
        low, high = (low, right) if at_left <= at_right else (left, high)
    return best


def _split(steps: Sequence[Pair], level: Fraction, first: Fraction) -> float:
    """Return delta_1(first) + e^first delta_2(level - first)."""
    own, rest = steps[0].delta(first).upper, steps[1].delta(round_down(level - first)).upper
    return upward(lambda: number(Fraction(own)) + number(first).exp() * number(Fraction(rest)))


def _equal(steps: Sequence[Pair], level: Fraction) -> float:
    """Return the bound of equal parts."""
    part = Fraction(round_down(level / len(steps)))
    chances = [step.delta(part).upper for step in steps]
    return upward(
        lambda: sum(
            (number(index * part).exp() * number(Fraction(chance)) for index, chance in enumerate(chances)), number(0)
        )
    )

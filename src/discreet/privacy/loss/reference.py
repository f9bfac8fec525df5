"""Losses from parameters: the reference laws of plans and papers, without a mechanism or a table."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from discreet.errors import ParameterError
from discreet.laws import DiscreteGaussian, DiscreteLaplace, Finite, FinitePair, LocationPair
from discreet.laws.number import Number, exact_rational, round_up
from discreet.privacy.guarantees import ZCDP, PureDP
from discreet.privacy.loss.loss import PrivacyLoss
from discreet.privacy.numbers import bounds, number, positive, whole
from discreet.privacy.pairs import BoundedRangePair, LaplacePair, NormalPair, PureApproxPair
from discreet.privacy.relation import Relation


def gaussian_loss(scale: Number, *, sensitivity: Number = 1, relation: Relation = Relation.UNSTATED) -> PrivacyLoss:
    """Price continuous Gaussian noise of standard deviation `scale` on an answer of L2 sensitivity `sensitivity`.

    Privacy. The pair N(sensitivity, scale^2), N(0, scale^2) dominates the release.
        Proof: noise on a vector moved by at most D in L2 is, after a rotation, noise on one coordinate moved by at most
        D and fresh noise on the others; a smaller move is a post-processing of a larger one (`NormalPair`).
    Reference. Balle, Wang 2018; Dong, Roth, Su 2022.

    >>> (gaussian_loss(50) * 1000).epsilon(1e-5).upper
    2.59438338...
    """
    ratio = Fraction(positive(sensitivity, name="sensitivity")) / Fraction(positive(scale, name="scale"))
    return PrivacyLoss.from_pairs([NormalPair(ratio)], relation=relation)


def laplace_loss(scale: Number, *, sensitivity: Number = 1, relation: Relation = Relation.UNSTATED) -> PrivacyLoss:
    """Price continuous Laplace noise on one answer that a person moves by at most `sensitivity`.

    >>> (laplace_loss(50) * 1000).epsilon(1e-5).upper
    2.58085...
    """
    ratio = Fraction(positive(sensitivity, name="sensitivity")) / Fraction(positive(scale, name="scale"))
    return PrivacyLoss.from_pairs([LaplacePair(ratio)], relation=relation)


def discrete_gaussian_loss(
    scale: Number, *, sensitivity: int = 1, relation: Relation = Relation.UNSTATED
) -> PrivacyLoss:
    """Price integer Gaussian noise of parameter `scale` on one integer that a person moves by at most `sensitivity`.

    >>> discrete_gaussian_loss(10).epsilon(1e-5).upper
    0.34...
    """
    exact, distance = positive(scale, name="scale"), whole(sensitivity, name="sensitivity")
    rho = Fraction(distance) ** 2 / (2 * Fraction(exact) ** 2)
    pair = LocationPair(DiscreteGaussian(exact), shift=distance)
    return PrivacyLoss.from_pairs([pair], relation=relation, guarantee=ZCDP(round_up(rho), relation=relation))


def discrete_laplace_loss(
    scale: Number, *, sensitivity: int = 1, relation: Relation = Relation.UNSTATED
) -> PrivacyLoss:
    """Price integer Laplace noise on one integer that a person moves by at most `sensitivity`.

    >>> discrete_laplace_loss(10).epsilon(0.01).upper
    0.08...
    """
    exact, distance = positive(scale, name="scale"), whole(sensitivity, name="sensitivity")
    guarantee = PureDP(round_up(Fraction(distance) / Fraction(exact)), relation=relation)
    return PrivacyLoss.from_pairs(
        [LocationPair(DiscreteLaplace(exact), shift=distance)], relation=relation, guarantee=guarantee
    )


def randomized_response_loss(
    epsilon: Number, *, categories: int = 2, relation: Relation = Relation.UNSTATED
) -> PrivacyLoss:
    """Price one report of randomized response: the truth e^epsilon times as likely as each other category.

    Privacy. The loss is epsilon, -epsilon or 0, with P-chances e^epsilon/(e^epsilon + k - 1), 1/(e^epsilon + k - 1) and
        the rest, k being the number of categories.
        Proof: two truths differ in the chances of the two categories they name, and agree on all others.
    Reference. Warner 1965; Kairouz, Oh, Viswanath 2016.

    >>> (randomized_response_loss(0.02) * 1000).epsilon(1e-5).upper
    2.59061...
    """
    exact, kinds = positive(epsilon, name="epsilon"), whole(categories, name="categories")
    if kinds == 1:
        raise ParameterError("categories must be at least 2", parameter="categories")
    guarantee = PureDP(exact, relation=relation)
    if kinds == 2:
        return PrivacyLoss.from_pairs([PureApproxPair(exact)], relation=relation, guarantee=guarantee)
    pair = _response_pair(Fraction(exact), kinds)
    return PrivacyLoss.from_pairs([pair], relation=relation, guarantee=guarantee)


def _response_pair(epsilon: Fraction, kinds: int) -> FinitePair:
    """Return the pair of reports on two truths: its own category, the other's, and all others together."""
    own = bounds(lambda: 1 / (1 + (kinds - 1) * (-number(epsilon)).exp()))
    other = bounds(lambda: 1 / (number(epsilon).exp() + (kinds - 1)))
    rest = bounds(lambda: (kinds - 2) / (number(epsilon).exp() + (kinds - 1)))
    low, high = (np.array([own[end], other[end], rest[end]]) for end in (0, 1))
    swapped = [1, 0, 2]
    return FinitePair(["own", "other", "rest"], low, high, low[swapped], high[swapped])


def bounded_range_loss(epsilon: Number, *, relation: Relation = Relation.UNSTATED) -> PrivacyLoss:
    """Price one choice by the exponential mechanism, or any release whose losses span at most epsilon.

    Privacy. The release is dominated by `BoundedRangePair(epsilon)` and is (epsilon^2/8)-zCDP; the accountant uses
        whichever says less.
        Proof: the first, see there. The second: let f(a) = ln E e^(a L) under Q; f(0) = f(1) = 0, and f'' is the
        variance of L under a tilted law on an interval of length epsilon, at most epsilon^2/4. So f(a) - (epsilon^2/8)
        a (a-1) is concave and vanishes at 0 and 1: it is at most 0 for a > 1, and D_a = f(a)/(a-1).
    Reference. Dong, Durfee, Rogers 2020; Cesar, Rogers 2021.

    >>> (bounded_range_loss(0.1) * 100).epsilon(1e-6).upper
    2.41...
    """
    exact = positive(epsilon, name="epsilon")
    guarantee = ZCDP(round_up(Fraction(exact) ** 2 / 8), relation=relation)
    return PrivacyLoss.from_pairs([BoundedRangePair(exact)], relation=relation, guarantee=guarantee, attained=False)


def above_threshold_loss(epsilon: Number, *, relation: Relation = Relation.UNSTATED) -> PrivacyLoss:
    """Price one run of AboveThreshold up to its last hit: its pure guarantee, whose worst case is randomized response.

    >>> above_threshold_loss(0.5).max_loss().upper
    0.5
    """
    return PrivacyLoss.from_guarantee(PureDP(positive(epsilon, name="epsilon"), relation=relation))


def table_loss(
    with_person: Sequence[Number], without_person: Sequence[Number], *, relation: Relation = Relation.UNSTATED
) -> PrivacyLoss:
    """Price a release given by a table of the chances of its outcomes on two neighboring tables, both directions.

    The chances are exact (Fractions, or floats taken as the rationals they stand for) and add up to 1.

    >>> table_loss(
    ...     [Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]
    ... ).max_loss().upper
    1.0986122886681...
    """
    laws = [
        Finite(range(len(row)), [exact_rational(chance, name="chances") for chance in row])
        for row in (with_person, without_person)
    ]
    if len(laws[0].outcomes) != len(laws[1].outcomes):
        raise ParameterError("both rows must list the same outcomes, in the same order", parameter="without_person")
    forward, backward = laws[0].pair(laws[1]), laws[1].pair(laws[0])
    return PrivacyLoss.from_directions(remove=[forward], add=[backward], relation=relation)

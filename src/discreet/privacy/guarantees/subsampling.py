"""A release on a secret random sample of the people costs less than one on everybody."""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import ParameterError, RelationMismatch
from discreet.laws.number import Number, round_up
from discreet.privacy.guarantees.guarantee import ApproxDP, Guarantee, PureDP
from discreet.privacy.numbers.arguments import probability
from discreet.privacy.numbers.rounding import number, upward
from discreet.privacy.relation import Relation
from discreet.randomness.rigour import Ball


def amplify_by_poisson(guarantee: PureDP | ApproxDP, rate: Number) -> PureDP | ApproxDP:
    """Return the promise of a release on a Poisson sample: each person is in it independently with probability `rate`.

    The sample and its size stay secret, and nobody is in it twice. Other notions are amplified by other theorems, which
    need the pair of laws; convert them to ApproxDP first.

    Privacy. If the release is (epsilon, delta)-DP under add/remove, the release on the sample is (ln(1 + q (e^epsilon -
        1)), q delta)-DP under add/remove, q being the rate.
        Proof: let x' be x and one person more. Draw the sample of the others first; with m0 the law of the output
        without the person and m1 with, both averaged over that sample, x has law m0 and x' has (1-q) m0 + q m1. For
        each sample of the others m1 <= e^epsilon m0 + delta and m0 <= e^epsilon m1 + delta on every event, hence on
        average too. Write c = 1 + q (e^epsilon - 1). Then (1-q) m0 + q m1 <= c m0 + q delta. In the other direction m1
        >= e^-epsilon (m0 - delta) gives c ((1-q) m0 + q m1) + q delta >= c (1 - q + q e^-epsilon) m0 + q delta (1 - c
        e^-epsilon) >= m0, because (1 - q + q e^epsilon)(1 - q + q e^-epsilon) >= 1 by Cauchy and Schwarz, and c <=
        e^epsilon.
    Reference. Li, Qardaji, Su 2012; Balle, Barthe, Gaboardi 2018.

    >>> amplify_by_poisson(PureDP(1, relation=Relation.ADD_REMOVE), 0.01)
    PureDP(epsilon=0.01703686323617...)
    """
    if not isinstance(guarantee, PureDP | ApproxDP):
        raise ParameterError(
            f"this theorem is about pure and approximate promises, not {type(guarantee).__name__}: "
            "convert(promise, to=ApproxDP, delta=...) first",
            parameter="guarantee",
        )
    share = Fraction(probability(rate, name="rate"))
    _require_add_remove(guarantee)
    if share == 1:
        return guarantee
    epsilon = _amplified(Fraction(guarantee.epsilon), share)
    if isinstance(guarantee, PureDP):
        return PureDP(epsilon, relation=guarantee.relation)
    return ApproxDP(epsilon, round_up(share * Fraction(guarantee.delta)), relation=guarantee.relation)


def _amplified(epsilon: Fraction, share: Fraction) -> float:
    """Return ln(1 + q (e^epsilon - 1)), rounded up; epsilon + ln(q + (1-q) e^-epsilon) where that overflows."""
    if share == 0:
        return 0.0

    def small() -> Ball:
        return (number(share) * number(epsilon).expm1()).log1p()

    def large() -> Ball:
        return number(epsilon) + (number(share) + number(1 - share) * (-number(epsilon)).exp()).log()

    return max(min(upward(large if epsilon > 1 else small), round_up(epsilon)), 0.0)


def _require_add_remove(guarantee: Guarantee) -> None:
    """Refuse the relations for which the theorem is false, or not known to hold."""
    if guarantee.relation is Relation.CHANGE_ONE:
        raise RelationMismatch(
            "Poisson sampling is priced for add/remove only: samples with and without a person differ in size, and a "
            "change-one promise, for which the number of rows is public, does not compare them. Price the base release "
            "with relation=Relation.ADD_REMOVE."
        )
    if guarantee.relation is Relation.UNSTATED:
        raise RelationMismatch(
            "Poisson sampling is priced for add/remove only, and this promise does not state its relation. If it was "
            "computed for add/remove, say so: promise.under(Relation.ADD_REMOVE)."
        )

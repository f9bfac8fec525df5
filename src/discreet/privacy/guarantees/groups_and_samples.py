"""A promise to one person is a weaker promise to a group: a family, or one person with several rows.

A release on a secret random sample of the people costs less than one on everybody.
"""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import NoSoundConversion, ParameterError, RelationMismatch
from discreet.laws.number import Number, round_up
from discreet.privacy.guarantees.guarantee import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP
from discreet.privacy.numbers import number, probability, upward, whole
from discreet.privacy.relation import Relation
from discreet.randomness.rigour import Ball


def group_privacy(guarantee: Guarantee, size: int) -> Guarantee:
    """Return what a promise for one person means for any group of `size` people together.

    Two tables that differ in the group are joined by a chain of `size` steps between neighbours, x_0 to x_k, with laws
    P_0 to P_k. Under add/remove the group's data is added or removed; a change of one row is a group of two.

    Privacy. (epsilon, delta) gives (k epsilon, delta (e^(k epsilon) - 1)/(e^epsilon - 1)), which is at most the
        textbook's k e^((k-1) epsilon) delta; rho-zCDP gives k^2 rho; mu-Gaussian DP gives k mu.
        Proof: Approximate: P_0(S) <= e^epsilon P_1(S) + delta <= ... <= e^(k epsilon) P_k(S) + delta (1 + e^epsilon +
        ... + e^((k-1) epsilon)); the largest of the k terms is the last.
        zCDP, by induction on k: by Hoelder with exponents p = (k alpha - 1)/(alpha (k-1)) and q = (k alpha - 1)/(alpha
        - 1), D_alpha(P_0, P_k) <= (k alpha/(k alpha - 1)) D_beta(P_0, P_(k-1)) + D_(k alpha)(P_(k-1), P_k) with beta =
        (k alpha - 1)/(k - 1); put in (k-1)^2 rho beta and rho k alpha: k alpha (k-1) rho + k alpha rho = k^2 alpha rho.
        Gaussian: a test with chance a under P_0 has chance at most F(F^-1(a) + mu) under P_1, and so on: F(F^-1(a) + k
        mu) under P_k.
    Reference. Dwork, Roth 2014; Vadhan 2017; Bun, Steinke 2016, proposition 27; Dong, Roth, Su 2022.

    >>> group_privacy(PureDP(0.5), 3)
    PureDP(epsilon=1.5)
    >>> group_privacy(GaussianDP(0.5), 4)
    GaussianDP(mu=2.0)
    """
    if not isinstance(guarantee, Guarantee):
        raise ParameterError(f"a promise is needed, not {type(guarantee).__name__}", parameter="guarantee")
    count = whole(size, name="size")
    if count == 1:
        return guarantee
    relation = guarantee.relation
    match guarantee:
        case PureDP():
            return PureDP(_times(guarantee.epsilon, count), relation=relation)
        case ApproxDP():
            return ApproxDP(_times(guarantee.epsilon, count), _group_delta(guarantee, count), relation=relation)
        case ZCDP(delta=0):
            return ZCDP(_times(guarantee.rho, count * count), relation=relation)
        case GaussianDP():
            return GaussianDP(_times(guarantee.mu, count), relation=relation)
    raise NoSoundConversion(_refusal(guarantee))


def _times(value: Number, count: int) -> float:
    return round_up(Fraction(value) * count)


def _group_delta(guarantee: ApproxDP, count: int) -> float:
    """Return delta (1 + e^epsilon + ... + e^((count-1) epsilon)), rounded up, at most 1."""
    epsilon, delta = Fraction(guarantee.epsilon), Fraction(guarantee.delta)
    if delta == 0:
        return 0.0
    if epsilon == 0:
        return min(round_up(delta * count), 1.0)
    # in powers of e^-epsilon, so that a large epsilon gives a large number and not infinity over infinity
    log_factor = (count - 1) * epsilon
    return min(
        upward(
            lambda: (
                (number(delta).log() + number(log_factor)).exp()
                * (-number(count * epsilon)).expm1()
                / (-number(epsilon)).expm1()
            )
        ),
        1.0,
    )


def _refusal(guarantee: Guarantee) -> str:
    """Say why there is no group promise of the same notion, and what to use."""
    if isinstance(guarantee, ZCDP):
        return (
            f"each step of a group's chain splits the law in the middle in its own way, so the parts of {guarantee!r} "
            "do not join. Convert to ApproxDP with a delta first, and apply group_privacy to that."
        )
    if isinstance(guarantee, RenyiDP):
        return (
            f"joining the steps of a group's chain needs higher orders than the one {guarantee!r} bounds. Start from "
            "ZCDP, which covers all orders, or convert to ApproxDP with a delta first."
        )
    return f"no group promise is known for {type(guarantee).__name__}"


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

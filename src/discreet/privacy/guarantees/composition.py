"""Several releases on the same people: what their promises add up to, and how to split a budget."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import reduce

from discreet.errors import ParameterError
from discreet.laws.number import Number, round_down, round_up
from discreet.privacy.guarantees.guarantee import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP
from discreet.privacy.numbers import downward, number, positive, probability, root_upward, upward, whole
from discreet.privacy.relation import Relation, combine
from discreet.randomness.rigour import Ball


def basic_composition(guarantees: Iterable[Guarantee]) -> Guarantee:
    """Return the promise kept by several releases together, each chosen in view of the earlier answers.

    All must be of one notion (pure and approximate count as one); sums are exact and rounded up once.

    Privacy. For adaptive releases: epsilons and deltas add; rhos add and the probabilities 1 - delta of
        delta-approximate zCDP multiply; Renyi divergences of one order add; mus add in squares.
        Proof: fix neighbours; let the first release have laws P, P' and the second, given the first answer y, laws R_y
        and R'_y. Pure: the likelihood ratios multiply. Approximate: for an event S with sections S_y, R_y(S_y) <= g(y)
        + d2 with g(y) = min(1, e^e2 R'_y(S_y)); as g has values in [0, 1], its mean under P is at most e^e1 times its
        mean under P' plus d1. Renyi: the moment of order alpha - 1 of the ratio is a mean over y of the first ratio's
        power times the conditional moment, which is at most e^((alpha-1) e2) for every y. zCDP: Renyi at every order;
        with deltas, split all laws into their two parts and keep what is of the first kind throughout, of weight the
        product of the 1 - delta. Gaussian: each release, given the past, is a post-processing of N(mu, 1) against N(0,
        1) with fresh draws, so together they are one of two normal vectors at distance sqrt(sum mu^2). More releases:
        induction.
    Reference. Dwork, Kenthapadi, McSherry, Mironov, Naor 2006; Bun, Steinke 2016; Mironov 2017; Dong, Roth, Su 2022.

    >>> basic_composition([PureDP(0.5), ApproxDP(0.25, 1e-6)])
    ApproxDP(epsilon=0.75, delta=1e-06)
    >>> basic_composition([GaussianDP(3), GaussianDP(4)])
    GaussianDP(mu=5.0)
    """
    promises = list(guarantees)
    if not promises:
        raise ParameterError("nothing to compose: pass at least one promise", parameter="guarantees")
    relation = reduce(combine, (promise.relation for promise in promises))
    match _one_notion(promises):
        case PureDP():
            return PureDP(_sum(promises, "epsilon"), relation=relation)
        case ApproxDP():
            return ApproxDP(_sum(promises, "epsilon"), min(_sum(promises, "delta"), 1.0), relation=relation)
        case ZCDP():
            deltas = [Fraction(_get(promise, "delta")) for promise in promises]
            return ZCDP(_sum(promises, "rho"), _any_of(deltas), relation=relation)
        case RenyiDP(alpha=alpha):
            return RenyiDP(alpha, _sum(promises, "epsilon"), relation=relation)
    squares = sum((Fraction(_get(one, "mu")) ** 2 for one in promises), Fraction(0))
    return GaussianDP(root_upward(squares), relation=relation)


def repeated(guarantee: Guarantee, times: int) -> Guarantee:
    """Return the promise of several adaptive releases that each keep the same one: `basic_composition` of a list.

    >>> repeated(PureDP(0.25), 4)
    PureDP(epsilon=1.0)
    """
    count = whole(times, name="times")
    relation = guarantee.relation
    match guarantee:
        case _ if count == 1:
            return guarantee
        case PureDP():
            return PureDP(round_up(count * Fraction(guarantee.epsilon)), relation=relation)
        case ApproxDP():
            delta = _capped(count * Fraction(guarantee.delta))
            return ApproxDP(round_up(count * Fraction(guarantee.epsilon)), delta, relation=relation)
        case ZCDP():
            return ZCDP(round_up(count * Fraction(guarantee.rho)), _any_of_equal(guarantee, count), relation=relation)
        case RenyiDP():
            return RenyiDP(guarantee.alpha, round_up(count * Fraction(guarantee.epsilon)), relation=relation)
        case GaussianDP():
            return GaussianDP(root_upward(count * Fraction(guarantee.mu) ** 2), relation=relation)
    raise ParameterError(f"{type(guarantee).__name__} is not a notion that composes here", parameter="guarantee")


def advanced_composition(guarantee: Guarantee, times: int, slack: Number) -> ApproxDP:
    """Return the (epsilon, delta) promise of many adaptive releases that each keep one pure or approximate promise.

    The result is the better of this theorem and of basic composition, which needs no slack.

    Privacy. k releases, each (epsilon, delta)-DP, are together (epsilon', k delta + slack)-DP with
        epsilon' = epsilon sqrt(2 k ln(1/slack)) + k epsilon (e^epsilon - 1).
        Proof: given the past, each release is a post-processing of `PureApproxPair`, so the transcript is one of k
        independent draws from that pair; compare those. With chance at most k delta some draw is the first output. Else
        the losses are plus or minus epsilon, with mean epsilon tanh(epsilon/2) <= epsilon (e^epsilon - 1), as tanh(x/2)
        = (e^x - 1)/(e^x + 1). By Hoeffding's inequality for k variables in intervals of length 2 epsilon, their sum
        exceeds its mean by t with chance at most exp(-t^2/(2 k epsilon^2)): the slack, at t = epsilon sqrt(2 k
        ln(1/slack)). Where the sum is at most epsilon', P(S) <= e^epsilon' Q(S). (Azuma's inequality does the same
        without the reduction to independent draws.)
    Reference. Dwork, Rothblum, Vadhan 2010.

    >>> advanced_composition(PureDP(0.01), times=1000, slack=1e-6).epsilon
    1.762...
    """
    if not isinstance(guarantee, PureDP | ApproxDP):
        raise ParameterError(
            f"advanced composition is a theorem about pure and approximate promises, not {type(guarantee).__name__}, "
            "which composes exactly by basic_composition; or convert it to ApproxDP first",
            parameter="guarantee",
        )
    count, spare = whole(times, name="times"), Fraction(probability(slack, name="slack"))
    if not 0 < spare < 1:
        raise ParameterError(
            "slack must lie strictly in (0, 1); without slack use basic_composition", parameter="slack"
        )
    epsilon = Fraction(guarantee.epsilon)
    delta = count * Fraction(guarantee.delta) if isinstance(guarantee, ApproxDP) else Fraction(0)
    basic, advanced = round_up(count * epsilon), upward(lambda: _advanced(epsilon, count, spare))
    if basic <= advanced:
        return ApproxDP(basic, _capped(delta), relation=guarantee.relation)
    return ApproxDP(advanced, _capped(delta + spare), relation=guarantee.relation)


def split(epsilon_total: Number, delta_total: Number, times: int, *, relation: Relation = Relation.UNSTATED) -> PureDP:
    """Return the pure promise that each of many adaptive releases may make so that together they keep a total below 1.

    All of `delta_total` is the slack of the composition, and the parts have no delta of their own; parts that are
    (epsilon, delta0)-DP instead end at a total delta of delta_total + times * delta0.

    Privacy. k releases, each epsilon0-DP with epsilon0 = epsilon/sqrt(8 k ln(1/delta)), are together (epsilon,
        delta)-DP if epsilon < 1 and delta <= 1/2; so are k releases with epsilon0 = epsilon/k, even with delta 0. The
        larger is returned, rounded down.
        Proof: in `advanced_composition` with slack delta the first term is epsilon/2. The second: 8 k ln(1/delta) >= 8
        ln 2 > 4, so epsilon0 < 1/2 and e^epsilon0 - 1 <= epsilon0 + epsilon0^2 <= 3 epsilon0/2; then k epsilon0
        (e^epsilon0 - 1) <= 3 k epsilon0^2/2 = 3 epsilon^2/(16 ln(1/delta)) < epsilon/2, as epsilon < 1 and 16 ln 2 > 6.
        The bound grows with epsilon0, so rounding down is safe. The second choice is basic composition.
    Reference. Dwork, Rothblum, Vadhan 2010; Dwork, Roth 2014, corollary 3.21.

    >>> split(0.5, 1e-6, times=1000).epsilon
    0.0015...
    """
    total = Fraction(positive(epsilon_total, name="epsilon_total"))
    slack = Fraction(probability(delta_total, name="delta_total"))
    count = whole(times, name="times")
    if total >= 1:
        raise ParameterError(
            "epsilon_total must be below 1: the rule spends half of it on the mean loss, which it bounds by epsilon "
            "squared. For a larger total, search for the part with advanced_composition, or compose ZCDP promises.",
            parameter="epsilon_total",
        )
    if not 0 < slack <= Fraction(1, 2):
        raise ParameterError(
            "delta_total must lie in (0, 1/2]: it is the slack of advanced composition. With delta 0, give each "
            "release epsilon_total/times (basic composition).",
            parameter="delta_total",
        )
    part = downward(lambda: number(total) / (-8 * count * number(slack).log()).sqrt())
    return PureDP(max(part, round_down(total / count)), relation=relation)


def _one_notion(promises: Sequence[Guarantee]) -> Guarantee:
    """Return a promise of the notion that all of them are; refuse a mixture."""
    kinds = {type(promise) for promise in promises}
    if kinds == {PureDP, ApproxDP}:
        return next(promise for promise in promises if isinstance(promise, ApproxDP))
    if len(kinds) > 1:
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise ParameterError(
            f"promises of different notions ({names}) do not add up. Bring them to one: convert(promise, to=...).",
            parameter="guarantees",
        )
    orders = {Fraction(promise.alpha) for promise in promises if isinstance(promise, RenyiDP)}
    if len(orders) > 1:
        raise ParameterError(
            "Renyi promises add up at one order only. Bring all to the lowest: convert(promise, to=RenyiDP, alpha=).",
            parameter="guarantees",
        )
    return promises[0]


def _get(promise: Guarantee, name: str) -> Number:
    """Return a parameter; a pure promise has delta 0."""
    value: Number = getattr(promise, name, 0)
    return value


def _sum(promises: Iterable[Guarantee], name: str) -> float:
    return round_up(sum((Fraction(_get(promise, name)) for promise in promises), Fraction(0)))


def _any_of(chances: list[Fraction]) -> float:
    """Return 1 - the product of the complements, rounded up; the sum, which is never smaller, also bounds it."""
    if not any(chances):
        return 0.0

    def formula() -> Ball:
        none = number(1)
        for chance in sorted(chances):  # one order for every order of the arguments, so that composition is commutative
            none = none * number(1 - chance)
        return 1 - none

    return min(upward(formula), round_up(sum(chances, Fraction(0))), 1.0)


def _any_of_equal(promise: ZCDP, count: int) -> float:
    """Return 1 - (1 - delta)^count, rounded up."""
    own = Fraction(promise.delta)
    if own in (0, 1):
        return float(own)
    return min(upward(lambda: -(count * number(1 - own).log()).expm1()), _capped(count * own))


def _advanced(epsilon: Fraction, count: int, slack: Fraction) -> Ball:
    each = number(epsilon)
    return each * (-2 * count * number(slack).log()).sqrt() + count * each * each.expm1()


def _capped(delta: Fraction) -> float:
    return min(round_up(delta), 1.0)

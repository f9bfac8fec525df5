"""The guarantee of several releases together, to a group of people, and on a secret sample of them.

Several releases on the same people add up. A guarantee to one person is a weaker guarantee to a group: a family, or one
person with several rows. A release on a secret random sample of the people costs less than one on everybody.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import reduce
from typing import TypeVar

from discreet.errors import NoSoundConversion, ParameterError, RelationMismatch
from discreet.laws.number import Number, round_down, round_up
from discreet.privacy.guarantees.guarantee import ZCDP, ApproxDP, GaussianDP, Guarantee, Notion, PureDP, RenyiDP
from discreet.privacy.numbers import downward, number, positive, probability, root_upward, upward, whole
from discreet.privacy.relation import Relation, combine
from discreet.randomness.rigor import Ball

Amplified = TypeVar("Amplified", bound=PureDP | ApproxDP)


def basic_composition(guarantees: Iterable[Notion]) -> Notion:
    """Return the guarantee kept by several releases together, each chosen in view of the earlier answers.

    All must be of one notion (pure and approximate count as one); sums are exact and rounded up once.

    Privacy. For adaptive releases: epsilons and deltas add; rhos add and the probabilities 1 - delta of
        delta-approximate zCDP multiply; Renyi divergences of one order add; mus add in squares, with deltas as for
        zCDP.
        Proof: fix neighbors; let the first release have laws P, P' and the second, given the first answer y, laws R_y
        and R'_y. Pure: the likelihood ratios multiply. Approximate: for an event S with sections S_y, R_y(S_y) <= g(y)
        + d2 with g(y) = min(1, e^e2 R'_y(S_y)); as g has values in [0, 1], its mean under P is at most e^e1 times its
        mean under P' plus d1. Renyi: the moment of order alpha - 1 of the ratio is a mean over y of the first ratio's
        power times the conditional moment, which is at most e^((alpha-1) e2) for every y. zCDP: Renyi at every order;
        with deltas, split all laws into their two parts and keep what is of the first kind throughout, of weight the
        product of the 1 - delta. Gaussian: each release, given the past, is a post-processing of N(mu, 1) against N(0,
        1) with fresh draws, so together they are one of two normal vectors at distance sqrt(sum mu^2); deltas as for
        zCDP. More releases: induction.
    Reference. Dwork, Kenthapadi, McSherry, Mironov, Naor 2006; Bun, Steinke 2016; Mironov 2017; Dong, Roth, Su 2022.

    >>> basic_composition([PureDP(0.5), ApproxDP(0.25, 1e-6)])
    ApproxDP(epsilon=0.75, delta=1e-06)
    >>> basic_composition([GaussianDP(3), GaussianDP(4)])
    GaussianDP(mu=5.0)
    """
    parts = list(guarantees)
    if not parts:
        raise ParameterError("nothing to compose: pass at least one guarantee", parameter="guarantees")
    relation = reduce(combine, (guarantee.relation for guarantee in parts))

    def total(name: str, power: int = 1) -> Fraction:
        return sum((Fraction(_get(guarantee, name)) ** power for guarantee in parts), Fraction(0))

    deltas = [Fraction(_get(guarantee, "delta")) for guarantee in parts]
    return _added(_one_notion(parts), total, lambda: _any_of(deltas), relation)


def repeated(guarantee: Notion, times: int) -> Notion:
    """Return the guarantee of several adaptive releases that each keep the same one: `basic_composition` of a list.

    >>> repeated(PureDP(0.25), 4)
    PureDP(epsilon=1.0)
    """
    count, relation = whole(times, name="times"), guarantee.relation
    if count == 1:
        return guarantee

    def total(name: str, power: int = 1) -> Fraction:
        return count * Fraction(_get(guarantee, name)) ** power

    return _added(guarantee, total, lambda: _any_of_equal(Fraction(_get(guarantee, "delta")), count), relation)


def _added(
    guarantee: Notion, total: Callable[..., Fraction], failed: Callable[[], float], relation: Relation
) -> Notion:
    """Return a guarantee of the same notion with the totals of its numbers; `failed` is the chance of any failure."""
    match guarantee:
        case PureDP():
            return replace(guarantee, epsilon=round_up(total("epsilon")), relation=relation)
        case ApproxDP():
            summed = round_up(total("epsilon"))
            return replace(guarantee, epsilon=summed, delta=_capped(total("delta")), relation=relation)
        case ZCDP():
            return replace(guarantee, rho=round_up(total("rho")), delta=failed(), relation=relation)
        case RenyiDP():
            return replace(guarantee, epsilon=round_up(total("epsilon")), relation=relation)
        case GaussianDP():
            return replace(guarantee, mu=root_upward(total("mu", 2)), delta=failed(), relation=relation)
    raise ParameterError(f"{type(guarantee).__name__} is not a notion that composes here", parameter="guarantee")


def advanced_composition(guarantee: Guarantee, times: int, slack: Number) -> ApproxDP:
    """Return the (epsilon, delta) guarantee of many adaptive releases that each keep one pure or approximate guarantee.

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
            f"advanced composition is a theorem about pure and approximate guarantees, not {type(guarantee).__name__}, "
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
    """Return the pure guarantee that each of many adaptive releases may have, if all together keep a total below 1.

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
            "squared. For a larger total, search for the part with advanced_composition, or compose ZCDP guarantees.",
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


def _one_notion(guarantees: Sequence[Notion]) -> Notion:
    """Return a guarantee of the notion that all of them are; refuse a mixture."""
    kinds = {type(guarantee) for guarantee in guarantees}
    if kinds == {PureDP, ApproxDP}:
        return next(guarantee for guarantee in guarantees if isinstance(guarantee, ApproxDP))
    if len(kinds) > 1:
        names = ", ".join(sorted(kind.__name__ for kind in kinds))
        raise ParameterError(
            f"guarantees of different notions ({names}) do not add up. Bring them to one: convert(guarantee, to=...).",
            parameter="guarantees",
        )
    orders = {Fraction(guarantee.alpha) for guarantee in guarantees if isinstance(guarantee, RenyiDP)}
    if len(orders) > 1:
        raise ParameterError(
            "Renyi guarantees add up at one order only. Use the lowest: convert(guarantee, to=RenyiDP, alpha=).",
            parameter="guarantees",
        )
    return guarantees[0]


def _get(guarantee: Guarantee, name: str) -> Number:
    """Return a parameter; a pure guarantee has delta 0."""
    value: Number = getattr(guarantee, name, 0)
    return value


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


def _any_of_equal(own: Fraction, count: int) -> float:
    """Return 1 - (1 - delta)^count, rounded up."""
    if own in (0, 1):
        return float(own)
    return min(upward(lambda: -(count * number(1 - own).log()).expm1()), _capped(count * own))


def _advanced(epsilon: Fraction, count: int, slack: Fraction) -> Ball:
    each = number(epsilon)
    return each * (-2 * count * number(slack).log()).sqrt() + count * each * each.expm1()


def _capped(delta: Fraction) -> float:
    return min(round_up(delta), 1.0)


def group_privacy(guarantee: Notion, group_size: int) -> Notion:
    """Return what a guarantee for one person means for any group of `group_size` people together.

    Two tables that differ in the group are joined by a chain of `group_size` steps between neighbors, x_0 to x_k, with
    laws P_0 to P_k. Under add/remove the group's data is added or removed; a change of one row is a group of two.

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
        raise ParameterError(f"a guarantee is needed, not {type(guarantee).__name__}", parameter="guarantee")
    count = whole(group_size, name="group_size")
    if count == 1:
        return guarantee
    match guarantee:
        case PureDP():
            return replace(guarantee, epsilon=_times(guarantee.epsilon, count))
        case ApproxDP():
            return replace(guarantee, epsilon=_times(guarantee.epsilon, count), delta=_group_delta(guarantee, count))
        case ZCDP(delta=0):
            return replace(guarantee, rho=_times(guarantee.rho, count * count))
        case GaussianDP(delta=0):
            return replace(guarantee, mu=_times(guarantee.mu, count))
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
    """Say why there is no group guarantee of the same notion, and what to use."""
    if isinstance(guarantee, ZCDP | GaussianDP):
        return (
            f"each step of a group's chain splits the law in the middle in its own way, so the parts of {guarantee!r} "
            "do not join. Convert to ApproxDP with a delta first, and apply group_privacy to that."
        )
    if isinstance(guarantee, RenyiDP):
        return (
            f"joining the steps of a group's chain needs higher orders than the one {guarantee!r} bounds. Start from "
            "ZCDP, which covers all orders, or convert to ApproxDP with a delta first."
        )
    return f"no group guarantee is known for {type(guarantee).__name__}"


def amplify_by_poisson(guarantee: Amplified, rate: Number) -> Amplified:
    """Return the guarantee of a release on a Poisson sample: each person is in it, independently, with chance `rate`.

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
            f"this theorem is about pure and approximate guarantees, not {type(guarantee).__name__}: "
            "convert(guarantee, to=ApproxDP, delta=...) first",
            parameter="guarantee",
        )
    share = Fraction(probability(rate, name="rate"))
    _require_add_remove(guarantee)
    if share == 1:
        return guarantee
    epsilon = _amplified(Fraction(guarantee.epsilon), share)
    if isinstance(guarantee, PureDP):
        return replace(guarantee, epsilon=epsilon)
    return replace(guarantee, epsilon=epsilon, delta=round_up(share * Fraction(guarantee.delta)))


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
            "change-one guarantee, for which the number of rows is public, does not compare them. Price the release "
            "with relation=Relation.ADD_REMOVE."
        )
    if guarantee.relation is Relation.UNSTATED:
        raise RelationMismatch(
            "Poisson sampling is priced for add/remove only, and this guarantee does not state its relation. If it was "
            "computed for add/remove, say so: guarantee.under(Relation.ADD_REMOVE)."
        )

"""From one guarantee to another: the best that provably follows, one theorem each, or a refusal that says why not."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import TypeVar, cast

from discreet.errors import MissingParameter, NoSoundConversion, ParameterError
from discreet.laws.number import Number, round_up
from discreet.privacy.guarantees.curves import delta_of, epsilon_of
from discreet.privacy.guarantees.guarantee import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP
from discreet.privacy.guarantees.normal_scores import pure_mu
from discreet.privacy.numbers import (
    bounds,
    normal_upper_tail,
    number,
    probability,
    renyi_order,
    root_upward,
    upward,
    written,
)
from discreet.privacy.pairs import boundary
from discreet.privacy.relation import require_known
from discreet.randomness.rigor import Ball

Notion = TypeVar("Notion", bound=Guarantee)
_LARGE_RHO = 10**4


def convert(
    guarantee: Guarantee, to: type[Notion], *, delta: Number | None = None, alpha: Number | None = None
) -> Notion:
    """Return the strongest guarantee of another notion that is proven to follow, rounded up, for the same relation.

    `delta` belongs to `ApproxDP`, `ZCDP` and `GaussianDP`: the delta the new guarantee shall have (left out: the one
    the old guarantee has). `alpha` belongs to `RenyiDP`. Where nothing follows, `NoSoundConversion` says why and what
    would.

    Privacy. Every release that keeps the first guarantee keeps the second.
        Proof: one theorem for each step, in this file; a guarantee with delta = 0, or with no loss at all,
        is first restated in its plainest notion, which is an equivalence: zero divergence means equal laws, and a
        mixture with equal first parts is within delta in total variation.

    >>> convert(PureDP(1), ZCDP)
    ZCDP(rho=0.4621171572600098, delta=0.0)
    >>> convert(ZCDP(0.5), RenyiDP, alpha=8)
    RenyiDP(alpha=8, epsilon=4.0)
    """
    if not isinstance(guarantee, Guarantee):
        raise ParameterError(f"a guarantee is needed, not {type(guarantee).__name__}", parameter="guarantee")
    wanted_delta, wanted_alpha = _arguments(to, delta, alpha)
    source = _plainest(guarantee)
    found: Guarantee
    if to is PureDP:
        found = _to_pure(source)
    elif to is ApproxDP:
        found = _to_approx(source, wanted_delta)
    elif to is ZCDP:
        found = _to_zcdp(source, wanted_delta)
    elif to is RenyiDP:
        found = _to_renyi(source, cast(Number, wanted_alpha))
    elif to is GaussianDP:
        found = _to_gaussian(source, wanted_delta)
    else:
        raise ParameterError("to must be PureDP, ApproxDP, ZCDP, RenyiDP or GaussianDP", parameter="to")
    return cast(Notion, guarantee if found == guarantee else found)


def implies(guarantee: Guarantee, other: Guarantee) -> bool:
    """Say whether the second guarantee is proven to follow from the first; False means 'not proven here'.

    A guarantee for a stated relation is concluded only from one for the same relation; anything else raises
    `RelationMismatch`. A guarantee without a stated relation follows from its numbers alone.

    Privacy. True only if every release that keeps the first guarantee keeps the second.
        Proof: convert to the second notion at the second's delta or order, and compare: each notion weakens as its
        parameters grow. For (epsilon, delta) either coordinate may be the one computed.

    >>> implies(PureDP(1), ZCDP(0.5)), implies(ZCDP(0.5), PureDP(1))
    (True, False)
    """
    if not isinstance(other, Guarantee):
        raise ParameterError(f"a guarantee is needed, not {type(other).__name__}", parameter="other")
    require_known(guarantee.relation, other.relation)
    try:
        return _follows(guarantee, other)
    except NoSoundConversion:
        return False


def _follows(guarantee: Guarantee, other: Guarantee) -> bool:
    """Convert to the other's notion and compare parameters, exactly."""
    match other:
        case PureDP():
            return written(convert(guarantee, PureDP).epsilon) <= written(other.epsilon)
        case ApproxDP():
            source, delta, epsilon = _plainest(guarantee), Fraction(other.delta), Fraction(other.epsilon)
            return epsilon_of(source, delta) <= epsilon or delta_of(source, epsilon) <= delta
        case ZCDP():
            return written(convert(guarantee, ZCDP, delta=other.delta).rho) <= written(other.rho)
        case RenyiDP():
            return written(convert(guarantee, RenyiDP, alpha=other.alpha).epsilon) <= written(other.epsilon)
        case GaussianDP():
            return written(convert(guarantee, GaussianDP, delta=other.delta).mu) <= written(other.mu)
    return False


def _arguments(to: type[Guarantee], delta: Number | None, alpha: Number | None) -> tuple[Number | None, Number | None]:
    """Check that each argument belongs to the target notion, and that no argument is missing."""
    if delta is not None:
        if to not in (ApproxDP, ZCDP, GaussianDP):
            words = f"delta is for ApproxDP, ZCDP and GaussianDP; {to.__name__} has none"
            raise ParameterError(words, parameter="delta")
        delta = probability(delta, name="delta")
    if alpha is not None:
        if to is not RenyiDP:
            raise ParameterError(f"alpha is for RenyiDP; {to.__name__} has none", parameter="alpha")
        alpha = renyi_order(alpha, name="alpha")
    elif to is RenyiDP:
        raise MissingParameter("a Renyi guarantee needs its order: pass alpha= (greater than 1)", parameter="alpha")
    return delta, alpha


def _plainest(guarantee: Guarantee) -> Guarantee:
    """Restate a guarantee with no delta, or with no loss, in the plainest notion that says the same."""
    relation = guarantee.relation
    match guarantee:
        case ApproxDP(delta=0):
            return PureDP(guarantee.epsilon, relation=relation)
        case ZCDP(rho=0, delta=0) | RenyiDP(epsilon=0) | GaussianDP(mu=0, delta=0):
            return PureDP(0, relation=relation)
        case ZCDP(rho=0) | GaussianDP(mu=0):
            return ApproxDP(0, guarantee.delta, relation=relation)
    return guarantee


def _to_pure(source: Guarantee) -> PureDP:
    if isinstance(source, PureDP):
        return source
    raise NoSoundConversion(
        f"no epsilon bounds every outcome under {source!r}: it allows rare outcomes with unbounded loss. "
        "Convert to ApproxDP with a delta instead."
    )


def _to_approx(source: Guarantee, delta: Number | None) -> ApproxDP:
    if delta is not None:
        return to_approx_at(source, delta)
    match source:
        case PureDP():
            return ApproxDP(source.epsilon, 0, relation=source.relation)
        case ApproxDP():
            return source
    raise MissingParameter(f"from {type(source).__name__} the epsilon depends on delta: pass delta=", parameter="delta")


def _to_zcdp(source: Guarantee, delta: Number | None) -> ZCDP:
    """Return the better of the direct rule and, where a delta is granted, the way through (epsilon, delta)."""
    direct = None
    match source:
        case PureDP():
            direct = pure_to_zcdp(source)
        case ApproxDP():
            direct = approx_to_zcdp(source)
        case ZCDP():
            direct = source
        case GaussianDP():
            direct = gaussian_to_zcdp(source)
    if delta is None and direct is not None:
        return direct
    if delta is None:
        raise NoSoundConversion(
            f"{source!r} bounds one order only; higher orders may be infinite, so no rho follows. Pass delta= for an "
            "approximate guarantee, or convert what this was made from."
        )
    through = _through_approx(source, delta, direct, approx_to_zcdp)
    return ZCDP(min(guarantee.rho for guarantee in through), delta, relation=source.relation)


def _through_approx(
    source: Guarantee, delta: Number, direct: Notion | None, onward: Callable[[ApproxDP], Notion]
) -> list[Notion]:
    """Return what follows at a granted delta: directly, and through (epsilon, delta)."""
    own = 0 if direct is None else getattr(direct, "delta", 0)
    enough = [direct] if direct is not None and Fraction(own) <= Fraction(delta) else []
    try:
        enough.append(onward(to_approx_at(source, delta)))
    except NoSoundConversion:
        if not enough:
            raise
    return enough


def _to_renyi(source: Guarantee, alpha: Number) -> RenyiDP:
    match source:
        case PureDP():
            return pure_to_renyi(source, alpha)
        case ZCDP(delta=0):
            return zcdp_to_renyi(source, alpha)
        case RenyiDP():
            return renyi_to_renyi(source, alpha)
        case GaussianDP(delta=0):
            return gaussian_to_renyi(source, alpha)
    raise _delta_forbids(source, "the Renyi divergence may be infinite. Keep ApproxDP or delta-approximate ZCDP.")


def _to_gaussian(source: Guarantee, delta: Number | None) -> GaussianDP:
    """Return the better of the direct rule and, where a delta is granted, the way through (epsilon, delta).

    A delta that is not granted is refused: whoever asks for a mu alone must not get one that leaves out a delta.
    """
    direct = None
    match source:
        case PureDP():
            direct = pure_to_gaussian(source)
        case ApproxDP():
            direct = approx_to_gaussian(source)
        case ZCDP():
            direct = zcdp_to_gaussian(source)
        case GaussianDP():
            direct = source
    if delta is None and isinstance(source, ApproxDP | ZCDP) and source.delta:
        raise _delta_forbids(source, "no normal pair allows that with certainty. Pass delta= for an approximate mu.")
    if delta is None and direct is not None:
        return direct
    if delta is None:
        raise NoSoundConversion(
            f"the loss under {source!r} can have an exponential tail, heavier than every normal one, so no mu "
            "follows. Pass delta= for an approximate guarantee, or convert to ApproxDP with a delta instead."
        )
    through = _through_approx(source, delta, direct, approx_to_gaussian)
    return GaussianDP(min(guarantee.mu for guarantee in through), delta, relation=source.relation)


def _delta_forbids(source: Guarantee, consequence: str) -> NoSoundConversion:
    return NoSoundConversion(f"{source!r} allows a complete disclosure with probability delta > 0: {consequence}")


def to_approx_at(guarantee: Guarantee, delta: Number) -> ApproxDP:
    """Return the least epsilon at a given delta.

    Privacy. A guarantee whose worst pair is known (pure, approximate, Gaussian) gives that pair's epsilon(delta), which
        is the least possible; a concentrated or Renyi guarantee gives the moment bound of `zcdp_epsilon` or
        `renyi_epsilon`, which for a delta of a few percent or more could be improved.
        Proof: post-processing lowers delta(.), so no release that keeps the guarantee has a larger delta(epsilon) than
        the worst pair (`PureApproxPair`, `NormalPair`). The others: see there.
    """
    epsilon = epsilon_of(guarantee, Fraction(delta))
    if math.isinf(epsilon):
        raise NoSoundConversion(
            f"no epsilon follows from {guarantee!r} at delta = {delta}: its releases can have unbounded loss "
            "with a larger probability. Ask for a larger delta."
        )
    return ApproxDP(epsilon, delta, relation=guarantee.relation)


def pure_to_zcdp(guarantee: PureDP) -> ZCDP:
    """Return rho = epsilon tanh(epsilon/2), the least possible; it is below epsilon^2/2 and below epsilon.

    Privacy. epsilon-DP implies (epsilon tanh(epsilon/2))-zCDP, and no smaller rho follows.
        Proof: by `PureApproxPair` randomized response is the worst case. Its divergences satisfy, with s = alpha - 1 >
        0, s D = ln((e^((s+1) epsilon) + e^(-s epsilon))/(1 + e^epsilon)) = g(u) - g(1/4), where u = (s + 1/2)^2 and
        g(u) = ln cosh(epsilon sqrt(u)). As tanh(x)/x decreases, g'(u) = epsilon tanh(epsilon sqrt(u))/(2 sqrt(u))
        decreases and g is concave: s D <= g'(1/4)(u - 1/4) = epsilon tanh(epsilon/2) s (s+1), that is D <= alpha rho.
        As s goes to 0, D/alpha goes to rho.
    Reference. Bun, Steinke 2016 (epsilon^2/2); Kairouz, Oh, Viswanath 2015 for the worst case.
    """
    epsilon = Fraction(guarantee.epsilon)
    rho = upward(lambda: number(epsilon) * (number(epsilon) / 2).tanh())
    return ZCDP(min(rho, round_up(epsilon)), relation=guarantee.relation)


def pure_to_renyi(guarantee: PureDP, alpha: Number) -> RenyiDP:
    """Return the divergence of order alpha of randomized response, the least possible.

    Privacy. epsilon-DP implies D_alpha <= epsilon + (ln(1 + e^(-(2 alpha - 1) epsilon)) - ln(1 + e^-epsilon))/(alpha -
    1).
        Proof: randomized response is the worst case (`PureApproxPair`), and divergences shrink under post-processing.
        With p = e^epsilon/(1+e^epsilon), (alpha-1) D = ln(p^alpha (1-p)^(1-alpha) + (1-p)^alpha p^(1-alpha)); take
        e^(alpha epsilon) out of the sum and e^epsilon out of the denominator.
    Reference. Mironov 2017; Kairouz, Oh, Viswanath 2015.
    """
    epsilon, order = Fraction(guarantee.epsilon), Fraction(alpha)

    def divergence() -> Ball:
        more = (-number((2 * order - 1) * epsilon)).exp().log1p() - (-number(epsilon)).exp().log1p()
        return number(epsilon) + more / number(order - 1)

    # far beyond every float exponent the ball of e^-x may be wide; the order at infinity, epsilon, always bounds it
    return RenyiDP(alpha, min(max(upward(divergence), 0.0), round_up(epsilon)), relation=guarantee.relation)


def pure_to_gaussian(guarantee: PureDP) -> GaussianDP:
    """Return mu = -2 F^-1(1/(1 + e^epsilon)) with F the normal distribution function, the least possible.

    Privacy. epsilon-DP implies mu-Gaussian DP with this mu, and no smaller mu follows.
        Proof: the worst trade-off curve f is the polygon through (0, 1), (c, c), (1, 0) with c = 1/(1+e^epsilon). G(a)
        = F(F^-1(1-a) - mu) is convex, G(0) = 1, G(1) = 0, and this mu makes G(c) = c; a convex curve lies below its
        chords, so G <= f. A smaller mu has G(c) > c = f(c). In numbers mu = sqrt(8) erfinv(tanh(epsilon/2)), and as
        F(-x) <= exp(-x^2/2)/2, never more than sqrt(8 epsilon).
    Reference. Dong, Roth, Su 2022 for the trade-off curves.
    """
    return GaussianDP(pure_mu(Fraction(guarantee.epsilon)), relation=guarantee.relation)


def approx_to_gaussian(guarantee: ApproxDP) -> GaussianDP:
    """Return the mu of pure epsilon, delta-approximate with the same delta.

    Privacy. (epsilon, delta)-DP implies delta-approximate mu-Gaussian DP with the mu of `pure_to_gaussian`.
        Proof: as for `approx_to_zcdp`: M(x) = (1-delta) A + delta B and M(x') = (1-delta) A' + delta B', where (A, A')
        is a post-processing of randomized response with epsilon in both directions at once, hence mu-Gaussian DP.
    Reference. Kairouz, Oh, Viswanath 2015; Dong, Roth, Su 2022.
    """
    return GaussianDP(pure_to_gaussian(PureDP(guarantee.epsilon)).mu, guarantee.delta, relation=guarantee.relation)


def approx_to_zcdp(guarantee: ApproxDP) -> ZCDP:
    """Return (epsilon tanh(epsilon/2))-zCDP, delta-approximate with the same delta.

    Privacy. (epsilon, delta)-DP implies delta-approximate (epsilon tanh(epsilon/2))-zCDP.
        Proof: `PureApproxPair` is a mixture: with probability delta its first or last output, which tell P from Q, else
        randomized response with epsilon. Post-process both parts: M(x) = (1-delta) A + delta B, M(x') = (1-delta) A' +
        delta B', where (A, A') is a post-processing of randomized response in both directions at once. Use
        `pure_to_zcdp`.
    Reference. Bun, Steinke 2016, section 8; Kairouz, Oh, Viswanath 2015.
    """
    rho = pure_to_zcdp(PureDP(guarantee.epsilon)).rho
    return ZCDP(rho, guarantee.delta, relation=guarantee.relation)


def zcdp_to_renyi(guarantee: ZCDP, alpha: Number) -> RenyiDP:
    """Return alpha rho.

    Privacy. rho-zCDP implies D_alpha <= alpha rho.
        Proof: this is the definition at one order.
    """
    return RenyiDP(alpha, round_up(Fraction(alpha) * Fraction(guarantee.rho)), relation=guarantee.relation)


def zcdp_to_gaussian(guarantee: ZCDP) -> GaussianDP:
    """Return mu = 2 t where sqrt(-ln F(-t)) - sqrt(-ln F(t)) = sqrt(rho), with F the normal distribution function.

    For small rho this is sqrt(2 pi ln(2) rho), about 2.09 sqrt(rho); for large rho it approaches sqrt(8 rho), which is
    returned for rho above 10^4.

    Privacy. rho-zCDP implies mu-Gaussian DP with this mu (at small rho some mu between 1.77 and 2.09 sqrt(rho) may
    follow); with a delta both hold for the first parts of the mixtures.
        Proof: let a test call 'P' with chance a = F(-y) under Q and b = F(-x) under P, x < y (a = 0 forces b = 0); the
        guarantee mu-Gaussian DP says y - x <= mu. Data processing gives b^alpha a^(1-alpha) <= e^(alpha(alpha-1) rho)
        for alpha > 1, and alpha = sqrt(-ln a / rho) makes it sqrt(-ln b) >= sqrt(-ln a) - sqrt(rho) (trivial if -ln a
        <=
        rho). With W(z) = sqrt(-ln F(-z)): W(y) - W(x) <= sqrt(rho). The complement of the test, with P and Q exchanged,
        gives the same for -y < -x, so let x + y >= 0. W is convex (below), so W(m + t) - W(m - t) grows with m =
        (x+y)/2; at m = 0 it is at most sqrt(rho), and grows with t = (y-x)/2: so y - x <= 2 t for the t above.
        W is convex: with hazard h = F'(z)/F(-z), h' = h(h - z), and H = -ln F(-z), W'' >= 0 says 2 H >= h/(h - z). At
        minus infinity both sides vanish, and the derivative of 2 H - h/(h - z) is h ((h-z)(2h-z) - 1)/(h-z)^2, which is
        positive by Sampford's inequality.
        For rho >= 9/2, mu <= sqrt(8 rho): F(-t) <= e^(-t^2/2)/2 gives W(t) >= sqrt(t^2/2 + ln 2), and sqrt(-ln(1-x)) <=
        sqrt(2x) for x <= 1/2 gives W(-t) <= e^(-t^2/4); for t >= 3 the difference is at least t/sqrt(2).
        Near 0 rho-zCDP contains randomized response with epsilon tanh(epsilon/2) = rho, which needs sqrt(pi rho).
    Reference. Sampford 1953 for the hazard of the normal law; Bun, Steinke 2016; Dong, Roth, Su 2022.
    """
    rho = Fraction(guarantee.rho)

    def gap(t: float) -> Ball:
        tail = normal_upper_tail(number(t))
        return (-tail.log()).sqrt() - (-(-tail).log1p()).sqrt() - number(rho).sqrt()

    ceiling = root_upward(8 * rho)
    if rho > _LARGE_RHO:
        return GaussianDP(ceiling, guarantee.delta, relation=guarantee.relation)

    def enough(t: float) -> bool:
        return t > 0 and bounds(lambda: gap(t))[0] >= 0

    if not enough(ceiling):
        raise NoSoundConversion(f"no mu could be certified for {guarantee!r}")
    return GaussianDP(2 * boundary(0.0, ceiling, enough)[1], guarantee.delta, relation=guarantee.relation)


def renyi_to_renyi(guarantee: RenyiDP, alpha: Number) -> RenyiDP:
    """Return the same divergence at a lower order.

    Privacy. D_beta <= D_alpha for 1 < beta <= alpha.
        Proof: with L the loss under P, e^((beta-1) D_beta) = E e^((beta-1) L) <= (E e^((alpha-1)
        L))^((beta-1)/(alpha-1)) by Jensen.
    Reference. van Erven, Harremoes 2014.
    """
    if Fraction(alpha) > Fraction(guarantee.alpha):
        raise NoSoundConversion(
            f"{guarantee!r} says nothing about the higher order {alpha}: there the divergence may be infinite. Ask for "
            f"an order of at most {guarantee.alpha}, or start from ZCDP, which covers all orders."
        )
    return RenyiDP(alpha, guarantee.epsilon, relation=guarantee.relation)


def gaussian_to_zcdp(guarantee: GaussianDP) -> ZCDP:
    """Return rho = mu^2/2, the least possible, delta-approximate with the same delta.

    Privacy. mu-Gaussian DP implies (mu^2/2)-zCDP, and no smaller rho follows; with a delta both hold for the first
        parts of the mixtures.
        Proof: by Blackwell's theorem every such release is a post-processing of `NormalPair`, whose loss is normal with
        mean mu^2/2 and variance mu^2 under P: (alpha-1) D_alpha = ln E e^((alpha-1) L) = (alpha-1) alpha mu^2/2.
    Reference. Bun, Steinke 2016; Dong, Roth, Su 2022.
    """
    return ZCDP(round_up(Fraction(guarantee.mu) ** 2 / 2), guarantee.delta, relation=guarantee.relation)


def gaussian_to_renyi(guarantee: GaussianDP, alpha: Number) -> RenyiDP:
    """Return alpha mu^2/2, the least possible.

    Privacy. mu-Gaussian DP implies D_alpha <= alpha mu^2/2 for every alpha > 1.
        Proof: the divergence of `NormalPair`, computed in `gaussian_to_zcdp`.
    Reference. Mironov 2017.
    """
    return RenyiDP(alpha, round_up(Fraction(alpha) * Fraction(guarantee.mu) ** 2 / 2), relation=guarantee.relation)

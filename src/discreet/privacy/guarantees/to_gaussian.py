"""From other guarantees to a Gaussian one: the least mu that is proven to follow, one theorem each."""

from __future__ import annotations

from fractions import Fraction

from discreet.errors import NoSoundConversion
from discreet.laws.number import Number
from discreet.privacy.guarantees.guarantee import ZCDP, ApproxDP, GaussianDP, PureDP
from discreet.privacy.numbers import bounds, downward, normal_upper_tail, number, root_upward, upward
from discreet.privacy.pairs import boundary
from discreet.privacy.relation import Relation
from discreet.randomness.rigor import Ball

_LARGE_RHO = 10**4


def pure_to_gaussian(guarantee: PureDP) -> GaussianDP:
    """Return mu = -2 F^-1(1/(1 + e^epsilon)) with F the normal distribution function, the least possible.

    Privacy. epsilon-DP implies mu-Gaussian DP with this mu, and no smaller mu follows.
        Proof: the worst trade-off curve f is the polygon through (0, 1), (c, c), (1, 0) with c = 1/(1+e^epsilon). G(a)
        = F(F^-1(1-a) - mu) is convex, G(0) = 1, G(1) = 0, and this mu makes G(c) = c; a convex curve lies below its
        chords, so G <= f. A smaller mu has G(c) > c = f(c). In numbers mu = sqrt(8) erfinv(tanh(epsilon/2)), and as
        F(-x) <= exp(-x^2/2)/2, never more than sqrt(8 epsilon).
    Reference. Dong, Roth, Su 2022 for the trade-off curves.
    """
    epsilon = Fraction(guarantee.epsilon)
    mu = upward(lambda: number(8).sqrt() * (number(epsilon) / 2).tanh().erfinv())
    if epsilon > 1:  # tanh is next to 1 there: use the complement
        mu = upward(lambda: number(8).sqrt() * (2 / (1 + number(epsilon).exp())).erfcinv())
    return GaussianDP(min(mu, root_upward(8 * epsilon)), relation=guarantee.relation)


def approx_to_gaussian(guarantee: ApproxDP) -> GaussianDP:
    """Return the mu of pure epsilon, delta-approximate with the same delta.

    Privacy. (epsilon, delta)-DP implies delta-approximate mu-Gaussian DP with the mu of `pure_to_gaussian`.
        Proof: as for `approx_to_zcdp`: M(x) = (1-delta) A + delta B and M(x') = (1-delta) A' + delta B', where (A, A')
        is a post-processing of randomized response with epsilon in both directions at once, hence mu-Gaussian DP.
    Reference. Kairouz, Oh, Viswanath 2015; Dong, Roth, Su 2022.
    """
    return GaussianDP(pure_to_gaussian(PureDP(guarantee.epsilon)).mu, guarantee.delta, relation=guarantee.relation)


def bounded_range_to_gaussian(epsilon: Number, *, relation: Relation = Relation.UNSTATED) -> GaussianDP:
    """Return the mu of a choice whose losses span at most epsilon: that of a pure release with epsilon/2.

    It is at most sqrt(pi/8) epsilon, about 0.627 epsilon: in squares, pi times the rho = epsilon^2/8 of such a choice.
    So choices whose rhos add up to rho in all are sqrt(pi rho)-Gaussian DP together.

    Privacy. A release of bounded range r is mu-Gaussian DP with mu = 2 F^-1(1/(1 + e^(-r/2))), F the normal
        distribution function, and no smaller mu follows.
        Proof: by `BoundedRangePair` the trade-off curve is at least f(a) = (1 - a)/(1 + (e^r - 1) a), in both
        directions. With the logistic distribution function L(x) = 1/(1 + e^-x), f(a) = L(L^-1(1 - a) - r). Let h(x) =
        F^-1(L(x)), which is odd and grows. At 1 - a = L(x), f(a) >= F(F^-1(1 - a) - mu) says h(x) - h(x - r) <= mu.
        Below, h' falls on x > 0; it is even; so of all intervals of length r the one around 0 has the largest increase,
        2 h(r/2) = mu. There the curves meet: randomized response with epsilon = r/2 has range r and needs this mu.
        h' falls: with z = h(x) > 0, p = F(z) and the normal density n, h' = p (1 - p)/n(z), whose logarithm falls in z
        if n (2 p - 1) >= z p (1 - p). Let u = 2 p - 1 and m = (1 - p)/n; it says 2 u/(1 + u) >= z m. By Sampford's
        inequality m <= 4/(3 z + s), s = sqrt(z^2 + 8), so u (z + s) >= 2 z is enough: u >= w = z (s - z)/4. Both are 0
        at 0 and 1 at infinity; u' = 2 n, w' = (s - z)^2/(4 s), and the logarithm of u'/w' has the derivative
        (2 s - 7 z - z^3)/s^2, whose numerator falls: so u'/w' rises, then falls to 0. It is 2/sqrt(pi) > 1 at 0 and
        crosses 1 once: u - w rises from 0 and then falls to 0, and is never negative.
        As h(0) = 0 and h' falls, mu = 2 h(r/2) <= r h'(0) = r sqrt(2 pi)/4.
    Reference. Dong, Durfee, Rogers 2020 for bounded range; Sampford 1953; Dong, Roth, Su 2022.

    >>> bounded_range_to_gaussian(1).mu, PureDP(1).to_gaussian().mu
    (0.6238..., 1.23...)
    """
    half = pure_to_gaussian(PureDP(Fraction(epsilon) / 2)).mu
    return GaussianDP(half, relation=relation)


def rho_of_choices(mu: Fraction) -> Fraction:
    """Return the rho, mu^2/pi rounded down to a float, of choices that together are mu-Gaussian DP.

    Privacy. Adaptive choices of bounded ranges r_i, the sum of r_i^2/8 being at most mu^2/pi, are mu-Gaussian DP.
        Proof: by `bounded_range_to_gaussian` each is mu_i-Gaussian DP with mu_i^2 <= pi r_i^2/8; squares add up.

    >>> float(rho_of_choices(Fraction(1)))
    0.3183...
    """
    return Fraction(downward(lambda: number(mu) ** 2 / (4 * number(1).atan())))


def rho_of_halves(mu: Fraction) -> Fraction:
    """Return a rho, 2 mu^2/(pi + 2) rounded down to a float: half of it for choices, half for rounded normal noise.

    Privacy. Choices of rho/2 in all and noise of rho/2, adaptively, are mu-Gaussian DP together.
        Proof: by `rho_of_choices` the choices are mu_1-Gaussian DP with mu_1^2 = pi rho/2, and normal noise of rho/2 is
        mu_2-Gaussian DP with mu_2^2 = rho, rounded or not. Squares add up.

    >>> float(rho_of_halves(Fraction(1)))
    0.3889...
    """
    return Fraction(downward(lambda: number(mu) ** 2 / (2 * number(1).atan() + 1)))


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

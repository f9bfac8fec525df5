"""The mu of releases whose losses are bounded, and of choices, whose losses span a bounded range: normal scores."""

from __future__ import annotations

from fractions import Fraction

from discreet.laws.number import Number
from discreet.privacy.numbers import downward, number, root_upward, upward


def pure_mu(epsilon: Fraction) -> float:
    """Return the mu of `pure_to_gaussian`, rounded up: sqrt(8) erfinv(tanh(epsilon/2)), at most sqrt(8 epsilon).

    >>> pure_mu(Fraction(1))
    1.23...
    """
    mu = upward(lambda: number(8).sqrt() * (number(epsilon) / 2).tanh().erfinv())
    if epsilon > 1:  # tanh is next to 1 there: use the complement
        mu = upward(lambda: number(8).sqrt() * (2 / (1 + number(epsilon).exp())).erfcinv())
    return min(mu, root_upward(8 * epsilon))


def bounded_range_mu(epsilon: Number) -> float:
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

    >>> bounded_range_mu(1), pure_mu(Fraction(1))
    (0.6238..., 1.23...)
    """
    return pure_mu(Fraction(epsilon) / 2)


def rho_of_choices(mu: Fraction) -> Fraction:
    """Return the rho, mu^2/pi rounded down to a float, of choices that together are mu-Gaussian DP.

    Privacy. Adaptive choices of bounded ranges r_i, the sum of r_i^2/8 being at most mu^2/pi, are mu-Gaussian DP.
        Proof: by `bounded_range_mu` each is mu_i-Gaussian DP with mu_i^2 <= pi r_i^2/8; squares add up.

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

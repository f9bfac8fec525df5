"""References by one integral in balls: Gaussian noise beside one release of another kind, perhaps on a sample."""

from __future__ import annotations

from collections.abc import Callable

import flint

from tests.privacy.accounting.references import Ball, Curve, ball

REACH = 32
ACCURACY = 2.0**-170
BITS = 280  # the integrand is evaluated often; 50 digits remain


def beside_normal(mu_squared: object, *, law: str, scale: object, rate: object = 1, removing: bool = True) -> Curve:
    """Compose Gaussian noise with one Gaussian or Laplace release on a Poisson sample, in one direction.

    With l the loss of the release without sampling, drawn under Q, and y = 1 - rate + rate e^l, removing costs log y
    with the weight y, and adding costs -log y. The curve of the whole is the mean of the normal curve at what is left.
    """

    def delta(epsilon: object) -> Ball:
        with flint.ctx.workprec(BITS):
            return at(ball(epsilon))

    def at(level: Ball) -> Ball:
        share, mu = ball(rate), ball(mu_squared).sqrt()

        def value(loss: Ball, analytic: bool) -> Ball:
            y = 1 - share + share * flint.acb(loss).exp()
            cost = y.log(analytic=analytic)
            return y * _normal(level - cost, mu) if removing else _normal(level + cost, mu)

        mean = _under_normal if law == "gaussian" else _under_laplace
        return mean(value, 1 / ball(scale))

    return delta


def _normal(level: Ball, mu: Ball) -> Ball:
    """Return the normal curve at a complex level."""
    root = flint.arb(1 / flint.arb(2)).sqrt()
    first, second = (root * (level / mu - mu / 2)).erfc(), (root * (level / mu + mu / 2)).erfc()
    return (first - level.exp() * second) / 2


def _under_normal(value: Callable[[Ball, bool], Ball], shift: Ball) -> Ball:
    """Integrate against l = shift x - shift^2 / 2 for a normal x; |value| <= 1 + e^l, so the tails are below e^-350."""

    def integrand(x: Ball, analytic: bool) -> Ball:
        return value(shift * x - shift**2 / 2, analytic) * (-x * x / 2).exp()

    rest = flint.arb(0).union(flint.arb(350).exp() ** -1)
    return (_integral(integrand, -REACH, REACH) + rest) / (2 * flint.arb.pi()).sqrt()


def _under_laplace(value: Callable[[Ball, bool], Ball], step: Ball) -> Ball:
    """Integrate against l = -e with chance 1/2, +e with chance e^-e / 2, and the density e^(-(l + e)/2) / 4 between."""

    def integrand(x: Ball, analytic: bool) -> Ball:
        return value(x, analytic) * (-(x + step) / 2).exp() / 4

    ends = value(-step, False) / 2 + (-step).exp() / 2 * value(step, False)
    return ends.real + _integral(integrand, -step, step)


def _integral(integrand: Callable[[Ball, bool], Ball], low: Ball, high: Ball) -> Ball:
    return flint.acb.integral(integrand, low, high, rel_tol=flint.arb(ACCURACY), abs_tol=flint.arb(10) ** -120).real

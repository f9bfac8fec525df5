"""Truths that have no closed form, by the contour integral in balls: slow, so their digits are kept in `truths`.

For c > 0 and M(s) the mean of e^(sL) under P, delta(epsilon) is the integral of M(s) e^(-s epsilon) / (s (s + 1)) over
the line Re s = c, divided by 2 pi i. The trapezoid rule with step h sums exactly delta(epsilon) plus, for every m != 0,
e^(c m w) delta(epsilon + m w) with w = 2 pi / h (Poisson's summation formula); each is bounded below by 0 and above by
1 (m < 0) or by Chernoff's bound at another order (m > 0). What is left out beyond the last node T is bounded by what
is known of |M| there, and every M at a node is itself a ball.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import count

import flint

from tests.privacy.accounting.references import BITS, Ball, ball, precise

Moment = Callable[[Ball], Ball]
Magnitude = Callable[[Ball], Ball]


@dataclass(frozen=True)
class Contour:
    """The composition of all moments on the line through `order`; `ceiling(t)` bounds |M(order + it')| for t' >= t."""

    moment: Moment
    ceiling: Magnitude
    order: float
    step: float
    last: float

    @cached_property
    def _weights(self) -> list[Ball]:
        """M(s) / (s (s + 1)) at the nodes, h / 2 pi and the two conjugate halves included."""
        with flint.ctx.workprec(BITS):
            found = []
            for index in count():
                t = index * ball(self.step)
                if t > self.last:
                    break
                s = flint.acb(ball(self.order), t)
                found.append(
                    self.moment(s) / (s * (s + 1)) * ball(self.step) / flint.arb.pi() / (2 if index == 0 else 1)
                )
            return found

    @precise
    def delta(self, epsilon: object) -> Ball:
        """Enclose delta at one epsilon."""
        level, order, step = ball(epsilon), ball(self.order), ball(self.step)
        total = flint.arb(0)
        for index, weight in enumerate(self._weights):
            total += (weight * flint.acb(0, -index * step * level).exp()).real
        total *= (-order * level).exp()
        return total + self._beyond(level).union(-self._beyond(level)) - self._aliases(level).union(flint.arb(0))

    def _beyond(self, level: Ball) -> Ball:
        """Bound the terms beyond the last node, where |s (s + 1)| > t^2: their sum is at most (1 + h/T) / T."""
        last = (len(self._weights) - 1) * ball(self.step)
        size = self.ceiling(last) * (-ball(self.order) * level).exp()
        return size * (1 + ball(self.step) / last) / last / flint.arb.pi()

    def _aliases(self, level: Ball) -> Ball:
        """Bound the repetitions by geometric sums; delta(e) <= M(r) e^(-r e) for every order r > 0."""
        order, turn = ball(self.order), 2 * flint.arb.pi() / ball(self.step)
        below = (-order * turn).exp()
        higher = 2 * order
        above = self.moment(flint.acb(higher)).real * (-higher * level).exp()
        return below / (1 - below) + above * below / (1 - below)


def laplace(scales: Sequence[object], repetitions: int, *, order: float, step: float, last: float) -> Contour:
    """Compose Laplace losses, each of the given scales `repetitions` times.

    M(s) = (e^(se) + e^(-(s+1)e)) / 2 + (e^(se) - e^(-(s+1)e)) / (2 (2s + 1)): two atoms and the part between them,
    which is at most (e^(ce) - e^(-(c+1)e)) / (4t) in size.
    """

    def moment(s: Ball) -> Ball:
        total = flint.acb(1)
        for scale in scales:
            up, down = (s / ball(scale)).exp(), (-(s + 1) / ball(scale)).exp()
            total *= (up + down) / 2 + (up - down) / (2 * (2 * s + 1))
        return total**repetitions

    def ceiling(t: Ball) -> Ball:
        total, c = flint.arb(1), ball(order)
        for scale in scales:
            up, down = (c / ball(scale)).exp(), (-(c + 1) / ball(scale)).exp()
            total *= (up + down) / 2 + (up - down) / (4 * t)
        return total**repetitions

    return Contour(moment, ceiling, order, step, last)


def subsampled_gaussian(
    rate: object, sigma: object, repetitions: int, *, removing: bool, order: float, step: float, last: float
) -> Contour:
    """Compose Poisson-subsampled Gaussian losses, in one direction.

    With y = 1 - rate + rate e^((2x - 1) / 2 sigma^2) under Q = N(0, sigma^2), removing has M(s) the mean of y^(1 + s),
    and adding, whose loss is -log y, the mean of y^-s. For large t, integration by parts bounds |M| by the total
    variation of density / (d loss / dx) over t.
    """

    def moment(s: Ball) -> Ball:
        return _mixture_moment(rate, sigma, s + 1 if removing else -s) ** repetitions

    def ceiling(t: Ball) -> Ball:
        return (_variation(rate, sigma, order + 1 if removing else -order) / t) ** repetitions

    return Contour(moment, ceiling, order, step, last)


def _mixture_moment(rate: object, sigma: object, power: Ball) -> Ball:
    """Integrate y^power against the normal density, in units of sigma; beyond 24 it is bounded.

    There |y^power| is at most e^(r (|x| / sigma + 1 / 2 sigma^2)) for a real part r >= 0, and (1 - rate)^r for r < 0.
    Inside, the integrator of balls bounds its own error.
    """
    share, width = ball(rate), ball(sigma)

    def integrand(x: Ball, analytic: bool) -> Ball:
        y = 1 - share + share * (x / width - 1 / (2 * width**2)).exp()
        return (y.log(analytic=analytic) * power - x * x / 2).exp()

    reach, large = 24, abs(power.imag) > 64
    # far out only the smallness of M matters, not its digits
    relative, absolute = (
        (flint.arb(2) ** -30, flint.arb(2) ** -30) if large else (flint.arb(2) ** -150, flint.arb(2) ** -200)
    )
    size = power.real.max(flint.arb(0)).upper()
    inside = flint.acb.integral(integrand, -reach, reach, rel_tol=relative, abs_tol=absolute)
    tail = 2 * (size / width * reach + size / (2 * width**2) - flint.arb(reach) ** 2 / 2).exp() / (reach - size / width)
    if power.real < 0:
        tail *= (1 - share) ** power.real
    rest = flint.acb(tail.union(-tail), tail.union(-tail))
    return (inside + rest) / (2 * flint.arb.pi()).sqrt()


def _variation(rate: object, sigma: object, power: object) -> Ball:
    """Bound the total variation of g = density y^power / (d log y / dx), the integral of |g'|, by suprema over cells.

    With l = x / sigma - 1 / (2 sigma^2) and x in units of sigma, log g = -x^2/2 + (power + 1) log y - l + constant,
    so g' = g (-x + ((power + 1) w - 1) / sigma) with w = rate e^l / y between 0 and 1.
    """
    share, width, top = ball(rate), ball(sigma), ball(power) + 1
    total, reach, cells = flint.arb(0), 24, 32
    for cell in range(-reach * cells, reach * cells):
        x = (flint.arb(cell) / cells).union(flint.arb(cell + 1) / cells)
        lift = (x / width - 1 / (2 * width**2)).exp()
        y = 1 - share + share * lift
        g = (-x * x / 2 + top * y.log()).exp() / lift * width / share
        total += (g * (-x + (top * share * lift / y - 1) / width)).abs_upper() / cells
    # beyond the reach the integrand is below e^(-100) for what is used here: sigma >= 1, |power| < 9, rate >= 0.001
    return (total + flint.arb(10) ** -20) / (2 * flint.arb.pi()).sqrt()

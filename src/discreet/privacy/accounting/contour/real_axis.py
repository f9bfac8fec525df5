"""The real axis: the sum of all log-moments, the Renyi bounds it gives, and the order at which a line is laid."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

from discreet.privacy.accounting.contour.factor import Factor, Unsuitable
from discreet.privacy.accounting.floats import UNIT

_LEAST_ORDER, _LARGEST_ORDER = 1e-6, 1e12
_OFF_CENTRE = 0.1
_GOLDEN, _SECTIONS = (5**0.5 - 1) / 2, 12
_NEWTON_STEPS, _NEAR = 40, 0.05


class Moments:
    """The sum of all K on the real axis. Values are kept, but a question uses only the orders it asked for itself.

    So an answer does not depend on what was asked before.
    """

    def __init__(self, factors: list[Factor]) -> None:
        """Start with no order known."""
        self.factors = factors
        # by how they were asked for: orders asked together, or with slopes, may differ in the last digit
        self._kept: dict[tuple[float, ...], list[tuple[float, float]]] = {}
        self._slopes: dict[float, tuple[tuple[float, float], tuple[float, float]]] = {}
        self.known: dict[float, tuple[float, float]] = {}

    def begin(self) -> None:
        """Start a new question."""
        self.known = {}

    def __call__(self, order: float) -> float:
        """Return an upper bound on K(order), infinite where it cannot be computed."""
        if order not in self.known:
            self.ask([order])
        value, error = self.known[order]
        return value + error

    def ask(self, orders: list[float]) -> None:
        """Make K known at several orders at once."""
        key = tuple(orders)
        if key not in self._kept:
            moments = (factor.log_moments(orders) for factor in self.factors)
            self._kept[key] = [_total(pairs) for pairs in zip(*moments, strict=True)]
        for order, found in zip(orders, self._kept[key], strict=True):
            self.known.setdefault(order, found)

    def slopes(self, order: float) -> tuple[float, float]:
        """Return about K' and K'' at an order: the mean and the variance of the tilted loss."""
        if order not in self._slopes:
            try:
                found = [factor.local(order) for factor in self.factors]
            except Unsuitable:
                found = [((math.inf, math.inf), (math.inf, math.inf))]
            slopes = sum(slope[0] for _, slope in found), sum(slope[1] for _, slope in found)
            self._slopes[order] = _total([moment for moment, _ in found]), slopes
        moment, slopes = self._slopes[order]
        self.known.setdefault(order, moment)
        return slopes

    def log_delta(self, epsilon: float) -> tuple[float, float]:
        """Return the least Chernoff bound on ln(delta - infinite mass) that was found, and its order."""

        def excess(order: float) -> tuple[float, float]:
            mean, variance = self.slopes(order)
            return mean - epsilon - math.log1p(1 / order), variance + 1 / (order * (order + 1))

        order = self._stationary(excess, lambda s: self(s) - s * epsilon + log_constant(s))
        value, constant = self(order), log_constant(order)
        return value - order * epsilon + constant + UNIT * (abs(value) + abs(order * epsilon) + abs(constant)), order

    def epsilon(self, log_delta: float) -> tuple[float, float]:
        """Return the least epsilon at which a Chernoff bound reaches a delta, and its order: the Renyi answer."""

        def excess(order: float) -> tuple[float, float]:
            mean, variance = self.slopes(order)
            total = self(order) + log_constant(order) - log_delta
            return mean - math.log1p(1 / order) - total / order, variance + 1 / (order * (order + 1))

        order = self._stationary(excess, lambda s: (self(s) + log_constant(s) - log_delta) / s)
        value, constant = self(order), log_constant(order)
        rounding = UNIT * (abs(value) + abs(constant) + abs(log_delta))
        return (value + constant - log_delta + rounding) / order, order

    def _stationary(self, excess: Callable[[float], tuple[float, float]], objective: Callable[[float], float]) -> float:
        """Return about where an increasing function of the order is 0, by Newton steps inside a growing bracket.

        Orders at which a moment cannot be computed count as too large. Any order gives a bound; a good one a good one.
        """
        end = min([_LARGEST_ORDER, *(order for factor in self.factors for order in factor.special)])
        low, high, order = _LEAST_ORDER, end, min(1.0, end)
        for _ in range(_NEWTON_STEPS):
            if all(map(math.isfinite, self.slopes(order))) and math.isfinite(self(order)):
                gap, slope = excess(order)
                low, high = (low, order) if gap > 0 else (order, high)
                trial = order - gap / slope
            else:
                high, trial = order, order / 3
            trial = min(max(trial, order / 4, low), order * 4, high)
            if abs(trial - order) <= _NEAR * order:
                break
            order = trial if low < trial < high or trial == end else math.sqrt(low * high)
        while not math.isfinite(self(order)) and order > _LEAST_ORDER:
            order /= 3
        return self._settled(order, end, objective)

    def _settled(self, order: float, end: float, objective: Callable[[float], float]) -> float:
        """Walk on while a neighbouring order is better: a sharp bend of K can stop Newton's steps short of it.

        The neighbours also serve for bounds on aliases.
        """
        for _ in range(_NEWTON_STEPS):
            nearby = [min(part * order, end) for part in (0.6, 1.2, 1.8)]
            self.ask(nearby)
            better = min(nearby, key=objective)
            if not objective(better) < objective(order) - 1e-3 * abs(objective(order)):
                break
            order = better
        return order

    def left(self, epsilon: float) -> tuple[float, float]:
        """Return the size of the integrand's logarithm at the best order in (-1, 0), and that order."""

        def size(share: float) -> float:
            order = -1 / (1 + math.exp(-share))
            return self(order) - order * epsilon - math.log(-order * (1 + order))

        low, high = -12.0, 12.0
        for _ in range(_SECTIONS):
            left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
            low, high = (low, right) if size(left) <= size(right) else (left, high)
        share = (low + high) / 2
        if abs(share) < _OFF_CENTRE:  # some closed forms divide by s + 1/2
            share = math.copysign(_OFF_CENTRE, share)
        return size(share), -1 / (1 + math.exp(-share))


def _total(moments: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """Return the sum of K over factors and that of its errors, infinite where one of them is."""
    value, error = (math.fsum(ends) for ends in zip(*moments, strict=True))
    return (value, error) if math.isfinite(value + error) else (math.inf, math.inf)


def log_constant(order: float) -> float:
    """Return ln of the least C with (1 - e^-x)^+ <= C e^(order x) for all x: order^order/(order+1)^(order+1).

    For orders in [-1, 0] it is the C = 1 with min(1, e^-x) <= C e^(order x).
    """
    if order <= 0:
        return 0.0
    return -order * math.log1p(1 / order) - math.log1p(order) + 4e-16 * (1 + math.log1p(order))

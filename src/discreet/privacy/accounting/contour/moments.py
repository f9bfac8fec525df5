"""What the contour engine knows of a group of releases: moments of their losses on the real line and beside it.

For a loss L with law P write M(s) = E[e^(s L); L finite], K = ln M. Tilting P by e^(c L) gives a law with
characteristic function phi(t) = M(c + i t)/M(c). Independent losses add, so K and ln phi add: a `Factor` is a group of
releases of one family, each with its multiplicity, that returns those sums together with bounds on their errors.

`Moments` is the sum over all factors on the real axis, with the Renyi bounds it gives and the order at which a line is
laid.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.privacy.accounting.floats import UNIT, Complexes, Floats

Indices = NDArray[np.intp]
_WITNESSES, _CHUNK = 64, 1 << 19
_COLUMNS = ("log", "error", "ceiling")
_CLEAR = -50.0
_LEAST_ORDER, _LARGEST_ORDER = 1e-6, 1e12
_OFF_CENTER = 0.1
_GOLDEN, _SECTIONS = (5**0.5 - 1) / 2, 12
_NEWTON_STEPS, _NEAR = 40, 0.05


class Unsuitable(Exception):
    """The contour would need too much work here: another engine must answer."""


@dataclass(frozen=True, slots=True)
class Spectrum:
    """ln Phi at nodes t (summed over releases), a bound on its absolute error, and a bound on ln |Phi| from above."""

    log: Complexes
    error: Floats
    ceiling: Floats

    def __add__(self, other: Spectrum) -> Spectrum:
        log = self.log + other.log
        rounding = 2.0**-52 * np.abs(log)
        return Spectrum(log, self.error + other.error + rounding, self.ceiling + other.ceiling)


class Factor(ABC):
    """A group of releases of one family; `counts` holds how often each occurs."""

    counts: Floats
    log_finite: tuple[float, float] = (0.0, 0.0)
    """Bounds on the sum of counts * ln P(L finite): 0 where no loss is infinite."""

    patient = False
    """Whether many nodes are worth their time: small samples of a table need them, and the lattice does no better."""

    @property
    def work(self) -> int:
        """How many terms one node costs."""
        return len(self.counts)

    @abstractmethod
    def log_moment(self, order: float) -> tuple[float, float]:
        """Return the sum of counts * K(order) for a real order > 0, and a bound on its error."""

    def log_moments(self, orders: list[float]) -> list[tuple[float, float]]:
        """Return the same for several orders."""
        return [self.log_moment(order) for order in orders]

    special: list[float] = []  # noqa: RUF012  never changed
    """Orders beyond which nothing is known."""

    def slopes(self, order: float) -> tuple[float, float]:
        """Return about the sums of counts * K' and counts * K'': ln phi(t) is i t K' - t^2 K''/2 for small t."""
        spread = max(float(np.max(self.variances(order))), 1e-300)
        node = 1e-2 / math.sqrt(spread)
        log = complex(self.counts @ self.logs(order, np.array([node]))[0][:, 0])
        return log.imag / node, -2 * log.real / (node * node)

    def local(self, order: float) -> tuple[tuple[float, float], tuple[float, float]]:
        """Return the moment with its error, and the slopes, at one order."""
        return self.log_moment(order), self.slopes(order)

    @abstractmethod
    def values(self, order: float, nodes: Floats) -> tuple[Complexes, Floats]:
        """Return phi at the nodes for each release (rows), and bounds on the absolute errors; tilted by `order`."""

    @abstractmethod
    def variances(self, order: float) -> Floats:
        """Return upper bounds on the variances of the tilted losses, one for each release."""

    def far(self, order: float, start: float) -> float:  # noqa: ARG002  for families whose phi decays
        """Return an upper bound on ln |Phi(t)| for all t >= start."""
        return 0.0

    needs_short_intervals: bool = True
    """Whether `ceilings` are only good over intervals short beside the inverse spread of the losses."""

    @property
    def lattice(self) -> tuple[float, float, float] | None:
        """Offset and step if all losses of one release lie on offset + step * integers, and how far off at most."""
        return None

    def logs(self, order: float, nodes: Floats) -> tuple[Complexes, Floats, Floats]:
        """Return ln phi at the nodes for each release, bounds on the errors, and bounds on ln |phi| from above.

        The error is infinite where phi may be 0.
        """
        values, errors = self.values(order, nodes)
        sizes = np.abs(values)
        with np.errstate(all="ignore"):
            relative = np.where(errors < sizes / 2, errors / sizes, np.inf)
            logs = np.log(np.where(sizes > 0, values, 1e-300))
        # |ln(1 + z)| <= 2|z| for |z| <= 1/2
        return logs, 2 * relative + 2.0**-50 * np.abs(logs) + 2.0**-52, log_height(sizes + errors)

    def heights(self, order: float, nodes: Floats) -> Floats:
        """Return bounds on ln |phi| from above, at the nodes for each release."""
        values, errors = self.values(order, nodes)
        return log_height(np.abs(values) + errors)

    def spectrum(self, order: float, nodes: Floats) -> Spectrum:
        """Return the sum over releases of counts * ln phi at the nodes, some nodes at a time to spare memory."""
        size = max(_CHUNK // len(self.counts), 1)
        parts = [self._spectrum(order, nodes[first : first + size]) for first in range(0, len(nodes), size)]
        if len(parts) == 1:
            return parts[0]
        return Spectrum(*(np.concatenate([getattr(part, name) for part in parts]) for name in _COLUMNS))

    def _spectrum(self, order: float, nodes: Floats) -> Spectrum:
        logs, errors, ceilings = self.logs(order, nodes)
        rounding = 2.0**-52 * (2 + len(self.counts)) * np.abs(logs)  # of the products and of the sum over releases
        ceiling = np.asarray(self.counts @ ceilings * (1 - 1e-12))
        return Spectrum(np.asarray(self.counts @ logs), np.asarray(self.counts @ (errors + rounding)), ceiling)

    def ceilings(self, order: float, starts: Floats, ends: Floats) -> Floats:
        """Return upper bounds on ln |Phi| over each of several intervals of t.

        |phi|^2 = E cos(t D), with D the difference of two independent tilted losses; its derivative in t is at most
        min(E|D|, t E D^2) <= min(sqrt(2 v), 2 v t), v the variance. So |phi|^2 on an interval is at most its value at
        the middle plus half the length times that. Releases left out are bounded by |phi| <= 1.
        """
        ranked = np.argsort(-self.counts * self.variances(order), kind="stable")
        bounds, first, size = np.zeros(len(starts)), 0, _WITNESSES
        while first < len(ranked):
            unclear = bounds > _CLEAR
            if not np.any(unclear):
                break
            chosen, places = ranked[first : first + size], np.flatnonzero(unclear)
            rows = max(_CHUNK // len(chosen), 1)
            for start in range(0, len(places), rows):
                part = places[start : start + rows]
                bounds[part] += self._interval_bounds(order, starts[part], ends[part], chosen)
            first, size = first + size, 2 * size
        return bounds

    def _interval_bounds(self, order: float, starts: Floats, ends: Floats, chosen: Indices) -> Floats:
        """Bound ln |Phi| over intervals for some of the releases."""
        part = self.restricted(chosen)
        spreads = part.variances(order)[:, None]
        heights = part.heights(order, (starts + ends) / 2)
        slope = np.minimum(np.sqrt(2 * spreads), 2 * spreads * ends) * ((ends - starts) / 2) * (1 + 1e-12)
        # |phi|^2 - 1 at the middle, without cancellation
        middle = np.expm1(2 * heights)
        rise = np.minimum(middle * (1 - 1e-12) + slope, 0.0)
        return np.asarray(part.counts @ (np.log1p(np.maximum(rise, -1 + 1e-16)) / 2 * (1 - 1e-12)))

    def restricted(self, chosen: Indices) -> Factor:  # noqa: ARG002  for families of several releases
        """Return the factor of some of the releases; a single one is always all of it."""
        return self


def log_height(size: Floats) -> Floats:
    """Return the logarithm of a bound on |phi|, which is at most 1, rounded up."""
    return np.asarray(np.minimum(np.log(np.minimum(size, 1.0) + 1e-300) + 2.0**-51, 0.0))


def log_one_more(more: Complexes, errors: Floats) -> tuple[Complexes, Floats]:
    """Return ln(1 + z) without cancellation where z is small, and bounds on the errors; infinite where 1 + z may be 0.

    |ln(1 + z)| <= 2|z| for |z| <= 1/2; |1 + z|^2 - 1 is known to a unit of 4|z|.
    """
    sizes, small = np.abs(1 + more), np.abs(more) < 0.5
    square = np.where(small, 2 * more.real + more.real**2 + more.imag**2, 0.0)
    with np.errstate(all="ignore"):
        size = np.where(small, np.log1p(square) / 2, np.log(np.maximum(sizes, 1e-300)))
        relative = np.where(errors < sizes / 2, errors / sizes, np.inf)
    logs = size + 1j * np.arctan2(more.imag, 1 + more.real)
    return logs, 2 * relative + UNIT * (np.where(small, 8 * np.abs(more), 2.0) + np.abs(logs))


class Moments:
    """The sum of all K on the real axis. Values are kept, but a question uses only the orders it asked for itself.

    So an answer does not depend on what was asked before.
    """

    def __init__(self, factors: list[Factor]) -> None:
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
        """Walk on while a neighboring order is better: a sharp bend of K can stop Newton's steps short of it.

        The neighbors also serve for bounds on aliases.
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
        if abs(share) < _OFF_CENTER:  # some closed forms divide by s + 1/2
            share = math.copysign(_OFF_CENTER, share)
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

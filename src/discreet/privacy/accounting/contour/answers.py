"""Answers of the contour engine: delta at an epsilon, epsilon at a delta, with certified ends."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass

from discreet.errors import AssumptionFailed
from discreet.laws import Enclosure
from discreet.privacy.accounting.contour.atoms import AtomsFactor
from discreet.privacy.accounting.contour.families import ClaimFactor
from discreet.privacy.accounting.contour.integral import Contour, Kernel, LatticeKernel, LineKernel, alias_window
from discreet.privacy.accounting.contour.moments import Factor, Moments, Unsuitable
from discreet.privacy.accounting.floats import UNIT, bounded, ensure_tested

_STEPS, _WIDENINGS, _HALVINGS = 60, 40, 60
_RELATIVE, _COARSE, _FINER, _LARGEST_SMOOTHING = 1e-6, 1e-4, 4, 0.25
_SMOOTHED = "contour integral, smoothed"
_ORDERS, _LONGER = (0.6, 0.36, 0.2), 2.0
_LARGE_DELTA, _LARGER_DELTA, _BELOW_FLOATS = 0.05, 0.4, -745.0


@dataclass(frozen=True, slots=True)
class _Road:
    """One way to set up the contour: moments, order, kernel, smoothing, and how far epsilon may be off."""

    moments: Moments
    order: float
    kernel: Kernel
    smoothing: float
    slop: float
    method: str


class ContourEngine:
    """The contour engine for one direction of one composition."""

    def __init__(self, factors: list[Factor]) -> None:
        self.factors = factors
        self.moments = Moments(factors)
        self.steepness = 1.0  # about how fast ln delta fell with epsilon where delta was last asked for
        ensure_tested()
        low, high = (sum(factor.log_finite[end] for factor in factors) for end in (0, 1))
        # what a guarantee allows to be infinite need not be: it counts from above only
        high = 0.0 if any(isinstance(factor, ClaimFactor) for factor in factors) else high
        self.infinite = (abs(-math.expm1(high) * (1 - UNIT)), min(-math.expm1(low) * (1 + UNIT), 1.0))

    def epsilon(self, delta: float, tolerance: float | None) -> Enclosure:
        """Bound the least epsilon >= 0 with delta(epsilon) <= delta."""
        room, most_room = delta - self.infinite[1], delta - self.infinite[0]
        if room <= 0:
            if most_room > 0:
                return Enclosure(0.0, math.inf, math.inf, "some mass at infinity")
            return Enclosure.exact(math.inf, method="mass at infinity")
        goals = math.log(room) - UNIT * (1 - math.log(room)), math.log(most_room) + UNIT * (1 - math.log(most_room))
        self.moments.begin()
        ceiling, order = self.moments.epsilon(goals[0])
        if ceiling <= 0:
            return Enclosure.exact(0.0, method="Renyi bound on the real axis")
        best = bounded(0.0, ceiling, ceiling, "Renyi bound on the real axis")

        def asked(road: _Road) -> Enclosure:
            return _solved(
                Contour(road.moments, road.order, ceiling, road.kernel, road.smoothing), road, ceiling, goals
            )

        def wanted(found: Enclosure) -> float:
            return tolerance if tolerance is not None else _RELATIVE * found.upper

        best = self._travelled(best, order, ceiling, asked, wanted, wanted)
        if delta > _LARGE_DELTA and best.upper - best.lower > wanted(best):
            return met(best, self._halved(delta, best, wanted(best)))
        return best

    def _travelled(
        self,
        best: Enclosure,
        order: float,
        epsilon: float,
        ask: Callable[[_Road], Enclosure],
        wanted: Callable[[Enclosure], float],
        in_epsilon: Callable[[Enclosure], float],
    ) -> Enclosure:
        """Intersect the answers of the roads until one is narrow enough.

        For a wide tolerance a smoothed sum is enough, which has few nodes. Else smoothing helps where the nodes without
        it would be too many, and not where their rounding is what is wide. Its size follows from the width wanted in
        epsilon, which is known better once there is an answer.
        """
        if in_epsilon(best) >= _COARSE * max(epsilon, 1e-3) and not self._has_lattice:
            with suppress(Unsuitable):
                best = met(best, ask(self._smoothed(order, epsilon, self._smoothing(order, in_epsilon(best)))))
            if best.upper - best.lower <= wanted(best):
                return best
        rounded = False
        for road in self._roads(order, epsilon):
            try:
                best = met(best, ask(road))
                rounded = road.slop == 0
            except Unsuitable:
                continue
            if best.upper - best.lower <= wanted(best):
                return best
        if rounded:
            return best
        size, last = self._smoothing(order, in_epsilon(best)), math.inf
        for _ in range(_FINER):
            before = best
            for part in (size, 2 * size, 4 * size, 16 * size, 64 * size):
                if min(part, _LARGEST_SMOOTHING) >= 0.9 * last:
                    return best
                try:
                    best = met(best, ask(self._smoothed(order, epsilon, part)))
                except Unsuitable:
                    continue
                last = min(part, _LARGEST_SMOOTHING)
                break
            narrow = wanted(best) / max(best.upper - best.lower, 1e-300)
            if narrow >= 1 or last == math.inf or best.lower == 0 or best.width > before.width / 2:
                return best
            # its cost is of the second order
            size = min(self._smoothing(order, in_epsilon(best)), last * math.sqrt(0.4 * narrow))
        return best

    def _halved(self, delta: float, start: Enclosure, wanted: float) -> Enclosure:
        """Narrow an interval by asking delta at its middle; for large deltas, where one line does not serve all."""
        low, high, method = start.lower, start.upper, start.method
        if (found := self.delta(low, wanted)).upper <= delta:
            return Enclosure.exact(low, method=found.method)
        for _ in range(_HALVINGS):
            if high - low <= wanted:
                break
            middle = (low + high) / 2
            found = self.delta(middle, wanted)
            if found.upper <= delta:
                high, method = middle, found.method
            elif found.lower > delta:
                low, method = middle, found.method
            else:
                break
        return bounded(low, (low + high) / 2, high, method)

    def log_moment(self, order: float) -> tuple[float, float]:
        """Return K at an order and its error."""
        self.moments.begin()
        self.moments(order)
        return self.moments.known[order]

    def ceiling(self, delta: float) -> float:
        """Return the Renyi bound on epsilon."""
        room = delta - self.infinite[1]
        self.moments.begin()
        return max(self.moments.epsilon(math.log(room) - UNIT * (1 - math.log(room)))[0], 0.0) if room > 0 else math.inf

    def delta_ceiling(self, epsilon: float) -> float:
        """Return the Renyi bound on delta."""
        self.moments.begin()
        return min(_exp_up(self.moments.log_delta(epsilon)[0]) + self.infinite[1], 1.0)

    def delta(self, epsilon: float, tolerance: float | None) -> Enclosure:
        """Bound delta at an epsilon, the mass at infinity included."""
        if self.infinite[0] >= 1:
            return Enclosure.exact(1.0, method="mass at infinity")
        self.moments.begin()
        ceiling, order = self.moments.log_delta(epsilon)
        high = min(_exp_up(ceiling) + self.infinite[1], 1.0)
        best = bounded(self.infinite[0], high, high, "Renyi bound on the real axis")
        wanted = tolerance if tolerance is not None else _RELATIVE * max(epsilon, 1e-3)
        if ceiling < _BELOW_FLOATS:  # no float tells it from 0
            return best
        if ceiling > math.log(_LARGER_DELTA):
            size, left = self.moments.left(epsilon)
            if size < self.moments(order) - order * epsilon - math.log(order * (order + 1)):
                order = left

        def asked(road: _Road) -> Enclosure:
            return self._along(Contour(road.moments, road.order, epsilon, road.kernel, road.smoothing), road, epsilon)

        self.steepness = max(order, 1.0)
        return self._travelled(
            best, order, epsilon, asked, lambda found: wanted * self.steepness * found.upper, lambda _: wanted
        )

    def _along(self, contour: Contour, road: _Road, epsilon: float) -> Enclosure:
        """Read delta off a contour; left of 0 the integral is what delta lacks to 1."""
        low = contour.value(epsilon + road.slop)
        top = contour.value(epsilon - road.slop) if road.slop else low
        if contour.order > 0:
            return bounded(
                min(_exp_down(low.log.lower) + self.infinite[0], 1.0) * (1 - 2.0**-52),
                min(math.exp(min(low.log.estimate, 0.0)) + self.infinite[0], 1.0),
                min((_exp_up(top.log.upper) + self.infinite[1]) * (1 + 2.0**-52), 1.0),
                road.method,
            )
        # delta = 1 - integral, infinite losses or not; it falls with epsilon, so the integral grows. A mass that may or
        # may not be infinite is not in the integral
        return bounded(
            max((1 - _exp_up(low.log.upper) - (self.infinite[1] - self.infinite[0])) * (1 - 2.0**-52), 0.0),
            max(1 - math.exp(min(low.log.estimate, 0.0)), 0.0),
            min((1 - _exp_down(top.log.lower)) * (1 + 2.0**-52), 1.0),
            road.method,
        )

    def _smoothing(self, order: float, width: float) -> float:
        """Return the size of a smoothing that costs about an eighth of a width of epsilon."""
        return math.sqrt(width / (abs(order) + 1)) / 2

    def _smoothed(self, order: float, epsilon: float, size: float) -> _Road:
        """Set up the contour with a smoothing."""
        where = self._orders(order, epsilon)[0]
        return _Road(self.moments, where, LineKernel(), min(size, _LARGEST_SMOOTHING), 0.0, _SMOOTHED)

    @property
    def _has_lattice(self) -> bool:
        """Whether the losses lie on a lattice."""
        return len(self.factors) == 1 and self.factors[0].lattice is not None

    def _roads(self, order: float, epsilon: float) -> Iterator[_Road]:
        """Yield ways to set up the contour without smoothing, the sharpest first."""
        if len(self.factors) == 1 and self.factors[0].lattice is not None:
            yield self._on_lattice(self.factors[0], self.factors[0].lattice, order)
        for one in self._orders(order, epsilon):
            yield _Road(self.moments, one, LineKernel(), 0.0, 0.0, "contour integral")

    def _orders(self, order: float, epsilon: float) -> list[float]:
        """Return where to lay the line: at the saddle, or where rare large losses make its window long, left of it.

        There K bends sharply just right of the saddle, and bounds on the aliases at other orders are poor.
        """
        if order <= 0:
            return [order]
        windows = {one: self._window(one, epsilon) for one in (order, _ORDERS[0] * order)}
        if windows[order] <= _LONGER * min(windows.values()):
            return [order]
        windows |= {part * order: self._window(part * order, epsilon) for part in _ORDERS[1:]}
        found = sorted((one for one in windows if math.isfinite(windows[one])), key=lambda one: windows[one])
        return found[:2] or [order]

    def _window(self, order: float, epsilon: float) -> float:
        """Return the distance of aliases on the line at an order; infinite where there is none."""
        self.moments(order)
        try:
            return alias_window(self.moments, order, epsilon)
        except Unsuitable:
            return math.inf

    def _on_lattice(self, factor: Factor, found: tuple[float, float, float], order: float) -> _Road:
        """Set up the sum over one period; losses moved to the lattice move epsilon by as much, times their number."""
        offset, step, off = found
        count = float(factor.counts[0])
        snapped = factor.snapped(offset, step) if isinstance(factor, AtomsFactor) else factor
        moments = self.moments if snapped is factor else Moments([snapped])
        if moments is not self.moments:  # the aliases are bounded by moments at a few other orders
            for other in _spread(self.moments.known):
                moments(other)
        slop = count * off * (1 + UNIT) + UNIT * abs(count * offset)
        return _Road(moments, order, LatticeKernel(count * offset, step), 0.0, slop, "contour integral over one period")


def _spread(orders: Iterable[float]) -> list[float]:
    """Return a dozen orders of those given, evenly in rank."""
    ranked = sorted(orders)
    return ranked[:: max(len(ranked) // 12, 1)]


def _solved(contour: Contour, road: _Road, ceiling: float, goals: tuple[float, float]) -> Enclosure:
    """Find where ln delta passes the goal, then widen both ends until each is certain."""
    low, high, here = 0.0, ceiling, ceiling
    for _ in range(_STEPS):
        value = contour.value(here)
        gap = value.log.estimate - goals[0]
        if value.log.estimate == -math.inf and here > 0:  # below what rounding leaves there
            high, here = here, (low + here) / 2
            continue
        if not math.isfinite(value.log.estimate):
            raise Unsuitable
        low, high = (here, high) if gap > 0 else (low, here)
        if abs(gap) < 1e-13 * (1 + abs(goals[0])) or high - low <= 4e-16 * high:
            break
        trial = here + gap / max(-value.slope, 1e-12)
        trial = trial if low < trial < high else (low + high) / 2
        if here in (0.0, trial):
            break
        here = 0.0 if trial < 1e-12 * ceiling and low == 0.0 else trial
    slope = max(-contour.value(here).slope, 1e-12)
    upper = _certain(contour, here, slope, goals[0], up=True)
    lower = _certain(contour, here, slope, goals[1], up=False)
    if upper is None:
        raise Unsuitable
    nothing = upper == 0.0 and (road.slop == 0.0 or contour.value(-road.slop).log.upper <= goals[0])
    top = 0.0 if nothing else (upper + road.slop) * (1 + 2.0**-52)
    bottom = max(((lower or 0.0) - road.slop) * (1 - 2.0**-52), 0.0)
    return bounded(bottom, here, top, road.method)


def _certain(contour: Contour, start: float, slope: float, goal: float, *, up: bool) -> float | None:
    """Return an epsilon near the start with delta certainly at most (up) or above the goal; None if not found."""
    here, pad = start, 0.0
    for _ in range(_WIDENINGS):
        value = contour.value(here)
        if (value.log.upper <= goal) if up else (value.log.lower > goal):
            return here
        if not up and here == 0.0:
            return 0.0
        need = (value.log.upper - goal if up else goal - value.log.lower) / slope
        pad = max(2 * pad, min(need, 1.0) * 1.01, 4e-16 * here, 1e-300) if math.isfinite(need) else max(2 * pad, 1e-9)
        here = start + pad if up else max(start - pad, 0.0)
    return None if up else 0.0


def met(first: Enclosure, second: Enclosure, *, attained: bool = False) -> Enclosure:
    """Intersect two certified intervals; the guess and the method are those of the narrower.

    If the pairs are attained, two intervals that do not meet mean that something is broken.
    """
    lower, upper = max(first.lower, second.lower), min(first.upper, second.upper)
    if attained and lower > upper:
        raise AssumptionFailed(
            f"two certified answers contradict each other ({first.method}; {second.method}): an assumption about this "
            "machine's floating point does not hold, or discreet has a bug. No price was returned; please report it."
        )
    narrow = second if second.upper - second.lower <= first.upper - first.lower else first
    return bounded(lower, narrow.estimate, upper, narrow.method)


def _exp_up(log: float) -> float:
    """Return a float at or above e^log."""
    return 0.0 if log == -math.inf else math.exp(min(log, 1.0)) * (1 + 2.0**-50) + 5e-324


def _exp_down(log: float) -> float:
    """Return a float at or below e^log."""
    return 0.0 if log < -744 else max(math.exp(min(log, 0.0)) * (1 - 2.0**-50) - 5e-324, 0.0)

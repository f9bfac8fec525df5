"""Answers of the tilted lattice: delta at an epsilon, epsilon at a delta, on finer and finer grids."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

from discreet.errors import AssumptionFailed, ParameterError
from discreet.laws import Enclosure
from discreet.laws.number import round_down, round_up
from discreet.privacy.accounting.effort import Effort
from discreet.privacy.accounting.lattice.cells import TooLarge
from discreet.privacy.accounting.lattice.composition import Composed
from discreet.privacy.accounting.lattice.fft_bounds import UNIT
from discreet.privacy.accounting.lattice.layout import LatticeAnswer, LatticePlan, LatticeTarget, Parts

_METHOD = "tilted lattice: connected dots above, one kernel on both laws below, one Fourier transform"
_STEPS, _SECANTS = 80, 8
_NOTHING = 1e-290
_ROUNDING = 1e-9
_FAR_BELOW = -40.0


def enclose_delta(parts: Parts, epsilon: float, *, tolerance: float, effort: Effort = Effort.USUAL) -> Enclosure:
    """Enclose delta(epsilon) of a composition in one direction; `tolerance` is the relative width wanted.

    Privacy. `upper` holds for every adaptive composition of releases dominated by the given pairs, `lower` for
        independent releases that attain them.
        Proof: docs/concepts/tilted-lattice.
    Cost. Passes with finer grids until the width is reached, at most five, each with transforms of at most 2^22 points
        (2^18 where it is to be quick; five under each of four tilts where it is worth patience); then the best interval
        found is returned, which is sound whatever its width.

    >>> from discreet.privacy.pairs.worst_pairs import PureApproxPair
    >>> bounds = enclose_delta([(PureApproxPair(0.1), 10)], 0.5, tolerance=1e-6)
    >>> round(bounds.upper, 8), bounds.width < 1e-12
    (0.00992963, True)
    """
    level = float(epsilon)
    if math.isnan(level):
        raise ParameterError("epsilon must be a number, got nan", parameter="epsilon")
    _check_tolerance(tolerance)
    plan = LatticePlan(parts, effort=effort, highest=level)
    low, high = plan.infinite()
    largest = plan.largest_loss()[1]
    if low == 1.0 or level == -math.inf:
        return _enclosed(1.0, 1.0)
    if level >= largest or level == math.inf:
        return _enclosed(low, high)
    if level < _FAR_BELOW:  # delta is at least 1 - e^epsilon
        return _enclosed(math.nextafter(1.0, 0.0), 1.0)
    if not plan.kinds:
        return Enclosure.outward(-math.expm1(level), -math.expm1(level), method=_METHOD)
    best = [max(low, plan.alone(lambda pair: pair.delta(level).lower)), 1.0]
    for answer in _answers(plan, LatticeTarget(level, None), tolerance):
        if answer.lower is not None:
            best[0] = max(best[0], _exp_down(answer.lower.log_delta(level, upper=False)))
        best[1] = min(best[1], _exp_up(answer.upper.log_delta(level, upper=True)))
        _keep_in_order(best)
        answer.width = (best[1] - best[0]) / best[1] if best[1] > _NOTHING else 0.0
    return _enclosed(best[0], best[1])


def enclose_epsilon(
    parts: Parts, delta: float, *, tolerance: float, effort: Effort = Effort.USUAL, highest: float = math.inf
) -> Enclosure:
    """Enclose the least epsilon >= 0 with delta(epsilon) <= delta; `tolerance` is the absolute width wanted.

    `highest` may be an epsilon that is known to suffice: a patient answer then needs no cells for losses far above it.

    Privacy. As `enclose_delta`: delta(epsilon) is at most delta at `upper`, and more than delta at `lower` unless that
        is 0.
    Cost. As `enclose_delta`.

    >>> from discreet.privacy.pairs.worst_pairs import NormalPair
    >>> bounds = enclose_epsilon([(NormalPair(1 / 50), 1000)], 1e-5, tolerance=1e-4)
    >>> bounds.lower < 2.594383380 < bounds.upper, bounds.width < 1e-4
    (True, True)
    """
    if not 0 <= delta <= 1:
        raise ParameterError(f"delta must lie in [0, 1], got {delta}", parameter="delta")
    _check_tolerance(tolerance)
    goal, generous = round_down(Fraction(delta)), round_up(Fraction(delta))
    plan = LatticePlan(parts, effort=effort, highest=highest)
    low, high = plan.infinite()
    if goal == 1.0:
        return _enclosed(0.0, 0.0)
    if low > generous:
        return _enclosed(math.inf, math.inf)
    least, largest = (max(end, 0.0) for end in plan.largest_loss())
    if largest == 0.0 and high <= goal:
        return _enclosed(0.0, 0.0)
    if goal == 0.0:
        return _enclosed(least if generous == 0.0 else 0.0, largest if high <= goal else math.inf)
    best = [plan.alone(lambda pair: pair.epsilon(generous).lower), largest if high <= goal else math.inf]
    log_goal, log_generous = math.log(goal), math.log(generous)
    doubt = 8 * UNIT * abs(log_goal)
    for answer in _answers(plan, LatticeTarget(None, log_goal), tolerance):
        above = _level(answer.upper, log_goal - doubt, [answer.mean], upper=True)
        best[1] = min(best[1], above)
        if answer.lower is not None:
            starts = [min(above, best[1]), answer.mean] if math.isfinite(best[1]) else [answer.mean]
            best[0] = max(best[0], min(_level(answer.lower, log_generous + doubt, starts, upper=False), plan.highest))
        _keep_in_order(best)
        answer.width = best[1] - best[0] if best[0] < best[1] else 0.0
    return _enclosed(best[0], best[1])


def _check_tolerance(tolerance: float) -> None:
    if not tolerance > 0:
        raise ParameterError(f"tolerance must be more than 0, got {tolerance}", parameter="tolerance")


def _answers(plan: LatticePlan, target: LatticeTarget, tolerance: float) -> Iterator[LatticeAnswer]:
    """Go through the passes; one that would need too much room, or numbers too large, ends them."""
    try:
        yield from plan.passes(target, tolerance)
    except (TooLarge, OverflowError, MemoryError):
        return


def _keep_in_order(ends: list[float]) -> None:
    """Let ends that crossed by rounding meet; if they crossed by more, one of them is wrong."""
    low, high = ends
    if low > high * (1 + _ROUNDING) + _NOTHING:
        raise AssumptionFailed("the lower bound of an account exceeds its upper bound: this machine's floats are off")
    ends[1] = max(low, high)


def _level(composed: Composed, goal: float, starts: list[float], *, upper: bool) -> float:
    """Return a level >= 0 whose upper bound on ln delta is at most the goal (or whose lower bound is above it).

    Every level returned was tested, so it does not matter how it was found: by secants from a good guess. If none
    passes the test, the answer is infinity (or 0).
    """
    top = max(composed.start + composed.step * len(composed.weight) + composed.shift, 0.0) + composed.step

    def excess(level: float) -> float:
        return composed.log_delta(level, upper=upper) - goal

    known = {level: excess(level) for level in (min(max(start, 0.0), top) for start in starts)}
    if upper:
        known[top] = excess(top)
    slope = composed.theta + 1e-3
    aim = (-1.0 if upper else 1.0) * 1e-13 * (1.0 + abs(goal))
    for step in range(_STEPS):
        level = _next_level(known, aim, slope, top, halve=step >= _SECANTS and step % 2 == 0)
        if level in known:
            break
        value = known[level] = excess(level)
        if (0 >= value >= 4 * aim) if upper else (0 < value <= 4 * aim):
            break
    passed = [level for level, value in known.items() if (value <= 0 if upper else value > 0)]
    return min(passed, default=math.inf) if upper else max(passed, default=0.0)


def _next_level(known: dict[float, float], aim: float, slope: float, top: float, *, halve: bool) -> float:
    """Return where to look next: by a secant between the two nearest results, or halfway where that leads nowhere."""
    finite = {level: value for level, value in known.items() if math.isfinite(value)}
    if not finite:
        return max(known) / 2
    nearest = sorted(finite, key=lambda level: abs(finite[level] - aim))
    here = nearest[0]
    if len(nearest) > 1:
        other = nearest[1]
        drop = (finite[here] - finite[other]) / (other - here)
        slope = drop if drop > 0 else slope
    guess = min(max(here + (finite[here] - aim) / slope, 0.0), top)
    passing = [level for level, value in finite.items() if value > aim]
    if not passing:
        # far below the tilt a bound says nothing (minus infinity): go down from the least level where it says no
        least = min(finite)
        blind = max((level for level in known if level < least), default=0.0)
        if not blind < guess < least and guess not in (0.0, top):
            guess = max(least * (1 - 1e-13 * 8.0 ** len(known)), blind + (least - blind) / 2)
        return guess if guess not in known else blind + (least - blind) / 2
    below = max(passing)
    above = min((level for level, value in known.items() if level > below and value <= aim), default=top)
    inside = below < guess < above or (guess in (0.0, top) and guess not in known)
    return guess if inside and not halve else below + (above - below) / 2


def _exp_up(log: float) -> float:
    """Return e^log rounded up."""
    return min(math.exp(log) * (1 + 8 * UNIT) + 5e-324, 1.0) if log > -math.inf else 0.0


def _exp_down(log: float) -> float:
    """Return e^log rounded down."""
    return math.exp(log) * (1 - 8 * UNIT)


def _enclosed(low: float, high: float) -> Enclosure:
    """Enclose with the guess midway."""
    low, high = low + 0.0, high + 0.0  # no minus zeros
    middle = low if math.isinf(high) else low + (high - low) / 2
    return Enclosure(max(low, 0.0), middle if math.isfinite(low) else high, high, _METHOD)

"""The least noise that meets a target, and the most repetitions that a budget allows; both certified."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from discreet.errors import ParameterError
from discreet.laws import Enclosure
from discreet.laws.number import Number, round_down
from discreet.privacy.loss.loss import PrivacyLoss
from discreet.privacy.numbers import nonnegative, positive, probability, whole
from discreet.privacy.pairs import Side

_START, _MOST_DOUBLINGS, _STEPS, _LARGEST_LOG = 1.0, 200, 60, 600.0
_LOOSE, _SMALL_GAP = 1e-2, 0.2
_ASIDE, _FAR = 1.01, 0.5


class Calibration(float):
    """A noise parameter, as a float that also knows its loss and how near it is to the least.

    `loss` is the certified loss at this parameter; at `refused`, just below, the target is not certified.
    """

    loss: PrivacyLoss
    refused: float

    def __new__(cls, value: float, loss: PrivacyLoss, refused: float) -> Calibration:
        """Keep the loss beside the number."""
        made = super().__new__(cls, value)
        made.loss, made.refused = loss, refused
        return made


def calibrate(
    family: Callable[[float], PrivacyLoss],
    *,
    epsilon: Number,
    delta: Number,
    tolerance: Number = 1e-7,
    start: Number = _START,
    rough: Callable[[float], PrivacyLoss] | None = None,
) -> Calibration:
    """Return the least noise parameter whose loss is certified (epsilon, delta)-DP, to a relative tolerance.

    `family` turns a positive parameter (a scale, a noise multiplier) into a loss that falls as it grows. `rough` is a
    family of the same releases whose bounds are wider and quicker: the search then goes by these, and asks `family`
    only near the end.

    Privacy. The returned parameter's loss has delta(epsilon) <= delta.
        Proof: it was asked, and the upper end of its delta(epsilon) is at most delta. That the family is monotone is
        used for the search only.
    Cost. About ten loose prices and five sharp ones; with `rough` about ten of its prices and three of `family`'s.

    >>> from discreet.privacy.loss.reference import gaussian_loss
    >>> calibrate(lambda sigma: gaussian_loss(sigma) * 100, epsilon=1, delta=1e-6)
    42.24...
    """
    level = round_down(Fraction(nonnegative(epsilon, name="epsilon")))
    chance = round_down(Fraction(probability(delta, name="delta")))
    near = float(positive(tolerance, name="tolerance"))
    if chance == 1.0:
        raise ParameterError("delta = 1 allows everything: no noise is needed", parameter="delta")
    search, first = _Search(family, level, chance), float(positive(start, name="start"))
    if rough is None:
        low, high = search.bracket(first)
        low, high = search.narrowed(low, high, near)
    else:
        wide = _Search(rough, level, chance)
        _, found = wide.narrowed(*wide.bracket(first), max(near, _LOOSE / 10))
        low, high = search.beside(wide, found, near)
    return Calibration(high, search.losses[high], low)


def largest_count(loss: PrivacyLoss, *, epsilon: Number, delta: Number, most: int = 10**9) -> int:
    """Return how often a release can be repeated and still be certified (epsilon, delta)-DP; it may be 0.

    >>> from discreet.privacy.loss.reference import gaussian_loss
    >>> largest_count(gaussian_loss(10), epsilon=1, delta=1e-6)
    5
    """
    level, chance = nonnegative(epsilon, name="epsilon"), probability(delta, name="delta")
    cap = whole(most, name="most")

    def fits(count: int) -> bool:
        return (loss * count).delta(level).upper <= chance

    if not fits(1):
        return 0
    low, high = 1, 2
    while high <= cap and fits(high):
        low, high = high, 2 * high
    high = min(high, cap + 1)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


class _Search:
    """Ask losses at parameters, and remember the answers.

    The search goes by loose bounds, which are cheap, and then by sharp ones near the root; bounds of either kind hold.
    """

    def __init__(self, family: Callable[[float], PrivacyLoss], epsilon: float, delta: float) -> None:
        self.family, self.epsilon, self.delta = family, epsilon, delta
        self.losses: dict[float, PrivacyLoss] = {}
        self.found: dict[tuple[float, bool], Enclosure] = {}
        self.side: Side | None = None

    def loss(self, parameter: float) -> PrivacyLoss:
        """Return the loss at a parameter."""
        if parameter not in self.losses:
            loss = self.family(parameter)
            if not isinstance(loss, PrivacyLoss):
                raise ParameterError(
                    "the family must return a loss: a mechanism's .loss, or gaussian_loss(...)", parameter="family"
                )
            self.losses[parameter] = loss
        return self.losses[parameter]

    def one_side(self, parameter: float) -> PrivacyLoss:
        """Return the loss in the direction that seemed the worse one at the first parameter."""
        loss = self.loss(parameter)
        if self.side is None:
            self.side = max(loss.sides, key=lambda side: replace(loss, sides=(side,)).delta_ceiling(self.epsilon))
        return replace(loss, sides=(self.side,))

    def one_way(self, parameter: float, *, sharp: bool = True) -> Enclosure:
        """Return delta at the target in that direction."""
        if (parameter, sharp) not in self.found:
            width = None if sharp else max(_LOOSE * self.epsilon, _LOOSE**2)
            self.found[parameter, sharp] = self.one_side(parameter).delta(self.epsilon, tolerance=width)
        return self.found[parameter, sharp]

    def enough(self, parameter: float) -> bool:
        """Say whether the target is certified: in the worse direction, and then in both."""
        return (
            self.one_way(parameter).upper <= self.delta and self.loss(parameter).delta(self.epsilon).upper <= self.delta
        )

    def seems_enough(self, parameter: float) -> bool:
        """Say the same, asking a cheap ceiling and the loose bounds first; not yet in both directions."""
        if self.one_side(parameter).delta_ceiling(self.epsilon) <= self.delta:
            return self.loss(parameter).delta_ceiling(self.epsilon) <= self.delta or self.enough(parameter)
        loose = self.one_way(parameter, sharp=False)
        if loose.lower <= self.delta < loose.upper:
            return self.enough(parameter)
        return loose.upper <= self.delta

    def gap(self, parameter: float, *, sharp: bool) -> float:
        """Return ln(delta there) - ln(target), by the estimate; infinite where one of them is 0."""
        estimate = self.one_way(parameter, sharp=sharp).estimate
        if estimate <= 0 or self.delta <= 0:
            return math.inf if estimate > self.delta else -math.inf
        return math.log(estimate) - math.log(self.delta)

    def bracket(self, start: float) -> tuple[float, float]:
        """Return a parameter that is not enough and one that seems to be."""
        enough, here = self.seems_enough(start), start
        for _ in range(_MOST_DOUBLINGS):
            following = here / 2 if enough else 2 * here
            if self.seems_enough(following) != enough:
                return (following, here) if enough else (here, following)
            here = following
        raise ParameterError(
            "even a parameter 2^-200 times the start meets the target: does the loss fall as the parameter grows?"
            if enough
            else "no parameter up to 2^200 times the start meets the target",
            parameter="family",
        )

    def beside(self, wide: _Search, here: float, tolerance: float) -> tuple[float, float]:
        """Return a bracket about as narrow as the tolerance, near where wider bounds meet the target.

        The gap of these bounds there, over the slope of the wide ones, says how far away their own root is; steps
        outward from it double until one end is enough and the other is not.
        """
        slope = (wide.gap(_ASIDE * here, sharp=True) - wide.gap(here, sharp=True)) / math.log(_ASIDE)
        away = self.gap(here, sharp=True) / slope if slope < 0 else math.nan
        guess = here * math.exp(-away) if abs(away) < _FAR else here
        step = tolerance / 2
        low, high = guess * (1 - step), guess * (1 + step)
        if self.enough(high):
            while self.enough(low):
                step *= 2
                low, high = low / (1 + step), low
        while not self.enough(high):
            step *= 2
            low, high = high, high * (1 + step)
        return self._halved(low, high, 2 * tolerance)

    def narrowed(self, low: float, high: float, tolerance: float) -> tuple[float, float]:
        """Shrink the bracket: find the root of the estimate by secants, then certify one step to either side."""
        near = self._root(low, high, _LOOSE, sharp=False)
        root = self._root(low, high, math.sqrt(tolerance) / 20, sharp=True, start=near)
        for reach in (0.49, 4.0, 32.0):
            for probe in (root * (1 + tolerance * reach), root * (1 - tolerance * reach)):
                if low < probe < high:
                    low, high = (low, probe) if self.enough(probe) else (probe, high)
            if high - low <= 2 * reach * tolerance * low:
                break
        for _ in range(_STEPS):
            if self.enough(high):
                break
            low, high = high, high * 2  # it only seemed so in one direction
        return self._halved(low, high, tolerance)

    def _halved(self, low: float, high: float, tolerance: float) -> tuple[float, float]:
        """Shrink the bracket to a relative width by bisection."""
        for _ in range(_STEPS):
            if high - low <= tolerance * low:
                break
            middle = math.sqrt(low * high)
            low, high = (low, middle) if self.enough(middle) else (middle, high)
        return low, high

    def _root(self, low: float, high: float, near: float, *, sharp: bool, start: float | None = None) -> float:
        """Return about where the estimated delta is the target: inverse interpolation of ln parameter in ln delta.

        It ends when a step is below `near` (the next error is about the square of it). Sharp answers start from a root
        of the loose ones, whose gap there is about 0: moved by the sharp gap, loose ones are good neighbors.
        """
        known = {
            parameter: self.gap(parameter, sharp=False) for parameter, kind in list(self.found) if not kind
        }  # fmt: skip
        known = {parameter: gap for parameter, gap in known.items() if math.isfinite(gap)}
        here, gap, slow = math.inf, math.inf, False
        for step in range(_STEPS):
            trial = start if start is not None and step == 0 else math.nan if slow else self._interpolated(known)
            trial = trial if low < trial < high else math.sqrt(low * high)
            last, here = here, trial
            if abs(here - last) <= near * here and (abs(gap) < _SMALL_GAP or high <= low * (1 + near)):
                break
            before, gap = gap, self.gap(here, sharp=sharp)
            slow = _SMALL_GAP < abs(gap) > abs(before) / 4 and not slow
            low, high = (low, here) if gap <= 0 else (here, high)
            if sharp and step == 0 and math.isfinite(gap):
                known = {parameter: old + gap for parameter, old in known.items()}
            if math.isfinite(gap):
                known.pop(here, None)
                known[here] = gap
        return here

    def _interpolated(self, known: dict[float, float]) -> float:
        """Return where the gap would be 0 if ln parameter were a polynomial in it through the last points."""
        points = list(known.items())[-4:]
        gaps = [gap for _, gap in points]
        if len(set(gaps)) < max(len(gaps), 2):
            return math.nan
        total = 0.0
        for index, (parameter, gap) in enumerate(points):
            others = gaps[:index] + gaps[index + 1 :]
            total += math.log(parameter) * math.prod(other / (other - gap) for other in others)
        return math.exp(total) if abs(total) < _LARGEST_LOG else math.nan

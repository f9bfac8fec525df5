"""How many reports support each value, and the exact law of that number: frequencies, errors and intervals."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.laws.clopper_pearson import chance_at_least, chance_at_most
from discreet.local.estimates.intervals import two_sided_normal
from discreet.local.protocol import Floats, Integers
from discreet.privacy import Target

_ROUNDS = 60
_FEW = 64


@dataclass(frozen=True, eq=False)
class Support:
    """Of `people` reports, `counts[x]` lie among the preferred outputs of x: with chance p each if x is held, else r.

    Accuracy. `interval` contains the frequency of a value with the stated confidence: for the table of those who
        reported and for the population they were drawn from.
        Proof: let m people of the table hold x. Then S = Bin(m, p) + Bin(n - m, r), which grows stochastically with m,
        and the frequencies f = m / n for which neither P(S >= s) nor P(S <= s) falls below half the allowed error hold
        the true one as often as stated. For few different counts that law itself is inverted, for many the binomial law
        of n draws with the same mean, whose tails P(S >= s) for s >= mean + 1 and P(S <= s) for s <= mean - 1 are at
        least as heavy (Hoeffding 1956, theorem 4); nearer to the mean a binomial tail is at least 1/4 (Doerr 2018),
        save for s = 1 and s = n - 1 and means close to 0 and n, where P(S >= 1) <= mean and its mirror image serve. In
        a population every report speaks for x with chance r + f (p - r), independently: S is binomial, and its
        inversion exact. Where Var S is at least 100 and 8 z^4, the tails are expanded (Cornish and Fisher) with the
        continuity correction and the skewness; the next term moves the quantile z by (z^3 - 3 z) k / 24 - (2 z^3 -
        5 z) g^2 / 36 with skewness g and excess k. With w the sum of the squared variances v of the reports over
        Var S, k Var S = 1 - 6 w and g^2 Var S <= 1 - 4 w by Cauchy and Schwarz, w <= 1/4; so the term is at most (z^3
        + 3 z) / (24 Var S), which is added. What is left is of the order z^5 / sd^3 of the allowed error, below that
        margin in every case computed.
    Cost. Some 30 operations a value; an inverse beta function each where counts are small.
    Reference. Clopper, Pearson 1934; Wilson 1927; Cornish, Fisher 1938; Hoeffding 1956; Doerr 2018.

    >>> support = Support(
    ...     np.array([5_400, 5_000]), 10_000, Fraction(3, 4), Fraction(1, 2)
    ... )
    >>> low, high = support.interval(0.05, Target.TABLE)
    >>> [f"{a:.3f} {b:.3f}" for a, b in zip(low, high)]
    ['0.121 0.198', '-0.039 0.039']
    """

    counts: Integers
    people: int
    preference: Fraction
    shared: Fraction
    method: ClassVar[str] = "inverted law of the number of reports"

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        if "method" not in cls.__dict__:
            cls.method = "approximate law of reports and collisions"

    def __post_init__(self) -> None:
        if self.people < 1:
            raise InputError("there are no reports to estimate from")

    @property
    def gap(self) -> float:
        """The difference p - r, by which a person moves the expected number of reports."""
        return float(self.preference - self.shared)

    @property
    def frequencies(self) -> Floats:
        """The unbiased estimates (counts / n - r) / (p - r)."""
        return np.asarray((self.counts / self.people - float(self.shared)) / self.gap)

    def standard_errors(self, target: Target = Target.TABLE) -> Floats:
        """Return the standard errors at the estimated frequencies, cut to [0, 1] there."""
        return np.asarray(np.sqrt(self._moments(self.frequencies, target)[0]) / (self.people * self.gap))

    def interval(self, rest: float, target: Target, chosen: Integers | None = None) -> tuple[Floats, Floats]:
        """Return ends that miss a frequency with probability `rest`, for all values or the chosen ones."""
        counts = self.counts if chosen is None else self.counts[chosen]
        level = two_sided_normal(rest)
        low, high = (self._end(counts, side * level, target) for side in (+1, -1))
        least = np.minimum(self._moments(low, target)[0], self._moments(high, target)[0])
        rare = np.flatnonzero(least < max(100.0, 8 * level**4))
        seen, places = np.unique(counts[rare], return_inverse=True)
        below, above = self._inverted(seen, rest, target)
        frequencies = (seen / self.people - float(self.shared)) / self.gap  # may lie outside [0, 1]
        low[rare], high[rare] = np.minimum(below, frequencies)[places], np.maximum(above, frequencies)[places]
        return low, high

    def _moments(self, frequencies: Floats, target: Target) -> tuple[Floats, Floats]:
        """Return the second and third central moments of the number of reports, at frequencies cut to [0, 1]."""
        held = np.clip(frequencies, 0.0, 1.0)
        p, r = float(self.preference), float(self.shared)
        if target is Target.POPULATION:
            chance = r + held * self.gap
            second = self.people * chance * (1 - chance)
            return second, second * (1 - 2 * chance)
        seconds = held * p * (1 - p), (1 - held) * r * (1 - r)
        third = seconds[0] * (1 - 2 * p) + seconds[1] * (1 - 2 * r)
        return self.people * (seconds[0] + seconds[1]), self.people * third

    def _end(self, counts: Integers, level: float, target: Target) -> Floats:
        """Solve count = mean(f) + level sd(f) + skewness + margin + half a step for f; a level < 0 gives the top.

        The spread hardly depends on f, so putting f into it again and again converges.
        """
        middle = counts - self.people * float(self.shared)
        scale, step = self.people * self.gap, 0.5 if level > 0 else -0.5
        end = np.asarray(middle / scale)
        for _ in range(_ROUNDS):
            second, third = self._moments(end, target)
            second = np.maximum(second, 1.0)
            skewness, margin = (level**2 - 1) * third / (6 * second), level * (level**2 + 3) / (24 * np.sqrt(second))
            found = (middle - step - level * np.sqrt(second) - skewness - margin) / scale
            moved = float(np.max(np.abs(found - end), initial=0.0))
            end = found
            if moved < 1e-13:
                break
        return end

    def _inverted(self, counts: Integers, rest: float, target: Target) -> tuple[Floats, Floats]:
        """Return ends that hold for any number of reports: exact for few different counts, else by the heavier law."""
        p, r = float(self.preference), float(self.shared)
        each = min(rest / 2, 0.25)
        least, most = chance_at_least(counts, self.people, each), chance_at_most(counts, self.people, each)
        if target is Target.TABLE:
            least = np.where(counts == 1, np.minimum(least, each / self.people), least)
            most = np.where(counts == self.people - 1, np.maximum(most, 1 - each / self.people), most)
        low, high = (least - r) / self.gap, (most - r) / self.gap
        if target is Target.POPULATION or counts.size > _FEW:
            return low, high
        known = zip(counts.tolist(), low.tolist(), high.tolist(), strict=True)
        exact = [table_interval(count, self.people, p, r, rest, (bottom, top)) for count, bottom, top in known]
        ends = np.array(exact, dtype=np.float64).reshape(-1, 2)
        return ends[:, 0], ends[:, 1]


_SPREAD = 40.0  # what lies further than 40 standard deviations away is below any confidence a float can state
_SLACK = 1e-9  # relative; covers the rounding of the distribution functions


def table_interval(
    seen: int, people: int, preference: float, shared: float, rest: float, within: tuple[float, float]
) -> tuple[float, float]:
    """Return the least and greatest frequency whose two tails both exceed rest / 2, for `seen` of `people` reports.

    `within` holds frequencies that are known to contain both. Each tail is summed itself, never taken from 1, so that
    levels far below the rounding of 1 are right.

    >>> table_interval(8, 10, 0.75, 0.25, 0.05, (-1.0, 2.0))
    (0.5, 1.0)
    """
    level = rest / 2 * (1 - _SLACK)
    first = min(max(math.floor(within[0] * people), 0), people)
    last = min(max(math.ceil(within[1] * people), 0), people)

    def enough(members: int) -> bool:
        return _tail(seen, members, people, preference, shared, upper=True) > level

    def few_enough(others: int) -> bool:
        return _tail(seen, people - others, people, preference, shared, upper=False) > level

    least, most_others = _least(enough, first, last), _least(few_enough, people - last, people - first)
    return least / people, (people - most_others) / people


def _least(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the least number from which on something holds, the highest if it never does."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low


def _tail(seen: int, members: int, people: int, truth: float, lie: float, *, upper: bool) -> float:
    """Return P(S >= seen), or P(S <= seen), for S = Bin(members, truth) + Bin(people - members, lie)."""
    from scipy.stats import binom

    spread = _SPREAD * math.sqrt(members * truth * (1 - truth) + 1.0)
    start, end = max(int(members * truth - spread), 0), min(int(members * truth + spread) + 1, members)
    own: NDArray[np.int64] = np.arange(start, end + 1)
    left = seen - own
    rest = binom.sf(left - 1, people - members, lie) if upper else binom.cdf(left, people - members, lie)
    return float(np.sum(binom.pmf(own, members, truth) * rest))

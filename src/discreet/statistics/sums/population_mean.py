"""The mean of a population from a noisy release: a proven interval that uses the spread, and an approximate one.

Theorem. Let the n rows be drawn independently from a population, and m be the expectation of the clipped and rounded
value. Then m lies in `proven(rest)` but for a probability of `rest`.
Proof. V, M3, M4 and n are constants. Ten events say where they lie, each failing with probability d = 0.02 rest / 10:
V stays below and above the two ends, and M4 below the end, of the lemma on even moments in `sampling`; the noises of
the number, of the second and third powers stay within their quantiles; the table's sum of squares stays above V -
sqrt(2 M4 l) and below V + sqrt(2 M4 l) + r^2 l / 3, that of cubes within sqrt(2 r^2 M4 l) + 2 r^3 l / 3 of M3 on either
side, with l = ln(1 / d) and r the largest |x - m|. (Lower tails of nonnegative variables by exp(-u) <= 1 - u + u^2 / 2,
the others are Bernstein's inequality; the second moments of squares and cubes are at most M4 and r^2 M4.) Also V <=
n m (1 - m) and M4 <= r^2 V. On either side one of two lemmas of `sampling` fails with a probability of 0.49 rest: that
of the normal law where V is at least a public number and Berry and Esseen's D, as computed from the constants, at most
0.8 of that probability; Bernstein's elsewhere. Which of them it is depends on constants, not on the table, so nothing
is paid for the choice; where the events leave both cases possible, the wider bound is taken. If m lies in a range, then
T at m is at most what the worst constants in that range allow, and m lies in a smaller range: each pass looks at the
outer part of what the last one left, on the same events. QED.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.statistics.pricing import combination_quantile
from discreet.statistics.sums.power_sums import ONE
from discreet.statistics.sums.sampling import Known, Range, Sampling

Floats = NDArray[np.float64]
_EVENTS = 10
_FOR_EVENTS = 0.02
_NORMAL = 0.8  # of the chance on one side: the most that a remainder may take
_MOST = 0.02
_PASSES = 60
_STUDENT = 1 / 50  # the most by which an approximate interval is widened for a spread that is an estimate
_WIDE, _NARROW = 0.5, 0.1  # the outer part that is looked at
_ROUNDING = 1e-8  # of the number of rows: more than rounding rows to 2^-38 moves any of the sums


@dataclass(frozen=True)
class PopulationMean:
    """A release of power sums; `sums` are in rows, the public number of rows in its place."""

    sampling: Sampling
    sums: Floats

    @property
    def size(self) -> float:
        """The noisy number of rows."""
        return float(self.sampling.basis.about(0.0)[0] @ self.sums)

    @property
    def share(self) -> float:
        """The noisy mean as a share of the range, which may lie outside it; the middle where no row is left."""
        return float(self.sampling.basis.about(0.0)[1] @ self.sums) / self.size if self.size > 0 else 0.5

    def approximate(self, rest: float) -> Range:
        """Return the normal interval with the variances of sampling and of noise as released, and two corrections.

        Let W be the variance of sampling and noise, M3 = n E (x - m)^3, z the normal quantile. A table with a low mean
        has a low spread too: what is missed above and below is equal, to the next order, where the middle moves by
        M3 (1 + 2 z^2) / (6 W) rows (Johnson 1978). And W is an estimate of relative variance t, which makes the
        quantile 1 + (z^2 + 1) t / 8 times larger, as Student's; that is cut at a fiftieth. M3 is not released: it is
        that of the beta law with the released mean and spread, 2 V (1 - 2 m) k / (1 + k), k = V / (n m (1 - m)), which
        is right for coins. The interval is right for many rows; for few rows, or a value that few rows have, it may be
        too narrow.
        """
        from scipy.special import ndtri

        size, share = self.size, min(max(self.share, 0.0), 1.0)
        if size <= 0:
            return 0.0, 1.0
        about = self.sampling.basis.about(share)
        most = size * share * (1.0 - share)
        spread = min(max(float(about[2] @ self.sums), 0.0), most)
        of_mean, of_spread = (
            float(np.sum(about[power][self.sampling.basis.noisy] ** 2)) * self.sampling.variance for power in (1, 2)
        )
        total, normal = spread + of_mean, -float(ndtri(rest / 2.0))
        third = 2.0 * spread * (1.0 - 2.0 * share) * spread / (most + spread) if spread else 0.0
        wider = min((normal**2 + 1.0) / 8.0 * (of_spread + abs(third)) / total**2, _STUDENT)
        half = normal * math.sqrt(total) * (1.0 + wider)
        moved = math.copysign(min(abs(third) * (1.0 + 2.0 * normal**2) / (6.0 * total), half), third)
        return max(share + (moved - half) / size, 0.0), min(share + (moved + half) / size, 1.0)

    def proven(self, rest: float) -> tuple[Range, str]:
        """Return the interval, and which bound it rests on."""
        if self.size <= 0:
            return (0.0, 1.0), "Bernstein's bound"
        (low, lower), (high, upper) = self._end(-1, rest), self._end(1, rest)
        words = "Berry and Esseen's bound" if lower and upper else "Bernstein's bound"
        return (low, high), words

    def _end(self, direction: int, rest: float) -> tuple[float, bool]:
        """Return the end on one side of the estimate, and whether it rests on the normal law."""
        start = min(max(self.share, 0.0), 1.0)
        end, part, normal = (1.0 if direction > 0 else 0.0), _WIDE, False
        for _ in range(_PASSES):  # can m lie in the outer part of what is left, and how far out?
            inner = start + (1.0 - part) * (end - start)
            reach, normal = self._reach((min(inner, end), max(inner, end)), -direction, rest)
            moved = self.share + direction * (reach / self.size + _ROUNDING)
            moved = min(max(moved, inner), end) if direction > 0 else max(min(moved, inner), end)
            close = abs(end - moved) <= 2e-3 * abs(end - start)
            if end == start or (close and part <= _NARROW):
                break
            part, end = (part if moved == inner else max(part / 2.0, _NARROW)), moved
        return end, normal

    def _reach(self, means: Range, side: int, rest: float) -> tuple[float, bool]:
        """Return what T is at most if m lies in a range, and whether the normal law gave it."""
        chance = (1.0 - _FOR_EVENTS) * rest / 2.0
        most, floor = min(_NORMAL * chance, _MOST), self.sampling.noise_variance
        limit = most / 0.3328  # D is at least 0.3328 sqrt(M4) / V
        known, normal, rows = self._known(means, side, _FOR_EVENTS * rest / _EVENTS, limit)
        if known.spread[0] >= floor:
            bound, sure = self.sampling.berry_esseen(known, chance, most)
            if sure:
                return bound, True
        bound = self.sampling.bernstein(known, chance)
        low, high = max(normal.spread[0], floor), normal.spread[1]
        if low > high or most * math.sqrt(rows) < 0.4747:  # D is at least 0.4747 / sqrt n: few rows are never normal
            return bound, False
        other, _ = self.sampling.berry_esseen(dataclasses.replace(normal, spread=(low, high)), chance, most)
        return max(bound, other), False

    def _known(self, means: Range, side: int, rest: float, limit: float) -> tuple[Known, Known, float]:
        """Return what the events say of the constants, what else if sqrt(M4) <= w V, and the most that n can be."""
        middle, half = (means[0] + means[1]) / 2, (means[1] - means[0]) / 2
        found = self.sampling.basis.about(middle) @ self.sums
        slack = _ROUNDING * max(self.size, 1.0)

        def released(power: int) -> Range:
            """Return the ends of the released sum of (x - m)^power over the range of m."""
            if power == 2 and found[0] > 0:  # least at the noisy mean, or at the end that is nearest to it
                nearest = min(max(found[1] / found[0], -half), half)
                moved = [found[2] - 2 * by * found[1] + by**2 * found[0] for by in (-half, nearest, half)]
                return float(min(moved)) - slack, float(max(moved)) + slack
            away = sum(math.comb(power, low) * half ** (power - low) * abs(found[low]) for low in range(power))
            return float(found[power] - away) - slack, float(found[power] + away) + slack

        widest = max(means[1], 1.0 - means[0])
        allowed = math.log(1.0 / rest)
        noise = [self._noise(power, means, rest) for power in range(4)]
        rows = self.size - noise[0], self.size + noise[0]
        squares, cubes = released(2), released(3)
        top, bottom = max(squares[1] + noise[2], 0.0), squares[0] - noise[2]
        spread = self.sampling.moment(2, means, squares, allowed)
        fourth = self.sampling.moment(4, means, released(4), allowed)[1]
        most = (
            means[1] * (1.0 - means[1]) if means[1] <= 0.5 else 0.25 if means[0] <= 0.5 else means[0] * (1 - means[0])
        )
        high = min(top + math.sqrt(2.0 * fourth * allowed), spread[1], rows[1] * most)
        fourth = min(fourth, widest**2 * high)
        apart = math.sqrt(2.0 * fourth * allowed)
        far = widest**2 * allowed / 3.0
        low = min(max(bottom - apart - far, spread[0]), high)
        moved = noise[3] + widest * apart + 2.0 * widest**3 * allowed / 3.0
        third = sorted(side * cube for cube in cubes)
        known = Known(
            side=side,
            means=means,
            squares=squares[1],
            spread=(low, high),
            third=(third[0] - moved, third[1] + moved),
            fourth=fourth,
            rows=max(rows[0], 1.0),
        )
        share = limit * math.sqrt(2.0 * allowed)
        spread = max(low, (bottom - far) / (1.0 + share)), min(high, top / (1.0 - share))
        return known, dataclasses.replace(known, spread=spread, limit=limit), rows[1]

    def _noise(self, power: int, means: Range, rest: float) -> float:
        """Return how far the noise goes in a sum of (x - m)^power."""
        basis = self.sampling.basis
        if power == 0:
            sizes = np.abs(basis.about(0.0)[0][basis.noisy])
        else:
            sizes = self.sampling.largest(np.eye(4)[power - 1 : power], means)[0]
        return combination_quantile(self.sampling.noise, list(sizes / ONE), 1.0 - rest)

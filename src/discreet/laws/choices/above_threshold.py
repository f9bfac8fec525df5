"""The law of AboveThreshold's verdicts on a fixed stream: one sum over the threshold's noise.

The law of AboveThreshold's reports with their gaps: how far the noisy values were above the noisy threshold.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.laws.finite import FinitePair, Floats, Tabulated
from discreet.laws.law import Law, Shape, as_size
from discreet.laws.noise import DiscreteLaplace

_REACH = 64
_LARGEST_WINDOW = 1 << 20
_LARGEST_OUTCOMES = 1 << 14
_LARGEST_SPAN = 1 << 62
_UNIT = 2.0**-42
_LEAST_NORMAL = 2.0**-1020
_CAP = 40
_ADDITION = 2.0**-52


class AboveThresholdLaw(Tabulated):
    """Which values of a stream are reported above a noisy threshold, until `hits` of them were.

    Value i is reported when v_i + N_i >= T + R, with R threshold noise drawn once and N_i fresh query noise. An outcome
    is the tuple of reported positions. Given R the verdicts are independent, so

        P(outcome) = sum over r of P(R = r) * product of P(v_i + N < T + r) or P(v_i + N >= T + r) over the values
        looked at.

    The sum reaches 64 scales beyond five times the largest distance to the threshold, where even the rarest outcomes
    have all but a negligible share of their mass; what lies outside is added to the upper
    bound.
    """

    def __init__(
        self, values: NDArray[np.int64], threshold: int, threshold_scale: Fraction, query_scale: Fraction, hits: int = 1
    ) -> None:
        distances = [value - threshold for value in np.asarray(values, dtype=np.int64).tolist()]
        self._span = checked_span(distances)
        self.distances = np.array(distances, dtype=np.int64)
        self.threshold_noise = DiscreteLaplace(threshold_scale)
        self.query_noise = DiscreteLaplace(query_scale)
        self.hits = hits

    def table(self) -> tuple[list[Any], Floats, Floats]:
        """Return the probabilities with bounds."""
        return self._table

    @cached_property
    def _table(self) -> tuple[list[Any], Floats, Floats]:
        """Walk the tree of verdicts once, carrying the probability given each threshold noise."""
        reach = 5 * self._span + int(_REACH * self.threshold_noise.scale) + 2
        if reach * max(self.distances.size, 1) > _LARGEST_WINDOW * 8 or reach > _LARGEST_WINDOW:
            raise ParameterError(
                "the exact law of this stream needs too many grid points; use a coarser grid= to look at it"
            )
        noise = np.arange(-reach, reach + 1)
        needed = noise[:, None] - self.distances[None, :]
        above, below = self.query_noise.sf(needed - 1), self.query_noise.cdf(needed - 1)
        outcomes: list[tuple[int, ...]] = []
        values: list[float] = []
        stack: list[tuple[int, tuple[int, ...], Floats]] = [(0, (), self.threshold_noise.pmf(noise))]
        while stack:
            position, reported, weight = stack.pop()
            if position == self.distances.size or len(reported) == self.hits:
                outcomes.append(reported)
                values.append(float(weight.sum()))
                if len(outcomes) > _LARGEST_OUTCOMES:
                    raise ParameterError(
                        "this stream has too many possible outcomes for its exact law; use fewer values or hits"
                    )
                continue
            stack.append((position + 1, (*reported, position), weight * above[:, position]))
            stack.append((position + 1, reported, weight * below[:, position]))
        order = sorted(range(len(outcomes)), key=outcomes.__getitem__)
        computed = np.array(values)[order]
        error = _UNIT * (self.distances.size + 2)
        outside = 2.0 * float(self.threshold_noise.sf(reach)) * (1 + error)
        low = np.where(computed < _LEAST_NORMAL, 0.0, computed * (1 - error))
        return [outcomes[i] for i in order], low, computed * (1 + error) + outside + _LEAST_NORMAL

    def sample(self, shape: Shape | None = None) -> Any:
        """Run the mechanism on the stream; outcomes are tuples of reported positions."""
        if shape is None:
            return self.sample(1)[0]
        sizes, count = as_size(shape)
        width = self.distances.size
        margin = self.query_noise.draw(count * width).reshape(count, width) + self.distances
        reported = margin >= self.threshold_noise.draw(count)[:, None]
        out = np.empty(count, dtype=object)
        for row in range(count):
            out[row] = tuple(int(i) for i in np.flatnonzero(reported[row])[: self.hits])
        return out.reshape(sizes)


def checked_span(distances: list[int]) -> int:
    """Return the largest distance to the threshold; refuse one that could leave int64 when noise is added to it."""
    span = max(map(abs, distances), default=0)
    if span >= _LARGEST_SPAN:
        raise ParameterError("the exact law is available for values within 2^62 grid steps of the threshold")
    return span


@dataclass(frozen=True, slots=True)
class Hit:
    """The position of a value reported above the threshold, and by how much the noisy value was above the noisy one."""

    position: int
    gap: int | float


class AboveThresholdGapLaw(Tabulated):
    """Which values of a stream are reported above a noisy threshold, and with what gap, until `hits` of them were.

    Value i is reported when v_i + N_i >= T + R, and its gap is the difference. An outcome is a tuple of hits. Given
    R = r the values are independent, so

        P(outcome) = sum over r of P(R = r) * product of P(v_i + N < T + r) or P(v_i + N = T + r + gap_i).

    Gaps of `cap` or more are put together and called `cap`; it lies beyond what is ever drawn, 40 scales above the
    largest distance to the threshold, unless it is given. Every term is positive, so rounding is relative; the sum
    reaches 64 scales beyond all that matters, and what lies outside is added to the upper bounds.
    """

    def __init__(
        self,
        distances: NDArray[np.int64],
        threshold_noise: DiscreteLaplace,
        query_noise: DiscreteLaplace,
        *,
        hits: int = 1,
        grid: Fraction = Fraction(1),
        cap: int | None = None,
    ) -> None:
        self.distances = np.asarray(distances, dtype=np.int64)
        self.threshold_noise = threshold_noise
        self.query_noise = query_noise
        self.hits = hits
        self.grid = grid
        self._span = checked_span(self.distances.tolist())
        widest = max(threshold_noise.scale, query_noise.scale)
        self.cap = self._span + math.ceil(_CAP * widest) if cap is None else cap

    def table(self) -> tuple[list[Any], Floats, Floats]:
        """Return the outcomes, and their probabilities with bounds."""
        return self._table

    @cached_property
    def _table(self) -> tuple[list[Any], Floats, Floats]:
        """Walk the tree of reports once, carrying the probability given each threshold noise."""
        size = self.distances.size
        if self._outcomes(size, self.hits) > _LARGEST_OUTCOMES:
            raise ParameterError(
                "this stream has too many outcomes for its exact law; use fewer values or hits, or a larger epsilon"
            )
        # the rarest outcome has a chance of about exp(-(hits * cap + (size + 1) * span) / scale)
        reach = (size + 1) * self._span + self.hits * self.cap + math.ceil(_REACH * self.threshold_noise.scale) + 2
        if reach > _LARGEST_WINDOW:
            raise ParameterError(
                "the exact law of this stream needs too many grid points; use a coarser grid= to look at it"
            )
        noise = np.arange(-reach, reach + 1)
        outcomes: list[tuple[Hit, ...]] = []
        values: list[float] = []
        stack: list[tuple[int, tuple[Hit, ...], Floats]] = [(0, (), self.threshold_noise.pmf(noise))]
        while stack:
            position, reported, weight = stack.pop()
            if position == size or len(reported) == self.hits:
                outcomes.append(reported)
                values.append(float(weight.sum()))
                continue
            needed = noise - self.distances[position]
            for gap in reversed(range(self.cap + 1)):
                chance = self.query_noise.pmf(needed + gap) if gap < self.cap else self.query_noise.sf(needed + gap - 1)
                stack.append((position + 1, (*reported, Hit(position, self._told(gap))), weight * chance))
            stack.append((position + 1, reported, weight * self.query_noise.cdf(needed - 1)))
        computed = np.array(values)
        error = _UNIT * (size + 2) + _ADDITION * noise.size
        outside = 2.0 * float(self.threshold_noise.sf(reach)) * (1 + error)
        low = np.where(computed < _LEAST_NORMAL, 0.0, computed * (1 - error))
        return outcomes, low, computed * (1 + error) + outside + _LEAST_NORMAL

    def _outcomes(self, size: int, hits: int) -> int:
        """Return how many outcomes a stream has."""
        return sum(math.comb(size, count) * (self.cap + 1) ** count for count in range(min(size, hits) + 1))

    def _told(self, gap: int) -> int | float:
        """Return a gap in the unit of the values: an integer on grid 1, else a float."""
        return gap if self.grid == 1 else float(gap * self.grid)

    def pair(self, other: Law[Any]) -> FinitePair:
        """Return the pair of two laws, both with the larger of their caps."""
        if isinstance(other, AboveThresholdGapLaw) and other.cap != self.cap:
            cap = max(self.cap, other.cap)
            mine, theirs = (law.capped(cap) for law in (self, other))
            return mine.pair(theirs)
        return super().pair(other)

    def capped(self, cap: int) -> AboveThresholdGapLaw:
        """Return the same law with another cap."""
        return AboveThresholdGapLaw(
            self.distances, self.threshold_noise, self.query_noise, hits=self.hits, grid=self.grid, cap=cap
        )

    def sample(self, shape: Shape | None = None) -> Any:
        """Run the mechanism on the stream; outcomes are tuples of hits."""
        if shape is None:
            return self.sample(1)[0]
        sizes, count = as_size(shape)
        width = self.distances.size
        margins = self.query_noise.draw(count * width).reshape(count, width) + self.distances
        margins = margins - self.threshold_noise.draw(count)[:, None]
        out = np.empty(count, dtype=object)
        for row in range(count):
            above = np.flatnonzero(margins[row] >= 0)[: self.hits]
            out[row] = tuple(Hit(int(place), self._told(int(margins[row, place]))) for place in above)
        return out.reshape(sizes)

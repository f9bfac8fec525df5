"""Report noisy max: the position of the largest noised score and, if asked for, its lead over the second."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, MissingParameter
from discreet.laws import DiscreteLaplace, NoisyMaxGapLaw, NoisyMaxLaw
from discreet.laws.choices import Winner, leader
from discreet.laws.number import Number, round_up
from discreet.mechanisms.choices.selection import MONOTONE, moved_by, truth_value
from discreet.mechanisms.choices.selection_grid import SelectionGrid, is_large
from discreet.mechanisms.domain import add_noise, floats_on_grid
from discreet.mechanisms.mechanism import PurelyPrivate, positive_epsilon, stated_sensitivity
from discreet.privacy import Norm, Sensitivity, warn_if_senseless


class NoisyMax(PurelyPrivate):
    """Add discrete Laplace noise to every score and return the position of the largest, the first one on a tie.

    Privacy. epsilon-DP with scale 2 D / epsilon for scores that one person moves by at most D each; scale D / epsilon
        is enough when they are monotone (all move the same way between neighbors, as counts do under add/remove). The
        same holds for the position together with its lead over the second largest (`gap=True`, a `Winner`) when every
        noise gets an independent uniform fraction of a grid step, which breaks ties, and the lead is rounded down.
        Proof: fix the other candidates' noise; i wins on one table exactly when its noise reaches some level. On the
        neighbor that level rises by at most 2 D (its own score falls by D, a rival's rises by D), or D if all move the
        same way. A discrete Laplace tail loses at most the factor exp(2 D / scale) = e^epsilon over that shift. The
        tie-break is by position, the same on both tables, and D is a multiple of the grid, so the shift stays on it.
        With the lead: the noise has a density, constant from each integer to the next. Fix the noise of all but i; let
        M and M' be the largest of the others on the two tables, |M' - M| <= D. Adding c = (M' - M) - (score_i' -
        score_i) to the noise of i maps the noises with which i wins by g on one table onto those on the other, without
        stretching, and |c| <= 2 D. Whole parts move by at most the integer 2 D then, and the density loses at most the
        factor exp(2 D / scale). If all scores move the same way, so do M and score_i, and |c| <= D. Ties broken by
        position would not do: of four scores (L, L, 0, 0) let the first two rise by D and the others fall by D; that
        the third wins with a lead of 0 then loses a factor that tends to e^(2 epsilon) as L grows.
    Accuracy. The winner's score is within 2 t of the best with the confidence that all n noises are within t: `error`
        returns it. The lead is then within 2 t + 1 of the true one, the winner's score minus the best of the others
        (which may be negative): `gap_error` returns that.
        Proof: noise and fraction lie in [-t, t + 1), for the winner and for the best of the others, so the lead before
        rounding is less than 2 t + 1 away from the true one; both ends of the rounded one follow.
    Cost. One 64-bit word and one logarithm a candidate; the lead needs a comparison more.
    Figure. noisy_max.svg
    Reference. Dwork, Roth 2014, section 3.3; for monotone counts Ding et al. 2018; the lead: Ding, Wang, Zhang, Kifer
        2019, for continuous noise.

    >>> NoisyMax(epsilon=1, sensitivity=1, monotone=True)([3, 900, 14])
    1
    >>> winner = NoisyMax(epsilon=1, sensitivity=1, gap=True)([3, 900, 14])
    >>> winner.index, abs(winner.gap - 886) < 200
    (1, True)
    """

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        sensitivity: Number | Sensitivity | None = None,
        monotone: bool = False,
        gap: bool = False,
        grid: Number | None = None,
    ) -> None:
        self._epsilon = positive_epsilon(epsilon)
        self.monotone, self.gap = truth_value(monotone, name="monotone"), truth_value(gap, name="gap")
        self.sensitivity = moved_by(stated_sensitivity(sensitivity, (Norm.LINF,)), monotone=self.monotone)
        self.relation = self.sensitivity.relation
        sides = 1 if self.monotone else 2
        self._grid = SelectionGrid(self.sensitivity, grid, sides * self.sensitivity.exact / self._epsilon)
        self.noise = DiscreteLaplace(sides * self._grid.sensitivity / self._epsilon)
        warn_if_senseless(self.guarantee, people=None)

    @property
    def grid(self) -> Fraction:
        """The public grid that scores are rounded to."""
        return self._grid.step

    @property
    def _guaranteed(self) -> Fraction:
        """Epsilon as it was given."""
        return self._epsilon

    def __call__(self, value: Any) -> int | Winner:
        """Return the position of the largest noised score, with its lead if that was asked for."""
        steps = self._steps(value)
        noise = self.noise.draw(steps.size)
        if noise.dtype == object or is_large(steps):  # exact in either case: saturation would tie what differs
            steps = steps.astype(object)
        noised = add_noise(steps, noise)
        if not self.gap:
            return int(np.argmax(noised))
        index, lead = leader(noised)
        return Winner(index, lead if self._grid.integer else floats_on_grid(lead, self.grid))

    def _steps(self, value: Any) -> NDArray[Any]:
        """Return the scores in grid steps, at least two of them if there is to be a lead."""
        steps = self._grid.array(value)
        if self.gap and steps.size < 2:
            raise InputError("the gap is the lead over the second largest score: pass at least two candidates")
        return steps

    def law(self, value: Any) -> NoisyMaxLaw | NoisyMaxGapLaw:
        """Return the law of the reported position, or of position and lead."""
        steps = self._steps(value)
        if is_large(steps):
            raise InputError("the exact law is available for scores within 2^61 grid steps")
        if self.gap:
            return NoisyMaxGapLaw(steps.astype(np.int64), self.noise, grid=self.grid)
        return NoisyMaxLaw(steps.astype(np.int64), self.noise)

    def error(self, confidence: float | Fraction, *, candidates: int) -> float:
        """Return how far below the best score the reported one is at most, with the given confidence."""
        return (
            round_up((2 * self.noise.half_width(confidence, candidates) + 1) * self.grid)
            if not self._grid.integer
            else float(2 * self.noise.half_width(confidence, candidates))
        )

    def gap_error(self, confidence: float, *, candidates: int) -> float:
        """Return how far the lead is at most from the winner's true lead over the best of the others."""
        if not self.gap:
            raise MissingParameter("no lead is released: state gap=True when the mechanism is made", parameter="gap")
        rounding = 0 if self._grid.integer else 1  # both scores are rounded by at most half a step
        return round_up((2 * self.noise.half_width(confidence, candidates) + 1 + rounding) * self.grid)

    def neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield scores where one candidate rises and the others fall, or stay when the scores are monotone."""
        yield from self._moves(both_ways=not self.monotone)

    def left_out(self) -> Mapping[str, Iterable[tuple[Any, Any]]]:
        """Scores that move both ways, where they were stated to be monotone."""
        return {MONOTONE: self._moves(both_ways=True)} if self.monotone else {}

    def _moves(self, *, both_ways: bool) -> Iterator[tuple[Any, Any]]:
        """Yield scores where one candidate rises and the others fall or stay."""
        step = int(self._grid.sensitivity)
        far = int(self.noise.scale * 20) + 1
        for count, lead in ((2, 0), (2, -far), (5, 0), (5, far), (5, -far)):
            fallen = -step if both_ways else 0
            base = self._grid.in_units([lead] + [0] * (count - 1))
            moved = self._grid.in_units([lead + step] + [fallen] * (count - 1))
            yield base, moved
            yield moved, base

    def __repr__(self) -> str:
        return (
            f"NoisyMax(epsilon={float(self._epsilon):.6g}, sensitivity={self.sensitivity.value}, "
            f"monotone={self.monotone}, "
            f"{'gap=True, ' if self.gap else ''}relation={self.relation.name})"
        )

"""Report noisy max: the position of the largest noised score, and nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.errors import InputError
from discreet.laws.discrete_laplace import DiscreteLaplace
from discreet.laws.noisy_max import NoisyMaxLaw
from discreet.laws.number import Number, round_up
from discreet.mechanisms.domain import add_noise
from discreet.mechanisms.exponential import truth_value
from discreet.mechanisms.mechanism import PurelyPrivate, positive_epsilon, stated_sensitivity
from discreet.mechanisms.selection_grid import SelectionGrid
from discreet.privacy import Norm, Sensitivity, warn_if_senseless


class NoisyMax(PurelyPrivate):
    """Add discrete Laplace noise to every score and return the position of the largest, the first one on a tie.

    Privacy. epsilon-DP with scale 2 D / epsilon for scores that one person moves by at most D each; scale D / epsilon
        is enough when they are monotone (all move the same way between neighbours, as counts do under add/remove).
        Proof: fix the other candidates' noise; i wins on one table exactly when its noise reaches some level. On the
        neighbour that level rises by at most 2 D (its own score falls by D, a rival's rises by D), or D if all move the
        same way. A discrete Laplace tail loses at most the factor exp(2 D / scale) = e^epsilon over that shift. The
        tie-break is by position, the same on both tables, and D is a multiple of the grid, so the shift stays on it.
    Accuracy. The winner's score is within 2 t of the best with the confidence that all n noises are within t: `error`
        returns it.
    Cost. One 64-bit word and one logarithm a candidate.
    Figure. noisy_max.svg
    Reference. Dwork, Roth 2014, section 3.3; for monotone counts Ding et al. 2018.

    >>> NoisyMax(epsilon=1, sensitivity=1, monotone=True)([3, 900, 14])
    1
    """

    def __init__(
        self,
        *,
        epsilon: Number | None = None,
        sensitivity: Number | Sensitivity | None = None,
        monotone: bool = False,
        grid: Number | None = None,
    ) -> None:
        """`sensitivity` bounds every single score's change; `monotone` states that all move the same way."""
        self._epsilon = positive_epsilon(epsilon)
        self.sensitivity = stated_sensitivity(sensitivity, (Norm.LINF,))
        self.relation = self.sensitivity.relation
        self.monotone = truth_value(monotone)
        sides = 1 if self.monotone else 2
        self._grid = SelectionGrid(self.sensitivity, grid, sides * self.sensitivity.exact / self._epsilon)
        self.noise = DiscreteLaplace(sides * self._grid.sensitivity / self._epsilon)
        warn_if_senseless(self.guarantee, people=None)

    @property
    def grid(self) -> Fraction:
        """The public grid that scores are rounded to."""
        return self._grid.step

    @property
    def _promised(self) -> Fraction:
        """Epsilon as it was given."""
        return self._epsilon

    def __call__(self, value: Any) -> int:
        """Return the position of the largest noised score."""
        steps = self._grid.array(value)
        noise = self.noise.draw(steps.size)
        if noise.dtype == object or _is_large(steps):  # exact in either case: saturation would tie what differs
            steps = steps.astype(object)
        return int(np.argmax(add_noise(steps, noise)))

    def law(self, value: Any) -> NoisyMaxLaw:
        """Return the law of the reported position."""
        steps = self._grid.array(value)
        if _is_large(steps):
            raise InputError("the exact law is available for scores within 2^61 grid steps")
        return NoisyMaxLaw(steps.astype(np.int64), self.noise)

    def error(self, confidence: float, *, candidates: int) -> float:
        """Return how far below the best score the reported one is at most, with the given confidence."""
        return (
            round_up((2 * self.noise.half_width(confidence, candidates) + 1) * self.grid)
            if not self._grid.integer
            else float(2 * self.noise.half_width(confidence, candidates))
        )

    def neighbours(self) -> Iterator[tuple[Any, Any]]:
        """Yield scores where one candidate rises and the others fall, or stay when the scores are monotone."""
        step = int(self._grid.sensitivity)
        far = int(self.noise.scale * 20) + 1
        for count, lead in ((2, 0), (2, -far), (5, 0), (5, far), (5, -far)):
            base = np.zeros(count, dtype=np.int64)
            base[0] = lead
            moved = base.copy()
            moved[0] += step
            if not self.monotone:
                moved[1:] -= step
            first, second = self._in_units(base), self._in_units(moved)
            yield first, second
            yield second, first

    def _in_units(self, steps: Any) -> Any:
        """Return grid steps in the unit of the scores."""
        return steps if self._grid.integer else [Fraction(int(step)) * self.grid for step in steps]

    def __repr__(self) -> str:
        """Show the public parameters."""
        return (
            f"NoisyMax(epsilon={float(self._epsilon):.6g}, sensitivity={self.sensitivity.value}, "
            f"monotone={self.monotone}, "
            f"relation={self.relation.name})"
        )


def _is_large(steps: Any) -> bool:
    """Say whether int64 sums could saturate and hide which score is larger."""
    return bool(steps.dtype == object or steps.max() >= 1 << 61 or steps.min() <= -(1 << 61))

"""The hybrid mean: a public coin picks the piecewise law on a grid or the one-bit report, never worse than either."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from discreet.errors import ParameterError
from discreet.laws.number import exact_rational
from discreet.local.means.hybrid_choice import choose_hybrid
from discreet.local.means.piecewise import Piecewise
from discreet.local.means.scalar_mean import Branch, ScalarMean
from discreet.local.protocol.coin import COIN_TOTAL


@dataclass(frozen=True, kw_only=True, eq=False)
class HybridMean(ScalarMean):
    """Report by the piecewise law with a public probability `weight`, by one bit otherwise.

    The grid (`steps`), the window and the weight are chosen so that the largest variance over all values is smallest;
    each can be given instead. For epsilon below about 0.6 that is the one-bit report itself.

    Privacy. Pure epsilon-local privacy.
        Proof: `ScalarMean`, with the piecewise law and Warner's coin as branches.
    Accuracy. Unbiased. On the grid that it chooses itself the largest variance is not above that of the one-bit mean,
        nor above 4 e^(epsilon/2) / (3 (e^(epsilon/2) - 1)^2) half-widths squared of the continuous piecewise mechanism,
        nor above that of the continuous hybrid of Wang et al. (`docs/local/means.md` has the table).
        Proof: unbiased: `ScalarMean`. The one-bit mean is among the candidates, and up to rounding the choice is never
        above it. The other two are compared, not proven for all epsilon: the tests hold the exact rational variance
        against proven bounds of the formulas at every tenth from 0.1 to 20.
    Cost. Three to five 64-bit words a report; 1 to 11 bits on the wire.
    Figure. local-means.svg
    Reference. Wang et al. 2019; Zhao et al. 2020.

    >>> spec = HybridMean(epsilon=Fraction(2), lower=Fraction(-1), upper=Fraction(1))
    >>> spec.steps, spec.window, spec.weight, round(spec.variance(1), 3)
    (48, 28, Fraction(45, 64), 0.983)
    """

    protocol: ClassVar[str] = "hybrid-mean"
    _public: ClassVar[tuple[str, ...]] = ("lower", "upper", "weight")
    steps: int = 0
    window: int = 0
    weight: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        """Choose what was not given."""
        super().__post_init__()
        weight = exact_rational(self.weight, name="weight")
        if not self.window and not weight:
            choice = choose_hybrid(self.epsilon, self._grid())
            object.__setattr__(self, "steps", choice.steps)
            object.__setattr__(self, "window", choice.window)
            weight = choice.weight
        if not 0 < weight <= 1 or (weight * COIN_TOTAL).denominator != 1:
            raise ParameterError("weight is a probability above 0, a multiple of 2^-64", parameter="weight")
        object.__setattr__(self, "weight", weight)
        law = Piecewise(self.epsilon, self.steps, self.window)
        object.__setattr__(self, "steps", law.steps)
        object.__setattr__(self, "window", law.window)

    def _grid(self) -> int | None:
        """Return the grid if it was given."""
        if not self.steps and not isinstance(self.steps, bool):
            return None
        return Piecewise(self.epsilon, self.steps, 1).steps

    @cached_property
    def branches(self) -> tuple[Branch, ...]:
        """The piecewise law and, unless it has all the weight, the bit."""
        law = Piecewise(self.epsilon, self.steps, self.window)
        first = Branch(self.weight, law, 0)
        if self.weight == 1:
            return (first,)
        return (first, Branch(1 - self.weight, Piecewise(self.epsilon, 1, 1), law.outputs))

    def derived(self) -> dict[str, Any]:
        """Return the coins."""
        return {"cells": self.cells, "coins": [branch.law.coin for branch in self.branches]}

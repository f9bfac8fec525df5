"""The one-bit mean: round to an end of the range by chance, then toss Warner's coin."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

from discreet.local.means.piecewise import Piecewise
from discreet.local.means.scalar_mean import Branch, ScalarMean


@dataclass(frozen=True, kw_only=True, eq=False)
class DuchiBit(ScalarMean):
    """Report one bit: 1 with a probability that grows linearly with the value.

    Privacy. Pure epsilon-local privacy.
        Proof: `ScalarMean` with one branch, one step and a window of one output.
    Accuracy. With E = e^epsilon and x the value in [-1, 1] (its distance from the middle of the range, in half-widths)
        a decoded bit is unbiased for x and has the variance ((E + 1) / (E - 1))^2 - x^2, at most ((E + 1) / (E - 1))^2.
        Up to epsilon about 0.6 `HybridMean` finds nothing better. The variances that the methods return are those of
        the rational coin.
        Proof: a decoded bit is +-1 / (2 p - 1), whose square is constant, and p = E / (E + 1) up to the rounding.
    Cost. Two 64-bit words a report; one bit on the wire.
    Figure. local-means.svg
    Reference. Duchi, Jordan, Wainwright 2018.

    >>> spec = DuchiBit(epsilon=Fraction(1), lower=Fraction(-1), upper=Fraction(1))
    >>> spec.report_bits, round(spec.variance(1), 4)
    (1, 4.6827)
    >>> reports = spec.client().report_many([0.25] * 1000)
    >>> mean = spec.aggregator().add(reports).estimate()
    >>> abs(mean.value - 0.25) < 0.6
    True
    """

    protocol: ClassVar[str] = "duchi-bit"

    @cached_property
    def branches(self) -> tuple[Branch, ...]:
        """Warner's coin."""
        return (Branch(Fraction(1), Piecewise(self.epsilon, 1, 1), 0),)

    def derived(self) -> dict[str, Any]:
        """Return the coin."""
        return {"cells": self.cells, "coin": self.branches[0].law.coin}

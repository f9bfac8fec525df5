"""Randomized response with a rational coin: the truth, or another value; best where there are few categories."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet.local.frequency.oracle import CategoricalOracle, PureOracle
from discreet.local.protocol import Integers, toss
from discreet.randomness import uniform_below_array


@dataclass(frozen=True, kw_only=True, eq=False)
class DirectResponse(CategoricalOracle, PureOracle):
    """Report one's own value with probability p, any other with (1 - p) / (k - 1) each; two values are Warner's coin.

    Privacy. Pure epsilon-local privacy: the preferred output of a value is the value itself.
        Proof: see `FrequencyOracle`, with one preferred output out of k.
    Accuracy. Unbiased with the variance of `PureOracle`, which is (k - 2 + e^epsilon) / (n (e^epsilon - 1)^2) for a
        rare value: the least of all our protocols as long as k < 3 e^epsilon + 2.
        Proof: p = e^epsilon / (e^epsilon + k - 1) and r = 1 / (e^epsilon + k - 1), up to the rounding of p.
    Cost. Two 64-bit words a report.
    Reference. Warner 1965; Kairouz, Bonawitz, Ramage 2016.

    >>> spec = DirectResponse(epsilon=Fraction(1), categories=4)
    >>> spec.report_bits, round(spec.variance(1000), 6)
    (2, 0.001598)
    """

    protocol: ClassVar[str] = "randomized-response"

    @property
    def cells(self) -> int:
        """A report is a value."""
        return self.category_count

    @property
    def inside(self) -> int:
        """A value prefers itself."""
        return 1

    @property
    def apart(self) -> int:
        """Two values prefer different outputs."""
        return 1

    @property
    def shared(self) -> Fraction:
        """Another value is reported as x only outside its preference."""
        return self.unlikely

    def preferred(self, item: int) -> Integers:
        """Return the value itself."""
        return self.items([item])

    def randomize(self, items: Integers) -> Integers:
        """Tell the truth with probability p, else one of the others."""
        other = uniform_below_array(self.category_count - 1, items.size)
        return np.where(toss(self.coin, items.size), items, other + (other >= items))

    def support(self, counts: Integers) -> Integers:
        """Return the histogram itself."""
        return counts

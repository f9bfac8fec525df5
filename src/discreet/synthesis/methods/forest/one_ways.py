"""All one-way histograms with noise, and the shares of values they tell: the first step of independent and tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.synthesis.base.purse import Noisy, Purse
from discreet.synthesis.domain.domain import Domain, Records

Floats = NDArray[np.float64]
_WEIGHT_STEPS = 1 << 20


def divided_by_size(total: Fraction, sizes: Sequence[float], *, pure: bool) -> tuple[Fraction, ...]:
    """Divide a share over histograms of these numbers of cells so that the expected L1 error of all is least.

    Accuracy. Of all divisions, shares proportional to size^(2/3) (pure: size^(1/2)) have the least sum of size times
        deviation, up to the rounding of the weights to 2^-20 of the smallest.
        Proof: the deviation is c / share^(1/2) for Gaussian noise and about c / share for Laplace noise; at the least
        sum for a fixed total the derivatives of size c share^(-a) agree, so share^(a + 1) is proportional to size.

    >>> [float(one) for one in divided_by_size(Fraction(1), [1, 8], pure=False)]
    [0.2, 0.8]
    """
    power = 1 / 2 if pure else 2 / 3
    smallest = min(sizes)
    weights = [round(_WEIGHT_STEPS * (size / smallest) ** power) for size in sizes]
    return tuple(total * Fraction(weight, sum(weights)) for weight in weights)


def measured_attributes(domain: Domain) -> tuple[int, ...]:
    """Return the attributes with more than one value: of the others everything is known."""
    return tuple(place for place, size in enumerate(domain.sizes) if size > 1)


@dataclass(frozen=True, eq=False)
class OneWays:
    """Noisy histograms of single attributes, by attribute; nothing is measured where there is one value only."""

    domain: Domain
    noisy: dict[int, Noisy]

    @classmethod
    def measure(cls, records: Records, purse: Purse, shares: dict[int, Fraction]) -> OneWays:
        """Release the histogram of every attribute that has a share."""
        sizes, noisy = records.domain.sizes, dict[int, Noisy]()
        for place, share in shares.items():
            histogram = np.bincount(records.codes[place], minlength=sizes[place]).astype(np.int64)
            noisy[place] = purse.noisy(histogram, share)
        return cls(records.domain, noisy)

    @cached_property
    def total(self) -> float:
        """The number of records, at least 1: the sums of all histograms, weighted by the inverse of their variances."""
        weights = [1 / (len(one.values) * variance(one)) for one in self.noisy.values()]
        sums = [float(one.values.sum(dtype=np.float64)) for one in self.noisy.values()]
        return max(1.0, float(np.average(sums, weights=weights))) if sums else 1.0

    def shares(self) -> tuple[Floats, ...]:
        """Return the shares of values of each attribute: the nearest ones that are at least 0 and sum to 1."""
        found = [np.full(size, 1 / size) for size in self.domain.sizes]
        for place, one in self.noisy.items():
            found[place] = onto_simplex(one.values / self.total)
        return tuple(found)


def variance(noisy: Noisy) -> float:
    """Return the variance of the noise, above 0 also where it is too small for a float."""
    return max(noisy.deviation**2, 1e-12)


def onto_simplex(values: Floats, total: float = 1.0) -> Floats:
    """Return the nearest vector with entries of at least 0 and the given sum.

    >>> onto_simplex(np.array([0.9, 0.5, -0.2])).round(6).tolist()
    [0.7, 0.3, 0.0]
    """
    falling = np.sort(values)[::-1]
    levels = (np.cumsum(falling) - total) / np.arange(1, len(values) + 1)
    kept = int(np.flatnonzero(falling >= levels)[-1])
    shares = np.maximum(values - levels[kept], 0.0)
    held = shares.sum()  # not quite the total, by rounding
    return shares * (total / held) if held > 0 else np.full(len(values), total / len(values))


def default_rows(domain: Domain, size: int) -> int:
    """Return a public number of rows for a synthetic table: the stated size, at least 100,000, in bounded memory."""
    most = max(1_000, 50_000_000 // len(domain))
    return min(max(size, 100_000), most, 1_000_000)

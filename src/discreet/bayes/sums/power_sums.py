"""Noisy sums of clipped normal rows, and their likelihood: what is released is nearly normal given mean, spread and n.

Given n rows, (sum x, sum x^2) in shares of the bounds has the mean n (m_1, m_2) and the covariance n V, V = [[m_2 -
m_1^2, m_3 - m_1 m_2], [., m_4 - m_2^2]] of the moments of a clipped normal row, and is taken as normal with these (see
`skewness`). An entry is c_0 n + c_1 sum x + c_2 sum x^2 plus noise. Normal noise is added to the covariance, so that
the sums need not be drawn. Laplace noise of scale b is a normal of variance 2 b^2 w, w exponential (Andrews, Mallows
1974): with an unknown w an entry (see `mixed_normal`) the rest is as before. That mixes where sums as unknowns do not:
their posterior is a thin sheet where noise is small, and a star with one arm an entry where it is large. An entry of n
alone is exact, integer noise on an integer.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.sums.clipped_moments import clipped_moments
from discreet.bayes.sums.mixed_normal import log_normal
from discreet.laws.noise import IntegerNoise
from discreet.mechanisms.noise import GaussianNoise

Floats = NDArray[np.float64]
_LOG_ROOT = 0.5 * math.log(2.0 * math.pi)


@dataclass(frozen=True, slots=True)
class SumEntry:
    """A released integer: combination of n, sum x and sum x^2 in shares of the bounds, plus noise."""

    of_people: int
    of_sum: float
    of_squares: float
    released: int
    noise: IntegerNoise

    @property
    def counts(self) -> bool:
        """Whether it says something about n alone."""
        return self.of_sum == 0.0 and self.of_squares == 0.0


@dataclass(frozen=True, slots=True, eq=False)
class PowerSumLikelihood:
    """The likelihood of the entries of one group, as a function of mean and deviation in shares, n, and mixing.

    Entries about sums are kept as arrays in units of the scale of their noise.
    """

    counts: tuple[SumEntry, ...]
    of_people: Floats
    of_sums: Floats
    released: Floats
    normal: NDArray[np.bool_]
    constant: float
    steps: int
    clipped: bool = True

    @classmethod
    def of(cls, entries: Sequence[SumEntry], steps: int, *, clipped: bool = True) -> PowerSumLikelihood:
        """Sort entries into those about n alone and those about sums."""
        sums = [one for one in entries if not one.counts]
        scales = np.array([float(one.noise.scale) for one in sums]).reshape(-1, 1)
        table = [(one.of_people, one.of_sum, one.of_squares, one.released) for one in sums]
        columns = np.array(table, dtype=np.float64).reshape(-1, 4) / scales
        normal = np.array([isinstance(one.noise, GaussianNoise) for one in sums], dtype=np.bool_)
        constant = -float(np.log(scales).sum())
        counts = tuple(one for one in entries if one.counts)
        return cls(counts, columns[:, 0], columns[:, 1:3], columns[:, 3], normal, constant, steps, clipped)

    @property
    def latent(self) -> int:
        """How many mixing variables there are: one for each sum with Laplace noise."""
        return int((~self.normal).sum())

    def people(self) -> tuple[float, float] | None:
        """Return the number of rows by least squares, and its deviation; None where no combination tells it."""
        exact = [(one.of_people, 0.0, 0.0, one.released) for one in self.counts]
        table = np.array(exact, dtype=np.float64).reshape(-1, 4)
        table /= np.array([float(one.noise.scale) for one in self.counts]).reshape(-1, 1)
        table = np.concatenate([table, np.column_stack([self.of_people, self.of_sums, self.released])])
        size = np.abs(table[:, :3]).max(axis=0, initial=0.0)
        used = np.flatnonzero(size)
        if 0 not in used:
            return None
        scaled = table[:, used] / size[used]
        inverse = np.linalg.pinv(scaled, rcond=1e-9)[0]
        if np.abs(inverse @ scaled - np.eye(used.size)[0]).max() > 1e-6:
            return None
        combination = inverse / size[0]
        return float(combination @ table[:, 3]), float(math.sqrt(2.0) * np.linalg.norm(combination))

    def at(self, mean: Floats, deviation: Floats, people: Floats, log_mixing: Floats) -> Floats:
        """Return ln of the likelihood; people are whole numbers of at least 0, `log_mixing` is (points, latent)."""
        one, two, three, four = self._moments(mean, deviation)
        counts, sums, squares = self.of_people[:, np.newaxis], self.of_sums[:, :1], self.of_sums[:, 1:]
        residual = self.released[:, np.newaxis] - people * (counts + sums * one + squares * two)
        first = np.sqrt(people * np.maximum(two - one * one, 0.0))
        across = np.divide(people * (three - one * two), first, out=np.zeros_like(first), where=first > 0.0)
        rest = np.sqrt(np.maximum(people * (four - two * two) - across * across, 0.0))
        factor = np.stack([sums * first + squares * across, squares * rest], axis=1)
        found = self.constant + self._counted(people)
        if self.latent:
            deviation = np.ones(residual.shape)
            deviation[~self.normal] = math.sqrt(2.0) * np.exp(0.5 * log_mixing.T)
            residual, factor = residual / deviation, factor / deviation[:, np.newaxis]
            found -= 0.5 * log_mixing.sum(axis=1) + 0.5 * math.log(2.0) * self.latent
        return np.asarray(found + log_normal(residual, factor))

    def _moments(self, mean: Floats, deviation: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the moments of a row."""
        if self.clipped:
            return clipped_moments(mean, deviation, steps=self.steps)
        squared, variance = mean * mean, deviation * deviation
        third = mean * (squared + 3.0 * variance)
        return mean, squared + variance, third, squared * squared + 6.0 * squared * variance + 3.0 * variance * variance

    def _counted(self, people: Floats) -> Floats:
        """Return ln of the probability of what was released about n alone."""
        total = np.zeros(people.shape)
        for one in self.counts:
            numbers, places = np.unique(people, return_inverse=True)
            noise = [one.released - one.of_people * int(number) for number in numbers]
            total += np.asarray(one.noise.log_pmf(noise), dtype=np.float64)[places]
        return total

    def row_sums(self, shares: Floats) -> tuple[Floats, Floats]:
        """Return what rows at these shares add to each sum in units of its noise, and the variances of the noise."""
        rows = self.of_people + np.outer(shares, self.of_sums[:, 0]) + np.outer(shares**2, self.of_sums[:, 1])
        return rows, np.where(self.normal, 1.0, 2.0)

"""Sums of rows by class, released once: counts and means, and what is shrunk of them because it is noise.

A row x in [-1, 1]^d becomes the vector (sqrt(d) / 4, x), with the squares of x behind it where variances are wanted,
and is pulled into the ball of radius sqrt(5 d) / 4: a row with a mean square up to 1/4 is not touched, and one further
out counts for less, in its count as in its values, so that means and variances stay those of weighted rows.
"""

from __future__ import annotations

import math
from abc import ABC
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.learning.base import Public
from discreet.learning.counts.one_release import OneRelease, OneRow, labels_of, number_of_classes
from discreet.learning.exact import CHUNK, STEPS, Cut, FitRows, exact_sum, in_ball, products

Floats = NDArray[np.float64]
_LEAST_KEPT = 0.1  # of what differs between classes: where all is noise, its direction is still the best guess
_LEAST_COUNT = 0.25  # of an equal part of the people


@dataclass(frozen=True, slots=True)
class ClassMeans:
    """Counts and means of the classes, in rows and in [-1, 1], and the variance of the noise in a mean."""

    counts: Floats
    means: Floats  # of the features, then of their squares
    noise: Floats  # a line a class
    overall_noise: float


@dataclass(eq=False, repr=False, kw_only=True)
class ClassSums(OneRelease, ABC):
    """The base of models made of class sums.

    Privacy. The sums of a row's vectors by class move by at most 2^19 in L2 when a row comes or goes.
        Proof: `in_ball` makes of the vector integers at most 2^19 long, whatever other rows are there, and a row adds
        them to the sums of one class. There are at most 1 + 2 * 2^11 coordinates, for which the relative error of the
        ball lemma, (p + 8) 2^-53, is below 2^-40. Two rows may point apart, so change-one doubles the distance.
    """

    _powers: ClassVar[int] = 1  # of the features that are summed

    def _shape(self, public: Public) -> tuple[int, ...]:
        return number_of_classes(public), 1 + self._powers * public.features

    def _row(self, public: Public) -> OneRow:  # noqa: ARG002
        return OneRow(STEPS**2)

    def _unit(self, public: Public) -> float:
        return _weight(public) * STEPS / _radius(public)

    def _sums(self, public: Public, rows: FitRows) -> NDArray[Any]:
        cut, codes = Cut(public.low, public.high), labels_of(rows)
        classes, every = number_of_classes(public), np.arange(number_of_classes(public))[:, np.newaxis]

        def part(begin: int) -> NDArray[np.int64]:
            lines, counted = cut(rows.features[begin : begin + CHUNK])
            first = np.full((1, lines.shape[1]), _weight(public))
            stacked = np.vstack([first, lines, lines * lines][: 1 + self._powers])
            vectors = np.where(counted, in_ball(stacked, _radius(public)), 0.0)
            return products((every == codes[begin : begin + CHUNK]).astype(np.float64), vectors)

        parts = (part(begin) for begin in range(0, len(rows), CHUNK))
        return exact_sum(parts, (classes, 1 + self._powers * public.features), len(rows))

    def _means(self, public: Public, noisy: Floats) -> ClassMeans:
        """Return counts and means of the classes, drawn to equal counts and a common mean as far as they are noise.

        The factors are those of James and Stein (1961): what is seen of squares beyond the noise, over what is seen.
        """
        classes, people = number_of_classes(public), public.neighbors.people
        deviation = self._deviation(public) * _radius(public) / STEPS
        sums = noisy * (_radius(public) / STEPS)
        equal = people / classes
        seen = sums[:, 0] / _weight(public) - equal
        counts = np.maximum(equal + shrunk(seen, (deviation / _weight(public)) ** 2), _LEAST_COUNT * equal)
        overall_noise = classes * (deviation / counts.sum()) ** 2
        features = slice(1, 1 + public.features)
        common = shrunk(sums[:, features].sum(axis=0) / counts.sum(), overall_noise)
        means, noise = sums[:, 1:] / counts[:, np.newaxis], ((deviation / counts) ** 2)[:, np.newaxis]
        apart = shrunk(means[:, : public.features] - common, noise, least=_LEAST_KEPT)
        means[:, : public.features] = np.clip(common + apart, -1.0, 1.0)
        return ClassMeans(counts, means, noise, overall_noise)


def shrunk(seen: Floats, noise: Floats | float, *, least: float = 0.0) -> Floats:
    """Return numbers with noise of known variance, drawn towards 0 by one factor for all that have the same noise."""
    signal = max(float((seen * seen - noise).mean()), 0.0)
    return np.asarray(seen * np.maximum(signal / (signal + noise), least))


def _weight(public: Public) -> float:
    """Return the first coordinate of a row's vector, which counts the row."""
    return math.sqrt(public.features) / 4


def _radius(public: Public) -> float:
    """Return the radius of the ball that the vectors are pulled into."""
    return math.sqrt(5 * public.features) / 4

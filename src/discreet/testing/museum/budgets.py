"""Exhibits that answer several questions: with the budget split or not, with fresh, reused or foreseeable noise."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.laws import DiscreteLaplace, Finite, Pair
from discreet.privacy import PureDP
from discreet.testing.museum.exhibit import NumericExhibit, Vector, Vectors, laplace, right, seeded, uniform, wrong
from discreet.testing.museum.histograms import LaplaceAnswers

_DWORK = "Dwork, McSherry, Nissim, Smith 2006"
_EPSILON = Fraction(1, 10)
_ANSWERS = 5


class SplitBudget(LaplaceAnswers):
    """Five answers at a fifth of the budget each."""

    label = right(
        "SplitBudget",
        PureDP(_EPSILON),
        "Five answers with Laplace noise of scale 5 / epsilon each: right.",
        _DWORK,
    )
    scale = _ANSWERS / _EPSILON

    def neighbors(self) -> list[Vectors]:
        """One person moves every answer."""
        return [(np.zeros(_ANSWERS), np.ones(_ANSWERS)), (np.zeros(_ANSWERS), np.eye(_ANSWERS)[0])]


class UnsplitBudget(SplitBudget):
    """Five answers at the whole budget each."""

    label = wrong(
        "UnsplitBudget",
        PureDP(_EPSILON),
        "Five answers at epsilon each, and epsilon claimed for all of them together.",
        _DWORK,
    )
    scale = 1 / _EPSILON


class NoiseDrawnOnce(NumericExhibit):
    """Two answers with the same noise."""

    label = wrong(
        "NoiseDrawnOnce",
        PureDP(2 * _EPSILON),
        "Two answers share one draw of integer noise: their difference is exact.",
        "Dwork, Roth 2014, on composition; the fault is a textbook one",
    )

    def neighbors(self) -> list[Vectors]:
        """One answer moves, or both."""
        return [(np.zeros(2), np.array([1.0, 0.0])), (np.zeros(2), np.ones(2))]

    def runs(self, value: Vector, draws: int) -> NDArray[np.int64]:
        """Draw pairs of answers."""
        noise = DiscreteLaplace(1 / _EPSILON).draw(draws).astype(np.int64)
        return value.astype(np.int64) + noise[:, None]

    def pair(self, first: Vector, second: Vector) -> Pair:
        """Different differences never meet; with equal ones the second answer adds nothing to the first."""
        if not np.array_equal(np.diff(first), np.diff(second)):
            return disjoint()
        noise = DiscreteLaplace(1 / _EPSILON)
        return noise.at(int(first[0])).pair(noise.at(int(second[0])))


class FixedSeed(NumericExhibit):
    """Noise from a generator with a seed that anybody can read in the code."""

    label = wrong(
        "FixedSeed",
        PureDP(_EPSILON),
        "The generator is seeded with a constant before each answer: the noise is a public number.",
        "Garfinkel, Leclerc 2020",
    )

    def neighbors(self) -> list[Vectors]:
        """A number and the one beside it."""
        return [(np.zeros(1), np.ones(1))]

    def runs(self, value: Vector, draws: int) -> NDArray[np.float64]:
        """Draw the same number again and again."""
        noise = float(laplace(seeded(2026), float(1 / _EPSILON), (1,))[0])
        return np.full(draws, float(value[0]) + noise)

    def pair(self, first: Vector, second: Vector) -> Pair:
        """The outputs differ for certain, unless the inputs are the same."""
        return certain() if first[0] == second[0] else disjoint()


class UniformNoise(NumericExhibit):
    """Noise between -10 and 10, all values alike."""

    label = wrong(
        "UniformNoise",
        PureDP(_EPSILON),
        "Noise uniform on [-10, 10]: within the range it hides perfectly, beyond one end it rules an input out.",
        "Dwork, Roth 2014, on why pure privacy needs unbounded noise",
    )
    width = 20

    def neighbors(self) -> list[Vectors]:
        """A number and the one beside it."""
        return [(np.zeros(1), np.ones(1))]

    def runs(self, value: Vector, draws: int) -> NDArray[np.float64]:
        """Draw noisy numbers."""
        return float(value[0]) + uniform(self.random, self.width, draws)

    def pair(self, first: Vector, second: Vector) -> Pair:
        """Where both are possible they are equally likely."""
        alone = min(Fraction(abs(float(first[0] - second[0]))) / self.width, Fraction(1))
        outcomes = ["of the first input only", "of both inputs", "of the second input only"]
        return Finite(outcomes, [alone, 1 - alone, Fraction(0)]).pair(Finite(outcomes, [Fraction(0), 1 - alone, alone]))


def disjoint() -> Pair:
    """Return the pair of two outputs that never agree."""
    outcomes, one, zero = ["of the first input only", "of the second input only"], Fraction(1), Fraction(0)
    return Finite(outcomes, [one, zero]).pair(Finite(outcomes, [zero, one]))


def certain() -> Pair:
    """Return the pair of two outputs that always agree."""
    return Finite(["of both inputs"], [Fraction(1)]).pair(Finite(["of both inputs"], [Fraction(1)]))

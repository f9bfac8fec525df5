"""Faults in noise that is added: Laplace, Gaussian and truncated geometric."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from discreet.audit import Level
from discreet.laws import DiscreteGaussian, DiscreteLaplace, TruncatedLaplace
from discreet.mechanisms import Gaussian, Laplace, TruncatedGeometric
from discreet.privacy import ApproxDP, Norm, PureDP, Relation, Sensitivity
from discreet.testing.planted.fault import COPIES, INDEPENDENT, LAW, Overstated, Planted, planted

_COUNTS = Sensitivity(1, norm=Norm.L1, relation=Relation.ADD_REMOVE)


class HalfTheNoise(Overstated, Laplace):  # type: ignore[misc]  # a guarantee of any kind
    """Half the scale at the full guarantee."""

    def __init__(self, **stated: Any) -> None:
        super().__init__(**stated)
        self._said = PureDP(stated["epsilon"], relation=self.relation)
        self.noise = DiscreteLaplace(self.noise.scale / 2)


class MovesByTwo(Laplace):
    """Priced for a sensitivity of 1; on its tables one person moves the answer by 2."""

    def neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield what one person really does."""
        yield 0, 2


class ForgetsRounding(Overstated, Laplace):  # type: ignore[misc]  # a guarantee of any kind
    """Sensitivity in grid steps as a plain quotient: rounding both answers can add a step."""

    def __init__(self, **stated: Any) -> None:
        super().__init__(**stated)
        self._said = PureDP(stated["epsilon"], relation=self.relation)
        self.noise = DiscreteLaplace(self.sensitivity.exact / self.grid / Fraction(stated["epsilon"]))


class NeverNegative(Laplace):
    """The sign of the noise is lost."""

    def __call__(self, value: Any) -> Any:
        """Add the size of the noise."""
        return value + abs(self.noise.draw_one())


class OneNoiseForAll(Laplace):
    """The same noise on every coordinate: each is right alone, their differences are exact."""

    def __call__(self, value: Any) -> Any:
        """Add one draw to all."""
        return np.asarray(value) + self.noise.draw_one()


class DrawnOnce(Laplace):
    """The noise is drawn when the mechanism is made and serves all releases."""

    def __init__(self, **stated: Any) -> None:
        super().__init__(**stated)
        self._kept = self.noise.draw_one()

    def __call__(self, value: Any) -> Any:
        """Add what was drawn."""
        return value + self._kept


class EveryDrawTwice(Laplace):
    """Each draw serves two releases in a row."""

    _kept: int | None = None

    def __call__(self, value: Any) -> Any:
        """Add a fresh draw, or the last one again."""
        if self._kept is None:
            self._kept = self.noise.draw_one()
            return value + self._kept
        noise, self._kept = self._kept, None
        return value + noise


class SticksToTheValue(Laplace):
    """The same answer is returned whenever the same value is asked about."""

    def __init__(self, **stated: Any) -> None:
        super().__init__(**stated)
        self._answers: dict[Any, Any] = {}

    def __call__(self, value: Any) -> Any:
        """Look the answer up."""
        return self._answers.setdefault(value, super().__call__(value))


class ClampsToTheData(Laplace):
    """Answers are clamped to at most twice the true value, 'because larger ones make no sense'."""

    def __call__(self, value: Any) -> Any:
        """Clamp by what nobody may know."""
        return min(super().__call__(value), 2 * value)


class AnotherLaw(Laplace):
    """Gaussian noise of the same variance, behind the law of Laplace noise."""

    def __init__(self, **stated: Any) -> None:
        super().__init__(**stated)
        self._other = DiscreteGaussian(Fraction(math.sqrt(2.0) * float(self.noise.scale)))

    def __call__(self, value: Any) -> Any:
        """Add the other noise."""
        return value + self._other.draw_one()


class PureByName(Overstated, Gaussian):
    """Gaussian noise sold as pure privacy."""

    _said = PureDP(1)


class SeededLaplace(Laplace):
    """Noise from a generator that starts the same sequence in every copy."""

    def __init__(self, **stated: Any) -> None:
        super().__init__(**stated)
        self._generator = np.random.default_rng(1)  # noqa: TID251  which is the fault

    def __call__(self, value: Any) -> Any:
        """Add what the generator gives."""
        return value + round(self._generator.laplace(scale=float(self.noise.scale)))


class ContinuousFormula(Overstated, Gaussian):
    """Calibrated with the formula for continuous noise, which is too small on integers."""

    _said = ApproxDP(0.5, 6.857e-9)


class NormOfOne(Gaussian):
    """An array of two counts, both moved by one person, priced for the move of one."""

    def neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield what one person really does."""
        yield np.zeros(2, dtype=np.int64), np.ones(2, dtype=np.int64)


class LargestForSum(Laplace):
    """An array of four counts, all moved by one person, priced for the largest move instead of the sum."""

    def neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield what one person really does."""
        yield np.zeros(4, dtype=np.int64), np.ones(4, dtype=np.int64)


class ShortReach(TruncatedGeometric):
    """The reach is one too small for the guaranteed delta."""

    def __init__(self, **stated: Any) -> None:
        super().__init__(**stated)
        self.noise = TruncatedLaplace(self.noise.scale, reach=self.noise.reach - 1)


class ClampedNoise(TruncatedGeometric):
    """Noise beyond the reach is moved to the reach instead of being drawn again."""

    def __init__(self, **stated: Any) -> None:
        super().__init__(**stated)
        self._wide = DiscreteLaplace(self.noise.scale)

    def __call__(self, value: Any) -> Any:
        """Clamp."""
        return value + max(-self.reach, min(self.reach, self._wide.draw_one()))


class AveragedNoise(Laplace):
    """The mean of eight draws, 'for accuracy'."""

    def __call__(self, value: Any) -> Any:
        """Average."""
        return value + round(sum(self.noise.draw_one() for _ in range(8)) / 8)


class OneSidedGeometric(Laplace):
    """Geometric noise with one side, so that an answer below the truth never occurs."""

    def __call__(self, value: Any) -> Any:
        """Draw until it is not negative."""
        noise = self.noise.draw_one()
        while noise < 0:
            noise = self.noise.draw_one()
        return value + noise


class NoNoiseAtZero(Laplace):
    """An empty group is answered exactly."""

    def __call__(self, value: Any) -> Any:
        """Skip the noise where 'there is nobody to protect'."""
        return 0 if value == 0 else super().__call__(value)


_vector = np.array([3, 4, 5])
_laplace = partial(planted, Laplace, epsilon=1, sensitivity=1)
_truncated_geometric = partial(planted, TruncatedGeometric, delta=1e-3, epsilon=1, sensitivity=1)
FAULTS = [
    _laplace(HalfTheNoise, "half the noise", "scale D / (2 epsilon)", Level.EXACT),
    Planted("Laplace: sensitivity too small", "one person moves the answer by 2, stated was 1", Level.EXACT,
            partial(MovesByTwo, epsilon=1, sensitivity=1), partial(MovesByTwo, epsilon=1, sensitivity=2)),
    _laplace(ForgetsRounding, "rounding forgotten", "sensitivity in steps not rounded up", Level.EXACT,
        sensitivity=0.75, grid=0.5),
    _laplace(NeverNegative, "sign lost", "the noise is never negative", Level.STATISTICAL, neighbors=[(0, 1)],
        draws=8000),
    _laplace(OneNoiseForAll, "one noise for all coordinates", "differences of coordinates are exact", INDEPENDENT,
        sensitivity=_COUNTS, inputs=[_vector]),
    _laplace(DrawnOnce, "noise drawn once", "one draw serves all releases", LAW, inputs=[3]),
    _laplace(EveryDrawTwice, "every draw used twice", "two releases in a row share their noise", INDEPENDENT,
        inputs=[3]),
    _laplace(SticksToTheValue, "noise sticks to the value", "the same question gets the same answer for ever", LAW,
        inputs=[3]),
    _laplace(ClampsToTheData, "clamped to the data", "answers never exceed twice the truth", Level.STATISTICAL,
        neighbors=[(0, 1)], draws=8000),
    _laplace(AnotherLaw, "Gaussian noise instead", "the same variance, another law", LAW, sensitivity=4, inputs=[3],
        draws=8000),
    _laplace(SeededLaplace, "fixed seed", "copies repeat the noise", COPIES, sensitivity=20, inputs=[3]),
    Planted("Laplace: largest move for the sum", "an array priced in the wrong norm", Level.EXACT,
            partial(LargestForSum, epsilon=1, sensitivity=_COUNTS),
            partial(LargestForSum, epsilon=1, sensitivity=Sensitivity(4, norm=Norm.L1, relation=Relation.ADD_REMOVE))),
    _laplace(AveragedNoise, "averaged draws", "the mean of eight draws is added", Level.STATISTICAL, sensitivity=3,
        neighbors=[(0, 3)], draws=8000),
    _laplace(OneSidedGeometric, "one-sided noise", "an answer below the truth never occurs", Level.STATISTICAL,
        neighbors=[(0, 1)], draws=8000),
    _laplace(NoNoiseAtZero, "no noise at zero", "an empty group is answered exactly", Level.STATISTICAL,
        neighbors=[(0, 1)], draws=8000),
    planted(Gaussian, PureByName, "pure by name", "no Gaussian noise has a pure guarantee", Level.EXACT, scale=3,
        sensitivity=1, neighbors=[(0, 1)]),
    Planted("Gaussian: continuous formula", "delta of continuous noise, 1 % too small on integers", Level.EXACT,
            partial(ContinuousFormula, scale=10, sensitivity=1),
            partial(Gaussian, epsilon=0.5, delta=6.857e-9, sensitivity=1), neighbors=[(0, 1)]),
    Planted("Gaussian: distance of one coordinate", "an array priced for the move of one entry", Level.EXACT,
            partial(NormOfOne, scale=2, sensitivity=Sensitivity(1, norm=Norm.L2, relation=Relation.ADD_REMOVE)),
            partial(NormOfOne, scale=2, sensitivity=Sensitivity(2, norm=Norm.L2, relation=Relation.ADD_REMOVE))),
    _truncated_geometric(ShortReach, "reach too short", "delta is exceeded", Level.EXACT),
    _truncated_geometric(ClampedNoise, "clamped", "what lies beyond the reach is moved there", LAW, delta=0.009,
        inputs=[3], draws=100_000),
]  # fmt: skip

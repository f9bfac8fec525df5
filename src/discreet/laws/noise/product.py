"""Independent laws side by side: the law of a vector answer."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.laws.enclosure import Enclosure
from discreet.laws.finite import Finite, FinitePair
from discreet.laws.law import Law, Shape, as_size
from discreet.laws.noise.location_pair import LocationPair
from discreet.laws.pair import Pair
from discreet.randomness.rigor import lower_float, precision, upper_float

_LARGEST = 1 << 21
_TAIL = Fraction(1, 10**16)
_LEAST_NORMAL = 2.0**-1020
_ONE_EACH = "an outcome of a product has one entry a component; pass many as rows of an array or a list of tuples"


class Product(Law[tuple[Any, ...]]):
    """Independent components.

    `pair` is exact: components that are equal on both sides drop out, one that differs is its own pair, and several are
    multiplied out atom by atom as long as that stays below two million atoms. Larger products are priced by
    composition.
    """

    def __init__(self, laws: Sequence[Law[Any]]) -> None:
        self.laws = tuple(laws)
        if not self.laws:
            raise ParameterError("a product needs at least one law", parameter="laws")

    def pmf(self, outcome: Any) -> Any:
        """Return the probability of one outcome, a tuple or an array with an entry a component, or of each of many.

        Many outcomes are the rows of an array, as `sample` draws them, or a list of tuples, lists or arrays.
        """
        if isinstance(outcome, np.ndarray) and outcome.ndim > 1:
            chances = [self.pmf(row) for row in outcome.reshape(-1, outcome.shape[-1])]
            return np.array(chances, dtype=np.float64).reshape(outcome.shape[:-1])
        if isinstance(outcome, list) and all(isinstance(one, tuple | list | np.ndarray) for one in outcome):
            return np.array([self.pmf(one) for one in outcome], dtype=np.float64)
        if not isinstance(outcome, tuple | list | np.ndarray) or len(outcome) != len(self.laws):
            raise ParameterError(_ONE_EACH, parameter="outcome")
        chances = [law.pmf(entry) for law, entry in zip(self.laws, outcome, strict=True)]
        if any(np.ndim(chance) for chance in chances):
            raise ParameterError(_ONE_EACH, parameter="outcome")
        return math.prod(float(chance) for chance in chances)

    def sample(self, shape: Shape | None = None) -> Any:
        """Draw one array with an entry a component, or an array of them along the last axis."""
        if shape is None:
            return np.array([law.sample() for law in self.laws])
        sizes, count = as_size(shape)
        return np.stack([law.sample(count) for law in self.laws], axis=-1).reshape((*sizes, len(self.laws)))

    def pair(self, other: Law[tuple[Any, ...]]) -> Pair:
        """Return the pair of two products with the same number of components."""
        if not isinstance(other, Product) or len(other.laws) != len(self.laws):
            raise ParameterError("a product is compared with a product of as many components")
        pairs = [mine.pair(theirs) for mine, theirs in zip(self.laws, other.laws, strict=True) if mine != theirs]
        if not pairs:
            certain = Finite([0], [Fraction(1)])
            return certain.pair(certain)
        if len(pairs) == 1:
            return pairs[0]
        return ProductPair(pairs)

    def __repr__(self) -> str:
        return f"Product({len(self.laws)} laws)"


class ProductPair(Pair):
    """The pair of independent components: losses add, atoms multiply."""

    def __init__(self, pairs: Sequence[Pair]) -> None:
        self.pairs = tuple(pairs)
        self._joint: FinitePair | None = None

    def max_loss(self) -> Enclosure:
        """Independent components attain their largest losses together: the suprema add."""
        parts = [pair.max_loss() for pair in self.pairs]
        low, high = math.fsum(part.lower for part in parts), math.fsum(part.upper for part in parts)
        return Enclosure.outward(low, high, method="sum of the components' largest losses")

    def concentration(self) -> Fraction | None:
        """Renyi divergences of independent components add, and so do their bounds."""
        parts = [pair.concentration() for pair in self.pairs]
        return (
            None if any(part is None for part in parts) else sum((part or Fraction(0) for part in parts), Fraction(0))
        )

    def components(self) -> tuple[tuple[Pair, int], ...]:
        """The pairs themselves."""
        return tuple((pair, 1) for pair in self.pairs)

    def gaussian_square(self) -> Fraction | None:
        """Normal pairs side by side are one, after a rotation: squares of their distances add."""
        parts = [pair.gaussian_square() for pair in self.pairs]
        return (
            None if any(part is None for part in parts) else sum((part or Fraction(0) for part in parts), Fraction(0))
        )

    def draw_losses(self, count: int) -> NDArray[np.float64]:
        """Draw the losses of all components and add them."""
        return np.asarray(np.sum([pair.draw_losses(count) for pair in self.pairs], axis=0))

    def delta(self, epsilon: float | Fraction) -> Enclosure:
        """Enclose delta on the joint atoms."""
        return self.joint().delta(epsilon)

    def tradeoff(self, alpha: float) -> Enclosure:
        """Enclose the trade-off on the joint atoms."""
        return self.joint().tradeoff(alpha)

    def reversed(self) -> ProductPair:
        """Reverse every component."""
        return ProductPair([pair.reversed() for pair in self.pairs])

    def joint(self) -> FinitePair:
        """Return all combinations of atoms."""
        if self._joint is None:
            self._joint = reduce(_multiply, [_atoms(pair) for pair in self.pairs])
        return self._joint


def _multiply(left: FinitePair, right: FinitePair) -> FinitePair:
    """Combine two finite pairs independently; the products are rounded outward."""
    count = len(left.outcomes) * len(right.outcomes)
    if count > _LARGEST:
        raise ParameterError(
            "this product has more than two million joint atoms; price it by composition instead of exactly"
        )
    slack = 2.0**-52
    low = [(np.outer(a, b) * (1 - slack)).ravel() for a, b in ((left.p_low, right.p_low), (left.q_low, right.q_low))]
    high = [
        (np.outer(a, b) * (1 + slack)).ravel() for a, b in ((left.p_high, right.p_high), (left.q_high, right.q_high))
    ]
    low = [np.where(array < _LEAST_NORMAL, 0.0, array) for array in low]
    high = [array + _LEAST_NORMAL for array in high]  # below it products lose their relative accuracy
    return FinitePair(range(count), low[0], high[0], low[1], high[1])


def _atoms(pair: Pair) -> FinitePair:
    """Return a finite pair that encloses the given one: far tails become atoms known only by their bounds."""
    if isinstance(pair, FinitePair):
        return pair
    if not isinstance(pair, LocationPair):
        raise ParameterError("this pair has no list of atoms")
    reach = pair.noise.half_width(1 - _TAIL) + pair.shift
    if 2 * reach + 3 > _LARGEST:
        raise ParameterError("this noise is too wide for a list of atoms; price the product by composition instead")
    places = range(-reach, reach + 1)
    with precision(128):
        q = [pair.noise.mass_ball(x) for x in places]
        p = [pair.noise.mass_ball(x - pair.shift) for x in places]
        ends = [pair.noise.tail_ball(reach + 1), pair.noise.tail_ball(reach + 1 - pair.shift)]
        far = [(upper_float(ends[1]), upper_float(ends[0])), (upper_float(ends[0]), upper_float(ends[0]))]
        p_bounds = [(lower_float(b), upper_float(b)) for b in p] + [(0.0, right) for right, _ in far]
        q_bounds = [(lower_float(b), upper_float(b)) for b in q] + [(0.0, right) for _, right in far]
    arrays = [np.array(column) for column in (*zip(*p_bounds, strict=True), *zip(*q_bounds, strict=True))]
    return FinitePair([*places, "right", "left"], *_clean(arrays))


def _clean(arrays: list[NDArray[np.float64]]) -> list[NDArray[np.float64]]:
    """Keep probabilities at or above zero."""
    return [np.maximum(array, 0.0) for array in arrays]

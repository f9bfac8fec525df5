"""Laws with finitely many outcomes, and their loss pairs: a sum over atoms.

`Finite` has rational probabilities, `Tabulated` enclosed ones (softmax and latent laws). Both are asked for one
outcome, or for an array, list or tuple of them, each answered with one number.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Hashable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.laws.enclosure import Enclosure, SafeEnd
from discreet.laws.law import Law, Shape, as_size
from discreet.laws.number import exact_rational, round_down, round_up
from discreet.laws.pair import Pair, unit_floats
from discreet.randomness import choose_by_weights, uniform_below_array

Floats = NDArray[np.float64]
_ROUNDING = 2.0**-50
_LOG_ERROR = 2.0**-49
_LARGEST_EXPONENT = 700.0
_CORNERS = 400
_INT64 = 1 << 62


class Finite(Law[Hashable]):
    """Finitely many outcomes with exact rational probabilities.

    Cost. A draw is one uniform integer below the common denominator and a binary search.

    >>> coin = Finite(["heads", "tails"], [Fraction(3, 4), Fraction(1, 4)])
    >>> float(coin.pmf("heads"))
    0.75
    >>> coin.pair(
    ...     Finite(["heads", "tails"], [Fraction(1, 4), Fraction(3, 4)])
    ... ).max_loss().upper > 1.0986
    True
    """

    def __init__(self, outcomes: Sequence[Hashable], probabilities: Sequence[Fraction]) -> None:
        self.outcomes = tuple(outcomes)
        self.probabilities = tuple(exact_rational(p, name="probabilities") for p in probabilities)
        if len(self.outcomes) != len(self.probabilities) or len(set(self.outcomes)) != len(self.outcomes):
            raise ParameterError("a finite law must have one probability for each of its distinct outcomes")
        if any(p < 0 for p in self.probabilities) or sum(self.probabilities) != 1:
            raise ParameterError("the probabilities of a finite law must be at least 0 and add up to exactly 1")
        common = math.lcm(*(p.denominator for p in self.probabilities))
        self._weights = [int(p * common) for p in self.probabilities]
        self._common = common

    def pmf(self, outcome: Any) -> Any:
        """Return the probability of an outcome (of each, for an array or a list of them), 0 for one not listed."""
        return of_each(outcome, self.outcomes, lambda place: float(self.probabilities[place]))

    def sample(self, shape: Shape | None = None) -> Any:
        """Draw one outcome, or an object array of outcomes."""
        if shape is None:
            return self.outcomes[choose_by_weights(self._weights)]
        sizes, count = as_size(shape)
        values = np.empty(len(self.outcomes), dtype=object)
        values[:] = self.outcomes
        return values[self.sample_indices(count)].reshape(sizes)

    def sample_indices(self, count: int) -> NDArray[np.int64]:
        """Draw the positions of outcomes as an array."""
        if self._common < _INT64:
            ends = np.cumsum(np.array(self._weights, dtype=np.int64))
            return np.searchsorted(ends, uniform_below_array(self._common, count), side="right").astype(np.int64)
        return np.array([choose_by_weights(self._weights) for _ in range(count)], dtype=np.int64)

    def pair(self, other: Law[Hashable]) -> FinitePair:
        """Return the pair over the union of both sets of outcomes."""
        if not isinstance(other, Finite):
            raise ParameterError("a finite law is compared with a finite law")
        outcomes = list(dict.fromkeys(self.outcomes + other.outcomes))
        mine, theirs = (dict(zip(law.outcomes, law.probabilities, strict=True)) for law in (self, other))
        first = [mine.get(outcome, Fraction(0)) for outcome in outcomes]
        second = [theirs.get(outcome, Fraction(0)) for outcome in outcomes]
        return FinitePair(outcomes, *_rounded(first), *_rounded(second))

    def __repr__(self) -> str:
        return f"Finite({len(self.outcomes)} outcomes)"


def _rounded(values: Sequence[Fraction]) -> tuple[Floats, Floats]:
    """Return floats below and above each rational."""
    return np.array([round_down(v) for v in values]), np.array([round_up(v) for v in values])


def _chance(lower: float, upper: float, method: str) -> Enclosure:
    """Enclose a probability between computed ends, widened by one unit in the last place."""
    low, high = min(max(math.nextafter(lower, 0.0), 0.0), 1.0), min(math.nextafter(upper, 2.0), 1.0)
    return Enclosure(low, low + (high - low) / 2, high, method)


def _outer(value: float, slack: float, end: int) -> float:
    """Return a bound below (end 0) or above (end 1) a sum that was computed with a known slack."""
    return math.nextafter(value - slack, -math.inf) if end == 0 else math.nextafter(value + slack, math.inf)


class FinitePair(Pair):
    """A pair on finitely many atoms, each probability enclosed: low <= P(y) <= high, and likewise Q.

    Every answer is computed twice, once with the ends that make it larger and once with those that make it smaller, and
    rounded outward; sums are exact to one rounding (`math.fsum`).
    """

    def __init__(self, outcomes: Sequence[Any], p_low: Floats, p_high: Floats, q_low: Floats, q_high: Floats) -> None:
        for low, high in ((p_low, p_high), (q_low, q_high)):
            if not (np.all(np.isfinite(high)) and np.all(low >= 0) and np.all(low <= high)):
                raise ParameterError("the bounds of a finite pair are probabilities in order; ask for more precision")
        seen = (p_high > 0) | (q_high > 0)
        self.outcomes = [outcome for outcome, keep in zip(outcomes, seen, strict=True) if keep]
        self.p_low, self.p_high, self.q_low, self.q_high = p_low[seen], p_high[seen], q_low[seen], q_high[seen]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FinitePair) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> bytes:
        columns = np.stack([self.p_low, self.p_high, self.q_low, self.q_high])
        return columns[:, np.lexsort(columns)].tobytes()

    def reversed(self) -> FinitePair:
        """Exchange P and Q."""
        return FinitePair(self.outcomes, self.q_low, self.q_high, self.p_low, self.p_high)

    def delta(self, epsilon: float | Fraction) -> Enclosure:
        """Enclose the sum of max(0, P - e^epsilon Q) over atoms."""
        level = exact_rational(epsilon, name="epsilon")
        # delta falls as epsilon grows: each end is taken at a float on its outer side, the upper one at most at 700
        small = math.exp(min(round_down(level), _LARGEST_EXPONENT)) * (1 - _ROUNDING)
        above = round_up(level)
        large = math.exp(above) * (1 + _ROUNDING) if above <= _LARGEST_EXPONENT else math.inf
        upper_terms = self.p_high - small * self.q_low
        with np.errstate(invalid="ignore"):
            lower_terms = np.where(self.q_high > 0, self.p_low - large * self.q_high, self.p_low)
        upper = math.fsum(np.maximum(upper_terms, 0.0) * (1 + _ROUNDING))
        lower = math.fsum(np.maximum(lower_terms * (1 - _ROUNDING), 0.0))
        return _chance(lower, upper, "sum over the atoms, rounded outward")

    def epsilon(self, delta: float) -> Enclosure:
        """Enclose the least epsilon >= 0 whose hockey-stick divergence is at most delta; it may be infinite."""
        impossible = math.fsum(self.p_low[self.q_high == 0])
        if delta >= 0.0 and impossible * (1 - _ROUNDING) > delta:
            return Enclosure.exact(math.inf, method="atoms that Q cannot produce weigh more than delta")
        return super().epsilon(delta)

    def losses(self) -> tuple[Floats, Floats]:
        """Return bounds on ln P / Q for every atom; each logarithm is within a relative 2^-50 of the truth."""
        with np.errstate(divide="ignore", invalid="ignore"):
            p_low, p_high, q_low, q_high = (np.log(x) for x in (self.p_low, self.p_high, self.q_low, self.q_high))
            low = p_low - q_high - _LOG_ERROR * (np.abs(p_low) + np.abs(q_high))
            high = p_high - q_low + _LOG_ERROR * (np.abs(p_high) + np.abs(q_low))
        low = np.where(self.p_low > 0, np.where(self.q_high > 0, low, math.inf), -math.inf)
        high = np.where(self.p_high > 0, np.where(self.q_low > 0, high, math.inf), -math.inf)
        return low, high

    def max_loss(self) -> Enclosure:
        """Enclose the largest ln P / Q over atoms."""
        low, high = self.losses()
        if np.max(low) == math.inf:
            return Enclosure.exact(math.inf, method="an atom that Q cannot produce")
        return Enclosure.outward(float(np.max(low)), float(np.max(high)), method="largest ratio over the atoms")

    def moments(self) -> tuple[Enclosure, Enclosure]:
        """Enclose the mean and the variance of the loss: sums over the atoms, infinite if Q may miss one of P's.

        An atom whose P-chance p may be 0 adds p ln(p/q) >= -q/e to the mean, and p ln(p/q)^2 <= max(4 q/e^2, its value
        at the largest p) to the second moment.
        """
        low, high = self.losses()
        method = "sum over the atoms, rounded outward"
        if np.any(high[self.p_high > 0] == math.inf):
            sure = bool(np.any((self.p_low > 0) & (self.q_high == 0)))
            return tuple(Enclosure(math.inf if sure else 0.0, math.inf, math.inf, method) for _ in range(2))  # type: ignore[return-value]
        unsure = np.isneginf(low) & (self.p_high > 0)
        low, high = np.where(np.isneginf(low), 0.0, low), np.where(np.isneginf(high), 0.0, high)
        far, near = np.maximum(np.abs(low), np.abs(high)), np.minimum(np.abs(low), np.abs(high))
        near = np.where((low < 0) & (high > 0), 0.0, near)
        first = [np.where(low < 0, self.p_high, self.p_low) * low, np.where(high > 0, self.p_high, self.p_low) * high]
        second = [self.p_low * near * near, self.p_high * far * far]
        first[0] = np.where(unsure, -self.q_high / math.e, first[0])
        second[1] = np.where(unsure, np.maximum(second[1], self.q_high), second[1])
        mean = [_outer(math.fsum(first[end]), _ROUNDING * math.fsum(np.abs(first[end])), end) for end in (0, 1)]
        square = [_outer(math.fsum(second[end]), _ROUNDING * math.fsum(second[end]), end) for end in (0, 1)]
        mean = [max(mean[0], 0.0), max(mean[1], 0.0)]
        spread = [max(math.nextafter(square[0] - mean[1] ** 2 * (1 + _ROUNDING), -1.0), 0.0),
                  math.nextafter(square[1] - mean[0] ** 2 * (1 - _ROUNDING), math.inf)]  # fmt: skip
        return tuple(Enclosure(a, a + (b - a) / 2, b, method) for a, b in (mean, spread))  # type: ignore[return-value]

    def draw_losses(self, count: int) -> Floats:
        """Draw losses of atoms, each with the middle of its bounds as its chance."""
        chances = np.cumsum(self.p_low + (self.p_high - self.p_low) / 2)
        low, high = self.losses()
        places = np.searchsorted(chances, unit_floats(count) * chances[-1], side="right")
        with np.errstate(invalid="ignore"):
            middles = np.where(np.isfinite(low) & np.isfinite(high), low + (high - low) / 2, high)
        return np.asarray(middles[np.minimum(places, len(low) - 1)])

    def witness(self) -> Any:
        """Return the atom whose loss is certainly largest."""
        return self.outcomes[int(np.argmax(self.losses()[0]))]

    def above(self, epsilon: float) -> list[Any]:
        """Return the atoms whose loss is certainly above epsilon, the largest first."""
        low = self.losses()[0]
        order = np.argsort(-low, kind="stable")
        return [self.outcomes[index] for index in order if low[index] > epsilon]

    def tail(self, epsilon: float) -> Enclosure:
        """Enclose P(loss > epsilon): the pointwise delta, at least the hockey-stick one."""
        low, high = self.losses()
        sure, possible = math.fsum(self.p_low[low > epsilon]), math.fsum(self.p_high[high > epsilon])
        return _chance(sure, possible, "sum over the atoms above epsilon")

    def tradeoff(self, alpha: float) -> Enclosure:
        """Enclose the error of the best test of size alpha: sup over epsilon of 1 - delta - e^epsilon alpha."""
        if not 0.0 <= alpha <= 1.0:
            raise ParameterError(f"a test's size must lie in [0, 1], got {alpha}", parameter="alpha")
        levels = np.unique(np.concatenate(self.losses()))
        levels = levels[np.isfinite(levels) & (levels <= _LARGEST_EXPONENT)]

        def height(index: int) -> float:
            level = float(levels[index])
            return 1.0 - self.delta(level).upper - math.exp(level) * alpha * (1 + _ROUNDING) - _ROUNDING

        # The height is concave and piecewise linear in e^epsilon with corners at the losses; every corner bounds the
        # error, so with very many of them a climb may stop at one that is only nearly the highest.
        first, last = 0, len(levels) - 1
        while last - first > _CORNERS:
            middle = (first + last) // 2
            first, last = (middle, last) if height(middle) < height(middle + 1) else (first, middle + 1)
        lower = max((height(index) for index in range(first, last + 1)), default=0.0)
        upper = min(self._best_test(alpha), 1.0)
        lower = min(max(math.nextafter(lower, 0.0), 0.0), upper)
        return Enclosure(lower, lower + (upper - lower) / 2, upper, "Neyman-Pearson over the atoms", SafeEnd.LOWER)

    def _best_test(self, alpha: float) -> float:
        """Return an error that one explicit test of size at most alpha certainly achieves."""
        low, high = self.losses()
        known = np.isfinite(low) & np.isfinite(high)
        middle = np.where(self.q_high > 0, low, np.inf)
        middle[known] = (low[known] + high[known]) / 2
        order = np.argsort(-middle)
        size, power = 0.0, 0.0
        for index in order:
            room = alpha - size
            share = 1.0 if self.q_high[index] <= room else max(room, 0.0) / self.q_high[index]
            size += share * float(self.q_high[index]) * (1 + _ROUNDING)  # the slack covers every later addition
            power += share * float(self.p_low[index]) * (1 - _ROUNDING)
            if share < 1.0:
                break
        return max(1.0 - power, 0.0) + len(order) * _ROUNDING


_WRITE = "pass one outcome of the law, or an array or a list of outcomes"


def of_each(outcome: Any, known: Sequence[Hashable], chance: Callable[[int], float]) -> Any:
    """Return the chance of an outcome, 0.0 for one that is not known, or an array with one number for each of many.

    Arrays and lists hold many outcomes, and so does a tuple unless outcomes are tuples themselves; then each row of an
    array of numbers is one outcome, and a list holds tuples.

    >>> of_each([1, 7], [0, 1], lambda place: [0.25, 0.75][place])
    array([0.75, 0.  ])
    """
    places = {one: place for place, one in enumerate(known)}
    tuples = any(isinstance(one, tuple) for one in places)

    def single(entry: Any) -> float:
        if not _hashable(entry):
            raise ParameterError(f"an outcome must not be a {type(entry).__name__}: {_WRITE}", parameter="outcome")
        place = places.get(entry)
        return 0.0 if place is None else chance(place)

    if isinstance(outcome, np.ndarray | np.generic) and outcome.ndim == 0:
        return single(outcome.item())
    several = isinstance(outcome, tuple) and outcome not in places and (not tuples or _only_tuples(outcome))
    if isinstance(outcome, np.ndarray | list) or several:
        entries, shape = unpacked(outcome, rows=tuples)
        if tuples and not any(isinstance(entry, tuple) for entry in entries) and entries:
            raise ParameterError(
                "outcomes of this law must be tuples: pass one, or a list of tuples", parameter="outcome"
            )
        return np.array([single(entry) for entry in entries], dtype=np.float64).reshape(shape)[()]
    return single(outcome)


def unpacked(outcomes: Any, *, rows: bool) -> tuple[list[Any], tuple[int, ...]]:
    """Return outcomes one by one and their shape; with `rows` the last axis of an array of numbers is one outcome."""
    if isinstance(outcomes, np.ndarray):
        if rows and outcomes.dtype != object:
            if not outcomes.size:
                return [], outcomes.shape if outcomes.ndim == 1 else outcomes.shape[:-1]
            shape = outcomes.shape[:-1]
            return [tuple(row) for row in outcomes.reshape(int(np.prod(shape)), -1).tolist()], shape
        return outcomes.ravel().tolist(), outcomes.shape
    nested = [isinstance(one, list) for one in outcomes]
    if not any(nested):
        return [one.item() if isinstance(one, np.generic) else one for one in outcomes], (len(outcomes),)
    parts = [unpacked(one, rows=rows) for one in outcomes if isinstance(one, list)]
    if not all(nested) or len({shape for _, shape in parts}) > 1:
        raise ParameterError(f"lists of outcomes inside a list must have equal lengths: {_WRITE}", parameter="outcome")
    return [entry for entries, _ in parts for entry in entries], (len(parts), *parts[0][1])


def _only_tuples(outcome: tuple[Any, ...]) -> bool:
    return bool(outcome) and all(isinstance(entry, tuple) for entry in outcome)


def _hashable(entry: object) -> bool:
    try:
        hash(entry)
    except TypeError:
        return False
    return True


class Tabulated(Law[Hashable]):
    """A law given by its outcomes and floats below and above each probability; the subclass says how it is drawn."""

    @abstractmethod
    def table(self) -> tuple[list[Any], Floats, Floats]:
        """Return the outcomes, lower bounds and upper bounds of their probabilities."""

    def pmf(self, outcome: Any) -> Any:
        """Return the probability of an outcome (of each, for an array or a list of them), 0 for impossible ones."""
        outcomes, low, high = self.table()
        return of_each(outcome, outcomes, lambda index: float((low[index] + high[index]) / 2))

    def pair(self, other: Law[Hashable]) -> FinitePair:
        """Return the pair of two laws of the same kind on the same outcomes."""
        if not isinstance(other, Tabulated):
            raise ParameterError("an enclosed finite law is compared with one of its kind")
        outcomes, *mine = self.table()
        theirs_outcomes, *theirs = other.table()
        if outcomes != theirs_outcomes:
            raise ParameterError(
                "neighboring inputs must have the same possible outcomes (the same number of candidates)"
            )
        return FinitePair(outcomes, *mine, *theirs)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(...)"

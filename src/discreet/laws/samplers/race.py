"""Exact choice with probability proportional to exp(slope * score), in one pass over any number of candidates.

Each candidate draws an exponential variable E = -ln U and runs with time E exp(-slope * score): the least time wins,
and it is candidate i with probability exp(slope * score_i) / sum. Only the winner so far is kept, so a stream of any
length needs no memory. The first k of the race are as good as k races, each without the winners before it: exponential
times forget, so that what the others still have to run when somebody arrives is again an exponential time with the same
rate, independent of who arrived and when.

Exactness. Times are compared through their logarithms in floats; the bounds below say when that comparison is certain,
and all others are made in ball arithmetic on the exact rational scores, drawing more bits of the uniforms as needed.
Two different candidates tie with probability zero, so every comparison ends.

Lemma (filter). Let 2^30 <= w < 2^64, v = floor(w / 2), u = float(v) 2^-63, e = -ln u as computed, e >= 2^-30, U in [w,
w + 1] 2^-64 and E = -ln U. Then ln E is within 2^-21 of the computed ln e. Proof. |ln U - ln u| <= 1/v + 2^-52
(truncation, rounding of v), and |e + ln u| <= 2^-40 |ln u| (assumption float-log-exp with its slack). If w < 2^63 the
truncation is largest relative to E at w = 2^30, where E > 23.5, so at most 2^-33.5; the rounding adds at most 2^-52 /
ln 2; together with 2^-40 less than 2^-33. If w >= 2^63, then 1/v <= 2^-62 and E >= 2^-30 (1 - 2^-21), so (2^-62 +
2^-52) / E + 2^-40 < 2^-21.9. The outer logarithm turns a relative error d into an absolute one of at most d (1 + d) and
adds at most 2^-40 max(30 ln 2, ln 24) < 2^-35. QED. The code uses 2^-19. The float of slope * (score - reference) has
three roundings, the sum two more: within 2^-48 of its size, as long as the reference is exactly a float and nothing
overflows; elsewhere the product is computed from exact rationals and rounded once. Words and times outside the lemma,
and products that no float holds, are compared exactly.
Reference. Exponential races and the Gumbel-max trick are classical (Luce 1959; Yellott 1977).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, NotCopyable
from discreet.laws.finite import Floats, Tabulated
from discreet.laws.law import Shape, as_size
from discreet.laws.number import rational_or_none
from discreet.randomness import bits, words
from discreet.randomness.keystream import BLOCK_WORDS
from discreet.randomness.process import Process
from discreet.randomness.rigor import Ball, ball, ensure_tested, precision

_BLOCK = BLOCK_WORDS // 2  # larger temporary arrays go back to the operating system after each block, and cost thrice
_TIME_ERROR = 2.0**-19
_SCORE_ERROR = 2.0**-48
_LEAST_TIME = 2.0**-30
_LEAST_WORD = np.uint64(1 << 30)
_EXACT_FLOATS = 1 << 52
_SMALL = 1 << 62
_LEAST_NORMAL = 2.0**-1020
_FLOOR = Fraction(-(10**6))


@dataclass(slots=True)
class Runner:
    """A candidate in the race: its exact score, the bits of its uniform so far, float bounds on its time."""

    index: int
    score: Fraction
    prefix: int
    length: int
    low: float
    high: float

    def extend(self) -> None:
        """Draw 64 more bits of the uniform."""
        self.prefix, self.length = (self.prefix << 64) | bits(64), self.length + 64

    def log_uniform(self) -> Ball | None:
        """Enclose the logarithm of the uniform at the current precision, or None while it may be 0."""
        if self.prefix == 0:
            return None
        first, last = (ball(Fraction(end, 1 << self.length)).log() for end in (self.prefix, self.prefix + 1))
        return first.union(last)


class Race:
    """A race with one slope and some places to win: feed it scores in blocks, ask for the positions of the winners.

    A subclass may give the candidates another noise by the two methods `_log_times` and `_log_time`.
    """

    def __init__(self, slope: Fraction, places: int = 1) -> None:
        ensure_tested()
        self.slope = slope
        self.places = places
        self._reference: Fraction | None = None
        self._best: list[Runner] = []
        self._count = 0
        self._owner = Process.here()

    def run(self, scores: NDArray[Any]) -> None:
        """Let a block of candidates run against the best so far."""
        self._refuse_fork()
        if scores.size:
            scores = as_scores(scores)
        for start in range(0, scores.size, _BLOCK):
            self._run_block(scores[start : start + _BLOCK])

    @property
    def winner(self) -> int:
        """The position of the winner among all candidates fed."""
        if not self._best:
            raise InputError("there is no candidate to choose from")
        return self.winners[0]

    @property
    def winners(self) -> tuple[int, ...]:
        """The positions of the winners, the first one first; fewer than places while there are fewer candidates."""
        self._refuse_fork()
        return tuple(runner.index for runner in self._best)

    def _refuse_fork(self) -> None:
        """Two processes that go on from the same bits would make two choices that were priced as independent."""
        if self._owner != Process.here():
            raise NotCopyable(
                "this choice began in another process, which may go on with it; choose anew here (at its own price)"
            )

    def _run_block(self, scores: NDArray[Any]) -> None:
        """Compare a block in floats, and the few that could win exactly."""
        if self._reference is None:
            self._reference = exact_score(scores[0])
        advantage = self._advantages(scores)
        beyond = ~np.isfinite(advantage)
        advantage[beyond] = 0.0
        draws = words(scores.size)
        time, odd = self._log_times(draws)
        odd |= beyond
        error = np.abs(advantage)
        error *= _SCORE_ERROR
        error += _TIME_ERROR
        time -= advantage
        earliest, latest = time - error, np.add(time, error, out=time)
        earliest[odd], latest[odd] = -np.inf, np.inf
        for index in self._possible(earliest, latest):
            score, low, high = exact_score(scores[index]), float(earliest[index]), float(latest[index])
            self._challenge(Runner(self._count + int(index), score, int(draws[index]), 64, low, high))
        self._count += scores.size

    def _possible(self, earliest: Floats, latest: Floats) -> NDArray[np.intp]:
        """Return who in a block may win a place, given the best so far."""
        if len(self._best) < self.places:
            return self._fastest(earliest, latest)
        possible = np.flatnonzero(earliest <= self._best[-1].high)
        return possible[self._fastest(earliest[possible], latest[possible])]

    def _fastest(self, earliest: Floats, latest: Floats) -> NDArray[np.intp]:
        """Return those for whom at most places - 1 others are surely faster."""
        if latest.size <= self.places:
            return np.arange(latest.size)
        limit = latest.min() if self.places == 1 else np.partition(latest, self.places - 1)[self.places - 1]
        return np.flatnonzero(earliest <= limit)

    def _log_times(self, draws: NDArray[np.uint64]) -> tuple[Floats, NDArray[np.bool_]]:
        """Return ln E for every word, and which words and times are outside the lemma."""
        time, small = log_uniforms(draws)
        np.negative(time, out=time)
        odd = (time < _LEAST_TIME) | small
        with np.errstate(divide="ignore"):
            np.log(time, out=time)
        return time, odd

    def _log_time(self, runner: Runner) -> Ball | None:
        """Enclose the logarithm of a runner's time at the current precision, or None while it may be 0 or infinite."""
        uniform = runner.log_uniform()
        if uniform is None or runner.prefix + 1 == 1 << runner.length:
            return None
        return (-uniform).log() - ball(self.slope * runner.score)

    def _advantages(self, scores: NDArray[Any]) -> Floats:
        """Return slope * (score - reference) in floats, each within three roundings, or non-finite."""
        reference = self._reference
        if reference is None:
            raise AssertionError("the reference is set before it is used")
        origin, slope = _float_or_nan(reference), _float_or_nan(self.slope)
        if not np.isfinite(slope) or not np.isfinite(origin) or Fraction(origin) != reference or not _is_plain(scores):
            exact = [_float_or_nan(self.slope * (exact_score(score) - reference)) for score in scores]
            return np.array(exact, dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            difference: Floats = np.subtract(scores, origin, dtype=np.float64)
            difference *= slope
        return difference

    def _challenge(self, runner: Runner) -> None:
        """Put a new runner among the best so far, in the order of their times, and keep as many as there are places."""
        first, last = 0, len(self._best)
        while first < last:
            middle = (first + last) // 2
            first, last = (first, middle) if self._is_faster(runner, self._best[middle]) else (middle + 1, last)
        self._best.insert(first, runner)
        del self._best[self.places :]

    def _is_faster(self, first: Runner, second: Runner) -> bool:
        """Decide which of two times is less, in balls where the bounds in floats do not decide."""
        if first.high < second.low or second.high < first.low:
            return first.high < second.low
        while True:
            with precision(max(first.length, second.length) + 96):
                one, two = self._log_time(first), self._log_time(second)
                if one is not None and two is not None:
                    if one < two:
                        return True
                    if one > two:
                        return False
            first.extend()
            second.extend()


def log_uniforms(draws: NDArray[np.uint64]) -> tuple[Floats, NDArray[np.bool_]]:
    """Return ln U in floats for the uniforms that begin with these words, and which words are too small for that."""
    # signed integers convert four times as fast
    logarithm = np.multiply((draws >> np.uint64(1)).view(np.int64), 2.0**-63, dtype=np.float64)
    with np.errstate(divide="ignore"):
        np.log(logarithm, out=logarithm)
    return logarithm, draws < _LEAST_WORD


def _float_or_nan(value: Fraction) -> float:
    """Return the nearest float, NaN beyond the range of floats."""
    try:
        return float(value)
    except OverflowError:
        return float("nan")


def _is_plain(scores: NDArray[Any]) -> bool:
    """Say whether all scores are exactly floats: floats themselves, or integers that floats hold."""
    if scores.dtype == object:
        return False
    return bool(scores.dtype == np.float64 or (scores.min() > -_EXACT_FLOATS and scores.max() < _EXACT_FLOATS))


def exact_score(score: Any) -> Fraction:
    """Return a score as an exact rational; raise InputError, without the value, if it is not a finite number."""
    exact = rational_or_none(score)
    if exact is None:  # raised here, not while handling another error that would show the score
        raise InputError("every score must be a finite int, float or Fraction")
    return exact


def as_scores(values: Any) -> NDArray[Any]:
    """Return scores as a one-dimensional array of int64, float64 or exact objects; all must be finite."""
    if isinstance(values, list | tuple | range):
        values = _array_of(list(values))
    elif not isinstance(values, np.ndarray) and hasattr(values, "__array__"):
        values = np.asarray(values)
    if type(values) is not np.ndarray or values.ndim != 1 or values.size == 0:
        raise InputError("scores must form a one-dimensional array with at least one candidate")
    if values.dtype == np.bool_ or values.dtype.kind not in "iufO" or values.dtype == np.longdouble:
        raise InputError(
            "scores must be numbers: an array of integers or floats, or a list of ints, floats and Fractions"
        )
    if values.dtype.kind == "f":
        if not np.all(np.isfinite(values)):
            raise InputError("every score must be a finite int, float or Fraction")
        return np.asarray(values, dtype=np.float64)
    if values.dtype.kind == "O" or values.dtype == np.uint64:
        exact = np.empty(values.size, dtype=object)
        exact[:] = [_int_or_fraction(exact_score(value)) for value in values]
        return exact
    return np.asarray(values, dtype=np.int64)


def _int_or_fraction(score: Fraction) -> int | Fraction:
    """Return whole numbers as Python integers."""
    return int(score) if score.denominator == 1 else score


def _array_of(items: list[Any]) -> NDArray[Any]:
    """Return a list as an array without letting numpy merge exact integers into floats."""
    if items and all(type(item) is float or type(item) is np.float64 for item in items):
        return np.array(items, dtype=np.float64)
    if items and all((type(item) is int or type(item) is np.int64) and -_SMALL < item < _SMALL for item in items):
        return np.array(items, dtype=np.int64)
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


class Softmax(Tabulated):
    """Position i with probability exp(slope * score_i) / sum: the law of the exponential mechanism.

    >>> law = Softmax([0, 1, 0], Fraction(1))
    >>> round(law.pmf(1), 4)
    0.5761
    """

    def __init__(self, scores: Any, slope: Fraction) -> None:
        self.scores = as_scores(scores)
        self.slope = slope

    def table(self) -> tuple[list[Any], Floats, Floats]:
        """Return the probabilities with bounds, from floats when the exponents are moderate."""
        exact = [exact_score(score) for score in self.scores]
        top = max(exact)
        exponents = np.array([_float_or_nan(max(self.slope * (score - top), _FLOOR)) for score in exact])
        weights = np.exp(exponents)
        total = weights.sum()
        error = 2.0**-42 + 2.0**-50 * len(exact) + 2.0**-51 * np.abs(exponents)
        shares = weights / total
        low = np.where(weights < _LEAST_NORMAL, 0.0, shares * (1 - error))
        return list(range(len(exact))), low, shares * (1 + error) + _LEAST_NORMAL

    def sample(self, shape: Shape | None = None) -> Any:
        """Draw one position or an array of them."""
        if shape is None:
            race = Race(self.slope)
            race.run(self.scores)
            return race.winner
        sizes, count = as_size(shape)
        return np.array([self.sample() for _ in range(count)], dtype=np.int64).reshape(sizes)

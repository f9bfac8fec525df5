"""Thresholds and stumps over up to 2^64 values a feature: the exponential mechanism over intervals, drawn exactly.

The number of errors of "above t" does not change while t moves between two values of the table. So the hypotheses of a
feature fall into at most n + 1 runs a side, and a run of length m with e errors weighs m exp(-slope e).

Exactness. By rejection: every run gets an integer at or above its weight times 2^k, computed in floats with a margin; a
uniform integer below their sum picks a run, which is accepted by an exact coin, then a uniform hypothesis in it.
Lemma (envelope). With e the errors above the least, an integer below 2^53, and s the slope rounded down to a float, the
float of -s e has one rounding: it is at most -s e (1 - 2^-53). exp of a float in [-700, 0] is within 2^-40 of the truth
(assumption float-log-exp, with its slack), exponents beyond are cut to -700, which only raises the weight; the length
is rounded once, and so is the product. -s e (1 - 2^-53) exceeds -s e by at most 700 2^-53. A factor 1 + 2^-38 covers
all of it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, ParameterError
from discreet.laws import Softmax
from discreet.laws.number import Number, round_down
from discreet.learning.exact import stated_relation
from discreet.learning.pac.finite_class import Labeled, labeled
from discreet.mechanisms.mechanism import Mechanism, positive_epsilon
from discreet.privacy import Guarantee, PrivacyLoss, PureDP, Relation, bounded_range_loss
from discreet.privacy.numbers import whole, written_up
from discreet.randomness import uniform_below
from discreet.randomness.rigor import ensure_tested
from discreet.statistics.ranks import toss

_MOST_LISTED, _MOST_FEATURES = 1 << 16, 1 << 20
_MARGIN = 1.0 + 2.0**-38
_LARGEST_EXPONENT = 700.0
_ENVELOPE_BITS = 61


@dataclass(frozen=True, slots=True)
class Stump:
    """The hypothesis that rows at or above a threshold in one feature have one label, and all others the other one."""

    feature: int
    threshold: int
    above: bool

    def __call__(self, rows: Any) -> NDArray[np.bool_]:
        """Return a label for every row."""
        return np.asarray((np.asarray(rows)[:, self.feature] >= self.threshold) == self.above)


@dataclass(frozen=True, slots=True, repr=False)
class _Runs:
    """Runs of thresholds with the same number of errors. Private.

    A run of feature `feature` holds `length` thresholds from low + `first` on, and makes `errors`. The run of `last` is
    the one threshold above all values, high + 1, whose distance from low may not fit into 64 bits.
    """

    feature: NDArray[np.int64]
    above: NDArray[np.bool_]
    first: NDArray[np.uint64]
    length: NDArray[np.uint64]
    errors: NDArray[np.int64]
    last: NDArray[np.bool_]


class StumpLearner(Mechanism):
    """Choose a feature, a threshold among whole numbers and a side, with probability falling in the number of errors.

    With one feature and `both_sides=False` these are the thresholds. They are whole numbers within public bounds, which
    are the same for all features, up to 2^64 of them; numbers outside are clipped. A row with a label other than 0 and
    1 counts for nothing; a cell that is no number is an error of every stump of its feature.

    Privacy. epsilon-DP, one row a person: the exponential mechanism over all thresholds, features and sides.
        Proof: as for `FiniteClassLearner`; hypotheses in one run have the same score, so choosing a run by its total
        weight and then one of its hypotheses evenly is the same law.
    Accuracy. `sample_sizes` with the logarithm of the number of hypotheses, which `log_size` is.
    Cost. One sort a feature.
    Reference. McSherry, Talwar 2007; Kasiviswanathan, Lee, Nissim, Raskhodnikova, Smith 2011.

    >>> learner = StumpLearner(
    ...     1, bounds=(0, 2**64 - 1), epsilon=1, relation=Relation.ADD_REMOVE
    ... )
    >>> rows = np.array([[2**63], [2**63 + 2**60]] * 200, dtype=object)
    >>> stump = learner((rows, [0, 1] * 200))
    >>> stump.above, 2**63 < stump.threshold <= 2**63 + 2**60
    (True, True)
    """

    def __init__(
        self,
        features: int,
        *,
        bounds: tuple[int, int],
        epsilon: Number,
        relation: Relation,
        both_sides: bool = True,
    ) -> None:
        self.features = whole(features, name="features")
        if not 1 <= self.features <= _MOST_FEATURES:
            raise ParameterError(
                f"features must be from 1 to {_MOST_FEATURES:,}; got another, write features=1", parameter="features"
            )
        stated_relation(relation)
        low, high = _whole_bounds(bounds)
        self.bounds, self.relation, self.both_sides = (low, high), relation, both_sides
        self._epsilon = positive_epsilon(epsilon)
        self.slope = self._epsilon / (1 if relation is Relation.ADD_REMOVE else 2)

    @property
    def guarantee(self) -> Guarantee:
        """Pure differential privacy."""
        return PureDP(written_up(self._epsilon), relation=self.relation)

    @property
    def loss(self) -> PrivacyLoss:
        """The price of bounded range."""
        return bounded_range_loss(self._epsilon, relation=self.relation)

    @property
    def log_size(self) -> float:
        """The logarithm of the number of hypotheses."""
        return math.log(self._count) + math.log(self.features * (2 if self.both_sides else 1))

    def __call__(self, value: Labeled) -> Stump:
        """Return a stump for rows and labels."""
        runs = self._runs(value)
        place = _chosen(runs, self.slope)
        threshold = self.bounds[0] + int(runs.first[place]) + uniform_below(int(runs.length[place]))
        if runs.last[place]:
            threshold = self.bounds[1] + 1
        return Stump(int(runs.feature[place]), threshold, bool(runs.above[place]))

    def outcome(self, value: Labeled) -> int:
        """Return the number of the hypothesis, as `law` has it."""
        found = self(value)
        return self._first_number(found.feature, above=found.above) + found.threshold - self.bounds[0]

    def law(self, value: Labeled) -> Softmax:
        """Return the law of the number of the hypothesis, for as many as can be listed."""
        sides = self.features * (2 if self.both_sides else 1)
        if self._count * sides > _MOST_LISTED:
            raise InputError(f"the law is for at most {_MOST_LISTED:,} hypotheses; got more, write narrower bounds")
        runs = self._runs(value)
        scores = [0] * (self._count * sides)
        for place in range(len(runs.errors)):
            start = self._first_number(int(runs.feature[place]), above=bool(runs.above[place])) + (
                self._count - 1 if runs.last[place] else int(runs.first[place])
            )
            scores[start : start + int(runs.length[place])] = [-int(runs.errors[place])] * int(runs.length[place])
        return Softmax(scores, self.slope)

    def __repr__(self) -> str:
        sides = "" if self.both_sides else ", both_sides=False"
        return f"StumpLearner({self.features}, bounds={self.bounds}{sides}, {self.guarantee!r})"

    @property
    def _count(self) -> int:
        """The number of thresholds of one feature and side."""
        return self.bounds[1] - self.bounds[0] + 2

    def _first_number(self, feature: int, *, above: bool) -> int:
        """Return the number of the first hypothesis of a feature and side."""
        return (feature * (2 if self.both_sides else 1) + (0 if above else 1)) * self._count

    def neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield small tables with one row more, or one label changed."""
        low, high = self.bounds
        rows = np.array([[low] * self.features, [high] * self.features], dtype=object)
        if self.relation is Relation.ADD_REMOVE:
            yield (rows, np.array([0, 1])), (rows[:1], np.array([0]))
        else:
            yield (rows, np.array([0, 1])), (rows, np.array([0, 0]))

    def _runs(self, value: Labeled) -> _Runs:
        """Return all runs."""
        rows, labels = labeled(value, features=self.features)
        truth = _labels(labels)
        columns = enumerate(_offsets(column, self.bounds) for column in rows.T)
        parts = [side for place, column in columns for side in self._of_feature(place, *column, truth)]
        return _Runs(*(np.concatenate([getattr(part, name) for part in parts]) for name in _Runs.__slots__))

    def _of_feature(
        self, feature: int, offsets: NDArray[np.uint64], usable: NDArray[np.bool_], truth: NDArray[np.int64]
    ) -> Iterator[_Runs]:
        """Yield the runs of one feature, the other side after them.

        With rows in order of size, a threshold that has k rows below it is wrong about the labels 1 of these, and the
        labels 0 of the others. Thresholds low and high + 1 are runs of their own; between equal values there is none.
        A row of a known label without a usable value is an error of all of them, on both sides.
        """
        held = usable & (truth >= 0)
        order = np.argsort(offsets[held], kind="stable")
        values, right = offsets[held][order], truth[held][order]
        wrong = np.concatenate([[0], np.cumsum(2 * right - 1)]) + int(np.count_nonzero(right == 0))
        top = np.uint64(self.bounds[1] - self.bounds[0])
        ends = np.concatenate([[np.uint64(0)], values, [top]]).astype(np.uint64)
        length = np.concatenate([[np.uint64(1)], np.diff(ends), [np.uint64(1)]]).astype(np.uint64)
        first = np.concatenate([[np.uint64(0)], ends[:-1] + np.uint64(1), [np.uint64(0)]]).astype(np.uint64)
        missing = int(np.count_nonzero(truth >= 0)) - len(values)
        errors = np.concatenate([wrong[:1], wrong, wrong[-1:]])
        last = np.arange(len(length)) == len(length) - 1
        kept = length > 0
        features = np.full(int(np.count_nonzero(kept)), feature)
        for above, made in ((True, errors), (False, len(values) - errors)):
            if above or self.both_sides:
                sides = np.full(len(features), above)
                yield _Runs(features, sides, first[kept], length[kept], (made + missing)[kept], last[kept])


def _chosen(runs: _Runs, slope: Fraction) -> int:
    """Return the place of a run with probability exactly proportional to length * exp(-slope * errors)."""
    ensure_tested()
    excess = runs.errors - runs.errors.min()
    steepest = min(round_down(slope), _LARGEST_EXPONENT)  # beyond it every exponent but 0 is cut
    exponent = np.minimum(excess * steepest, _LARGEST_EXPONENT)
    weight = np.exp(-exponent) * runs.length.astype(np.float64) * _MARGIN
    scale = _ENVELOPE_BITS - 1 - math.frexp(float(weight.sum()))[1]
    envelope = np.ceil(np.ldexp(weight, scale)).astype(np.int64) + 1
    ends = np.cumsum(envelope)
    while True:
        drawn = uniform_below(int(ends[-1]))
        place = int(np.searchsorted(ends, drawn, side="right"))
        chance = Fraction(int(runs.length[place]), int(envelope[place])) * Fraction(2) ** scale
        if toss(chance, slope * int(excess[place])):
            return place


def _offsets(column: NDArray[Any], bounds: tuple[int, int]) -> tuple[NDArray[np.uint64], NDArray[np.bool_]]:
    """Return numbers clipped to the bounds and rounded down, less the lower one, and which cells are numbers."""
    low, high = bounds
    kind: Any = np.uint64 if column.dtype.kind == "u" else np.int64
    ends = np.iinfo(kind)
    if column.dtype.kind in "biu" and ends.min <= low and high <= ends.max:
        held = np.clip(column.astype(kind), low, high)
        less: NDArray[np.uint64] = held.astype(np.uint64) - np.uint64(low % (1 << 64))  # modulo 2^64
        return less, np.ones(len(held), dtype=np.bool_)
    cells = [_position(cell, bounds) for cell in column.tolist()]
    offsets = np.array([0 if cell is None else cell - low for cell in cells], dtype=np.uint64)
    return offsets, np.array([cell is not None for cell in cells], dtype=np.bool_)


def _labels(labels: NDArray[Any]) -> NDArray[np.int64]:
    """Return 0 and 1, and -1 for every other label."""
    if labels.dtype.kind in "biuf":
        return np.where(labels == 1, 1, np.where(labels == 0, 0, -1)).astype(np.int64)
    return np.array([_label(label) for label in labels.tolist()], dtype=np.int64)


def _whole_bounds(bounds: Any) -> tuple[int, int]:
    """Return two whole numbers, the first below the second."""
    ends = list(bounds) if isinstance(bounds, tuple | list) else []
    usable = len(ends) == 2 and all(isinstance(end, int | np.integer) and not isinstance(end, bool) for end in ends)
    if not usable or not int(ends[0]) < int(ends[1]) or int(ends[1]) - int(ends[0]) >= 1 << 64:
        raise ParameterError(
            "bounds must be two whole numbers, low below high, at most 2^64 values apart; got another, write (0, 99)",
            parameter="bounds",
        )
    return int(ends[0]), int(ends[1])


def _position(cell: Any, bounds: tuple[int, int]) -> int | None:
    """Return a number clipped to the bounds and rounded down, or None for anything else.

    A number is at or above a whole threshold if and only if it is so rounded down.
    """
    if isinstance(cell, bool | np.bool_ | int | np.integer):
        return min(max(int(cell), bounds[0]), bounds[1])
    if isinstance(cell, float | np.floating) and not math.isnan(cell):
        return math.floor(min(max(float(cell), bounds[0]), bounds[1]))
    return None


def _label(label: Any) -> int:
    """Return 0 or 1, or -1 for anything else."""
    try:
        return int(label) if label in (0, 1) else -1
    except Exception:  # a foreign object may raise anything
        return -1

"""A holdout that can be asked again and again: only answers that differ from the training rows are paid for.

Who picks features or models by their score on a holdout fits the holdout, and its scores stop being true of new people.
A private holdout cannot be fitted by much: what is learned privately generalizes.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from discreet.display import format_number
from discreet.display.result import told_in_rows
from discreet.errors import InputError, MissingParameter, NotCopyable, ParameterError, StreamSpent
from discreet.laws.number import Number
from discreet.learning.exact import listed_column, targets, unheard
from discreet.learning.generalization.gap import transfer_bound
from discreet.mechanisms import AboveThreshold, Laplace
from discreet.privacy import ApproxDP, Norm, PrivacyLoss, Relation, Sensitivity, calibrate
from discreet.privacy.numbers import plain, positive_price, whole
from discreet.randomness.process import Process

_GRID = 1 << 20  # steps of a score
_MOST = 1 << 24
_MOST_QUERIES = 1 << 40
Scores = NDArray[np.float64]


@told_in_rows
@dataclass(frozen=True, repr=False)
class HoldoutPlan:
    """What a holdout will cost and how true its answers will be, before anybody asks."""

    people: int
    hits: int
    guarantee: ApproxDP
    comparison: float
    answer: float

    def _rows(self) -> list[tuple[str, str | None]]:
        return [
            ("people", f"{self.people:,}"),
            ("paid answers", f"{self.hits:,} at most"),
            ("price", f"epsilon {format_number(float(self.guarantee.epsilon))}, delta {float(self.guarantee.delta):g}"),
            ("noise: comparison", f"scale {format_number(self.comparison)}"),
            ("noise: paid answer", f"scale {format_number(self.answer)}"),
        ]


class _PaidHits:
    """Verdicts about sums of scores, free while they are negative; each positive one is paid for, and answered.

    Privacy. All verdicts and answers together keep (epsilon, delta) under change-one, one row a person, however the
        scores are chosen in view of earlier answers.
        Proof: every hit ends a stream of `AboveThreshold` with one hit, epsilon e1, and is answered by `Laplace` with
        epsilon e2; there are at most `hits` of each, with e1 and e2 fixed beforehand, so that their losses compose as
        those of a batch. One row moves a sum of scores by at most the width of their bounds.
    """

    def __init__(self, people: int, *, hits: int, epsilon: Number, delta: Number, bounds: Any) -> None:
        self.people, self.hits = whole(people, name="people"), whole(hits, name="hits")
        if self.people > _MOST or self.hits > 1 << 16:
            raise ParameterError(f"people must be at most {_MOST:,} and hits at most 65,536; got more, write less")
        if bounds is None:
            raise MissingParameter(
                "bounds must be given: scores without bounds have no sensitivity; got none, write bounds=(0, 1)",
                parameter="bounds",
            )
        self.bounds = _bounds(bounds)
        self.guarantee = ApproxDP(
            positive_price(epsilon, name="epsilon"), positive_price(delta, name="delta"), relation=Relation.CHANGE_ONE
        )
        each = 1 / Fraction(calibrate(self._loss, epsilon=self.guarantee.epsilon, delta=self.guarantee.delta))
        self._comparing, self._answering = each / 2, each / 2
        self.remaining = self.hits
        self._stream: AboveThreshold | None = None
        self._lock, self._owner = threading.RLock(), Process.here()

    def _loss(self, scale: Number) -> PrivacyLoss:
        """Return the price of all hits where each comparison and each answer costs 1 / (2 scale)."""
        share = 1 / (2 * Fraction(scale))
        moved = Sensitivity(_GRID, norm=Norm.L1, relation=Relation.CHANGE_ONE)
        answered = Laplace(epsilon=share, sensitivity=moved).loss
        return (self._watching(share, 0).loss + answered) * self.hits

    def _watching(self, epsilon: Fraction, threshold: int) -> AboveThreshold:
        moved = Sensitivity(_GRID, norm=Norm.LINF, relation=Relation.CHANGE_ONE)
        return AboveThreshold(threshold=threshold, epsilon=epsilon, sensitivity=moved)

    @property
    def loss(self) -> PrivacyLoss:
        """The price of everything that can ever be asked."""
        return self._loss(1 / (self._comparing + self._answering))

    def explain(self) -> HoldoutPlan:
        """Return price and noise, in the unit of the scores' mean; nothing is asked."""
        width = (self.bounds[1] - self.bounds[0]) / self.people
        noise = self._watching(self._comparing, 0).query_noise
        answer = float(1 / self._answering) * width
        return HoldoutPlan(self.people, self.hits, self.guarantee, float(noise.scale) / _GRID * width, answer)

    def _sum(self, scores: Any) -> int:
        """Return the sum of scores in steps; what is no number within the bounds is clipped, NaN to the lower end."""
        held = _numbers(scores)
        if held.shape != (self.people,):
            raise InputError(
                f"scores must be {self.people:,} numbers, one for each row of the holdout; got another shape"
            )
        low, high = self.bounds
        inside = np.clip(np.where(np.isnan(held), low, held), low, high)
        return int(np.rint((inside - low) / (high - low) * _GRID).astype(np.int64).sum())

    def _steps(self, mean: float) -> int:
        """Return a mean of scores as a sum over the holdout, in steps."""
        low, high = self.bounds
        return round((Fraction(mean) - Fraction(low)) / (Fraction(high) - Fraction(low)) * _GRID * self.people)

    def _answered(self, value: int, threshold: int, total: int) -> float | None:
        """Return a noisy mean where a value is above the threshold, up to noise, else None."""
        self._refuse_elsewhere()
        with self._lock:
            if self.remaining <= 0:
                raise StreamSpent(
                    f"this holdout has paid for its {self.hits:,} answers and is over; take new rows, about which "
                    "nobody has asked"
                )
            if self._stream is None:
                self._stream = self._watching(self._comparing, 0)
            if not self._stream.watch(value - threshold):
                return None
            self.remaining, self._stream = self.remaining - 1, None
        moved = Sensitivity(_GRID, norm=Norm.L1, relation=Relation.CHANGE_ONE)
        noisy = Laplace(epsilon=self._answering, sensitivity=moved)(total)
        low, high = self.bounds
        return float(min(max(low + (high - low) * int(noisy) / (_GRID * self.people), low), high))

    def __repr__(self) -> str:
        hits = f"hits={self.hits:,}, remaining={self.remaining:,}"
        return f"{type(self).__name__}(people={self.people:,}, {hits}, bounds={self.bounds}, {self.guarantee!r})"

    def _refuse_elsewhere(self) -> None:
        """Raise an error in a process that was forked off; its lock may be held by a thread that did not come along."""
        if self._owner != Process.here():
            raise StreamSpent("this holdout was opened in another process, which may go on using it; ask it there")

    def _refuse_copy(self, *_: object) -> NoReturn:
        raise NotCopyable(
            f"a {type(self).__name__} cannot be copied or pickled: the copy could pay from one price again. Use it "
            "in one process, with n_jobs=1"
        )

    __copy__ = __deepcopy__ = __reduce__ = _refuse_copy


class ReusableHoldout(_PaidHits):
    """Answer with the mean over the training rows as long as the holdout agrees; else with a noisy mean of the holdout.

    `people` is the number of rows of the holdout, which is public under change-one. Scores are one number a row, within
    stated bounds: whether a prediction is right, for example. On the holdout they are clipped to the bounds.

    Privacy. (epsilon, delta)-DP under change-one for the rows of the holdout, however queries are chosen; see
        `explain` for the price before anything is asked.
        Proof: `_PaidHits`; one row moves the distance of two means by at most the width of the bounds over people.
    Accuracy. `error` says how far answers to some number of queries are from the holdout and from the population.
    Reference. Dwork, Feldman, Hardt, Pitassi, Reingold, Roth 2015 (Thresholdout), with every hit priced.

    >>> holdout = ReusableHoldout(
    ...     20_000, threshold=0.1, hits=5, epsilon=1, delta=1e-6, bounds=(0, 1)
    ... )
    >>> holdout.ask(on_training=0.9, on_holdout=[0.9] * 20_000)  # they agree: free
    0.9
    >>> abs(holdout.ask(on_training=0.9, on_holdout=[0.5] * 20_000) - 0.5) < 0.1
    True
    >>> holdout.remaining
    4
    """

    def __init__(
        self, people: int, *, threshold: float, hits: int, epsilon: Number, delta: Number, bounds: Any = None
    ) -> None:
        super().__init__(people, hits=hits, epsilon=epsilon, delta=delta, bounds=bounds)
        self.threshold = float(plain(threshold, name="threshold"))
        if not 0 < self.threshold < self.bounds[1] - self.bounds[0]:
            raise ParameterError(
                "threshold must be above 0 and below the width of the bounds; got another, write threshold=0.05",
                parameter="threshold",
            )

    def ask(self, *, on_training: Any, on_holdout: Any) -> float:
        """Return the mean of scores: that of the training rows, or a paid one of the holdout.

        Args:
            on_training: the scores of the training rows, or their mean; within the bounds.
            on_holdout: the scores of the rows of the holdout, in the same order every time.
        """
        scores = _numbers(on_training)
        mean = float(np.mean(scores)) if scores.size else math.nan
        if not self.bounds[0] <= mean <= self.bounds[1]:
            raise InputError("scores on the training rows must lie within the bounds; got others, write wider bounds")
        total, expected = self._sum(on_holdout), self._steps(mean)
        margin = self._steps(self.bounds[0] + self.threshold)
        found = self._answered(abs(total - expected), margin, total)
        return mean if found is None else found

    def score(self, model: Any, *, training: tuple[Any, Any], holdout: tuple[Any, Any]) -> float:
        """Return the accuracy of a fitted classifier: how often its predictions are right.

        Every row of the holdout is predicted by itself; where that raises an error, the row counts as wrong.

        Cost. A prediction a row: a tenth of a millisecond for a linear model, more for pipelines and forests.
        """
        rows, labels = training
        right = np.asarray(model.predict(rows)) == np.asarray(labels)
        return self.ask(on_training=right, on_holdout=_right_alone(model, *holdout))

    def scorer(self, *, training: tuple[Any, Any], holdout: tuple[Any, Any]) -> Callable[..., float]:
        """Return a scorer for scikit-learn: whatever rows it is called with, the holdout is asked; with n_jobs=1."""
        return lambda model, *_: self.score(model, training=training, holdout=holdout)

    def error(self, *, queries: int, confidence: float) -> tuple[float, float]:
        """Return how far answers may be from the holdout's means, and from those of the population.

        All answers to `queries` queries are within both at once, with the confidence; half of what is left is for the
        noise and half for the transfer to the population (`transfer_bound`), where the rows are a random sample. The
        transfer starts from an error that holds but very rarely; how rarely is chosen for the least bound.
        """
        failure, width = (1 - _confidence(confidence)) / 2, self.bounds[1] - self.bounds[0]
        loss = self.loss
        found = width
        for chance in (failure * 10.0**-power for power in range(1, 9)):
            sample = self._sample_error(queries, chance) / width
            transferred = transfer_bound(loss, sample_error=sample, sample_failure=chance, confidence=1 - failure)
            found = min(found, transferred * width)
        return self._sample_error(queries, failure), found

    def queries(self, *, error: float, confidence: float) -> int:
        """Return how many queries there may be with all answers within an error of the holdout's means.

        >>> holdout = ReusableHoldout(
        ...     40_000, threshold=0.05, hits=5, epsilon=1, delta=1e-6, bounds=(0, 1)
        ... )
        >>> 1000 < holdout.queries(error=0.065, confidence=0.95) < 10**9
        True
        """
        failure, most = 1 - _confidence(confidence), plain(error, name="error")
        few, many = 0, 1

        def enough(queries: int) -> bool:
            return self._sample_error(queries, failure) <= most

        while many < _MOST_QUERIES and enough(many):
            few, many = many, 2 * many
        while many - few > 1:
            middle = (few + many) // 2
            few, many = (middle, many) if enough(middle) else (few, middle)
        if few == 0:
            raise ParameterError(
                "error must be larger than threshold and noise together; got less, see explain()", parameter="error"
            )
        return few

    def _sample_error(self, queries: int, failure: float) -> float:
        """Return how far answers are from the holdout's means, all of them, but for a chance of failure."""
        width = (self.bounds[1] - self.bounds[0]) / (_GRID * self.people)
        stream = self._watching(self._comparing, 0)
        compared = stream.alpha(queries=queries, beta=failure / (2 * self.hits)) * width
        moved = Sensitivity(_GRID, norm=Norm.L1, relation=Relation.CHANGE_ONE)
        answer = Laplace(epsilon=self._answering, sensitivity=moved).error(1 - failure / 2, self.hits) * width
        rounded = (self.bounds[1] - self.bounds[0]) / (2 * _GRID)  # of a score to its step
        return float(max(self.threshold + compared, answer) + rounded)


class Ladder(_PaidHits):
    """A leaderboard that tells a score only where it beats the best one so far by a step.

    Privacy. (epsilon, delta)-DP under change-one for the rows that submissions are scored on.
        Proof: `_PaidHits`.
    Reference. Blum, Hardt 2015, with noise in every comparison and answer.

    >>> board = Ladder(
    ...     50_000, step=0.05, hits=10, epsilon=1, delta=1e-6, bounds=(0, 1), start=0.5
    ... )
    >>> board.submit([0.5] * 50_000)  # no better than what stands there
    0.5
    >>> abs(board.submit([0.8] * 50_000) - 0.8) < 0.1
    True
    """

    def __init__(
        self, people: int, *, step: float, hits: int, epsilon: Number, delta: Number, bounds: Any = None, start: float
    ) -> None:
        super().__init__(people, hits=hits, epsilon=epsilon, delta=delta, bounds=bounds)
        self.step, self.best = float(plain(step, name="step")), float(plain(start, name="start"))
        if not 0 < self.step < self.bounds[1] - self.bounds[0]:
            raise ParameterError(
                "step must be above 0 and below the width of the bounds; got another", parameter="step"
            )
        if not self.bounds[0] <= self.best <= self.bounds[1]:
            raise ParameterError("start must lie within the bounds; got another", parameter="start")

    def submit(self, scores: Any) -> float:
        """Return the best score so far, which these scores may have become."""
        total = self._sum(scores)
        self._refuse_elsewhere()
        with self._lock:
            found = self._answered(total, self._steps(self.best + self.step), total)
            self.best = self.best if found is None else max(self.best, found)
            return self.best


def _bounds(bounds: Any) -> tuple[float, float]:
    """Return two finite numbers, the first below the second."""
    try:
        low, high = (float(plain(end, name="bounds")) for end in bounds)
    except (TypeError, ValueError):
        low, high = math.nan, math.nan
    if not (math.isfinite(high - low) and low < high and high - low > 1e-150):
        raise ParameterError("bounds must be two numbers, low below high; got another, write bounds=(0, 1)")
    return low, high


def _confidence(confidence: object) -> float:
    """Return a number strictly between 0 and 1."""
    found = float(plain(confidence, name="confidence"))
    if not 0 < found < 1:
        raise ParameterError("confidence must be between 0 and 1; got another, write 0.95", parameter="confidence")
    return found


def _right_alone(model: Any, rows: Any, labels: Any) -> Scores:
    """Return 1 for every row that a model labels rightly when it is asked about that row alone, else 0. Private.

    Lists stay as they are: an array of them would give all cells and labels the type that the odd one needs.
    """
    held, truth = _each_alone(rows), _each(labels)
    with unheard():
        return np.array([_is_right(model, held, at, one) for at, one in enumerate(truth)], dtype=np.float64)


def _each_alone(rows: Any) -> Callable[[int], Any]:
    """Return what gives a table with one of the rows."""
    if isinstance(rows, list | tuple):
        return lambda at: np.asarray([rows[at]])
    if hasattr(rows, "iloc"):
        return lambda at: rows.iloc[at : at + 1]
    held = _array(rows)
    return lambda at: held[at : at + 1]


def _each(labels: Any) -> list[Any]:
    """Return labels, one a row."""
    if isinstance(labels, list | tuple):
        return list(labels)
    found = _array(labels)
    if found.ndim == 0:
        raise InputError("labels must be one a row; got another, write an array of them")
    return list(found)


def _is_right(model: Any, held: Callable[[int], Any], at: int, label: Any) -> bool:
    """Say whether a model labels a row rightly; what it raises, which may show the row, is not passed on."""
    try:
        return bool(np.asarray(model.predict(held(at))).ravel()[0] == label)
    except Exception:
        return False


def _numbers(scores: Any) -> Scores:
    """Return scores as floats, NaN where one is no number; no cell of a list has a say in what the others are."""
    if isinstance(scores, list | tuple) and not all(type(one) is float for one in scores):
        column = listed_column(scores)
        if column is None:
            raise InputError("scores must be one number a row; got another shape, write an array of numbers")
        return targets(column)
    found = _array(scores)
    if found.dtype.kind in "biuf":
        with unheard():
            return found.astype(np.float64)
    return targets(found.astype(object).ravel()).reshape(found.shape)


def _array(given: Any) -> NDArray[Any]:
    """Return what numpy makes of scores, rows or labels; what it says about a cell is not passed on."""
    found: NDArray[Any] | None = None
    try:
        found = np.asarray(given)
    except Exception:  # foreign objects
        found = None
    if found is None:  # outside of the handler, so that the message does not carry what was raised
        raise InputError("scores must be one number a row; got another, write an array of numbers")
    return found

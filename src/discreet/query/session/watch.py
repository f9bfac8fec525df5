"""Watching counts for one above a threshold: the sparse vector technique, which pays for hits only."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from discreet.display import format_number
from discreet.errors import MissingParameter, NotCopyable, ParameterError, StreamSpent, UnsupportedSQL
from discreet.laws.number import Number, rational_or_none, round_up
from discreet.mechanisms import AboveThreshold
from discreet.mechanisms.choices import truth_value
from discreet.privacy import Norm, Price, Relation, Sensitivity
from discreet.privacy.numbers import positive_price
from discreet.query.measures import Simple
from discreet.query.plan import MeasureKind
from discreet.query.pricing import PricedQuery, as_released, cost_under, noise_of

if TYPE_CHECKING:
    from discreet.query.session.session import Session


class Watch:
    """A stream of counts, each told only to be above or below a noisy threshold, until the hits are used up.

    Privacy. epsilon-DP for the whole stream, however long and however adaptively it is asked: see `AboveThreshold`, for
        counts that one unit moves by at most D, the bound on the rows of one unit in the first question. Later
        questions must not have a larger one. With `gap=True` a hit may also tell by how much it is above, for the same
        epsilon; fresh noisy counts of the hits cost `answer_epsilon` more. The price is charged whole before the first
        answer.
    Accuracy. See `AboveThreshold`; `alpha` gives the half-width of the comparison in rows, `error` that of the numbers.
    """

    def __init__(
        self, session: Session, threshold: Number, price: Price, hits: int, answer_epsilon: Number | None, gap: bool
    ) -> None:
        exact = rational_or_none(threshold)
        if exact is None:
            raise ParameterError("threshold must be a finite number of rows", parameter="threshold")
        if isinstance(hits, np.integer):
            hits = int(hits)
        if isinstance(hits, bool) or not isinstance(hits, int) or hits < 1:
            raise ParameterError(
                "hits, how many answers above end the stream, must be a whole number of at least 1", parameter="hits"
            )
        self._charging, self._threshold, self._hits = session._charging, exact, hits
        self._tells_gaps = truth_value(gap, name="gap")
        self._answer_epsilon = None if answer_epsilon is None else positive_price(answer_epsilon, name="answer_epsilon")
        self._stream: AboveThreshold | None = None
        self._charge: Any = None
        self._failed = False
        self._lock = threading.Lock()
        pure = Price(epsilon=price.epsilon, share=price.share)
        if price.share is not None and noise_of(session.policy.budget, pure).name == "GAUSSIAN":
            words = "share= must be left out under a zCDP or Gaussian budget; write epsilon="
            raise ParameterError(words, parameter="share")
        self._cost = cost_under(session.policy.budget, pure, private_keys=False, relation=session.policy.relation)

    @property
    def remaining(self) -> int:
        """How many hits are left."""
        return self._hits if self._stream is None else self._stream.remaining

    def ask(self, sql: str, **options: Any) -> bool:
        """Say whether a count is above the threshold, both with noise."""
        return bool(self._looked(sql, options, lambda stream, count: stream.watch(count)))

    def gap(self, sql: str, **options: Any) -> int | float | None:
        """Return by how many rows a noisy count is above the noisy threshold, None if it is below; needs `gap=True`."""
        if not self._tells_gaps:
            raise MissingParameter(
                "gaps are told if asked for: state gap=True when the watch is opened. Nothing was spent.",
                parameter="gap",
            )
        return self._in_rows(self._looked(sql, options, lambda stream, count: stream.gap(count)))

    def answer(self, sql: str, **options: Any) -> int | float | None:
        """Return a noisy count if it is above the threshold, else None; needs `answer_epsilon`."""
        self._need_answers()
        return self._in_rows(self._looked(sql, options, lambda stream, count: stream.answer(count)))

    def alpha(self, *, queries: int, beta: float, sql: str | None = None) -> float:
        """Return the accuracy over `queries` questions at failure probability `beta`, in rows.

        With probability 1 - beta every question told to be above counts at least threshold - alpha rows and every one
        told to be below at most threshold + alpha; see `AboveThreshold.alpha`. Counts are those after bounding. It
        follows from the first question, so before that one is asked `sql` must be given; it is not charged.
        """
        stream, one = self._planned(sql)
        rounded = math.ceil(self._threshold * one) - self._threshold * one
        return round_up((Fraction(stream.alpha(queries=queries, beta=beta)) + rounded) / one)

    def error(self, *, confidence: float, sql: str | None = None) -> float:
        """Return the half-width of the interval about one noisy count from `answer`, in rows; `sql` as in `alpha`."""
        self._need_answers()
        stream, one = self._planned(sql)
        if stream.answer_noise is None:
            raise AssertionError("asked for when the watch was opened")
        return round_up(Fraction(stream.answer_noise.half_width(confidence), one))

    def _looked(self, sql: str, options: Mapping[str, Any], look: Callable[[AboveThreshold, int], Any]) -> Any:
        """Put the count of a question before the stream, which starts with the first one."""
        measure, made = self._read(sql, options)
        with self._lock:
            if self._stream is None:
                self._start(measure)
            stream = self._stream
            if stream is not None and stream.remaining == 0:
                raise StreamSpent("this watch has reported its hits and is over; open another one, at its own price")
            if self._failed:
                raise StreamSpent("the engine failed in this watch, which ended it; open another one, at its own price")
            if stream is None or measure.bounding.moved(measure.norms)[0] * self._unit(measure) > self._most:
                raise ParameterError(
                    "this question can be moved further by one unit than the first one of the watch: open another "
                    "watch for it"
                )
            times = self._unit(measure)
            self._failed = True  # unless it ends well: whether the engine fails may depend on the data, so once is all
            # a verdict in a tuple: None is what a failure returns
            (told,) = self._charging.guarded(lambda: (look(stream, self._value(made) * times),), self._charge)
            self._failed = False
            return told

    def _read(self, sql: str, options: Mapping[str, Any]) -> tuple[Simple, PricedQuery]:
        """Return the count that a question asks for; no private data is read."""
        made = self._charging.priced(sql, Price(epsilon=self._cost.amount), **options)
        self._charging.check(made)
        return _counted(made), made

    def _start(self, measure: Simple) -> None:
        """Charge the whole price, then draw the threshold's noise."""
        self._one = measure.bounding.unit
        self._most = measure.bounding.moved(measure.norms)[0]
        stream = self._stream_for(measure)
        whole = replace(self._cost, amount=self._cost.amount + (self._answer_epsilon or 0))
        self._charge = self._charging.charge(whole.guarantee, f"watch for {self._hits} hits", (repr(stream),))
        self._stream = stream

    def _stream_for(self, measure: Simple) -> AboveThreshold:
        """Return a stream of counts that one unit moves as it moves this one."""
        relation = measure.bounding.relation
        moved = measure.bounding.moved(measure.norms)[0]
        return AboveThreshold(
            threshold=math.ceil(self._threshold * measure.bounding.unit),
            epsilon=self._cost.amount,
            sensitivity=Sensitivity(moved, norm=Norm.LINF, relation=relation),
            hits=self._hits,
            monotone=relation is Relation.ADD_REMOVE,
            answer_epsilon=self._answer_epsilon,
            gap=self._tells_gaps,
        )

    def _planned(self, sql: str | None) -> tuple[AboveThreshold, int]:
        """Return the stream, or one like it for a first question, and how many steps are a row; nothing is charged."""
        if self._stream is not None:
            return self._stream, self._one
        if sql is None:
            raise MissingParameter(
                "the accuracy follows from the first question: ask it, or give it as sql=, which is not charged",
                parameter="sql",
            )
        measure, _ = self._read(sql, {})
        return self._stream_for(measure), measure.bounding.unit

    def _need_answers(self) -> None:
        if self._answer_epsilon is None:
            raise MissingParameter(
                "noisy counts cost extra: state answer_epsilon= when the watch is opened. Nothing was spent.",
                parameter="answer_epsilon",
            )

    def _in_rows(self, steps: int | None) -> int | float | None:
        """Return steps of the first question's unit as rows: whole ones where a unit weighs whole rows."""
        return steps if steps is None or self._one == 1 else steps / self._one

    def _unit(self, measure: Simple) -> int:
        """Return by what a count is multiplied to be in the unit of the first one."""
        if measure.bounding.unit > self._one:
            raise ParameterError("ask first about the table whose units have several rows")
        return self._one // measure.bounding.unit

    def _value(self, made: PricedQuery) -> int:
        sums = self._charging.engine.run(made.request())
        return sums.cells[0][0] if sums.cells[0] else 0

    def __reduce__(self) -> NoReturn:
        raise NotCopyable("a Watch cannot be copied or pickled: it has one price and one stream; open another one")

    def __repr__(self) -> str:
        small = abs(self._threshold) < 10**300
        threshold = f"{float(self._threshold):.6g}" if small else format_number(self._threshold, digits=6)
        return f"Watch(threshold={threshold}, hits={self._hits}, remaining={self.remaining})"


def _counted(made: PricedQuery) -> Simple:
    """Return the one count of a question."""
    kinds = (MeasureKind.COUNT_ROWS, MeasureKind.COUNT_VALUES, MeasureKind.COUNT_UNITS)
    asked = made.query.aggregation.asked
    measure = made.measures[0]
    plain = not made.query.aggregation.keys and len(asked) == 1 and as_released(made.query)
    if not plain or asked[0].kind not in kinds or not isinstance(measure, Simple):
        raise UnsupportedSQL(
            "a watch takes one count without groups: SELECT COUNT(*) FROM ... WHERE .... Nothing was spent."
        )
    return measure

"""Watching counts for one above a threshold: the sparse vector technique, which pays for hits only."""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, Any, NoReturn

from discreet.display import format_number
from discreet.errors import NotCopyable, ParameterError, StreamSpent, UnsupportedSQL
from discreet.laws.number import Number, rational_or_none
from discreet.mechanisms import AboveThreshold
from discreet.privacy import Norm, Relation, Sensitivity
from discreet.query.measures.measure import Simple
from discreet.query.plan import MeasureKind
from discreet.query.price import Stated, noise_of, payment
from discreet.query.release import PricedQuery, as_released, fresh_digest

if TYPE_CHECKING:
    from discreet.query.session import Session


class Watch:
    """A stream of counts, each told only to be above or below a noisy threshold, until the hits are used up.

    Privacy. epsilon-DP for the whole stream, however long and however adaptively it is asked: see `AboveThreshold`, for
        counts that one unit moves by at most D, the contribution bound of the first question. Later questions must not
        have a larger one. The price is charged whole before the first answer.
    """

    def __init__(self, session: Session, threshold: Number, price: Stated, hits: int) -> None:
        """Nothing is charged until the first question."""
        exact = rational_or_none(threshold)
        if exact is None:
            raise ParameterError("threshold is a finite number of rows", parameter="threshold")
        if isinstance(hits, bool) or not isinstance(hits, int) or hits < 1:
            raise ParameterError("hits is how many answers above end the stream, at least 1", parameter="hits")
        self._session, self._threshold, self._hits, self._price = session, exact, hits, price
        self._stream: AboveThreshold | None = None
        self._charge: Any = None
        self._failed = False
        self._lock = threading.Lock()
        pure = Stated(epsilon=price.epsilon, share=price.share)
        if price.share is not None and noise_of(session.policy.budget, pure).name == "GAUSSIAN":
            raise ParameterError("under a zCDP budget a watch is paid in epsilon=", parameter="share")
        self._payment = payment(session.policy.budget.under(session.policy.relation), pure, private_keys=False)

    @property
    def remaining(self) -> int:
        """How many hits are left."""
        return self._hits if self._stream is None else self._stream.remaining

    def ask(self, sql: str, **options: Any) -> bool:
        """Say whether a count is above the threshold, both with noise."""
        made = self._session._priced(sql, Stated(epsilon=self._payment.amount), **options)
        self._session._check(made)
        measure = _counted(made)
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
            above = self._session._guarded(lambda: stream.watch(self._value(made) * times), self._charge)
            self._failed = False
            return bool(above)

    def _start(self, measure: Simple) -> None:
        """Charge the whole price, then draw the threshold's noise."""
        self._one = measure.bounding.unit
        self._most = measure.bounding.moved(measure.norms)[0]
        relation = measure.bounding.relation
        stream = AboveThreshold(
            threshold=math.ceil(self._threshold * self._one),
            epsilon=self._payment.amount,
            sensitivity=Sensitivity(self._most, norm=Norm.LINF, relation=relation),
            hits=self._hits,
            monotone=relation is Relation.ADD_REMOVE,
        )
        self._charge = self._session._charge(
            self._payment.guarantee, fresh_digest(), f"watch for {self._hits} hits", (repr(stream),)
        )
        self._stream = stream

    def _unit(self, measure: Simple) -> int:
        """Return by what a count is multiplied to be in the unit of the first one."""
        if measure.bounding.unit > self._one:
            raise ParameterError("ask first about the table whose units have several rows")
        return self._one // measure.bounding.unit

    def _value(self, made: PricedQuery) -> int:
        sums = self._session.engine.run(made.request())
        return sums.cells[0][0] if sums.cells[0] else 0

    def __reduce__(self) -> NoReturn:
        """Refuse to be copied or pickled: a copy would not know that the other one has failed."""
        raise NotCopyable("a Watch cannot be copied or pickled: it has one price and one stream; open another one")

    def __repr__(self) -> str:
        """Show the public state."""
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

"""AboveThreshold: watch a stream of values, pay only for those reported above a threshold.

How far comparisons of noisy values with one noisy threshold can be from the truth, by their exact law.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np

from discreet.errors import InputError, MissingParameter, NotCopyable, ParameterError, StreamSpent
from discreet.laws import AboveThresholdGapLaw, AboveThresholdLaw, DiscreteLaplace
from discreet.laws.choices import Hit
from discreet.laws.number import Number, exact_rational, round_up
from discreet.mechanisms.choices import MONOTONE, SelectionGrid, is_large, moved_by, truth_value
from discreet.mechanisms.domain import floats_on_grid
from discreet.mechanisms.mechanism import PurelyPrivate, positive_epsilon, stated_sensitivity
from discreet.privacy import Norm, Sensitivity, warn_if_senseless
from discreet.privacy.numbers import positive_price, whole
from discreet.randomness.process import Process

_SMALL = 1 << 61
_MOST_HITS = 1 << 60
_FEW = 3


class Split(Enum):
    """How epsilon is shared between the threshold's noise and the queries' noise."""

    OPTIMAL = (
        "1 : (2 hits)^(2/3), or 1 : hits^(2/3) for monotone streams, which minimizes the variance of the comparison"
    )
    TEXTBOOK = "one half each"


class AboveThreshold(PurelyPrivate):
    """Report, one value at a time, whether it is above a noisy threshold, until `hits` reports were positive.

    Privacy. epsilon-DP (pure) however long the stream and however adaptively it is chosen, for values that one person
        moves by at most D each: threshold noise of scale D / e1 drawn once, fresh query noise of scale 2 c D / e2 for c
        hits (c D / e2 for monotone streams), e1 + e2 = epsilon. With `gap=True` a hit may also tell by how much the
        noisy value exceeds the noisy threshold, for the same epsilon. Fresh noisy answers to the hits, if asked, cost
        `answer_epsilon` more: noise of scale c D / e3.
        Proof: couple the two runs by shifting the threshold noise by D and the query noise of each hit by 2 D. On the
        neighbor every 'below' stays below (its value rose by at most D, the threshold by D) and every hit stays a hit.
        The shifts cost e1 and c * 2 D / (2 c D / e2) = e2. Monotone streams: if values rise, shift the threshold by D
        and hits by D; if they fall, shift hits by D only. Adaptivity: given the same answers so far, the next query is
        the same, so the coupling goes through step by step. Values and threshold are rounded to the grid first, so all
        shifts stay on it. With gaps: if the threshold is shifted by S and the value of a hit moved by d, shift its
        noise by S - d, and its gap is the same on both tables. With S = D these shifts lie in [0, 2 D]; in monotone
        streams they lie in [0, D], with S = D if values rise and S = 0 if they fall. So they cost what the hits cost
        above. A tie is a hit on both tables and no value is compared with another one, so nothing is to be broken.
    Accuracy. With probability 1 - beta every 'above' has value >= T - alpha, every 'below' has value <= T + alpha and
        every gap is within alpha of value - T, over k values, with alpha from `alpha`: the exact law of |query noise -
        threshold noise|. It speaks of all k values provided no value before the last is at or above T - alpha (else
        the stream may stop early, having spent its hits).
    Cost. One draw a value; constant memory.
    Figure. above_threshold.svg
    Reference. Dwork, Naor, Reingold, Rothblum, Vadhan 2009; Dwork, Roth 2014, algorithms 1 and 2; split: Lyu, Su, Li
        2017; gaps: Ding, Wang, Zhang, Kifer 2019.

    >>> stream = AboveThreshold(threshold=1000, epsilon=1, sensitivity=1)
    >>> stream.watch(3), stream.watch(2000)
    (False, True)
    >>> stream.watch(5)
    Traceback (most recent call last):
    ...
    discreet.errors.StreamSpent: this stream has reported its 1 hit and is over; open
        another one, ...
    >>> stream = AboveThreshold(threshold=1000, epsilon=1, sensitivity=1, gap=True)
    >>> stream.gap(3), abs(stream.gap(2000) - 1000) < 200
    (None, True)
    """

    def __init__(  # noqa: PLR0913  each is a public choice, and by keyword only
        self,
        *,
        threshold: Number | None = None,
        epsilon: Number | None = None,
        sensitivity: Number | Sensitivity | None = None,
        hits: int = 1,
        monotone: bool = False,
        split: Split = Split.OPTIMAL,
        answer_epsilon: Number | None = None,
        gap: bool = False,
        grid: Number | None = None,
    ) -> None:
        if threshold is None:
            raise MissingParameter(
                "threshold= is the public level that values are compared with", parameter="threshold"
            )
        if whole(hits, name="hits") > _MOST_HITS:
            raise ParameterError(
                "hits must be the number of positive reports that end the stream, from 1 to 2^60", parameter="hits"
            )
        if not isinstance(split, Split):
            raise ParameterError("split must be Split.OPTIMAL or Split.TEXTBOOK", parameter="split")
        self._parameters: dict[str, Any] = {
            "threshold": threshold,
            "epsilon": epsilon,
            "sensitivity": sensitivity,
            "hits": hits,
            "monotone": monotone,
            "split": split,
            "answer_epsilon": answer_epsilon,
            "gap": gap,
            "grid": grid,
        }
        self._epsilon = positive_epsilon(epsilon)
        self._answer_epsilon = None if answer_epsilon is None else positive_price(answer_epsilon, name="answer_epsilon")
        self.hits, self.monotone = int(hits), truth_value(monotone, name="monotone")
        self.sensitivity = moved_by(stated_sensitivity(sensitivity, (Norm.LINF,)), monotone=self.monotone)
        self.relation = self.sensitivity.relation
        self._tells_gaps = truth_value(gap, name="gap")
        first = self._threshold_share(split)
        sides = self.hits * (1 if self.monotone else 2)
        self._grid = SelectionGrid(self.sensitivity, grid, self.sensitivity.exact / first)
        step = self._grid.sensitivity
        self.threshold_noise = DiscreteLaplace(step / first)
        self.query_noise = DiscreteLaplace(sides * step / (self._epsilon - first))
        self.answer_noise = (
            None if self._answer_epsilon is None else DiscreteLaplace(self.hits * step / self._answer_epsilon)
        )
        self._threshold = self._grid.steps(threshold)
        warn_if_senseless(self.guarantee, people=None)
        self._lock = threading.Lock()
        self._owner = Process.here()
        self._remaining = self.hits
        self._noisy_threshold = self._threshold + self.threshold_noise.sample()

    def _threshold_share(self, split: Split) -> Fraction:
        """Return e1 exactly; e2 is what remains, so that the two add up to epsilon without rounding."""
        if split is Split.TEXTBOOK:
            return self._epsilon / 2
        ratio = (self.hits * (1 if self.monotone else 2)) ** (2.0 / 3.0)
        return self._epsilon / Fraction(1.0 + ratio)

    @property
    def grid(self) -> Fraction:
        """The public grid that values are rounded to."""
        return self._grid.step

    @property
    def remaining(self) -> int:
        """How many positive reports are left."""
        return self._remaining

    @property
    def _guaranteed(self) -> Fraction:
        """Epsilon for the verdicts of the whole stream, and for the answers if they were asked for."""
        return self._epsilon + (self._answer_epsilon or 0)

    def watch(self, value: Any) -> bool:
        """Say whether a value is above the threshold, up to noise."""
        return self._look(value)[0] >= 0

    def gap(self, value: Any) -> int | float | None:
        """Return by how much the noisy value is above the noisy threshold, None if it is below; needs `gap=True`."""
        if not self._tells_gaps:
            raise MissingParameter(
                "gaps are not released by this stream: state gap=True when the stream is opened", parameter="gap"
            )
        margin, _ = self._look(value)
        return None if margin < 0 else self._in_unit(margin)

    def answer(self, value: Any) -> int | float | None:
        """Return a noisy value if it is above the threshold, else None; needs `answer_epsilon`."""
        if self.answer_noise is None:
            raise MissingParameter(
                "noisy answers cost extra: state answer_epsilon= when the stream is opened", parameter="answer_epsilon"
            )
        margin, steps = self._look(value)
        return None if margin < 0 else self._in_unit(self.answer_noise.added_to(steps))

    def _in_unit(self, steps: int) -> int | float:
        """Return grid steps as a released number: an integer on grid 1, else a float."""
        result: int | float = steps if self._grid.integer else floats_on_grid(steps, self.grid)
        return result

    def __call__(self, value: Any) -> bool:
        """Same as `watch`."""
        return self.watch(value)

    def release(self, value: Any) -> tuple[int, ...] | tuple[Hit, ...]:
        """Open a fresh stream with the same parameters; return the positions it reports, or the hits if with gaps."""
        stream = AboveThreshold(**self._parameters)
        reported: list[Any] = []
        for position, entry in enumerate(value):
            margin, _ = stream._look(entry)
            if margin >= 0:
                reported.append(Hit(position, self._in_unit(margin)) if self._tells_gaps else position)
            if stream.remaining == 0:
                break
        return tuple(reported)

    def _look(self, value: Any) -> tuple[int, int]:
        """Return noisy value minus noisy threshold, and the value, in steps; a refused value spends nothing."""
        steps = self._grid.steps(value)
        if self._owner != Process.here():  # before the lock, which a thread of the parent may hold for ever
            raise StreamSpent(
                "this stream was opened in another process, which may go on using it; open a new one here (at its own "
                "price)"
            )
        with self._lock:
            if self._remaining == 0:
                reported = "1 hit" if self.hits == 1 else f"{self.hits} hits"
                raise StreamSpent(
                    f"this stream has reported its {reported} and is over; open another one, which costs its "
                    "epsilon again"
                )
            margin = steps + self.query_noise.draw_one() - self._noisy_threshold
            self._remaining -= margin >= 0
            if self._remaining == 0:
                self._noisy_threshold = 0
        return margin, steps

    def law(self, value: Any) -> AboveThresholdLaw | AboveThresholdGapLaw:
        """Return the law of the reported positions, or hits, on a fixed stream (noisy answers are not part of it)."""
        steps = self._grid.array(value)
        if is_large(steps) or abs(self._threshold) >= _SMALL:
            raise InputError("the exact law is available for values and a threshold within 2^61 grid steps")
        if self._tells_gaps:
            distances = steps - self._threshold
            return AboveThresholdGapLaw(
                distances, self.threshold_noise, self.query_noise, hits=self.hits, grid=self.grid
            )
        return AboveThresholdLaw(
            steps, self._threshold, self.threshold_noise.scale, self.query_noise.scale, hits=self.hits
        )

    def alpha(self, *, queries: int, beta: float) -> float:
        """Return the accuracy for k queries at failure probability beta, in the unit of the values."""
        if not 0 < exact_rational(beta, name="beta") < 1:
            raise ParameterError("alpha needs a beta strictly between 0 and 1", parameter="beta")
        count = whole(queries, name="queries")
        width = comparison_width(self.threshold_noise, self.query_noise, queries=count, beta=beta)
        rounding = Fraction(0) if self._grid.integer else self.grid
        return round_up(width * self.grid + rounding)

    def neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield streams whose last value lies across the threshold from the others and moves the other way."""
        yield from self._moves(both_ways=not self.monotone)

    def left_out(self) -> Mapping[str, Iterable[tuple[Any, Any]]]:
        """Streams whose values move both ways, where they were stated to be monotone."""
        return {MONOTONE: self._moves(both_ways=True, last_values=min(self.hits, _FEW))} if self.monotone else {}

    def _moves(self, *, both_ways: bool, last_values: int = 1) -> Iterator[tuple[Any, Any]]:
        """Yield streams whose last values lie across the threshold from the others and move with or against them."""
        step = int(self._grid.sensitivity)
        far = int(10 * self.query_noise.scale) + 1
        for length, others, last in ((1, 0, 0), (3, 0, 0), (6, far, -far), (6, -far, far)):
            for sign in (1, -1):
                back = -sign if both_ways else sign
                steps = [self._threshold + others] * (length - 1)
                lasts = [self._threshold + last] * last_values
                base = self._grid.in_units([*steps, *lasts])
                moved = self._grid.in_units([step * sign + one for one in steps] + [step * back + one for one in lasts])
                yield base, moved
                yield moved, base

    def _refuse_copy(self) -> NoReturn:
        """A copy would answer twice from one threshold noise that was paid for once."""
        raise NotCopyable(
            "a stream's noisy threshold may be used once; it cannot be copied or pickled. Open a new stream"
        )

    def __copy__(self) -> NoReturn:
        self._refuse_copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> NoReturn:
        self._refuse_copy()

    def __reduce__(self) -> NoReturn:
        self._refuse_copy()

    def __repr__(self) -> str:
        return (
            f"AboveThreshold(epsilon={float(self._epsilon):.6g}, sensitivity={self.sensitivity.value}, "
            f"hits={self.hits}, "
            f"remaining={self._remaining}, {'gap=True, ' if self._tells_gaps else ''}relation={self.relation.name})"
        )


_CELLS = 1 << 14


def comparison_width(
    threshold_noise: DiscreteLaplace, query_noise: DiscreteLaplace, *, queries: int, beta: float
) -> int:
    """Return the least a for which all of k query noises are within a of the threshold's with probability 1 - beta.

    P(|N_i - R| <= a for all k) = sum over r of P(R = r) P(|N - r| <= a)^k, evaluated on the law. On fine grids r runs
    over cells of 1/200 of the scale, each counted at its worst point, which errs upward.
    """
    low, each = -1, 1 - Fraction(beta) / 2
    high = threshold_noise.half_width(each) + query_noise.half_width(each, queries)
    while high - low > 1:
        middle = (low + high) // 2
        enough = _inside(threshold_noise, query_noise, middle, queries) >= 1 - beta
        low, high = (low, middle) if enough else (middle, high)
    return high


def _inside(threshold_noise: DiscreteLaplace, query_noise: DiscreteLaplace, width: int, queries: int) -> float:
    """Return a lower bound on P(all |N_i - R| <= width), exact to rounding where cells are single steps."""
    reach = int(40 * threshold_noise.scale) + 2
    cell = max(1, 2 * reach // _CELLS)
    first = np.arange(-reach, reach + 1, cell)
    last = first + cell - 1
    mass = threshold_noise.cdf(last) - threshold_noise.cdf(first - 1)
    each = query_noise.cdf(first + width) - query_noise.cdf(last - width - 1)
    slack = (queries + _CELLS) * 2.0**-50  # a relative error in each power, and in the sum
    return float(np.sum(mass * np.clip(each, 0.0, 1.0) ** queries)) * (1.0 - slack) - slack

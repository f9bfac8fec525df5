"""Faults in streams that are compared with a noisy threshold."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import partial
from typing import Any

from discreet.audit import Level
from discreet.laws import DiscreteLaplace
from discreet.mechanisms import AboveThreshold, Split
from discreet.privacy import PureDP
from discreet.testing.planted.fault import LAW, Overstated, Planted, planted

_HARDLY_ANY = Fraction(1, 1000)  # as good as no noise, and still a law
_rising: list[tuple[Any, Any]] = [([0] * 8, [1] * 8), ([-12] * 7 + [12], [-11] * 7 + [11])]


class Stream(Overstated, AboveThreshold):  # type: ignore[misc]  # a guarantee of any kind
    """A stream whose releases are made by its own class, with the guarantee of the right one."""

    def __init__(self, **stated: Any) -> None:
        super().__init__(**stated)
        self._said = PureDP(self._guaranteed, relation=self.relation)
        self._spoil()
        self._noisy_threshold = self._threshold + self.threshold_noise.sample()

    def _spoil(self) -> None:
        """Change the noise."""

    def release(self, value: Any) -> Any:
        """Open a fresh stream of the same kind and report its hits."""
        stream = type(self)(**self._parameters)
        reported = []
        for place, entry in enumerate(value):
            if stream.watch(entry):
                reported.append(place)
            if stream.remaining == 0:
                break
        return tuple(reported)


class BareThreshold(Stream):
    """The threshold has no noise."""

    def _spoil(self) -> None:
        self.threshold_noise = DiscreteLaplace(_HARDLY_ANY)


class BareValues(Stream):
    """The values have no noise."""

    def _spoil(self) -> None:
        self.query_noise = DiscreteLaplace(_HARDLY_ANY)


class UnsplitHits(Stream):
    """The noise on values is that of a single hit."""

    def _spoil(self) -> None:
        self.query_noise = DiscreteLaplace(self.query_noise.scale / self.hits)


class HalfQueryNoise(Stream):
    """The noise on values is for monotone streams."""

    def _spoil(self) -> None:
        self.query_noise = DiscreteLaplace(self.query_noise.scale / 2)


class FreshThreshold(Stream):
    """The threshold's noise is drawn anew for every value."""

    def watch(self, value: Any) -> bool:
        """Draw, then look."""
        self._noisy_threshold = self._threshold + self.threshold_noise.draw_one()
        return super().watch(value)


class OneHitMore(Stream):
    """The stream stops one hit too late."""

    def _spoil(self) -> None:
        self._remaining = self.hits + 1


class NeverStops(Stream):
    """Hits are not counted."""

    def watch(self, value: Any) -> bool:
        """Look, and forget."""
        found = super().watch(value)
        self._remaining = self.hits
        return found


class MonotoneStream(Stream):
    """Stated to be monotone; on its tables values move both ways."""

    def neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield what one person really does."""
        yield from AboveThreshold(
            threshold=0, epsilon=self._epsilon, sensitivity=self.sensitivity, hits=self.hits
        ).neighbors()


class Answers(Stream):
    """Releases the answers to its hits: a noisy value for each hit, None for the others."""

    def release(self, value: Any) -> Any:
        """Answer until the hits are spent, at most three values."""
        stream = type(self)(**self._parameters)
        answers: list[Any] = []
        for entry in value:
            answers.append(stream.answer(entry) if stream.remaining else None)
        return tuple(answers)

    def outcome(self, value: Any) -> Any:
        """The answers."""
        return self.release(value)


class BareAnswers(Answers):
    """A hit is answered with the true value."""

    def answer(self, value: Any) -> Any:
        """Leave the noise out."""
        margin, steps = self._look(value)
        return None if margin < 0 else steps


class FreeAnswers(Answers):
    """Answers are given at a price that was never charged."""

    def __init__(self, **stated: Any) -> None:
        super().__init__(**stated)
        self._said = PureDP(self._epsilon, relation=self.relation)


_above_threshold = partial(planted, AboveThreshold, epsilon=1, sensitivity=1, threshold=0)
FAULTS = [
    _above_threshold(BareThreshold, "no noise on the threshold", "'below' is paid for again and again", Level.EXACT,
        split=Split.TEXTBOOK, neighbors=_rising),
    _above_threshold(BareValues, "no noise on the values", "all values meet the same noisy threshold", Level.EXACT,
        neighbors=[([0, 1], [1, 0])]),
    _above_threshold(UnsplitHits, "hits not split", "noise for one hit, four are reported", Level.EXACT, hits=4,
        split=Split.TEXTBOOK, neighbors=[([6] * 4 + [-6] * 4, [7] * 4 + [-7] * 4)]),
    _above_threshold(HalfQueryNoise, "monotone noise", "values move both ways, the noise is for one", Level.EXACT),
    Planted("AboveThreshold: monotone by name", "values move both ways, monotone was stated", Level.EXACT,
            partial(MonotoneStream, threshold=0, epsilon=1, sensitivity=1, monotone=True),
            partial(MonotoneStream, threshold=0, epsilon=1, sensitivity=1)),
    _above_threshold(FreshThreshold, "threshold drawn anew", "every value meets its own noisy threshold", LAW,
        monotone=True, hits=3, inputs=[[0, 0, 0]], draws=3000),
    _above_threshold(OneHitMore, "one hit too many", "the stream stops one hit late", LAW, inputs=[[0, 1, 2]],
        draws=300),
    _above_threshold(NeverStops, "never stops", "hits are not counted", LAW, inputs=[[0, 1, 2]], draws=300),
    Planted("AboveThreshold: bare answers", "a hit is answered with the true value", Level.STATISTICAL,
            partial(BareAnswers, threshold=-100, epsilon=1, sensitivity=1, answer_epsilon=1),
            partial(Answers, threshold=-100, epsilon=1, sensitivity=1, answer_epsilon=1), neighbors=[([0], [1])],
            draws=1200),
    Planted("AboveThreshold: answers for nothing", "fresh answers, not charged", Level.STATISTICAL,
            partial(FreeAnswers, threshold=-100, epsilon=1, sensitivity=1, answer_epsilon=3),
            partial(Answers, threshold=-100, epsilon=1, sensitivity=1, answer_epsilon=3), neighbors=[([0], [1])],
            draws=1500),
]  # fmt: skip

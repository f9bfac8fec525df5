"""The exact law of a real sampler: every decision that its random words can make, followed through the real code.

A protocol decides by a coin of a given numerator, by a uniform integer below a given bound, or by a plain word that it
compares with a threshold. The real code runs on scripted words; how coins and integers divide the words among outcomes
is what `tests/randomness` proves, and of plain words eight are tried, so that thresholds must be eighths. Anything else
that a sampler drew would be unscripted, and is found by running on two different continuations.
"""

from __future__ import annotations

import hashlib
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache
from typing import Any

import pytest

from discreet.local.protocol.rational_coin import toss as real_toss
from discreet.randomness import keystream, uniform
from discreet.randomness.reservoir import discard_all
from tests.randomness.sources import WORD, swapped

_CHUNK = 64  # few words are served from the start of a chunk of this many
_EIGHTHS = 8
Draw = tuple[str, int, int]
Law = dict[int, Fraction]
Run = tuple[int, list[Draw]]


class Unscripted(AssertionError):
    """The sampler drew something that is neither a coin nor a uniform integer nor a plain word."""


@dataclass
class Scripted:
    """Words in the order of the draws, each at the head of a chunk, then a continuation."""

    words: list[int] = field(default_factory=list)
    then: bytes = b""

    def __call__(self, out: memoryview) -> None:
        out[:] = self.then[: len(out)]
        for place in range(0, len(out), 8 * _CHUNK):
            if self.words:
                out[place : place + 8] = self.words.pop(0).to_bytes(8, "little")


@cache
def _continuation(number: int) -> bytes:
    """A block of fixed bytes."""
    return hashlib.shake_256(bytes([number])).digest(8 * keystream.BLOCK_WORDS)


def exact_law(randomize: Callable[[Any], Any], items: Any) -> Law:
    """The probability of every report of one person, by following all decisions; `items` holds the one value."""
    law: Law = defaultdict(Fraction)
    source = Scripted()
    with swapped(source), _logged() as log:

        def run(words: list[int], then: int = 0) -> Run:
            source.words, source.then = list(words), _continuation(then)
            log.clear()
            discard_all()
            (report,) = randomize(items)
            return int(report), list(log)

        _follow([], run([]), Fraction(1), law, run)
    assert sum(law.values()) == 1
    return dict(law)


def _follow(words: list[int], seen: Run, mass: Fraction, law: Law, run: Callable[..., Run]) -> None:
    """Branch over the outcomes of the next draw, or count the report if there is none."""
    report, draws = seen
    if len(draws) == len(words):
        if run(words, 1) != seen:
            raise Unscripted
        law[report] += mass
        return
    draw = draws[len(words)]
    branches = [([*words, word], chance, run([*words, word])) for word, chance in _outcomes(*draw)]
    again = [_repeats(draw, found[len(words) + 1 :]) for _, _, (_, found) in branches]
    if all(again):
        again = [False] * len(branches)  # a second draw of the same kind, whatever the first: nothing was rejected
    accepted = [branch for branch, repeated in zip(branches, again, strict=True) if not repeated]
    kept = sum((chance for _, chance, _ in accepted), Fraction(0))
    for longer, chance, found in accepted:  # what is drawn until it is accepted has the law of what is accepted
        _follow(longer, found, mass * chance / kept, law, run)


def _repeats(draw: Draw, rest: list[Draw]) -> bool:
    """Say whether a uniform integer is drawn once more."""
    return draw[0] == "uniform" and draw[2] > 0 and rest[:1] == [draw]


def _outcomes(kind: str, number: int, count: int) -> Iterator[tuple[int, Fraction]]:
    """One word for every outcome of a draw, with the probability of the outcome."""
    if not count:  # a draw for nobody takes words too
        yield 0, Fraction(1)
        return
    if kind == "words":
        yield from ((WORD * (2 * eighth + 1) // (2 * _EIGHTHS), Fraction(1, _EIGHTHS)) for eighth in range(_EIGHTHS))
        return
    if kind == "toss":
        yield number - 1, Fraction(number, WORD)
        yield number, 1 - Fraction(number, WORD)
        return
    power = number & (number - 1) == 0
    for value in range(number):
        yield value << (65 - number.bit_length()) if power else value, Fraction(1, number)


@contextmanager
def _logged() -> Iterator[list[Draw]]:
    """Write down which draws are made; the draws themselves are the real ones."""
    log: list[Draw] = []

    def toss(numerator: int, count: int) -> Any:
        log.append(("toss", numerator, count))
        return real_toss(numerator, count)

    def below(bound: int, count: int) -> Any:
        if bound > 1:  # below 1 there is nothing to draw, though a word may be taken
            log.append(("uniform", bound, count))
        return uniform.uniform_below_array(bound, count)

    def plain(count: int) -> Any:
        log.append(("words", 0, count))
        return keystream.words(count)

    with pytest.MonkeyPatch.context() as patch:
        for name, module in list(sys.modules.items()):
            if name.startswith("discreet.local.") and name != real_toss.__module__:
                for drawn, logged in (("toss", toss), ("uniform_below_array", below), ("words", plain)):
                    if hasattr(module, drawn):
                        patch.setattr(module, drawn, logged)
        yield log

"""Transcripts: the draws of every round, announced before they are made and kept before they are used.

What they say about the table: the draws of a round come from a law that depends on the table through its shares p(q)
alone: query q with sign + or - has chance exp(+-L(q)) / Z, where L(q) = eta ((t - 1) p(q) - S(q)) and S(q) counts the
earlier records that satisfy q. The logarithm of the chance of all draws is a concave function of the shares, hence of
weights on any fixed support of records; the weights that make it largest are post-processing of the draws.
"""

from __future__ import annotations

import json
import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from discreet._compiled import available, compiled
from discreet.errors import LedgerError, LedgerMismatch, NotCopyable, ParameterError
from discreet.randomness.process import Process
from discreet.synthesis.domain import Records
from discreet.synthesis.workloads import Workload

Floats = NDArray[np.float64]
Bytes = NDArray[np.uint8]
Integers = NDArray[np.int64]
MOST_ROUNDS = 16
STEPS = 30


@dataclass(frozen=True, eq=False)
class Round:
    """The draws of one round: the number of each drawn query, and +1 for the query itself or -1 for its negation.

    >>> Round(1, [4, 0, 4], [1, -1, 1])
    Round(1, 3 draws)
    """

    number: int
    queries: NDArray[np.int64]
    signs: NDArray[np.int8]

    def __post_init__(self) -> None:
        queries, signs = np.array(self.queries, dtype=np.int64), np.array(self.signs, dtype=np.int8)
        if type(self.number) is not int or self.number < 1:
            raise ParameterError("rounds must be numbered from 1", parameter="number")
        if queries.ndim != 1 or queries.shape != signs.shape or (queries.size and queries.min() < 0):
            raise ParameterError("a round must have one query number and one sign for each draw", parameter="queries")
        if np.any(np.abs(signs.astype(np.int64)) != 1):
            raise ParameterError("a sign must be +1 or -1", parameter="signs")
        queries.flags.writeable = signs.flags.writeable = False
        object.__setattr__(self, "queries", queries)
        object.__setattr__(self, "signs", signs)

    def __len__(self) -> int:
        return len(self.queries)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Round):
            return NotImplemented
        same = self.number == other.number and np.array_equal(self.queries, other.queries)
        return same and np.array_equal(self.signs, other.signs)

    def __hash__(self) -> int:
        return hash((self.number, self.queries.tobytes(), self.signs.tobytes()))

    def __repr__(self) -> str:
        return f"Round({self.number}, {len(self)} draws)"


class Transcript(ABC):
    """Where the draws of one release are kept: begun once, in terms that name it, and added to round by round.

    Privacy. The rounds of a transcript are all that a release by draws tells about its table; the rest follows from
        them. Through one object no round is drawn twice. Across processes, crashes and copies of a file, a round is
        drawn as often as the ledger of a session was told of it, which prices each time (`Parts`); without a ledger
        only the object that began a file draws into it.
        Proof: round k + 1 is drawn only where rounds 1 to k are kept and `announce` has returned; that refuses a number
        it has heard before, so a round that was announced and not kept is never drawn again through this object. A
        kept round is read. Another object learns from the file which rounds are kept, but no file tells which were
        drawn: so there `announce` asks the ledger, or refuses. Adaptive composition of all draws ever made gives the
        price of all of them together.
    """

    __slots__ = ("__weakref__", "_announced", "_announcing", "_owner")

    def __init__(self) -> None:
        self._announced, self._announcing, self._owner = 0, threading.Lock(), Process.here()

    @abstractmethod
    def begin(self, terms: Mapping[str, Any]) -> None:
        """Say which release this is; refused where the transcript was begun in other terms."""

    @property
    @abstractmethod
    def rounds(self) -> tuple[Round, ...]:
        """The rounds that are kept, from the first on."""

    def announce(self, number: int) -> None:
        """Say that the next round is about to be drawn, once; it may be drawn only after this returns."""
        self._require_own_process()
        with self._announcing:
            if number != len(self.rounds) + 1:
                raise LedgerError(f"round {len(self.rounds) + 1} comes next in this transcript, not round {number}")
            if number <= self._announced:
                raise LedgerError(
                    f"round {number} may have been drawn already, and was lost before it was kept: to draw it again is "
                    "another release. Begin another transcript, at the full price. Nothing more was drawn."
                )
            self._announced = number  # first: whatever is raised below, this number is used up
            self._count(number)

    @abstractmethod
    def _count(self, number: int) -> None:
        """Refuse to draw a round that others may draw too; count it where a ledger does."""

    @abstractmethod
    def append(self, one: Round) -> None:
        """Keep the next round; when this returns, no crash can undo it."""

    def _require_own_process(self) -> None:
        if self._owner != Process.here():
            raise LedgerError("a forked process cannot go on with a transcript: each would draw the same rounds")

    def _require_next(self, one: Round) -> None:
        if one.number != len(self.rounds) + 1:
            raise LedgerError(f"round {len(self.rounds) + 1} comes next in this transcript, not round {one.number}")

    def __reduce__(self) -> NoReturn:
        raise NotCopyable("a transcript cannot be copied or pickled: a round would be drawn once by each copy")


class MemoryTranscript(Transcript):
    """Rounds kept as long as the process lives: a crash loses the release, and asking again is another release.

    >>> transcript = MemoryTranscript()
    >>> transcript.begin({"workload": "ages", "rounds": 2})
    >>> transcript.append(Round(1, [0, 3], [1, -1]))
    >>> transcript.rounds
    (Round(1, 2 draws),)
    """

    __slots__ = ("_rounds", "_terms")

    def __init__(self) -> None:
        super().__init__()
        self._rounds: list[Round] = []
        self._terms: str | None = None

    def begin(self, terms: Mapping[str, Any]) -> None:
        """Say which release this is; refused where the transcript was begun in other terms."""
        words = terms_words(terms)
        if self._terms is not None and self._terms != words:
            raise other_terms()
        self._terms = words

    @property
    def rounds(self) -> tuple[Round, ...]:
        """The rounds that are kept, from the first on."""
        return tuple(self._rounds)

    def _count(self, number: int) -> None:
        """Count nothing: the rounds live and die with this object, which cannot be copied."""

    def append(self, one: Round) -> None:
        """Keep the next round."""
        self._require_next(one)
        self._rounds.append(one)


def terms_words(terms: Mapping[str, Any]) -> str:
    """Return terms as one line."""
    return json.dumps(dict(terms), sort_keys=True, ensure_ascii=True, default=str)


def other_terms() -> LedgerMismatch:
    """Return the refusal of a transcript that was begun in other terms."""
    return LedgerMismatch(
        "this transcript belongs to another release: other queries, parameters or data. Name another file. Nothing was "
        "drawn."
    )


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """The draws of some rounds, against the records that were played before each.

    `held[q]` says which records of the support satisfy query q, eight to a byte, the first in its lowest bit; the
    records played come first, in the order of their rounds. `played[i, q]` is how many of those before round `turns[i]`
    satisfy q. `drawn[i]` are the queries of that round, and how often it drew each, minus how often its negation.
    """

    held: Bytes
    played: NDArray[np.unsignedinteger]
    drawn: tuple[tuple[Integers, Integers], ...]
    turns: NDArray[np.int64]
    draws: NDArray[np.int64]
    eta: float

    @classmethod
    def of(cls, workload: Workload, support: Records, rounds: Sequence[Round], eta: float) -> Evidence:
        """Take up to MOST_ROUNDS of the rounds after the first, evenly; the first tells nothing."""
        turns = np.unique(np.linspace(2, len(rounds), num=min(MOST_ROUNDS, len(rounds) - 1)).astype(np.int64))
        held = np.zeros((len(workload), -(-len(support) // 8)), dtype=np.uint8)
        played = np.zeros((len(turns), len(workload)), dtype=np.min_scalar_type(len(rounds)))
        for place in range(len(support)):
            satisfied = workload.truths(support.codes[:, place])
            held[:, place // 8] |= satisfied.astype(np.uint8) << np.uint8(place % 8)
            played[turns - 1 > place] += satisfied
        drawn = tuple(net_signs(rounds[turn - 1]) for turn in turns)
        return cls(held, played, drawn, turns, np.array([len(rounds[turn - 1]) for turn in turns]), eta)

    def likelihood(self, weights: Floats) -> tuple[float, Floats]:
        """Return the logarithm of the chance of these draws, up to a constant, and its gradient in the weights."""
        padded = np.zeros(8 * self.held.shape[1])
        padded[: len(weights)] = weights
        shares = _shares(self.held, padded) if available() else shares_by_numpy(self.held, padded)
        slopes = np.zeros(len(shares))
        total = 0.0
        for index, turn in enumerate(self.turns):
            before = int(turn) - 1
            scores = shares * (self.eta * before) - self.played[index] * self.eta
            queries, net = self.drawn[index]
            total += float(net @ scores[queries])
            signs = scores < 0
            np.abs(scores, out=scores)
            top = float(scores.max())
            up = np.exp(scores - top)
            down = np.exp(-scores - top)
            mass = float(up.sum() + down.sum())
            up -= down
            up *= float(self.draws[index]) / mass
            np.negative(up, out=up, where=signs)
            up *= self.eta * before
            slopes -= up
            slopes[queries] += self.eta * before * net
            total -= float(self.draws[index]) * (math.log(mass) + top)
        gradient = _pulled(self.held, slopes) if available() else pulled_by_numpy(self.held, slopes)
        return total, gradient[: len(weights)]


def most_likely(evidence: Evidence, start: Floats) -> Floats:
    """Return weights on the support, adding up to 1, that make the draws more likely than `start` does.

    A fixed number of quasi-Newton steps in the logarithms of the weights, from `start`: stopping early keeps weights
    that the draws say nothing about where they were.
    """
    from scipy.optimize import minimize

    scale = float(evidence.draws.sum())

    def weights_of(logs: Floats) -> Floats:
        raised: Floats = start * np.exp(logs - logs.max())
        raised /= raised.sum()
        return raised

    def objective(logs: Floats) -> tuple[float, Floats]:
        weights = weights_of(logs)
        value, gradient = evidence.likelihood(weights)
        return -value / scale, -weights * (gradient - weights @ gradient) / scale

    found = minimize(
        objective, np.zeros(len(start)), jac=True, method="L-BFGS-B",
        options={"maxiter": STEPS, "maxfun": 2 * STEPS, "gtol": 0.0, "ftol": 0.0},
    )  # fmt: skip
    return weights_of(np.asarray(found.x))


def net_signs(one: Round) -> tuple[Integers, Integers]:
    """Return the queries that a round drew, each once, and the sums of their signs."""
    queries, places = np.unique(one.queries, return_inverse=True)
    net = np.zeros(len(queries), dtype=np.int64)
    np.add.at(net, places, one.signs)
    return queries, net


@compiled
def _shares(held: Bytes, weights: Floats) -> Floats:
    """Return the weight of the records that satisfy each query, from the sums of every byte of eight records."""
    queries, width = held.shape
    sums = np.zeros((width, 256))
    for place in range(width):
        for byte in range(1, 256):
            low = byte & -byte
            bit = 0
            while (low >> bit) > 1:
                bit += 1
            sums[place, byte] = sums[place, byte - low] + weights[8 * place + bit]
    shares = np.zeros(queries)
    for query in range(queries):
        share = 0.0
        for place in range(width):
            share += sums[place, held[query, place]]
        shares[query] = share
    return shares


@compiled
def _pulled(held: Bytes, slopes: Floats) -> Floats:
    """Return, for each record, the sum of the slopes of the queries it satisfies."""
    queries, width = held.shape
    sums = np.zeros((width, 256))
    for query in range(queries):
        for place in range(width):
            sums[place, held[query, place]] += slopes[query]
    pulled = np.zeros(8 * width)
    for place in range(width):
        for byte in range(256):
            for bit in range(8):
                if (byte >> bit) & 1:
                    pulled[8 * place + bit] += sums[place, byte]
    return pulled


def shares_by_numpy(held: Bytes, weights: Floats) -> Floats:
    """Return the same as the compiled loop."""
    shares: Floats = np.unpackbits(held, axis=1, bitorder="little") @ weights
    return shares


def pulled_by_numpy(held: Bytes, slopes: Floats) -> Floats:
    """Return the same as the compiled loop."""
    pulled: Floats = slopes @ np.unpackbits(held, axis=1, bitorder="little")
    return pulled

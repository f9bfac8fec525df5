"""What the draws of DualQuery say about the table: the most likely weights on a support of records.

The draws of a round come from a law that depends on the table through its shares p(q) alone: query q with sign + or -
has chance exp(+-L(q)) / Z, where L(q) = eta ((t - 1) p(q) - S(q)) and S(q) counts the earlier records that satisfy q.
The logarithm of the chance of all draws is a concave function of the shares, hence of weights on any fixed support of
records; the weights that make it largest are post-processing of the draws.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet._compiled import available, compiled
from discreet.synthesis.domain import Records
from discreet.synthesis.methods.dual_query.transcript import Round
from discreet.synthesis.workloads import Workload

Floats = NDArray[np.float64]
Bytes = NDArray[np.uint8]
Integers = NDArray[np.int64]
MOST_ROUNDS = 16
STEPS = 30


@dataclass(frozen=True, slots=True, eq=False)
class Evidence:
    """The draws of some rounds, against the records that were played before each.

    `held[q]` says which records of the support satisfy query q, eight to a byte, the first in its lowest bit; the
    records played come first, in the order of their rounds. `played[i, q]` is how many of those before round `turns[i]`
    satisfy q. `drawn[i]` are the queries of that round, and how often it drew each, minus how often its negation.
    """

    held: Bytes
    played: NDArray[np.unsignedinteger]
    drawn: tuple[tuple[Integers, Floats], ...]
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
        drawn = tuple(_net(rounds[turn - 1]) for turn in turns)
        return cls(held, played, drawn, turns, np.array([len(rounds[turn - 1]) for turn in turns]), eta)

    def likelihood(self, weights: Floats) -> tuple[float, Floats]:
        """Return the logarithm of the chance of these draws, but for a constant, and its gradient in the weights."""
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


def _net(one: Round) -> tuple[Integers, Floats]:
    """Return the queries that a round drew, each once, and the sums of their signs."""
    queries, places = np.unique(one.queries, return_inverse=True)
    net = np.zeros(len(queries))
    np.add.at(net, places, one.signs)
    return queries, net


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

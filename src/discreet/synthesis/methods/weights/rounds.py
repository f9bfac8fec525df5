"""Rounds of choosing badly answered queries, measuring them, and refitting the weights of a public support."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.display import Progress
from discreet.errors import ParameterError
from discreet.privacy.numbers import whole
from discreet.synthesis.base import Allowance, checked_share
from discreet.synthesis.domain import Records
from discreet.synthesis.methods.weights.multiplicative import Fit, divergence_of, entropic_fit, satisfied
from discreet.synthesis.workloads import Workload

_MOST, _LEAST = 160, 16  # queries measured, where the workload has that many
_BALANCE = 0.04  # of noise times the root of the number of measurements
_ROUNDS = 10
_LEAST_DEVIATION = 1e-4
_TOTAL_SHARE = Fraction(1, 20)
_MOST_RECORDS = 1 << 50  # that a noisy count may say: scores then stay far from the ends of 64 bits


@dataclass(frozen=True, slots=True)
class Course:
    """What the rounds left: the weights, the answers they give, and everything that was released on the way."""

    weights: NDArray[np.float64]
    answers: NDArray[np.float64]
    chosen: tuple[int, ...]
    measured: tuple[float, ...]
    deviation: float
    strength: float  # of the prior, in the last fit
    total: int
    before: tuple[tuple[float, ...], ...]  # what each round's queries were answered before they were measured

    @property
    def evidence(self) -> dict[str, Any]:
        """Return what was released on the way, by name."""
        return {
            "chosen queries": self.chosen,
            "measured shares": self.measured,
            "deviation in the fit": self.deviation,
            "strength of the prior": self.strength,
            "number of records": self.total,
            "answers before": self.before,
        }


@dataclass(frozen=True, slots=True)
class AdaptiveRounds:
    """Measure the queries that a public support answers worst, a few a round, and refit its weights to all of them.

    With c_q the count of a query, N the number of records and a_q its present answer, a query is chosen by the integer
    |(2 c_q - N) - round((2 a_q - 1) N')|, where N' is the stated number of records where there is one (`stated_count`)
    and a noisy count elsewhere; what is measured is 2 c_q - N. The weights minimize strength KL(A, prior) + sum_i
    (q_i(A) - m_i)^2 / (2 variance), m_i the measured shares, and strength = sqrt(measurements / (8 divergence)) /
    deviation, which the bound below suggests. The variance is that of the noise, or the square of `resolution` where a
    support cannot tell shares that close apart. The strength is doubled whenever the weights would go further than
    `reach` nats from the prior.

    Privacy. The rounds cost share_total + measurements (share_choice + share_measurement) of the allowance, which is
        what they were given, under both relations and for any number of records a unit.
        Proof: one unit moves 2 c_q - N by at most `Neighbors.swing`. a_q and N' were released or computed from what
        was, so the score moves by at most as much, by the triangle inequality; which queries are left to choose from
        is released too. N moves by at most rows; the stated number is a constant. Each choice and each measurement thus
        has the sensitivity it states; `Allowance` adds up the shares, and how many there are of each is public. No
        share is below 0, so what is spent is at most the sum, also where the share of the total is not spent.
    Accuracy. Let A_t be the weights after t rounds, v_i the error of measurement i, and W any distribution on the
        support; let d_t be the largest |m_i - q_i(A_{t-1})| among the queries of round t. If all variances are s^2 and
        the strength is k at first and K at last, then sum_t d_t^2 <= (1 + 4 k s^2)/2 x ((K/k) KL(W, prior) +
        sum_i (m_i - q_i(W))^2 / (2 k s^2)).
        Where W is the private distribution, m_i - q_i(W) = v_i. If moreover the first choice of round t is within g_t
        of the worst error of all queries, the average of A_0, ..., A_{T-1} errs on every query by at most the root of
        the mean of d_t^2 plus the means of g_t and of |v_i|, i the first query of each round.
        Proof: let k_t, never falling, be the strength of round t, k_0 = k, and F_t(A) = k_t KL(A, prior) + sum over the
        queries i of rounds 1..t of (q_i(A) - m_i)^2 / (2 s^2), with minimum at A_t. F_{t-1} is k_{t-1} KL plus a convex
        function, and A_{t-1} is its minimum, so F_{t-1}(A_t) >= F_{t-1}(A_{t-1}) + k_{t-1} KL(A_t, A_{t-1}). By
        Pinsker's inequality for the two values of q_i, KL(A_t, A_{t-1}) >= 2 (y - a)^2 with y = q_i(A_t) and a =
        q_i(A_{t-1}). As k_t >= k_{t-1} >= k, F_t(A_t) - F_{t-1}(A_{t-1}) >= 2 k (y - a)^2 + (y - m_i)^2 / (2 s^2) for
        each i of round t, which is at least (m_i - a)^2 2 k / (1 + 4 k s^2), its minimum over y. Sum over t: F_0(A_0) =
        0, and F_T(A_T) <= F_T(W). For the second part, the worst error in round t is at
        most |q_i(A_{t-1}) - q_i(W)| + g_t <= d_t + |v_i| + g_t; errors are convex, and a mean is at most the root of
        the mean of squares.
    Cost. One pass over queries and support a round, and one over queries and records.
    Reference. Hardt, Ligett, McSherry 2012 (one query a round, multiplicative weights); Liu, Vietri, Steinke, Ullman,
        Wu 2021 (a public support). The proof by strong convexity is that of regularized leaders: Shalev-Shwartz 2012.
    """

    measurements: int
    together: int
    share_total: Fraction
    share_choice: Fraction
    share_measurement: Fraction
    divergence: float
    resolution: float = _LEAST_DEVIATION
    reach: float = math.inf

    def __post_init__(self) -> None:
        for name in ("measurements", "together"):
            whole(getattr(self, name), name=name)
        for name in ("share_total", "share_choice", "share_measurement"):
            object.__setattr__(self, name, checked_share(getattr(self, name), name=name))
        if self.share > 1:
            raise ParameterError("the rounds cost more than the whole allowance", parameter="share_total")

    @classmethod
    def of(
        cls,
        workload: Workload,
        allowance: Allowance,
        share: Fraction,
        divergence: float,
        resolution: float = _LEAST_DEVIATION,
        reach: float = math.inf,
    ) -> AdaptiveRounds:
        """Divide a share of an allowance by a public rule; `divergence` is how many nats the support may be off.

        As many queries are measured as keep noise times the root of their number below 0.04, but 16 to 160 and no more
        than there are; half of the share goes to the choices.
        """
        share_total = Fraction(0) if allowance.neighbors.same_count else share * _TOTAL_SHARE
        left, people, swing = share - share_total, allowance.neighbors.people, allowance.neighbors.swing

        def noise(count: int) -> float:
            return allowance.single_deviation(left / (2 * count), sensitivity=swing) / (2 * people)

        count = _MOST
        while count > _LEAST and noise(count) * math.sqrt(count) > _BALANCE:
            count = max(count * 9 // 10, _LEAST)
        count = min(count, len(workload))
        each = left / (2 * count)
        return cls(count, -(-count // _ROUNDS), share_total, each, each, divergence, resolution, reach)

    @property
    def rounds(self) -> int:
        """How often the weights are refitted."""
        return -(-self.measurements // self.together)

    @property
    def share(self) -> Fraction:
        """What all rounds cost together."""
        return self.share_total + self.measurements * (self.share_choice + self.share_measurement)

    @property
    def plan(self) -> dict[str, Any]:
        """The public parameters."""
        return {
            "measured queries": self.measurements,
            "rounds": self.rounds,
            "share of the total": self.share_total,
            "share of each choice": self.share_choice,
            "share of each measurement": self.share_measurement,
        }

    def strength(self, deviation: float) -> float:
        """Return the weight of the prior, for measured shares with this noise."""
        return math.sqrt(self.measurements / (8 * self.divergence)) / deviation

    def __call__(
        self,
        records: Records,
        workload: Workload,
        allowance: Allowance,
        support: Records,
        prior: NDArray[np.float64],
        progress: Progress,
        anchor: NDArray[np.float64] | None = None,
    ) -> Course:
        """Run; `anchor`, where given, are better answers than the prior's own, to which changes are added."""
        centered = 2 * workload.counts(records) - len(records)
        total = self._total(records, allowance)
        plain = workload.frequencies(support, prior)
        offset = np.zeros(len(workload)) if anchor is None else anchor - plain
        answers = plain + offset
        noise = allowance.single_deviation(self.share_measurement, sensitivity=allowance.neighbors.swing) / (2 * total)
        deviation = max(noise, self.resolution)
        strength = self.strength(deviation)
        left = np.ones(len(workload), dtype=np.bool_)
        chosen: list[int] = []
        values: list[float] = []
        before: list[tuple[float, ...]] = []
        truths = np.zeros((0, len(support)), dtype=np.bool_)
        fit = Fit(prior / prior.sum(), np.zeros(0))
        for done in range(self.rounds):
            progress(done, self.rounds)
            fresh = self._choose(centered, answers, total, left, allowance, len(chosen))
            chosen += fresh
            values += [self._measure(int(centered[query]), total, allowance) for query in fresh]
            before.append(tuple(float(answers[query]) for query in fresh))
            truths = np.vstack([truths, [satisfied(workload, query, support.codes) for query in fresh]])
            start = np.append(fit.multipliers, np.zeros(len(fresh)))
            fit, strength = self._fit(truths, np.array(values) - offset[chosen], deviation, prior, strength, start)
            answers = workload.frequencies(support, fit.weights) + offset
        progress(self.rounds, self.rounds)
        return Course(
            weights=fit.weights,
            answers=np.clip(answers, 0.0, 1.0),
            chosen=tuple(chosen),
            measured=tuple(values),
            deviation=deviation,
            strength=strength,
            total=total,
            before=tuple(before),
        )

    def _fit(
        self,
        truths: NDArray[np.bool_],
        values: NDArray[np.float64],
        deviation: float,
        prior: NDArray[np.float64],
        strength: float,
        start: NDArray[np.float64],
    ) -> tuple[Fit, float]:
        """Return the fit and its strength: the one given, doubled until the weights are within reach of the prior."""
        variances = np.full(len(values), deviation**2)
        fit = entropic_fit(truths, values, variances, prior, strength, start)
        while divergence_of(fit.weights, prior) > self.reach:
            strength *= 2
            fit = entropic_fit(truths, values, variances, prior, strength, fit.multipliers / 2)
        return fit, strength

    def _total(self, records: Records, allowance: Allowance) -> int:
        """Return the number of records, as stated where it is public and else with noise; at least 1."""
        stated = allowance.neighbors.stated_count
        if stated is not None:
            return min(stated, _MOST_RECORDS)
        released = allowance.measure(len(records), self.share_total, sensitivity=allowance.neighbors.count)
        return min(max(released.value, 1), _MOST_RECORDS)

    def _choose(
        self,
        centered: NDArray[np.int64],
        answers: NDArray[np.float64],
        total: int,
        left: NDArray[np.bool_],
        allowance: Allowance,
        already: int,
    ) -> list[int]:
        """Return the queries of one round, and take them from those that are left."""
        scores = np.abs(centered - centered_guess(np.clip(answers, 0.0, 1.0), total))
        fresh: list[int] = []
        for _ in range(min(self.together, self.measurements - already)):
            places = np.flatnonzero(left)
            swing = allowance.neighbors.swing
            query = int(places[allowance.choose(scores[places], self.share_choice, sensitivity=swing)])
            left[query] = False
            fresh.append(query)
        return fresh

    def _measure(self, centered: int, total: int, allowance: Allowance) -> float:
        """Return the frequency of one query with noise: outside [0, 1] where the noise takes it there."""
        released = allowance.measure(centered, self.share_measurement, sensitivity=allowance.neighbors.swing)
        return (1 + released.value / total) / 2


def centered_guess(answers: NDArray[np.float64], total: int) -> NDArray[np.int64]:
    """Return what 2 c - N would be for these answers, as integers."""
    return np.rint((2 * answers - 1) * total).astype(np.int64)

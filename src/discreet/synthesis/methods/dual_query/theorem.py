"""DualQuery's accuracy theorem: how far off its answers can be, from its parameters alone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from discreet.display import LastDigit, format_number
from discreet.errors import ParameterError
from discreet.laws.number import Number, exact_rational, positive_rational
from discreet.privacy.numbers import number, probability, upward, whole
from discreet.synthesis.workloads import PADDING, Marginals, Workload

if TYPE_CHECKING:
    from discreet.randomness.rigor import Ball


@dataclass(frozen=True, slots=True)
class TheoremError:
    """What DualQuery's accuracy theorem says about a plan: with `confidence`, no frequency is off by more than `bound`.

    A frequency lies between 0 and 1, so a bound of 1 or more is true of every table and says nothing: then `vacuous` is
    true, and the bound is not a prediction. The theorem is about records that count alike; `equal` says whether they do
    in the table that the plan releases. It takes a `gap` for how far the records of the rounds fall short of the best
    ones, on average; `Responder.EXACT` has none. Printed, it says all this in words.

    >>> print(TheoremError(bound=1.25, confidence=0.95, equal=True, gap=0.0))
    the theorem is vacuous here: it bounds the error of a frequency by 1.25, and
        no frequency can be off by more than 1
    """

    bound: float
    confidence: float
    equal: bool
    gap: float

    @property
    def vacuous(self) -> bool:
        """Whether the theorem says no more than that frequencies lie between 0 and 1."""
        return self.bound >= 1

    @property
    def maximum(self) -> float:
        """The bound, or 1 where it is above."""
        return min(self.bound, 1.0)

    def __float__(self) -> float:
        return self.maximum

    def __str__(self) -> str:
        digits = format_number(Fraction(self.bound), digits=3, rounding=LastDigit.UP)
        if self.vacuous:
            return (
                f"the theorem is vacuous here: it bounds the error of a frequency by {digits}, and no frequency can be "
                "off by more than 1"
            )
        whose = "" if self.equal else " of the table with equal weights (for likely weights nothing is proven)"
        short = f"within {self.gap:g} of the best one on average" if self.gap else "the best one"
        return (
            f"with {100 * self.confidence:g} % confidence no frequency{whose} is off by more than {digits}, where the "
            f"record of a round is {short}"
        )


def dual_query_error(
    *,
    eta: Number,
    rounds: int,
    draws: int | Sequence[int],
    queries: int,
    records: int,
    gap: Number = 0,
    confidence: Number = 0.95,
) -> float:
    """Return alpha such that no answer of DualQuery is off by more than alpha, with the confidence asked for.

    `draws` are those of a round (or of each), `queries` the size of the workload without negations, `records` how many
    different records there can be, `gap` the part of a round's draws by which its record falls short of the best one,
    on average over the rounds.

    Accuracy. Let the table have the public number of records. With T rounds of s draws, k queries, |X| possible records
        and confidence 1 - beta, every answer is within alpha = ln(2k)/(eta T) + eta/2 + sqrt((ln|X| +
        ln(2/beta)/T)/(2s)) + sqrt(ln(2/beta)/(2sT)) + gap of the table's frequency. Where s differs between rounds, 1/s
        is replaced by its mean.
        Proof: let p(q) be the frequency of q, x_t the record of round t, and z = (q, +) or (q, -) with z(x) = q(x) or
        1 - q(x), z(D) = p(q) or 1 - p(q). Round t draws from P_t, proportional to exp(eta sum of m_i(z), i < t), with
        m_t(z) = z(D) - z(x_t) in [-1, 1]. (1) Regret: W_t = sum over z of exp(eta sum of m_i(z), i <= t) is multiplied
        in round t by E exp(eta m_t(z)), z from P_t, which is at most exp(eta E m_t(z) + eta^2/2) by Hoeffding's lemma.
        So eta max_z sum_t m_t(z) <= ln W_T <= ln(2k) + eta sum_t E m_t(z) + T eta^2/2; divided by eta T, the left side
        is the largest error, as its sign is that of z. (2) Best response: write S_t(x) = E z(x) for z from P_t, and
        s_t(x) for the mean over the draws of z(x). The mean of s_t over the table's records is the mean of z(D) over
        the draws, and no mean exceeds the maximum: s_t(x_t) >= that - gap_t. So E m_t = S_t(D) - S_t(x_t) <= [S_t(D) -
        s_t(D)] + [s_t(x_t) - S_t(x_t)] + gap_t. (3) Sampling: given the past, exp(l (S_t(D) - s_t(D))) has a mean of at
        most exp(l^2/(8s)), and exp(l max_x (s_t(x) - S_t(x))) of at most |X| exp(l^2/(8s)), both by Hoeffding's lemma.
        Multiplied over the rounds, with Markov's inequality and the best l, the means over t of the first and second
        bracket exceed the last and the last but one root with a chance of at most beta/2 each.
    Reference. The algorithm and a theorem of this form: Gaboardi, Gallego Arias, Hsu, Roth, Wu 2014; exponential
        weights: Freund, Schapire 1997. The constants are those of the proof above.

    >>> round(
    ...     dual_query_error(
    ...         eta=0.02, rounds=20_000, draws=50_000, queries=100, records=2**10
    ...     ),
    ...     4,
    ... )
    0.0316
    """
    rate, count = positive_rational(eta, name="eta"), _at_least_one(rounds, name="rounds")
    inverse = _mean_inverse(draws, count)
    asked, possible = _at_least_one(queries, name="queries"), _at_least_one(records, name="records")
    missed = 1 - exact_rational(probability(confidence, name="confidence"), name="confidence")
    short = exact_rational(gap, name="gap")
    if short < 0:
        raise ParameterError("gap must be a part of the draws, at least 0", parameter="gap")
    if missed == 0:
        raise ParameterError("confidence must be less than 1", parameter="confidence")

    def alpha() -> Ball:
        luck = number(2 / missed).log() / count
        regret = number(2 * asked).log() / number(rate * count) + number(rate / 2)
        responses = ((number(possible).log() + luck) * number(inverse / 2)).sqrt()
        return regret + responses + (luck * number(inverse / 2)).sqrt() + number(short)

    return upward(alpha)


def bound_for(
    workload: Workload, eta: Number, rounds: int, draws: int | Sequence[int], gap: Number, confidence: Number
) -> float:
    """Return the bound of the theorem for the queries of a workload and the records that differ for them."""
    sizes = {"queries": len(workload), "records": possible_records(workload)}
    return dual_query_error(eta=eta, rounds=rounds, draws=draws, **sizes, gap=gap, confidence=confidence)


def possible_records(workload: Workload) -> int:
    """Return how many records differ in the attributes that a workload asks about."""
    if isinstance(workload, Marginals):
        used = {place for one in workload.sets for place in one}
    else:
        named = np.unique(workload.members[workload.members != PADDING])
        used = {int(place) for place in workload.literals.attribute[named]}
    return math.prod(workload.domain.sizes[place] for place in used)


def _mean_inverse(draws: int | Sequence[int], rounds: int) -> Fraction:
    """Return the mean of 1/s over the rounds."""
    if isinstance(draws, int):
        return Fraction(1, _at_least_one(draws, name="draws"))
    stated = [_at_least_one(int(one), name="draws") for one in draws]
    if len(stated) != rounds:
        raise ParameterError("draws= must be one number, or one for each round", parameter="draws")
    return sum((Fraction(1, one) for one in stated), Fraction(0)) / rounds


def _at_least_one(value: int, *, name: str) -> int:
    """Return a whole number from 1 on."""
    if whole(value, name=name) < 1:
        raise ParameterError(f"{name} must be at least 1", parameter=name)
    return int(value)

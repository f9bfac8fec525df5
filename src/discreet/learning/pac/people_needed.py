"""How many people it takes to learn a finite class: without privacy, by the textbook, and by the gap."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from discreet.display.result import told_in_rows
from discreet.errors import ParameterError
from discreet.laws.number import Number
from discreet.learning.exact import stated_relation
from discreet.privacy import Relation
from discreet.privacy.numbers import plain, positive_price

_STEEPEST = Fraction(10**6)  # e^-s is 0 long before


@told_in_rows
@dataclass(frozen=True, repr=False)
class SampleSizes:
    """Numbers of people that suffice, each for its own assumption.

    `without_privacy` and `realizable` assume that some hypothesis is always right, `agnostic` assumes nothing, and
    `gap` that one hypothesis is right and all others are wrong about at least the stated frequency of people.
    """

    without_privacy: int
    realizable: int
    agnostic: int
    gap: int | None

    def _rows(self) -> list[tuple[str, str | None]]:
        return [
            ("without privacy", f"{self.without_privacy:,}"),
            ("realizable", f"{self.realizable:,}"),
            ("agnostic", f"{self.agnostic:,}"),
            ("by the gap", None if self.gap is None else f"{self.gap:,}"),
        ]


def slope_of(epsilon: Number, relation: Relation) -> float:
    """Return by how much one error less raises the logarithm of a hypothesis' chance.

    Under add/remove one person adds an error to some hypotheses and takes none away: the scores are monotone, and all
    of epsilon counts. Under change-one half of it does.
    """
    stated_relation(relation)
    full = float(min(positive_price(epsilon, name="epsilon"), _STEEPEST))
    return full if relation is Relation.ADD_REMOVE else full / 2


def sample_sizes(
    log_size: float, *, alpha: float, beta: float, epsilon: Number, relation: Relation, gap: float | None = None
) -> SampleSizes:
    """Return how many people suffice for an error of at most alpha with probability 1 - beta.

    Accuracy. Let N be the number of hypotheses and s the slope. Without privacy ln(N / beta) / alpha suffices where
        some hypothesis is right. Privately max(8, 2 / s) ln(2 N / beta) / alpha suffices there, and in general the
        larger of 8 ln(4 N / beta) / alpha^2 and 2 ln(2 N / beta) / (s alpha). With one right hypothesis, and all others
        wrong with probability `gap` at least, ln(N / beta) / -ln(1 - gap (1 - e^-s)) suffices, which is little more
        than ln(N / beta) / (s gap) where s is small.
        Proof: the exponential mechanism chooses more than t errors above the least with probability at most N e^(-s t).
        Put t = n alpha / 2 and this at most beta / 2. A hypothesis that is wrong with probability above alpha makes at
        most n alpha / 2 errors with probability at most e^(-n alpha / 8) (Chernoff), and all error frequencies are
        within alpha / 4 of their probabilities but with probability 2 N e^(-n alpha^2 / 8) (Hoeffding). With a gap, a
        hypothesis that makes k errors is chosen with probability at most e^(-s k), as the right one makes none; the
        mean of that over n people is (1 - g (1 - e^-s))^n, where g is the probability that it is wrong.
    Reference. Kasiviswanathan, Lee, Nissim, Raskhodnikova, Smith 2011.

    Args:
        log_size: the natural logarithm of the number of hypotheses.
        alpha: the error allowed, between 0 and 1.
        beta: the chance of a larger error, between 0 and 1.
        epsilon: the price.
        relation: who is a neighbor.
        gap: how much more often all other hypotheses are wrong.

    >>> sizes = sample_sizes(
    ...     4.6,
    ...     alpha=0.1,
    ...     beta=0.05,
    ...     epsilon=0.1,
    ...     relation=Relation.CHANGE_ONE,
    ...     gap=0.5,
    ... )
    >>> sizes.without_privacy, sizes.realizable, sizes.gap
    (76, 3316, 308)
    """
    for name, value in (("alpha", alpha), ("beta", beta), *([] if gap is None else [("gap", gap)])):
        if not positive_price(value, name=name) < 1:
            raise ParameterError(f"{name} must be between 0 and 1; got another, write {name}=0.1", parameter=name)
    logarithm = float(plain(log_size, name="log_size"))
    if logarithm < 0:
        raise ParameterError(
            "log_size must be the logarithm of the number of hypotheses; got another, write math.log(size)",
            parameter="log_size",
        )
    distance = None if gap is None else float(gap)
    found = _sizes(logarithm, float(alpha), float(beta), slope_of(epsilon, relation), distance)
    if found is None:
        raise ParameterError(
            "the number of people must be one that a float can hold; got more, write larger alpha, beta, gap or epsilon"
        )
    return found


def _sizes(log_size: float, alpha: float, beta: float, slope: float, gap: float | None) -> SampleSizes | None:
    """Return the numbers of people, or None where one is beyond all floats."""
    try:
        single, half, quarter = (log_size + math.log(times / beta) for times in (1, 2, 4))
        realizable = max(8.0, 2 / slope) * half / alpha
        agnostic = max(8 * quarter / alpha**2, 2 * half / (slope * alpha))
        by_gap = None if gap is None else math.ceil(single / -math.log1p(gap * math.expm1(-slope)))
        return SampleSizes(math.ceil(single / alpha), math.ceil(realizable), math.ceil(agnostic), by_gap)
    except (ZeroDivisionError, OverflowError):
        return None

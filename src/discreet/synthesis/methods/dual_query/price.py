"""What a run of DualQuery costs: five ways to add up its draws, and the most draws a round that a price allows.

The learning rate, the rounds and the draws of DualQuery, by a public rule that looks at the price, never at data.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from fractions import Fraction
from typing import NamedTuple

from discreet.errors import MissingParameter, ParameterError
from discreet.laws.number import Number, positive_rational, round_up
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, Guarantee, PrivacyLoss, PureDP, bounded_range_loss, compose
from discreet.privacy.numbers import nonnegative, number, positive_price, upward, whole, written_up
from discreet.randomness.rigor import Ball
from discreet.synthesis.base import Allowance, Neighbors

_MOST_DRAWS = 1 << 50
DRAWS_PER_ROUND = 2  # draws of a round for each round that there is
RATE = Fraction(2)  # the learning rate, in units of sqrt(ln(2 |Q|) / T)
_FINENESS = 64
_MOST_ROUNDS = 4096


class Accounting(Enum):
    """How the losses of the draws are added up; every one of them is sound, `CERTIFIED` says the least."""

    PURE = "pure: the ranges add up"
    PAPER = "the paper's: advanced composition, every draw charged like those of the last round"
    REFERENCE = "the reference code's: advanced composition, every draw charged with its own range"
    ZCDP = "concentrated: range^2 / 8 a draw, converted once"
    CERTIFIED = "certified: the less of the concentrated price and that of the composed worst pairs"


@dataclass(frozen=True, slots=True)
class DualQueryPrice:
    """A run of `rounds` rounds at learning rate `eta`: `draws` in each round, or a list with one number for each.

    The losses of one draw of round t lie in an interval of length e_t = eta (t - 1) swing / people (`Drawing`), swing
    and people being those of the neighbors. So round 1 costs nothing, and there are k = s_2 + ... + s_T draws that do.

    Privacy. For every adaptive choice of the records between the rounds, all draws together are
        (a) (sum s_t e_t)-DP;
        (b) (e sqrt(2 k ln(1/delta)) + k e (exp(e) - 1), delta)-DP with e = e_T, for every delta in (0, 1);
        (c) (sqrt(2 ln(1/delta) sum s_t e_t^2) + sum s_t e_t (exp(e_t) - 1), delta)-DP;
        (d) (sum s_t e_t^2 / 8)-zCDP;
        (e) dominated by s_t pairs `BoundedRangePair(e_t)` for each t.
        Proof: given the past, a draw has bounded range e_t. Its ratios of probabilities average to 1, so 0 lies in the
        interval and each loss is at most e_t in absolute value: e_t-DP, and (a) is their sum. (d), (e):
        `bounded_range_loss`; concentration adds up, domination is kept by adaptive composition. (c): let p, q be the
        chances of a draw given the past on the two tables and L = ln(p/q). Its mean under p is at most sum (p - q) L,
        which exceeds it by the divergence of q from p, so at most e_t sum |p - q| <= e_t sum q (exp(e_t) - 1). Loss
        minus conditional mean is a martingale difference in an interval of length 2 e_t, so by Azuma and Hoeffding the
        sum exceeds its means by x with probability at most exp(-x^2 / (2 sum s_t e_t^2)); this is delta at x = sqrt(2
        ln(1/delta) sum s_t e_t^2). A loss above epsilon with probability at most delta is (epsilon, delta)-DP. (b):
        both terms of (c) grow in every e_t <= e.
    Reference. Gaboardi, Gallego Arias, Hsu, Roth, Wu 2014 for the algorithm and (b); Dwork, Rothblum, Vadhan 2010 for
        advanced composition; Cesar, Rogers 2021 for (d); Dong, Durfee, Rogers 2020 for (e).

    >>> from discreet.privacy import Relation
    >>> adult = Neighbors(Relation.CHANGE_ONE, people=30162)
    >>> DualQueryPrice(eta=0.8, rounds=40, draws=1000, neighbors=adult).epsilon(1e-3)
    0.29297651645...
    >>> most_draws(eta=0.8, rounds=40, neighbors=adult, epsilon=1, delta=1e-6)
    3371
    """

    eta: Number
    rounds: int
    draws: int | Sequence[int]
    neighbors: Neighbors
    accounting: Accounting = Accounting.ZCDP

    def __post_init__(self) -> None:
        object.__setattr__(self, "eta", positive_rational(self.eta, name="eta"))
        whole(self.rounds, name="rounds")
        if not isinstance(self.neighbors, Neighbors):
            raise ParameterError("neighbors say who is protected: Neighbors(relation, people)", parameter="neighbors")
        if not isinstance(self.accounting, Accounting):
            raise ParameterError("accounting must be an Accounting", parameter="accounting")
        if isinstance(self.draws, Sequence):
            if len(self.draws) != self.rounds:
                raise ParameterError("draws must be one number for all rounds, or one for each", parameter="draws")
            object.__setattr__(self, "draws", tuple(whole(count, name="draws") for count in self.draws))
        else:
            whole(self.draws, name="draws")

    @property
    def ranges(self) -> tuple[tuple[Fraction, int], ...]:
        """The range of losses of one draw, and the number of draws, of the rounds 2, 3, ..."""
        unit = Fraction(self.eta) * self.neighbors.range_per_count
        counts = (self.draws,) * self.rounds if isinstance(self.draws, int) else self.draws
        return tuple((unit * before, counts[before]) for before in range(1, self.rounds))

    @property
    def pure_epsilon(self) -> Fraction:
        """The sum of all ranges."""
        return sum((width * count for width, count in self.ranges), Fraction(0))

    @property
    def rho(self) -> Fraction:
        """The concentration of all draws."""
        return sum((width**2 * count for width, count in self.ranges), Fraction(0)) / 8

    @property
    def composed(self) -> PrivacyLoss:
        """The accountant's price of all draws: their worst pairs and their concentration."""
        if self.rounds == 1:
            return PrivacyLoss.from_guarantee(PureDP(0, relation=self.neighbors.relation))
        relation = self.neighbors.relation
        return compose(bounded_range_loss(width, relation=relation) * count for width, count in self.ranges)

    def epsilon(self, delta: Number | None = None) -> float:
        """Return an epsilon of the run at this delta, rounded upward; only the pure accounting needs none."""
        if self.accounting is Accounting.PURE or self.rounds == 1:
            return round_up(self.pure_epsilon)
        chance = _chance(delta)
        match self.accounting:
            case Accounting.PAPER:
                return upward(lambda: self._paper(chance))
            case Accounting.REFERENCE:
                return upward(lambda: self._reference(chance))
            case Accounting.ZCDP:
                return self._concentrated(chance)
        return min(self._concentrated(chance), self.composed.epsilon(chance).upper)

    def guarantee(self, delta: Number | None = None) -> Guarantee:
        """Return the guarantee under this accounting: pure, concentrated if no delta is given, or approximate."""
        relation = self.neighbors.relation
        if self.accounting is Accounting.PURE:
            return PureDP(self.pure_epsilon, relation=relation)
        if self.accounting is Accounting.ZCDP and delta is None:
            return ZCDP(self.rho, relation=relation)
        return ApproxDP(written_up(Fraction(self.epsilon(delta))), _chance(delta), relation=relation)

    def loss(self, delta: Number | None = None) -> PrivacyLoss:
        """Return the price to compose with others: the worst of the guarantee, or the composed pairs if certified."""
        return self.composed if self.accounting is Accounting.CERTIFIED else self.guarantee(delta).loss

    def fits(self, epsilon: Number, delta: Number | None = None) -> bool:
        """Say whether the run is (epsilon, delta)-DP by this accounting."""
        level = Fraction(nonnegative(epsilon, name="epsilon"))
        if self.accounting is not Accounting.CERTIFIED:
            spent = self.epsilon(delta)
            return (math.isfinite(spent) and Fraction(spent) <= level) or self._exactly_pure(level)
        concentrated = replace(self, accounting=Accounting.ZCDP)
        return concentrated.fits(level, delta) or self.composed.delta(level).upper <= _chance(delta)

    def _exactly_pure(self, level: Fraction) -> bool:
        """Compare without the rounding."""
        return self.accounting is Accounting.PURE and self.pure_epsilon <= level

    def _paper(self, delta: Fraction) -> Ball:
        """Advanced composition of as many draws of the last round."""
        width, count = number(self.ranges[-1][0]), sum(count for _, count in self.ranges)
        return width * ((-2 * count * number(delta).log()).sqrt() + count * width.expm1())

    def _reference(self, delta: Fraction) -> Ball:
        """Advanced composition of draws with ranges of their own."""
        drift = sum((count * number(width) * number(width).expm1() for width, count in self.ranges), number(0))
        return (-16 * number(self.rho) * number(delta).log()).sqrt() + drift  # 16 rho is twice the sum of squares

    def _concentrated(self, delta: Fraction) -> float:
        """Convert the concentration."""
        return round_up(Fraction(ZCDP(self.rho).to_approx(delta).epsilon))


def most_draws(
    *,
    eta: Number,
    rounds: int,
    neighbors: Neighbors,
    epsilon: Number,
    delta: Number | None = None,
    accounting: Accounting = Accounting.ZCDP,
) -> int:
    """Return the most draws in every round with which the run is (epsilon, delta)-DP; 0 if even one is too many.

    Privacy. `DualQueryPrice` with that many draws fits the target, if there is any.
        Proof: it was asked. That the price grows with the draws is used for the search only.
    """
    if whole(rounds, name="rounds") == 1:
        raise ParameterError("the first round costs nothing: ask about 2 rounds or more", parameter="rounds")

    def fits(count: int) -> bool:
        return DualQueryPrice(eta, rounds, count, neighbors, accounting).fits(epsilon, delta)

    if accounting is Accounting.CERTIFIED:  # at least the concentrated one's, and not many more
        start = most_draws(eta=eta, rounds=rounds, neighbors=neighbors, epsilon=epsilon, delta=delta)
        return _largest(fits, max(start, 1), max(start // 32, 1))
    return _largest(fits, 1, 1)


def _largest(fits: Callable[[int], bool], start: int, step: int) -> int:
    """Return the largest number that fits, 0 if `start` does not, looking in growing steps from there."""
    if not fits(start):
        return 0
    low, high = start, start + step
    while fits(high):
        step *= 2
        low, high = high, high + step
        if high > _MOST_DRAWS:
            raise ParameterError("the price allows more than 2^50 draws a round: lower it", parameter="epsilon")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def _chance(delta: Number | None) -> Fraction:
    """Return a delta strictly between 0 and 1."""
    if delta is None:
        raise MissingParameter("this accounting is at a delta: give delta=", parameter="delta")
    exact = positive_price(delta, name="delta")
    if exact >= 1:
        raise ParameterError("delta must be a probability below 1", parameter="delta")
    return exact


class Parameters(NamedTuple):
    """The learning rate, the number of rounds, and the draws of each."""

    eta: Fraction
    rounds: int
    draws: int


def learning_rate(queries: int, rounds: int) -> Fraction:
    """Return RATE sqrt(ln(2 |Q|) / T), on a grid.

    >>> learning_rate(100_000, 80)
    Fraction(25, 32)
    """
    exact = float(RATE) * math.sqrt(math.log(2 * queries) / rounds)
    return Fraction(max(1, round(_FINENESS * exact)), _FINENESS)


def parameters(
    queries: int, afford: Callable[[Fraction, int], int], *, eta: Fraction | None = None, rounds: int | None = None
) -> Parameters:
    """Return the parameters for a workload of `queries` queries, given the draws that a price affords.

    `afford(eta, rounds)` is the most draws a round at that rate and length: the price, the accounting and the public
    size enter through it alone. What is given is kept.

    Why. An answer's error has a part that falls like sqrt(ln(2|Q|)/T) when the learning rate is of that order (the
    regret of exponential weights) and a part that falls like 1/sqrt(s) (a round sees s draws). Both fall together when
    s grows in proportion to T, so the rule takes as many rounds as leave DRAWS_PER_ROUND draws for each of them. The
    two constants were set on public data of three kinds (census, network, random bits); the proof of the guarantee does
    not depend on them.
    """
    if rounds is None:
        low, high = 2, _MOST_ROUNDS
        while low < high:
            middle = (low + high + 1) // 2
            enough = afford(eta or learning_rate(queries, middle), middle) >= DRAWS_PER_ROUND * middle
            low, high = (middle, high) if enough else (low, middle - 1)
        rounds = low
    rate = eta or learning_rate(queries, rounds)
    draws = afford(rate, rounds)
    if draws < 1:
        raise ParameterError(
            "this price does not buy one draw a round: raise it, or take fewer rounds or a smaller eta",
            parameter="epsilon",
        )
    return Parameters(rate, rounds, draws)


def afford(allowance: Allowance, way: Accounting) -> Callable[[Fraction, int], int]:
    """Return the most draws a round that an allowance affords, as a function of the learning rate and the rounds."""
    guarantee = allowance.guarantee

    def most(eta: Fraction, rounds: int) -> int:
        if way is Accounting.ZCDP:
            return int(allowance.for_choices(Fraction(1)) / DualQueryPrice(eta, rounds, 1, allowance.neighbors).rho)
        level, delta = (
            (guarantee.epsilon, guarantee.delta) if isinstance(guarantee, ApproxDP) else (allowance.amount, None)
        )
        return most_draws(
            eta=eta, rounds=rounds, neighbors=allowance.neighbors, epsilon=level, delta=delta, accounting=way
        )

    return most


def affords(allowance: Allowance, price: DualQueryPrice) -> bool:
    """Say whether the guarantee of an allowance covers the draws by the accounting of their price.

    Privacy. Where it says yes, the draws keep the guarantee of the allowance.
        Proof: by `DualQueryPrice` the draws are pure_epsilon-DP and rho-zCDP, and what `fits` says is (epsilon, delta)-
        DP. What an allowance has for choices implies its guarantee (`Allowance`), as epsilon where it is pure and as
        the rho of choices otherwise.
    """
    if price.neighbors != allowance.neighbors:
        return False
    match price.accounting, allowance.guarantee:
        case Accounting.PURE, PureDP():
            return price.pure_epsilon <= allowance.amount
        case Accounting.ZCDP, ZCDP() | ApproxDP() | GaussianDP():
            return price.rho <= allowance.for_choices(Fraction(1))
        case Accounting.PAPER | Accounting.REFERENCE | Accounting.CERTIFIED, ApproxDP(epsilon=level, delta=delta):
            return price.fits(level, delta)
    return False

"""The learning rate, the rounds and the draws of DualQuery, by a public rule that looks at the price, never at data."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from discreet.errors import ParameterError
from discreet.privacy import ZCDP, ApproxDP, PureDP
from discreet.synthesis.base.purse import Purse
from discreet.synthesis.methods.dual_query.price import Accounting, DualQueryPrice, most_draws

DRAWS_PER_ROUND = 2  # draws of a round for each round that there is
RATE = Fraction(2)  # the learning rate, in units of sqrt(ln(2 |Q|) / T)
_FINENESS = 64
_MOST_ROUNDS = 4096


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
    """Return the parameters for a workload of so many queries, given the draws that a price affords.

    `afford(eta, rounds)` is the most draws a round at that rate and length: the price, the accounting and the public
    size enter through it alone. What is given is kept.

    Why. An answer's error has a part that falls like sqrt(ln(2|Q|)/T) when the learning rate is of that order (the
    regret of exponential weights) and a part that falls like 1/sqrt(s) (a round sees s draws). Both fall together when
    s grows in proportion to T, so the rule takes as many rounds as leave DRAWS_PER_ROUND draws for each of them. The
    two constants were set on public data of three kinds (census, network, random bits); the proof of the promise does
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


def afford(purse: Purse, way: Accounting) -> Callable[[Fraction, int], int]:
    """Return the most draws a round that a purse affords, as a function of the learning rate and the rounds."""
    promise = purse.guarantee

    def most(eta: Fraction, rounds: int) -> int:
        if way is Accounting.ZCDP:
            return int(purse.amount / DualQueryPrice(eta, rounds, 1, purse.neighbours).rho)
        level, delta = (promise.epsilon, promise.delta) if isinstance(promise, ApproxDP) else (purse.amount, None)
        return most_draws(
            eta=eta, rounds=rounds, neighbours=purse.neighbours, epsilon=level, delta=delta, accounting=way
        )

    return most


def affords(purse: Purse, price: DualQueryPrice) -> bool:
    """Say whether the promise of a purse covers the draws by the accounting of their price.

    Privacy. Where it says yes, the draws keep the promise of the purse.
        Proof: by `DualQueryPrice` the draws are pure_epsilon-DP and rho-zCDP, and what `fits` says is (epsilon, delta)-
        DP. The amount of a purse implies its promise (`Purse`), as epsilon where it is pure and as rho otherwise.
    """
    if price.neighbours != purse.neighbours:
        return False
    match price.accounting, purse.guarantee:
        case Accounting.PURE, PureDP():
            return price.pure_epsilon <= purse.amount
        case Accounting.ZCDP, ZCDP() | ApproxDP():
            return price.rho <= purse.amount
        case Accounting.PAPER | Accounting.REFERENCE | Accounting.CERTIFIED, ApproxDP(epsilon=level, delta=delta):
            return price.fits(level, delta)
    return False

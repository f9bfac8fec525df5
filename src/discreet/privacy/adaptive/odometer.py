"""A meter without a limit: what a live session has spent so far, and what that means when it stops."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

from discreet.errors import MissingParameter, NoSoundConversion, ParameterError
from discreet.laws.number import Number, round_up
from discreet.privacy.adaptive.notions import (
    ApproxBooks,
    Books,
    ConcentratedBooks,
    GaussianBooks,
    PureBooks,
    books_of,
)
from discreet.privacy.adaptive.session_account import Account
from discreet.privacy.guarantees import Guarantee, RenyiDP
from discreet.privacy.numbers import probability, renyi_order, root_upward, written
from discreet.privacy.relation import Relation

_LARGEST = Fraction(sys.float_info.max)
_RATIO = Fraction(5, 4)


class Odometer(Account):
    """Count what a session spends, in one notion, without refusing anything.

    `spent` is a statement about a level fixed beforehand; `epsilon` is one about the moment the analyst stops, however
    that moment was chosen, and costs a little more.

    Privacy. `spent`: for every guarantee b of the notion, the session cut off before the release that would make
        `spent` pass b keeps b. `epsilon`: let E be its reading when the session stops, at a moment chosen in view of
        the
        answers. For neighbors with laws P and Q of the answers and every event S on which there is a reading, P(S) is
        at most the integral of e^E over S under Q, plus delta; so a session whose reading never passes epsilon is
        (epsilon, delta)-DP.
        Proof: the session cut off is one with a filter. For `epsilon`, pure: along every path the loss is at most the
        sum. Approximate, by the induction of `ApproxFilter` with a cap delta on the sum of deltas: let the rest after
        answer y have chance at most g(y) + d2 with g(y) = min(1, integral of e^E2 over S_y); the mean of g under the
        first table is at most e^e1 times that under the second, plus d1. Others: fix levels b_j = (5/4)^j for all whole
        j, and weights w_j = 2/(3(|j|+1)(|j|+2)), whose sum is 1 as that of 1/(n(n+1)) telescopes. Let J be the least j
        with spent <= b_j and E = e_J, where the guarantee at level b_j implies (e_j, w_j delta)-DP. On J = j the
        session is one that a filter with budget b_j lets pass, so S and J = j is an event of it: P(S, J = j) <= e^(e_j)
        Q(S, J = j) + w_j delta. Add over j.
    Reference. Rogers, Roth, Ullman, Vadhan 2016; Lecuyer 2021; Whitehouse, Ramdas, Rogers, Wu 2023.

    >>> from discreet.privacy import ZCDP, GaussianDP
    >>> meter = Odometer(ZCDP)
    >>> for _ in range(100):
    ...     meter.spend(GaussianDP(0.1))
    >>> meter.spent
    ZCDP(rho=0.5, delta=0)
    >>> meter.epsilon(1e-6), meter.spent.to_approx(delta=1e-6).epsilon   # at a stop chosen freely; at a fixed level
    (5.95..., 5.22...)
    """

    __slots__ = ()

    def __init__(
        self, notion: type[Guarantee], *, alpha: Number | None = None, relation: Relation = Relation.UNSTATED
    ) -> None:
        if not isinstance(relation, Relation):
            raise ParameterError("relation must be one of Relation's members", parameter="relation")
        books = _books(notion, alpha)
        largest = _LARGEST**2 if isinstance(books, GaussianBooks) else _LARGEST
        super().__init__(books, (largest,) * len(books.quantities), relation)

    def epsilon(self, delta: Number) -> float:
        """Return an epsilon that holds, with this delta, if the session stops now for any reason.

        Delta is fixed before the session; the reading is rounded up.
        """
        exact = written(probability(delta, name="delta"))
        total, *deltas = (tally.total for tally in self._now().tallies)
        match self._books:
            case PureBooks():
                return round_up(total)
            case ApproxBooks():
                if deltas[0] > exact:
                    raise NoSoundConversion(f"more than delta = {delta} was spent: ask for a larger delta")
                return round_up(total)
            case ConcentratedBooks() | GaussianBooks() if deltas[0]:
                raise NoSoundConversion(
                    "at a stop chosen in view of the answers an epsilon is offered for rho and mu without delta only. "
                    "Keep the account in ApproxDP, or fix the end beforehand: a ZCDPFilter or GaussianFilter with its "
                    "budget."
                )
        return _reading(self._books, total, self._caps[0], exact) if total else 0.0


def _reading(books: Books, total: Fraction, cap: Fraction, delta: Fraction) -> float:
    """Return epsilon at the least level that is not below the total, with that level's share of delta."""
    step = _step_above(total)
    share = delta * Fraction(2, 3 * (abs(step) + 1) * (abs(step) + 2))
    level = min(_RATIO**step, cap)  # no session passes the cap, the largest float
    parameter = root_upward(level) if isinstance(books, GaussianBooks) else level
    no_delta = [0] * (len(books.quantities) - 1)
    return float(books.write([parameter, *no_delta], Relation.UNSTATED).to_approx(delta=share).epsilon)


def _step_above(total: Fraction) -> int:
    """Return the least whole j with (5/4)^j >= total."""
    # logarithms of the parts, as the quotient may be beyond floats; then exact steps
    logarithm = math.log(total.numerator) - math.log(total.denominator)
    step = math.floor(logarithm / math.log(_RATIO))
    while total > _RATIO**step:
        step += 1
    while total <= _RATIO ** (step - 1):
        step -= 1
    return step


def _books(notion: type[Guarantee], alpha: Number | None) -> Books:
    """Return how spending is counted in a notion; only RenyiDP has an order."""
    if notion is RenyiDP:
        if alpha is None:
            raise MissingParameter("an account in RenyiDP needs its order beforehand: pass alpha=", parameter="alpha")
        alpha = renyi_order(alpha, name="alpha")
    elif alpha is not None:
        raise ParameterError("alpha is the order of RenyiDP; other notions have none", parameter="alpha")
    return books_of(notion, alpha, notion)

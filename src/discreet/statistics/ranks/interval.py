"""A quantile and two more ranks on either side of it, so far out that the true quantile lies between them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

from discreet.errors import ParameterError
from discreet.laws import Product
from discreet.laws.number import Number
from discreet.mechanisms import Mechanism
from discreet.privacy import Guarantee, PrivacyLoss, Relation, Target, compose
from discreet.statistics.ranks.choice import RankChoice, exact_level, guarantee, one_price
from discreet.statistics.ranks.error import line_below_counts
from discreet.statistics.ranks.ranked import Ranked

_BEYOND = 1 + Fraction(1, 1 << 30)
# ranks are counted in units of 2^-20 rows in 64 bits: whether a rank fits must not depend on the rows there are
_FARTHEST = 1 << 40


class RankInterval(Mechanism):
    """Return the positions of a quantile, of a lower and of an upper end, each at a third of the price.

    Privacy. Three choices as in `RankChoice`: epsilon-DP for a third of epsilon each, rho-zCDP for a third of rho.
        Proof: composition. The offsets of the two outer ranks are public numbers of rows that do not depend on n.
    Accuracy. With the given confidence no quantile of the table at this level lies outside the two ends; for the
        population, no quantile of the law that the rows are independent draws of.
        Proof: the lower end v aims at the rank a n - T, T just above the distance t that its choice exceeds with
        probability at most (1 - confidence) / 2. If it does not, N(x < v) <= a n - T + t < a n, or v is the end of the
        grid. A point q with N(x <= q) >= a n below v would have N(x <= q) <= N(x < v) < a n; so v is at or below every
        quantile. The upper end alike. For a population quantile q, N(x <= q) is a count of independent successes, each
        with a chance of at least a; except with a chance of (1 - confidence) / 4 it is above the line (a - g) n - o of
        `line_below_counts`, whatever n is; v aims at that line minus T, and the choice has (1 - confidence) / 4 left.
    Cost. Three choices; the sort is done once.

    >>> around = RankInterval(
    ...     level=0.5,
    ...     epsilon=3,
    ...     relation=Relation.ADD_REMOVE,
    ...     steps=1000,
    ...     confidence=0.999999,
    ... )
    >>> value, low, high = around(list(range(1001)))
    >>> low <= 500 <= high
    True
    """

    def __init__(
        self,
        *,
        level: Number,
        relation: Relation,
        steps: int,
        confidence: float,
        epsilon: Number | None = None,
        rho: Number | None = None,
        rows: int | None = None,
        target: Target = Target.TABLE,
        rows_expected: int = 1,
    ) -> None:
        self._epsilon, self._rho = one_price(epsilon, rho)
        self.relation = relation
        each: dict[str, Any] = {
            "relation": relation,
            "steps": steps,
            "epsilon": None if self._epsilon is None else self._epsilon / 3,
            "rho": None if self._rho is None else self._rho / 3,
            "rows": rows,
        }
        exact = exact_level(level)
        failure = (1 - Fraction(confidence)) / 2
        lower, upper = (exact, Fraction(0)), (exact, Fraction(0))
        if target is Target.POPULATION:
            failure = failure / 2
            slope, offset = line_below_counts(exact, rows_expected, failure)
            lower = (exact - slope, -offset)
            slope, offset = line_below_counts(1 - exact, rows_expected, failure)
            upper = (exact + slope, offset)
        self.value = RankChoice(level=exact, **each)
        self.low, self.high = (
            _outer(aim, sign, failure, each) for aim, sign in ((lower, Fraction(-1)), (upper, Fraction(1)))
        )

    @property
    def guarantee(self) -> Guarantee:
        """Pure where epsilon was asked for, concentrated where rho was."""
        return guarantee(self._epsilon, self._rho, self.relation)

    @property
    def loss(self) -> PrivacyLoss:
        """The price of three choices."""
        return compose([choice.loss for choice in (self.value, self.low, self.high)])

    def __call__(self, value: Any) -> tuple[int, int, int]:
        """Return the quantile, the lower and the upper end; an end may be -1 or steps + 1, beyond the grid."""
        rows = value if isinstance(value, Ranked) else Ranked.of(value, steps=self.value.steps)
        return self.value(rows), self.low(rows), self.high(rows)

    def law(self, value: Any) -> Product:
        """Return the law of the three positions."""
        return Product([choice.law(value) for choice in (self.value, self.low, self.high)])

    def neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield the neighbors of a single choice."""
        return self.value.neighbors()

    def __repr__(self) -> str:
        return f"RankInterval(level={float(self.value.level):.6g}, {self.guarantee}, relation={self.relation.name})"


def _outer(aim: tuple[Fraction, Fraction], sign: Fraction, failure: Fraction, each: dict[str, Any]) -> RankChoice:
    """Return the choice of an end: a level and an offset, moved out by just more than the rank error."""
    level, offset = aim
    plain = RankChoice(level=level, ends=True, **each)
    reach = Fraction(plain.error(1 - failure)) * _BEYOND + Fraction(1, 1 << 30)
    if abs(offset) + reach > _FARTHEST:
        raise ParameterError(
            "the price must be large enough for an interval; got one with which its ends are 2^40 rows away, write a "
            "larger one",
            parameter="epsilon",
        )
    return RankChoice(level=level, ends=True, offset=offset + sign * reach, **each)

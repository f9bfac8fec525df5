"""A quantile, and an interval around it from noisy counts of the rows beside it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from discreet.errors import ParameterError
from discreet.laws import Law
from discreet.laws.number import Number
from discreet.mechanisms import Mechanism
from discreet.privacy import Guarantee, PrivacyLoss, Relation, Target, compose
from discreet.statistics.ranks.cells import CountsAround
from discreet.statistics.ranks.choice import RankChoice, exact_level, guarantee, one_price
from discreet.statistics.ranks.ranked import Ranked

HALVES = 2  # one for the choice, one for the counts around it


class RankInterval(Mechanism):
    """Return the positions of a quantile and of the two ends of its interval, for half of the price each.

    Privacy. A choice as in `RankChoice` for half of epsilon (or rho), then counts as in `CountsAround` for the rest.
        Proof: adaptive composition. The counts know the chosen position, and the interval follows from the two.
        `counted_rows` is the weight for which the counts are priced, where it is not that of the choice.
    Accuracy. With the given confidence no quantile at this level lies outside the two ends, of the table or of the
        population; on every table. The chosen position is moved to the nearer end where it lies outside.
        Proof: in `CountsAround`, given the position whatever it is.
    Cost. A choice, and a search among the rows for each of about fifty cuts; the sort is done once.

    >>> around = RankInterval(
    ...     level=0.5,
    ...     epsilon=3,
    ...     relation=Relation.ADD_REMOVE,
    ...     steps=1000,
    ...     confidence=0.999999,
    ... )
    >>> value, low, high = around(list(range(1001)))
    >>> low <= 500 <= high, low <= value <= high
    (True, True)
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
        counted_rows: int | None = None,
        target: Target = Target.TABLE,
        rows_expected: int = 1,
    ) -> None:
        self._epsilon, self._rho = one_price(epsilon, rho)
        self.relation = relation
        each: dict[str, Any] = {
            "relation": relation,
            "steps": steps,
            "epsilon": None if self._epsilon is None else self._epsilon / HALVES,
            "rho": None if self._rho is None else self._rho / HALVES,
        }
        exact = exact_level(level)
        self.value = RankChoice(level=exact, rows=rows, **each)
        self.around = CountsAround(
            levels=(exact,),
            confidence=confidence,
            rows=counted_rows or rows,
            target=target,
            rows_expected=rows_expected,
            **each,
        )

    @property
    def guarantee(self) -> Guarantee:
        """Pure where epsilon was asked for, concentrated where rho was."""
        return guarantee(self._epsilon, self._rho, self.relation)

    @property
    def loss(self) -> PrivacyLoss:
        """The price of the choice and of the counts."""
        return compose([self.value.loss, self.around.loss])

    def __call__(self, value: Any) -> tuple[int, int, int]:
        """Return the quantile, the lower and the upper end."""
        rows = value if isinstance(value, Ranked) else Ranked.of(value, steps=self.value.steps)
        return self.of_groups([rows])[0]

    def of_groups(self, groups: Sequence[Ranked]) -> list[tuple[int, int, int]]:
        """Return all three for each of many groups, priced for what the rows of a person weigh in all of them."""
        chosen = [self.value(rows) for rows in groups]
        ends = self.around.ends_of_groups([[at] for at in chosen], groups)
        return [(min(max(at, low), high), low, high) for at, [(low, high)] in zip(chosen, ends, strict=True)]

    def law(self, value: Any) -> Law[Any]:  # noqa: ARG002
        """Raise an error: the law is that of the choice and, for each position, that of the counts."""
        raise ParameterError(
            "interval must be False for the exact law in one table; got True, use the laws of the two parts, "
            "`mechanism.value.law(rows)` and `mechanism.around.law(([position], rows))`",
            parameter="interval",
        )

    def neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield the neighbors of a single choice."""
        return self.value.neighbors()

    def __repr__(self) -> str:
        return f"RankInterval(level={float(self.value.level):.6g}, {self.guarantee}, relation={self.relation.name})"

"""One quantile of a column: the median, the ninth decile, the smallest or the largest value."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Unpack

from discreet.errors import MissingParameter, ParameterError
from discreet.laws.number import Number
from discreet.privacy import Estimate, Price, Relation, Target
from discreet.privacy.estimate import NO_INTERVAL
from discreet.privacy.numbers import number, upward
from discreet.randomness.rigor import Ball
from discreet.statistics.options import QuantileOptions, QuantileTerms, named_after
from discreet.statistics.order_statistics.ranked_statistic import RankedStatistic
from discreet.statistics.pricing import choosable, stated_switch
from discreet.statistics.ranks import HALVES, MOST_STEPS, RankChoice, Ranked, RankFlip, RankInterval, exact_level
from discreet.statistics.statistic import Tables


class Quantile(RankedStatistic):
    """The value that a share `level` of the rows lies at or below, of values clipped to [L, U].

    Every point of the grid between the bounds is a candidate, and is chosen with a probability that falls by a
    constant factor with every row between it and the quantile: see `RankChoice`. On a coarse grid, for epsilon, it is
    chosen by permute-and-flip, which is better among few candidates: see `RankFlip`. No average of two rows is
    taken: where every value between two rows is a median, one of them is returned.

    Privacy. epsilon-DP; rho-zCDP for epsilon = sqrt(8 rho). A row moves the rank distance of a candidate by at most
        max(level, 1 - level) under add/remove and 1 under change-one, `rows` times as much where a person may
        have several rows.
        Proof: in `RankChoice` and `RankFlip`; the position of a row on the grid depends on that row alone.
    Accuracy. Among the values as they were rounded to the grid the rank distance is above `rank_error` with probability
        at most 1 - confidence, whatever the data, and on some data no less (with midrank=True the distance is another,
        see `RankFlip`). With interval=True half of the price buys counts of the rows around the value, which prove an
        interval that contains the quantile with at least the stated confidence, of the table or of the population: see
        `RankInterval`. Without it there is none: `low` and `high` are None.
    Cost. A sort.
    Figure. quantile-error.svg
    Reference. Smith 2011; McSherry, Talwar 2007.

    >>> ages = list(range(20, 81)) * 50
    >>> median = Quantile(
    ...     level=0.5, bounds=(0, 120), relation=Relation.ADD_REMOVE, epsilon=1
    ... )(ages)
    >>> 45 < median.value < 55
    True
    """

    mechanism: RankChoice | RankFlip | RankInterval

    def __init__(
        self, *, level: Number, interval: bool = False, midrank: bool = False, **options: Unpack[QuantileTerms]
    ) -> None:
        """`error` is a rank distance in rows; `rows_expected` is about how many rows there are, for a population.

        `midrank` sharpens the quantiles of whole numbers that are all held by many rows: see `RankFlip`.
        """
        super().__init__(**options)
        self.level = exact_level(level)
        self.interval = stated_switch(interval, name="interval")
        if midrank and (interval or self.price.epsilon is None or self.scale.steps > MOST_STEPS):
            raise ParameterError(
                "midrank=True must be used with epsilon=, without an interval and on a coarse grid; got another case, "
                "write a coarser grid=, or leave midrank= out",
                parameter="midrank",
            )
        self._check_target()
        price = choosable(self.price)
        asked: dict[str, Any] = {
            "level": self.level,
            "relation": self.relation,
            "steps": self.scale.steps,
            "epsilon": self._epsilon(price),
            "rho": price.rho,
            "rows": self.rows,
        }
        if self.interval:
            about = self._rows_expected or 1
            self.mechanism = RankInterval(confidence=self.confidence, target=self.target, rows_expected=about, **asked)
        elif asked["epsilon"] is not None and self.scale.steps <= MOST_STEPS:
            del asked["rho"]
            self.mechanism = RankFlip(midrank=bool(midrank), **asked)
        else:
            self.mechanism = RankChoice(**asked)

    def _check_target(self) -> None:
        """Refuse an interval for the population that has no meaning or cannot be narrow anywhere."""
        if self.target is not Target.POPULATION:
            return
        if not self.interval:
            raise ParameterError(
                "interval must be True for target=Target.POPULATION; got False, write interval=True",
                parameter="interval",
            )
        if self.rows is not None:
            raise ParameterError(
                "target must be Target.TABLE where a person has several rows, which are not independent draws from a "
                "population; got Target.POPULATION, write Target.TABLE",
                parameter="target",
            )
        if self._rows_expected is None:
            raise MissingParameter(
                "rows_expected= must be given for an interval for the population, which is narrowest for that number "
                "of rows and holds for any; got none, write about how many rows there are",
                parameter="rows_expected",
            )

    def _epsilon(self, price: Price) -> Fraction | None:
        """Return epsilon as asked, or the least whose rank error is as small as asked."""
        if price.error is None:
            return price.epsilon
        failure, wanted = 1 - Fraction(self.confidence), price.error

        def rate() -> Ball:
            return number(Fraction(self.scale.steps) * (1 - failure) / failure).log() / number(wanted)

        one = Fraction(1) if self.relation is Relation.CHANGE_ONE else max(self.level, 1 - self.level)
        parts = HALVES if self.interval else 1
        return Fraction(upward(rate)) * 2 * one * (self.rows or 1) * parts

    def rank_error(self) -> float:
        """Return the rank distance, in rows, that the value exceeds with probability at most 1 - confidence."""
        choice = self.mechanism.value if isinstance(self.mechanism, RankInterval) else self.mechanism
        return choice.error(self.confidence)

    def measure(self, value: Any) -> Ranked:
        """Return the rows in order; private."""
        positions, weights = self.positions(value)
        return Ranked.of(positions, steps=self.scale.steps, weights=weights)

    def estimate(self, released: Any, *, public_rows: int | None) -> Estimate:  # noqa: ARG002
        """Return the chosen value with its interval, if one was bought."""
        if not isinstance(released, tuple):
            return self._estimated(self.value_at(released), None, None, f"a choice by rank, {NO_INTERVAL}")
        position, *ends = released
        low, high = self.bounds_at(*ends)
        return self._estimated(self.value_at(position), low, high, "counts of the rows around the value")

    def _one_row_apart(self, *, added: bool) -> Tables:
        """A row lies at a bound."""
        low, high = self._ends
        if added:
            return [([low, high], [low, high, high]), ([low, high], [low, low, high]), ([], [low])]
        return [([low, low, high], [low, high, high]), ([low], [high])]


@named_after(Quantile)
def quantile(values: Any, level: Number, *, unit: Any = None, **options: Unpack[QuantileOptions]) -> Estimate:
    """Return a private quantile of a column of numbers clipped to `bounds`: see `Quantile`.

    >>> median = quantile(
    ...     range_of := list(range(1000)),
    ...     0.5,
    ...     bounds=(0, 1000),
    ...     relation=Relation.ADD_REMOVE,
    ...     epsilon=1,
    ... )
    >>> 350 < median.value < 650
    True
    """
    answer: Estimate = Quantile(level=level, **options).answer(values, unit)
    return answer

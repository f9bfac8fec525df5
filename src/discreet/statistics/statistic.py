"""What every statistic is: exact integers measured on a table, released with noise, made into an estimate.

Statistics of a bounded column share more: its grid, the rule for missing values, and whose rows they are.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Self, Unpack

import numpy as np

from discreet.errors import ConflictingParameters, InputError, ParameterError
from discreet.frames import numbers
from discreet.laws import Law
from discreet.laws.number import Number
from discreet.mechanisms import Mechanism
from discreet.privacy import Estimate, Guarantee, Price, PrivacyLoss, Relation, Target
from discreet.statistics.columns import (
    WEIGHT_UNIT,
    FixedPoint,
    Missing,
    Rows,
    Totals,
    bounded,
    paired,
    replacement,
    row_weights,
    split,
)
from discreet.statistics.measurement import AddsUp, Group, Measurement, MeasurementPlan, PowerSums, Source, by_hand
from discreet.statistics.options import NoiseOptions, signature_of
from discreet.statistics.pricing import NoisyVector, expected_rows, stated_confidence, stated_relation

Tables = Iterable[tuple[Any, Any]]
"""Pairs of made-up tables that differ in one row."""


class Statistic(Mechanism):
    """A mechanism on tables: `measure` reads the table exactly, `mechanism` adds the noise, `estimate` is arithmetic.

    `law` and `release` speak of what leaves the noise, before the arithmetic; a call returns the estimate.

    Privacy. A statistic keeps the guarantee of its mechanism.
        Proof: `estimate` sees the release and public numbers only, and post-processing costs nothing. What remains is
        that neighboring tables move `measure` by no more than the mechanism was built for, which each one proves.
    """

    accepts: ClassVar[Sequence[str]] = ("epsilon", "rho", "mu", "error")
    delta_with: ClassVar[Sequence[str]] = ("epsilon",)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.__signature__ = signature_of(cls)  # type: ignore[attr-defined]

    def __new__(cls, *arguments: Any, **options: Any) -> Self:  # noqa: D102  says nothing that the signature does not
        try:  # a base takes parameters of several statistics: those of this one are checked here
            cls.__signature__.bind_partial(*arguments, **options)  # type: ignore[attr-defined]
        except TypeError as problem:
            raise TypeError(f"{cls.__name__}() {problem}") from None
        return super().__new__(cls)

    def __init__(
        self,
        *,
        relation: Relation | None = None,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        error: Number | None = None,
        confidence: float = 0.95,
        rows: int | None = None,
        groups: int | None = None,
        target: Target = Target.TABLE,
    ) -> None:
        self.relation = stated_relation(relation)
        self.confidence = stated_confidence(confidence)
        if not isinstance(target, Target):
            raise ParameterError(
                "target must be Target.TABLE or Target.POPULATION; got another, write one of them", parameter="target"
            )
        self.target = target
        self.rows, self.groups = bounded(rows, name="rows"), bounded(groups, name="groups")
        self._unit = 1 if self.rows is None else WEIGHT_UNIT
        self.price = Price.read(
            epsilon=epsilon, delta=delta, rho=rho, mu=mu, error=error, accepts=self.accepts, delta_with=self.delta_with
        )

    mechanism: Mechanism

    @abstractmethod
    def measure(self, value: Any) -> Any:
        """Return what the mechanism takes, exactly; private."""

    @abstractmethod
    def estimate(self, released: Any, *, public_rows: int | None) -> Any:
        """Make an estimate of a release; `public_rows` is the number of rows where that is public, else None."""

    def public_rows(self, value: Any) -> int | None:
        """Return the number of rows under change-one without units, where it is the same for all neighbors."""
        if self.relation is not Relation.CHANGE_ONE or isinstance(value, Rows):
            return None
        return len(value)

    def neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield tables that differ in one row; no tables are made up where a person may have several rows."""
        if self.rows is None and self.groups is None:
            yield from self._one_row_apart(added=self.relation is Relation.ADD_REMOVE)

    @abstractmethod
    def _one_row_apart(self, *, added: bool) -> Tables:
        """Return tables one of which has one row more, or one row changed unless `added`."""

    def _terms(self, method: str) -> tuple[float, Guarantee, str, PrivacyLoss]:
        """Return what every answer says of itself, in the order in which tables and matrices take it."""
        return self.confidence, self.guarantee, method, self.loss

    def _estimated(
        self, value: Number, low: float | None, high: float | None, method: str, *, approximate: bool = False
    ) -> Estimate:
        """Return one number with its interval."""
        return Estimate(value, low, high, self.confidence, self.target, self.guarantee, method, self.loss, approximate)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee of the mechanism."""
        return self.mechanism.guarantee

    @property
    def loss(self) -> PrivacyLoss:
        """The price of the mechanism."""
        return self.mechanism.loss

    def law(self, value: Any) -> Law[Any]:
        """Return the law of the release on a table."""
        return self.mechanism.law(self.measure(value))

    def release(self, value: Any) -> Any:
        """Release what the estimate is made of."""
        return self.mechanism(self.measure(value))

    def __call__(self, value: Any) -> Any:
        """Release an estimate."""
        return self.estimate(self.release(value), public_rows=self.public_rows(value))

    def plans(
        self, *, table: str = "", column: str = "", where: str = "", public_rows: int | None = None
    ) -> tuple[MeasurementPlan, ...]:
        """Return what `release` measures, in public words, for inference.

        Args:
            table: a name for the data; what has one name is about the same rows, and may be read together.
            column: the name of the column, needed beside `table`; the names of all, `age,cost`, where rows are read.
            where: which rows were counted, in words that are equal for the same rows; needed for a condition.
            public_rows: the number of rows, where it is public (`public_rows`) and something was divided by it.
        """
        adds_up = self._adds_up(column, public_rows)
        if adds_up is None:
            raise ParameterError(
                f"{type(self).__name__} releases nothing that is a sum over rows with noise of its own, so there is "
                "nothing to infer from; ask Count, Sum, Mean or Histogram"
            )
        if table:
            self._check_named(column, where)
        keys, names = self._measured_groups(column)
        noise = self.mechanism.noise  # type: ignore[attr-defined]  # whatever adds up has integer noise
        source = Source(lineage=table, rows=where, bounding=self._bounding, keys=names)
        return (MeasurementPlan(type(self).__name__, names or (), keys, adds_up, noise, source),)

    def measurements(
        self,
        released: Any,
        *,
        table: str = "",
        column: str = "",
        where: str = "",
        release: str = "",
        public_rows: int | None = None,
    ) -> tuple[Measurement, ...]:
        """Return a release of this statistic as measurements, for inference; the other words are those of `plans`.

        `release` is a name for the release: what has one name is one release, however often it is handed over.

        >>> from discreet.statistics import Count
        >>> count = Count(relation=Relation.ADD_REMOVE, epsilon=1)
        >>> (measured,) = count.measurements(412, table="survey")
        >>> measured.released, measured.plan.adds_up.counted
        (((412,),), 'rows')
        """
        (plan,) = self.plans(table=table, column=column, where=where, public_rows=public_rows)
        integers = np.asarray(released, dtype=object)
        if integers.size != plan.adds_up.entries * len(plan.keys):
            raise InputError(
                f"released must be what release() of this statistic returned, {plan.adds_up.entries * len(plan.keys)} "
                "integers; got another number of them, write measurements(statistic.release(values))"
            )
        entries = integers.reshape(plan.adds_up.entries, len(plan.keys)).tolist()
        return (plan.measured(entries, by_hand(release), self.guarantee),)

    def _adds_up(self, column: str, people: int | None) -> AddsUp | None:  # noqa: ARG002  for those that add up
        """Return what the released integers add up, None where they are no sums over rows."""
        return None

    def _measured_groups(self, column: str) -> tuple[tuple[Group, ...], tuple[str, ...]]:  # noqa: ARG002
        """Return the groups that integers are released for, and the names of their keys."""
        return ((),), ()

    def _check_named(self, column: str, where: str) -> None:  # noqa: ARG002  for statistics with a condition
        """Refuse a statistic of a named table that does not say which column or which rows it is about."""
        if not column:
            raise ParameterError(
                "column= must be given beside table=, or nobody could tell two columns of the table apart; got none, "
                'write the name of the column, such as column="age"',
                parameter="column",
            )

    @property
    def _bounding(self) -> str:
        """How the rows of a person are bounded, in words that are equal for the same rule."""
        return "one row a person" if self.rows is None else f"weights for {self.rows} rows a person"

    @property
    def _often(self) -> str:
        """Why a person may count more than once, or in part; empty where each adds one row or none."""
        return "" if self.rows is None else f"the rows of a person weigh for at most {self.rows} in all"

    def wire(self, value: Any) -> Any:
        """Run once and return the numbers of the estimate by name: the form in which they leave."""
        result = self(value)
        lines = result.items() if isinstance(result, Mapping) else [("answer", result)]
        return {name: {"value": line.value, "low": line.low, "high": line.high} for name, line in lines}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.guarantee!r})"

    def answer(self, values: Any, unit: Any) -> Any:
        """Release an estimate on values, and on whose rows they are where a person may have several."""
        return self(paired(values, unit, self.rows or self.groups))


def known_rows(rows: int | None) -> int:
    """Return the public number of rows, which a release that was divided by it needs."""
    if rows is None:
        raise ParameterError(
            "public_rows= must be given where the number of rows is public and not released; got none, write "
            "public_rows=statistic.public_rows(values)",
            parameter="public_rows",
        )
    return rows


class ClippedStatistic(Statistic):
    """A statistic of numbers clipped to public bounds and rounded to a public grid."""

    moment: ClassVar[str] = ""  # what error= needs a number of rows for

    def __init__(
        self,
        *,
        bounds: Any = None,
        missing: Missing | Number = Missing.LEAVE_OUT,
        grid: Number | None = None,
        rows_expected: int | None = None,
        target: Target = Target.TABLE,
        **options: Unpack[NoiseOptions],
    ) -> None:
        super().__init__(target=target, **options)
        self.scale = FixedPoint.between(bounds, grid=grid)
        replaced = replacement(missing)
        self._fill = None if replaced is None else self.scale.position(replaced)
        self._rounds = grid is None
        self._rows_expected = expected_rows(rows_expected, self.price if self.moment else None, of=self.moment)

    def _check_independent_rows(self) -> None:
        """Raise an error for an interval for the population where the rows of one person are not independent."""
        if self.target is Target.POPULATION and self.rows is not None:
            raise ConflictingParameters(
                "target must be Target.TABLE where a person has several rows: an interval for the population needs "
                "independent rows; got Target.POPULATION, write Target.TABLE",
                parameter="target",
            )

    @property
    def _size_is_known(self) -> bool:
        """Whether all neighbors have the same number of values, which is then public."""
        return self.relation is Relation.CHANGE_ONE and self._fill is not None and self.rows is None

    @property
    def _ends(self) -> tuple[float, float]:
        """The bounds as values of made-up tables."""
        return float(self.scale.value(0)), float(self.scale.value(self.scale.steps))


class BoundedStatistic(ClippedStatistic):
    """A statistic made of exact sums over numbers that were clipped to public bounds."""

    mechanism: NoisyVector

    def totals(self, value: Any, *, squares: bool = False) -> Totals:
        """Return the exact sums over a table, missing values left out or replaced; private."""
        values, unit = split(value, self.rows)
        column = numbers(values)
        if unit is not None:
            return self._weighted(column, unit)
        totals = self.scale.totals(column, squares=squares)
        if self._fill is None:
            return totals
        missing = column.size - totals.present
        return Totals(column.size, totals.first + missing * self._fill, totals.second + missing * self._fill**2)

    def _weighted(self, column: Any, unit: Any) -> Totals:
        """Return the sums in which the rows of a person weigh no more than the rows."""
        positions = self.scale.positions(column)
        absent = np.isnan(positions)
        positions[absent] = 0.0 if self._fill is None else float(self._fill)
        kept = ~absent if self._fill is None else np.ones(absent.size, dtype=np.bool_)
        weights = row_weights(unit, kept, self.rows or 1)
        return self.scale.weighted_totals(positions, weights)

    def _power_sums(
        self, column: str, coefficients: tuple[tuple[int, int, int], ...], people: int | None = None
    ) -> PowerSums:
        """Return sums over the positions of the values."""
        return PowerSums(column, self.scale, coefficients, self._unit, not self._often, self._often, people)

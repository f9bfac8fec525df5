"""What was released about the sums of one column, read group by group, or refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from discreet.bayes.sums.number_of_rows import public_number
from discreet.bayes.sums.power_sums import SumEntry
from discreet.errors import InputError
from discreet.laws.noise import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from discreet.statistics.columns import FixedPoint
from discreet.statistics.measurement import ROWS, UNITS, Counts, Group, Measurement, MeasurementPlan, PowerSums


@dataclass(frozen=True, slots=True)
class ColumnSums:
    """The groups of an answer about one column: entries for each, the bounds, and the number of rows if public."""

    key_names: tuple[str, ...]
    keys: tuple[Group, ...]
    entries: tuple[tuple[SumEntry, ...], ...]
    scale: FixedPoint
    people: int | None

    @property
    def bounds(self) -> tuple[float, float]:
        """The bounds that values were clipped to."""
        return float(self.scale.value(0)), float(self.scale.value(self.scale.steps))


def column_sums(measurements: Sequence[Measurement], *, one_row_a_person: bool, complete: bool) -> ColumnSums:
    """Return the sums of the one column that measurements are about."""
    plans = [one.plan for one in measurements]
    scale = one_scale(plans, one_row_a_person=one_row_a_person, complete=complete)
    first = plans[0]
    entries: list[tuple[SumEntry, ...]] = []
    for key in first.keys:
        found: list[SumEntry] = []
        for one in measurements:
            place = one.plan.keys.index(key)
            for line, released in zip(combinations(one.plan), one.released, strict=True):
                of_people, of_sum, of_squares = line
                steps = one.plan.adds_up.scale.steps if isinstance(one.plan.adds_up, PowerSums) else 0
                entry = SumEntry(of_people, of_sum * steps, of_squares * steps**2, released[place], one.plan.noise)
                found.append(entry)
        entries.append(tuple(found))
    return ColumnSums(first.key_names, first.keys, tuple(entries), scale, public_number(plans))


def combinations(plan: MeasurementPlan) -> list[tuple[int, int, int]]:
    """Return what a plan's entries add up for a value at position x: coefficients of 1, x and x^2."""
    adds_up = plan.adds_up
    if isinstance(adds_up, PowerSums):
        return [(adds_up.weight * a, adds_up.weight * b, adds_up.weight * c) for a, b, c in adds_up.coefficients]
    return [(adds_up.weight, 0, 0)] if isinstance(adds_up, Counts) else []


def one_scale(plans: Sequence[MeasurementPlan], *, one_row_a_person: bool, complete: bool) -> FixedPoint:
    """Return the grid of the one column that plans are about; refuse what does not fit together."""
    sums = [(plan, plan.adds_up) for plan in plans if isinstance(plan.adds_up, PowerSums)]
    if not sums:
        names = ", ".join(plan.name for plan in plans)
        raise InputError(
            f"a model of sums needs a noisy sum; got {names}, ask VARIANCE(x), STDDEV(x), AVG(x), or SUM(x) with "
            "COUNT(x)"
        )
    first, wanted = sums[0]
    for plan in plans:
        _check_laws(plan)
        _check_once(plan, one_row_a_person=one_row_a_person)
        _check_same(first, plan, one_row_a_person=one_row_a_person)
        _check_values(first, wanted, plan, one_row_a_person=one_row_a_person, complete=complete)
    _check_selection(plans)
    return min((adds_up.scale for _, adds_up in sums), key=lambda one: one.steps)


def _check_laws(plan: MeasurementPlan) -> None:
    """Refuse noise whose density this model does not know."""
    if not isinstance(plan.noise, DiscreteLaplace | DiscreteGaussian | RoundedGaussian):
        raise InputError(
            f"a model of sums needs Laplace or Gaussian noise; got {type(plan.noise).__name__} in {plan.name}, give it "
            "an answer with one of these"
        )


def _check_once(plan: MeasurementPlan, *, one_row_a_person: bool) -> None:
    """Refuse sums of weighted rows: they are no sums of independent rows of the model."""
    adds_up = plan.adds_up
    if isinstance(adds_up, PowerSums | Counts) and not adds_up.once and not one_row_a_person:
        raise InputError(
            f"a model of sums needs everybody's one row in full; got {plan.name}, where {adds_up.why}, state "
            "one_row_a_person=True if you know that nobody has two rows"
        )


def _check_same(first: MeasurementPlan, plan: MeasurementPlan, *, one_row_a_person: bool) -> None:
    """Refuse sums over other rows or groups."""
    one, two = first.source, plan.source
    if one.rows != two.rows or one.keys != two.keys or set(first.keys) != set(plan.keys):
        raise InputError(
            f"measurements must be about the same rows in the same groups; got {first.name} and {plan.name}, whose "
            "filters, joins or groups differ, give one of them, or ask both in one query"
        )
    if one.bounding != two.bounding and not one_row_a_person:
        raise InputError(
            f"measurements must be about the same rows; got {first.name} and {plan.name}, whose rows were bounded in "
            "different ways, give one of them, or state one_row_a_person=True if you know that nobody has two rows"
        )


def _check_values(
    first: MeasurementPlan, wanted: PowerSums, plan: MeasurementPlan, *, one_row_a_person: bool, complete: bool
) -> None:
    """Refuse sums of another column or between other bounds, and counts of something else than its values."""
    match plan.adds_up:
        case PowerSums(argument, scale) if argument != wanted.argument or not _same_bounds(scale, wanted.scale):
            raise InputError(
                f"measurements must be about one column clipped to the same bounds; got {first.name} and {plan.name} "
                "of two, give one of them: [one for one in answer.measurements if one.plan.name == "
                f'"{first.name}"]'
            )
        case PowerSums():
            return
        case Counts(counted) if counted == f"values of {wanted.argument}":
            return
        case Counts(counted) if complete and (counted == ROWS or (counted == UNITS and one_row_a_person)):
            return
        case Counts():
            raise InputError(
                f"a count beside a sum must count the same values; got {plan.name}, which counts rows or people, some "
                "of which may have no value, ask COUNT(x) of the column, or state complete=True if you know that every "
                "row has one"
            )
        case _:
            raise InputError(
                f"a model of one column needs sums of its powers; got {plan.name}, give the measurements about one "
                "column"
            )


def _same_bounds(one: FixedPoint, other: FixedPoint) -> bool:
    """Say whether two grids have the same ends, but for a step outward."""
    step = max(one.grid, other.grid)
    ends = [(grid.value(0), grid.value(grid.steps)) for grid in (one, other)]
    return all(abs(Fraction(left) - Fraction(right)) <= step for left, right in zip(*ends, strict=True))


def _check_selection(plans: Sequence[MeasurementPlan]) -> None:
    """Refuse groups that were named because of a count that is not there."""
    private = [plan for plan in plans if not plan.source.listed]
    if private and not any(isinstance(plan.adds_up, Counts) and plan.adds_up.selects for plan in plans):
        raise InputError(
            f"private keys were named by their noisy number of people, which a model needs; got {private[0].name} "
            "without it, give the whole answer with complete=True and one_row_a_person=True, or declare the keys public"
        )

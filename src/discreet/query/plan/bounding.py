"""How the rows of one unit are bounded, and how far one unit can then move integer sums."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum

from discreet.errors import MissingBound, PrivateKeys, UnsupportedSQL
from discreet.privacy import Relation
from discreet.query.plan.query_plan import Aggregate, Aggregation, MeasureKind
from discreet.query.plan.request import WEIGHT, EachRow, Form, Groups, NormWeights, RowWeights
from discreet.query.policy import TablePolicy, UnitIsRow


class Noise(Enum):
    """The noise that a price buys: it decides which norm of a unit's rows counts."""

    LAPLACE = "Laplace"
    GAUSSIAN = "Gaussian"


@dataclass(frozen=True, slots=True)
class RowNorms:
    """How large the integers are that one row adds: L1 norm, square of the L2 norm, and distances of two units.

    `apart` and `apart_squared` bound the L1 distance, and the square of the L2 distance, between what two units with
    at most one row each add to the same group; `nonnegative` says that no entry is below 0.
    """

    one: int
    squared: int
    apart: int
    apart_squared: int
    nonnegative: bool


@dataclass(frozen=True, slots=True)
class Bounding:
    """A form of bounding with what it guarantees: the weights of one unit's rows, in units of 1 / `unit` rows.

    Privacy. Let a row add a vector of L1 norm at most r (L2 norm at most s) to its group. Under add/remove a unit moves
        all sums together by at most `total` r in L1 and `sqrt(squared)` s in L2. Under change-one by twice that; by at
        most sqrt 2 times in L2 where no entry is negative; where there is one group only, by the distance that two
        units in one group can have.
        Proof: a form gives each row of a unit a weight that depends on that unit's rows alone, so adding or removing
        the unit adds or removes the sum of its weighted rows. RowWeights: n rows of weight at most floor(c 2^20 / n)
        each weigh at most c 2^20, and norms obey the triangle inequality. NormWeights: in group g the norm is at most
        w n_g s, over all groups w sqrt(sum n_g^2) s <= c 2^20 s. Groups: in each of at most k groups the weight is at
        most m 2^20; k such blocks have L1 norm k m 2^20 r and, being orthogonal, L2 norm sqrt(k) m 2^20 s. EachRow: at
        most c rows of weight 1. Changing a unit removes one such vector a and adds another b: |a - b| <= |a| + |b|; if
        no entry is negative the inner product is not either, so |a - b|^2 <= |a|^2 + |b|^2. In one group a and b are
        points of the weight times the hull of single rows and 0, and two points of a hull are at most as far apart as
        two of its corners.
    """

    form: Form
    relation: Relation
    unit: int
    total: int | None  # None: the L1 norm has no bound
    squared: int
    groups: int | None  # how many groups one unit can be in; None: any number
    single: bool  # there is one group only
    reason: str

    def moved(self, norms: RowNorms) -> tuple[int, int]:
        """Return the L1 distance of neighbors and the square of their L2 distance, as integers."""
        total = self.total if self.total is not None else math.isqrt(self.squared) + 1
        if self.relation is not Relation.CHANGE_ONE:
            return total * norms.one, self.squared * norms.squared
        if self.single:
            return total * norms.apart, self.squared * norms.apart_squared
        return 2 * total * norms.one, (2 if norms.nonnegative else 4) * self.squared * norms.squared

    @property
    def largest(self) -> int:
        """The most that the rows of one unit can weigh in one group."""
        if isinstance(self.form, Groups):
            return self.form.rows * self.unit if self.unit > 1 else 1  # a unit that is counted counts once
        return math.isqrt(self.squared) if self.total is None else self.total

    @property
    def often(self) -> str:
        """Why a unit may count more than once, or in part, in all groups together; empty where it counts once."""
        match self.form:
            case EachRow() if self.total == 1:
                return ""
            case EachRow():
                return f"a unit has up to {self.total} rows in the table that was bounded beforehand"
            case Groups() if self.unit == 1:
                return "" if self.groups == 1 else f"a unit may count in up to {self.groups} groups"
            case Groups(groups, rows):
                where = "in one group" if groups == 1 else f"in each of at most {groups} groups"
                return f"a unit counts for {_up_to(rows)} {where}, and where it has more, each counts for a part"
            case RowWeights(rows):
                return f"a unit counts for {_up_to(rows)} in all, and where it has more, each counts for a part"
            case NormWeights(rows):
                return (
                    f"a unit counts for rows of norm up to {rows} over the groups, and where it has more, each counts "
                    "for a part"
                )
        raise TypeError(f"no rule for {type(self.form).__name__}")

    @property
    def rows(self) -> int:
        """How many rows one unit counts for in all: the weight that ranks are moved by."""
        if self.total is None:
            raise AssertionError("ranks need a bound on the weight of a unit")
        return self.total // self.unit


def choose(
    aggregation: Aggregation,
    table: TablePolicy,
    relation: Relation,
    noise: Noise,
    *,
    bounded_rows: int | None = None,
    frames: bool = False,
) -> Bounding:
    """Return the form for a query: weights where the policy states rows, for they leave nobody out, else groups.

    Keys that are not public, COUNT(DISTINCT unit), and sums that are clipped for each unit need the form that bounds
    the number of groups; quantiles need a bound on the weight of a unit. `frames` says where a bound that is missing
    would be stated.
    """
    single = not aggregation.keys
    by_groups = needs_groups(aggregation)
    if isinstance(table.unit, UnitIsRow):
        return Bounding(EachRow(), relation, 1, 1, 1, 1, single, f"every row of {table.name} is a unit of its own")
    if aggregation.source.single:
        return Bounding(EachRow(), relation, 1, 1, 1, 1, single, "every unit has one row here, which counts in full")
    if (
        aggregation.asked
        and aggregation.public
        and all(one.kind is MeasureKind.COUNT_DISTINCT for one in aggregation.asked)
    ):
        return of_values(aggregation, table, relation, bounded_rows=bounded_rows)
    if bounded_rows is not None:
        if by_groups:
            raise UnsupportedSQL(
                "a bounded table limits rows, not groups: private keys and COUNT(DISTINCT ...) are asked of the table "
                "itself. Leave bounded= out. Nothing was spent."
            )
        words = f"read from the table bounded beforehand to {bounded_rows} rows a unit"
        return Bounding(EachRow(), relation, 1, bounded_rows, bounded_rows**2, None, single, words)
    ranks = any(one.kind is MeasureKind.QUANTILE for one in aggregation.asked)
    options = _options(aggregation, table, relation, noise, by_groups=by_groups, ranks=ranks)
    if not options:
        raise _no_option(aggregation, table, by_groups=by_groups, frames=frames)
    return options[0]


def needs_groups(aggregation: Aggregation) -> bool:
    """Say whether a query needs a bound on the number of groups of a unit."""
    return not aggregation.public or any(_by_groups(one) for one in aggregation.asked)


def _by_groups(one: Aggregate) -> bool:
    """Say whether an aggregate needs a bound on the number of groups of a unit."""
    return one.kind is MeasureKind.COUNT_UNITS or one.sums is not None


def _clipped(aggregation: Aggregation) -> bool:
    """Say whether what a unit adds to a group is clipped, for one aggregate at least."""
    return any(one.sums is not None for one in aggregation.asked)


def _unweighted(aggregation: Aggregation) -> bool:
    """Say whether no row of a unit has a weight: units are clipped as a whole, or counted beside."""
    return _clipped(aggregation) and all(_by_groups(one) for one in aggregation.asked)


def of_values(
    aggregation: Aggregation, table: TablePolicy, relation: Relation, *, bounded_rows: int | None = None
) -> Bounding:
    """Return the form for COUNT(DISTINCT x): a unit brings at most so many pairs of a group and a value.

    Privacy. Under add/remove a unit moves all counts together by at most the number k of its pairs, in L1 as in L2;
        under change-one by at most 2 k in L1, sqrt 2 times k in L2, and k where there is one group.
        Proof: with a unit every count is at least what it is without it, and by at most as many more as the unit has
        pairs in the group (see the engine's `values_statement`); a vector without entries below 0 whose entries add up
        to at most k has an L2 norm of at most k. Changing a unit takes one such vector away and adds another, whose
        inner product is not negative; in one group both are numbers between 0 and k.
    """
    single, form = not aggregation.keys, EachRow()
    if isinstance(table.unit, UnitIsRow) or aggregation.source.single or bounded_rows is not None:
        most = bounded_rows or 1
        return Bounding(form, relation, 1, most, most**2, most, single, "every row counts its value")
    stated = table.limits
    brought = stated.groups if stated.groups is not None else stated.rows
    if brought is None:
        raise MissingBound(
            f"COUNT(DISTINCT ...) of values needs a bound on how many one unit can bring. Add groups = ... under "
            f"[tables.{table.name}]. Nothing was spent."
        )
    words = f"a unit brings at most {brought} different values, chosen by a keyed hash, to COUNT(DISTINCT ...)"
    return Bounding(Groups(brought, 1), relation, 1, brought, brought**2, brought, single, words)


def _options(
    aggregation: Aggregation, table: TablePolicy, relation: Relation, noise: Noise, *, by_groups: bool, ranks: bool
) -> list[Bounding]:
    """Return the forms that the policy states and that the query may use; weights first, for they lose no rows."""
    single = not aggregation.keys
    most, found = _most_rows(table, single=single), []
    if most is not None and not by_groups:
        whole = most * WEIGHT
        if noise is Noise.GAUSSIAN and not single and not ranks:
            words = f"weights scale the rows of a unit down to {most} in L2 norm over the groups"
            found.append(Bounding(NormWeights(most), relation, WEIGHT, None, whole**2, None, single, words))
        else:
            words = f"weights scale the rows of a unit down to {most} in all"
            found.append(Bounding(RowWeights(most), relation, WEIGHT, whole, whole**2, None, single, words))
    groups, rows = _groups(aggregation, table)
    if groups is not None and rows is not None and (by_groups or not single):
        each = rows * WEIGHT
        words = _words_of_groups(aggregation, groups, rows)
        form = Groups(groups, rows)
        found.append(Bounding(form, relation, WEIGHT, groups * each, groups * each**2, groups, single, words))
    return found


def _words_of_groups(aggregation: Aggregation, groups: int, rows: int) -> str:
    """Say how the form of groups bounds a unit, and why it was taken where sums are clipped."""
    clipped, unweighted = _clipped(aggregation), _unweighted(aggregation)
    where = " to a group" if aggregation.keys else ""
    means = f"what the rows of a unit add{where} is clipped together, to the range that sums= states"
    found = []
    if not aggregation.keys:
        found += [] if unweighted else [f"a unit counts once, and its rows with weight of at most {rows} in all"]
    else:
        where = f"a unit counts in at most {groups} group{'s' if groups > 1 else ''}, chosen by a keyed hash"
        weights = f", with weight of at most {rows} row{'s' if rows > 1 else ''} in each"
        found.append(where if unweighted else where + weights)
    return "; ".join([*found, *([means] if clipped else [])])


def _most_rows(table: TablePolicy, *, single: bool) -> int | None:
    """Return how many rows of a unit may count in all; in one group that is what all groups allow together."""
    stated = table.limits
    if stated.rows is None and single and stated.groups is not None and stated.rows_per_group is not None:
        return stated.groups * stated.rows_per_group
    return stated.rows


def _groups(aggregation: Aggregation, table: TablePolicy) -> tuple[int | None, int | None]:
    """Return how many groups a unit may be in, and with how many rows in each."""
    stated = table.limits
    unweighted = _unweighted(aggregation)
    if not aggregation.keys:
        return 1, 1 if unweighted else _most_rows(table, single=True)
    groups, rows = stated.groups, stated.rows_per_group if stated.rows_per_group is not None else stated.rows
    if groups is None and stated.rows == 1 and not _clipped(aggregation):
        groups = 1  # who has one row is in one group
    if aggregation.public:
        every = math.prod(len(key.domain or ()) for key in aggregation.keys)
        groups = min(groups, every) if groups is not None else every if _clipped(aggregation) else None
    return groups, 1 if unweighted else rows


def _no_option(aggregation: Aggregation, table: TablePolicy, *, by_groups: bool, frames: bool) -> Exception:
    """Say which bound the policy lacks, as it is written in a policy file, or in the call of `from_frames`."""
    rows, groups, each = "rows = ...", "groups = ...", "rows_per_group = ..."
    place = f" under [tables.{table.name}]"
    asked = "beside the question (--groups in the shell)"
    if frames:
        rows, groups, each, place = "rows=", "groups=", "rows_per_group=", " to from_frames"
    if not by_groups:
        return MissingBound(
            f'"{table.name}" has no bound on the rows of one unit that fits this query. Add {rows}{place}, or '
            f"{groups} and {each}. Nothing was spent."
        )
    if not aggregation.public:
        private = ", ".join(f'"{key.label}"' for key in aggregation.keys if key.domain is None)
        declared = '{"values": [...]}' if frames else "values = [...]"
        public = '"public": True' if frames else "public = true"
        return PrivateKeys(
            f"the values of {private} are not public, so the query needs a bound on how many groups one unit can be "
            f"in. Add {groups} and {each}{place}, or state groups= and rows_per_group= {asked}; or declare the key "
            f"public ({declared}, or {public} beside min and max), or give the values with keys=. Nothing was spent."
        )
    return MissingBound(
        f"COUNT(DISTINCT ...) by group needs a bound on how many groups one unit can be in. Add {groups}{place}, or "
        f"state groups= {asked}. Nothing was spent."
    )


def _up_to(rows: int) -> str:
    """Return how many rows count, in words."""
    return "one row" if rows == 1 else f"up to {rows} rows"

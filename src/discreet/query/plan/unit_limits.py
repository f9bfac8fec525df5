"""How much of one unit counts: what the policy says, over several tables, and what a question states in its place."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from discreet.errors import ParameterError
from discreet.query.expression import Expression
from discreet.query.plan.row_sources import (
    FilterRows,
    MatchKind,
    PerUnit,
    PrivateJoin,
    Project,
    PublicJoin,
    RowSource,
    Scan,
    UnionAll,
)
from discreet.query.policy import TablePolicy, UnitLimits

LARGEST_BOUND = 10**9  # as in a policy file
LARGEST_END = 10**150  # of a range of values: what is computed from an answer squares it


def stated_limits(
    rows: int | None,
    groups: int | None,
    rows_per_group: int | None,
    *,
    most: int,
    outer_rows: int | None = None,
) -> UnitLimits:
    """Return bounds as they were stated in a call, if they are whole numbers from 1 to `most`.

    >>> stated_limits(3, None, None, most=100)
    UnitLimits(rows=3, groups=None, rows_per_group=None, outer_rows=None)
    """
    given = {"rows": rows, "groups": groups, "rows_per_group": rows_per_group, "outer_rows": outer_rows}
    for name, one in given.items():
        if one is not None and (isinstance(one, bool) or not isinstance(one, int) or not 1 <= one <= most):
            raise ParameterError(f"{name} must be a whole number from 1 to {most:,}", parameter=name)
    return UnitLimits(**given)


def with_stated(limits: UnitLimits, given: UnitLimits) -> UnitLimits:
    """Return the bounds of a policy with those that a question states in their place; any are enforced.

    Who states groups without rows wants the form of groups, so that the rows of the policy then bound one group.

    >>> with_stated(UnitLimits(rows=20), UnitLimits(groups=2))
    UnitLimits(rows=None, groups=2, rows_per_group=20, outer_rows=None)
    """
    by_groups = given.rows is None and (given.groups is not None or given.rows_per_group is not None)
    each = given.rows_per_group if given.rows_per_group is not None else limits.rows_per_group
    return replace(
        limits,
        rows=None if by_groups else given.rows if given.rows is not None else limits.rows,
        groups=given.groups if given.groups is not None else limits.groups,
        rows_per_group=limits.rows if by_groups and each is None else each,
    )


def limits_of(source: RowSource, tables: Mapping[str, TablePolicy]) -> UnitLimits:
    """Return how much of a unit counts in rows made from several tables; any number is enforced, so these are choices.

    A join along the unit gives as many rows as the larger side where the other has one row a unit, so the larger bound
    is taken; UNION ALL puts the rows of its parts together, and so their bounds. Rows for each unit are one a unit; for
    each unit and further keys they are as many as the rows that hold the keys, at most.
    """
    if source.single:
        return UnitLimits(1, 1, 1)
    if isinstance(source, PerUnit):
        return limits_of(_holding(source.source, _names(expression for _, expression in source.keys)), tables)
    if isinstance(source, Scan):
        return tables[source.table].limits
    if isinstance(source, PrivateJoin) and source.kind in (MatchKind.SEMI, MatchKind.ANTI):
        return limits_of(source.source, tables)
    parts = [limits_of(one, tables) for one in source.sources]
    together = sum if isinstance(source, UnionAll) else max

    def of(stated: list[int | None]) -> int | None:
        there = [one for one in stated if one is not None]
        return min(together(there), LARGEST_BOUND) if there else None

    return UnitLimits(
        of([one.rows for one in parts]), of([one.groups for one in parts]), of([one.rows_per_group for one in parts])
    )


def _names(expressions: Iterable[Expression]) -> set[str]:
    return {column.name for expression in expressions for column in expression.columns()}


def _holding(source: RowSource, names: set[str]) -> RowSource:
    """Return the rows beneath that hold these columns: a unit has no more values of them than it has such rows.

    A patient's region comes from the one row of the patient, however many visits are joined to it.
    """
    match source:
        case FilterRows():
            return _holding(source.source, names)
        case Project(inner, columns):
            return _holding(inner, _names(expression for name, expression in columns if name in names))
        case PublicJoin(inner, _, keys, columns):
            joined = {name for name, _, _ in columns}
            return _holding(inner, names - joined | (_names(one for one, _ in keys) if names & joined else set()))
        case PrivateJoin(inner, other, columns, condition, kind):
            theirs = {name: column for name, column, _ in columns}
            if names.isdisjoint(theirs):
                return _holding(inner, names)
            if names <= set(theirs) and (kind is MatchKind.INNER or condition is None):  # else some have NULL
                return _holding(other, {theirs[name] for name in names})
    return source

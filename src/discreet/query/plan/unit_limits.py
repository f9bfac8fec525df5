"""How much of one unit counts: what the policy says, over several tables, and what a question states in its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from discreet.errors import ParameterError
from discreet.query.plan.row_sources import MatchKind, PrivateJoin, RowSource, Scan, UnionAll
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
    is taken; UNION ALL puts the rows of its parts together, and so their bounds. Rows for each unit are one a unit.
    """
    if source.single:
        return UnitLimits(1, 1, 1)
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

"""Totals of ROLLUP, CUBE and GROUPING SETS: added up from released integers, so that they agree with their parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from discreet.query.expression import Value
from discreet.query.plan import QueryPlan
from discreet.query.pricing import ReleasedTable


@dataclass(frozen=True, slots=True)
class GroupTotals:
    """A released table with its totals: rows of keys, the released groups that each adds up, and which keys are gone.

    Privacy. Costs nothing: sums of what was released.
    """

    keys: tuple[tuple[Value, ...], ...]
    members: tuple[tuple[int, ...], ...]
    gone: tuple[tuple[int, ...], ...]  # for each row and key 1 where the row adds up all values of the key

    def added(self, released: Sequence[Sequence[int]]) -> list[list[int]]:
        """Return the integers of one measure for all rows."""
        return [[sum(entry[one] for one in rows) for rows in self.members] for entry in released]


def with_totals(plan: QueryPlan, released: ReleasedTable) -> GroupTotals:
    """Return the rows of an answer before anything is selected or computed: the groups, or the grouping sets."""
    width = len(plan.aggregation.keys)
    if not plan.totals:
        every = range(len(released.keys))
        return GroupTotals(released.keys, tuple([(one,) for one in every]), ((0,) * width,) * len(released.keys))
    keys: list[tuple[Value, ...]] = []
    members: list[tuple[int, ...]] = []
    gone: list[tuple[int, ...]] = []
    for kept in plan.totals:
        found: dict[tuple[Value, ...], list[int]] = {} if kept else {(None,) * width: []}
        for place, key in enumerate(released.keys):
            shown = tuple([value if one in kept else None for one, value in enumerate(key)])
            found.setdefault(shown, []).append(place)
        keys += found
        members += [tuple(rows) for rows in found.values()]
        gone += [tuple([int(one not in kept) for one in range(width)])] * len(found)
    return GroupTotals(tuple(keys), tuple(members), tuple(gone))

"""ROLLUP, CUBE and GROUPING SETS: which totals are added up from one release by all keys."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction

from sqlglot import exp

from discreet.errors import UnsupportedSQL
from discreet.query.plan import Aggregation, MeasureKind
from discreet.query.reading.parse import bare, only, shown

MOST_SETS = 256
_ADD_UP = (
    MeasureKind.COUNT_ROWS,
    MeasureKind.COUNT_VALUES,
    MeasureKind.SUM,
    MeasureKind.MEAN,
    MeasureKind.VARIANCE,
    MeasureKind.DEVIATION,
)
Sets = list[list[exp.Expr]]


def grouping_sets(written: Sequence[exp.Expr]) -> Sets:
    """Return the grouping sets of GROUP BY, each by its keys; plain keys are in all of them."""
    found: Sets = [[]]
    for one in written:
        options = _options(bare(one))
        if len(found) * len(options) > MOST_SETS:
            raise UnsupportedSQL(f"GROUP BY makes more than {MOST_SETS} grouping sets. Ask for fewer totals.")
        found = [[*kept, *more] for kept in found for more in options]
    return found


def _options(node: exp.Expr) -> Sets:
    """Return the sets that one term of GROUP BY stands for."""
    if isinstance(node, exp.Rollup):
        only(node, "expressions")
        parts = [_keys(one) for one in node.expressions]
        return [list(itertools.chain(*parts[:count])) for count in range(len(parts), -1, -1)]
    if isinstance(node, exp.Cube):
        only(node, "expressions")
        parts = [_keys(one) for one in node.expressions]
        if len(parts) > MOST_SETS.bit_length():
            raise UnsupportedSQL(f"CUBE makes more than {MOST_SETS} grouping sets. Ask for fewer totals.")
        sizes = range(len(parts), -1, -1)
        return [list(itertools.chain(*some)) for size in sizes for some in itertools.combinations(parts, size)]
    if isinstance(node, exp.GroupingSets):
        only(node, "expressions")
        return [one for part in node.expressions for one in _set_or_sets(bare(part))]
    return [[node]]


def _set_or_sets(node: exp.Expr) -> Sets:
    """Return what stands in GROUPING SETS: keys in brackets, one key, or ROLLUP and CUBE."""
    nested = isinstance(node, exp.Rollup | exp.Cube | exp.GroupingSets)
    return _options(node) if nested else [_keys(node)]


def _keys(node: exp.Expr) -> list[exp.Expr]:
    """Return keys that stay together."""
    node = bare(node)
    if isinstance(node, exp.Tuple):
        only(node, "expressions")
        return list(node.expressions)
    return [node]


def check_totals(aggregation: Aggregation) -> None:
    """Refuse totals of what does not add up over groups, and of groups of which only some are named."""
    for one in aggregation.asked:
        if one.kind not in _ADD_UP:
            asked = "MEDIAN" if one.level == Fraction(1, 2) else one.kind.value
            twice = ": who is in two of them would count twice" if "DISTINCT" in asked else ""
            raise UnsupportedSQL(
                f"{asked} does not add up over groups{twice}. Ask for its totals in a query of their own, with fewer "
                "keys in GROUP BY."
            )
    for key in aggregation.keys:
        if key.domain is None:
            raise UnsupportedSQL(
                f"Totals need public keys, and {shown(key.label)!r} is private: the groups that are not named would be "
                f"missing from them. Give its values with keys={{{key.label!r}: [...]}}, or ask for the totals in a "
                "query of their own."
            )

"""Sensitivities of what is read off the sorted rows: extremes, quantiles, and the score that chooses a quantile."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import groupby

from discreet.privacy import Norm
from discreet.statistics.sensitivities.known_tables import KnownTables
from discreet.statistics.sensitivities.rule import Blocks, Case, Finding, Rule, pair

_LARGE = (
    "Too large to be of use: choose among candidates by their rank instead (Query.RANK_SCORE, statistics.quantile)."
)
_WITHIN = "both answers lie in [L, U] (that of an empty table too, which is some fixed number of [L, U])"


def _rows(first: str, second: str) -> Callable[[KnownTables], Finding]:
    """Return what finds two tables U - L apart, written with a letter a row: L and U lie at the bounds."""

    def find(domain: KnownTables) -> Finding:
        bounds = {"L": domain.lower, "U": domain.upper}
        blocks = (tuple((bounds[end], len(list(same))) for end, same in groupby(table)) for table in (first, second))
        return pair(domain.width, *blocks)

    return find


MINIMUM = Rule(
    name="minimum",
    description="least of the rows",
    add_remove=Case("U - L", _WITHIN, _rows("U", "UL")),
    change_one=Case("U - L", _WITHIN, _rows("UU", "UL")),
    needs=("bounds",),
    remark=_LARGE,
)
MAXIMUM = Rule(
    name="maximum",
    description="greatest of the rows",
    add_remove=Case("U - L", _WITHIN, _rows("L", "LU")),
    change_one=Case("U - L", _WITHIN, _rows("LL", "LU")),
    needs=("bounds",),
    remark=_LARGE,
)
_RANGE_PROOF = "it lies between 0 and U - L (that of an empty table is 0)"
RANGE = Rule(
    name="range",
    description="greatest of the rows minus the least",
    add_remove=Case("U - L", _RANGE_PROOF, _rows("L", "LU")),
    change_one=Case("U - L", _RANGE_PROOF, _rows("LL", "LU")),
    needs=("bounds",),
    remark=_LARGE,
)
MEDIAN = Rule(
    name="median",
    description="least value that at least half of the rows do not exceed",
    add_remove=Case("U - L", _WITHIN, _rows("U", "UL")),
    change_one=Case("U - L", _WITHIN, _rows("LUU", "LLU")),
    needs=("bounds",),
    remark=f"For the mean of the two middle rows see Query.MIDDLE_MEDIAN, which one row moves less. {_LARGE}",
)


def _middle(domain: KnownTables, rows: int, first: int, second: int, more: int) -> Finding:
    """Return `rows` rows, `first` of them at L, beside `rows` + `more` rows, `second` of them at U.

    The answers are as far apart as the tables show: L and U count for 0 and 1 in the middle of the sorted rows.
    """
    low, high = domain.lower, domain.upper
    one: Blocks = ((low, first), (high, rows - first))
    two: Blocks = ((low, rows + more - second), (high, second))
    apart = _share_at_upper(rows + more, second) - _share_at_upper(rows, rows - first)
    return pair(domain.width * apart, one, two)


def _share_at_upper(rows: int, upper: int) -> Fraction:
    """Return the median of zeros and a number of ones: 0, one half or 1."""
    return Fraction((2 * upper > rows) + (2 * upper >= rows), 2)


def _middle_added(domain: KnownTables) -> Finding:
    least = domain.rows
    if domain.rows_of_one == 1:
        below = (least + 1) // 2
        return _middle(domain, least, below, least - below + 1, 1)
    rows = least + (least + 1) % 2  # an odd number of rows, with L just in the middle
    return _middle(domain, rows, (rows + 1) // 2, rows // 2 + 2, 2)


def _middle_changed(domain: KnownTables) -> Finding:
    rows = domain.rows
    if domain.rows_of_one == 1:
        below = (rows + 1) // 2
        return _middle(domain, rows, below, rows - below + 1, 0)
    below = rows // 2 + 1
    return _middle(domain, rows, below, rows - below + 2, 0)


MIDDLE_MEDIAN = Rule(
    name="median with two middle rows",
    description="middle one of the sorted rows; of an even number of rows the mean of the two in the middle",
    add_remove=Case(
        "(U - L) / 2 for c = 1, U - L for c > 1, at least one row",
        "sort the rows. One more row takes the median from the middle row to the mean of it and a neighbor, or from "
        "the mean of two middle rows to a number between them: by half the distance of two rows at most. Two more rows "
        "can take it from L to U",
        _middle_added,
    ),
    change_one=Case(
        "(U - L) / 2 for c = 1 and n even, else U - L",
        "sort the rows x_1 <= x_2 <= ... One changed row takes the k-th of them to between x_(k-1) and x_(k+1). So "
        "with n = 2 k the median moves by at most (x_(k+1) - x_k + x_(k+2) - x_(k+1)) / 2 = (x_(k+2) - x_k) / 2, and "
        "down alike. With an odd n, or two changed rows, it can go from L to U",
        _middle_changed,
    ),
    needs=("bounds", "people"),
    integral=False,
    remark=_LARGE,
)


def _quantile_added(domain: KnownTables) -> Finding:
    first_of_two = Fraction(domain.level) <= Fraction(1, 2)
    return (_rows("U", "UL") if first_of_two else _rows("L", "LU"))(domain)


QUANTILE = Rule(
    name="quantile",
    description="least value that at least a share a of the rows do not exceed",
    add_remove=Case("U - L", _WITHIN, _quantile_added),
    change_one=Case("U - L", _WITHIN, _rows("U", "L")),
    needs=("bounds", "level"),
    remark=f"It bounds interpolated quantiles too. {_LARGE}",
)


def _rank_added(domain: KnownTables) -> Finding:
    count, level = domain.rows_of_one, Fraction(domain.level)
    side = "above" if level >= Fraction(1, 2) else "below"
    return pair(count * max(level, 1 - level), (), ((side, count),))


def _rank_changed(domain: KnownTables) -> Finding:
    count, level = domain.rows_of_one, Fraction(domain.level)
    share, old, new = (level, "above", "below") if level >= Fraction(1, 2) else (1 - level, "below", "above")
    rows = math.ceil(count / share)
    return pair(Fraction(count), ((old, rows),), ((old, rows - count), (new, count)))


RANK_SCORE = Rule(
    name="rank score",
    description="score -|r - a n| of a candidate for the a-quantile, r of the n rows being below the candidate",
    add_remove=Case(
        "c max(a, 1 - a)",
        "a row below the candidate moves r - a n by 1 - a, any other by -a, and the absolute value moves no further",
        _rank_added,
    ),
    change_one=Case("c", "r moves by 1 at most for each row, and n stays", _rank_changed),
    needs=("level",),
    norms=(Norm.LINF,),
    remark="One candidate's score moves so far; the exponential mechanism asks for no more.",
)

"""Sensitivities of what is read off the sorted rows: extremes, quantiles, and the score that chooses a quantile."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from itertools import groupby

from discreet.privacy import Norm
from discreet.statistics.sensitivities.known_tables import KnownTables
from discreet.statistics.sensitivities.rule import Case, Finding, Rule, pair

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
    remark=f"It bounds the mean of the two middle rows too. {_LARGE}",
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

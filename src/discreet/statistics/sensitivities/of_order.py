"""Sensitivities of what is read off the sorted rows: extremes, quantiles, and the score that chooses a quantile."""

from __future__ import annotations

import math
from fractions import Fraction

from discreet.privacy import Norm
from discreet.statistics.sensitivities.domain import Domain
from discreet.statistics.sensitivities.rule import Case, Finding, Rule, pair

_LARGE = (
    "Too large to be of use: choose among candidates by their rank instead (Query.RANK_SCORE, statistics.quantile)."
)
_WITHIN = "both answers lie in [L, U] (that of an empty table too, which is some fixed number of [L, U])"


def _lowest(domain: Domain) -> Finding:
    return pair(domain.width, ((domain.upper, 2),), ((domain.upper, 1), (domain.lower, 1)))


def _lowest_added(domain: Domain) -> Finding:
    return pair(domain.width, ((domain.upper, 1),), ((domain.upper, 1), (domain.lower, 1)))


def _highest(domain: Domain) -> Finding:
    return pair(domain.width, ((domain.lower, 2),), ((domain.lower, 1), (domain.upper, 1)))


def _highest_added(domain: Domain) -> Finding:
    return pair(domain.width, ((domain.lower, 1),), ((domain.lower, 1), (domain.upper, 1)))


MINIMUM = Rule(
    name="minimum",
    description="least of the rows",
    add_remove=Case("U - L", _WITHIN, _lowest_added),
    change_one=Case("U - L", _WITHIN, _lowest),
    needs=("bounds",),
    remark=_LARGE,
)
MAXIMUM = Rule(
    name="maximum",
    description="greatest of the rows",
    add_remove=Case("U - L", _WITHIN, _highest_added),
    change_one=Case("U - L", _WITHIN, _highest),
    needs=("bounds",),
    remark=_LARGE,
)
_RANGE_PROOF = "it lies between 0 and U - L (that of an empty table is 0)"
RANGE = Rule(
    name="range",
    description="greatest of the rows minus the least",
    add_remove=Case("U - L", _RANGE_PROOF, _highest_added),
    change_one=Case("U - L", _RANGE_PROOF, _highest),
    needs=("bounds",),
    remark=_LARGE,
)


def _middle_changed(domain: Domain) -> Finding:
    low, high = domain.lower, domain.upper
    return pair(domain.width, ((low, 1), (high, 2)), ((low, 2), (high, 1)))


def _middle_added(domain: Domain) -> Finding:
    low, high = domain.lower, domain.upper
    return pair(domain.width, ((high, 1),), ((high, 1), (low, 1)))


MEDIAN = Rule(
    name="median",
    description="least value that at least half of the rows do not exceed",
    add_remove=Case("U - L", _WITHIN, _middle_added),
    change_one=Case("U - L", _WITHIN, _middle_changed),
    needs=("bounds",),
    remark=f"It bounds the mean of the two middle rows too. {_LARGE}",
)


def _quantile_changed(domain: Domain) -> Finding:
    low, high = domain.lower, domain.upper
    return pair(domain.width, ((high, 1),), ((low, 1),))


def _quantile_added(domain: Domain) -> Finding:
    low, high = domain.lower, domain.upper
    if Fraction(domain.level) <= Fraction(1, 2):  # the first of two rows
        return pair(domain.width, ((high, 1),), ((high, 1), (low, 1)))
    return pair(domain.width, ((low, 1),), ((low, 1), (high, 1)))


QUANTILE = Rule(
    name="quantile",
    description="least value that at least a share a of the rows do not exceed",
    add_remove=Case("U - L", _WITHIN, _quantile_added),
    change_one=Case("U - L", _WITHIN, _quantile_changed),
    needs=("bounds", "level"),
    remark=f"It bounds interpolated quantiles too. {_LARGE}",
)


def _rank_added(domain: Domain) -> Finding:
    count, level = domain.contribution, Fraction(domain.level)
    side = "above" if level >= Fraction(1, 2) else "below"
    return pair(count * max(level, 1 - level), (), ((side, count),))


def _rank_changed(domain: Domain) -> Finding:
    count, level = domain.contribution, Fraction(domain.level)
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

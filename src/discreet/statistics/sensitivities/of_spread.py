"""Sensitivities of variances and standard deviations, in their two forms."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from discreet.privacy.numbers import number, upward
from discreet.randomness.rigor import Ball
from discreet.statistics.sensitivities.known_tables import KnownTables
from discreet.statistics.sensitivities.rule import Case, Finding, Rule, pair, root

_ONE_SIDE = (
    "with x the mean of the rows that stay, the least variance has every other row at x and the greatest every "
    "other row at an end; the difference is convex in x, so x is an end too, and b rows at the other end give"
)


def _apart(domain: KnownTables, others: int, moved: int, divisor: int) -> Finding:
    """Return equal rows against the same with some at the other end: squares about the mean, over the divisor."""
    low, high = domain.lower, domain.upper
    squares = domain.width**2 * others * moved / (others + moved)
    first = ((low, domain.rows),)
    return pair(squares / divisor, first, ((low, others), (high, moved)))


def _variance_changed(domain: KnownTables) -> Finding:
    rows = domain.rows
    moved = min(domain.rows_of_one, rows // 2)
    return _apart(domain, rows - moved, moved, rows)


def _variance_added(domain: KnownTables) -> Finding:
    moved = min(domain.rows_of_one, domain.rows)
    return _apart(domain, domain.rows, moved, domain.rows + moved)


VARIANCE = Rule(
    name="variance",
    description="mean squared distance of the rows from their mean (the 1/n form)",
    add_remove=Case(
        "(U - L)^2 a m / (m + a)^2, a = min(c, m), at least m rows",
        f"adding: {_ONE_SIDE} b (N - b) / N^2 of N rows, most for N = m + a and b = a. Removing: the variance falls by "
        "the share j / (n + j) of at most (U - L)^2 / 4, which is less",
        _variance_added,
    ),
    change_one=Case(
        "(U - L)^2 a (n - a) / n^2, a = min(c, n/2 rounded down); (U - L)^2 (n - 1) / n^2 for c = 1",
        f"{_ONE_SIDE} b (n - b) / n^2, most for b = a",
        _variance_changed,
        least_rows=2,
    ),
    needs=("bounds", "people"),
    integral=False,
)


def _sample_variance_changed(domain: KnownTables) -> Finding:
    rows = domain.rows
    moved = min(domain.rows_of_one, rows // 2)
    return _apart(domain, rows - moved, moved, rows - 1)


def _sample_variance_rises(domain: KnownTables) -> Finding:
    moved = min(domain.rows_of_one, domain.rows)
    return _apart(domain, domain.rows, moved, domain.rows + moved - 1)


def _widest(domain: KnownTables) -> Fraction:
    """Return the largest variance of m rows, in the 1/(m - 1) form: half of them at either end."""
    rows = domain.rows
    return domain.width**2 * (rows // 2) * (rows - rows // 2) / (rows * (rows - 1))


def _falls(domain: KnownTables, value: Fraction | float) -> Finding:
    """Return half of the rows at either end, against the same and c rows at their mean."""
    rows, low, high = domain.rows, domain.lower, domain.upper
    upper = rows - rows // 2
    spread = ((low, rows // 2), (high, upper))
    middle = Fraction(low) + domain.width * upper / rows
    return pair(value, spread, (*spread, (middle, domain.rows_of_one)))


def _sample_variance_added(domain: KnownTables) -> Finding:
    rises = _sample_variance_rises(domain)
    fall = _widest(domain) * domain.rows_of_one / (domain.rows + domain.rows_of_one - 1)
    return rises if rises.value >= fall else _falls(domain, fall)


SAMPLE_VARIANCE = Rule(
    name="sample variance",
    description="squared distances of the rows from their mean, summed and divided by n - 1",
    add_remove=Case(
        "(U - L)^2 max(a m / ((m + a) (m + a - 1)), c floor(m^2 / 4) / (m (m - 1) (m + c - 1))), a = min(c, m), at "
        "least m rows; (U - L)^2 / (m + 1) for c = 1",
        f"adding: {_ONE_SIDE} b (N - b) / (N (N - 1)) of N rows, most for N = m + a and b = a. Removing: c rows at the "
        "mean leave the sum of squares, (U - L)^2 floor(m^2 / 4) / m at most, and change its divisor",
        _sample_variance_added,
        least_rows=2,
    ),
    change_one=Case(
        "(U - L)^2 a (n - a) / (n (n - 1)), a = min(c, n/2 rounded down); (U - L)^2 / n for c = 1",
        f"{_ONE_SIDE} b (n - b) / (n (n - 1)), most for b = a",
        _sample_variance_changed,
        least_rows=2,
    ),
    needs=("bounds", "people"),
    integral=False,
)

_ROOT_PROOF = "|sqrt(v) - sqrt(w)| <= sqrt(|v - w|), with equality where one variance is 0, as it is at the worst pair"


def _root_of(find: Callable[[KnownTables], Finding]) -> Callable[[KnownTables], Finding]:
    """Return what finds the same tables as for a variance, the root of it apart."""

    def found(domain: KnownTables) -> Finding:
        squared = find(domain)
        return Finding(root(Fraction(squared.value)), squared.first, squared.second)

    return found


STANDARD_DEVIATION = Rule(
    name="standard deviation",
    description="square root of the variance (the 1/n form)",
    add_remove=Case(
        "(U - L) sqrt(a m) / (m + a), a = min(c, m), at least m rows", _ROOT_PROOF, _root_of(_variance_added)
    ),
    change_one=Case(
        "(U - L) sqrt(a (n - a)) / n, a = min(c, n/2 rounded down); (U - L) sqrt(n - 1) / n for c = 1",
        _ROOT_PROOF,
        _root_of(_variance_changed),
        least_rows=2,
    ),
    needs=("bounds", "people"),
    integral=False,
    remark="Falls with the root of n only; a deviation computed from a released variance is free.",
)


def _sample_deviation_added(domain: KnownTables) -> Finding:
    rises = _root_of(_sample_variance_rises)(domain)
    kept = Fraction(domain.rows - 1, domain.rows + domain.rows_of_one - 1)

    def fall() -> Ball:
        return number(_widest(domain)).sqrt() * (1 - number(kept).sqrt())

    lost = upward(fall)
    return rises if rises.value >= lost else _falls(domain, lost)


SAMPLE_STANDARD_DEVIATION = Rule(
    name="sample standard deviation",
    description="square root of the sample variance (the 1/(n - 1) form)",
    add_remove=Case(
        "(U - L) max(sqrt(a m / ((m + a) (m + a - 1))), sqrt(floor(m^2 / 4) / (m (m - 1))) (1 - sqrt((m - 1) / "
        "(m + c - 1)))), a = min(c, m), at least m rows; (U - L) / sqrt(m + 1) for c = 1",
        f"adding: {_ROOT_PROOF}. Removing: c rows at the mean change the divisor of the same sum of squares",
        _sample_deviation_added,
        least_rows=2,
    ),
    change_one=Case(
        "(U - L) sqrt(a (n - a) / (n (n - 1))), a = min(c, n/2 rounded down); (U - L) / sqrt(n) for c = 1",
        _ROOT_PROOF,
        _root_of(_sample_variance_changed),
        least_rows=2,
    ),
    needs=("bounds", "people"),
    integral=False,
    remark="Falls with the root of n only; a deviation computed from a released variance is free.",
)

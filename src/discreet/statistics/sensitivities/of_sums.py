"""Sensitivities of counts and sums: each row adds its own part, so a person adds or exchanges a few parts."""

from __future__ import annotations

from fractions import Fraction

from discreet.privacy import Norm
from discreet.statistics.sensitivities.known_tables import KnownTables
from discreet.statistics.sensitivities.rule import Blocks, Case, Finding, Rule, pair, root

NOTHING: Blocks = ()


def _count_added(domain: KnownTables) -> Finding:
    return pair(Fraction(domain.rows_of_one), NOTHING, (("yes", domain.rows_of_one),))


def _count_changed(domain: KnownTables) -> Finding:
    count = domain.rows_of_one
    return pair(Fraction(count), (("no", count),), (("yes", count),))


COUNT = Rule(
    name="count",
    description="number of rows that satisfy a condition, or of bits that are 1",
    add_remove=Case("c", "each of the c rows counts 0 or 1", _count_added),
    change_one=Case("c", "each of the c rows goes from 0 to 1 at most, or back", _count_changed),
    remark="The number of all rows is public under change-one, and needs no noise there.",
)


def _distinct_added(domain: KnownTables) -> Finding:
    return pair(Fraction(domain.rows_of_one), NOTHING, ((range(1, domain.rows_of_one + 1), 1),))


def _distinct_changed(domain: KnownTables) -> Finding:
    count = domain.rows_of_one
    return pair(Fraction(count), ((1, count + 1),), ((1, 1), (range(2, count + 2), 1)))


COUNT_DISTINCT = Rule(
    name="count of distinct values",
    description="number of different values among the rows",
    add_remove=Case("c", "c rows bring at most c values that were not there", _distinct_added),
    change_one=Case(
        "c",
        "without the person there are d values; with either set of c rows there are between d and d + c",
        _distinct_changed,
    ),
    remark="Attained where there are more than c values to choose from.",
)


def _sum_added(domain: KnownTables) -> Finding:
    far = max(domain.lower, domain.upper, key=lambda end: abs(Fraction(end)))
    return pair(domain.rows_of_one * abs(Fraction(far)), NOTHING, ((far, domain.rows_of_one),))


def _sum_changed(domain: KnownTables) -> Finding:
    count = domain.rows_of_one
    return pair(count * domain.width, ((domain.lower, count),), ((domain.upper, count),))


SUM = Rule(
    name="sum",
    description="sum of the rows, each clipped to [L, U]",
    add_remove=Case("c max(|L|, |U|)", "each of the c rows adds a number between L and U", _sum_added),
    change_one=Case("c (U - L)", "each of the c rows moves by U - L at most", _sum_changed),
    needs=("bounds",),
)


def _mean_added(domain: KnownTables) -> Finding:
    count, least = domain.rows_of_one, domain.rows
    value = domain.width * count / (least + count)
    return pair(value, ((domain.lower, least),), ((domain.lower, least), (domain.upper, count)))


def _mean_changed(domain: KnownTables) -> Finding:
    count, rows = domain.rows_of_one, domain.rows
    value = domain.width * count / rows
    return pair(value, ((domain.lower, rows),), ((domain.lower, rows - count), (domain.upper, count)))


MEAN = Rule(
    name="mean",
    description="sum of the rows, each clipped to [L, U], divided by their number",
    add_remove=Case(
        "c (U - L) / (m + c), at least m rows",
        "j rows with mean y move the mean x of n rows by (y - x) j / (n + j); this share of U - L grows with j <= c "
        "and falls with n >= m",
        _mean_added,
    ),
    change_one=Case("c (U - L) / n", "the sum moves by c (U - L) at most, and n stays", _mean_changed),
    needs=("bounds", "people"),
    integral=False,
    remark="Under add/remove sum and count together are the better release: statistics.mean.",
)


def _histogram_added(domain: KnownTables) -> Finding:
    return pair(Fraction(domain.rows_of_one), NOTHING, (("A", domain.rows_of_one),))


def _histogram_changed(domain: KnownTables) -> Finding:
    count = domain.rows_of_one
    value = {Norm.L1: Fraction(2 * count), Norm.L2: root(2 * count**2), Norm.LINF: Fraction(count)}[domain.norm]
    return pair(value, (("A", count),), (("B", count),))


HISTOGRAM = Rule(
    name="histogram",
    description="number of rows in each of several cells, every row in one cell",
    add_remove=Case("c, in every norm", "c rows add c in all, and at worst they lie in one cell", _histogram_added),
    change_one=Case(
        "2 c in L1, sqrt(2) c in L2, c in LINF",
        "what is taken away and what is added have L1 norm c each and no negative entry, so the squares of their L2 "
        "norms, c^2 at most each, add up at worst",
        _histogram_changed,
    ),
    norm_is_stated=True,
)


def _people_added(domain: KnownTables) -> Finding:
    count = domain.rows_of_one
    value = {Norm.L1: Fraction(count), Norm.L2: root(count), Norm.LINF: Fraction(1)}[domain.norm]
    return pair(value, NOTHING, ((range(1, count + 1), 1),))


def _people_changed(domain: KnownTables) -> Finding:
    count = domain.rows_of_one
    value = {Norm.L1: Fraction(2 * count), Norm.L2: root(2 * count), Norm.LINF: Fraction(1)}[domain.norm]
    return pair(value, ((range(1, count + 1), 1),), ((range(count + 1, 2 * count + 1), 1),))


PEOPLE_PER_CELL = Rule(
    name="people per cell",
    description="number of people in each of several cells, every person in up to c cells and once in each",
    add_remove=Case("c in L1, sqrt(c) in L2, 1 in LINF", "c cells move by 1 each", _people_added),
    change_one=Case(
        "2 c in L1, sqrt(2 c) in L2, 1 in LINF", "at worst c cells fall and c others rise", _people_changed
    ),
    norm_is_stated=True,
    remark="Counting a person once per cell is what makes L2 grow with the root of c only.",
)


def _vectors_added(domain: KnownTables) -> Finding:
    count, radius = domain.rows_of_one, domain.radius
    return pair(count * Fraction(radius), NOTHING, (((radius, 0), count),))


def _vectors_changed(domain: KnownTables) -> Finding:
    count, radius = domain.rows_of_one, domain.radius
    return pair(2 * count * Fraction(radius), (((radius, 0), count),), (((-radius, 0), count),))


VECTOR_SUM = Rule(
    name="sum of vectors",
    description="sum of rows that are vectors of length at most R",
    add_remove=Case("c R", "the triangle inequality over c rows", _vectors_added),
    change_one=Case("2 c R", "the triangle inequality over c rows taken away and c added", _vectors_changed),
    needs=("radius",),
    norms=(Norm.L2, Norm.LINF),
)


def _moments_added(domain: KnownTables) -> Finding:
    count, radius = domain.rows_of_one, domain.radius
    return pair(count * Fraction(radius) ** 2, NOTHING, (((radius, 0), count),))


def _moments_changed(domain: KnownTables) -> Finding:
    count, radius = domain.rows_of_one, domain.radius
    return pair(root(2 * count**2 * Fraction(radius) ** 4), (((radius, 0), count),), (((0, radius), count),))


SECOND_MOMENT = Rule(
    name="second-moment matrix",
    description="X'X, the sum of the outer products x x' of rows about a public center, of length at most R",
    add_remove=Case("c R^2 (Frobenius)", "|x x'| = |x|^2 <= R^2 for each of the c rows", _moments_added),
    change_one=Case(
        "sqrt(2) c R^2 (Frobenius)",
        "let A be taken away and B added: both are sums of c outer products, and <x x', y y'> = (x . y)^2 >= 0, so "
        "|A - B|^2 = |A|^2 + |B|^2 - 2 <A, B> <= 2 (c R^2)^2; two outer products cannot point in opposite directions",
        _moments_changed,
    ),
    needs=("radius",),
    norms=(Norm.L2,),
    remark="Attained by rows at right angles, so with two columns or more. About the private mean this is false.",
)

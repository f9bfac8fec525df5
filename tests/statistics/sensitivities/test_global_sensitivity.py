"""Global sensitivities: never exceeded by any neighbors of small tables, and attained by some."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import MissingParameter, ParameterError
from discreet.privacy import Norm, Relation, Sensitivity
from discreet.statistics import AtLeast, Query, explain_sensitivity, sensitivity
from tests.statistics.sensitivities.brute_force import (
    CELLS,
    NUMBERED,
    Known,
    answer,
    are_neighbors,
    gap,
    interpolated,
    neighbors,
    tables,
)

ADDED, CHANGED = Relation.ADD_REMOVE, Relation.CHANGE_ONE
RELATIONS = pytest.mark.parametrize("relation", [ADDED, CHANGED], ids=["add-remove", "change-one"])
HALF = Fraction(1, 2)
DOMAINS = pytest.mark.parametrize(
    "values", [(0, 1), (-1, 0, 1), (-3, -1, 0, 2), (Fraction(1, 3), HALF, Fraction(2, 3))], ids=str
)
SPREADS = (
    Query.VARIANCE,
    Query.SAMPLE_VARIANCE,
    Query.STANDARD_DEVIATION,
    Query.SAMPLE_STANDARD_DEVIATION,
)
SIZED = (Query.MEAN, Query.MIDDLE_MEDIAN, *SPREADS)
EXTREMES = (Query.MINIMUM, Query.MAXIMUM, Query.MEDIAN, Query.RANGE)
VECTORS = ((0, 0), (5, 0), (-5, 0), (0, 5), (3, 4), (-4, 3), (-3, -4), (4, -3))
ALL_NORMS = pytest.mark.parametrize("norm", list(Norm), ids=lambda norm: norm.name)


def check(fact, pairs, *, level=Fraction(0), empties=(Fraction(0),), attained=True):
    """Hold a fact against pairs of neighbors: none is further apart, and one is just so far apart."""
    value = Fraction(fact.value)
    below = value if fact.tight else Fraction(math.nextafter(fact.value, 0.0))
    found = False
    for first, second in pairs:
        for empty in empties:
            apart = gap(
                fact.query,
                answer(fact.query, first, Known(level, empty)),
                answer(fact.query, second, Known(level, empty)),
                fact.sensitivity.norm,
            )
            assert apart.at_most(value), (first, second)
            found = found or (apart.equals(value) if fact.tight else not apart.at_most(below))
    assert found or not attained


def sized(relation):
    """Return queries with the sizes and contributions for which they are defined and not always the same."""
    return [
        pytest.param(query, rows, rows_of_one, id=f"{query.name}-{rows}-{rows_of_one}")
        for query in SIZED
        for rows in range(least(query, relation), 6 if relation is CHANGED else 4)
        for rows_of_one in range(1, 1 + (min(3, rows) if relation is CHANGED else 3))
    ]


def least(query, relation):
    """Return the fewest rows."""
    if query in (Query.MEAN, Query.MIDDLE_MEDIAN) or (
        relation is ADDED and query in (Query.VARIANCE, Query.STANDARD_DEVIATION)
    ):
        return 1
    return 2


@pytest.mark.theorem("sensitivity.privacy")
@pytest.mark.theorem("sensitivity.accuracy")
@RELATIONS
@pytest.mark.parametrize("rows_of_one", [1, 2, 3])
@pytest.mark.parametrize(
    ("query", "values"),
    [(Query.COUNT, ("no", "yes")), (Query.COUNT_DISTINCT, (1, 2, 3, 4))],
    ids=["count", "distinct"],
)
def test_counts_move_by_the_rows_of_a_person(query, values, relation, rows_of_one):
    fact = explain_sensitivity(query, relation=relation, rows=rows_of_one)
    assert fact.value == rows_of_one
    check(fact, neighbors(values, relation, range(5), rows_of_one))


@pytest.mark.theorem("sensitivity.privacy")
@pytest.mark.theorem("sensitivity.accuracy")
@RELATIONS
@pytest.mark.parametrize("rows_of_one", [1, 2])
@DOMAINS
def test_no_neighbors_of_small_tables_have_sums_further_apart_and_some_are_as_far(values, relation, rows_of_one):
    fact = explain_sensitivity(Query.SUM, relation=relation, bounds=(values[0], values[-1]), rows=rows_of_one)
    check(fact, neighbors(values, relation, range(4), rows_of_one))


@pytest.mark.theorem("sensitivity.privacy")
@pytest.mark.theorem("sensitivity.accuracy")
@pytest.mark.parametrize(("query", "size", "rows_of_one"), sized(CHANGED))
@DOMAINS
def test_means_and_spreads_of_a_public_number_of_rows(values, query, size, rows_of_one):
    fact = explain_sensitivity(query, relation=CHANGED, bounds=(values[0], values[-1]), people=size, rows=rows_of_one)
    check(fact, neighbors(values, CHANGED, [size], rows_of_one))


@pytest.mark.theorem("sensitivity.privacy")
@pytest.mark.theorem("sensitivity.accuracy")
@pytest.mark.parametrize(("query", "rows", "rows_of_one"), sized(ADDED))
@DOMAINS
def test_means_and_spreads_of_at_least_so_many_rows(values, query, rows, rows_of_one):
    fact = explain_sensitivity(
        query, relation=ADDED, bounds=(values[0], values[-1]), people=AtLeast(rows), rows=rows_of_one
    )
    inside = all(row in values for table in fact.attained_by for row in table)
    assert inside or (query is Query.SAMPLE_VARIANCE and rows_of_one == 3)
    check(fact, neighbors(values, ADDED, range(rows, rows + 3), rows_of_one), attained=inside)


@pytest.mark.theorem("sensitivity.privacy")
@pytest.mark.theorem("sensitivity.accuracy")
@RELATIONS
@pytest.mark.parametrize("rows_of_one", [1, 2])
@pytest.mark.parametrize("query", EXTREMES)
@DOMAINS
def test_one_row_moves_extremes_and_the_median_across_the_whole_range(values, query, relation, rows_of_one):
    ends = (Fraction(values[0]), Fraction(values[-1]))
    fact = explain_sensitivity(query, relation=relation, bounds=ends, rows=rows_of_one)
    assert fact.value == ends[1] - ends[0]
    pairs = neighbors(values, relation, range(5), rows_of_one)
    check(fact, pairs, empties=(ends[0], sum(ends) / 2, ends[1]))


@pytest.mark.theorem("sensitivity.accuracy")
@pytest.mark.parametrize("rows_of_one", [1, 2, 3])
@pytest.mark.parametrize("size", range(1, 8))
def test_the_mean_of_two_middle_rows_moves_half_as_far_as_one_middle_row(size, rows_of_one):
    known = {"bounds": (-3, 2), "rows": rows_of_one}
    added = explain_sensitivity(Query.MIDDLE_MEDIAN, relation=ADDED, people=AtLeast(size), **known)
    assert added.value == (Fraction(5, 2) if rows_of_one == 1 else 5)
    check(added, neighbors((-3, 0, 2), ADDED, range(size, size + 2), rows_of_one))
    if rows_of_one <= size:
        changed = explain_sensitivity(Query.MIDDLE_MEDIAN, relation=CHANGED, people=size, **known)
        assert changed.value == (Fraction(5, 2) if rows_of_one == 1 and size % 2 == 0 else 5)
        check(changed, neighbors((-3, 0, 2), CHANGED, [size], rows_of_one))


@pytest.mark.theorem("sensitivity.privacy")
@pytest.mark.theorem("sensitivity.accuracy")
@RELATIONS
@pytest.mark.parametrize("level", [0, Fraction(1, 4), HALF, Fraction(2, 3), 1])
def test_one_row_moves_every_quantile_across_the_whole_range_whatever_the_number_of_rows(level, relation):
    values = (0, 1, 3)
    fact = explain_sensitivity(Query.QUANTILE, relation=relation, bounds=(0, 3), level=level)
    for size in range(1, 5):
        check(fact, neighbors(values, relation, [size], 1), level=Fraction(level))
    check(fact, [tuple(tuple(table) for table in fact.attained_by)], level=Fraction(level))


@pytest.mark.theorem("sensitivity.privacy")
@RELATIONS
@pytest.mark.parametrize("level", [Fraction(1, 10), HALF, Fraction(2, 3)])
def test_interpolated_quantiles_are_bounded_by_the_same_number(level, relation):
    value = sensitivity(Query.QUANTILE, relation=relation, bounds=(0, 3), level=level).value
    for first, second in neighbors((0, 1, 3), relation, range(1, 5), 2):
        assert abs(interpolated(first, level) - interpolated(second, level)) <= value


@pytest.mark.theorem("sensitivity.privacy")
@pytest.mark.theorem("sensitivity.accuracy")
@RELATIONS
@pytest.mark.parametrize("rows_of_one", [1, 2])
@pytest.mark.parametrize("level", [0, Fraction(1, 4), HALF, Fraction(2, 3), 1])
def test_the_rank_score_moves_less_under_add_remove_than_under_change_one(level, relation, rows_of_one):
    fact = explain_sensitivity(Query.RANK_SCORE, relation=relation, level=level, rows=rows_of_one)
    assert fact.value == rows_of_one * (1 if relation is CHANGED else max(level, 1 - level))
    check(fact, neighbors(("below", "above"), relation, range(6), rows_of_one), level=Fraction(level))


@pytest.mark.theorem("sensitivity.privacy")
@pytest.mark.theorem("sensitivity.accuracy")
@RELATIONS
@ALL_NORMS
@pytest.mark.parametrize("rows_of_one", [1, 2])
def test_histograms_in_every_norm(norm, relation, rows_of_one):
    fact = explain_sensitivity(Query.HISTOGRAM, relation=relation, norm=norm, rows=rows_of_one)
    check(fact, neighbors(CELLS, relation, range(4), rows_of_one))


@pytest.mark.theorem("sensitivity.privacy")
@pytest.mark.theorem("sensitivity.accuracy")
@RELATIONS
@ALL_NORMS
@pytest.mark.parametrize("rows_of_one", [1, 2, 3])
def test_people_who_count_once_per_cell_move_fewer_squares(norm, relation, rows_of_one):
    fact = explain_sensitivity(Query.PEOPLE_PER_CELL, relation=relation, norm=norm, rows=rows_of_one)
    own = [chosen for count in range(1, rows_of_one + 1) for chosen in combinations(NUMBERED, count)]
    others = [table for size in range(3) for table in tables((1, 4, 6), size)]
    if relation is ADDED:
        pairs = ((other, other + one) for other in others for one in own)
    else:
        pairs = ((other + one, other + two) for other in others for one in own for two in own if len(one) == len(two))
    check(fact, pairs)


@pytest.mark.theorem("sensitivity.privacy")
@pytest.mark.theorem("sensitivity.accuracy")
@RELATIONS
@pytest.mark.parametrize("rows_of_one", [1, 2])
@pytest.mark.parametrize(
    ("query", "norm"), [(Query.VECTOR_SUM, Norm.L2), (Query.VECTOR_SUM, Norm.LINF), (Query.SECOND_MOMENT, Norm.L2)]
)
def test_sums_of_vectors_and_of_outer_products(query, norm, relation, rows_of_one):
    fact = explain_sensitivity(query, relation=relation, radius=5, norm=norm, rows=rows_of_one)
    check(fact, neighbors(VECTORS, relation, range(3 if relation is ADDED else 4), rows_of_one))


def test_exchanging_a_row_moves_the_second_moments_by_root_two_and_not_by_two():
    added = sensitivity(Query.SECOND_MOMENT, relation=ADDED, radius=5)
    changed = sensitivity(Query.SECOND_MOMENT, relation=CHANGED, radius=5)
    assert added.value == 25
    assert changed.value == pytest.approx(math.sqrt(2) * 25, rel=1e-15)
    single = [answer(Query.SECOND_MOMENT, ((row, 0),)) for row in range(-5, 6)]
    widest = max(abs(one[0] - other[0]) for one in single for other in single)
    assert widest == 25, "with one column a change is no worse than an addition"


@pytest.mark.theorem("sensitivity.privacy")
@pytest.mark.theorem("sensitivity.accuracy")
@pytest.mark.parametrize("rows_of_one", [27, 28, 29, 40])
def test_many_rows_at_the_mean_lower_a_sample_deviation_by_more_than_far_rows_raise_it(rows_of_one):
    values = (0, 1, 2)
    fact = explain_sensitivity(
        Query.SAMPLE_STANDARD_DEVIATION, relation=ADDED, bounds=(0, 2), people=AtLeast(2), rows=rows_of_one
    )
    counts = (1, 2, 3, rows_of_one - 1, rows_of_one)
    pairs = ((kept, kept + added) for kept in tables(values, 2) for n in counts for added in tables(values, n))
    check(fact, pairs)
    assert (1 in fact.attained_by[1]) == (rows_of_one >= 29)


@pytest.mark.parametrize("size", [2, 3, 10, 1000])
def test_the_two_forms_of_the_variance_have_the_textbook_values(size):
    known = {"relation": CHANGED, "bounds": (0, 10), "people": size}
    assert sensitivity(Query.VARIANCE, **known).value == Fraction(100 * (size - 1), size**2)
    assert sensitivity(Query.SAMPLE_VARIANCE, **known).value == Fraction(100, size)
    assert sensitivity(Query.MEAN, **known).value == Fraction(10, size)
    assert sensitivity(Query.SAMPLE_VARIANCE, relation=ADDED, bounds=(0, 10), people=AtLeast(size)).value == Fraction(
        100, size + 1
    )


ends = st.one_of(
    st.integers(-1000, 1000),
    st.fractions(-1000, 1000, max_denominator=50),
    st.floats(-1e6, 1e6, allow_nan=False, allow_subnormal=False),
)
bounds = st.tuples(ends, ends).filter(lambda pair: pair[1] - pair[0] > 1e-6)


@st.composite
def questions(draw):
    """Draw a query with everything it needs."""
    query = draw(st.sampled_from([Query.SUM, *SIZED, *EXTREMES, Query.QUANTILE]))
    relation = draw(st.sampled_from([ADDED, CHANGED]))
    known = {"relation": relation, "bounds": draw(bounds), "rows": draw(st.integers(1, 4))}
    if query in SIZED:
        rows = draw(st.integers(max(2, known["rows"]), 8))
        known["people"] = AtLeast(rows) if relation is ADDED else rows
    if query is Query.QUANTILE:
        known["level"] = draw(st.fractions(0, 1, max_denominator=20))
    return query, known


@st.composite
def pairs_of_tables(draw, known):
    """Draw neighbors whose rows are anywhere within the bounds."""
    low, high = (Fraction(end) for end in known["bounds"])
    row = st.fractions(0, 1, max_denominator=12).map(lambda share: low + share * (high - low))
    size = known.get("people", 3)
    own = st.lists(row, min_size=known["rows"], max_size=known["rows"])
    if known["relation"] is ADDED:
        rows = size.rows if isinstance(size, AtLeast) else size
        kept = draw(st.lists(row, min_size=rows, max_size=rows + 3))
        return tuple(kept), tuple(kept + draw(own))
    kept = draw(st.lists(row, min_size=size - known["rows"], max_size=size - known["rows"]))
    return tuple(kept + draw(own)), tuple(kept + draw(own))


@pytest.mark.theorem("sensitivity.privacy")
@given(st.data(), questions().filter(lambda one: "people" in one[1] or one[1]["rows"] <= 3))
def test_no_neighbors_with_rows_anywhere_within_any_bounds_are_further_apart(data, question):
    query, known = question
    fact = explain_sensitivity(query, **known)
    first, second = data.draw(pairs_of_tables(known))
    check(fact, [(first, second), (second, first)], level=Fraction(known.get("level", 0)), attained=False)


@pytest.mark.theorem("sensitivity.accuracy")
@given(questions())
def test_the_pair_that_is_shown_is_one_of_neighbors_in_the_domain_and_attains_the_value(question):
    query, known = question
    fact = explain_sensitivity(query, **known)
    first, second = (tuple(Fraction(row) for row in table) for table in fact.attained_by)
    low, high = (Fraction(end) for end in known["bounds"])
    assert all(low <= row <= high for row in first + second)
    assert are_neighbors(first, second, known["relation"], known["rows"])
    if "people" in known:
        size = known["people"]
        assert len(first) >= size.rows if isinstance(size, AtLeast) else len(first) == size
    check(fact, [(first, second)], level=Fraction(known.get("level", 0)))


@pytest.mark.theorem("sensitivity.accuracy")
@RELATIONS
@pytest.mark.parametrize(
    ("query", "known"),
    [
        (Query.COUNT, {}),
        (Query.COUNT_DISTINCT, {}),
        (Query.HISTOGRAM, {"norm": Norm.L2}),
        (Query.PEOPLE_PER_CELL, {"norm": Norm.L2}),
        (Query.RANK_SCORE, {"level": 0.3}),
        (Query.VECTOR_SUM, {"radius": Fraction(7, 3)}),
        (Query.SECOND_MOMENT, {"radius": 2.5}),
    ],
    ids=str,
)
@pytest.mark.parametrize("rows_of_one", [1, 3])
def test_the_pair_that_is_shown_for_counts_ranks_and_vectors_attains_the_value(query, known, relation, rows_of_one):
    fact = explain_sensitivity(query, relation=relation, rows=rows_of_one, **known)
    first, second = (tuple(table) for table in fact.attained_by)
    assert are_neighbors(first, second, relation, rows_of_one)
    check(fact, [(first, second)], level=Fraction(known.get("level", 0)))


@given(questions())
def test_integers_stay_exact_and_floats_are_rounded_up(question):
    query, known = question
    fact = explain_sensitivity(query, **known)
    kinds = {type(end) for end in known["bounds"]}
    if float in kinds:
        assert isinstance(fact.value, float)
    elif kinds == {int} and query in (Query.SUM, *EXTREMES):
        assert isinstance(fact.value, int)
    elif query in (Query.MEAN, Query.VARIANCE, Query.SAMPLE_VARIANCE):
        assert isinstance(fact.value, Fraction)
        assert fact.tight


def test_a_level_given_as_a_float_is_taken_as_the_number_it_is():
    found = sensitivity(Query.RANK_SCORE, relation=ADDED, level=0.1)
    assert Fraction(found.value) >= 1 - Fraction(0.1)
    assert Fraction(math.nextafter(found.value, 0.0)) < 1 - Fraction(0.1)


def test_numbers_of_numpy_are_numbers():
    found = sensitivity(Query.SUM, relation=CHANGED, bounds=(np.int64(0), np.int32(7)), rows=np.int64(2))
    assert (type(found.value), found.value) == (int, 14)


@pytest.mark.parametrize(
    ("query", "known", "words"),
    [
        (Query.SUM, {}, "infinite sensitivity"),
        (Query.SUM, {"bounds": (0, math.inf)}, "infinite sensitivity"),
        (Query.SUM, {"bounds": (-np.inf, np.float64(3))}, "clip every row"),
        (Query.MEDIAN, {}, "infinite sensitivity"),
        (Query.VECTOR_SUM, {}, "infinite sensitivity"),
        (Query.SECOND_MOMENT, {"radius": math.inf}, "shorten longer rows"),
        (Query.SUM, {"bounds": (math.nan, 1)}, "finite"),
        (Query.SUM, {"bounds": (1, 0)}, r"write bounds=\(0, 1\)"),
        (Query.SUM, {"bounds": (1, 1)}, "nothing private is asked"),
        (Query.SUM, {"bounds": (False, True)}, "truth value"),
        (Query.SUM, {"bounds": ("0", "1")}, "not str"),
        (Query.SUM, {"bounds": 1}, "pair"),
        (Query.SUM, {"bounds": (0, 1, 2)}, "pair"),
        (Query.SUM, {"bounds": (-1e308, 1e308)}, "largest float"),
        (Query.SUM, {"bounds": (0, 1), "people": 3}, "plays no part"),
        (Query.COUNT, {"bounds": (0, 1)}, "plays no part"),
        (Query.COUNT, {"rows": 0}, "at least 1"),
        (Query.COUNT, {"rows": 1.0}, "whole number"),
        (Query.COUNT, {"rows": True}, "truth value"),
        (Query.MEAN, {"bounds": (0, 1)}, "people="),
        (Query.MEAN, {"bounds": (0, 1), "people": 0}, "at least 1"),
        (Query.MEAN, {"bounds": (0, 1), "people": 2.0}, "whole number"),
        (Query.MEAN, {"bounds": (0, 1), "people": AtLeast(5)}, "the exact number"),
        (Query.MEAN, {"bounds": (0, 1), "people": 2, "rows": 3}, "more than all 2 rows"),
        (Query.VARIANCE, {"bounds": (0, 1), "people": 1}, "nothing private is asked"),
        (Query.SAMPLE_VARIANCE, {"bounds": (0, 1), "people": 1}, "at least 2 rows"),
        (Query.QUANTILE, {"bounds": (0, 1)}, "level=0.5 for the median"),
        (Query.RANK_SCORE, {"level": 1.5}, r"\[0, 1\]"),
        (Query.RANK_SCORE, {"level": 0.5, "norm": Norm.L1}, "Norm.LINF"),
        (Query.VECTOR_SUM, {"radius": 0}, "nothing private is asked"),
        (Query.VECTOR_SUM, {"radius": -1}, "greater than 0"),
        (Query.VECTOR_SUM, {"radius": 1, "norm": Norm.L1}, "to_norm"),
        (Query.HISTOGRAM, {}, "Laplace"),
        (Query.HISTOGRAM, {"norm": "L1"}, "Norm.L1"),
        ("mean", {}, "Query"),
    ],
    ids=str,
)
def test_what_is_infinite_zero_or_unclear_is_refused_in_words(query, known, words):
    with pytest.raises(ParameterError, match=words):
        sensitivity(query, relation=CHANGED, **known)


@pytest.mark.parametrize("query", SIZED)
def test_under_add_remove_a_mean_without_a_public_least_size_is_refused_with_what_to_do_instead(query):
    with pytest.raises(MissingParameter, match=r"AtLeast\(m\).*CHANGE_ONE.*statistics\.mean"):
        sensitivity(query, relation=ADDED, bounds=(0, 1))
    with pytest.raises(ParameterError, match=r"AtLeast\(m\).*CHANGE_ONE.*statistics\.mean"):
        sensitivity(query, relation=ADDED, bounds=(0, 1), people=100)


@pytest.mark.parametrize("rows", [0, -1, 2.0, True, None])
def test_a_least_number_of_rows_is_a_whole_number(rows):
    with pytest.raises(ParameterError):
        AtLeast(rows)


def test_a_sample_variance_needs_two_rows_under_either_relation():
    with pytest.raises(ParameterError, match=r"AtLeast\(2\)"):
        sensitivity(Query.SAMPLE_VARIANCE, relation=ADDED, bounds=(0, 1), people=AtLeast(1))


@pytest.mark.parametrize("relation", [Relation.UNSTATED, None, "add/remove"])
def test_the_relation_is_stated(relation):
    with pytest.raises(ParameterError, match=r"ADD_REMOVE or Relation\.CHANGE_ONE"):
        sensitivity(Query.COUNT, relation=relation)
    with pytest.raises(ParameterError, match=r"ADD_REMOVE or Relation\.CHANGE_ONE"):
        Query.COUNT.formula(relation)


@RELATIONS
@pytest.mark.parametrize("query", list(Query))
def test_every_query_has_a_formula_in_one_line_and_a_description(query, relation):
    assert "\n" not in query.formula(relation)
    assert query.description
    assert repr(query) == f"Query.{query.name}"


def test_a_fact_reads_well_and_shows_itself_in_a_notebook():
    fact = explain_sensitivity(Query.MEAN, relation=ADDED, bounds=(0, 0.7), people=AtLeast(1_000_000))
    assert "tables of at least 1,000,000 rows, with and without the person" in " ".join(repr(fact).split())
    assert "1,000,000 rows of 0 and 1 row of 0.7" in " ".join(repr(fact).split())
    assert max(map(len, repr(fact).splitlines())) <= 100
    html = fact._repr_html_()
    assert html.startswith("<dl>")
    assert "&lt;= c" in html
    assert fact.sensitivity == Sensitivity(fact.value, norm=Norm.L1, relation=ADDED)
    assert len(fact.attained_by[1]) == 1_000_001


def test_a_result_goes_straight_into_a_mechanism():
    import discreet as dp

    count = sensitivity(Query.COUNT, relation=ADDED, rows=3)
    assert dp.Laplace(epsilon=1, sensitivity=count).noise.scale == 3
    score = sensitivity(Query.RANK_SCORE, relation=ADDED, level=HALF)
    assert dp.Exponential(epsilon=1, sensitivity=score).sensitivity.value == HALF

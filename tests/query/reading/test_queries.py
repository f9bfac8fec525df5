"""A query becomes rows, one aggregation and steps on its answer."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import MissingBound, ParameterError, UnknownName, UnsupportedSQL
from discreet.frames import Type
from discreet.query.expression.expression import Apply, Column, Literal, Operation
from discreet.query.plan.query_plan import MeasureKind
from discreet.query.plan.row_sources import FilterRows, JoinKind, Project, PublicJoin, Scan
from discreet.query.reading.query import read_query
from tests.query.sample_policy import POLICY


def read(sql, **rest):
    return read_query(sql, POLICY, **rest)


def asked(sql, **rest):
    return [(one.name, one.kind) for one in read(sql, **rest).aggregation.asked]


def bounds_of(sql, **rest):
    (one,) = read(sql, **rest).aggregation.asked
    return tuple(float(end) for end in one.bounds)


def test_keys_and_aggregates_in_order_need_no_further_step():
    query = read("SELECT region, COUNT(*), SUM(cost), AVG(age) FROM visits WHERE age > 30 GROUP BY region")
    assert query.finish == ()
    assert [key.name for key in query.aggregation.keys] == ["region"]
    assert [one.name for one in query.aggregation.asked] == ["count", "sum_cost", "avg_age"]
    assert isinstance(query.aggregation.source, FilterRows)
    assert query.aggregation.source.source == Scan("visits")
    assert query.aggregation.table == "visits"


def test_every_aggregate_is_understood_in_all_its_spellings():
    spellings = {
        MeasureKind.COUNT_ROWS: ("COUNT(*)", "COUNT()", "COUNT(1)", "COUNT('x')"),
        MeasureKind.COUNT_VALUES: (
            "COUNT(fee)",
            "COUNT(ALL fee)",
            "COUNT_IF(age > 3)",
            "COUNT(*) FILTER (WHERE age > 3)",
        ),
        MeasureKind.COUNT_UNITS: ("COUNT(DISTINCT patient)", "COUNT(DISTINCT (patient))", "COUNT(DISTINCT unit)"),
        MeasureKind.COUNT_DISTINCT: (
            "COUNT(DISTINCT ward)",
            "COUNT(DISTINCT patient + 1)",
            "COUNT(DISTINCT ward) FILTER (WHERE age > 3)",
        ),
        MeasureKind.SUM: ("SUM(cost)", "SUM(ALL cost)", "SUM(cost) FILTER (WHERE age > 3)"),
        MeasureKind.MEAN: ("AVG(cost)", "MEAN(cost)"),
        MeasureKind.VARIANCE: ("VARIANCE(cost)", "VAR_POP(cost)", "VAR_SAMP(cost)"),
        MeasureKind.DEVIATION: ("STDDEV(cost)", "STDDEV_POP(cost)", "STDDEV_SAMP(cost)"),
        MeasureKind.QUANTILE: (
            "MEDIAN(cost)",
            "QUANTILE(cost, 0.5)",
            "QUANTILE_CONT(cost, 0.5)",
            "APPROX_QUANTILE(cost, 0.5)",
            "PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY cost)",
        ),
        MeasureKind.CORRELATION: ("CORR(cost, age)", "corr(cost, age) FILTER (WHERE age > 3)"),
        MeasureKind.SLOPE: ("REGR_SLOPE(cost, age)", "REGR_SLOPE(CLAMP(fee, 0, 5), (age))"),
    }
    assert set(spellings) == set(MeasureKind)
    for kind, texts in spellings.items():
        for text in texts:
            assert [found for _, found in asked("SELECT @ FROM visits".replace("@", text))] == [kind], text


def test_levels_of_quantiles_are_exact_and_turn_around_with_desc():
    texts = ("MEDIAN(cost)", "QUANTILE(cost, 0.1)", "PERCENTILE_CONT(0.1) WITHIN GROUP (ORDER BY cost DESC)")
    listed = ", ".join(f"{text} AS q{place}" for place, text in enumerate(texts))
    query = read("SELECT @ FROM visits".replace("@", listed))
    assert [one.level for one in query.aggregation.asked] == [Fraction(1, 2), Fraction(1, 10), Fraction(9, 10)]


def test_the_unit_can_be_counted_by_its_name_where_no_column_holds_it():
    assert asked("SELECT COUNT(DISTINCT patient) FROM stays") == [("count_patient", MeasureKind.COUNT_UNITS)]
    assert asked("SELECT COUNT(DISTINCT patient) FROM notes") == [("count_patient", MeasureKind.COUNT_UNITS)]
    assert asked("SELECT COUNT(DISTINCT stay) FROM notes") == [("count_stay", MeasureKind.COUNT_DISTINCT)]
    named = asked("SELECT COUNT(DISTINCT unit) FROM log")  # there a column has that name
    assert named == [("count_unit", MeasureKind.COUNT_DISTINCT)]


def test_the_unit_stays_the_unit_in_subqueries():
    sql = "SELECT COUNT(DISTINCT who) FROM (SELECT patient AS who, age FROM visits WHERE age > 3) AS old"
    assert asked(sql) == [("count_who", MeasureKind.COUNT_UNITS)]
    with pytest.raises(UnsupportedSQL, match="one patient each"):
        read("SELECT who, COUNT(*) FROM (SELECT patient AS who FROM visits) GROUP BY who")


def test_an_aggregate_written_twice_is_asked_once():
    query = read(
        "SELECT COUNT(*) AS n, SUM(cost) / COUNT(*) AS mean, COUNT(*) AS again FROM visits HAVING COUNT(*) > 3"
    )
    assert [one.name for one in query.aggregation.asked] == ["n", "#2"]
    (step,) = query.finish
    assert [name for name, _ in step.columns] == ["n", "mean", "again"]
    assert step.columns[0][1] == step.columns[2][1] == Column(Type.REAL, None, "n")
    assert step.condition.arguments[0] == Column(Type.REAL, None, "n")


def test_helpers_are_invisible_and_named_with_a_sharp():
    query = read("SELECT region FROM visits GROUP BY region ORDER BY SUM(cost) DESC LIMIT 2")
    assert [one.name for one in query.aggregation.asked] == ["#1"]
    (step,) = query.finish
    assert [name for name, _ in step.columns] == ["region"]
    assert [(order.expression.name, order.descending) for order in step.order] == [("#1", True)]
    assert step.limit == 2


def test_a_filter_on_an_aggregate_keeps_the_range_of_its_argument():
    (one,) = read("SELECT SUM(cost) FILTER (WHERE age > 3) AS s FROM visits").aggregation.asked
    assert one.bounds == (0, 500)
    assert one.argument.operation is Operation.CASE
    assert one.argument.arguments[-1] == Literal(Type.REAL, None, None)


def test_aliases_ordinals_and_expressions_group_alike():
    texts = (
        "SELECT BIN(age, 10) AS decade, COUNT(*) FROM visits GROUP BY decade",
        "SELECT BIN(age, 10) AS decade, COUNT(*) FROM visits GROUP BY 1",
        "SELECT BIN(age, 10) AS decade, COUNT(*) FROM visits GROUP BY BIN(age, 10)",
        "SELECT BIN(age, 10) AS decade, COUNT(*) FROM visits GROUP BY (bin(AGE, 10)), 1",
    )
    assert len({read(text) for text in texts}) == 1


def test_a_column_goes_before_an_alias_in_group_by():
    query = read("SELECT age // 10 AS age, COUNT(*) FROM visits GROUP BY age")
    (key,) = query.aggregation.keys
    assert isinstance(key.expression, Column)
    (step,) = query.finish
    assert step.columns[0][1].operation is Operation.FLOOR_DIVIDE


def test_keys_come_in_the_order_of_the_answer_and_hidden_ones_last():
    query = read("SELECT region, COUNT(*) FROM visits GROUP BY ward, region")
    assert [key.name for key in query.aggregation.keys] == ["region", "#key1"]
    assert [key.label for key in query.aggregation.keys] == ["region", "ward"]  # what messages call them
    assert [name for name, _ in query.finish[0].columns] == ["region", "count"]


def test_names_follow_the_policy_and_aliases_the_query():
    query = read("SELECT REGION, aGe AS AgE, COUNT(*) AS N FROM VISITS GROUP BY 1, 2")
    assert [key.name for key in query.aggregation.keys] == ["region", "AgE"]
    assert [key.expression.name for key in query.aggregation.keys] == ["region", "Age"]
    assert query.aggregation.asked[0].name == "N"


def test_unnamed_aggregates_get_readable_names_without_repetition():
    sql = "SELECT COUNT(*), COUNT(fee), QUANTILE(cost, 0.1), QUANTILE(cost, 0.9), SUM(CLAMP(fee, 0, 1)), AVG(age + 1)"
    names = [name for name, _ in asked(f"{sql} FROM visits")]
    assert names == ["count", "count_fee", "quantile_cost", "quantile_cost_2", "sum_fee", "avg"]


def test_an_outer_select_works_on_the_answer():
    query = read(
        "WITH counts AS (SELECT region, COUNT(*) AS n FROM visits GROUP BY region HAVING COUNT(*) > 1), "
        "shares AS (SELECT c.region, c.n * 100 AS percent FROM counts AS c WHERE c.n > 5) "
        "SELECT * FROM shares ORDER BY percent DESC LIMIT 1"
    )
    assert [len(step.columns) for step in query.finish] == [2, 2, 2]
    assert [step.limit for step in query.finish] == [None, None, 1]
    assert [step.condition is not None for step in query.finish] == [True, True, False]


def test_an_outer_select_that_changes_nothing_is_no_step():
    inner = "SELECT region, COUNT(*) AS n FROM visits GROUP BY region"
    assert read("SELECT * FROM (@) AS x".replace("@", inner)) == read(inner)
    assert read("SELECT region, n FROM (@)".replace("@", inner)) == read(inner)


def test_an_earlier_name_can_be_used_later_in_the_same_select():
    (step,) = read("SELECT SUM(cost) AS s, s / 2 AS half FROM visits").finish
    assert step.columns[1][1].arguments[0] == Column(Type.REAL, None, "s")


def test_row_level_subqueries_become_projections_and_filters():
    query = read(
        "WITH a AS (SELECT patient, cost * 2 AS doubled, age FROM visits WHERE cost > 3) "
        "SELECT SUM(doubled) FROM (SELECT doubled FROM a WHERE age < 9) AS b WHERE doubled < 5"
    )
    steps = []
    rows = query.aggregation.source
    while not isinstance(rows, Scan):
        steps.append(type(rows))
        rows = rows.source
    assert steps == [FilterRows, Project, FilterRows, Project, FilterRows]
    assert query.aggregation.asked[0].bounds == (0, 1000)


def test_a_join_adds_the_columns_of_the_public_table():
    sql = "SELECT r.country, SUM(people) FROM visits AS v {} regions AS r ON v.code = r.code GROUP BY r.country"
    for word, kind in (("JOIN", JoinKind.INNER), ("INNER JOIN", JoinKind.INNER), ("LEFT OUTER JOIN", JoinKind.LEFT)):
        query = read(sql.format(word))
        joined = query.aggregation.source
        assert isinstance(joined, PublicJoin)
        assert joined.kind is kind
        assert joined.table == "regions"
        assert joined.keys == ((Column(Type.TEXT, None, "code"), "code"),)
        assert query.aggregation.keys[0].domain == ("A", "B")
        assert query.aggregation.asked[0].bounds == (0, 1000)


def test_a_join_is_the_same_with_sides_swapped_brackets_or_using():
    ends = ("ON v.code = r.code", "ON r.code = v.code", "ON ((r.code) = (v.code))", "USING (code)")
    plans = {read("SELECT COUNT(*) FROM visits v JOIN regions r @".replace("@", end)) for end in ends}
    assert len(plans) == 1


def test_a_key_of_several_columns_joins_on_all_of_them():
    sql = "SELECT SUM(price) FROM visits JOIN prices ON visits.ward = prices.ward AND visits.days = prices.days"
    assert len(read(sql).aggregation.source.keys) == 2
    with pytest.raises(UnsupportedSQL, match="more than once"):
        read("SELECT SUM(price) FROM visits JOIN prices ON visits.ward = prices.ward")


def test_one_public_table_can_be_joined_twice():
    sql = (
        "SELECT COUNT(*), SUM(b.people - a.people) AS more FROM visits "
        "JOIN regions AS a ON visits.code = a.code JOIN regions AS b ON visits.ward = b.code"
    )
    columns = [name for name, _, _ in read(sql).aggregation.source.columns]
    assert columns[0] == "regions'.code"
    assert bounds_of(sql.replace("COUNT(*), ", "")) == (-1000, 1000)


def test_a_joined_column_under_two_names_must_be_told_apart():
    with pytest.raises(UnsupportedSQL, match=r"visits\.code or regions\.code"):
        read("SELECT COUNT(*) FROM visits JOIN regions ON visits.code = regions.code WHERE code = 'a'")
    read("SELECT COUNT(*) FROM visits JOIN regions USING (code) WHERE code = 'a'")


def test_ranges_come_from_the_policy_through_expressions():
    assert bounds_of("SELECT SUM(cost) FROM visits") == (0, 500)
    assert bounds_of("SELECT SUM(2 * cost - age) FROM visits") == (-120, 1000)
    assert bounds_of("SELECT SUM(CASE WHEN emergency THEN 1 ELSE 0 END) FROM visits") == (0, 1)
    assert bounds_of("SELECT AVG(c) FROM (SELECT cost / 2 AS c FROM visits)") == (0, 250)
    assert bounds_of("SELECT SUM(CLAMP(fee, -1, 2)) FROM visits") == (-1, 2)


def test_ranges_come_from_the_call_by_column_or_by_name_in_the_answer():
    assert bounds_of("SELECT SUM(fee) FROM visits", bounds={"fee": (0, 9)}) == (0, 9)
    assert bounds_of("SELECT SUM(fee * 2) FROM visits", bounds={"FEE": (0, 9)}) == (0, 18)
    assert bounds_of("SELECT SUM(fee * 2) AS total FROM visits", bounds={"total": (0, 9)}) == (0, 9)
    assert bounds_of("SELECT SUM(fee) FROM visits", bounds={"sum_fee": (0, 9)}) == (0, 9)
    assert bounds_of("SELECT SUM(cost) FROM visits", bounds={"cost": (0, 9)}) == (0, 9)
    assert bounds_of("SELECT SUM(area) FROM visits JOIN regions USING (code)", bounds={"area": (0, 9)}) == (0, 9)
    assert bounds_of("SELECT SUM(cost * 2) AS cost FROM visits", bounds={"cost": (0, 9)}) == (0, 18)


def test_two_names_for_one_aggregate_can_have_two_ranges():
    sql = "SELECT SUM(fee) AS a, SUM(fee) AS b FROM visits HAVING SUM(fee) > 3"
    query = read(sql, bounds={"a": (0, 1), "b": (0, 2)})
    assert [(one.name, one.bounds) for one in query.aggregation.asked] == [("a", (0, 1)), ("b", (0, 2))]
    (step,) = query.finish
    assert [one.name for _, one in step.columns] == ["a", "b"]
    assert step.condition.arguments[0].name == "a"


def test_a_range_for_nothing_in_the_query_is_refused():
    with pytest.raises(UnknownName, match="cots"):
        read("SELECT SUM(cost) FROM visits", bounds={"cots": (0, 9)})
    with pytest.raises(UnknownName, match="ward"):
        read("SELECT region, COUNT(*) FROM visits GROUP BY region", keys={"ward": ["a"]})


@pytest.mark.parametrize("pair", [(9, 0), (0, 0), (0,), None, ("a", "b"), (0, float("nan")), (0, float("inf")), 5])
def test_a_range_that_is_none_is_a_bad_parameter(pair):
    with pytest.raises(ParameterError):
        read("SELECT SUM(fee) FROM visits", bounds={"fee": pair})


def test_a_range_without_room_or_too_wide_is_refused():
    with pytest.raises(MissingBound, match="nothing to learn"):
        read("SELECT SUM(2) FROM visits")
    with pytest.raises(MissingBound, match="too wide"):
        read("SELECT SUM(CLAMP(fee, -1.7e308, 1.7e308)) FROM visits")


def test_released_aggregates_are_real_numbers_and_keys_keep_their_type():
    (step,) = read("SELECT COUNT(*) + 1 AS n, region || '!' AS r FROM visits GROUP BY region").finish
    assert [(name, one.type) for name, one in step.columns] == [("n", Type.REAL), ("r", Type.TEXT)]
    assert all(isinstance(one, Apply) for _, one in step.columns)


def test_nothing_above_the_aggregation_reads_a_row_and_nothing_below_an_answer():
    query = read(
        "SELECT region, 100 * AVG(cost) / SUM(cost) AS x FROM visits WHERE age > 3 GROUP BY region "
        "HAVING COUNT(*) > 3 ORDER BY MEDIAN(age)"
    )
    released = {key.name for key in query.aggregation.keys} | {one.name for one in query.aggregation.asked}
    (step,) = query.finish
    used = [one for _, one in step.columns] + [step.condition] + [order.expression for order in step.order]
    assert {column.name for one in used for column in one.columns()} <= released
    below = [key.expression for key in query.aggregation.keys] + [one.argument for one in query.aggregation.asked]
    assert {column.name for one in below if one is not None for column in one.columns()} == {"region", "cost", "Age"}


@pytest.mark.parametrize("given", [5, [("fee", (0, 1))], {3: (0, 1)}, "fee"])
def test_ranges_and_keys_of_the_call_go_by_name(given):
    for name in ("bounds", "keys"):
        with pytest.raises(ParameterError, match=f"{name}= pairs names"):
            read("SELECT SUM(fee) FROM visits", **{name: given})


@pytest.mark.parametrize("name", ["bounds", "sums"])
@pytest.mark.parametrize("pair", [None, 5, (5, 0), (0, float("inf")), (0, 1, 2), ("0", "x"), {"low": 0}])
def test_a_range_that_is_none_is_refused_by_its_name_on_one_line(name, pair):
    with pytest.raises(
        ParameterError, match=rf"^{name}= for 'fee .31m x+\.\.\.' must be a pair .*Nothing was spent\.$"
    ):
        read("SELECT SUM(fee) FROM visits", **{name: {"fee\x1b[31m\n" + "x" * 10_000: pair}})


def test_keys_that_are_refused_say_that_nothing_was_spent():
    for values in ([], ["a", "a"], [None], "a", [...], [3.5]):
        with pytest.raises(ParameterError, match=r"^keys= .*Nothing was spent\.$"):
            read("SELECT ward, COUNT(*) FROM visits GROUP BY ward", keys={"ward": values})


@pytest.mark.parametrize("asked", ["SUM(fee)", "AVG(fee)", "MEDIAN(fee)", "STDDEV(fee)", "CORR(fee, cost)"])
def test_ranges_beyond_what_floats_can_square_are_refused(asked):
    for ends in ((0, 1e155), (-1e308, 1e308), (1e200, 1e201)):
        with pytest.raises(MissingBound, match="too wide"):
            read("SELECT @ FROM visits".replace("@", asked), bounds={"fee": ends})
    read("SELECT @ FROM visits".replace("@", asked), bounds={"fee": (0, 1e149)})


@pytest.mark.parametrize(
    ("frame", "sides"),
    [("ROWS BETWEEN 2 PRECEDING AND 1 FOLLOWING", (-2, 1)), ("RANGE UNBOUNDED PRECEDING", None)],
)
def test_the_frame_of_a_window_means_the_same_in_any_capitals(frame, sides):
    spelled = [frame, frame.lower(), frame.title(), frame.replace("PRECEDING", "preceding"), frame.swapcase().title()]
    for one in spelled:
        query = read("SELECT SUM(COUNT(*)) OVER (ORDER BY region @) AS n FROM visits GROUP BY region".replace("@", one))
        assert query.finish[0].windows[0][1].frame == sides


def test_a_select_of_very_many_items_is_refused():
    listed = ", ".join(f"COUNT(*) AS n{place}" for place in range(501))
    for sql in ("SELECT @ FROM visits", "SELECT COUNT(*) FROM (SELECT @ FROM visits)"):
        with pytest.raises(UnsupportedSQL, match="at most 500 items"):
            read(sql.replace("@", listed))


def test_ranges_of_long_computations_keep_few_digits():
    sql = "SELECT (cost + 1) / 501.5 AS x FROM visits"
    for _ in range(12):
        sql = "SELECT x * x AS x FROM (@) AS y".replace("@", sql)
    (one,) = read("SELECT SUM(x) AS s FROM (@) AS z".replace("@", sql)).aggregation.asked
    assert all(end.denominator.bit_length() < 2500 for end in one.bounds)
    exact = Fraction(501) / Fraction(501.5)
    for _ in range(12):
        exact *= exact
    assert exact <= one.bounds[1] <= exact * (1 + Fraction(1, 10**12))


def test_very_many_keys_are_refused():
    listed = ", ".join(f"age + {place}" for place in range(31))
    with pytest.raises(UnsupportedSQL, match="at most 30 keys"):
        read("SELECT COUNT(*) FROM visits GROUP BY @".replace("@", listed))

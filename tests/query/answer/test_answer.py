"""Answers: values, intervals, frames, plots and certificates of one release."""

from __future__ import annotations

import html
import json
import re
from datetime import date, datetime, timedelta
from fractions import Fraction

import pandas as pd
import pytest

from discreet.errors import ParameterError
from discreet.privacy import ZCDP, ApproxDP, Relation
from discreet.privacy.guarantees.wording import with_notion
from discreet.query import Session

DAY = date(2026, 1, 1)


def frame(count=840):
    return pd.DataFrame(
        {
            "p": range(count),
            "region": ["north", "south", "west"] * (count // 3),
            "ward": [None, "a", "b", "c"] * (count // 4),
            "day": [DAY + timedelta(days=row % 7) for row in range(count)],
            "at": [datetime(2026, 1, 1, row % 2) for row in range(count)],
            "cost": [float(row % 41) for row in range(count)],
            "age": [row % 5 for row in range(count)],
        }
    )


@pytest.fixture(scope="module")
def session():
    columns = {
        "region": {"values": ["north", "south", "west"]},
        "cost": {"min": 0, "max": 40},
        "age": {"min": 0, "max": 4, "public": True},
        "day": {"type": "date", "min": DAY, "max": DAY + timedelta(days=6), "public": True},
    }
    with Session.from_frames(
        visits=frame(), unit="p", rows=1, groups=1, rows_per_group=1, budget=ApproxDP(1000, 0.1), columns=columns
    ) as opened:
        yield opened


@pytest.fixture(scope="module")
def answer(session):
    return session.sql(
        "SELECT region, COUNT(*) AS n, AVG(cost) AS m, MEDIAN(cost) AS q, COUNT(*) / 2 AS half FROM visits "
        "GROUP BY region",
        epsilon=9,
    )


def test_an_answer_knows_its_columns_rows_and_which_of_them_have_intervals(answer):
    assert answer.columns == ("region", "n", "m", "q", "half")
    assert answer.measured == ("n", "m", "q")
    assert len(answer) == 3
    assert answer["region"] == ["north", "south", "west"]
    assert [one["n"] for one in answer] == answer["n"]
    assert [half * 2 for half in answer["half"]] == pytest.approx(answer["n"])
    assert answer.relation is Relation.ADD_REMOVE
    assert answer.cost.epsilon(0).upper == pytest.approx(9)
    with pytest.raises(ParameterError, match="no column"):
        answer["nothing"]
    with pytest.raises(ParameterError, match="one row"):
        _ = answer.value
    with pytest.raises(ParameterError, match="one row"):
        _ = answer.low
    with pytest.raises(ParameterError, match="no interval"):
        answer.estimates("region")
    assert answer.derived == ("half",)
    for half, whole in zip(answer.estimates("half"), answer.estimates("n"), strict=True):
        assert (2 * half.low, 2 * half.high) == pytest.approx((whole.low, whole.high))


def test_estimates_carry_value_interval_confidence_and_guarantee(answer):
    for name in answer.measured:
        for value, one in zip(answer[name], answer.estimates(name, 0.9), strict=True):
            assert one.value == value
            assert one.low <= value <= one.high
            assert one.confidence == 0.9
            assert one.guarantee == answer.guarantee
    for bad in (0, 1, 1.5, float("nan"), "0.9"):
        with pytest.raises(ParameterError):
            answer.estimates("n", bad)


def test_intervals_that_hold_together_are_wider_by_the_union_bound(answer):
    alone, together = answer.intervals(0.9), answer.intervals(0.9, together=True)
    assert list(alone.columns) == list(together.columns)
    assert "hold together" in together.caption
    low, high = list(alone.columns).index("n_low"), list(alone.columns).index("n_high")
    index, inner = answer.priced.places[answer._source("n")]
    measure, part = answer.priced.measures[index], answer.priced.parts[index]
    each = measure.estimates(answer.released.released[index], part, 1 - 0.1 / 12)[inner]
    for one, two, (_, lowest, highest) in zip(alone.rows, together.rows, each, strict=True):
        assert two[low] < one[low] < one[high] < two[high]
        assert (two[low], two[high]) == pytest.approx((lowest, highest), rel=1e-12)


def test_rows_that_were_chosen_by_their_noise_are_widened_for_all_that_they_were_chosen_from(session):
    every = session.sql("SELECT day, COUNT(*) AS n FROM visits GROUP BY day", epsilon=7)
    best = session.sql("SELECT day, COUNT(*) AS n FROM visits GROUP BY day ORDER BY n DESC LIMIT 1", epsilon=7)
    assert len(best) == 1
    widths = [
        table.rows[0][3] - table.rows[0][2] for table in (every.intervals(together=True), best.intervals(together=True))
    ]
    assert widths[0] == pytest.approx(widths[1], rel=1e-9)


def test_frames_of_three_kinds_hold_the_same_table(answer):
    plain = answer.to_dict()
    assert list(plain) == [
        "region", "n", "n_low", "n_high", "m", "m_low", "m_high", "q", "q_low", "q_high", "half",
        "half_low", "half_high",
    ]  # fmt: skip
    assert answer.to_pandas().to_dict("list") == plain
    assert answer.to_polars().to_dict(as_series=False) == plain
    assert answer.to_arrow().to_pydict() == plain


def test_columns_that_are_named_like_the_ends_of_intervals_are_kept(session):
    clash = session.sql("SELECT COUNT(*) AS n, COUNT(*) * 2 AS n_low, SUM(cost) AS n_high FROM visits", epsilon=3)
    plain = clash.to_dict()
    assert len(plain) == 3 + 2 * 3
    assert plain["n_low"] == clash["n_low"]
    assert plain["n_high"] == clash["n_high"]
    assert plain["n_low_"][0] < plain["n"][0] < plain["n_high_"][0]
    assert plain["n_high_low"][0] < plain["n_high"][0] < plain["n_high_high"][0]
    assert clash.to_polars().shape == (1, 9)


def test_an_answer_of_one_row_and_one_aggregate_has_a_value(session):
    one = session.sql("SELECT COUNT(*) AS n FROM visits", epsilon=3)
    assert one.value == one["n"][0]
    (estimate,) = one.estimates("n", one.confidence)
    assert (one.low, one.high, one.confidence) == (estimate.low, estimate.high, 0.95)
    assert abs(one.value - 840) < 100
    assert one.plot().svg()
    assert one.noise["n"] == pytest.approx(2**0.5 / 3, rel=1e-3)


def test_private_keys_of_every_type_and_null_are_shown(session):
    asked = {
        "ward": ("SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward", {None, "a", "b", "c"}),
        "at": ("SELECT at, COUNT(*) AS n FROM visits GROUP BY at", {datetime(2026, 1, 1, hour) for hour in (0, 1)}),
    }
    for key, (sql, expected) in asked.items():
        found = session.sql(sql, epsilon=9, delta=1e-6)
        assert set(found[key]) == expected
        assert len(found) == len(expected)
        for form in (found.to_pandas(), found.to_polars(), found.to_arrow()):
            assert len(form) == len(expected)
        assert json.loads(found.certificate().to_json())["answer"]
        assert found.plot("n").svg()


@pytest.mark.parametrize("key", ["ward", "at", "day", "age", "region"])
def test_every_aggregate_of_a_group_is_about_the_same_group_whatever_the_type_of_its_key(key):
    count = 6000
    rows = pd.DataFrame(
        {
            "p": range(count),
            "cost": [float(10 * (row % 3) + row // 3 % 2) for row in range(count)],
            "ward": [[None, "a", "b"][row % 3] for row in range(count)],
            "at": [datetime(2026, 1, 1, row % 3) for row in range(count)],
            "day": [DAY + timedelta(days=row % 3) for row in range(count)],
            "age": [row % 3 for row in range(count)],
            "region": [["", "south", "south\n"][row % 3] for row in range(count)],
        }
    )
    declared = {"cost": {"min": 0, "max": 40}, "age": {"type": "integer"}, "day": {"type": "date"}}
    with Session.from_frames(t=rows, unit="p", rows=1, groups=1, budget=ApproxDP(50, 0.1), columns=declared) as session:
        sql = "SELECT key, MEDIAN(cost) AS q, AVG(cost) AS m, COUNT(*) AS n FROM t GROUP BY key".replace("key", key)
        found = session.sql(sql, epsilon=15, delta=1e-6)
    first = dict(zip(rows[key][:3].astype(object).where(rows[key][:3].notna(), None), (0, 10, 20), strict=True))
    lowest = {value.to_pydatetime() if hasattr(value, "to_pydatetime") else value: low for value, low in first.items()}
    assert set(found[key]) == set(lowest)
    for value, middle, mean, size in found.rows:
        assert lowest[value] - 0.01 <= middle <= lowest[value] + 1.01
        assert abs(mean - lowest[value] - 0.5) < 1
        assert abs(size - 2000) < 100


def test_an_answer_in_which_no_key_was_named_is_an_answer(session):
    nothing = session.sql(
        "SELECT ward, COUNT(*) AS n, AVG(cost) AS m FROM visits WHERE cost > 1000 GROUP BY ward", epsilon=1, delta=1e-9
    )
    assert len(nothing) == 0
    assert nothing.to_dict() == {name: [] for name in ("ward", "n", "n_low", "n_high", "m", "m_low", "m_high")}
    for form in (nothing.to_pandas(), nothing.to_polars(), nothing.to_arrow()):
        assert len(form) == 0
    assert nothing.plot().svg()
    assert nothing.certificate().to_html()
    assert "ward" in str(nothing)
    assert len(nothing.intervals(together=True)) == 0
    again = session.sql(
        "SELECT ward, COUNT(*) AS n, AVG(cost) AS m FROM visits WHERE cost > 1000 GROUP BY ward", epsilon=1, delta=1e-9
    )
    assert again.record.replayed
    assert again.rows == []


def test_date_keys_come_back_as_dates_and_are_drawn_as_a_line(session, answer):
    days = session.sql("SELECT day, COUNT(*) AS n, MEDIAN(cost) AS q FROM visits GROUP BY day", epsilon=9)
    assert days["day"] == [DAY + timedelta(days=one) for one in range(7)]
    assert all(abs(value - 120) < 100 for value in days["n"])
    assert len(days.plot().figure.axes[0].containers) == 1
    assert days.plot().figure.axes[0].get_xlabel() == "day"
    assert len(answer.plot().figure.axes[0].patches) == 3
    assert answer.plot("m").figure.axes[0].get_xlabel() == "m"
    assert not any(text.get_parse_math() for text in answer.plot().figure.axes[0].get_yticklabels())
    assert answer.plot("half").figure.axes[0].get_xlabel() == "half"
    with pytest.raises(ParameterError, match="not an aggregate"):
        answer.plot("region")


def test_numbers_that_are_keys_are_shown_without_commas(session, tmp_path):
    found = session.sql("SELECT age + 2020 AS year, COUNT(*) AS n FROM visits GROUP BY year", epsilon=9)
    assert found.keys == ("year",)
    assert "\n2020 " in str(found.table())
    assert "2,020" not in str(found)
    page = found.certificate().save(tmp_path / "years.html").read_text(encoding="utf-8")
    assert ">2020<" in page
    assert "2,020" not in page
    cells = [one.strip() for one in re.findall(r'<td class="number">([^<]*)', page)]  # padded to align their points
    for row in found.table().rows:  # rounded to the noise for people, all digits for machines
        assert f"{row[1]:,g}" in cells
    assert found.certificate().fields["answer"]["n"] == found["n"]


def test_months_of_times_are_shown_as_days_and_other_times_in_full(session):
    sql = "SELECT DATE_TRUNC('@', at) AS t, COUNT(*) AS n FROM visits GROUP BY t"
    midnight, one_o_clock = datetime(2026, 1, 1), datetime(2026, 1, 1, 1)
    whole = ["2026-01-01 00:00:00", "2026-01-01 01:00:00"]
    for unit, given, shown in (("day", [midnight], ["2026-01-01"]), ("hour", [midnight, one_o_clock], whole)):
        found = session.sql(sql.replace("@", unit), epsilon=9, keys={"t": given})
        assert found["t"] == given
        assert [row[0] for row in found.table().rows] == shown


def test_a_certificate_names_every_range_and_writes_ends_like_values(session):
    narrow = "SELECT COUNT(*) * 1000 AS n, CORR(age, cost) AS r, SUM(cost) FILTER (WHERE age = 1) AS s FROM visits"
    found = session.sql(narrow, epsilon=9).certificate()
    assert found.fields["ranges"] == "age from 0 to 4; cost from 0 to 40"
    each = "SELECT COUNT(*) AS n FROM (SELECT p, SUM(cost) AS c FROM visits GROUP BY p) WHERE c > 3"
    assert session.sql(each, epsilon=9).certificate().fields["ranges"] == "cost from 0 to 40"
    cells = re.findall(r'<td class="number">([^<]*)', found.to_html())
    assert len([one for one in cells if re.fullmatch(r"8\d\d,\d{3}", one.strip())]) == 3


def test_a_row_without_a_value_is_left_out_of_the_plot_and_is_no_estimate(session):
    sql = "SELECT age, n - LAG(n) OVER (ORDER BY age) AS more FROM (SELECT age, COUNT(*) AS n FROM visits GROUP BY age)"
    found = session.sql(sql, epsilon=9)
    assert found["more"][0] is None
    assert found.plot("more").svg()
    assert "where an end is empty there is no interval" in str(found.table())
    with pytest.raises(ParameterError, match="is NULL in some rows"):
        found.estimates("more")


def test_totals_are_drawn_as_totals(session):
    found = session.sql("SELECT region, COUNT(*) AS n FROM visits GROUP BY ROLLUP (region)", epsilon=9)
    labels = [text.get_text() for text in found.plot().figure.axes[0].get_yticklabels()]
    assert labels == ["north", "south", "west", "all"]


def test_the_parts_of_a_union_are_told_apart_in_the_plot(session):
    sql = "SELECT 'all' AS what, COUNT(*) AS n FROM visits UNION ALL SELECT 'old', COUNT(*) FROM visits WHERE age > 3"
    found = session.sql(sql, epsilon=9)
    assert found.keys == ("what",)
    assert [text.get_text() for text in found.plot().figure.axes[0].get_yticklabels()] == ["all", "old"]


def test_an_answer_without_aggregates_has_nothing_to_draw(session):
    derived = session.sql("SELECT region, RANK() OVER (ORDER BY COUNT(*)) AS r FROM visits GROUP BY region", epsilon=1)
    assert derived.measured == derived.derived == ()
    with pytest.raises(ParameterError, match="nothing to draw"):
        derived.plot()


def test_what_is_shown_names_the_guarantee_the_unit_the_neighbors_and_the_record(answer):
    for text in (str(answer), html.unescape(answer._repr_html_())):
        for words in ("epsilon 9", "person", answer.relation.sentence, answer.record.entry_hash[:16]):
            assert words in text
    assert answer.noise["m"] is None


def test_long_answers_are_cut_where_people_look_but_not_where_machines_do(session):
    long = session.sql("SELECT age, day, region, COUNT(*) AS n FROM visits GROUP BY age, day, region", epsilon=1)
    assert len(long) == 105
    assert len(long.table().rows) == 60
    assert "45 more rows" in long.table().caption
    assert len(long.to_dict()["n"]) == 105
    assert "first 60 of 105" in long.plot().figure.get_suptitle()


def test_a_certificate_states_the_release_and_what_it_does_not_guarantee(answer, tmp_path):
    certificate = answer.certificate()
    fields = json.loads(certificate.to_json())
    assert fields["guarantee"] == with_notion(answer.guarantee)
    assert fields["record"] == answer.record.number
    assert fields["entry"] == answer.record.entry_hash
    assert fields["digest"] == answer.priced.digest
    assert fields["answer"]["n"] == answer["n"]
    assert len(fields["mechanisms"]) == 3
    assert any("how long" in words for words in fields["caveats"])
    page = certificate.save(tmp_path / "release.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>") or page.startswith("<!DOCTYPE html>")
    for words in (fields["digest"], "What is not guaranteed", "north"):
        assert words in page
    assert "http:" not in page.replace("http://www.w3.org", "")
    assert "https:" not in page
    assert json.loads(certificate.save(tmp_path / "release.json").read_text(encoding="utf-8")) == fields
    with pytest.raises(ParameterError, match=r"\.html or \.json"):
        certificate.save(tmp_path / "release.pdf")
    assert "guarantee" in certificate._repr_html_()


def test_markup_in_keys_and_queries_is_shown_as_text(session):
    shown = session.sql("SELECT '<script>alert(1)</script>' AS label, COUNT(*) AS n FROM visits", epsilon=1)
    for text in (shown._repr_html_(), shown.certificate().to_html(), shown.plot().svg()):
        assert "<script>alert" not in text


def test_gaussian_answers_say_so():
    with Session.from_frames(visits=frame(84), unit="row", budget=ZCDP(2)) as session:
        answer = session.sql("SELECT COUNT(*) AS n FROM visits", rho=0.5)
        assert answer.noise["n"] == pytest.approx(1.0)
        assert "Gaussian" in answer.certificate().to_json()
        assert Fraction(answer.guarantee.rho) == Fraction(1, 2)

"""What is handed over enters once, is about one table's people, or is refused by what differs."""

from __future__ import annotations

import time
from dataclasses import replace

import pandas as pd
import pytest

import discreet as dp
from discreet.bayes import noisy_counts
from discreet.bayes.evidence import distinct_measurements
from discreet.errors import InputError
from discreet.laws import DiscreteLaplace
from discreet.query import Session
from discreet.statistics import Count

LAW = DiscreteLaplace(2)


def session(**more):
    frame = pd.DataFrame({"g": ["a", "b"] * 50, "x": [1.0, 2.0] * 50})
    given = {"unit": "row", "budget": dp.PureDP(90), "lineage": "trial", "t": frame}
    return Session.from_frames(**{**given, "columns": {"g": {"values": ["a", "b"]}, "x": (0, 5)}, **more})


COUNTS = "SELECT g, COUNT(*) AS n FROM t GROUP BY g"


def test_a_replay_and_a_repeated_answer_enter_once():
    asked = session()
    one, replayed, limited = (asked.sql(sql, epsilon=1) for sql in (COUNTS, COUNTS, f"{COUNTS} LIMIT 1"))
    assert distinct_measurements([one, replayed, limited, *one.measurements]) == one.measurements


def test_two_prices_are_two_measurements():
    asked = session()
    found = distinct_measurements([asked.sql(COUNTS, epsilon=price) for price in (1, 2)])
    assert len(found) == 2
    assert found[0].plan.noise != found[1].plan.noise


def test_an_answer_a_measurement_a_tuple_and_lists_of_lists_are_read_alike():
    answer = session().sql(COUNTS, epsilon=1)
    (measured,) = answer.measurements
    for given in (answer, measured, (measured,), [answer], [[answer], [measured]]):
        assert distinct_measurements(given) == (measured,)


def test_groups_of_one_release_that_come_apart_are_put_together():
    (whole,) = session().sql(COUNTS, epsilon=1).measurements
    (found,) = distinct_measurements([whole.of_groups([1]), whole.of_groups([0])])
    assert dict(zip(found.plan.keys, found.released[0], strict=True)) == dict(
        zip(whole.plan.keys, whole.released[0], strict=True)
    )
    assert distinct_measurements([whole, whole.of_groups([1])]) == (whole,)


def test_other_people_are_refused_by_the_name_of_their_data():
    one, other = session().sql(COUNTS, epsilon=1), session(lineage="registry").sql(COUNTS, epsilon=1)
    with pytest.raises(InputError, match=r"got the data 'trial' and 'registry'.*give the answers of one"):
        distinct_measurements([one, other])


def test_another_version_of_the_data_is_refused_by_its_name():
    one, other = session().sql(COUNTS, epsilon=1), session(version="2").sql(COUNTS, epsilon=1)
    with pytest.raises(InputError, match=r"got the versions '1' and '2' of 'trial'"):
        distinct_measurements([one, other])


def test_frames_without_a_name_are_never_taken_for_each_other():
    one, other = (session(lineage=None).sql(COUNTS, epsilon=1) for _ in range(2))
    with pytest.raises(InputError, match="may or may not be the same"):
        distinct_measurements([one, other])


def test_rehearsals_are_read_alone_and_never_beside_real_answers():
    asked = session()
    real, made_up = asked.sql(COUNTS, epsilon=1), asked.rehearse(COUNTS, epsilon=1)
    assert distinct_measurements(made_up)[0].rehearsed
    with pytest.raises(InputError, match="must not mix rehearsals"):
        distinct_measurements([real, made_up])


def test_two_rehearsals_are_about_two_made_up_tables():
    asked = session()
    with pytest.raises(InputError, match="may or may not be the same"):
        distinct_measurements([asked.rehearse(COUNTS, epsilon=1), asked.rehearse(COUNTS, epsilon=2)])


@pytest.mark.parametrize(
    ("released", "message"),
    [
        (lambda asked: asked.sql("SELECT MEDIAN(x) FROM t", epsilon=1), r"quantiles.*.*ask COUNT\(\*\)"),
        (
            lambda asked: asked.sql("SELECT CORR(x, x) FROM t", epsilon=1),
            r"got an answer without any.*correlations.*ask COUNT\(\*\)",
        ),
        (lambda asked: asked.top("SELECT g, COUNT(*) FROM t GROUP BY g", k=1, epsilon=1), r"session\.top"),
        (lambda asked: asked.watch(10, epsilon=1), r"session\.watch"),
        (lambda _: Count(relation=dp.Relation.ADD_REMOVE, epsilon=1)([1, 2]), r"got Estimate.*statistic\.measurements"),
        (lambda _: 412, "got int, write the answer"),
        (lambda _: {"yes": 412}, r"got dict.*noisy_counts"),
        (lambda _: [], "at least one measurement; got none"),
        (lambda _: "SELECT", "got str"),
    ],
)
def test_what_has_no_noisy_sum_is_refused_by_its_name(released, message):
    given = released(session())
    with pytest.raises(InputError, match=message):
        distinct_measurements(given)


def test_counts_by_hand_of_unnamed_data_are_not_read_together():
    one, two = noisy_counts(41, noise=LAW), noisy_counts({"a": 3}, noise=LAW)
    with pytest.raises(InputError, match='name their data, table="'):
        distinct_measurements([one, two])
    with pytest.raises(InputError, match='name their data, table="'):
        distinct_measurements([one, noisy_counts({"a": 3}, noise=LAW, table="survey")])


def test_one_release_by_hand_enters_once_and_two_equal_ones_need_names():
    once = noisy_counts(41, noise=LAW, table="survey")
    assert distinct_measurements([once, once]) == (once,)
    with pytest.raises(InputError, match=r"one release must not count twice.*release="):
        distinct_measurements([once, noisy_counts(41, noise=LAW, table="survey")])
    named = [noisy_counts(41, noise=LAW, table="survey", release=name) for name in ("first", "second", "first")]
    assert len(distinct_measurements(named)) == 2


def test_one_name_for_two_different_releases_is_refused():
    named = [noisy_counts(count, noise=LAW, table="survey", release="first") for count in (41, 42)]
    with pytest.raises(InputError, match="hold other integers"):
        distinct_measurements(named)


@pytest.mark.parametrize(
    ("other", "what"),
    [
        ({"noise": DiscreteLaplace(200)}, "noise"),
        ({"table": "census"}, "data"),
        ({"where": "age > 17"}, "data"),
        ({"key": "ward"}, "keys"),
    ],
)
@pytest.mark.parametrize("groups", [{"a": 41}, {"b": 12}])
def test_one_name_for_releases_that_differ_in_more_than_their_groups_is_refused(other, what, groups):
    first = noisy_counts({"a": 41}, noise=LAW, table="survey", release="first")
    second = noisy_counts(groups, **{"noise": LAW, "table": "survey", **other}, release="first")
    with pytest.raises(InputError, match=f"hold other {what}"):
        distinct_measurements([first, second])


def test_groups_of_one_release_may_come_in_parts():
    parts = [noisy_counts({label: 7}, noise=LAW, table="survey", release="first") for label in "ab"]
    (whole,) = distinct_measurements(parts)
    assert (whole.plan.keys, whole.released) == ((("a",), ("b",)), ((7, 7),))


def test_a_replay_with_its_keys_in_another_order_is_the_release_that_it_repeats():
    asked = session(columns={"g": {"values": ["a", "b"]}, "x": {"values": [1, 2]}})
    one = asked.sql("SELECT g, x, COUNT(*) AS n FROM t GROUP BY g, x", epsilon=1)
    other = asked.sql("SELECT x, g, COUNT(*) AS n FROM t GROUP BY x, g", epsilon=1)
    assert other.record.replayed
    assert distinct_measurements([one, other]) == one.measurements


def test_a_long_list_is_read_in_a_moment():
    one = noisy_counts({place: place for place in range(50)}, noise=LAW, table="survey")
    many = [replace(one, identity=("a", "b", "c", place % 4000)) for place in range(20_000)]
    start = time.process_time()
    assert len(distinct_measurements(many)) == 4000
    assert time.process_time() - start < 10

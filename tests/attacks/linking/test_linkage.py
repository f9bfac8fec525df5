"""A join on a few facts names patients, theory knows from the two tables how often it errs, and cells are exact."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.attacks import MatchRule, expected_uniques, expected_wrong, link, uniques
from discreet.attacks.asking.cell_numbers import cells, coded
from discreet.data import register
from discreet.data.invented_city import QUASI_IDENTIFIERS
from discreet.errors import InputError, ParameterError

CITY = register(people=100_000, seed=2)
TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)


@given(
    rows=st.lists(
        st.tuples(st.integers(-3, 3), st.sampled_from(["", "a", "b", "ab", "abcdefgh", "abcdefghi", "é"])), min_size=1
    )
)
def test_rows_have_one_code_exactly_if_they_agree(rows):
    table = {"number": [row[0] for row in rows], "text": [row[1] for row in rows]}
    codes = cells([table], ["number", "text"]).tolist()
    for (one, left), (two, right) in product(zip(rows, codes, strict=True), repeat=2):
        assert (left == right) == (one == two)
    assert sorted(set(codes)) == list(range(len(set(rows))))


@given(first=st.lists(TEXTS, min_size=1, max_size=20), second=st.lists(TEXTS, min_size=1, max_size=20))
def test_texts_of_two_tables_agree_whatever_letters_they_have(first, second):
    codes = coded([{"text": first}, {"text": second}], "text").tolist()
    # numpy's own texts know no difference at the end of a text between nothing and the letter zero
    assert [codes.index(code) for code in codes] == [(first + second).index(text) for text in first + second]


def test_zeros_of_both_signs_agree_and_large_numbers_do_not():
    assert coded([{"x": [0.0, -0.0, 1.5]}], "x").tolist() == [0, 0, 1]
    assert len(set(coded([{"x": [2**62, 2**62 + 1, -(2**62)]}], "x").tolist())) == 3


@pytest.mark.parametrize(
    "table",
    [
        {"x": [1.0, np.nan]},
        {"x": np.array(["2020-01-01", "NaT"], dtype="datetime64[D]")},
        {"x": [[1, 2]]},
        {"x": np.array([None, 1], dtype=object)},
        {"x": []},
    ],
    ids=["nan", "no date", "two axes", "objects", "empty"],
)
def test_columns_that_cannot_be_compared_are_refused(table):
    with pytest.raises(InputError):
        uniques(table, ["x"])


def test_a_column_of_two_kinds_an_unknown_one_and_none_are_refused():
    with pytest.raises(InputError, match="one kind"):
        link({"x": [1]}, {"x": ["1"]}, on=["x"])
    with pytest.raises(InputError, match="not compared exactly"):
        link({"x": [2**60]}, {"x": [1.0]}, on=["x"])
    with pytest.raises(ParameterError, match="the columns are x"):
        uniques({"x": [1]}, ["y"])
    for names in ([], ["x", "x"]):
        with pytest.raises(ParameterError, match="at least one column"):
            uniques({"x": [1]}, names)


@pytest.mark.theorem("uniques.accuracy")
@given(rows=st.lists(st.tuples(st.integers(0, 2), st.integers(0, 1)), min_size=1, max_size=40))
def test_uniques_are_counted_and_theory_is_its_formula(rows):
    found = uniques({"a": [row[0] for row in rows], "b": [row[1] for row in rows]}, ["a", "b"])
    count = len(rows)
    for place, kept in enumerate(([row[:1] for row in rows], rows)):
        sizes = [kept.count(row) for row in set(kept)]
        assert found.frequencies[place] == pytest.approx(sizes.count(1) / count)
        assert (found.least[place], found.groups[place]) == (min(sizes), len(sizes))
        others = max(count - 1, 1)
        chances = [
            np.prod([([other[axis] for other in rows].count(row[axis]) - 1) / others for axis in range(place + 1)])
            for row in rows
        ]
        expected = np.mean([(1 - chance) ** (count - 1) for chance in chances])
        assert found.expected[place] == pytest.approx(expected, abs=1e-12)
    assert sorted(found.sizes.tolist()) == sorted(rows.count(row) for row in set(rows))
    assert found.people == count


@pytest.mark.theorem("expected_uniques.accuracy")
@pytest.mark.parametrize("people", [1, 2, 4])
def test_expected_uniques_are_those_of_enumerating_who_is_where(people):
    chances = [0.5, 0.3, 0.2, 0.0]
    total = 0.0
    for places in product(range(4), repeat=people):
        alone = sum(places.count(place) == 1 for place in places) / people
        total += alone * np.prod([chances[place] for place in places])
    assert expected_uniques(chances, people=people) == pytest.approx(total, abs=1e-12)


def test_one_cell_of_everybody_leaves_nobody_alone():
    assert expected_uniques([1.0], people=2) == 0.0
    assert expected_uniques([1.0], people=1) == 1.0


@pytest.mark.parametrize("frequencies", [[0.5, 0.6], [-0.5, 1.5], [[1.0]], [np.nan, 1.0]])
def test_frequencies_that_are_none_are_refused(frequencies):
    with pytest.raises(InputError, match="add up to 1"):
        expected_uniques(frequencies, people=3)


@pytest.mark.parametrize("people", [0, True, 1.5])
def test_a_senseless_number_of_people_is_refused(people):
    with pytest.raises(ParameterError, match="people"):
        expected_uniques([1.0], people=people)


def test_more_columns_make_more_people_unique_until_all_are():
    found = uniques(CITY.register, QUASI_IDENTIFIERS)
    assert np.all(np.diff(found.frequencies) >= 0)
    assert found.frequencies[2] > 0.9
    assert found.frequency > 0.9999
    assert np.abs(found.frequencies - found.expected).max() < 0.02


def outcomes(sizes, chances):
    """Every way in which the people of some cells can be in both tables, one, or neither, with its probability."""
    people = [cell for cell, size in enumerate(sizes) for _ in range(size)]
    for ways in product(range(4), repeat=len(people)):
        weight = float(np.prod([chances[cell][way] for cell, way in zip(people, ways, strict=True)]))
        yield people, ways, weight


def expectations(sizes, chances, rule):
    """The exact expected number of wrong claims, and of the two counts that bound it."""
    wrong, parts = 0.0, np.zeros(2)
    for people, ways, weight in outcomes(sizes, chances):
        registered = [one for one, way in enumerate(ways) if way in (0, 1)]
        released = [one for one, way in enumerate(ways) if way in (0, 2)]
        table = {"cell": [people[one] for one in registered]}
        known, seen = (np.bincount([people[i] for i in part], minlength=len(sizes)) for part in (registered, released))
        if rule is MatchRule.UNIQUE_IN_BOTH:
            parts += weight * np.array([np.sum((known == 2) & (seen == 0)), np.sum((known == 0) & (seen == 2))])
        else:
            parts += weight * np.array([np.sum(known == 2), np.sum((seen * (seen - 1))[known == 0])])
        if not registered or not released:
            continue
        truth = [registered.index(one) if one in registered else -1 for one in released]
        found = link(table, {"cell": [people[one] for one in released]}, on=["cell"], rule=rule, truth=truth)
        wrong += weight * (found.claimed - found.right)
        assert found.expected_wrong == pytest.approx(expected_wrong(known, seen, rule))
    scale = 4.0 if rule is MatchRule.UNIQUE_IN_BOTH else 2.0
    return wrong, float(np.sqrt(scale * parts[0] * parts[1]))


@pytest.mark.theorem("link.accuracy")
@pytest.mark.parametrize("rule", MatchRule)
def test_wrong_claims_are_as_many_as_the_two_counts_say_if_chances_are_the_same_for_all(rule):
    wrong, bound = expectations((3, 2), [(0.1, 0.4, 0.2, 0.3)] * 2, rule)
    assert wrong > 0.1
    assert wrong == pytest.approx(bound, rel=1e-9)


@pytest.mark.theorem("link.accuracy")
@pytest.mark.parametrize("rule", MatchRule)
def test_wrong_claims_are_fewer_than_that_if_chances_depend_on_the_values(rule):
    wrong, bound = expectations((3, 2), [(0.1, 0.6, 0.1, 0.2), (0.2, 0.1, 0.5, 0.2)], rule)
    assert 0.1 < wrong < bound


@pytest.mark.parametrize("rule", MatchRule)
@pytest.mark.parametrize("count", [2, 3, 5, 12])
def test_patients_of_a_large_city_are_named_as_often_as_theory_says(rule, count):
    found = link(CITY.register, CITY.discharges, on=QUASI_IDENTIFIERS[:count], rule=rule, truth=CITY.match)
    assert found.precision == pytest.approx(found.expected_precision, abs=0.02)
    assert found.recall > 0.8
    if count == 12:
        assert (found.precision, found.recall) == (1.0, 1.0)


def test_unique_in_the_register_finds_more_and_errs_more():
    both, one = (
        link(CITY.register, CITY.discharges, on=QUASI_IDENTIFIERS[:3], rule=rule, truth=CITY.match)
        for rule in MatchRule
    )
    assert one.claimed > both.claimed
    assert one.recall > both.recall
    assert one.precision < both.precision


def test_every_claim_names_a_row_that_agrees():
    found = link(CITY.register, CITY.discharges, on=QUASI_IDENTIFIERS[:3])
    claimed = found.claims >= 0
    for name in found.columns:
        assert np.array_equal(CITY.discharges.column(name)[claimed], CITY.register.column(name)[found.claims[claimed]])


def test_without_a_truth_there_is_an_expectation_only():
    found = link(CITY.register, CITY.discharges, on=["zip_code", "birth_date"])
    assert (found.precision, found.recall, found.right) == (None, None, None)
    assert 0.8 < found.expected_precision < 1
    nothing = link({"x": [1, 1]}, {"x": [1]}, on=["x"], truth=[-1])
    assert (nothing.claimed, nothing.precision, nothing.recall, nothing.expected_precision) == (0, None, None, None)


@pytest.mark.parametrize("truth", [[0], [0, 2], [-2, 0], [0.0, 1.0], [[0, 1]]])
def test_a_truth_that_names_no_rows_is_refused(truth):
    with pytest.raises(InputError, match="truth"):
        link({"x": [1, 2]}, {"x": [1, 2]}, on=["x"], truth=truth)


def test_results_tell_totals_and_nobodys_row():
    found = link(CITY.register, CITY.discharges, on=QUASI_IDENTIFIERS[:3], truth=CITY.match)
    seen = uniques(CITY.register, QUASI_IDENTIFIERS[:3])
    for text in (repr(found), found._repr_html_(), repr(seen), seen._repr_html_()):
        assert "50,000" in text
        assert "[" not in text
        assert not any(name in text for name in CITY.register.name[:50])
    with pytest.raises(ValueError, match="read-only"):
        found.claims[0] = 1


@pytest.mark.parametrize("truth", [CITY.match, None], ids=["owner", "attacker"])
def test_plots_are_drawn(truth):
    found = link(CITY.register, CITY.discharges, on=QUASI_IDENTIFIERS[:3], truth=truth)
    assert len(found.plot().figure.legends[0].get_texts()) == 3
    assert uniques(CITY.register, QUASI_IDENTIFIERS[:3]).plot().svg().startswith("<?xml")


def test_the_name_of_a_column_is_drawn_as_it_is_and_never_read_as_a_formula():
    plot = uniques({r"$\frac$": [1, 2], "$x$": [1, 1]}, [r"$\frac$", "$x$"]).plot()
    assert plot.svg().startswith("<?xml")
    assert [text.get_text() for text in plot.figure.axes[0].get_xticklabels()] == [r"$\frac$", "+ $x$"]


def test_columns_of_different_lengths_are_refused_even_if_their_sums_agree():
    with pytest.raises(InputError, match="one length"):
        link({"a": [1, 2, 3], "b": [1, 2]}, {"a": [1, 2], "b": [1, 2, 3]}, on=["a", "b"])
    with pytest.raises(InputError, match="one length"):
        uniques({"a": [1, 2, 3], "b": [1]}, ["a", "b"])
    with pytest.raises(InputError, match="one length"):
        uniques({"a": [[1], [1, 2]]}, ["a"])


def test_bytes_and_texts_or_dates_and_times_are_not_of_one_kind():
    days, spans = np.array(["2020-01-01"], dtype="M8[D]"), np.array([1], dtype="m8[D]")
    for first, second in (([b"\xff"], ["a"]), (days, spans)):
        with pytest.raises(InputError, match="one kind"):
            link({"a": first}, {"a": second}, on=["a"])


def test_a_rule_must_be_one():
    with pytest.raises(ParameterError, match="MatchRule"):
        link({"a": [1]}, {"a": [1]}, on=["a"], rule="both")

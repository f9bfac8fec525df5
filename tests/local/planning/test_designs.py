"""The factory: exact variances decide, limits are kept, and the choice is explained."""

from __future__ import annotations

import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from discreet.errors import ConflictingParameters, MissingParameter, ParameterError
from discreet.local import (
    DesignChoice,
    DirectResponse,
    HashedGeometry,
    HybridGeometry,
    OneBitHadamard,
    ProjectiveGeometry,
    TextKeys,
    design,
)
from discreet.local.heavy_hitters.protocol import HeavyHitters
from discreet.local.planning.designs import Design

EPSILONS = [0.1, 0.5, 1, 2, 4, 6]


def chosen(**asked: Any) -> DesignChoice:
    return design(**{"people": 1_000_000, "epsilon": 1} | asked).chosen


@pytest.mark.parametrize("values", [1024, 65_536])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_exact_variance_is_within_three_percent_of_the_optimum(values: int, epsilon: float) -> None:
    one = chosen(categories=values, epsilon=epsilon)
    growth = math.exp(epsilon)
    least = 4 * growth / (1_000_000 * (growth - 1) ** 2)
    assert one.spec.variance(1_000_000, 0.0) <= 1.03 * least
    assert one.ratio == pytest.approx(one.spec.variance(1_000_000) / least, rel=1e-12)
    assert one.spec.category_count == values


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_no_protocol_offered_has_less_variance_than_the_chosen_one(epsilon: float) -> None:
    for values in (2, 3, 7, 10, 40, 300, 5000):
        found = design(people=1000, categories=values, epsilon=epsilon)
        assert all(found.chosen.variance <= 1.005 * one.variance for one in found.others)


@pytest.mark.parametrize(("epsilon", "last"), [(0.5, 5), (1, 8), (2, 22), (4, 165)])
def test_few_values_are_reported_themselves(epsilon: float, last: int) -> None:
    # 3 e^epsilon + 2 compares with the optimum of a large domain; small spaces do a little better than that
    assert last <= 3 * math.exp(epsilon) + 2
    assert isinstance(chosen(categories=last, epsilon=epsilon).spec, DirectResponse)
    assert isinstance(chosen(categories=2, epsilon=epsilon).spec, DirectResponse)
    assert isinstance(chosen(categories=last + 1, epsilon=epsilon).spec, ProjectiveGeometry)


def test_ties_go_to_the_smaller_table() -> None:
    # with 8 values a space of dimension 2 is randomized response in other words
    found = design(people=1000, categories=8, epsilon=1)
    (space,) = [one for one in found.others if isinstance(one.spec, ProjectiveGeometry)]
    assert space.cells == found.chosen.cells == 8
    assert space.variance == pytest.approx(found.chosen.variance, rel=1e-12)
    assert isinstance(found.spec, DirectResponse)
    assert space.reason == "about the same variance"


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1, 4])
@pytest.mark.parametrize("values", [2, 5, 64, 1000, 1024, 1025])
def test_the_one_bit_form_has_no_less_variance_than_projective_geometry_over_two(epsilon: float, values: int) -> None:
    bit = OneBitHadamard(epsilon=Fraction(epsilon), categories=values)
    dimension = max(2, (values + 1 - 1).bit_length())
    space = ProjectiveGeometry(epsilon=Fraction(epsilon), categories=values, prime=2, dimension=dimension)
    assert space.variance(1) < bit.variance(1)
    if values >= 64:
        assert space.variance(1) > 0.95 * bit.variance(1)


def test_one_bit_is_chosen_only_when_asked_for() -> None:
    for epsilon in (0.01, 0.1, 1):
        assert not isinstance(chosen(categories=1000, epsilon=epsilon).spec, OneBitHadamard)
    one = chosen(categories=1000, epsilon=0.1, bits=1)
    assert isinstance(one.spec, OneBitHadamard)
    assert one.report_bits == 1
    text = design(people=1000, categories=1000, epsilon=1, bits=1).explain()
    assert "a report of 1 bit, 2,048 counters" in text
    assert "client().bit(value, person=...)" in text
    assert "spec.with_rows(bits, people)" in text
    assert "With client().report(value) the row is sent along, 11 bits" in text
    assert "with_rows" not in design(people=1000, categories=1000, epsilon=1).explain()
    assert isinstance(chosen(categories=2, bits=1).spec, DirectResponse)  # Warner's coin is one bit as well
    assert isinstance(chosen(categories=1000, bits=11).spec, ProjectiveGeometry)
    assert isinstance(chosen(categories=1000, bits=10).spec, OneBitHadamard)


def test_of_nearly_the_same_variances_the_shortest_report_wins() -> None:
    found = design(people=1000, categories=1000, epsilon=0.05, bits=11)
    assert isinstance(found.spec, OneBitHadamard)
    assert found.chosen.reason == "within half a percent of the least variance, with a shorter report"
    (space,) = [one for one in found.others if isinstance(one.spec, ProjectiveGeometry)]
    assert space.variance < found.chosen.variance <= 1.005 * space.variance
    assert space.cells < found.chosen.cells


def test_a_table_that_is_too_large_is_not_taken() -> None:
    free = chosen(categories=65_536)
    assert free.cells == 88_573
    assert chosen(categories=65_536, largest=88_573).spec == free.spec
    tight = design(people=1000, categories=65_536, epsilon=1, largest=80_000)
    assert tight.chosen.cells <= 80_000
    assert tight.chosen.variance > free.spec.variance(1000)
    with pytest.raises(ParameterError, match="raise largest"):
        design(people=1000, categories=65_536, epsilon=1, largest=60_000)
    with pytest.raises(ParameterError, match="raise largest"):
        design(people=1000, categories=1 << 40, epsilon=1)


def test_a_space_that_takes_too_long_to_decode_is_split() -> None:
    found = design(people=1_000_000, categories=8_000_000, epsilon=9)
    assert isinstance(found.spec, HybridGeometry)
    assert found.chosen.ratio < 1.06
    (space,) = [one for one in found.others if isinstance(one.spec, ProjectiveGeometry)]
    assert space.variance <= found.chosen.variance
    assert "blocks take less" in space.reason
    assert found.chosen.reason == "least variance within the limits"
    assert found.chosen.worst_variance > found.chosen.variance


def test_blocks_that_are_better_on_average_and_worse_in_a_popular_block_are_said_to_be_both() -> None:
    found = design(people=1_000_000, categories=5_000_000, epsilon=12)
    (blocks,) = [one for one in found.others if isinstance(one.spec, HybridGeometry)]
    assert blocks.variance < found.chosen.variance < blocks.worst_variance
    assert found.chosen.reason == "least variance, whatever people hold"
    assert blocks.reason == "0.128 times the variance on average, 324 times in a block that most people fall into"


def test_values_for_which_only_a_hopeless_protocol_is_left_are_refused_unless_limits_were_asked_for() -> None:
    for epsilon in (Fraction(1, 10), 1, 4, 8):
        with pytest.raises(ParameterError, match="less than 100 times the least variance: raise largest=, or treat"):
            design(people=1000, categories=1 << 26, epsilon=epsilon)
    asked = design(people=1000, categories=1 << 26, epsilon=1, largest=1 << 26)
    assert asked.spec.protocol == "randomized-response"
    assert asked.chosen.ratio > 1e6
    assert design(people=1000, categories=(1 << 26) - 1, epsilon=1).spec.protocol == "projective-geometry"
    assert design(people=1000, categories=1 << 25, epsilon=16).spec.protocol == "randomized-response"
    assert design(people=1000, categories=1 << 25, epsilon=4, bits=1).spec.protocol == "one-bit-hadamard"
    assert design(people=1000, categories=1 << 26, epsilon=1, bits=26).spec.protocol == "randomized-response"


def test_the_largest_work_of_the_literature_is_answered_at_the_optimum() -> None:
    one = chosen(categories=3_307_948, epsilon=5)
    assert one.ratio <= 1.03
    assert one.cells * 8 < 1 << 26


def test_what_stands_out_is_what_a_top_list_would_show() -> None:
    one = chosen(categories=100, epsilon=2, people=100_000)
    counts = _counts_of_nobody(one)
    frequencies = one.spec.estimate(counts, int(counts.sum()))
    low = frequencies.intervals(together=True).low
    assert one.detectable == pytest.approx(frequencies.value[0] - low[0], rel=0.02)
    assert chosen(categories=100, people=10, epsilon=0.1).detectable > 1


def _counts_of_nobody(one: DesignChoice) -> Any:
    """Counts that give every value an estimate of about zero: the average report of a value outside the domain."""
    expected = 100_000 / one.cells
    return np.full(one.cells, round(expected), dtype=np.int64)


def test_the_explanation_names_what_was_asked_the_choice_and_why_not_the_others() -> None:
    found = design(people=1_000_000, categories=65_536, epsilon=1)
    text = found.explain()
    assert text == str(found)
    first, second, *_ = text.split("\n")
    assert first == "1,000,000 people, 65,536 categories, epsilon 1 each"
    assert second.startswith("projective-geometry: a report of 17 bits")
    assert "standard error of a rare value is 0.194 %" in text
    assert "frequency of about 0.96 % on" in text
    assert "moves an estimated count by up to 2.75 people" in text
    for one in found.others:
        assert f"\n{one.protocol}: {one.reason}." in text
    assert "5,888 times the variance" in text
    assert "ask for bits=1" in text
    assert repr(found) == "Design(1,000,000 people, 65,536 categories, epsilon 1 each: projective-geometry)"


def test_a_single_person_is_not_called_people() -> None:
    assert (
        repr(design(people=1, categories=2, epsilon=1))
        == "Design(1 person, 2 categories, epsilon 1 each: randomized-response)"
    )


def test_too_few_people_are_told_so() -> None:
    text = design(people=10, categories=1000, epsilon=0.1).explain()
    assert "too few people" in text
    table = design(people=10, categories=1000, epsilon=0.1).table()
    assert [row[table.columns.index("detectable")] for row in table.rows] == [None] * 3
    scarce = design(people=150, categories=1000, epsilon=1)
    assert 0.5 < scarce.chosen.detectable < 1
    assert "No frequency below 64.2 % stands out: there are too few people" in scarce.explain()
    assert "too few" not in design(people=1500, categories=1000, epsilon=1).explain()


def test_the_table_has_a_row_for_each_protocol_the_chosen_one_first() -> None:
    found = design(people=1000, categories=50, epsilon=1)
    table = found.table()
    assert [row[0] for row in table.rows] == [one.protocol for one in found.candidates]
    assert table.rows[0][0] == found.spec.protocol
    assert len({row[0] for row in table.rows}) == len(table.rows) == 3
    html = found._repr_html_()
    assert html.count("<table>") == 1
    assert "least variance" in html


def test_labels_name_the_values_and_may_stand_for_their_number() -> None:
    labels = ("tea", "coffee", "water")
    found = design(people=1000, epsilon=1, categories=labels)
    assert found.spec.category_count == 3
    assert found.spec.labels == labels
    assert design(people=1000, epsilon=1, categories=list(labels)).spec == found.spec
    many = tuple(f"page {number}" for number in range(500))
    assert design(people=1000, epsilon=1, categories=many).spec.labels == many
    with pytest.raises(ParameterError, match="two names are the same"):
        design(people=1000, epsilon=1, categories=("tea", "tea"))


def test_labels_may_be_a_column_of_a_table() -> None:
    names = ["tea", "coffee", "water"]
    found = design(people=1000, epsilon=1, categories=names)
    assert design(people=1000, epsilon=1, categories=np.array(names)).spec == found.spec
    assert design(people=1000, epsilon=1, categories=np.array(names, dtype=object)).spec == found.spec
    column = SimpleNamespace(to_list=lambda: names)  # a series of polars has no tolist
    assert design(people=1000, epsilon=1, categories=column).spec == found.spec
    with pytest.raises(ParameterError, match="a list of two names"):
        design(people=1000, epsilon=1, categories=np.array([names]))


def test_labels_may_be_a_series() -> None:
    assert design(people=1000, epsilon=1, categories=pd.Series(["tea", "coffee"])).spec.labels == ("tea", "coffee")


def test_no_label_and_one_label_are_too_few() -> None:
    for few in ([], ["a"]):
        with pytest.raises(ParameterError, match="two names or more"):
            design(people=1000, epsilon=1, categories=few)


def test_a_seed_goes_with_keys_only() -> None:
    with pytest.raises(ConflictingParameters, match="keys="):
        design(people=1000, epsilon=1, categories=4, seed=7)


@pytest.mark.parametrize("missing", ["people", "categories", "epsilon"])
def test_what_is_missing_is_asked_for(missing: str) -> None:
    asked: dict[str, Any] = {"people": 1000, "categories": 50, "epsilon": 1}
    del asked[missing]
    with pytest.raises(MissingParameter, match=missing) as caught:
        design(**asked)
    assert caught.value.parameter == missing


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("people", 0), ("people", 1.5), ("people", True), ("people", "many"), ("people", 10**400),
        ("categories", 1), ("categories", 2.0), ("categories", (1 << 40) + 1),
        ("epsilon", 0), ("epsilon", -1), ("epsilon", float("nan")), ("epsilon", 50), ("epsilon", "1"),
        ("bits", 0), ("bits", 1.0), ("largest", 0), ("largest", 2.5),
        ("confidence", 0), ("confidence", 1), ("confidence", float("nan")),
    ],
)  # fmt: skip
def test_nonsense_is_refused_by_name(name: str, value: object) -> None:
    asked: dict[str, Any] = {"people": 1000, "categories": 50, "epsilon": 1} | {name: value}
    with pytest.raises(ParameterError) as caught:
        design(**asked)
    assert caught.value.parameter == name


@pytest.mark.parametrize("labels", ["abc", b"abc", 5.5, {"a", "b"}, {"a": 1}])
def test_labels_are_a_list(labels: Any) -> None:
    with pytest.raises(ParameterError) as caught:
        design(people=1000, epsilon=1, categories=labels)
    assert caught.value.parameter == "categories"


def test_where_no_space_is_large_enough_one_bit_has_the_least_variance() -> None:
    found = design(people=1000, epsilon=1, categories=1 << 32, largest=1 << 40)
    assert isinstance(found.spec, OneBitHadamard)
    assert found.chosen.reason == "least variance"
    assert [one.protocol for one in found.others] == ["randomized-response"]


def test_a_design_depends_on_nothing_but_what_was_asked() -> None:
    first, second = (design(people=777, categories=99, epsilon=Fraction(1, 3)) for _ in range(2))
    assert isinstance(first, Design)
    assert first.spec == second.spec
    assert first.explain() == second.explain()
    assert design(people=10**9, categories=99, epsilon=Fraction(1, 3)).spec == first.spec


def test_keys_that_nobody_can_list_are_hashed() -> None:
    found = design(people=100_000, epsilon=2, keys=TextKeys(24), seed=7)
    assert isinstance(found.spec, HashedGeometry)
    assert found.spec == HashedGeometry.best(epsilon=2, people=100_000, keys="text:24", seed=7)
    assert found.chosen.ratio < 1.1
    assert found.others == ()
    many = design(people=100_000, epsilon=2, keys="text:24", seed=7, asked=1000)
    assert many.spec == found.spec
    assert many.chosen.standard_error == found.chosen.standard_error
    assert many.chosen.detectable > found.chosen.detectable
    assert "1,000 keys looked at together" in many.explain()
    assert design(people=100_000, epsilon=2, keys="text:24", seed=7, largest=50_000).chosen.cells <= 50_000
    assert design(people=100_000, epsilon=2, keys="text:24").spec != found.spec  # a seed is drawn


def test_keys_that_nobody_can_name_are_searched_for() -> None:
    found = design(people=1_000_000, epsilon=4, keys="integer:48", seed=7, find=True)
    assert found.spec == HeavyHitters.plan(people=1_000_000, epsilon=4, keys="integer:48", seed=7)
    assert isinstance(found.spec, HeavyHitters)
    assert found.chosen.detectable == found.spec.detectable()
    assert "A key is found every other time from a frequency of about" in found.explain()
    assert found.table().rows[0][0] == "heavy-hitters"
    with pytest.raises(ParameterError, match="raise largest"):
        design(people=1_000_000, epsilon=4, keys="integer:48", find=True, largest=1000)
    with pytest.raises(MissingParameter, match="what a key is"):
        design(people=1_000_000, epsilon=4, categories=100, find=True)


@pytest.mark.parametrize("other", [{"categories": ("a", "b")}, {"bits": 4}])
def test_keys_go_with_neither_labels_nor_bits(other: dict[str, Any]) -> None:
    with pytest.raises(ConflictingParameters):
        design(people=1000, epsilon=1, keys="text:24", **other)

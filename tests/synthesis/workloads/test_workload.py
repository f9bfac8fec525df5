"""Workloads add up, can be cut, read as sentences, and refuse what does not fit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.synthesis import (
    Bins,
    Domain,
    Literals,
    Records,
    Workload,
    conjunctions,
    disjunctions,
    marginals,
    parities,
    queries,
    ranges,
)

HOME = Domain.of(sex=["f", "m"], rooms=range(1, 6), tenure=["own", "rent"], age=Bins((0, 90), 9))
MIXED = Domain.of({"sex": ["f", "m"], "rooms": [1, 2, 3]}, missing=True)


def people(domain: Domain, rows: int, seed: int = 1) -> Records:
    """Return records with uniform codes."""
    coins = np.random.default_rng(seed)
    return Records(domain, np.stack([coins.integers(0, size, rows) for size in domain.sizes]).astype(np.uint16))


def every_family(domain: Domain) -> list[Workload]:
    """Return a workload of each family."""
    return [
        conjunctions(domain, count=60),
        disjunctions(domain, count=60),
        parities(domain, ways=2, count=60),
        ranges(domain),
        ranges(domain, ways=2, count=60),
        marginals(domain, ways=2),
    ]


@pytest.mark.parametrize("first", every_family(HOME), ids=lambda asked: asked.description)
@pytest.mark.parametrize("second", every_family(HOME), ids=lambda asked: asked.description)
def test_a_sum_of_workloads_asks_both(first: Workload, second: Workload) -> None:
    records = people(HOME, 100)
    both = first + second
    assert both.counts(records).tolist() == [*first.counts(records), *second.counts(records)]
    assert [both.text(place) for place in (0, len(both) - 1)] == [first.text(0), second.text(-1)]


@pytest.mark.parametrize("asked", every_family(HOME), ids=lambda asked: asked.description)
def test_a_part_of_a_workload_asks_the_same(asked: Workload) -> None:
    records = people(HOME, 100)
    counted = asked.counts(records)
    chosen = np.array([5, 0, 5, -1])
    assert asked[chosen].counts(records).tolist() == counted[chosen].tolist()
    assert asked[3:9].counts(records).tolist() == counted[3:9].tolist()
    assert asked[counted > 10].counts(records).tolist() == counted[counted > 10].tolist()
    assert asked[-1].counts(records).tolist() == [counted[-1]]
    assert asked[4].text(0) == asked.text(4)
    assert len(asked[4].literals) <= asked.members.shape[1]


def test_iteration_ends() -> None:
    asked = conjunctions(HOME, count=7)
    assert [one.text(0) for one in asked] == [asked.text(place) for place in range(7)]
    with pytest.raises(IndexError):
        asked[7]
    with pytest.raises(IndexError):
        asked.text(7)


def test_workloads_of_two_domains_do_not_add() -> None:
    with pytest.raises(ParameterError, match="same domain"):
        conjunctions(HOME, count=1) + conjunctions(MIXED, count=1)


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ({"sex": "f", "rooms": [1, 2]}, "sex = 'f' and rooms in (1, 2)"),
        ({"rooms": [1, 2, 3]}, "rooms from 1 to 3"),
        ({"rooms": [1, 3, 5]}, "rooms not in (2, 4)"),
        ({"rooms": [1, 2, 3, 5]}, "rooms != 4"),
        ({"rooms": range(1, 6)}, "rooms is anything"),
        ({"age": 12}, "age = [10, 20)"),
        ({"age": [12, 25, 39.9]}, "age from [10, 20) to [30, 40)"),
    ],
)
def test_a_query_reads_as_a_sentence(query: dict[str, object], text: str) -> None:
    assert queries(HOME, [query]).text(0) == text


def test_missing_values_are_named() -> None:
    assert queries(MIXED, [{"rooms": None}]).text(0) == "rooms = missing"
    assert queries(MIXED, [{"rooms": [3, None]}]).text(0) == "rooms in (3, missing)"
    assert queries(MIXED, [{"sex": ["f", "m"], "rooms": 1}]).text(0) == "sex != missing and rooms = 1"


def test_a_long_list_of_values_is_cut_short() -> None:
    wide = Domain.of(place=range(100))
    assert queries(wide, [{"place": range(0, 20, 2)}]).text(0) == "place in (0, 2, 4, 6, 8, 10, and 4 more)"


def test_a_disjunction_reads_with_or_and_holds_where_any_statement_does() -> None:
    asked = queries(HOME, [{"sex": "f", "rooms": [1, 2]}, {"tenure": "own"}], either=True)
    assert [asked.text(0), asked.text(1)] == ["sex = 'f' or rooms in (1, 2)", "tenure = 'own'"]
    records = people(HOME, 200)
    sex, rooms, tenure, _ = records.codes
    assert asked.counts(records).tolist() == [int(((sex == 0) | (rooms <= 1)).sum()), int((tenure == 0).sum())]


def test_a_negated_parity_reads_as_even() -> None:
    odd = parities(HOME, ways=2, count=1)
    even = Workload(HOME, odd.literals, odd.members, odd.parity, ~odd.negated, "even")
    assert odd.text(0).startswith("an odd number of: ")
    assert even.text(0) == odd.text(0).replace("odd", "even")


def test_a_workload_prints_its_description_and_no_array() -> None:
    assert repr(conjunctions(HOME, count=1000)) == "Workload(1,000 queries: random 3-literal conjunctions, seed 1)"
    assert repr(marginals(HOME, ways=1)) == "Marginals(18 queries: all cells of 4 1-way marginals)"


def test_the_digest_names_the_queries_and_the_domain() -> None:
    names = [asked.digest for asked in [*every_family(HOME), *every_family(MIXED)]]
    assert len(set(names)) == len(names)
    assert conjunctions(HOME, count=9).digest == conjunctions(HOME, count=9).digest
    assert conjunctions(HOME, count=9).digest != conjunctions(HOME, count=9, seed=2).digest


def form(members: list[list[int]], accepts: list[list[bool]] | None = None, attribute: int = 0) -> Workload:
    """Return a workload over HOME from bare arrays."""
    accepts = [[True, False, False, False, False]] if accepts is None else accepts
    none = np.zeros(len(members), dtype=np.bool_)
    literals = Literals(np.full(len(accepts), attribute, np.int32), np.array(accepts, dtype=np.bool_))
    return Workload(HOME, literals, np.array(members, dtype=np.int32), none, none, "bare")


@pytest.mark.parametrize("members", [[[1]], [[-1]], [[-2]], [[-1, 0]], [[0, -1, 0]]])
def test_members_that_name_no_literal_are_refused(members: list[list[int]]) -> None:
    with pytest.raises(ParameterError):
        form(members)


def test_literals_outside_the_domain_are_refused() -> None:
    for attribute in (-1, 4):
        with pytest.raises(ParameterError, match="attribute of the domain"):
            form([[0]], attribute=attribute)
    with pytest.raises(ParameterError, match="column for each code"):
        form([[0]], accepts=[[True, False]], attribute=1)


def test_arrays_of_different_lengths_are_refused() -> None:
    good = conjunctions(HOME, count=3)
    with pytest.raises(ParameterError, match="arrays of one length"):
        Workload(HOME, good.literals, good.members, good.parity[:2], good.negated, "short")
    with pytest.raises(ParameterError, match="at least one query"):
        Workload(HOME, good.literals, good.members[:0], good.parity[:0], good.negated[:0], "none")


@given(st.lists(st.integers(0, 59), min_size=1, max_size=20))
def test_a_part_of_a_part_is_a_part(places: list[int]) -> None:
    asked, records = conjunctions(HOME, count=60), people(HOME, 64)
    part = asked[np.array(places)]
    assert part[::-1].counts(records).tolist() == asked.counts(records)[places][::-1].tolist()


def test_numbers_that_32_bits_would_change_are_refused() -> None:
    literals, no = queries(HOME, [{"sex": "f"}]).literals, np.zeros(1, dtype=bool)
    for members in (np.array([[2**32]]), np.array([[0.5]]), np.array([[True]]), np.zeros((1, 0), dtype=np.int32)):
        with pytest.raises(ParameterError):
            Workload(HOME, literals, members, no, no, "one")
    with pytest.raises(ParameterError, match="whole"):
        Literals(np.array([2**32]), literals.accepts)


def test_a_literal_that_accepts_codes_its_attribute_does_not_have_is_refused() -> None:
    no = np.zeros(1, dtype=bool)
    literals = Literals(np.array([0], dtype=np.int32), np.ones((1, 3), dtype=bool))
    with pytest.raises(ParameterError, match="only codes that its attribute has"):
        Workload(HOME, literals, np.array([[0]], dtype=np.int32), no, no, "three sexes of two")

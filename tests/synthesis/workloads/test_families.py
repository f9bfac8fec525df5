"""Each family asks exactly the queries it says, by its public seed."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.data.invention import coins
from discreet.errors import MissingParameter, ParameterError, UnknownName
from discreet.synthesis import (
    Bins,
    Domain,
    Records,
    Workload,
    conjunctions,
    disjunctions,
    parities,
    queries,
    ranges,
)
from discreet.synthesis.workloads.families import _ends
from discreet.synthesis.workloads.literals import random_attributes

HOME = Domain.of(sex=["f", "m"], rooms=range(1, 6), tenure=["own", "rent"], floor=range(4))
BITS = Domain.of({f"bit{place}": (0, 1) for place in range(6)})


def people(domain: Domain, rows: int, seed: int = 1) -> Records:
    """Return records with uniform codes."""
    flips = np.random.default_rng(seed)
    return Records(domain, np.stack([flips.integers(0, size, rows) for size in domain.sizes]).astype(np.uint16))


def statements(asked: Workload, query: int) -> list[tuple[int, frozenset[int]]]:
    """Return a query as attributes with the codes they may have."""
    return [
        (int(asked.literals.attribute[member]), frozenset(np.flatnonzero(asked.literals.accepts[member]).tolist()))
        for member in asked.members[query].tolist()
        if member >= 0
    ]


def test_conjunctions_are_the_draws_of_attribute_value_and_sign() -> None:
    asked = conjunctions(HOME, ways=3, count=500, seed=9)
    flips = coins(9)
    chosen = flips.integers(0, 4, (500, 3))
    values = flips.integers(0, np.array(HOME.sizes)[chosen])
    turned = flips.integers(0, 2, (500, 3)) == 1
    for query in range(500):
        expected = []
        for attribute, code, negated in zip(chosen[query], values[query], turned[query], strict=True):
            others = frozenset(range(HOME.sizes[attribute])) - {int(code)}
            expected.append((int(attribute), others if negated else frozenset({int(code)})))
        assert statements(asked, query) == expected


def test_a_literal_is_listed_once_however_many_queries_share_it() -> None:
    asked = conjunctions(HOME, count=5_000)
    listed = [(int(a), row.tobytes()) for a, row in zip(asked.literals.attribute, asked.literals.accepts, strict=True)]
    assert len(set(listed)) == len(listed) == 2 + 2 * 5 + 2 + 2 * 4


def test_all_statements_of_the_paper_occur_about_equally_often() -> None:
    asked = conjunctions(Domain.of(a=range(3), b=range(4)), ways=2, count=50_000)
    seen = [statement for query in range(5_000) for statement in statements(asked, query)]
    # 14 statements: of a with chance 1/12 each, of b with 1/16; 10 000 draws by a fixed seed lie within 25 %
    for statement in set(seen):
        share = seen.count(statement) / len(seen)
        assert share == pytest.approx(1 / 12 if statement[0] == 0 else 1 / 16, rel=0.25)
    assert len(set(seen)) == 14


@pytest.mark.parametrize("family", [conjunctions, disjunctions])
def test_without_repeats_attributes_differ_and_without_negation_values_are_asked_for(family: object) -> None:
    assert callable(family)
    asked = family(HOME, ways=4, count=300, repeats=False, negation=False)
    for query in range(300):
        said = statements(asked, query)
        assert sorted(attribute for attribute, _ in said) == [0, 1, 2, 3]
        sizes = [len(codes) if family is conjunctions else HOME.sizes[place] - len(codes) for place, codes in said]
        assert sizes == [1, 1, 1, 1]


def test_a_disjunction_is_the_negation_of_the_conjunction_of_negations() -> None:
    either = disjunctions(HOME, count=400, seed=3)
    every = conjunctions(HOME, count=400, seed=3)
    assert either.negated.all()
    assert not either.parity.any()
    for query in range(400):
        turned = [(place, frozenset(range(HOME.sizes[place])) - codes) for place, codes in statements(either, query)]
        assert turned == statements(every, query)
        assert either.text(query) == every.text(query).replace(" and ", " or ")


@given(st.integers(1, 12), st.integers(0, 1000))
def test_rows_without_repeats_have_none(among: int, seed: int) -> None:
    for ways in (1, among):
        rows = random_attributes(coins(seed), among, ways=ways, count=20, repeats=False)
        assert rows.shape == (20, ways)
        assert rows.min() >= 0
        assert rows.max() < among
        assert all(len(set(row)) == ways for row in rows.tolist())


def test_every_arrangement_without_repeats_is_equally_likely() -> None:
    class Every:
        """All outcomes of the coins of two draws, once each."""

        def __init__(self) -> None:
            self.first, self.second = map(np.ravel, np.indices((4, 3)))

        def integers(self, low: int, high: int, size: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
            assert (low, size) == (0, 12)
            return (self.first if high == 4 else self.second).astype(np.int64)

    rows = random_attributes(Every(), 4, ways=2, count=12, repeats=False)  # type: ignore[arg-type]
    assert sorted(map(tuple, rows.tolist())) == [(a, b) for a in range(4) for b in range(4) if a != b]


def test_all_parities_of_bits_are_the_characters() -> None:
    asked = parities(BITS, ways=3)
    records = people(BITS, 200)
    expected = [int((records.codes[list(one)].sum(axis=0) % 2).sum()) for one in combinations(range(6), 3)]
    assert asked.counts(records).tolist() == expected


def test_random_parities_are_about_different_attributes_and_the_second_of_two_values() -> None:
    asked = parities(HOME, ways=3, count=200)
    assert asked.parity.all()
    for query in range(200):
        said = statements(asked, query)
        assert len({place for place, _ in said}) == 3
        assert all(codes == {1} for place, codes in said if HOME.sizes[place] == 2)
        assert all(len(codes) == 1 for _, codes in said)


@given(st.integers(1, 30))
def test_ranks_of_ranges_list_each_range_once(values: int) -> None:
    every = values * (values + 1) // 2
    low, high = _ends(np.arange(every), np.full(every, values))
    assert list(zip(low.tolist(), high.tolist(), strict=True)) == [
        (a, b) for a in range(values) for b in range(a, values)
    ]


@pytest.mark.parametrize("values", [65_535, 65_536, 46_341])
def test_ranks_of_ranges_are_exact_for_the_longest_attributes(values: int) -> None:
    starts = np.arange(values, dtype=np.int64)
    first = starts * values - starts * (starts - 1) // 2
    for rank, end in ((first, starts), (first + values - 1 - starts, np.full(values, values - 1))):
        low, high = _ends(rank, np.full(values, values, dtype=np.int64))
        assert np.array_equal(low, starts)
        assert np.array_equal(high, end)


def test_all_ranges_of_named_attributes() -> None:
    asked = ranges(HOME, attributes=["floor", "rooms"])
    assert len(asked) == 10 + 15
    records = people(HOME, 100)
    floor, rooms = records.codes[3], records.codes[1]
    expected = [int(((floor >= a) & (floor <= b)).sum()) for a in range(4) for b in range(a, 4)]
    expected += [int(((rooms >= a) & (rooms <= b)).sum()) for a in range(5) for b in range(a, 5)]
    assert asked.counts(records).tolist() == expected


def test_no_range_takes_in_what_is_missing() -> None:
    domain = Domain.of({"age": Bins((0, 100), 4), "sex": ["f", "m"]}, missing=True)
    for asked in (ranges(domain), ranges(domain, ways=2, count=200)):
        last = [len(one.values) for one in domain]
        for place, accepts in zip(asked.literals.attribute, asked.literals.accepts, strict=True):
            assert not accepts[last[place] :].any()
            assert accepts.any()


def test_random_boxes_are_ranges_of_different_attributes() -> None:
    asked = ranges(HOME, attributes=["rooms", "floor", "sex"], ways=2, count=300)
    for query in range(300):
        said = statements(asked, query)
        assert len({place for place, _ in said}) == 2
        assert all(place in (0, 1, 3) and max(codes) - min(codes) == len(codes) - 1 for place, codes in said)


def test_handwritten_queries_share_literals_and_may_repeat() -> None:
    asked = queries(HOME, [{"sex": "f", "rooms": [2, 1]}, {"rooms": [1, 2]}, {"rooms": (1, 2)}, {"sex": "f"}])
    assert len(asked) == 4
    assert len(asked.literals) == 2
    assert asked.text(1) == asked.text(2)


def test_an_array_lists_values_like_a_list() -> None:
    rooms = Domain.of(rooms=range(1, 6))
    asked = queries(rooms, [{"rooms": np.array([1, 2])}, {"rooms": [1, 2]}, {"rooms": np.array(3)}])
    assert asked.members.tolist() == [[0], [0], [1]]


def test_values_that_are_tuples_themselves_can_be_asked_for() -> None:
    domain = Domain.of(pair=[(1, 2), (3, 4)])
    assert queries(domain, [{"pair": (1, 2)}]).text(0) == "pair = (1, 2)"
    assert queries(domain, [{"pair": [(1, 2), (3, 4)]}]).text(0) == "pair is anything"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ({}, "at least one attribute"),
        ({"sex": "x"}, "cannot have a value"),
        ({"sex": ["f", "x"]}, "cannot have a value"),
        ({"sex": []}, "at least one value"),
        ({"sex": None}, "no code for missing values"),
        ({"sex": "fm"}, "cannot have a value"),
    ],
)
def test_handwritten_queries_are_checked(query: dict[str, object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        queries(HOME, [query])


def test_a_handwritten_query_names_attributes_that_there_are() -> None:
    with pytest.raises(UnknownName, match="there is no attribute 'height'"):
        queries(HOME, [{"height": 3}])
    with pytest.raises(ParameterError, match="at least one query"):
        queries(HOME, [])


def test_families_say_what_to_change() -> None:
    with pytest.raises(ParameterError, match="ways must be at least 1"):
        conjunctions(HOME, ways=0)
    with pytest.raises(ParameterError, match="5 different attributes cannot be had from 4"):
        conjunctions(HOME, ways=5, repeats=False)
    assert conjunctions(HOME, ways=5, count=3).members.shape == (3, 5)
    for count in (0, -1, 10**9):
        with pytest.raises(ParameterError, match=r"count (must be|is)"):
            disjunctions(HOME, count=count)
    with pytest.raises(MissingParameter, match="state count="):
        parities(HOME, ways=2)
    with pytest.raises(MissingParameter, match="state count="):
        ranges(HOME, ways=2)
    with pytest.raises(ParameterError, match="different attributes cannot be had"):
        parities(BITS, ways=7)
    with pytest.raises(ParameterError, match="each once"):
        ranges(HOME, attributes=["sex", "sex"])
    with pytest.raises(ParameterError, match="each once"):
        ranges(HOME, attributes=[])
    with pytest.raises(UnknownName):
        ranges(HOME, attributes=["height"])


def test_families_too_large_to_hold_are_refused_before_they_are_made() -> None:
    wide = Domain.of({f"bit{place}": (0, 1) for place in range(1000)})
    with pytest.raises(ParameterError, match="state count="):
        parities(wide, ways=4)
    with pytest.raises(ParameterError, match="state count="):
        ranges(Domain.of(place=range(60_000)))
    with pytest.raises(ParameterError, match="too many"):
        ranges(Domain.of(place=range(60_000)), count=30_000)


@pytest.mark.parametrize("wanted", [{"sex": "f"}, ["sex"], "sex", 5, [{"sex": "f"}, None]])
def test_queries_that_are_no_list_of_mappings_are_said_how_to_write(wanted: Any) -> None:
    with pytest.raises(ParameterError, match=r'queries\(domain, \[\{"sex": "f"'):
        queries(HOME, wanted)


def test_queries_over_no_domain_are_refused() -> None:
    with pytest.raises(ParameterError, match="must be a Domain, not dict"):
        queries({"sex": ["f", "m"]}, [{"sex": "f"}])  # type: ignore[arg-type]


@pytest.mark.parametrize("family", [conjunctions, disjunctions])
@pytest.mark.parametrize("asked", [{"ways": 10**9}, {"ways": 10**30}, {"ways": 7, "count": 10**8}])
def test_more_literals_than_fit_into_memory_are_refused(family: Any, asked: dict[str, int]) -> None:
    with pytest.raises(ParameterError, match="lower ways or count"):
        family(HOME, **asked)


def test_more_literals_than_fit_are_refused_where_attributes_differ() -> None:
    with pytest.raises(ParameterError, match="lower ways or count"):
        parities(BITS, ways=6, count=10**8)
    with pytest.raises(ParameterError, match="lower ways or count"):
        ranges(HOME, ways=4, count=10**8)

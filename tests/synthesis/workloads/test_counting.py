"""Counting by bits agrees with counting by hand, whatever the form of a query and the length of a table."""

from __future__ import annotations

from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.synthesis import Domain, Literals, Records, Workload, conjunctions
from discreet.synthesis.workloads import counting, workload
from discreet.synthesis.workloads import counting as packing

LENGTHS = (0, 1, 2, 63, 64, 65, 130)


def satisfied(asked: Workload, query: int, record: list[int]) -> bool:
    """Say whether a record satisfies a query, one literal after the other."""
    held = []
    for member in asked.members[query].tolist():
        if member >= 0:
            attribute = int(asked.literals.attribute[member])
            held.append(bool(asked.literals.accepts[member, record[attribute]]))
    holds = sum(held) % 2 == 1 if asked.parity[query] else all(held)
    return holds != bool(asked.negated[query])


def by_hand(asked: Workload, records: Records) -> list[list[bool]]:
    """Return which queries each record satisfies."""
    return [[satisfied(asked, query, record) for query in range(len(asked))] for record in records.codes.T.tolist()]


@st.composite
def asked_and_records(draw: st.DrawFn) -> tuple[Workload, Records]:
    """Draw a workload of all forms at once, and a table."""
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    domain = Domain.of({f"a{place}": range(size) for place, size in enumerate(sizes)})
    coins = np.random.default_rng(draw(st.integers(0, 2**32)))
    literals, queries, ways = draw(st.integers(1, 6)), draw(st.integers(1, 8)), draw(st.integers(1, 5))
    attribute = coins.integers(0, len(sizes), literals).astype(np.int32)
    accepts = coins.random((literals, max(sizes))) < 0.6
    accepts &= np.arange(max(sizes)) < np.array(sizes)[attribute][:, None]
    members = coins.integers(0, literals, (queries, ways)).astype(np.int32)
    members[np.arange(ways) >= coins.integers(1, ways + 1, queries)[:, None]] = -1
    forms = coins.random((2, queries)) < 0.4
    rows = draw(st.sampled_from(LENGTHS))
    codes = np.stack([coins.integers(0, size, rows) for size in sizes]).astype(np.uint16)
    asked = Workload(domain, Literals(attribute, accepts), members, forms[0], forms[1], "anything")
    return asked, Records(domain, codes)


@given(asked_and_records())
def test_counts_are_those_of_a_slow_reference(pair: tuple[Workload, Records]) -> None:
    asked, records = pair
    expected = np.array(by_hand(asked, records), dtype=np.int64).reshape(len(records), len(asked)).sum(axis=0)
    assert asked.counts(records).tolist() == expected.tolist()
    assert asked.counts(records).dtype == np.int64


@given(asked_and_records(), st.integers(0, 2**32))
def test_weighted_counts_are_those_of_a_slow_reference(pair: tuple[Workload, Records], seed: int) -> None:
    asked, records = pair
    weights = np.random.default_rng(seed).random(len(records)) * 100
    held = np.array(by_hand(asked, records), dtype=np.float64).reshape(len(records), len(asked))
    answers = asked.weighted_counts(records, weights)
    np.testing.assert_allclose(answers, weights @ held, rtol=1e-12, atol=1e-10)


@pytest.mark.needs("numba")
@given(asked_and_records(), st.integers(0, 2**32))
def test_numpy_alone_gives_the_same_answers(pair: tuple[Workload, Records], seed: int) -> None:
    asked, records = pair
    weights = np.random.default_rng(seed).random(len(records))
    counted, weighed = asked.counts(records), asked.weighted_counts(records, weights)
    bits = packing.pack(asked.literals, records.codes)
    truths = [asked.truths(record) for record in records.codes.T]
    with (
        patch.object(counting, "available", lambda: False),
        patch.object(packing, "available", lambda: False),
        patch.object(workload, "available", lambda: False),
    ):
        assert np.array_equal(packing.pack(asked.literals, records.codes), bits)
        assert np.array_equal(asked.counts(records), counted)
        np.testing.assert_allclose(asked.weighted_counts(records, weights), weighed, rtol=1e-12, atol=1e-12)
        for record, held in zip(records.codes.T, truths, strict=True):
            assert np.array_equal(asked.truths(record), held)


@given(asked_and_records())
def test_one_record_satisfies_what_it_is_counted_for(pair: tuple[Workload, Records]) -> None:
    asked, records = pair
    for record, held in zip(records.codes.T, by_hand(asked, records), strict=True):
        assert asked.truths(record).tolist() == held
        alone = Records(asked.domain, record[:, None])
        assert asked.counts(alone).tolist() == [int(one) for one in held]


@given(asked_and_records(), st.integers(1, 3))
def test_blocks_of_any_length_add_up(pair: tuple[Workload, Records], length: int) -> None:
    asked, records = pair
    whole, weights = asked.counts(records), np.arange(len(records), dtype=np.float64)
    weighed = asked.weighted_counts(records, weights)
    with patch.object(counting, "_CACHED_WORDS", 1), patch.object(counting, "_FEWEST_WORDS", length):
        assert np.array_equal(asked.counts(records), whole)
        np.testing.assert_allclose(asked.weighted_counts(records, weights), weighed, rtol=1e-12)


def binary(attributes: int, rows: int, seed: int = 1) -> Records:
    """Return random bits as records."""
    domain = Domain.of({f"bit{place}": (0, 1) for place in range(attributes)})
    return Records(domain, np.random.default_rng(seed).integers(0, 2, (attributes, rows)).astype(np.uint16))


def test_a_table_of_many_blocks_counts_as_plain_numpy_does() -> None:
    records = binary(60, 50_000)
    asked = conjunctions(records.domain, count=40, repeats=False)
    held: list[NDArray[np.bool_]] = []
    for query in asked.members:
        truths = [
            asked.literals.accepts[member][records.codes[asked.literals.attribute[member]]] for member in query.tolist()
        ]
        held.append(np.logical_and.reduce(truths))
    with patch.object(counting, "_CACHED_WORDS", 1 << 12):
        assert asked.counts(records).tolist() == [int(one.sum()) for one in held]


def test_an_empty_table_counts_nothing_and_shares_nothing() -> None:
    empty = binary(5, 0)
    asked = conjunctions(empty.domain, count=50)
    assert asked.counts(empty).tolist() == [0] * 50
    assert asked.frequencies(empty).tolist() == [0.0] * 50
    assert asked.frequencies(empty, np.zeros(0)).tolist() == [0.0] * 50


def test_shares_divide_by_the_weight_of_all_records() -> None:
    records = binary(5, 100)
    asked = conjunctions(records.domain, count=50)
    np.testing.assert_allclose(asked.frequencies(records, np.full(100, 7.0)), asked.frequencies(records), rtol=1e-12)
    assert asked.frequencies(records).tolist() == (asked.counts(records) / 100).tolist()
    assert asked.frequencies(records, np.zeros(100)).tolist() == [0.0] * 50


def test_records_of_another_domain_are_refused() -> None:
    asked = conjunctions(binary(5, 1).domain, count=5)
    with pytest.raises(InputError, match="same domain as the workload"):
        asked.counts(binary(6, 3))
    with pytest.raises(InputError, match="same domain as the workload"):
        asked.weighted_counts(binary(6, 3), np.ones(3))


def test_weights_of_another_length_are_refused() -> None:
    records = binary(5, 3)
    with pytest.raises(InputError, match="one number for each record"):
        conjunctions(records.domain, count=5).weighted_counts(records, np.ones(4))


def test_packed_bits_beyond_the_last_record_are_zero() -> None:
    records = binary(2, 70)
    always = Literals(np.array([0], np.int32), np.array([[True, True]]))
    bits = packing.pack(always, records.codes)
    assert bits.shape == (1, 2)
    assert [int(word) for word in bits[0]] == [2**64 - 1, 2**6 - 1]

"""One-bit Hadamard response: one private bit in a public row, and an exact transform that counts agreement."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.audit import goodness_of_fit
from discreet.errors import InputError, ParameterError, StreamSpent
from discreet.laws.finite import Finite
from discreet.local.frequency.hadamard import OneBitHadamard, parity
from discreet.local.protocol.rational_coin import COIN_TOTAL
from discreet.local.protocol.spec import Spec
from discreet.randomness.rigor import ball, precision
from tests.randomness.sources import Script, swapped

EPSILONS = [Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4), Fraction(6)]


def made(epsilon: Fraction | float = 1, categories: int = 13) -> OneBitHadamard:
    return OneBitHadamard(epsilon=Fraction(epsilon), categories=categories)


def test_a_parity_counts_the_ones_in_common() -> None:
    rows, items = np.array([0, 1, 6, 7, 5]), np.array([9, 1, 6, 7, 12])
    assert parity(rows, items).tolist() == [0, 1, 0, 1, 1]


@pytest.mark.theorem("OneBitHadamard.privacy")
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_for_every_fixed_row_the_bit_alone_is_private(epsilon: Fraction) -> None:
    spec = made(epsilon)
    laws: dict[tuple[int, int], Fraction] = {}
    for item in range(spec.category_count):
        for report, mass in enumerate(spec.law(item).probabilities):
            laws[item, report] = mass * spec.rows  # given the row, which is uniform whatever the value
    with precision(256):
        bound = ball(epsilon).exp()
        for row in range(spec.rows):
            for bit in (0, 1):
                masses = [laws[item, 2 * row + bit] for item in range(spec.category_count)]
                ratio = max(masses) / min(masses)
                assert ball(ratio) <= bound
    assert all(
        sum(laws[item, 2 * row + bit] for bit in (0, 1)) == 1
        for item in range(spec.category_count)
        for row in range(spec.rows)
    )


@pytest.mark.theorem("OneBitHadamard.privacy")
def test_the_bit_of_a_client_is_the_parity_unless_the_coin_says_flip() -> None:
    spec = made(1, categories=13)
    for person in range(8):
        row = spec.row(person)
        for item in range(spec.category_count):
            for drawn in (0, 5, 15):  # the row that a client draws for itself does not matter
                for word, flipped in ((spec.coin - 1, 0), (spec.coin, 1), (0, 0), (COIN_TOTAL - 1, 1)):
                    chunk = 64  # few words are served from the start of a chunk
                    script = [drawn << 60] + [0] * (chunk - 1) + [word] + [0] * (chunk - 1)
                    with swapped(Script(script)):
                        bit = spec.client().bit(item, person=person)
                    assert bit == (row & item).bit_count() % 2 ^ flipped


def test_a_bit_is_the_one_report_of_its_client() -> None:
    client = made().client()
    client.bit(3, person=7)
    with pytest.raises(StreamSpent):
        client.bit(3, person=7)
    with pytest.raises(StreamSpent):
        client.report(3)
    reported = made().client()
    reported.report(3)
    with pytest.raises(StreamSpent):
        reported.bit(3, person=7)


def test_a_bit_without_its_row_is_refused_by_the_aggregator_and_counts_with_it() -> None:
    spec = made()
    bits = [spec.client().bit(3, person=person) for person in range(40)]
    assert {type(bit) for bit in bits} == {bool}
    for bare in (bits, np.array(bits)):
        aggregator = spec.aggregator().add(bare)
        assert (aggregator.people, aggregator.refused) == (0, 40)
        whole = spec.with_rows(bare, people=range(40))
        assert spec.aggregator().add(whole).people == 40
        assert whole.tolist() == [2 * spec.row(person) + int(bit) for person, bit in enumerate(bits)]


@pytest.mark.parametrize("value", [-1, 13, 2.5, "3", None, True])
def test_a_value_outside_the_domain_gives_no_bit(value: object) -> None:
    client = made().client()
    with pytest.raises(InputError):
        client.bit(value, person=0)
    assert client.bit(0, person=0) in (0, 1)


@pytest.mark.parametrize("person", [-1, 2**64, 1.0, "4", None, True, np.timedelta64(4)], ids=repr)
def test_a_person_has_a_public_number(person: object) -> None:
    client = made().client()
    with pytest.raises(InputError, match="person must be"):
        client.bit(3, person=person)  # type: ignore[arg-type]
    assert client.bit(3, person=5) in (0, 1)


def test_preferred_reports_are_listed_for_small_tables_only() -> None:
    assert made(1, categories=1 << 20).preferred(5).size == 1 << 20
    with pytest.raises(ParameterError, match="2\\^20 rows"):
        made(1, categories=(1 << 20) + 1).preferred(5)
    assert made(1, categories=1 << 40).client().report((1 << 40) - 1) < 1 << 41


def test_public_rows_are_spread_evenly_and_differ_between_specs() -> None:
    spec = made(1, categories=16)
    rows = [spec.row(person) for person in range(4096)]
    counts = np.bincount(rows, minlength=16)
    assert len(counts) == 16
    assert ((counts - 256) ** 2 / 256).sum() < 60  # fixed by the hash; a chi-square of 15 degrees
    assert rows != [made(2, categories=16).row(person) for person in range(4096)]


def test_bits_and_public_numbers_make_whole_reports() -> None:
    spec = made()
    reports = spec.with_rows([1, 0, 1], [4, 5, 2**63])
    assert reports.tolist() == [2 * spec.row(4) + 1, 2 * spec.row(5), 2 * spec.row(2**63) + 1]
    assert spec.aggregator().add(reports).people == 3
    assert spec.with_rows([], []).tolist() == []


@pytest.mark.parametrize(
    ("bits", "people"),
    [
        ([1, 0], [0]), (None, [0]), ([1], None), ([1], 5), ([1], [-1]), ([1], [None]), ([], [0]), ("1", [0]),
        (b"\1", [0]), (1, [0]), (np.array(1), [0]), (np.array([[1], [0]]), [0, 1]), ({0, 1}, [0, 1]),
        (pandas.DataFrame({"a": [1, 0], "b": [0, 1]}), [0, 1]),
    ],
)  # fmt: skip
def test_bits_without_one_person_each_are_refused(bits: Any, people: Any) -> None:
    with pytest.raises(InputError) as caught:
        made().with_rows(bits, people)
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    "hostile", [2, -1, 0.5, "1", b"1", None, 2**70, [1], [0, 1], float("nan"), np.timedelta64(1), np.array([1])]
)
def test_what_is_no_bit_is_refused_by_itself_and_counted(hostile: Any) -> None:
    spec = made()
    aggregator = spec.aggregator().add(spec.with_rows([1, hostile, False, np.uint8(1)], people=[4, 5, 6, 7]))
    assert (aggregator.people, aggregator.refused) == (3, 1)
    assert aggregator == spec.aggregator().add([2 * spec.row(4) + 1, -1, 2 * spec.row(6), 2 * spec.row(7) + 1])


def test_what_lies_behind_a_mask_is_no_bit() -> None:
    masked = np.ma.masked_array([True, False], mask=[False, True])
    assert made().with_rows(masked, [0, 1]).tolist() == [2 * made().row(0) + 1, -1]


@pytest.mark.parametrize(
    "column",
    [
        np.array([1, 0, 2], dtype=np.uint64),
        np.array([1, 0, -1], dtype=np.int8),
        np.array([1, -0.0, np.nan]),
        np.array([1, 0, np.inf], dtype=np.float32),
        [True, 0.0, None],
        (np.True_, np.float64(0), Decimal("NaN")),
        np.array([True, Decimal(0), "1"], dtype=object),
        pandas.Series([1, 0, None]),
        pandas.Series([1, 0, None], dtype="Int64"),
        polars.Series([True, False, None]),
        pyarrow.array([1, 0, None]),
        pyarrow.array([True, False, None]),
        pyarrow.chunked_array([[1, 0], [None]]),
    ],
    ids=lambda column: type(column).__name__,
)
def test_a_column_with_a_missing_bit_counts_the_bits_that_are_there(column: Any) -> None:
    spec = made()
    assert spec.with_rows(column, people=[4, 5, 6]).tolist() == [2 * spec.row(4) + 1, 2 * spec.row(5), -1]


def test_truth_values_of_an_array_are_bits_and_spans_of_time_are_none() -> None:
    spec = made()
    assert spec.with_rows(np.array([True, False]), [4, 5]).tolist() == [2 * spec.row(4) + 1, 2 * spec.row(5)]
    assert spec.with_rows(np.array([1, 0], dtype="m8[ns]"), [4, 5]).tolist() == [-1, -1]


@given(st.integers(2, 70), st.integers(0, 2**40), st.data())
def test_support_is_the_count_of_preferred_reports_exactly(values: int, large: int, data: st.DataObject) -> None:
    spec = made(categories=values)
    counts = np.array(data.draw(st.lists(st.integers(0, large), min_size=spec.cells, max_size=spec.cells)))
    assert spec.support(counts).tolist() == [int(counts[spec.preferred(item)].sum()) for item in range(values)]


def test_more_reports_than_floats_can_count_are_refused() -> None:
    spec = made(categories=2)
    assert spec.support(np.array([2**53 - 2, 1, 0, 0])).tolist() == [2**53 - 2, 2**53 - 2]
    with pytest.raises(InputError, match="2\\^53"):
        spec.support(np.array([2**53 - 1, 1, 0, 0]))


@pytest.mark.theorem("OneBitHadamard.accuracy")
@pytest.mark.parametrize("values", [2, 3, 8, 13])
def test_another_value_agrees_in_half_of_the_rows(values: int) -> None:
    spec = made(categories=values)
    sets = [set(spec.preferred(item).tolist()) for item in range(values)]
    for first in range(values):
        assert len(sets[first]) == spec.inside
        for second in range(first):
            assert len(sets[first] - sets[second]) == spec.apart
            assert sum(spec.law(second).probabilities[report] for report in sets[first]) == spec.shared


@pytest.mark.theorem("OneBitHadamard.accuracy")
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("frequency", [0.0, 0.25, 1.0])
def test_the_variance_is_that_of_the_formula(epsilon: Fraction, frequency: float) -> None:
    growth = math.exp(epsilon)
    expected = ((growth + 1) ** 2 / (growth - 1) ** 2 - frequency) / 1000
    assert made(epsilon, categories=1024).variance(1000, frequency) == pytest.approx(expected, rel=1e-12)


@pytest.mark.theorem("OneBitHadamard.accuracy")
def test_the_stated_ratios_to_the_optimum() -> None:
    ratios = [made(epsilon, 1024).variance(1) / made(epsilon, 1024).optimum(1) for epsilon in (0.5, 1, 2, 4)]
    assert [float(f"{ratio:.3g}") for ratio in ratios] == [1.06, 1.27, 2.38, 14.2]


def test_reports_of_real_clients_count_their_values() -> None:
    spec = made(2, categories=6)
    people = 40_000
    items = np.arange(people) % 3  # frequencies 1/3, 1/3, 1/3, 0, 0, 0
    counts = np.bincount(spec.client().report_many(items), minlength=spec.cells)
    support = spec.support(counts)
    for item in range(6):
        mine = int(np.count_nonzero(items == item))
        mean = mine * float(spec.preference) + (people - mine) / 2
        assert abs(support[item] - mean) < 7 * math.sqrt(people) / 2  # a chance of 1e-12


def test_the_row_of_a_report_does_not_depend_on_the_value() -> None:
    spec = made(4, categories=8)
    uniform = Finite(range(8), [Fraction(1, 8)] * 8)
    for item in range(8):
        rows = spec.client().report_many(np.full(4000, item)) // 2
        assert not goodness_of_fit(uniform, rows.tolist()).alarm(1e-10)


def test_a_spec_travels_as_text() -> None:
    spec = made(Fraction(1, 3), categories=1000)
    again = Spec.from_json(spec.to_json())
    assert again == spec
    assert isinstance(again, OneBitHadamard)
    assert again.rows == 1024
    assert again.row(17) == spec.row(17)

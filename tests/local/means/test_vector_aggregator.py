"""Sums of directions: the same bytes under any split, from any source, and hostile reports refused one by one."""

from __future__ import annotations

import copy
import sqlite3
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.data.invention import coins
from discreet.errors import InputError, ParameterError
from discreet.local.frequency.direct_response import DirectResponse
from discreet.local.means.directions import UNIT_BITS
from discreet.local.means.unit_vectors import UnitVectors
from discreet.local.means.vector_aggregator import VectorAggregator
from discreet.local.protocol.aggregator import sealed
from discreet.local.protocol.client import ReportBatch

SPEC = UnitVectors(epsilon=Fraction(2), dimension=5)


@pytest.mark.theorem("VectorAggregator.accuracy")
def test_any_split_and_order_gives_the_same_bytes() -> None:
    reports = coins(1).integers(0, SPEC.cells, size=5000)
    whole = SPEC.aggregator().add(reports)
    for parts, order in ((2, 1), (17, -1), (5000, 1)):
        merged = SPEC.aggregator()
        for part in np.array_split(reports[::order], parts)[:: -order if parts < 5000 else 1]:
            merged.merge(SPEC.aggregator().add(part))
        assert merged.to_bytes() == whole.to_bytes()
        assert merged == whole
    assert SPEC.aggregator().add(reports.tolist()) == whole
    assert SPEC.aggregator().add(ReportBatch.from_bytes(ReportBatch.of(SPEC, reports).to_bytes())) == whole


@pytest.mark.theorem("VectorAggregator.accuracy")
def test_sums_are_those_of_the_directions() -> None:
    reports = np.array([5, 5, 123456789])
    rows = SPEC.codebook.directions(reports)
    aggregator = SPEC.aggregator().add(reports)
    assert aggregator.sums.tolist() == rows.sum(axis=0).tolist()
    assert aggregator.squares.tolist() == (rows * rows >> UNIT_BITS).sum(axis=0).tolist()
    found = aggregator.estimate()
    assert found.value == pytest.approx(rows.mean(axis=0) / 2.0**24 / SPEC.normalization)
    assert found.standard_error == pytest.approx(
        rows.std(axis=0, ddof=1) / 2.0**24 / SPEC.normalization / 3**0.5, rel=1e-4
    )
    assert SPEC.aggregator().add_counts([5, 123456789], [2, 1]) == aggregator


def test_reports_counted_by_an_engine_give_the_same_bytes() -> None:
    reports = coins(2).integers(0, SPEC.cells, size=300).tolist()
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE TABLE fleet (report INTEGER)")
    connection.executemany("INSERT INTO fleet VALUES (?)", [(r,) for r in [*reports, *reports[:50], None, -3]])
    counted = SPEC.aggregator().add_query(connection, table="fleet", column="report")
    assert counted == SPEC.aggregator().add([*reports, *reports[:50], None, -3])
    assert counted.refused == 2
    connection.close()


@pytest.mark.parametrize(
    "hostile",
    [-1, SPEC.cells, 2**63, True, None, "7", 1.5, float("nan"), Decimal("0.5"), b"7", 1j, [3], np.timedelta64(3, "ns")],
    ids=repr,
)
def test_hostile_reports_are_refused_one_by_one_and_counted(hostile: Any) -> None:
    aggregator = SPEC.aggregator().add([3, hostile, 4])
    assert (aggregator.people, aggregator.refused) == (2, 1)
    assert aggregator.add(np.array([1.5, np.nan, np.inf, -1.0])).refused == 5
    assert SPEC.aggregator().add([[1, 2], [3, 4]]).refused == 2
    assert SPEC.aggregator().add([[3]]).refused == 1
    assert aggregator.add(np.array([2**64 - 1, 8], dtype=np.uint64)).people == 3
    assert aggregator.add(np.ma.masked_array([1, 2], mask=[True, False])).people == 4


def test_a_whole_number_is_a_report_however_it_is_written() -> None:
    plain = SPEC.aggregator().add([3, 4, 5])
    for same in (
        [3.0, Decimal(4), np.int8(5)],
        np.array([3.0, 4.0, 5.0]),
        np.array([3, 4, 5], dtype=np.float32),
        [(3,), 4, 5],
    ):
        assert SPEC.aggregator().add(same) == plain
    assert SPEC.aggregator().add(range(3, 6)) == plain


@pytest.mark.parametrize("kind", ["timedelta64[ns]", "timedelta64[s]", "bool", "datetime64[ns]", "U3", "complex128"])
def test_columns_of_other_kinds_are_refused_whole(kind: str) -> None:
    column = np.array([1, 2, 3]).astype(kind)
    for given in (column, np.ma.masked_array(column, mask=[True, False, False])):
        aggregator = SPEC.aggregator().add(given)
        assert (aggregator.people, aggregator.refused) == (0, 3)


def test_aggregators_add_up_and_leave_their_parts_alone() -> None:
    parts = [SPEC.aggregator().add([number, -1]) for number in range(3)]
    whole = SPEC.aggregator().add([0, 1, 2, -1, -1, -1])
    assert parts[0] + parts[1] + parts[2] == whole
    assert sum(parts) == whole
    assert [part.people for part in parts] == [1, 1, 1]
    copied = parts[0].copy().add([7])
    assert (copied.people, parts[0].people) == (2, 1)
    for other in (1, 0.0, [3], None):
        with pytest.raises(TypeError):
            parts[0] + other  # type: ignore[operator]
    with pytest.raises(InputError, match="takes reports"):
        parts[0].merge([3])  # type: ignore[arg-type]


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_of_sums_stands_for_itself(copied: Callable[[VectorAggregator], VectorAggregator]) -> None:
    first = SPEC.aggregator().add([1, -1])
    second = copied(first)
    assert second == first
    second.add([2, -1])
    assert second == SPEC.aggregator().add([1, 2, -1, -1])
    assert first == SPEC.aggregator().add([1, -1])


def test_several_batches_of_vectors_are_counted_together_or_not_at_all() -> None:
    batches = [ReportBatch.of(SPEC, np.array(part)) for part in ([1, 2], [3])]
    whole = SPEC.aggregator().add([1, 2, 3])
    assert SPEC.aggregator().add(batches) == SPEC.aggregator().add(tuple(batches)) == whole
    other = ReportBatch.of(DirectResponse(epsilon=Fraction(1), categories=4), np.array([1]))
    for wrong in ([*batches, other], [*batches, 3]):
        with pytest.raises(InputError, match="nothing was counted"):
            whole.add(wrong)
    assert whole.people == 3


def test_sums_are_not_merged_with_themselves_but_may_be_added_to_themselves() -> None:
    aggregator = SPEC.aggregator().add([1, 2, -1])
    with pytest.raises(InputError, match="twice; nothing was merged"):
        aggregator.merge(aggregator)
    assert aggregator == SPEC.aggregator().add([1, 2, -1])
    assert aggregator + aggregator == SPEC.aggregator().add([1, 2, -1, 1, 2, -1])


@pytest.mark.parametrize("spec", [None, "text", DirectResponse(epsilon=1, categories=4)])
def test_sums_of_directions_belong_to_a_spec_of_vectors(spec: Any) -> None:
    with pytest.raises(ParameterError, match="UnitVectors"):
        VectorAggregator.from_bytes(spec, SPEC.aggregator().to_bytes())
    with pytest.raises(ParameterError, match="UnitVectors"):
        VectorAggregator(spec)


@pytest.mark.parametrize(
    ("reports", "counts"),
    [([1, 2], [1]), ([1], [-1]), ([1], [1.5]), ([1], [None]), ([1], [True]), ([1], [2**40]), (7, [1]), ("1", [1])],
)
def test_counts_are_whole_numbers_and_not_too_many(reports: Any, counts: Any) -> None:
    aggregator = SPEC.aggregator()
    with pytest.raises(InputError, match="nothing was counted"):
        aggregator.add_counts(reports, counts)
    assert aggregator == SPEC.aggregator()


def test_bytes_are_read_back_and_anything_else_is_refused() -> None:
    aggregator = SPEC.aggregator().add([*range(20), -1])
    whole = aggregator.to_bytes()
    assert VectorAggregator.from_bytes(SPEC, whole) == aggregator
    data = whole[:-8]
    other = UnitVectors(epsilon=Fraction(1), dimension=5)
    fewer = data[:36] + (1).to_bytes(8, "little") + data[44:]
    minus = data[:36] + (-1).to_bytes(8, "little", signed=True) + data[44:]
    assert aggregator.squares.max() > 1 << UNIT_BITS
    crowd = data[:44] + (1 << 38).to_bytes(8, "little") + data[52:]
    square = data[:92] + (-5).to_bytes(8, "little", signed=True) + data[100:]
    for bad in (
        b"",
        None,
        "x",
        data,
        whole[:-1],
        whole + b"0",
        *map(sealed, (b"", crowd, square, data[:-1], data + b"0", b"X" + data[1:], minus, fewer)),
        sealed(data[:44] + b"\xff" * 8 + data[52:]),
    ):
        with pytest.raises(InputError):
            VectorAggregator.from_bytes(SPEC, bad)  # type: ignore[arg-type]
    for place in range(len(whole)):
        with pytest.raises(InputError):
            VectorAggregator.from_bytes(SPEC, whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
    with pytest.raises(InputError, match="another spec"):
        VectorAggregator.from_bytes(other, whole)


def test_more_reports_than_the_sums_can_hold_are_refused_with_the_refused_ones() -> None:
    half = SPEC.aggregator().add_counts([-1, 5], [1 << 36, 1 << 36])
    assert (half.people, half.refused) == (1 << 36, 1 << 36)
    whole = VectorAggregator.from_bytes(SPEC, half.to_bytes()).merge(half)
    with pytest.raises(InputError, match="2\\^38"):
        whole.merge(half)
    with pytest.raises(InputError, match="2\\^38"):
        whole.add([1])
    assert whole.people + whole.refused == 1 << 38


def test_nothing_is_mixed_with_another_spec() -> None:
    other = UnitVectors(epsilon=Fraction(1), dimension=5)
    with pytest.raises(InputError, match="another spec"):
        SPEC.aggregator().merge(other.aggregator())
    with pytest.raises(InputError, match="another spec"):
        SPEC.aggregator().add(other.client().batch([[1, 0, 0, 0, 0]]))
    with pytest.raises(InputError, match="no reports"):
        SPEC.aggregator().estimate()

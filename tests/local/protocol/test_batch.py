"""A batch is packed exactly, and hostile bytes are no batch."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError
from discreet.local import DirectResponse, ReportBatch

SPEC = DirectResponse(epsilon=1, categories=4)
GOOD = SPEC.client().batch([0, 1, 2]).to_bytes()


@given(st.integers(2, 1 << 40), st.data())
def test_any_reports_come_back_as_they_were(values: int, data: Any) -> None:
    spec = DirectResponse(epsilon=20, categories=values)
    reports = np.array(data.draw(st.lists(st.integers(0, values - 1), max_size=20)), dtype=np.int64)
    batch = ReportBatch.of(spec, reports)
    raw = batch.to_bytes()
    again = ReportBatch.from_bytes(raw)
    assert again == batch
    assert again.reports.tolist() == reports.tolist()
    assert len(raw) == 45 + spec.report_bytes * reports.size
    assert again.to_bytes() == raw


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint32, np.int64, np.uint64, ">i4"])
def test_the_type_of_the_column_does_not_change_the_bytes(kind: Any) -> None:
    assert ReportBatch.of(SPEC, np.array([3, 0, 2], dtype=kind)).to_bytes()[45:] == b"\x03\x00\x02"
    assert ReportBatch.of(SPEC, np.array([3, 9, 0, 9, 2], dtype=kind)[::2]).to_bytes()[45:] == b"\x03\x00\x02"


def test_a_report_that_does_not_fit_is_not_cut() -> None:
    for reports in ([256], [-1], [1 << 40]):
        with pytest.raises(InputError, match="fit"):
            ReportBatch.of(SPEC, np.array(reports)).to_bytes()
    with pytest.raises(InputError, match="fit"):
        ReportBatch(SPEC.digest, np.array([2**63], dtype=np.uint64), 8).to_bytes()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"DLB1",
        GOOD[:-1],
        GOOD + b"\x00",
        GOOD[:44],
        b"XXXX" + GOOD[4:],
        GOOD[:36] + b"\x00" + GOOD[37:],
        GOOD[:36] + b"\x09" + GOOD[37:],
        GOOD[:37] + b"\xff" * 8 + GOOD[45:],
        GOOD[:37] + (2**61).to_bytes(8, "little") + GOOD[45:],
    ],
    ids=[str(place) for place in range(10)],  # the reports in it are drawn anew in every process
)
def test_hostile_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(InputError):
        ReportBatch.from_bytes(data)


@pytest.mark.parametrize("data", [None, 3, "DLB1", [1, 2], np.zeros(50)])
def test_what_is_no_bytes_is_refused(data: Any) -> None:
    with pytest.raises(InputError):
        ReportBatch.from_bytes(data)


@given(st.binary(max_size=80))
def test_no_bytes_raise_anything_but_an_input_error(data: bytes) -> None:
    for raw in (data, GOOD[:36] + data, GOOD[:4] + data):
        with suppress(InputError):
            assert ReportBatch.from_bytes(raw).to_bytes() == raw


def test_bytes_like_objects_are_read_too() -> None:
    assert (
        ReportBatch.from_bytes(bytearray(GOOD))
        == ReportBatch.from_bytes(memoryview(GOOD))
        == ReportBatch.from_bytes(GOOD)
    )


def test_reports_out_of_range_are_left_to_the_aggregator() -> None:
    read = ReportBatch.from_bytes(GOOD[:-1] + b"\xff")
    aggregator = SPEC.aggregator().add(read)
    assert (aggregator.people, aggregator.refused) == (2, 1)


@pytest.mark.parametrize(
    ("digest", "reports", "width"),
    [
        (b"short", np.array([1]), 1),
        ("x" * 32, np.array([1]), 1),
        (b"x" * 32, [1], 1),
        (b"x" * 32, np.array([1.0]), 1),
        (b"x" * 32, np.array([True]), 1),
        (b"x" * 32, np.array([[1]]), 1),
        (b"x" * 32, np.array([1]), 0),
        (b"x" * 32, np.array([1]), 9),
        (b"x" * 32, np.array([1]), True),
        (b"x" * 32, np.array([1]), 1.0),
    ],
)
def test_a_batch_of_something_else_is_refused(digest: Any, reports: Any, width: Any) -> None:
    with pytest.raises(InputError):
        ReportBatch(digest, reports, width)


def test_batches_differ_by_spec_and_by_order() -> None:
    first = ReportBatch.of(SPEC, np.array([0, 1]))
    assert first != ReportBatch.of(SPEC, np.array([1, 0]))
    assert first != ReportBatch.of(DirectResponse(epsilon=2, categories=4), np.array([0, 1]))
    assert first != "a batch"
    assert repr(first) == "ReportBatch(2 reports of 1 byte)"
    assert repr(ReportBatch.of(SPEC, np.array([0]))) == "ReportBatch(1 report of 1 byte)"

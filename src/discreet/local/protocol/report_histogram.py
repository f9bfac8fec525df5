"""A histogram of reports that anybody may have sent: entries that are not reports are refused, and counted too."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.local.protocol.inputs import Integers, array_or_none, is_integer

LARGEST_TOTAL = 1 << 62
_BLOCK = 1 << 20
_SPARSE = 16
_MOST_DIGITS = 40


def count_reports(reports: Any, histogram: Integers, already: int) -> tuple[int, int]:
    """Add reports to a histogram of `already` reports; return how many there were and how many were refused.

    A whole number is a report however it is written: 3, 3.0, Decimal(3), or (3,) as a row of a query. Data frames turn
    a column of integers into floats for one missing entry, and engines group 3 and 3.0 together; one odd report must
    not cost the others. What an entry is does not depend on the entries beside it, so that any split counts alike.
    """
    if isinstance(reports, np.ma.MaskedArray) and reports.ndim == 1:
        present = np.asarray(reports.compressed())
        masked = int(reports.size - present.size)
        seen, refused = count_reports(present, histogram, already + masked)
        return seen + masked, refused + masked
    if not isinstance(reports, list | tuple):
        packed = isinstance(reports, bytes | bytearray | memoryview)
        hint = ", and ReportBatch.from_bytes reads the bytes of a batch" if packed else ""
        reports = None if isinstance(reports, str | bytes | bytearray | dict | set) else array_or_none(reports)
        if reports is None or reports.ndim != 1:
            raise InputError(f"reports must be a batch, a list or one column of integers{hint}; nothing was counted")
    check_room(already + len(reports))
    if isinstance(reports, list | tuple) or reports.dtype.kind == "O":
        return len(reports), _count_objects(reports, histogram)
    numbers = reports.dtype.kind in "iuf"
    return len(reports), _count_array(reports, histogram) if numbers else len(reports)


def check_room(total: float, most: int = LARGEST_TOTAL) -> None:
    """Raise InputError if there are more reports than an aggregator can hold."""
    if total > most:
        raise InputError(f"an aggregator holds at most 2^{most.bit_length() - 1} reports; nothing was counted")


def count_groups(reports: Any, counts: Any, histogram: Integers, already: int) -> tuple[int, int]:
    """Add groups (a report, how many people sent it); return how many people there were and how many were refused."""
    rows, sizes = _as_list(reports), _as_list(counts)
    if rows is None or sizes is None or len(rows) != len(sizes):
        raise InputError("reports and counts must be columns of the same length; nothing was counted")
    people = [size for size in map(whole_or_none, sizes) if size is not None and size >= 0]
    if len(people) != len(sizes) or any(isinstance(size, float | np.floating) for size in sizes):
        raise InputError("counts must be whole numbers of at least 0, not floats; nothing was counted")
    check_room(already + sum(people))
    cells, refused = histogram.size, 0
    for report, size in zip(rows, people, strict=True):
        place = whole_or_none(report)
        if place is None or not 0 <= place < cells:
            refused += size
        else:
            histogram[place] += size
    return sum(people), refused


def checked_histogram(counts: Any, cells: int, people: Any) -> Integers:
    """Return counts as a column of `cells` integers whose sum is the number of people; raise InputError otherwise."""
    array = None if isinstance(counts, np.ma.MaskedArray) else array_or_none(counts)
    fitting = array is not None and array.shape == (cells,) and array.dtype.kind in "iu"
    if array is None or not fitting or int(array.min()) < 0 or float(array.sum(dtype=np.float64)) > LARGEST_TOTAL:
        raise InputError(f"counts must be a histogram of the reports: {cells} whole numbers of at least 0")
    if not is_integer(people) or int(array.sum()) != people:
        raise InputError("people must be the sum of the counts")
    return array.astype(np.int64, copy=False)


def _as_list(values: Any) -> list[Any] | None:
    """Return a column as Python objects, masked entries as None."""
    if isinstance(values, list | tuple):
        return list(values)
    if isinstance(values, np.ma.MaskedArray):
        return list(values.tolist()) if values.ndim == 1 else None
    array = None if isinstance(values, str | bytes | bytearray | dict | set) else array_or_none(values)
    return None if array is None or array.ndim != 1 else list(array.tolist())


def whole_or_none(value: Any) -> int | None:
    """Return a whole number exactly, in whatever type it is written; None for bool, text and anything else."""
    if is_integer(value):
        return int(value)
    if isinstance(value, float | np.floating):
        return int(value) if value.is_integer() else None
    short = isinstance(value, Decimal) and value.is_finite() and value.adjusted() < _MOST_DIGITS
    return int(value) if short and value == value.to_integral_value() else None


def _count_objects(values: Any, histogram: Integers) -> int:
    """Count Python objects one by one."""
    places = [whole_or_none(value[0] if type(value) is tuple and len(value) == 1 else value) for value in values]
    good = [place for place in places if place is not None and 0 <= place < histogram.size]
    np.add.at(histogram, np.array(good, dtype=np.int64), 1)
    return len(values) - len(good)


def _good(block: NDArray[Any], cells: int) -> NDArray[Any]:
    """Return the reports of a block that are from 0 to cells - 1, in a type that counts places."""
    if block.dtype.kind == "f":
        wide = block.astype(np.float64)
        good = (wide >= 0) & (wide < cells) & (wide == np.floor(wide))  # false for NaN
        return np.asarray(wide[good].astype(np.int64))
    if int(block.min()) < 0 or int(block.max()) >= cells:
        block = block[(block >= 0) & (block < cells)]
    return block.astype(np.int64) if block.dtype == np.uint64 else block


def _count_array(array: NDArray[Any], histogram: Integers) -> int:
    """Count an array of numbers block by block; a block of integers without a bad report is not copied."""
    cells, refused = histogram.size, 0
    step = max(_BLOCK, cells)
    for start in range(0, array.size, step):
        block = _good(array[start : start + step], cells)
        refused += min(step, array.size - start) - block.size
        if block.size * _SPARSE < cells:
            np.add.at(histogram, block, 1)
        else:
            histogram += np.bincount(block, minlength=cells)
    return refused

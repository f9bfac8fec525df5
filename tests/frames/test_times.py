"""Times of every unit become microseconds exactly, or are missing."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.frames.times import (
    ATTOSECONDS,
    FIRST_MICROSECOND,
    LAST_MICROSECOND,
    calendar_microseconds,
    in_microseconds,
    microsecond,
    python_times,
)

ENDS = (-(2**63) + 1, 2**63 - 1)
COUNTS = st.integers(*ENDS) | st.sampled_from([*ENDS, -1, 0, 1, -1000, -1001, 999])


@pytest.mark.parametrize("kind", ["M", "m"])
@pytest.mark.parametrize("unit", [unit for unit in ATTOSECONDS if unit != "us"])
@given(counts=st.lists(COUNTS, min_size=1, max_size=8))
def test_microseconds_are_those_of_exact_arithmetic(unit: str, kind: str, counts: list[int]) -> None:
    times = np.array([*counts, -(2**63)], dtype=np.int64).view(f"{kind}8[{unit}]")
    exact = [count * ATTOSECONDS[unit] // ATTOSECONDS["us"] for count in counts]
    wanted = [one if ENDS[0] <= one <= ENDS[1] else None for one in exact]
    found = in_microseconds(times)
    assert found.dtype == np.dtype(f"{kind}8[us]")
    shown = [None if np.isnat(one) else int(one.astype(np.int64)) for one in found]
    assert shown == [*wanted, None]


@given(counts=st.lists(COUNTS, max_size=8))
def test_the_calendar_ends_with_the_year_9999(counts: list[int]) -> None:
    found, inside = calendar_microseconds(np.array(counts, dtype=np.int64).view("M8[us]"))
    assert inside.tolist() == [FIRST_MICROSECOND <= count <= LAST_MICROSECOND for count in counts]
    assert found.tolist() == [count if held else 0 for count, held in zip(counts, inside, strict=True)]


@given(when=st.datetimes())
def test_a_time_is_the_same_microsecond_however_it_is_written(when: datetime) -> None:
    (wanted,), _ = calendar_microseconds(np.array([when], dtype="M8[us]"))
    for cell in (when, when.replace(tzinfo=UTC), when.isoformat(), np.datetime64(when)):
        assert microsecond(cell) == wanted
    assert python_times(np.array([when], dtype="M8[us]")) == [when]
    assert python_times(np.array([when], dtype="M8[us]"), zone=True) == [when.replace(tzinfo=UTC)]


def test_units_of_an_odd_number_of_nanoseconds_do_not_wrap_around():
    found = in_microseconds(np.array([2**62, 2**63 - 1, -1], dtype="M8[7ns]")).view(np.int64).tolist()
    assert found == [7 * 2**62 // 1000, 7 * (2**63 - 1) // 1000, -1]

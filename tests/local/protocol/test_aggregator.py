"""An aggregate adds up the same in any order, counts what it refuses, and reads only its own bytes."""

from __future__ import annotations

import copy
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas
import polars
import pyarrow
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.data.invention import coins
from discreet.errors import InputError, ParameterError
from discreet.local import Aggregator, Client, DirectResponse, ReportBatch, Spec
from discreet.local.protocol.aggregator import sealed
from discreet.local.protocol.report_histogram import LARGEST_TOTAL
from discreet.local.protocol.spec import _PROTOCOLS
from discreet.testing.hostile import HOSTILE_VALUES

SPEC = DirectResponse(epsilon=Fraction(1), categories=7)
WIDE = DirectResponse(epsilon=Fraction(10), categories=3000)
reports = st.lists(st.integers(-2, 8) | st.sampled_from([None, 1.0, True, "3", float("nan")]), max_size=30)
wide_reports = st.lists(st.integers(-5, 3100), max_size=40)


def of(*columns: Any) -> Aggregator:
    aggregator = SPEC.aggregator()
    for column in columns:
        aggregator.add(column)
    return aggregator


@given(reports)
def test_reports_are_counted_and_what_is_none_is_refused_one_by_one(column: list[Any]) -> None:
    good = [int(one) for one in column if type(one) in (int, float) and one in range(7)]
    aggregator = of(column)
    assert aggregator.counts.tolist() == np.bincount(np.array(good, dtype=np.int64), minlength=7).tolist()
    assert aggregator.people == len(good)
    assert aggregator.refused == len(column) - len(good)


@given(st.lists(reports, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_any_split_in_any_order_gives_the_same_bytes(columns: list[list[Any]], order: Any) -> None:
    whole = of([one for column in columns for one in column])
    parts = [of(column) for column in columns]
    order.shuffle(parts)
    merged = SPEC.aggregator()
    for part in parts:
        merged.merge(part)
    assert merged.to_bytes() == whole.to_bytes()


@given(reports, reports, reports)
def test_merging_is_associative_and_commutative_and_has_a_neutral_element(
    first: list[Any], second: list[Any], third: list[Any]
) -> None:
    a, b, c = of(first), of(second), of(third)
    assert ((a + b) + c).to_bytes() == (a + (b + c)).to_bytes()
    assert (a + b).to_bytes() == (b + a).to_bytes()
    assert (a + SPEC.aggregator()).to_bytes() == a.to_bytes()
    assert a == of(first), "a sum leaves its terms alone"


@given(wide_reports)
def test_bytes_come_back_as_the_same_aggregate_and_the_same_bytes(column: list[int]) -> None:
    aggregator = WIDE.aggregator().add(column)
    raw = aggregator.to_bytes()
    again = Aggregator.from_bytes(WIDE, raw)
    assert again == aggregator
    assert again.to_bytes() == raw


@given(st.lists(st.tuples(st.integers(0, 2999), st.integers(0, 1 << 50)), max_size=12), st.integers(0, 1 << 40))
def test_the_bytes_do_not_depend_on_how_the_counts_came_about(groups: list[tuple[int, int]], refused: int) -> None:
    first, second = WIDE.aggregator(), WIDE.aggregator()
    for aggregator, rows in ((first, groups), (second, groups[::-1])):
        aggregator.add_counts([row[0] for row in rows] + [-1], [row[1] for row in rows] + [refused])
    assert first.to_bytes() == second.to_bytes()
    assert Aggregator.from_bytes(WIDE, first.to_bytes()) == first


def test_the_shorter_form_is_written() -> None:
    few, many = WIDE.aggregator().add([5, 5, 17]), WIDE.aggregator().add(np.arange(3000))
    assert len(few.to_bytes()) == len(SPEC.aggregator().to_bytes()) + 2 * (2 + 1)
    assert len(many.to_bytes()) == len(WIDE.aggregator().to_bytes()) + 3000


def test_the_size_in_bytes_does_not_grow_with_people() -> None:
    sizes = [len(WIDE.aggregator().add_counts(range(3000), [n] * 3000).to_bytes()) for n in (1, 100, 255)]
    assert len(set(sizes)) == 1


PARTS = np.array([0, 1, 3, 3, 6, 2, 5, 5, 5])


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64])
@pytest.mark.parametrize("order", ["=", ">", "<"])
def test_integer_arrays_of_every_type_count_alike(kind: Any, order: str) -> None:
    typed = PARTS.astype(np.dtype(kind).newbyteorder(order))
    assert of(typed) == of(PARTS.tolist())
    assert of(np.repeat(typed, 2)[::2]) == of(PARTS.tolist())


def test_hostile_integers_of_every_type_are_refused_one_by_one() -> None:
    assert of(np.array([-128, 127, 3], dtype=np.int8)).refused == 2
    assert of(np.array([2**64 - 1, 2**63, 7, 6], dtype=np.uint64)).refused == 3
    assert of(np.array([-(2**63), 2**63 - 1, 0], dtype=np.int64)).refused == 2
    assert of(np.array([65535, 0], dtype=np.uint16)).counts.tolist() == [1, 0, 0, 0, 0, 0, 0]


@pytest.mark.parametrize(
    "column",
    [
        np.array([1.5, -2.0, np.nan]),
        np.array([np.inf, -np.inf, 7.0], dtype=np.float16),
        np.array([True, False, True]),
        np.array(["1", "2", "3"]),
        np.array([b"1", b"2", b"3"]),
        np.array([1j, 2, 3]),
        np.array(["2020-01-01"] * 3, dtype="datetime64[D]"),
        np.zeros(3, dtype=[("a", np.int64)]),
        [1.5, "2", None],
        [True, np.bool_(False), np.float64(0.5)],
        [10**400, -(10**400), 2**63],
        [1e300, float("inf"), np.float32("nan")],
        [Decimal("3.5"), Fraction(3), 3 + 0j],
        [Decimal("NaN"), Decimal("sNaN"), Decimal("1E+1000000")],
        [np.timedelta64(3, "D"), np.timedelta64(3), np.timedelta64("NaT")],
        [[1], (2, 2), {3}],
        [((2,),), ([2],), ()],
        np.array([None, "1", 1.5], dtype=object),
    ],
    ids=str,
)
def test_reports_of_another_kind_are_refused_one_by_one(column: Any) -> None:
    aggregator = of(column)
    assert (aggregator.people, aggregator.refused) == (0, 3)


def test_masked_reports_are_refused_and_the_others_counted() -> None:
    aggregator = of(np.ma.masked_array([1, 2, 99, 3], mask=[True, False, False, False]))
    assert (aggregator.people, aggregator.refused) == (2, 2)
    assert aggregator.counts[1] == 0


@pytest.mark.parametrize("column", [None, 3, "123", b"123", {1: 2}, {1, 2}, np.zeros((2, 2), int), np.array(3), object])
def test_what_is_no_column_is_refused_as_a_whole(column: Any) -> None:
    aggregator = of([1])
    with pytest.raises(InputError, match="nothing was counted"):
        aggregator.add(column)
    assert aggregator == of([1])


@pytest.mark.parametrize("value", HOSTILE_VALUES, ids=lambda value: type(value).__name__)
def test_no_hostile_value_crashes_the_collector(value: Any) -> None:
    aggregator = of([3, value])
    scalar = isinstance(value, float | np.integer | np.floating)
    assert aggregator.people == 1 + int(scalar and value in range(7))
    with suppress(InputError):
        aggregator.add(value)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.longdouble])
def test_whole_floats_count_so_that_one_missing_entry_does_not_cost_a_data_frames_column(kind: Any) -> None:
    column = np.array([0, 6, 6, np.nan, 6.5, -0.0, 7, -1, np.inf], dtype=kind)
    aggregator = of(column)
    assert aggregator.counts.tolist() == [2, 0, 0, 0, 0, 0, 2]
    assert aggregator.refused == 5
    assert of(column.tolist()) == of(column.astype(object)) == aggregator


def test_columns_of_data_frames_with_a_missing_entry_count_what_is_there() -> None:
    column = [3, 4, None, 99]
    for made in (
        pandas.Series(column),
        pandas.Series(column, dtype="Int64"),
        polars.Series(column),
        pyarrow.array(column),
        pyarrow.chunked_array([column]),
    ):
        assert of(made) == of(column)


def test_an_aggregate_is_not_merged_with_itself_but_may_be_added_to_itself() -> None:
    aggregator = of([1, 2, 99])
    with pytest.raises(InputError, match="twice; nothing was merged"):
        aggregator.merge(aggregator)
    assert aggregator == of([1, 2, 99])
    assert aggregator + aggregator == of([1, 2, 99, 1, 2, 99])


def test_merging_changes_and_returns_the_receiver_and_a_sum_is_new() -> None:
    first, second = of([1]), of([2, 99])
    total = sum([first, second])
    assert total == of([1, 2, 99])
    assert (first, second) == (of([1]), of([2, 99]))
    assert first.merge(second) is first
    assert first == total
    assert sum([first]) is not first
    with pytest.raises(TypeError):
        1 + first
    with pytest.raises(TypeError):
        False + first


def test_several_batches_are_counted_together_or_not_at_all() -> None:
    client = SPEC.client()
    batches = [client.batch([1, 2]), client.batch([3])]
    assert of(batches) == of(tuple(batches)) == of(batches[0], batches[1])
    other = DirectResponse(epsilon=Fraction(2), categories=7).client().batch([1])
    aggregator = of([1])
    with pytest.raises(InputError, match="another spec"):
        aggregator.add([*batches, other])
    with pytest.raises(InputError, match="not both"):
        aggregator.add([*batches, 3])
    assert aggregator == of([1])


def test_rows_of_a_query_count_like_their_one_entry_whatever_stands_beside_them() -> None:
    assert of([(3,), (99,), (None,), (2.0,)]) == of([3, 99, None, 2.0])
    assert of([(3,), 4]) == of([(3,)], [4]) == of([3, 4])


def test_a_masked_table_is_no_column_of_reports() -> None:
    with pytest.raises(InputError, match="nothing was counted"):
        of(np.ma.masked_array([[1, 2], [3, 4]], mask=[[False, False], [False, True]]))


def test_the_bytes_of_a_batch_are_refused_with_a_word_on_who_reads_them() -> None:
    with pytest.raises(InputError, match=r"ReportBatch\.from_bytes reads"):
        of(SPEC.client().batch([1]).to_bytes())


def test_where_all_was_refused_the_error_says_so_and_what_a_report_is() -> None:
    with pytest.raises(InputError) as caught:
        of(["a", "b"]).estimate()
    assert str(caught.value) == (
        "there are no reports to estimate from; 2 were refused: reports are integers from 0 to 6, use "
        "ReportBatch.from_bytes for bytes, and a client to make reports of values"
    )
    with pytest.raises(InputError, match="1 was refused"):
        of([99]).estimate()
    with pytest.raises(InputError, match=r"from$"):
        of([]).estimate()


@pytest.mark.parametrize(
    "make", [Aggregator, Client, lambda spec: ReportBatch.of(spec, PARTS)], ids=["aggregator", "client", "batch"]
)
def test_the_text_of_a_spec_is_no_spec_and_the_error_says_what_reads_it(make: Any) -> None:
    with pytest.raises(ParameterError, match=r"Spec\.from_json reads"):
        make(SPEC.to_json())
    with pytest.raises(ParameterError, match="takes a spec"):
        make(None)


def test_one_person_is_one_person() -> None:
    assert repr(of([1])) == "Aggregator(randomized-response, 1 person, 0 refused)"


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_a_copy_counts_for_itself(copied: Callable[[Aggregator], Aggregator]) -> None:
    first = of([1, 99])
    second = copied(first)
    assert second == first
    second.add([5, -1])
    assert (first.people, first.refused, second.people, second.refused) == (1, 1, 2, 2)
    assert first == of([1, 99])


def test_a_sum_leaves_no_shared_counts() -> None:
    first = of([1])
    total = first + of([2])
    total.add([1, 99])
    copied = first.copy()
    copied.add([5])
    assert first == of([1])


def test_a_batch_of_another_spec_is_refused_whole() -> None:
    other = DirectResponse(epsilon=Fraction(2), categories=7)
    aggregator = of([1])
    with pytest.raises(InputError, match="another spec"):
        aggregator.add(other.client().batch([1, 2, 3]))
    assert aggregator == of([1])
    with pytest.raises(InputError, match="another spec"):
        aggregator.merge(other.aggregator().add([1]))
    with pytest.raises(InputError, match="another spec"):
        Aggregator.from_bytes(SPEC, other.aggregator().to_bytes())
    assert aggregator == of([1])


def test_a_batch_is_counted_like_its_reports() -> None:
    batch = SPEC.client().batch(np.arange(1000) % 7)
    assert of(batch) == of(batch.reports) == of(ReportBatch.from_bytes(batch.to_bytes()))


def test_long_columns_are_counted_in_blocks_without_a_copy() -> None:
    column = np.arange(3_000_000, dtype=np.int64) % 3000
    column[::1_000_000] = -1
    WIDE.aggregator().add(column[:10])
    tracemalloc.start()
    aggregator = WIDE.aggregator().add(column)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert aggregator.refused == 3
    assert aggregator.people == 2_999_997
    assert aggregator.counts.max() - aggregator.counts.min() <= 3
    assert peak < column.nbytes, "memory is that of a block"


def test_a_few_reports_into_many_cells_and_many_reports_into_few_are_the_same_sum() -> None:
    column = coins(5).integers(0, 3000, 4000)
    one_by_one = WIDE.aggregator()
    for start in range(0, 4000, 100):
        one_by_one.add(column[start : start + 100])
    assert one_by_one == WIDE.aggregator().add(column) == WIDE.aggregator().add(column.tolist())


@pytest.mark.parametrize(
    ("groups", "people", "refused"),
    [
        (([0, 1, 1], [2, 3, 4]), 9, 0),
        (([0, None, 99, -1, 1.5, "2", True], [1, 2, 3, 4, 5, 6, 7]), 1, 27),
        (([np.timedelta64(3, "D"), 3], [1, 2]), 2, 1),
        (([Decimal(3), Decimal("3.5"), Decimal("NaN"), Decimal("1E+50")], [1, 1, 1, 1]), 1, 3),
        (([Decimal("3.00")], [Decimal(5)]), 5, 0),
        (([3, 10**400], [1 << 61, 1 << 60]), 1 << 61, 1 << 60),
        ((np.array([3, 4]), np.array([1, 2], dtype=np.uint64)), 3, 0),
        ((np.array([3.0, 4.5]), np.array([1, 2])), 1, 2),
        (([], []), 0, 0),
        (([5], [0]), 0, 0),
    ],
)
def test_groups_counted_elsewhere_are_added_exactly(groups: Any, people: int, refused: int) -> None:
    aggregator = SPEC.aggregator().add_counts(*groups)
    assert (aggregator.people, aggregator.refused) == (people, refused)


@pytest.mark.parametrize(
    "groups",
    [
        ([1], [-1]),
        ([1], [1.0]),
        ([1], [np.float64(1)]),
        ([1], [np.timedelta64(1)]),
        ([1], [True]),
        ([1], ["1"]),
        ([1], [None]),
        ([1], [float("nan")]),
        ([1], [Decimal("0.5")]),
        ([1], [LARGEST_TOTAL]),
        ([99], [LARGEST_TOTAL]),
        ([1, 2], [1 << 61, 1 << 61]),
        ([1, 2], [1]),
        ("12", [1, 2]),
        (None, None),
        (3, 4),
    ],
)
def test_groups_that_cannot_be_are_refused_whole(groups: Any) -> None:
    aggregator = of([1])
    with pytest.raises(InputError, match="nothing was counted"):
        aggregator.add_counts(*groups)
    assert aggregator == of([1])


def test_no_sum_goes_beyond_what_a_count_can_hold() -> None:
    half = SPEC.aggregator().add_counts([1], [1 << 61])
    more = SPEC.aggregator().add_counts([1], [(1 << 61) + 1])
    with pytest.raises(InputError, match="2\\^62"):
        half.copy().merge(more)
    full = half + half
    assert full.people == 1 << 62
    for column in ([1], np.array([1]), np.ma.masked_array([1], mask=[True]), ["no report"]):
        with pytest.raises(InputError, match="2\\^62"):
            full.add(column)
        with pytest.raises(InputError, match="2\\^62"):
            Aggregator.from_bytes(SPEC, full.to_bytes()).add(column)
    with pytest.raises(InputError, match="2\\^62"):
        (half + SPEC.aggregator().add_counts([-1], [1 << 61])).merge(of([1]))
    assert Aggregator.from_bytes(SPEC, full.to_bytes()) == full


def damaged() -> dict[str, bytes]:
    dense, sparse = of(PARTS).to_bytes()[:-8], WIDE.aggregator().add([5, 9, 9]).to_bytes()[:-8]
    head, body = dense[:-7], dense[-7:]
    wide_body = b"".join(bytes([one, 0]) for one in body)
    return {
        "empty": b"",
        "cut": dense[:-1],
        "longer": dense + b"\x00",
        "head only": dense[:20],
        "magic": b"DLB1" + dense[4:],
        "digest": dense[:5] + b"\x00" + dense[6:],
        "people": dense[:36] + b"\x0a" + dense[37:],
        "people high": dense[:43] + b"\x80" + dense[44:],
        "refused high": dense[:51] + b"\xff" + dense[52:],
        "count changed": dense[:-1] + b"\x09",
        "form": head[:52] + b"\x02" + head[53:] + body,
        "width 0": head[:53] + b"\x00" + head[54:] + body,
        "width 2, not the least": head[:53] + b"\x02" + head[54:] + wide_body,
        "width 255": head[:53] + b"\xff" + head[54:] + body,
        "entries": head[:54] + b"\x06" + head[55:] + body,
        "entries huge": head[:54] + b"\xff" * 8 + body,
        "sparse read as dense": sparse,
    }


@pytest.mark.parametrize("name", damaged())
@pytest.mark.parametrize("forged", [True, False])
def test_damaged_bytes_are_refused_with_the_right_seal_too(name: str, forged: bool) -> None:
    data = damaged()[name]
    with pytest.raises(InputError):
        Aggregator.from_bytes(SPEC, sealed(data) if forged else data)


@pytest.mark.parametrize("made", [of(PARTS), WIDE.aggregator().add([5, 9, 9, -1])])
def test_every_bit_that_flips_is_noticed(made: Aggregator) -> None:
    data = made.to_bytes()
    assert Aggregator.from_bytes(made.spec, data) == made
    for place in range(8 * len(data)):
        flipped = bytearray(data)
        flipped[place // 8] ^= 1 << place % 8
        with pytest.raises(InputError):
            Aggregator.from_bytes(made.spec, flipped)  # type: ignore[arg-type]


def sparse(places: list[int], counts: list[int], *, entries: int | None = None, people: int | None = None) -> bytes:
    """Write a sparse aggregate of WIDE as a hostile sender would."""
    head = WIDE.aggregator().to_bytes()[:36]
    total = sum(counts) if people is None else people
    middle = total.to_bytes(8, "little") + bytes(8) + b"\x01\x01"
    number = (len(places) if entries is None else entries).to_bytes(8, "little")
    body = b"".join(one.to_bytes(2, "little") for one in places) + bytes(counts)
    return sealed(head + middle + number + body)


def test_the_hostile_writer_can_write_a_good_one() -> None:
    assert Aggregator.from_bytes(WIDE, sparse([5, 9], [1, 2])) == WIDE.aggregator().add([9, 5, 9])


@pytest.mark.parametrize(
    "data",
    [
        sparse([9, 5], [2, 1]),
        sparse([5, 5], [1, 1]),
        sparse([5, 9], [1, 0]),
        sparse([5, 3000], [1, 1]),
        sparse([5, 65535], [1, 1]),
        sparse([5, 9], [1, 2], people=4),
        sparse([5, 9], [1, 2], entries=1 << 60),
        sparse([5, 9], [1, 2], entries=1),
        sparse(list(range(3000)), [1] * 3000),
    ],
)
def test_sparse_bytes_that_we_would_not_write_are_refused(data: bytes) -> None:
    with pytest.raises(InputError):
        Aggregator.from_bytes(WIDE, data)


@given(st.binary(max_size=40), st.integers(0, 62))
def test_no_bytes_raise_anything_but_an_input_error(data: bytes, place: int) -> None:
    good = of(PARTS).to_bytes()[:-8]
    bodies = (data, good[:place] + data, good[:place] + data + good[place + len(data) :])
    for raw in (*bodies, *(sealed(body) for body in bodies)):
        with suppress(InputError):
            assert Aggregator.from_bytes(SPEC, raw).to_bytes() == raw


@pytest.mark.parametrize("data", [None, 3, "DLA1", [1]])
def test_what_is_no_bytes_is_refused(data: Any) -> None:
    with pytest.raises(InputError):
        Aggregator.from_bytes(SPEC, data)


def test_counts_whose_sum_wraps_round_are_refused() -> None:
    head = SPEC.aggregator().to_bytes()[:36]
    counts = [(1 << 63) - 1, (1 << 63) - 4] + [1] * 5  # the sum is 2^64, and all are written
    raw = head + bytes(16) + b"\x00\x08" + (7).to_bytes(8, "little") + b"".join(c.to_bytes(8, "little") for c in counts)
    with pytest.raises(InputError):
        Aggregator.from_bytes(SPEC, sealed(raw))


def test_a_histogram_too_large_for_memory_is_refused_before_it_is_made() -> None:
    with pytest.raises(ParameterError, match="2\\^28"):
        DirectResponse(epsilon=20, categories=1 << 40).aggregator()


def test_nobody_is_an_error_and_not_a_nan() -> None:
    with pytest.raises(InputError, match="no reports"):
        SPEC.aggregator().estimate()
    with pytest.raises(InputError, match="no reports"):
        SPEC.aggregator().add([99, None]).estimate()


@dataclass(frozen=True, kw_only=True, eq=False)
class Unlisted(Spec):
    """A protocol of bare reports, without a list of values."""

    protocol: ClassVar[str] = "test-unlisted"
    cells = 5
    loss = None

    def derived(self) -> dict[str, Any]:
        return {}

    def items(self, values: Any) -> Any:
        raise NotImplementedError

    randomize = law = corners = items


_PROTOCOLS.pop(Unlisted.protocol)  # messages list the protocols that there are


def test_a_spec_without_a_list_of_values_is_aggregated_and_says_that_it_must_be_asked_itself() -> None:
    aggregator = Unlisted(epsilon=Fraction(1)).aggregator().add([0, 4, 5])
    assert (aggregator.people, aggregator.refused) == (2, 1)
    assert Aggregator.from_bytes(aggregator.spec, aggregator.to_bytes()) == aggregator
    with pytest.raises(ParameterError, match="ask Unlisted itself"):
        aggregator.estimate()


def test_other_things_are_not_merged_or_equal() -> None:
    aggregator = of([1])
    with pytest.raises(InputError):
        aggregator.merge([1])
    with pytest.raises(TypeError):
        aggregator + 3
    assert aggregator != 3
    with pytest.raises(TypeError):
        hash(aggregator)


COUNTING = """
import sys
import numpy as np
from discreet.local import ReportBatch, Spec
spec = Spec.from_json(open(sys.argv[1]).read())
aggregator = spec.aggregator()
for path in sys.argv[3:]:
    aggregator.add(ReportBatch.from_bytes(open(path, "rb").read()))
open(sys.argv[2], "wb").write(aggregator.to_bytes())
"""


def test_a_million_reports_over_processes_in_any_order_give_the_same_bytes(tmp_path: Path) -> None:
    (tmp_path / "spec.json").write_text(WIDE.to_json())
    column = WIDE.client().report_many(coins(8).integers(0, 3000, 1_000_000))
    whole = WIDE.aggregator().add(column).to_bytes()
    cuts = [0, 17, 250_000, 250_001, 900_000, 1_000_000]
    files = []
    for place, (start, end) in enumerate(pairwise(cuts)):
        files.append(tmp_path / f"{place}.batch")
        files[-1].write_bytes(ReportBatch.of(WIDE, column[start:end][::-1]).to_bytes())
    parts = [files[:2], files[2:4][::-1], files[4:]]
    workers = []
    for place, part in enumerate(parts):
        arguments = [str(tmp_path / "spec.json"), str(tmp_path / f"{place}.counts"), *map(str, part)]
        workers.append(subprocess.Popen([sys.executable, "-c", COUNTING, *arguments]))  # noqa: S603  our own
    assert [worker.wait() for worker in workers] == [0, 0, 0]
    parts = [(tmp_path / f"{place}.counts").read_bytes() for place in range(3)]
    for order in permutations(parts):
        merged = WIDE.aggregator()
        for part in order:
            merged.merge(Aggregator.from_bytes(Spec.from_json(WIDE.to_json()), part))
        assert merged.to_bytes() == whole

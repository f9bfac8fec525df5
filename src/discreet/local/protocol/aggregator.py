"""The side of the collector: an integer histogram of reports that adds up the same in any order.

An aggregate as bytes: the same bytes for the same counts, and nothing else is read.
"""

from __future__ import annotations

import hashlib
import struct
from typing import Any, ClassVar, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, ParameterError
from discreet.local.protocol.client import listed_batches
from discreet.local.protocol.inputs import Integers, counted, is_integer
from discreet.local.protocol.report_histogram import LARGEST_TOTAL, check_room, count_groups, count_reports
from discreet.local.protocol.spec import Spec, checked_spec
from discreet.local.protocol.sql_counts import counted_rows, counting_sql

_MOST_CELLS = 1 << 28
_MAGIC = b"DLA1"
_HEAD = struct.Struct("<4s32sQQBBQ")  # magic, digest, people, refused, form, bytes a count, entries
_DENSE, _SPARSE = 0, 1
_SEAL = 8  # bytes


class Connection(Protocol):
    """A connection or a cursor of Python's database interface; DuckDB and sqlite3 have one."""

    def execute(self, statement: str, /) -> Any:
        """Run a statement."""


class Aggregator:
    """The histogram of the reports under one spec: `add`, `merge`, `estimate`; its size does not depend on people.

    Hostile reports are rejected one by one and counted in `refused`: out of range, negative, of another kind. The state
    is one integer for each possible report, so that any split of the reports over machines, merged in any order, gives
    the same bytes. Not for several threads at once: give each its own and merge. An `add` that was interrupted halfway
    may have counted a part; go back to the last `to_bytes`.

    Cost. About two nanoseconds a report of an integer array, in blocks: memory is that of the histogram.

    >>> from discreet.local.frequency.direct_response import DirectResponse
    >>> spec = DirectResponse(epsilon=1, categories=4)
    >>> aggregator = spec.aggregator().add([0, 1, 3, 3, 99, None])
    >>> aggregator
    Aggregator(randomized-response, 4 people, 2 refused)
    >>> Aggregator.from_bytes(spec, aggregator.to_bytes()) == aggregator
    True
    """

    most: ClassVar[int] = LARGEST_TOTAL

    def __init__(self, spec: Spec) -> None:
        checked_spec(spec)
        if spec.cells > _MOST_CELLS:
            raise ParameterError(
                "an aggregator holds at most 2^28 counts; use a protocol whose reports have fewer outcomes, such as "
                "hashed keys"
            )
        self.spec = spec
        self.counts: Integers = np.zeros(spec.cells, dtype=np.int64)
        self.refused = 0
        self._seen = 0  # people + refused, kept so that nothing has to be summed to know that there is room

    @property
    def people(self) -> int:
        """The number of reports accepted."""
        return int(self.counts.sum())

    def add(self, reports: Any) -> Self:
        """Count reports: a batch or a list of batches, an array or a list of integers, or rows of one integer each.

        Entries that are not reports are rejected one by one and counted in `refused`.
        """
        batches = listed_batches(reports)
        for batch in batches:
            self._check_digest(batch.digest, "this batch was made under another spec; nothing was counted")
        check_room(self._seen + sum(map(len, batches)), self.most)
        for column in [batch.reports for batch in batches] or [reports]:
            self._note(*self._count(column))
        return self

    def _count(self, column: Any) -> tuple[int, int]:
        """Count one column; return how many entries there were and how many were refused."""
        return count_reports(column, self.counts, self._seen)

    def add_counts(self, reports: Any, counts: Any) -> Self:
        """Add reports that were counted elsewhere: each with the number of people who sent it."""
        return self._note(*count_groups(reports, counts, self.counts, self._seen))

    def add_query(self, connection: Connection, *, table: str | tuple[str, ...], column: str) -> Self:
        """Let an engine count the reports in a column of its own table; nothing but the counts leaves it.

        `connection` is DuckDB's, sqlite3's, psycopg's, or any other with Python's database interface, or a cursor of
        one. `table` is a name, or a tuple of names: ("schema", "fleet"). Nothing is counted unless all of it could be
        read. NULL and reports out of range are refused.
        """
        fresh = type(self)(self.spec)
        for reports, people in counted_rows(connection, counting_sql(table, column)):
            fresh.add_counts(reports, people)
        return self.merge(fresh)

    def merge(self, other: Aggregator) -> Self:
        """Add the counts of another aggregator of the same spec to this one, which changes, and return this one.

        Merging twice counts twice; `+` and `sum` make a new aggregator instead and leave their terms alone.
        """
        if other is self:
            raise InputError("merging an aggregator with itself would count everybody twice; nothing was merged")
        if not isinstance(other, type(self)):
            raise InputError("merge() takes an aggregator; add() takes reports")
        self._check_digest(other.spec.digest, "these reports were made under another spec; nothing was merged")
        check_room(self._seen + other._seen, self.most)
        self.counts += other.counts
        return self._note(other._seen, other.refused)

    def _note(self, seen: int, refused: int) -> Self:
        """Keep the books."""
        self._seen += seen
        self.refused += refused
        return self

    def _check_digest(self, digest: bytes, words: str) -> None:
        """Raise InputError on what belongs to another spec."""
        if digest != self.spec.digest:
            raise InputError(words)

    def copy(self) -> Self:
        """Return an aggregator of its own with the same counts."""
        return type(self)(self.spec).merge(self)

    __copy__ = copy  # the default would share the counts but not the number of refused reports

    def __add__(self, other: Aggregator) -> Self:
        return self.copy().merge(other) if isinstance(other, Aggregator) else NotImplemented

    def __radd__(self, other: int) -> Self:
        return self.copy() if is_integer(other) and other == 0 else NotImplemented

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Aggregator):
            return NotImplemented
        same = self.spec == other.spec and (self.people, self.refused) == (other.people, other.refused)
        return same and bool(np.array_equal(self.counts, other.counts))

    __hash__ = None  # type: ignore[assignment]  # counts change

    def to_bytes(self) -> bytes:
        """Return the state: the same bytes for the same counts, dense or sparse, whichever is shorter."""
        return packed(self.spec.digest, self.refused, self.counts)

    @classmethod
    def from_bytes(cls, spec: Spec, data: bytes) -> Self:
        """Read a state of this spec; raise InputError on anything that `to_bytes` would not have written."""
        read = cls(spec)
        refused = unpacked(data, spec.digest, read.counts)
        return read._note(read.people + refused, refused)

    def estimate(self) -> Any:
        """Estimate the frequency of every value: `Frequencies` for a protocol that has a list of values."""
        if not self.people:
            raise InputError(f"there are no reports to estimate from{self._why_none}")
        estimate = getattr(self.spec, "estimate", None)
        if estimate is None:
            raise ParameterError(
                f"{self.spec.protocol} has no list of values to estimate all of; ask {type(self.spec).__name__} itself "
                "with this aggregator"
            )
        return estimate(self.counts, self.people)

    @property
    def _why_none(self) -> str:
        """Why there are no reports, where all were refused."""
        if not self.refused:
            return ""
        refused = counted(self.refused, "was", "were")
        return (
            f"; {refused} refused: reports are integers from 0 to {self.spec.cells - 1}, use ReportBatch.from_bytes "
            "for bytes, and a client to make reports of values"
        )

    def __repr__(self) -> str:
        people = counted(self.people, "person", "people")
        return f"{type(self).__name__}({self.spec.protocol}, {people}, {self.refused:,} refused)"


def sealed(data: bytes) -> bytes:
    """Return data and the first eight bytes of its SHA-256, which show damage but not forgery.

    >>> unsealed(sealed(b"counts")), unsealed(b"C" + sealed(b"counts")[1:])
    (b'counts', None)
    """
    return data + hashlib.sha256(data).digest()[:_SEAL]


def unsealed(data: bytes) -> bytes | None:
    """Return what was sealed; None if a bit has changed since."""
    body = data[:-_SEAL]
    return body if sealed(body) == data else None


def packed(digest: bytes, refused: int, counts: Integers) -> bytes:
    """Return head, counts and seal: all counts, or the places and counts of those above zero, whichever is shorter.

    A count takes as many bytes as the largest needs; a place as many as the last one would.
    """
    people = int(counts.sum())
    width = _bytes_for(int(counts.max(initial=0)))
    places = np.flatnonzero(counts)
    dense, sparse = counts.size * width, places.size * (width + _bytes_for(counts.size - 1))
    if sparse < dense:
        head = _HEAD.pack(_MAGIC, digest, people, refused, _SPARSE, width, places.size)
        return sealed(head + _narrow(places, _bytes_for(counts.size - 1)) + _narrow(counts[places], width))
    return sealed(_HEAD.pack(_MAGIC, digest, people, refused, _DENSE, width, counts.size) + _narrow(counts, width))


def unpacked(data: Any, digest: bytes, counts: Integers) -> int:
    """Fill the counts, which are zero, from bytes and return how many were refused.

    Nothing longer than the counts is allocated, and anything that `packed` would not write for these counts raises
    InputError.
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise InputError("from_bytes takes the bytes of an aggregate")
    raw = bytes(data)
    if len(raw) < _HEAD.size + _SEAL or raw[: len(_MAGIC)] != _MAGIC:
        raise InputError("this is not an aggregate of reports")
    _, written, people, refused, form, width, entries = _HEAD.unpack_from(raw)
    if written != digest:
        raise InputError("this aggregate was made under another spec")
    if unsealed(raw) is None:
        raise InputError("this aggregate is damaged or was cut short: its checksum does not match")
    _fill(raw[_HEAD.size : -_SEAL], form, width, entries, counts)
    if people + refused > LARGEST_TOTAL or _total(counts) != people or packed(digest, refused, counts) != raw:
        raise InputError("this aggregate was not written by to_bytes(): its counts do not add up")
    return int(refused)


def _fill(body: bytes, form: int, width: int, entries: int, counts: Integers) -> None:
    """Read the counts of either form into place."""
    index = _bytes_for(counts.size - 1)
    if form == _DENSE:
        expected, sizes = entries == counts.size, width * entries
    else:
        expected, sizes = form == _SPARSE and entries <= counts.size, (width + index) * entries
    if not (expected and 1 <= width <= 8 and len(body) == sizes):
        raise InputError("this aggregate is not one of this spec: its counts have another size")
    if form == _DENSE:
        counts[:] = _wide(body, width)
        return
    places = _wide(body[: index * entries], index)
    if entries and not (int(places.max()) < counts.size and int(places.min()) >= 0):
        raise InputError("this aggregate names a report that does not exist")
    counts[places] = _wide(body[index * entries :], width)


def _bytes_for(largest: int) -> int:
    """Return how many bytes hold a number."""
    return max(1, -(-largest.bit_length() // 8))


def _narrow(values: NDArray[Any], width: int) -> bytes:
    """Write integers of `width` bytes each, little-endian."""
    wide = np.ascontiguousarray(values, dtype="<i8").view(np.uint8).reshape(-1, 8)
    return wide[:, :width].tobytes()


def _wide(raw: bytes, width: int) -> Integers:
    """Read integers of `width` bytes each."""
    narrow = np.frombuffer(raw, dtype=np.uint8).reshape(-1, width)
    wide = np.zeros((narrow.shape[0], 8), dtype=np.uint8)
    wide[:, :width] = narrow
    return wide.reshape(-1).view("<i8").astype(np.int64)


def _total(counts: Integers) -> int:
    """Return the exact sum, -1 if a count is negative; halves are summed apart so that nothing wraps round."""
    if int(counts.min(initial=0)) < 0:
        return -1
    return (int((counts >> 32).sum()) << 32) + int((counts & 0xFFFFFFFF).sum())

"""The side of the person: a value goes in, one randomized integer comes out, and travels alone or in a batch."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, NotCopyable, StreamSpent
from discreet.laws import Finite
from discreet.local.protocol.inputs import Integers, counted
from discreet.local.protocol.spec import Spec, checked_spec
from discreet.mechanisms import Mechanism
from discreet.privacy import PrivacyLoss, PureDP, Relation
from discreet.randomness.process import Process

_MAGIC = b"DLB1"
_HEAD = struct.Struct("<4s32sBQ")  # magic, digest, bytes a report, reports
_TYPES = {1: "<u1", 2: "<u2", 4: "<u4", 8: "<i8"}
_HOLDING = {3: 4, 5: 8, 6: 8, 7: 8}


class Client:
    """One person's client of a protocol.

    `report` answers once: a second report of the same person would cost epsilon again (see `MemoizedClient` for
    reporting through time). A refused value spends nothing; of two threads one gets the report; a forked child gets
    none, since
    its parent may have reported. `report_many` and `batch` are for many people at once, one value each: a simulation,
    or a trusted gateway.

    >>> from discreet.local.frequency.direct_response import DirectResponse
    >>> client = DirectResponse(epsilon=1, categories=4).client()
    >>> client.report(3) in range(4)
    True
    """

    def __init__(self, spec: Spec) -> None:
        self.spec = checked_spec(spec)
        self._process = Process.here()
        self._tickets = [True]  # list.pop is atomic: two threads cannot both take the one ticket

    def report(self, value: Any) -> int:
        """Return the one report of this person."""
        items = self.spec.items([value])
        if Process.here() != self._process:
            raise StreamSpent("this client belongs to another process, which may have reported; make a new one")
        if not self._take_ticket():
            raise StreamSpent("this client has reported under this spec; a second report would cost epsilon again")
        return int(self.spec.randomize(items)[0])

    def _take_ticket(self) -> bool:
        """Take the right to report, if it is still there."""
        try:
            return self._tickets.pop()
        except IndexError:
            return False

    def report_many(self, values: Any) -> Integers:
        """Return one report for each value, each of another person."""
        return self.spec.randomize(self.spec.items(values))

    def batch(self, values: Any) -> ReportBatch:
        """Return the reports of many people with the digest of the spec."""
        return ReportBatch(self.spec.digest, self.report_many(values), self.spec.report_bytes)

    def __repr__(self) -> str:
        return f"Client({self.spec.protocol})"

    def __copy__(self) -> Client:
        raise NotCopyable("a client reports once for its person; make another from the spec for another person")

    def __deepcopy__(self, _: Any) -> Client:
        return self.__copy__()

    def __reduce__(self) -> Any:
        return self.__copy__()


class Randomizer(Mechanism):
    """The randomized map from a value to a report, without the memory of a client: made for tests and audits.

    A client answers once for its person; this answers as often as it is called, each time at the price of a report.

    Privacy. Each call is epsilon-private for a change of the value, whoever collects.
        Proof: it draws by the same code as a client; see `FrequencyOracle`, `ScalarMean` and `UnitVectors`.

    >>> from discreet.local.frequency.direct_response import DirectResponse
    >>> mechanism = DirectResponse(epsilon=1, categories=4).mechanism()
    >>> mechanism(3) in range(4), mechanism.guarantee
    (True, PureDP(epsilon=1.0, relation=Relation.CHANGE_ONE))
    """

    relation = Relation.CHANGE_ONE

    def __init__(self, spec: Spec) -> None:
        self.spec = spec

    @property
    def guarantee(self) -> PureDP:
        """The guarantee of the spec."""
        return self.spec.guarantee

    @property
    def loss(self) -> PrivacyLoss:
        """The price of one report."""
        return self.spec.loss

    def __call__(self, value: Any) -> Any:
        """Report a value, or each of an array of values, one person each."""
        if self.spec.several(value):
            return self.spec.randomize(self.spec.items(value))
        return int(self.spec.randomize(self.spec.items([value]))[0])

    def law(self, value: Any) -> Finite:
        """Return the exact law of the report of one value."""
        if self.spec.several(value):
            raise InputError("law() takes the value of one person; reports are independent")
        return self.spec.law(value)

    def neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield ordered pairs of a few values."""
        yield from permutations(self.spec.corners(), 2)

    def __repr__(self) -> str:
        return f"Randomizer({self.spec!r})"


@dataclass(frozen=True, eq=False, repr=False)
class ReportBatch:
    """Reports with the digest of their spec; `width` bytes each on the wire.

    Cost. One pass over the reports to pack or to read them; widths of 1, 2, 4 and 8 bytes are read without a copy.

    >>> from discreet.local.frequency.direct_response import DirectResponse
    >>> batch = DirectResponse(epsilon=1, categories=4).client().batch([0, 1, 2, 3, 3])
    >>> batch, len(batch.to_bytes())
    (ReportBatch(5 reports of 1 byte), 50)
    >>> ReportBatch.from_bytes(batch.to_bytes()) == batch
    True
    """

    digest: bytes
    reports: NDArray[Any]
    width: int

    def __post_init__(self) -> None:
        if not isinstance(self.digest, bytes) or len(self.digest) != 32:
            raise InputError("digest must be the 32 bytes of a spec's digest")
        if type(self.width) is not int or not 1 <= self.width <= 8:
            raise InputError("width must be 1 to 8 bytes")
        if not isinstance(self.reports, np.ndarray) or self.reports.dtype.kind not in "iu" or self.reports.ndim != 1:
            raise InputError("reports must be one column of integers")

    @classmethod
    def of(cls, spec: Spec, reports: NDArray[Any]) -> ReportBatch:
        """Label reports with their spec."""
        checked_spec(spec)
        return cls(spec.digest, reports, spec.report_bytes)

    def to_bytes(self) -> bytes:
        """Return magic, digest, width, number of reports, and the reports of `width` bytes each, little-endian."""
        self._check_width()
        head = _HEAD.pack(_MAGIC, self.digest, self.width, self.reports.size)
        holding = _HOLDING.get(self.width, self.width)
        packed = np.ascontiguousarray(self.reports, dtype=_TYPES[holding])
        if holding != self.width:
            packed = _columns(packed.view(np.uint8).reshape(-1, holding), self.width)
        return head + packed.tobytes()

    def _check_width(self) -> None:
        """Raise InputError if a report would be cut."""
        top = (1 << 8 * self.width) - 1 if self.width < 8 else (1 << 63) - 1
        if self.reports.size and not (int(self.reports.min()) >= 0 and int(self.reports.max()) <= top):
            raise InputError(f"a report of this batch does not fit into {self.width} bytes")

    @classmethod
    def from_bytes(cls, data: bytes) -> ReportBatch:
        """Read a batch; reports out of range are left to the aggregator, which rejects them one by one."""
        if not isinstance(data, bytes | bytearray | memoryview):
            raise InputError("from_bytes takes the bytes of a batch")
        raw = bytes(data)
        if len(raw) < _HEAD.size:
            raise InputError("this is not a batch of reports")
        magic, digest, width, count = _HEAD.unpack_from(raw)
        if magic != _MAGIC or not 1 <= width <= 8:
            raise InputError("this is not a batch of reports")
        if len(raw) - _HEAD.size != width * count:
            raise InputError("this batch was cut short, or something was added to it")
        return cls(digest, _unpacked(raw, width, count), width)

    def __len__(self) -> int:
        return int(self.reports.size)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ReportBatch):
            return NotImplemented
        same = self.digest == other.digest and self.width == other.width
        return same and bool(np.array_equal(self.reports, other.reports))

    __hash__ = None  # type: ignore[assignment]  # the reports may be a caller's own array

    def __repr__(self) -> str:
        return f"ReportBatch({counted(len(self), 'report', 'reports')} of {counted(self.width, 'byte', 'bytes')})"


def listed_batches(reports: Any) -> list[ReportBatch]:
    """Return the batches handed over, if any; a list of batches and other things is a mistake of the collector."""
    if isinstance(reports, ReportBatch):
        return [reports]
    if not isinstance(reports, list | tuple) or not any(isinstance(one, ReportBatch) for one in reports):
        return []
    batches = [one for one in reports if isinstance(one, ReportBatch)]
    if len(batches) != len(reports):
        raise InputError("a list must hold batches or reports, not both; nothing was counted")
    return batches


def _unpacked(raw: bytes, width: int, count: int) -> NDArray[Any]:
    """Return the integers behind the head."""
    holding = _HOLDING.get(width, width)
    if holding == width:
        return np.frombuffer(raw, dtype=_TYPES[width], offset=_HEAD.size)
    narrow = np.frombuffer(raw, dtype=np.uint8, offset=_HEAD.size).reshape(count, width)
    return _columns(narrow, holding).reshape(-1).view(_TYPES[holding])


def _columns(table: NDArray[np.uint8], width: int) -> NDArray[np.uint8]:
    """Return a table of bytes cut or filled up to `width` columns; column by column is faster than row by row."""
    made = np.zeros((table.shape[0], width), dtype=np.uint8)
    for column in range(min(width, table.shape[1])):
        made[:, column] = table[:, column]
    return made

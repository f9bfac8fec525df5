"""An aggregate as bytes: the same bytes for the same counts, and nothing else is read."""

from __future__ import annotations

import hashlib
import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError
from discreet.local.protocol.inputs import Integers
from discreet.local.protocol.report_counts import LARGEST_TOTAL

_MAGIC = b"DLA1"
_HEAD = struct.Struct("<4s32sQQBBQ")  # magic, digest, people, refused, form, bytes a count, entries
_DENSE, _SPARSE = 0, 1
_SEAL = 8  # bytes


def sealed(data: bytes) -> bytes:
    """Return data and the first eight bytes of its SHA-256, which tell damage; they do not tell a forger.

    >>> unsealed(sealed(b"counts")), unsealed(b"C" + sealed(b"counts")[1:])
    (b'counts', None)
    """
    return data + hashlib.sha256(data).digest()[:_SEAL]


def unsealed(data: bytes) -> bytes | None:
    """Return what was sealed, or None if a bit has changed since."""
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

    Nothing longer than the counts is allocated, and what `packed` would not write for these counts is refused.
    """
    if not isinstance(data, bytes | bytearray | memoryview):
        raise InputError("an aggregate is read from bytes")
    raw = bytes(data)
    if len(raw) < _HEAD.size + _SEAL or raw[: len(_MAGIC)] != _MAGIC:
        raise InputError("this is no aggregate of reports")
    _, written, people, refused, form, width, entries = _HEAD.unpack_from(raw)
    if written != digest:
        raise InputError("this aggregate was made under another spec")
    if unsealed(raw) is None:
        raise InputError("this aggregate is damaged or was cut short: its checksum does not fit")
    _fill(raw[_HEAD.size : -_SEAL], form, width, entries, counts)
    if people + refused > LARGEST_TOTAL or _total(counts) != people or packed(digest, refused, counts) != raw:
        raise InputError("this is no aggregate of ours: its counts do not add up or are not written as they should be")
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
    """Write integers of so many bytes, little-endian."""
    wide = np.ascontiguousarray(values, dtype="<i8").view(np.uint8).reshape(-1, 8)
    return wide[:, :width].tobytes()


def _wide(raw: bytes, width: int) -> Integers:
    """Read integers of so many bytes."""
    narrow = np.frombuffer(raw, dtype=np.uint8).reshape(-1, width)
    wide = np.zeros((narrow.shape[0], 8), dtype=np.uint8)
    wide[:, :width] = narrow
    return wide.reshape(-1).view("<i8").astype(np.int64)


def _total(counts: Integers) -> int:
    """Return the exact sum, -1 if a count is negative; halves are summed apart so that nothing wraps round."""
    if int(counts.min(initial=0)) < 0:
        return -1
    return (int((counts >> 32).sum()) << 32) + int((counts & 0xFFFFFFFF).sum())

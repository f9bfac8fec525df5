"""Exact answers to a workload: every literal a row of bits, every query a few ANDs or XORs and a popcount.

Bit r of a literal's row of 64-bit words is set where the literal holds for record r.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from discreet._compiled import available, compiled
from discreet.synthesis.domain import Codes, Records
from discreet.synthesis.workloads.workload import PADDING, Literals, Workload, checked_weights, require_own

_CACHED_WORDS = 1 << 18  # of all literals together: a block of rows whose bits stay in a core's own cache
_FEWEST_WORDS = 16
_NUMPY_WORDS = 1 << 20  # of all queries of one numpy step together


def counts(workload: Workload, records: Records) -> NDArray[np.int64]:
    """Return how many records satisfy each query, exactly.

    Cost. Every literal is packed once, a block of rows at a time, so that memory is bounded by one block: about two
        megabytes, and 128 bytes for each literal where there are very many. A conjunction of three literals on 100 000
        records then takes about a third of a microsecond, by numpy alone sixty times as long.
    """
    require_own(workload, records)
    total = np.zeros(len(workload), dtype=np.int64)
    if available():
        order, members = np.empty(len(workload), dtype=np.int64), np.empty_like(workload.members)
        _group(workload.members, len(workload.literals), order, members)
        parity, grouped = workload.parity[order], np.zeros_like(total)
        scratch = np.empty((2, _block(workload, records)), dtype=np.uint64)
        for _, bits in _blocks(workload, records):
            _add_counts(bits, members, parity, scratch, grouped)
        total[order] = grouped
    else:
        for _, bits in _blocks(workload, records):
            add_counts_by_numpy(bits, workload.members, workload.parity, total)
    return np.where(workload.negated, len(records) - total, total)


def weighted_counts(workload: Workload, records: Records, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the weight of the records that satisfy each query: a sum in double precision."""
    require_own(workload, records)
    weights = checked_weights(weights, records)
    padded = np.zeros(words(len(records)) * WORD)
    padded[: len(weights)] = weights
    total = np.zeros(len(workload))
    for start, bits in _blocks(workload, records):
        heavy = padded[start : start + bits.shape[1] * WORD]
        if available():
            _add_weights(bits, workload.members, workload.parity, heavy, total)
        else:
            add_weights_by_numpy(bits, workload.members, workload.parity, heavy, total)
    return np.where(workload.negated, weights.sum() - total, total)


def _block(workload: Workload, records: Records) -> int:
    """Return how many words of each literal are packed at a time."""
    fitting = max(_CACHED_WORDS // len(workload.literals), _FEWEST_WORDS)
    return min(fitting, words(len(records)))


def _blocks(workload: Workload, records: Records) -> Iterator[tuple[int, Words]]:
    """Yield the first row of each block and its bits."""
    packing = pack if available() else packed_by_numpy
    step = _block(workload, records) * WORD
    for start in range(0, len(records), max(step, 1)):
        yield start, packing(workload.literals, records.codes[:, start : start + step])


@compiled
def _group(members: NDArray[np.int32], literals: int, order: NDArray[np.int64], grouped: NDArray[np.int32]) -> None:
    """Put queries with the same two last literals together: `order` lists them, `grouped` has their literals falling.

    Two passes of counting, by the second literal and then by the first, keep this far cheaper than the counting of one
    block of records.
    """
    queries, ways = members.shape
    falling = members.copy()
    for query in range(queries):
        for place in range(1, ways):
            moved, to = falling[query, place], place
            while to > 0 and falling[query, to - 1] < moved:
                falling[query, to] = falling[query, to - 1]
                to -= 1
            falling[query, to] = moved
    before = np.arange(queries)
    for key in range(min(ways, 2) - 1, -1, -1):
        starts = np.zeros(literals + 2, dtype=np.int64)
        for query in range(queries):
            starts[falling[query, key] + 2] += 1
        for name in range(1, literals + 2):
            starts[name] += starts[name - 1]
        for place in range(queries):
            query = before[place]
            order[starts[falling[query, key] + 1]] = query
            starts[falling[query, key] + 1] += 1
        before = order.copy()
    for place in range(queries):
        grouped[place] = falling[order[place]]


@compiled
def _add_counts(
    bits: Words,
    members: NDArray[np.int32],
    parity: NDArray[np.bool_],
    scratch: Words,
    total: NDArray[np.int64],
) -> None:
    """Add the count of each query, its own negation aside; queries that share two literals share their AND."""
    # Numba offers no popcount; the compiler knows this sum of neighboring bits for one, and makes it an instruction.
    ones, twos, fours = np.uint64(0x5555555555555555), np.uint64(0x3333333333333333), np.uint64(0x0F0F0F0F0F0F0F0F)
    bytes_, one, two, four = np.uint64(0x0101010101010101), np.uint64(1), np.uint64(2), np.uint64(4)
    size, queries, ways = bits.shape[1], members.shape[0], members.shape[1]
    pair, held = scratch[0, :size], scratch[1, :size]
    first, second = -1, -1
    for query in range(queries):
        literals = 1
        while literals < ways and members[query, literals] >= 0:
            literals += 1
        found, odd = np.uint64(0), parity[query]
        if literals == 3 and not odd:
            if members[query, 0] != first or members[query, 1] != second:
                first, second = members[query, 0], members[query, 1]
                left, right = bits[first], bits[second]
                for word in range(size):
                    pair[word] = left[word] & right[word]
            last = bits[members[query, 2]]
            for word in range(size):
                x = pair[word] & last[word]
                x = x - ((x >> one) & ones)
                x = (x & twos) + ((x >> two) & twos)
                x = (x + (x >> four)) & fours
                found += (x * bytes_) >> np.uint64(56)
        else:
            held[:] = bits[members[query, 0]]
            for column in range(1, literals):
                other = bits[members[query, column]]
                for word in range(size):
                    held[word] = held[word] ^ other[word] if odd else held[word] & other[word]
            for word in range(size):
                x = held[word]
                x = x - ((x >> one) & ones)
                x = (x & twos) + ((x >> two) & twos)
                x = (x + (x >> four)) & fours
                found += (x * bytes_) >> np.uint64(56)
        total[query] += np.int64(found)


@compiled
def _add_weights(
    bits: Words,
    members: NDArray[np.int32],
    parity: NDArray[np.bool_],
    weights: NDArray[np.float64],
    total: NDArray[np.float64],
) -> None:
    """Add the weight of each query, its own negation aside, in one sum for each bit of a word."""
    sums = np.zeros(64)
    for query in range(members.shape[0]):
        sums[:] = 0.0
        for word in range(bits.shape[1]):
            held = bits[members[query, 0], word]
            for place in range(1, members.shape[1]):
                member = members[query, place]
                if member < 0:
                    break
                if parity[query]:
                    held ^= bits[member, word]
                else:
                    held &= bits[member, word]
            if held == 0:
                continue
            heavy = weights[word * 64 : word * 64 + 64]
            for bit in range(64):
                sums[bit] += heavy[bit] * np.float64((held >> np.uint64(bit)) & np.uint64(1))
        total[query] += sums.sum()


def add_counts_by_numpy(
    bits: Words, members: NDArray[np.int32], parity: NDArray[np.bool_], total: NDArray[np.int64]
) -> None:
    """Add the count of each query without a compiler."""
    for part, held in _held_by_numpy(bits, members, parity):
        total[part] += np.bitwise_count(held).sum(axis=1, dtype=np.int64)


def add_weights_by_numpy(
    bits: Words,
    members: NDArray[np.int32],
    parity: NDArray[np.bool_],
    weights: NDArray[np.float64],
    total: NDArray[np.float64],
) -> None:
    """Add the weight of each query without a compiler."""
    for part, held in _held_by_numpy(bits, members, parity):
        octets = held.astype("<u8", copy=False).view(np.uint8)
        total[part] += np.unpackbits(octets, axis=1, bitorder="little") @ weights


def _held_by_numpy(bits: Words, members: NDArray[np.int32], parity: NDArray[np.bool_]) -> Iterator[tuple[slice, Words]]:
    """Yield slices of queries with the bits of the records that satisfy them."""
    step = max(_NUMPY_WORDS // max(bits.shape[1], 1), 1)
    for start in range(0, len(members), step):
        part = slice(start, start + step)
        odd = parity[part, None]
        held = bits[members[part, 0]]
        for column in members[part, 1:].T:
            other, padded = bits[column], (column == PADDING)[:, None]
            joined = np.where(odd, held ^ other, held & other)
            held = np.where(padded, held, joined)
        yield part, held


WORD = 64
Words = NDArray[np.uint64]


def words(rows: int) -> int:
    """Return how many words hold one bit for each row."""
    return -(-rows // WORD)


def pack(literals: Literals, codes: Codes) -> Words:
    """Return the bits of every literal over the records of `codes`; bits beyond the last record are zero.

    >>> from discreet.synthesis import Domain
    >>> records = Domain.of(sex=["f", "m"]).encode({"sex": ["f", "m", "m"]})
    >>> male = Literals(np.array([0], np.int32), np.array([[False, True]]))
    >>> int(pack(male, records.codes)[0, 0]) == 0b110
    True
    """
    if not available():
        return packed_by_numpy(literals, codes)
    bits = np.empty((len(literals), words(codes.shape[1])), dtype=np.uint64)
    tops = codes.max(axis=1, initial=0).astype(np.int64) + 1
    codes = np.array(codes, order="C")  # a copy can be written to: one type to compile for
    _pack(literals.attribute, literals.accepts, codes, tops, bits)
    return bits


def packed_by_numpy(literals: Literals, codes: Codes) -> Words:
    """Return what `pack` returns, without a compiler."""
    rows = codes.shape[1]
    bits = np.zeros((len(literals), words(rows) * 8), dtype=np.uint8)
    for place, attribute in enumerate(literals.attribute):
        held = literals.accepts[place][codes[attribute]]
        bits[place, : -(-rows // 8)] = np.packbits(held, bitorder="little")
    packed: Words = bits.view("<u8").astype(np.uint64, copy=False)
    return packed


@compiled
def _pack(
    attribute: NDArray[np.int32],
    accepts: NDArray[np.bool_],
    codes: Codes,
    tops: NDArray[np.int64],
    bits: Words,
) -> None:
    """Fill the bits of every literal; `tops` are beyond the codes that occur."""
    flags = np.zeros(64, dtype=np.uint8)
    eights = flags.view(np.uint64)
    for place in range(len(attribute)):
        row, accepted = codes[attribute[place]], accepts[place]
        top = tops[attribute[place]]
        held = accepted[:top].sum()
        # One code accepted, or one refused: a comparison, which runs on many records at once, and no look-up.
        single = held == 1 or held == top - 1
        value = np.argmax(accepted[:top] == (held == 1))
        code, turned = np.uint16(value), np.uint8(held != 1)
        for word in range(bits.shape[1]):
            start = word * 64
            found = np.uint64(0)
            if single and start + 64 <= len(row):
                for bit in range(64):
                    flags[bit] = np.uint8(row[start + bit] == code) ^ turned
                for byte in range(8):  # the product moves the lowest bit of each of eight bytes into the last byte
                    gathered = (eights[byte] * np.uint64(0x0102040810204080)) >> np.uint64(56)
                    found |= gathered << np.uint64(8 * byte)
            else:
                for bit in range(min(64, len(row) - start)):
                    found |= np.uint64(accepted[row[start + bit]]) << np.uint64(bit)
            bits[place, word] = found

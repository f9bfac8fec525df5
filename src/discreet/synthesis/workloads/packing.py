"""Records as bits: one row of 64-bit words for each literal, bit r of it set where the literal holds for record r."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet._compiled import available, compiled
from discreet.synthesis.domain.domain import Codes
from discreet.synthesis.workloads.workload import Literals

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

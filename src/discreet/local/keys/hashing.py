"""A public, seeded family of hashes for keys that nobody can list: the same buckets in every language, on any machine.

The constants of a row are written down by SHA-256, so that a client in another language can make them: constant number
i of row r is SHA-256(b"discreet.local.hash/1" + seed (32 bytes) + purpose (4) + r (4) + i (4)), all integers
little-endian; it is read as a little-endian integer and reduced modulo 2^64 (a_0, ..., a_(w-1), b: i = 0, ..., w) or
modulo 2^31 - 1 (c_0, c_1, c_2: i = w + 1, w + 2, w + 3). Only accuracy rests on the hash: privacy does not. The loops
of hash and scrambling are compiled, and stand once more in numpy where numba is missing.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet._compiled import available, compiled
from discreet.errors import InputError, ParameterError
from discreet.local.protocol import Integers, whole_within

Words = NDArray[np.uint32]
PRIME = (1 << 31) - 1
_LABEL = b"discreet.local.hash/1"
_SEED_BITS = 256
_MOST_ROWS = 1 << 16
_MOST_WORDS = 1 << 10
SCRAMBLE = (1 << 32) - 1  # the purpose that scrambling uses unless told otherwise; hashes count from 0
_ROUNDS = 8
_BLOCK = 1 << 16  # keys of one numpy step


def public_seed(seed: object) -> int:
    """Return a public seed, an int of at most 256 bits."""
    if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 1 << _SEED_BITS:
        raise ParameterError("seed must be a public int from 0 to 2^256 - 1, drawn before any key", parameter="seed")
    return seed


def constant(seed: int, purpose: int, row: int, index: int) -> int:
    """Return one 256-bit constant of the written-down derivation.

    >>> hex(constant(1, 0, 0, 0) % 2**64)
    '0xf0ca57945c42f52e'
    """
    places = b"".join(number.to_bytes(4, "little") for number in (purpose, row, index))
    return int.from_bytes(hashlib.sha256(_LABEL + seed.to_bytes(32, "little") + places).digest(), "little")


class PublicHash:
    """`rows` independent hashes of keys of `words` 32-bit words into `range` buckets.

    With P = 2^31 - 1, the bucket of x is floor(y M / 2^31) for y = c_2 z^2 + c_1 z + c_0 mod P and the fingerprint
    z = floor(((a_0 + x_0)(a_1 + x_1) + (a_2 + x_2)(a_3 + x_3) + ... + b mod 2^64) / 2^33).

    Accuracy. For uniform constants and keys x, y, v that all differ: (1) a bucket has its u or u + 1 values out of P,
        where M u <= 2^31 < M (u + 1), less one for the last; (2) x and y share a bucket of a row with probability
        exactly `collision`, which is 1 / M up to 2^-28; (3) the events that x meets y and that x meets v have a
        covariance of at most 2^-29; (4) rows are independent.
        Proof: let x and y differ in word 0 (other words: by symmetry) and fix all constants but a_1 and b. The sums
        of x and y differ by a_1 (x_0 - y_0) plus something fixed. Since 0 < |x_0 - y_0| < 2^32 it is 2^s times an odd
        number with s <= 31, so that the difference is uniform on a coset of the multiples of 2^s modulo 2^64, and b
        makes the sum of y uniform, independently. Given the sum of y, the sum of x is uniform on such a coset, which
        meets every block of 2^33 consecutive numbers equally often. So the fingerprints of x and y are independent and
        uniform on 2^31 numbers; they agree modulo P with probability q = (2^31 + 2) / 2^62. A polynomial of degree 2
        with uniform coefficients has independent uniform values at three points that differ modulo P. So with s_b the
        part of bucket b, x and y collide with probability q + (1 - q) sum s_b^2, and x, y, v all with at most 3 q +
        sum s_b^3. Each s_b is 1 / M up to 2 / P, so that sum s_b^2 - 1 / M = sum (s_b - 1 / M)^2 <= 4 M / P^2, and
        sum s_b^3 - (sum s_b^2)^2, the variance of s_b for b drawn by s, is at most 4 / P^2: (2) and (3) follow.
    Cost. About 1.5 ns for a key of 64 bits and a row in `gathered`.
    Reference. Dietzfelbinger 1996; Carter, Wegman 1979; Thorup, High speed hashing for integers and strings, 2015.

    >>> hashing = PublicHash(seed=1, rows=3, range=100, words=2)
    >>> hashing.buckets(np.array([[5, 0], [6, 0]], dtype=np.uint32)).shape
    (2, 3)
    """

    def __init__(self, *, seed: int, rows: int, range: int, words: int, purpose: int = 0) -> None:
        self.seed = public_seed(seed)
        self.rows = whole_within(rows, 1, _MOST_ROWS, name="rows")
        self.range = whole_within(range, 1, PRIME, name="range")
        self.words = whole_within(words, 2, _MOST_WORDS, name="words")
        self.purpose = whole_within(purpose, 0, (1 << 32) - 1, name="purpose")
        if words % 2:
            raise ParameterError("words must be even; pad keys with a zero", parameter="words")

    @cached_property
    def constants(self) -> NDArray[np.uint64]:
        """The constants of every row: a_0, ..., a_(w-1), b, c_0, c_1, c_2."""
        return self._derived(range(self.rows))

    def _derived(self, rows: Sequence[int]) -> NDArray[np.uint64]:
        """Derive the constants of some rows."""
        made = np.empty((len(rows), self.words + 4), dtype=np.uint64)
        for place, row in enumerate(rows):
            for index in range(self.words + 4):
                modulus = 1 << 64 if index <= self.words else PRIME
                made[place, index] = constant(self.seed, self.purpose, row, index) % modulus
        return made

    @cached_property
    def collision(self) -> Fraction:
        """The probability that two keys share a bucket of a row, exactly."""
        size, larger = divmod(PRIME + 1, self.range)
        squares = larger * (size + 1) ** 2 + (self.range - larger) * size**2 - 2 * size + 1
        agree = Fraction((1 << 31) + 2, 1 << 62)
        return agree + (1 - agree) * Fraction(squares, PRIME**2)

    def buckets(self, keys: Words) -> Integers:
        """Return the bucket of every key in every row, of shape (keys, rows)."""
        keys, out = self._checked(keys), np.empty((len(keys), self.rows), dtype=np.int64)
        for row in range(self.rows):
            out[:, row] = self._hashed(keys, np.full(len(keys), row, dtype=np.int64), self.constants)
        return out

    def bucket(self, keys: Words, rows: Integers) -> Integers:
        """Return the bucket of each key in its own row, of shape (keys,).

        One person needs one row: for fewer keys than rows only the constants of the rows they are in are derived.
        """
        keys, rows = self._checked(keys), np.ascontiguousarray(rows, dtype=np.int64)
        if rows.shape != (len(keys),) or (rows.size and not 0 <= rows.min() <= rows.max() < self.rows):
            raise InputError("rows must be ints below the number of rows, one for each key")
        if rows.size >= self.rows or "constants" in self.__dict__:
            return self._hashed(keys, rows, self.constants)
        used, places = np.unique(rows, return_inverse=True)
        return self._hashed(keys, places.astype(np.int64), self._derived(used.tolist()))

    def _hashed(self, keys: Words, rows: Integers, constants: NDArray[np.uint64]) -> Integers:
        """Return the bucket of each key under its row of the constants."""
        out = np.empty(len(keys), dtype=np.int64)
        if available():
            bucket(keys, rows, constants, np.uint64(self.range), out)
        else:
            for start in range(0, len(keys), _BLOCK):
                part = slice(start, start + _BLOCK)
                out[part] = buckets_by_numpy(keys[part], constants[rows[part]].T, self.range)
        return out

    def gathered(self, keys: Words, tables: Integers) -> Integers:
        """Return the sum over rows of the table's entry at each key's bucket, for tables of shape (rows, range)."""
        keys, tables = self._checked(keys), np.ascontiguousarray(tables, dtype=np.int64)
        if tables.shape != (self.rows, self.range):
            raise InputError("tables must have one row for each row of the hash and one entry for each bucket")
        out = np.zeros(len(keys), dtype=np.int64)
        if available():
            gather(keys, self.constants, tables, out)
        else:
            for start in range(0, len(keys), _BLOCK):
                part = slice(start, start + _BLOCK)
                for row in range(self.rows):
                    out[part] += tables[row][buckets_by_numpy(keys[part], self.constants[row], self.range)]
        return out

    def _checked(self, keys: Words) -> Words:
        """Raise InputError on keys of another shape, without showing them."""
        if not isinstance(keys, np.ndarray) or keys.dtype != np.uint32 or keys.ndim != 2 or keys.shape[1] != self.words:
            raise InputError(f"keys must be uint32 of shape (keys, {self.words}), as `encode` returns them")
        return np.ascontiguousarray(keys)

    def __repr__(self) -> str:
        return f"PublicHash(rows={self.rows}, range={self.range}, words={self.words}, purpose={self.purpose})"


class Scramble:
    """A public seeded bijection of the integers of `bits` bits, 8 to 64: close numbers are sent far apart.

    A Feistel network: the number is cut into a high part of bits // 2 bits and a low part of the rest, and in eight
    rounds in turn the high part is XORed with a mix of the low part, then the low part with a mix of the high one. The
    mix of x in round i is the top bits of m(x + k_i mod 2^64), where m XORs its argument with itself shifted right by
    32, multiplies by 0xd6e8feb86659fd93 modulo 2^64, and does both once more; k_i is constant number i of row 0 under
    the purpose `purpose`, modulo 2^64. It is not secret and not meant to be.

    Accuracy. `backward` undoes `forward` for every number.
        Proof: each round XORs one part with a function of the other, which the round leaves as it was; so the same
        round undoes it, and the rounds are undone in the opposite order.
    Cost. About 20 ns a number.

    >>> scramble = Scramble(seed=1, bits=48)
    >>> scramble.backward(scramble.forward(np.arange(3, dtype=np.uint64)))
    array([0, 1, 2], dtype=uint64)
    """

    def __init__(self, *, seed: int, bits: int, purpose: int = SCRAMBLE) -> None:
        self.seed, self.bits = public_seed(seed), whole_within(bits, 8, 64, name="bits")
        self.purpose = whole_within(purpose, 0, (1 << 32) - 1, name="purpose")
        made = [constant(self.seed, self.purpose, 0, index) % (1 << 64) for index in range(_ROUNDS)]
        self._keys = np.array(made, dtype=np.uint64)

    def forward(self, numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Send each number to its place."""
        return self._through(numbers, self._keys, False)

    def backward(self, numbers: NDArray[np.uint64]) -> NDArray[np.uint64]:
        """Bring each number back."""
        return self._through(numbers, self._keys[::-1].copy(), True)

    def _through(self, numbers: NDArray[np.uint64], keys: NDArray[np.uint64], back: bool) -> NDArray[np.uint64]:
        """Run the rounds on both parts."""
        if not isinstance(numbers, np.ndarray) or numbers.dtype != np.uint64 or numbers.ndim != 1:
            raise InputError("numbers must be a one-dimensional array of uint64")
        if numbers.size and int(numbers.max()) >> self.bits:
            raise InputError(f"numbers must have at most {self.bits} bits")
        low = self.bits - self.bits // 2
        out = numbers.copy()
        (feistel if available() else feistel_by_numpy)(out, keys, self.bits // 2, low, back)
        return out


def buckets_by_numpy(keys: Words, constants: NDArray[np.uint64], span: int) -> Integers:
    """Hash with the constants of one row, or of a row for each key (then of shape (words + 4, keys))."""
    words = keys.shape[1]
    wide = keys.astype(np.uint64)
    total = np.broadcast_to(constants[words], len(keys)).copy()
    for pair in range(0, words, 2):
        total += (constants[pair] + wide[:, pair]) * (constants[pair + 1] + wide[:, pair + 1])
    point, prime = total >> np.uint64(33), np.uint64(PRIME)
    value = (constants[words + 3] * point + constants[words + 2]) % prime
    value = (value * point + constants[words + 1]) % prime
    found: Integers = ((value * np.uint64(span)) >> np.uint64(31)).astype(np.int64)
    return found


@compiled
def bucket(keys: Any, rows: Any, constants: Any, span: Any, out: Any) -> None:
    """Hash each key in its own row."""
    words, prime, shift = keys.shape[1], np.uint64(2147483647), np.uint64(31)
    for place in range(keys.shape[0]):
        row = rows[place]
        total = constants[row, words]
        for pair in range(0, words, 2):
            total += (constants[row, pair] + keys[place, pair]) * (constants[row, pair + 1] + keys[place, pair + 1])
        point = total >> np.uint64(33)
        value = constants[row, words + 3] * point + constants[row, words + 2]
        value = ((value & prime) + (value >> shift)) * point + constants[row, words + 1]
        value = (value & prime) + (value >> shift)
        value = (value & prime) + (value >> shift)
        value = value - prime if value >= prime else value
        out[place] = np.int64((value * span) >> shift)


@compiled
def gather(keys: Any, constants: Any, tables: Any, out: Any) -> None:
    """Add up table entries at the buckets: a block of keys at a time, each loop plain enough to run on vectors."""
    words, prime, shift = keys.shape[1], np.uint64(2147483647), np.uint64(31)
    span, block = np.uint64(tables.shape[1]), 4096
    wide, work = np.empty((words, block), dtype=np.uint64), np.empty(block, dtype=np.uint64)
    for start in range(0, keys.shape[0], block):
        count = min(block, keys.shape[0] - start)
        sums = out[start : start + count]
        for place in range(count):
            for word in range(words):
                wide[word, place] = keys[start + place, word]
        for row in range(constants.shape[0]):
            table = tables[row]
            constant_0, constant_1 = constants[row, words + 1], constants[row, words + 2]
            constant_2 = constants[row, words + 3]
            work[:] = constants[row, words]
            for pair in range(0, words, 2):
                first, second, even, odd = constants[row, pair], constants[row, pair + 1], wide[pair], wide[pair + 1]
                for place in range(count):
                    work[place] += (first + even[place]) * (second + odd[place])
            for place in range(count):
                point = work[place] >> np.uint64(33)
                value = constant_2 * point + constant_1
                value = ((value & prime) + (value >> shift)) * point + constant_0
                value = (value & prime) + (value >> shift)
                value = (value & prime) + (value >> shift)
                value = value - prime if value >= prime else value
                work[place] = (value * span) >> shift
            for place in range(count):
                sums[place] += table[work[place]]


def feistel_by_numpy(numbers: Any, keys: Any, high_bits: int, low_bits: int, back: bool) -> None:
    """Run all rounds in place."""
    factor, half = np.uint64(0xD6E8FEB86659FD93), np.uint64(32)
    width = (np.uint64(high_bits), np.uint64(low_bits))
    parts = [numbers >> width[1], numbers & np.uint64((1 << low_bits) - 1)]
    for step, key in enumerate(keys):
        side = (step + back) % 2
        mixed = parts[1 - side] + key
        for _ in range(2):
            mixed = (mixed ^ (mixed >> half)) * factor
        parts[side] ^= mixed >> (np.uint64(64) - width[side])
    numbers[:] = (parts[0] << width[1]) | parts[1]


@compiled
def feistel(numbers: Any, keys: Any, high_bits: Any, low_bits: Any, back: Any) -> None:
    """Run all rounds in place."""
    factor, half = np.uint64(0xD6E8FEB86659FD93), np.uint64(32)
    to_high, to_low = np.uint64(64 - high_bits), np.uint64(64 - low_bits)
    cut, mask = np.uint64(low_bits), (np.uint64(1) << np.uint64(low_bits)) - np.uint64(1)
    for place in range(numbers.shape[0]):
        high, low = numbers[place] >> cut, numbers[place] & mask
        for step in range(keys.shape[0]):
            turn = (step + back) % 2 == 0
            mixed = (low if turn else high) + keys[step]
            mixed = (mixed ^ (mixed >> half)) * factor
            mixed = (mixed ^ (mixed >> half)) * factor
            if turn:
                high ^= mixed >> to_high
            else:
                low ^= mixed >> to_low
        numbers[place] = (high << cut) | low

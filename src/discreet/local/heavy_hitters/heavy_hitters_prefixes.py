"""Addresses as a tree of prefixes, which the search for heavy hitters walks: what all kinds of them share."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from discreet.local.keys.hashing import Words
from discreet.local.keys.keys import BytesKeys, Keys

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]
WORD = 32
FIRST_BITS = 16  # 65,536 nodes at the root: few enough to look at all of them


class Address(ABC):
    """A public one-to-one map from keys to strings of bits, left-aligned in words, as a tree of prefixes.

    A heavy key must have prefixes of its own, shared with no other heavy key: then what is known about any of its
    prefixes is known about the key, and evidence adds up along the path from the root.
    """

    def __init__(self, kind: Keys, seed: int) -> None:
        """Keep what is public."""
        self.kind, self.seed = kind, seed

    @property
    @abstractmethod
    def bits(self) -> int:
        """The length of an address."""

    @property
    @abstractmethod
    def first(self) -> int:
        """The length of the prefixes at the root, all of which are looked at."""

    @property
    @abstractmethod
    def unit(self) -> int:
        """The number of bits that a level may be made of: levels end at first + a multiple of it, or at `bits`."""

    @abstractmethod
    def of(self, words: Words) -> Words:
        """Return the addresses of keys."""

    @abstractmethod
    def keys(self, addresses: Words) -> Words:
        """Return the keys that whole addresses stand for."""

    @abstractmethod
    def genuine(self, addresses: Words) -> Mask:
        """Say which whole addresses are those of a key."""

    @abstractmethod
    def roots(self) -> Words:
        """Return all prefixes at the root."""

    @abstractmethod
    def children(self, nodes: Words, length: int, longer: int) -> tuple[Words, Integers, Floats]:
        """Return the children of prefixes, those of one node together; how many each has; and their log weights.

        The weights of the children of a node are what we believe of them before any report.
        """

    def prefix(self, addresses: Words, length: int) -> Words:
        """Return the first bits of addresses, the rest zero, in as few words as hold them."""
        cut = addresses[:, : words_of(length)].copy()
        for word in range(cut.shape[1]):
            kept = min(max(length - WORD * word, 0), WORD)
            cut[:, word] &= np.uint32(((1 << kept) - 1) << (WORD - kept))
        return cut

    def level_kind(self, length: int) -> Keys:
        """Return prefixes as a kind of keys, for the hashes of their level."""
        return BytesKeys(-(-length // 8))


def as_bytes(words: Words) -> NDArray[np.uint8]:
    """Return words as bytes, the most significant first."""
    return np.ascontiguousarray(words.astype(">u4")).view(np.uint8)


def as_words(raw: NDArray[np.uint8]) -> Words:
    """Return bytes, a multiple of four a row, as words."""
    return np.ascontiguousarray(raw).view(">u4").astype(np.uint32)


def words_of(bits: int) -> int:
    """Return the number of words that hold so many bits, always even."""
    return 2 * -(-bits // (2 * WORD))


def aligned(numbers: NDArray[np.uint64], bits: int) -> Words:
    """Return numbers of so many bits left-aligned in two words."""
    whole = numbers << np.uint64(64 - bits)
    words = np.empty((len(numbers), 2), dtype=np.uint32)
    words[:, 0], words[:, 1] = whole >> np.uint64(WORD), whole & np.uint64((1 << WORD) - 1)
    return words

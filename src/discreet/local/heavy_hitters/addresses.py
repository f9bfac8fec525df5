"""Where a key stands in the tree that the search walks: numbers are scrambled, long keys stand behind a fingerprint."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.local.heavy_hitters.heavy_hitters_fingerprint import Fingerprinted
from discreet.local.heavy_hitters.heavy_hitters_prefixes import (
    FIRST_BITS,
    WORD,
    Address,
    Floats,
    Integers,
    Mask,
    aligned,
)
from discreet.local.keys.hashing import Scramble, Words
from discreet.local.keys.keys import IntegerKeys, Keys

_LONGEST_SCRAMBLED = 64  # bits
_SHORTEST, _LONGEST = 8, 64  # bits of a number, bytes of a text


def address_of(kind: Keys, seed: int, alphabet: str | bytes | None = None) -> Address:
    """Return the addresses of a kind of keys; an alphabet is used for texts and bytes only."""
    letters = alphabet.encode("utf-8", "surrogatepass") if isinstance(alphabet, str) else alphabet
    if letters is not None and (isinstance(kind, IntegerKeys) or not isinstance(letters, bytes) or not letters):
        raise ParameterError("an alphabet is the letters of texts, or the bytes of bytes keys", parameter="alphabet")
    if isinstance(kind, IntegerKeys) and kind.bits < _SHORTEST:
        raise ParameterError("numbers of fewer than 8 bits can be listed: let `design` choose", parameter="keys")
    if kind.bits > 8 * _LONGEST:
        raise ParameterError(
            f"keys of more than {_LONGEST} bytes cannot be searched: cut or hash them", parameter="keys"
        )
    if isinstance(kind, IntegerKeys) and kind.bits <= _LONGEST_SCRAMBLED:
        return ScrambledNumber(kind, seed)
    return Fingerprinted(kind, seed, letters)


class ScrambledNumber(Address):
    """The address of a number of at most 64 bits is the number after `Scramble`.

    >>> address = ScrambledNumber(IntegerKeys(48), seed=1)
    >>> words = IntegerKeys(48).encode([7, 8])
    >>> bool((address.keys(address.of(words)) == words).all())
    True
    """

    @property
    def bits(self) -> int:
        """As many as a key has."""
        return self.kind.bits

    @property
    def first(self) -> int:
        """The first 16 bits."""
        return min(FIRST_BITS, self.bits)

    @property
    def unit(self) -> int:
        """Levels are as long as one likes."""
        return 1

    @cached_property
    def _scramble(self) -> Scramble:
        """The public bijection."""
        return Scramble(seed=self.seed, bits=self.bits)

    def of(self, words: Words) -> Words:
        """Scramble."""
        return aligned(self._scramble.forward(_number(words, self.bits)), self.bits)

    def keys(self, addresses: Words) -> Words:
        """Undo the scrambling."""
        return aligned(self._scramble.backward(_number(addresses, self.bits)), self.bits)

    def genuine(self, addresses: Words) -> Mask:
        """Every address is one."""
        return np.ones(len(addresses), dtype=np.bool_)

    def roots(self) -> Words:
        """Return all prefixes of `first` bits."""
        return aligned(np.arange(1 << self.first, dtype=np.uint64), self.first)

    def children(self, nodes: Words, length: int, longer: int) -> tuple[Words, Integers, Floats]:
        """Return all continuations of a prefix, all as likely."""
        count = 1 << (longer - length)
        numbers = _number(nodes, length)[:, None] << np.uint64(longer - length)
        made = aligned((numbers | np.arange(count, dtype=np.uint64)).ravel(), longer)
        return made, np.full(len(nodes), count), np.full(len(made), -np.log(count))


def _number(words: Words, bits: int) -> NDArray[np.uint64]:
    """Return the first bits, at most 64, as a number."""
    whole = words[:, 0].astype(np.uint64) << np.uint64(WORD) | words[:, 1]
    return np.asarray(whole >> np.uint64(64 - bits))

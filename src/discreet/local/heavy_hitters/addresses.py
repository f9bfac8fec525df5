"""Where a key stands in the tree of prefixes that the search walks.

Numbers are scrambled; long keys, texts above all, stand behind a fingerprint of the whole key, followed by their bytes,
one after the other.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.local.keys import BytesKeys, IntegerKeys, Keys, PublicHash, Scramble, TextKeys, Words
from discreet.local.protocol import Floats, Integers

Mask = NDArray[np.bool_]
WORD = 32
FIRST_BITS = 16  # 65,536 nodes at the root: few enough to look at all of them
_LONGEST_SCRAMBLED = 64  # bits
_SHORTEST, _LONGEST = 8, 64  # bits of a number, bytes of a text
_PURPOSE = (1 << 32) - 2  # of the hash; scrambling has the last one


class Address(ABC):
    """A public one-to-one map from keys to strings of bits, left-aligned in words, as a tree of prefixes.

    A heavy key must have prefixes of its own, shared with no other heavy key: then what is known about any of its
    prefixes is known about the key, and evidence adds up along the path from the root.
    """

    def __init__(self, kind: Keys, seed: int) -> None:
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
    """Return the number of words that hold `bits` bits, always even."""
    return 2 * -(-bits // (2 * WORD))


def aligned(numbers: NDArray[np.uint64], bits: int) -> Words:
    """Return numbers of `bits` bits left-aligned in two words."""
    whole = numbers << np.uint64(64 - bits)
    words = np.empty((len(numbers), 2), dtype=np.uint32)
    words[:, 0], words[:, 1] = whole >> np.uint64(WORD), whole & np.uint64((1 << WORD) - 1)
    return words


def address_of(kind: Keys, seed: int, alphabet: str | bytes | None = None) -> Address:
    """Return the addresses of a kind of keys; an alphabet is used for texts and bytes only."""
    letters = alphabet.encode("utf-8", "surrogatepass") if isinstance(alphabet, str) else alphabet
    if letters is not None and (isinstance(kind, IntegerKeys) or not isinstance(letters, bytes) or not letters):
        raise ParameterError("alphabet must be the letters of texts, or the bytes of bytes keys", parameter="alphabet")
    if isinstance(kind, IntegerKeys) and kind.bits < _SHORTEST:
        raise ParameterError("keys must have at least 8 bits; shorter ones are categories", parameter="keys")
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
        """The number of bits of a key."""
        return self.kind.bits

    @property
    def first(self) -> int:
        """The first 16 bits."""
        return min(FIRST_BITS, self.bits)

    @property
    def unit(self) -> int:
        """The lengths of levels are multiples of one bit."""
        return 1

    @cached_property
    def _scramble(self) -> Scramble:
        """The public bijection."""
        return Scramble(seed=self.seed, bits=self.bits)

    def of(self, words: Words) -> Words:
        """Return the scrambled keys."""
        return aligned(self._scramble.forward(_number(words, self.bits)), self.bits)

    def keys(self, addresses: Words) -> Words:
        """Undo the scrambling."""
        return aligned(self._scramble.backward(_number(addresses, self.bits)), self.bits)

    def genuine(self, addresses: Words) -> Mask:
        """Return True for each: every address belongs to a key."""
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


class Fingerprinted(Address):
    """The address of a long key is a public fingerprint of 16 bits in a word of its own, followed by its bytes.

    Texts share their beginnings, so that their prefixes do not scatter. Put behind a fingerprint of the whole key they
    do: "www." behind 17 is the beginning of one heavy address, not of all. The fingerprint costs nothing in the end,
    because the whole key must agree with it, which only one false key out of 2^16 does.

    >>> address = Fingerprinted(TextKeys(6), seed=1)
    >>> words = TextKeys(6).encode(["north", "süd"])
    >>> (
    ...     address.genuine(address.of(words)),
    ...     TextKeys(6).decode(address.keys(address.of(words))),
    ... )
    (array([ True,  True]), ['north', 'süd'])
    """

    def __init__(self, kind: Keys, seed: int, alphabet: bytes | None = None) -> None:
        super().__init__(kind, seed)
        self.alphabet = alphabet
        self._hash = PublicHash(seed=seed, rows=1, range=1 << FIRST_BITS, words=kind.words, purpose=_PURPOSE)
        self._length = -(-kind.bits // 8)

    @property
    def bits(self) -> int:
        """A word, and the bytes of a key."""
        return WORD + 8 * self._length

    @property
    def first(self) -> int:
        """The word of the fingerprint."""
        return WORD

    @property
    def unit(self) -> int:
        """The lengths of levels are multiples of eight bits."""
        return 8

    def of(self, words: Words) -> Words:
        """Put the fingerprint in front."""
        made = np.zeros((len(words), words_of(self.bits)), dtype=np.uint32)
        made[:, 0] = self._fingerprint(words)
        body = min(words.shape[1], made.shape[1] - 1)
        made[:, 1 : 1 + body] = words[:, :body]
        return made

    def keys(self, addresses: Words) -> Words:
        """Take the fingerprint off."""
        made = np.zeros((len(addresses), self.kind.words), dtype=np.uint32)
        body = min(self.kind.words, addresses.shape[1] - 1)
        made[:, :body] = addresses[:, 1 : 1 + body]
        return made

    def genuine(self, addresses: Words) -> Mask:
        """Say which fingerprints agree with their keys."""
        words = self.keys(addresses)
        agree = np.asarray(self._fingerprint(words) == addresses[:, 0])
        agree[agree] = self.kind.legal(words[agree])
        return agree

    def _fingerprint(self, words: Words) -> NDArray[np.uint32]:
        """Hash whole keys."""
        return self._hash.bucket(words, np.zeros(len(words), dtype=np.int64)).astype(np.uint32)

    def roots(self) -> Words:
        """Return all fingerprints."""
        return aligned(np.arange(1 << FIRST_BITS, dtype=np.uint64), WORD)

    def children(self, nodes: Words, length: int, longer: int) -> tuple[Words, Integers, Floats]:
        """Append bytes, one after the other."""
        count = len(nodes)
        parents, weights = np.arange(count), np.zeros(count)
        for place in range(length // 8, longer // 8):
            nodes, source, log = self._appended(nodes, place)
            parents, weights = parents[source], weights[source] + log
        return nodes, np.bincount(parents, minlength=count), weights

    def _appended(self, nodes: Words, place: int) -> tuple[Words, Integers, Floats]:
        """Return the nodes with every possible byte at a place of the address, where each came from, log weights."""
        raw = as_bytes(nodes)
        wide = np.zeros((len(nodes), 4 * words_of(8 * place + 8)), dtype=np.uint8)
        wide[:, : raw.shape[1]] = raw
        choices = self._choices(wide[:, 4:place], place - 4)
        counts = np.array([len(choice) for choice in choices], dtype=np.int64)
        source = np.repeat(np.arange(len(nodes)), counts)
        made = wide[source]
        made[:, place] = np.concatenate([*choices, np.zeros(0, dtype=np.uint8)])
        kept = self._kept(made, place)
        weights = -np.log(counts[source]) + np.where(self._ends(made, place), FIRST_BITS * np.log(2), 0.0)
        return as_words(made[kept]), source[kept], weights[kept]

    def _choices(self, before: NDArray[np.uint8], place: int) -> list[NDArray[np.uint8]]:
        """Return the bytes that may follow each beginning."""
        if isinstance(self.kind, TextKeys):
            return _text_choices(before, self._usual)
        unused = 8 * self._length - self.kind.bits if place == self._length - 1 else 0
        every = self._usual if not unused else np.arange(256, dtype=np.uint8)[:: 1 << unused]
        return [every] * len(before)

    @cached_property
    def _usual(self) -> NDArray[np.uint8]:
        """The bytes that a key is made of."""
        if self.alphabet is not None:
            return np.unique(np.frombuffer(self.alphabet, dtype=np.uint8))
        return np.arange(256, dtype=np.uint8)

    def _ends(self, raw: NDArray[np.uint8], place: int) -> Mask:
        """Say which keys are complete with this byte, and were not before: those whose fingerprint is checked now."""
        if place == 3 + self._length:
            ended = np.ones(len(raw), dtype=np.bool_)
        else:
            ended = (raw[:, place] == 0) & np.bool_(isinstance(self.kind, TextKeys))
        before = (raw[:, place - 1] == 0) if isinstance(self.kind, TextKeys) and place > 4 else np.zeros(1, np.bool_)
        return np.asarray(ended & ~before)

    def _kept(self, raw: NDArray[np.uint8], place: int) -> Mask:
        """Drop complete keys that do not agree with their fingerprint."""
        kept = np.ones(len(raw), dtype=np.bool_)
        ended = np.flatnonzero(self._ends(raw, place))
        full = np.zeros((len(ended), 4 * words_of(self.bits)), dtype=np.uint8)
        full[:, : raw.shape[1]] = raw[ended]
        kept[ended] = self.genuine(as_words(full))
        return kept


def _text_choices(before: NDArray[np.uint8], alphabet: NDArray[np.uint8]) -> list[NDArray[np.uint8]]:
    """Return the bytes that may follow each beginning of a text in UTF-8, zero (the end) included.

    Behind the end there are zeros only; a leading byte is followed by as many bytes 10xxxxxx as it announces.
    """
    following = alphabet[(alphabet >> 6) == 2]
    starting = alphabet[((alphabet >= 1) & (alphabet < 0x80)) | ((alphabet >= 0xC2) & (alphabet <= 0xF4))]
    end = np.zeros(1, dtype=np.uint8)
    after_text = np.concatenate([end, starting])
    count = len(before)
    awaited = np.zeros(count, dtype=np.int64)
    for back in range(1, min(3, before.shape[1]) + 1):
        byte = before[:, before.shape[1] - back]
        announced = (byte >= 0xC2).astype(np.int64) + (byte >= 0xE0) + (byte >= 0xF0)
        awaited = np.maximum(awaited, announced - (back - 1))
    ended = (before[:, -1] == 0) if before.shape[1] else np.zeros(count, dtype=np.bool_)
    kinds = np.where(ended, 2, np.where(awaited > 0, 1, 0))
    table = (after_text, following, end)
    return [table[kind] for kind in kinds.tolist()]

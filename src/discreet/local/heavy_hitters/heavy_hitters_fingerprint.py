"""Addresses of long keys, texts above all: a fingerprint of the whole key, then its bytes, one after the other."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.local.heavy_hitters.heavy_hitters_prefixes import (
    FIRST_BITS,
    WORD,
    Address,
    Floats,
    Integers,
    Mask,
    aligned,
    as_bytes,
    as_words,
    words_of,
)
from discreet.local.keys.hashing import PublicHash, Words
from discreet.local.keys.keys import Keys, TextKeys

_PURPOSE = (1 << 32) - 2  # of the hash; scrambling has the last one


class Fingerprinted(Address):
    """The address of a long key is a public fingerprint of 16 bits in a word of its own, followed by its bytes.

    Texts share their beginnings, so that their prefixes do not scatter. Put behind a fingerprint of the whole key they
    do: "www." behind 17 is the beginning of one heavy address, not of all. The fingerprint costs nothing in the end,
    because the whole key must agree with it, which only one false key out of 2^16 does.

    >>> address = Fingerprinted(TextKeys(6), seed=1)
    >>> words = TextKeys(6).encode(["north", "süd"])
    >>> address.genuine(address.of(words)), TextKeys(6).decode(address.keys(address.of(words)))
    (array([ True,  True]), ['north', 'süd'])
    """

    def __init__(self, kind: Keys, seed: int, alphabet: bytes | None = None) -> None:
        """Keep the bytes that a key may be made of, if they are known."""
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
        """Levels are made of bytes."""
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

"""Random words: an AES-256-CTR keystream; the operating system gives a key for each block, and no key is kept.

A block of 128 KiB is enciphered under a fresh 256-bit key from the operating system; the key and the cipher are dropped
as soon as the block exists. So a state stolen later holds no key and no output handed out before, only the few words in
stock. There is no seed. Tests swap the source through `_swapped_source`, which is private.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CTR
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.randomness.reservoir import Reservoir, discard_all

BLOCK_WORDS = 1 << 14
_WORD_BYTES = 8
_CHUNK_WORDS = 64
_ZEROS = memoryview(bytes(BLOCK_WORDS * _WORD_BYTES))
_COUNTER = bytes(16)


def _operating_system_block(out: memoryview) -> None:
    """Fill at most one block with keystream under a new key."""
    encryptor = Cipher(AES(os.urandom(32)), CTR(_COUNTER)).encryptor()
    encryptor.update_into(_ZEROS[: len(out)], out)


_fill_block: Callable[[memoryview], None] = _operating_system_block


def _chunks(count: int) -> list[bytes]:
    """Draw chunks of 64 words for the small requests."""
    size = _CHUNK_WORDS * _WORD_BYTES
    count = min(count, BLOCK_WORDS // _CHUNK_WORDS)
    block = bytearray(count * size)
    _fill_block(memoryview(block))
    return [bytes(block[start : start + size]) for start in range(0, len(block), size)]


def _words(count: int) -> NDArray[np.uint64]:
    """Draw single words."""
    return words(max(count, 2 * _CHUNK_WORDS))


_small_requests = Reservoir(_chunks, blank=None)
_single_words = Reservoir(_words)


def check_count(count: int) -> None:
    """Raise ParameterError unless the argument is a number of draws."""
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 0:
        raise ParameterError("the number of draws must be an int of at least 0", parameter="count")


def words(count: int) -> NDArray[np.uint64]:
    """Return `count` independent uniform 64-bit words (read-only when few)."""
    check_count(count)
    if count <= _CHUNK_WORDS:
        return np.frombuffer(_small_requests.take(), dtype=np.uint64, count=count)
    out = np.empty(count, dtype=np.uint64)
    fill(out)
    return out


def fill(out: NDArray[np.uint64]) -> None:
    """Overwrite a contiguous array with independent uniform words."""
    raw = out.data.cast("B")
    step = BLOCK_WORDS * _WORD_BYTES
    for start in range(0, len(raw), step):
        _fill_block(raw[start : start + step])


def word() -> int:
    """Return one uniform 64-bit word as a Python integer."""
    return int(_single_words.take())


def bits(count: int) -> int:
    """Return a uniform integer of `count` bits."""
    check_count(count)
    result = 0
    for _ in range(count // 64):
        result = (result << 64) | word()
    rest = count % 64
    return (result << rest) | (word() >> (64 - rest)) if rest else result


@contextmanager
def _swapped_source(fill_block: Callable[[memoryview], None]) -> Iterator[None]:
    """Let a test supply the bytes; every buffer is dropped on the way in and on the way out."""
    global _fill_block  # noqa: PLW0603  the one private hook; there is no public way to choose a source
    before, _fill_block = _fill_block, fill_block
    discard_all()
    try:
        yield
    finally:
        _fill_block = before
        discard_all()

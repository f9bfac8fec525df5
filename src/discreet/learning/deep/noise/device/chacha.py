"""ChaCha20 in integer operations of torch: secure words made where they are used, under a key that is used once.

Every call takes a new 256-bit key from `discreet.randomness`, enciphers zeros with counters from 0 on, and drops the
key. So there is no state: nothing that a fork, a copy, a checkpoint or a replay could bring back, and no counter that
could come twice under one key.

The state of a block is 16 words of 32 bits, four rows of four: constants, key, key, counter and nonce. Ten times, four
quarter rounds work on the columns, then four on the diagonals. Words are int32: additions wrap, exclusive ors and
shifts to the left do not care about the sign, and bits that an arithmetic shift to the right brings in are masked. The
first use on a device is compared with the same cipher of the package `cryptography`, bit for bit, because all depends
on wrapping that no standard of tensors promises.
Reference. Bernstein 2008; Nir, Langley 2018 (RFC 8439).
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import torch
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20

from discreet.errors import AssumptionFailed, ParameterError
from discreet.randomness import words

Tensor = Any  # torch.Tensor: the checker of types reads nothing of torch

WORDS_PER_BLOCK = 8  # of 64 bits
_CONSTANTS = struct.unpack("<4i", b"expand 32-byte k")
_MOST_BLOCKS = 1 << 31
_CHUNK = {"cpu": 1 << 14}  # blocks at a time: on a processor as many as its caches hold
_LARGE_CHUNK = 1 << 21
_TRIED_BLOCKS = 67
_trusted: set[str] = set()


def keystream(count: int, device: Any = "cpu", key: bytes | None = None) -> Tensor:
    """Return `count` independent uniform 64-bit words as an int64 tensor, under a new key unless one is given.

    >>> keystream(5).shape
    torch.Size([5])
    """
    place = torch.device(device)
    _ensure_right(place)
    return _stream(new_key() if key is None else key, count, place)


def blocks(key: bytes, first: int, count: int, device: Any = "cpu", nonce: bytes = bytes(12)) -> Tensor:
    """Return `count` blocks of the cipher from a counter on, as int32 of shape (count, 16)."""
    if first < 0 or first + count > _MOST_BLOCKS:
        raise ParameterError("a key serves for 2^31 blocks; write a smaller count", parameter="count")
    device = torch.device(device)
    fixed = (*_CONSTANTS, *struct.unpack("<8i", key), 0, *struct.unpack("<3i", nonce))
    start = torch.tensor(fixed, dtype=torch.int32, device=device).unsqueeze(1).repeat(1, count)
    start[12] = torch.arange(first, first + count, dtype=torch.int32, device=device)
    mixed = start
    for _ in range(10):
        mixed = _double_round(mixed)
    return (mixed + start).t().contiguous()


def _double_round(state: Tensor) -> Tensor:
    """Mix the columns of all blocks, then the diagonals."""
    s = list(state.unbind(0))
    for turn in (0, 1):
        for i in range(4):
            at = (i, 4 + (i + turn) % 4, 8 + (i + 2 * turn) % 4, 12 + (i + 3 * turn) % 4)
            for place, word in zip(at, _quarter_round(*(s[place] for place in at)), strict=True):
                s[place] = word
    return torch.stack(s)


def _quarter_round(a: Tensor, b: Tensor, c: Tensor, d: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Mix four words of all blocks."""
    a = a + b
    d = _turned(d ^ a, 16)
    c = c + d
    b = _turned(b ^ c, 12)
    a = a + b
    d = _turned(d ^ a, 8)
    c = c + d
    b = _turned(b ^ c, 7)
    return a, b, c, d


def _turned(word: Tensor, bits: int) -> Tensor:
    """Rotate 32-bit words to the left."""
    return (word << bits) | ((word >> (32 - bits)) & ((1 << bits) - 1))


def _stream(key: bytes, count: int, device: Any) -> Tensor:
    """Return the first `count` 64-bit words of a key's stream."""
    chunk = _CHUNK.get(device.type, _LARGE_CHUNK)
    total = -(-count // WORDS_PER_BLOCK)
    parts = [blocks(key, first, min(chunk, total - first), device) for first in range(0, total, chunk)]
    if not parts:
        return torch.empty(0, dtype=torch.int64, device=device)
    return torch.cat([part.reshape(-1) for part in parts]).view(torch.int64)[:count]


def new_key() -> bytes:
    """Draw a key, which must be used once."""
    return bytes(words(4).tobytes())


def _ensure_right(device: Any) -> None:
    """Compare the cipher with another implementation of it, once for each device of a process."""
    name = str(device)
    if name in _trusted:
        return
    key, nonce = new_key(), words(2).tobytes()[:12]
    found = blocks(key, 1, _TRIED_BLOCKS, device, nonce).cpu().numpy()
    if not np.array_equal(found, reference(key, 1, _TRIED_BLOCKS, nonce)):
        raise AssumptionFailed(
            f"torch's 32-bit integers on {name!r} do not wrap as ChaCha20 needs. Nothing was sampled; train on the "
            "processor."
        )
    _trusted.add(name)


def reference(key: bytes, first: int, count: int, nonce: bytes = bytes(12)) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Return the same blocks from the package `cryptography`."""
    encryptor = Cipher(ChaCha20(key, struct.pack("<I", first) + nonce), None).encryptor()
    return np.frombuffer(encryptor.update(bytes(64 * count)), dtype="<i4").reshape(count, 16)

"""The draws of `DeviceNoise` in one kernel of a graphics card: the cipher, the table and the comparisons, in registers.

A kernel of Triton, which comes with torch for such cards; where it is missing, or finds no compiler for what it
starts kernels with, the same operations are done by torch one after the other. All is done in integers: 32-bit ones
without sign for the cipher, 64-bit ones for the table. Nothing depends on an order but the list of open pairs, in which
each stands with its place.
"""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

Tensor = Any
_BLOCKS = 256  # of the cipher, a program: two for each of its threads
_DRAWS_A_BLOCK = tl.constexpr(4)
_RESIDUAL = tl.constexpr(-(1 << 63))


@triton.jit
def _mixed(a, b, c, d):  # type: ignore[no-untyped-def]
    """Mix four words of all blocks: a quarter round."""
    a += b
    d ^= a
    d = (d << 16) | (d >> 16)
    c += d
    b ^= c
    b = (b << 12) | (b >> 20)
    a += b
    d ^= a
    d = (d << 8) | (d >> 24)
    c += d
    b ^= c
    b = (b << 7) | (b >> 25)
    return a, b, c, d


@triton.jit
def _word(low, high):  # type: ignore[no-untyped-def]
    """Return two words of 32 bits as one of 64."""
    return (high.to(tl.uint64) << 32) | low.to(tl.uint64)


@triton.jit
def _draw(first, second, place, inside, kept, outcomes, values, found, doubt, least, room, table, low):  # type: ignore[no-untyped-def]
    """Store a draw for each pair of words, and list the pairs that comparisons leave open."""
    column = (first >> (64 - table)).to(tl.int64)
    within = (first & ((1 << (64 - table)) - 1)).to(tl.int64)
    aliased = within >= tl.load(kept + column)
    chosen = tl.load(outcomes + column + (aliased.to(tl.int64) << table))
    bound = ((chosen ^ (chosen >> 63)) * 2 + 1) * doubt + least
    value = (chosen << low) | (second & ((1 << low) - 1)).to(tl.int64)
    left = ~second.to(tl.int64, bitcast=True)
    is_open = ((left >= 0) & (left <= bound)) | (chosen == _RESIDUAL) | (value == -1)
    tl.store(values + place, value - (value >> 63), mask=inside)
    is_open &= inside
    slot = tl.atomic_add(found + tl.zeros_like(place), tl.full(place.shape, 1, tl.int64), mask=is_open)
    fits = is_open & (slot < room)
    tl.store(found + 1 + slot, place, mask=fits)
    tl.store(found + 1 + room + slot, chosen, mask=fits)
    tl.store(found + 1 + 2 * room + slot, second.to(tl.int64, bitcast=True), mask=fits)


@triton.jit(do_not_specialize=["k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7", "doubt", "least"])  # type: ignore[untyped-decorator]
def _draws(  # type: ignore[no-untyped-def]
    k0, k1, k2, k3, k4, k5, k6, k7, doubt, least, kept, outcomes, values, found, count, blocks, room,
    table: tl.constexpr, low: tl.constexpr, width: tl.constexpr,
):  # fmt: skip
    """Make the blocks of a keystream, and four draws of each: draw j of block b stands at j blocks + b."""
    block = tl.program_id(0) * width + tl.arange(0, width)
    zero = tl.zeros([width], tl.uint32)
    f0, f1, f2, f3 = zero + 0x61707865, zero + 0x3320646E, zero + 0x79622D32, zero + 0x6B206574
    f4, f5 = zero + k0.to(tl.uint32, bitcast=True), zero + k1.to(tl.uint32, bitcast=True)
    f6, f7 = zero + k2.to(tl.uint32, bitcast=True), zero + k3.to(tl.uint32, bitcast=True)
    f8, f9 = zero + k4.to(tl.uint32, bitcast=True), zero + k5.to(tl.uint32, bitcast=True)
    f10, f11 = zero + k6.to(tl.uint32, bitcast=True), zero + k7.to(tl.uint32, bitcast=True)
    f12 = block.to(tl.uint32, bitcast=True)
    s0, s1, s2, s3, s4, s5, s6, s7 = f0, f1, f2, f3, f4, f5, f6, f7
    s8, s9, s10, s11, s12, s13, s14, s15 = f8, f9, f10, f11, f12, zero, zero, zero
    for _ in range(10):
        s0, s4, s8, s12 = _mixed(s0, s4, s8, s12)
        s1, s5, s9, s13 = _mixed(s1, s5, s9, s13)
        s2, s6, s10, s14 = _mixed(s2, s6, s10, s14)
        s3, s7, s11, s15 = _mixed(s3, s7, s11, s15)
        s0, s5, s10, s15 = _mixed(s0, s5, s10, s15)
        s1, s6, s11, s12 = _mixed(s1, s6, s11, s12)
        s2, s7, s8, s13 = _mixed(s2, s7, s8, s13)
        s3, s4, s9, s14 = _mixed(s3, s4, s9, s14)
    here, place = block < blocks, block.to(tl.int64)
    first, second = _word(s0 + f0, s1 + f1), _word(s2 + f2, s3 + f3)
    _draw(first, second, place, here & (place < count), kept, outcomes, values, found, doubt, least, room, table, low)
    first, second, place = _word(s4 + f4, s5 + f5), _word(s6 + f6, s7 + f7), place + blocks
    _draw(first, second, place, here & (place < count), kept, outcomes, values, found, doubt, least, room, table, low)
    first, second, place = _word(s8 + f8, s9 + f9), _word(s10 + f10, s11 + f11), place + blocks
    _draw(first, second, place, here & (place < count), kept, outcomes, values, found, doubt, least, room, table, low)
    first, second, place = _word(s12 + f12, s13), _word(s14, s15), place + blocks
    _draw(first, second, place, here & (place < count), kept, outcomes, values, found, doubt, least, room, table, low)


def draws(
    key: tuple[int, ...], count: int, kept: Tensor, outcomes: Tensor, doubts: tuple[int, int], low_bits: int, room: int
) -> tuple[Tensor, Tensor]:
    """Return the draws of a key, and the open ones: how many, then as many places, blocks and second words as fit."""
    blocks = -(-count // _DRAWS_A_BLOCK.value)
    values = torch.empty(count, dtype=torch.int64, device=kept.device)
    found = torch.empty(1 + 3 * room, dtype=torch.int64, device=kept.device)
    found[:1].zero_()
    with torch.cuda.device_of(kept):
        _draws[(-(-blocks // _BLOCKS),)](
            *key, *doubts, kept, outcomes, values, found, count, blocks, room,
            table=kept.numel().bit_length() - 1, low=low_bits, width=_BLOCKS,
        )  # fmt: skip
    return values, found

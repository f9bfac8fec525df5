"""How many people report on which prefixes: a public rule, from the number of people, epsilon and the keys alone."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

from discreet.errors import ParameterError
from discreet.local.heavy_hitters.addresses import FIRST_BITS, Address

LN_2 = math.log(2)
PRIOR = 4.0  # heavy keys at the limit of what can be seen that are expected before any report
CANDIDATES, MANY_CANDIDATES, _LONG = 1 << 15, 1 << 17, 48  # the second for addresses of more bits than the third
HELD_OUT = 0.1
_STEP = 5  # bits
_MARGIN = 2.5  # standard deviations of luck that a level allows for
_ROWS, _MOST_ROWS = 128, 512
_SPARE = 80.0
_ROWS_OF_A_LEVEL = 6
_BYTE = 7.5  # bits that a byte of a text is counted for


@dataclass(frozen=True)
class Levels:
    """The lengths of the prefixes, one for each level, and the rows of each; the last rows belong to the held-out."""

    lengths: tuple[int, ...]
    rows: tuple[int, ...]


def choose_levels(address: Address, *, error: float, points: int) -> Levels:
    """Return levels and rows for addresses of some length, the standard error of all people, and points of a row.

    The root has 2^16 prefixes, all of which are looked at. A step adds about 5 bits (a byte for texts), so that 2^10
    survivors of a level have 2^15 children, which a server looks at in a few milliseconds. Longer keys have more levels
    to be lost at, and four times the survivors.

    A wrong key that leaves the path of a right one before a level is refuted by the people of this level and the
    following ones only. With b bits to come there are 2^b of them, the best of which is sqrt(2 b ln 2) standard
    deviations lucky; so the levels from there on need people in proportion to (sqrt(2 b ln 2) + 2.5)^2, where 2.5
    allows for bad luck of the right key. That fixes all parts. Of all people a tenth is held out: their reports
    say how frequent the keys found are, and have no part in finding them.

    Keys that are not found cannot be peeled, and collide. They have frequencies below 8 errors, so their squares sum to
    less than 8 errors, and collisions add 8 error / (R K) to the variance of error^2: with R K = 80 / error that is a
    tenth.
    So there are as many rows, but no fewer than 128 and no more than 512, and 6 for every level.

    >>> from discreet.local.heavy_hitters.addresses import address_of
    >>> from discreet.local.keys.keys import IntegerKeys
    >>> choose_levels(address_of(IntegerKeys(48), seed=1), error=0.002, points=3280)
    Levels(lengths=(16, 21, 25, 30, 34, 39, 43, 48), rows=(30, 10, 8, 10, 9, 11, 10,
        27, 13))
    """
    lengths = _lengths(address)
    wanted = min(math.ceil(_SPARE / (error * points)), _MOST_ROWS)
    total = max(wanted, _ROWS, _ROWS_OF_A_LEVEL * (len(lengths) + 1))
    held_out = round(HELD_OUT * total)
    needed = [_people(_bits(address, length)) for length in (0, *lengths)]
    parts = [here - there for here, there in pairwise(needed)]
    return Levels(lengths, (*_apportioned(parts, total - held_out), held_out))


def survivors(children: float, bits: int) -> int:
    """Return how many prefixes of a level are followed, for nodes of `children` and addresses of `bits`."""
    return max(16, int((MANY_CANDIDATES if bits > _LONG else CANDIDATES) / max(children, 1.0)))


def signal_needed(bits: float) -> float:
    """Return how many standard deviations a key must stand out to differ from all 2^bits others."""
    return math.sqrt(max(2 * (bits * LN_2 - math.log(PRIOR)), 1.0))


def _lengths(address: Address) -> tuple[int, ...]:
    """Divide what comes after the root into equal steps of the unit."""
    rest = address.bits - address.first
    units = -(-rest // address.unit)
    steps = -(-rest // _STEP) if address.unit == 1 else units
    later = [address.first + address.unit * round(units * (step + 1) / steps) for step in range(steps)]
    return (address.first, *(min(length, address.bits) for length in later))


def _bits(address: Address, length: int) -> float:
    """Return the bits of an address behind a prefix, as they count: the fingerprint of a text has 16."""
    if address.unit == 1:
        return address.bits - length
    if length == 0:
        return FIRST_BITS + _BYTE / 8 * (address.bits - address.first)
    return _BYTE / 8 * (address.bits - length)


def _people(bits: float) -> float:
    """Return the people needed to refute 2^bits wrong keys, in arbitrary units."""
    return (math.sqrt(2 * LN_2 * bits) + _MARGIN) ** 2 if bits > 0 else 0.0


def _apportioned(parts: list[float], total: int) -> tuple[int, ...]:
    """Divide rows in proportion to parts: at least two each, the largest remainders first."""
    if total < 2 * len(parts):
        raise ParameterError("there are more levels than rows")
    rest, whole = total - 2 * len(parts), sum(parts)
    ideal = [max(part / whole * total - 2, 0.0) for part in parts]
    ideal = [rest * one / sum(ideal) for one in ideal]
    rows = [int(one) for one in ideal]
    order = sorted(range(len(parts)), key=lambda place: rows[place] - ideal[place])
    for place in order[: rest - sum(rows)]:
        rows[place] += 1
    return tuple(2 + row for row in rows)

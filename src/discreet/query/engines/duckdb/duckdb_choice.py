"""Which groups of a unit count, where it has more than its share: the ones with the smallest keyed hash.

A unit's factor x and a group's factor y are odd numbers below 2^31, and their product modulo 2^31 is the hash. For a
given unit the map from y to the hash is injective, so groups with different factors never tie; groups that share a
factor are told apart by their place in the order of keys. A unit's choice rests on its own rows and on public constants
alone, and every engine can make the same one: factors come from integers by multiplications, shifts and bit operations,
those of texts from the first 15 hexadecimal digits of MD5.
"""

from __future__ import annotations

import hashlib

from discreet.query.expression.types import Type

HASH_BITS = 31
MASK = (1 << HASH_BITS) - 1
CODE_BITS = 30
CODE_MASK = (1 << CODE_BITS) - 1
MULTIPLIERS = (1_103_515_245, 805_306_457)  # odd: multiplying by them permutes the residues of a power of 2
NULL_CODE = 715_827_883
KEY_MULTIPLIER = 1_000_000_007


def salt_of(lineage: str) -> int:
    """Return the public constant that makes the choice differ between sources."""
    return int.from_bytes(hashlib.sha256(lineage.encode()).digest()[:4], "big") & CODE_MASK


def whole(text: str, kind: Type) -> str:
    """Return the SQL text of an integer for a value; values with the same one are merely treated alike."""
    if kind is Type.INTEGER:
        return text
    if kind is Type.BOOLEAN:
        return f"CAST({text} AS BIGINT)"
    if kind is Type.REAL:
        return f"coalesce(TRY_CAST(floor({text} * 1024) AS BIGINT), 0)"
    if kind is Type.TEXT:
        return f"CAST('0x' || substr(md5({text}), 1, 15) AS BIGINT)"
    if kind is Type.DATE:
        return f"CAST({text} - DATE '1970-01-01' AS BIGINT)"
    return f"epoch_us({text})"


def key_code(texts: list[tuple[str, Type]]) -> str:
    """Return the SQL text of a code below 2^30 for keys that may be NULL."""
    code = "0"
    for text, kind in texts:
        own = f"(CASE WHEN {text} IS NULL THEN {NULL_CODE} ELSE {whole(text, kind)} & {CODE_MASK} END)"
        code = own if code == "0" else f"(({code}) * {KEY_MULTIPLIER} + {own}) & {CODE_MASK}"
    return code


def start(code: str) -> str:
    """Return the SQL text of the first half of a factor: a permutation of the codes below 2^30."""
    return f"(({code}) & {CODE_MASK}) * {MULTIPLIERS[0]} & {CODE_MASK}"


def unit_start(unit: str, kind: Type, salt: int) -> str:
    """Return the SQL text of the first half of a unit's factor."""
    return start(f"({whole(unit, kind)} & {CODE_MASK}) + {salt}")


def factor(half: str) -> str:
    """Return the SQL text of an odd factor from its first half: another permutation, doubled, and 1.

    The shift scatters neighbouring codes: without it the smallest products of consecutive ones would favour some.
    """
    return f"(xor({half}, {half} >> 15) * {MULTIPLIERS[1]} & {CODE_MASK}) * 2 + 1"


def hashed(unit: str, group: str) -> str:
    """Return the SQL text of the hash, below 2^31, of two factors."""
    return f"({unit} * {group} & {MASK})"

"""Grouping keys in DuckDB: as they are, or as numbers where the groups of a unit are chosen.

Where a unit has more groups than its share, those with the smallest keyed hash count. A unit's factor x and a group's
factor y are odd numbers below 2^31, and their product modulo 2^31 is the hash. For a given unit the map from y to the
hash is injective, so groups with different factors never tie; groups that share a factor are told apart by their place
in the order of keys. A unit's choice rests on its own rows and on public constants alone, and every engine can make the
same one: factors come from integers by multiplications, shifts and bit operations, those of texts from the first 15
hexadecimal digits of MD5.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace

from discreet.query.engines.duckdb.rows import Block, native_key, native_keys
from discreet.query.engines.duckdb.source import MADE
from discreet.query.engines.duckdb.text import NAMES, constant
from discreet.query.expression import Type, Value
from discreet.query.plan import Key

HASH_BITS = 31
MASK = (1 << HASH_BITS) - 1
CODE_BITS = 30
CODE_MASK = (1 << CODE_BITS) - 1
MULTIPLIERS = (1_103_515_245, 805_306_457)  # odd: multiplying by them permutes the residues of a power of 2
NULL_CODE = 715_827_883
KEY_MULTIPLIER = 1_000_000_007


@dataclass(frozen=True, slots=True)
class StoredDomain:
    """A public domain in the database: an enumeration of texts, or a small table of values and their places."""

    name: str  # the same for the same values
    text: str  # the statement that makes it
    enumeration: bool  # which reads the places of texts off their dictionary


def domain_of(type: Type, values: tuple[Value, ...]) -> StoredDomain:
    """Return a domain; no value stands in its table twice.

    Raises:
        UnsupportedSQL: where a statement cannot hold a text.
    """
    name = f"{MADE}.domain_" + hashlib.sha256(repr((type, values)).encode()).hexdigest()[:16]
    listed = [constant(value, type) for value in values]
    if type is Type.TEXT and values and None not in values:
        return StoredDomain(name, f"CREATE TYPE {name} AS ENUM ({', '.join(listed)})", True)
    array = f"CAST([{', '.join(listed)}] AS {NAMES[type]}[])"
    places = f"SELECT unnest({array}) AS value, unnest(range({len(listed)})) AS code"
    return StoredDomain(
        name, f"CREATE TABLE {name} AS SELECT value, min(code) AS code FROM ({places}) GROUP BY value", False
    )


@dataclass(frozen=True, slots=True)
class Coded:
    """Rows whose keys lie in the public domains, and the keys: one number for all, or each as it is."""

    block: Block
    items: list[str]  # what `rows` selects for the keys
    sizes: tuple[int, ...] | None  # those of the domains, where one number stands for all keys
    domains: tuple[StoredDomain, ...]


def coded(keys: tuple[Key, ...], below: Block) -> Coded:
    """Return rows within the public domains, with the place in their product where all domains are public."""
    domains: list[StoredDomain] = []
    codes: list[str] = []
    for key in keys:
        if key.domain is not None:
            below, code = _restricted(key, below, domains)
            codes.append(code)
    sizes = tuple(len(key.domain) for key in keys if key.domain is not None)
    if len(sizes) < len(keys) or math.prod(sizes) > 1 << CODE_BITS:
        return Coded(below, native_keys(keys, below), None, tuple(domains))
    text = codes[0] if codes else "CAST(0 AS BIGINT)"
    for size, code in zip(sizes[1:], codes[1:], strict=True):
        text = f"({text}) * {size} + {code}"
    return Coded(below, [f"{text} AS code"], sizes, tuple(domains))


def _restricted(key: Key, below: Block, domains: list[StoredDomain]) -> tuple[Block, str]:
    """Return the rows whose key lies in its domain, and the key's place in it."""
    values, text = key.domain or (), native_key(key, below)
    if key.expression.type is Type.INTEGER and _consecutive(values):
        inside = f"{text} BETWEEN {values[0]} AND {values[-1]}"
        code = f"(CASE WHEN {inside} THEN {text} - {values[0]} END)"  # a key far outside would overflow
        return replace(below, conditions=(*below.conditions, inside)), code
    domain = domain_of(key.expression.type, values)
    domains.append(domain)
    if domain.enumeration:
        place = f"TRY_CAST({text} AS {domain.name})"
        inside = f"{place} IS NOT NULL"
        return replace(below, conditions=(*below.conditions, inside)), f"CAST(enum_code({place}) AS BIGINT)"
    alias, same = f"d{len(domains)}", "IS NOT DISTINCT FROM" if None in values else "="
    tables = f"{below.tables}\nJOIN {domain.name} AS {alias} ON {text} {same} {alias}.value"
    return replace(below, tables=tables), f"{alias}.code"


def _consecutive(values: tuple[Value, ...]) -> bool:
    """Say whether values are all integers from the first to the last."""
    if not values or not all(type(value) is int for value in values):
        return False
    first = values[0]
    return isinstance(first, int) and values == tuple(range(first, first + len(values)))


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

    The shift scatters neighboring codes: without it the smallest products of consecutive ones would favor some.
    """
    return f"(xor({half}, {half} >> 15) * {MULTIPLIERS[1]} & {CODE_MASK}) * 2 + 1"


def hashed(unit: str, group: str) -> str:
    """Return the SQL text of the hash, below 2^31, of two factors."""
    return f"({unit} * {group} & {MASK})"

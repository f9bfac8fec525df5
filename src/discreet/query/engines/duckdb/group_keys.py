"""Grouping keys in DuckDB: as they are, or as numbers where the groups of a unit are chosen."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass, replace

from discreet.query.engines.duckdb import duckdb_choice as choice
from discreet.query.engines.duckdb.expressions import constant, render
from discreet.query.engines.duckdb.rows import Block
from discreet.query.engines.duckdb.source import MADE
from discreet.query.engines.duckdb.text import NAMES
from discreet.query.expression.expression import Value
from discreet.query.expression.types import Type
from discreet.query.plan.query_plan import Key


@dataclass(frozen=True, slots=True)
class Domain:
    """A public domain in the database: an enumeration of texts, or a small table of values and their places."""

    name: str  # the same for the same values
    text: str  # the statement that makes it
    enumeration: bool  # which reads the places of texts off their dictionary


def domain_of(type: Type, values: tuple[Value, ...]) -> Domain:
    """Return a domain; no value stands in its table twice.

    Raises:
        UnsupportedSQL: where a text is none that a statement can hold.
    """
    name = f"{MADE}.domain_" + hashlib.sha256(repr((type, values)).encode()).hexdigest()[:16]
    listed = [constant(value, type) for value in values]
    if type is Type.TEXT and values and None not in values:
        return Domain(name, f"CREATE TYPE {name} AS ENUM ({', '.join(listed)})", True)
    array = f"CAST([{', '.join(listed)}] AS {NAMES[type]}[])"
    places = f"SELECT unnest({array}) AS value, unnest(range({len(listed)})) AS code"
    return Domain(name, f"CREATE TABLE {name} AS SELECT value, min(code) AS code FROM ({places}) GROUP BY value", False)


@dataclass(frozen=True, slots=True)
class Coded:
    """Rows whose keys lie in the public domains, and the keys: one number for all, or each as it is."""

    block: Block
    items: list[str]  # what `rows` selects for the keys
    sizes: tuple[int, ...] | None  # those of the domains, where one number stands for all keys
    domains: tuple[Domain, ...]


def native_key(key: Key, below: Block) -> str:
    """Return the text of a key; of the two zeros of reals, which are equal, only the positive one."""
    text = render(key.expression, below.columns)
    text = below.raw.get(text, text)
    return f"CASE WHEN {text} = 0 THEN CAST(0 AS DOUBLE) ELSE {text} END" if key.expression.type is Type.REAL else text


def native_keys(keys: tuple[Key, ...], below: Block) -> list[str]:
    """Return what `rows` selects for keys as they are: key_1, key_2, ..."""
    return [f"{native_key(key, below)} AS key_{index}" for index, key in enumerate(keys, 1)]


def coded(keys: tuple[Key, ...], below: Block) -> Coded:
    """Return rows within the public domains, with the place in their product where all domains are public."""
    domains: list[Domain] = []
    codes: list[str] = []
    for key in keys:
        if key.domain is not None:
            below, code = _restricted(key, below, domains)
            codes.append(code)
    sizes = tuple(len(key.domain) for key in keys if key.domain is not None)
    if len(sizes) < len(keys) or math.prod(sizes) > 1 << choice.CODE_BITS:
        return Coded(below, native_keys(keys, below), None, tuple(domains))
    text = codes[0] if codes else "CAST(0 AS BIGINT)"
    for size, code in zip(sizes[1:], codes[1:], strict=True):
        text = f"({text}) * {size} + {code}"
    return Coded(below, [f"{text} AS code"], sizes, tuple(domains))


def _restricted(key: Key, below: Block, domains: list[Domain]) -> tuple[Block, str]:
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

"""Queries that people write by hand: which values each attribute may have."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, ParameterError
from discreet.synthesis.domain.domain import Attribute, Domain
from discreet.synthesis.workloads.literals import check_room
from discreet.synthesis.workloads.workload import PADDING, Literals, Workload

_SHOWN = 8  # values that a message lists


def queries(domain: Domain, wanted: Iterable[Mapping[str, Any]], *, either: bool = False) -> Workload:
    """Return handwritten queries: each maps names of attributes to a value or to a list of values, None for missing.

    A query holds where all of its statements do or, with `either`, where at least one does.

    >>> domain = Domain.of(sex=["f", "m"], rooms=range(1, 6))
    >>> workload = queries(domain, [{"sex": "f", "rooms": [1, 2]}, {"rooms": 5}])
    >>> workload.counts(domain.encode({"sex": ["f", "f", "m"], "rooms": [2, 5, 5]})).tolist()
    [1, 2]
    """
    known: dict[tuple[int, tuple[int, ...]], int] = {}
    rows = [_row(domain, query, known) for query in _listed(domain, wanted)]
    if not rows:
        raise ParameterError("write at least one query", parameter="wanted")
    members = np.full((len(rows), max(map(len, rows))), PADDING, dtype=np.int32)
    for place, row in enumerate(rows):
        members[place, : len(row)] = row
    turned = np.full(len(rows), either, dtype=np.bool_)
    return Workload(
        domain, _literals(domain, list(known), turn=either), members, ~np.ones_like(turned), turned, "stated queries"
    )


def _listed(domain: object, wanted: object) -> list[Mapping[str, Any]]:
    """Return the queries as a list, refusing what is no list of mappings over a domain."""
    if not isinstance(domain, Domain):
        raise ParameterError(
            f"the first argument is a Domain, not {type(domain).__name__}: queries(domain, [...])", parameter="domain"
        )
    form = 'a list of queries is needed, each by attribute: queries(domain, [{"sex": "f", "rooms": [1, 2]}])'
    if isinstance(wanted, Mapping | str | bytes) or not isinstance(wanted, Iterable):
        raise ParameterError(form, parameter="wanted")
    listed = list(wanted)
    if not all(isinstance(query, Mapping) for query in listed):
        raise ParameterError(form, parameter="wanted")
    return listed


def _row(domain: Domain, query: Mapping[str, Any], known: dict[tuple[int, tuple[int, ...]], int]) -> list[int]:
    """Return the literals of one query, each met for the first time added to those that are known."""
    if not query:
        raise ParameterError("a query says something about at least one attribute", parameter="wanted")
    row = []
    for name, values in query.items():
        place = domain.place(name)
        literal = place, _codes(domain.attributes[place], values)
        row.append(known.setdefault(literal, len(known)))
    return row


def _codes(attribute: Attribute, values: Any) -> tuple[int, ...]:
    """Return the codes of a value or of a list of values."""
    values = values.tolist() if isinstance(values, np.ndarray) else values  # an array has no one answer to ==
    several = isinstance(values, Sequence | set | frozenset) and not isinstance(values, str | bytes)
    listed = list(values) if several and values not in attribute.values else [values]
    try:
        codes = attribute.encode([value for value in listed if value is not None]).tolist()
    except InputError:
        codes = [len(attribute.values)]
    if len(attribute.values) in codes:
        raise ParameterError(
            f"{attribute.name} cannot have a value that a query asks for; it has {_shown(attribute)}",
            parameter="wanted",
        )
    if None in listed:
        if not attribute.missing:
            raise ParameterError(f"{attribute.name} has no missing values; None asks for one", parameter="wanted")
        codes.append(len(attribute.values))
    if not codes:
        raise ParameterError(f"{attribute.name}: a query lists at least one value", parameter="wanted")
    return tuple(sorted(set(codes)))


def _shown(attribute: Attribute) -> str:
    """Return some of the values, which are public."""
    listed = [repr(value) for value in attribute.values[:_SHOWN]] + ["..."] * (len(attribute.values) > _SHOWN)
    return ", ".join(listed) + (", and None for missing" if attribute.missing else "")


def _literals(domain: Domain, listed: list[tuple[int, tuple[int, ...]]], *, turn: bool) -> Literals:
    """Return the literals, all turned round if asked."""
    room = max(domain.sizes[place] for place, _ in listed)
    check_room(len(listed), room)
    accepts: NDArray[np.bool_] = np.zeros((len(listed), room), dtype=np.bool_)
    for row, (place, codes) in enumerate(listed):
        accepts[row, list(codes)] = True
        if turn:
            accepts[row, : domain.sizes[place]] ^= True
    return Literals(np.array([place for place, _ in listed], dtype=np.int32), accepts)

"""Every public callable with the names of its parameters, as a reader of the reference meets them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from types import FunctionType
from typing import Any

from discreet.data import InventedTable
from tools.golden.names import public_names, room_of

DOCUMENTED = (
    "discreet.attacks",
    "discreet.audit",
    "discreet.data",
    "discreet.display",
    "discreet.frames",
    "discreet.laws",
    "discreet.ledger",
    "discreet.local",
    "discreet.mechanisms",
    "discreet.privacy",
    "discreet.query",
    "discreet.randomness",
    "discreet.statistics",
    "discreet.synthesis",
    "discreet.testing",
    "discreet.testing.museum",
)
"""The rooms whose names have a page in the reference; a name of two rooms belongs to the first."""

_OTHERS = {"self", "cls", "args", "kwargs"}


@dataclass(frozen=True, order=True)
class Callee:
    """A public function, constructor or method: what a page calls it, and the documented object to link to."""

    name: str
    target: str


def parameters() -> dict[str, list[Callee]]:
    """Return, for each parameter name of the public interface, the callables that take it.

    The constructor of a dataclass counts, so its fields do. Enumerations and errors are left out, since nobody calls
    them, and so are invented tables, whose fields are columns.
    """
    found: dict[str, set[Callee]] = {}
    for callee, function in callables():
        for name in _names(function):
            found.setdefault(name, set()).add(callee)
    return {name: sorted(found[name]) for name in sorted(found)}


def properties() -> dict[str, list[Callee]]:
    """Return, for each property of a public class, the classes that define it."""
    found: dict[str, set[Callee]] = {}
    for callee, kind in callables():
        if isinstance(kind, type):
            for name, member in vars(kind).items():
                if isinstance(member, property | cached_property) and not name.startswith("_"):
                    found.setdefault(name, set()).add(callee)
    return {name: sorted(found[name]) for name in sorted(found)}


def callables() -> Iterator[tuple[Callee, Callable[..., Any]]]:
    """Yield every public callable once, under the room that documents it."""
    seen: set[int] = set()
    for place in DOCUMENTED:
        room = room_of(place)
        for name in public_names(room):
            value = getattr(room, name)
            if id(value) in seen:
                continue
            seen.add(id(value))
            target = f"{place}.{name}"
            if inspect.isfunction(inspect.unwrap(value)):
                yield Callee(name, target), value
            elif isinstance(value, type) and not issubclass(value, Enum | BaseException | InventedTable):
                yield Callee(name, target), value
                yield from ((Callee(f"{name}.{one}", target), function) for one, function in _methods(value))


def _methods(kind: type) -> Iterator[tuple[str, FunctionType]]:
    """Yield the public methods that a class itself defines."""
    for name, member in vars(kind).items():
        function = getattr(member, "__func__", member)
        if isinstance(function, FunctionType) and not name.startswith("_"):
            yield name, function


def _names(function: Callable[..., Any]) -> list[str]:
    try:
        stated = inspect.signature(function).parameters
    except ValueError:
        return []
    return [name for name in stated if name not in _OTHERS and not name.startswith("_")]

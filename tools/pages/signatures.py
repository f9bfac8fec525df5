"""Every public callable with the names of its parameters, as a reader of the reference meets them."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache, cached_property
from types import FunctionType
from typing import Any

from discreet.data import InventedTable
from tools.golden.names import public_names, room_of

DOCUMENTED = (
    "discreet.attacks",
    "discreet.audit",
    "discreet.bayes",
    "discreet.data",
    "discreet.display",
    "discreet.frames",
    "discreet.laws",
    "discreet.learning",
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


@cache
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


@cache
def attributes() -> dict[str, list[Callee]]:
    """Return, for each public attribute, the classes that define it.

    These are properties, annotated names of a class, its slots, and what its methods assign to `self`. A class also has
    those of its bases that are not public themselves.
    """
    classes = [(callee, kind) for callee, kind in callables() if isinstance(kind, type)]
    public = {kind for _, kind in classes}
    found: dict[str, set[Callee]] = {}
    for callee, kind in classes:
        hidden = (base for base in kind.__mro__[1:] if base.__module__.startswith("discreet.") and base not in public)
        for name in {name for one in (kind, *hidden) for name in _own_attributes(one) if not name.startswith("_")}:
            found.setdefault(name, set()).add(callee)
    return {name: sorted(found[name]) for name in sorted(found)}


def _own_attributes(kind: type) -> set[str]:
    return {*_properties(kind), *inspect.get_annotations(kind), *_slots(kind), *_assigned(kind)}


def _properties(kind: type) -> list[str]:
    return [name for name, member in vars(kind).items() if isinstance(member, property | cached_property)]


def _slots(kind: type) -> list[str]:
    slots = kind.__dict__.get("__slots__", ())
    return [slots] if isinstance(slots, str) else list(slots)


def _assigned(kind: type) -> list[str]:
    """Return the names that the methods of a class assign to `self`, read from its source."""
    try:
        source = textwrap.dedent(inspect.getsource(kind))
    except (OSError, TypeError):
        return []
    stored = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Attribute))
    return [
        node.attr
        for node in stored
        if isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name) and node.value.id == "self"
    ]


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

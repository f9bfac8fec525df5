"""Every public name with its kind and signature, whatever file defines it."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator
from enum import Enum
from functools import cache, cached_property
from importlib import import_module
from types import FunctionType, ModuleType
from typing import Any

from tools.golden.written import Lines, prefixed, without_modules, written

# a name that several rooms export is described in the first of them
ROOMS = (
    "discreet.attacks",
    "discreet.audit",
    "discreet.cli",
    "discreet.data",
    "discreet.display",
    "discreet.errors",
    "discreet.frames",
    "discreet.laws",
    "discreet.ledger",
    "discreet.local",
    "discreet.mechanisms",
    "discreet.privacy.adaptive",
    "discreet.privacy",
    "discreet.query",
    "discreet.randomness",
    "discreet.statistics",
    "discreet.synthesis",
    "discreet.testing.museum",
    "discreet.testing.planted",
    "discreet.testing",
    "discreet",
)

# written by dataclasses and the like, and not the same in all versions of Python
_GENERATED = {
    "__getstate__",
    "__init__",
    "__init_subclass__",
    "__new__",
    "__post_init__",
    "__replace__",
    "__setstate__",
}


def room_of(name: str) -> ModuleType:
    """Return a public room; `discreet.audit` the attribute is a function, so the module is imported by name."""
    return import_module(name)


def public_names(room: ModuleType) -> list[str]:
    """Return what a room exports: its `__all__`, or the classes it shows where it has none."""
    stated: list[str] | None = getattr(room, "__all__", None)
    if stated is not None:
        return sorted(stated)
    return sorted(name for name, value in vars(room).items() if isinstance(value, type) and not name.startswith("_"))


@cache
def _public_classes() -> frozenset[type]:
    """Return the classes that some room exports: bases that nobody can name may change."""
    rooms = [room_of(name) for name in ROOMS]
    exported = (getattr(room, name) for room in rooms for name in public_names(room))
    return frozenset(value for value in exported if isinstance(value, type))


def names() -> Lines:
    """Return a line for every public name, and for every public member of a class."""
    described: dict[int, str] = {}
    for room_name in ROOMS:
        room = room_of(room_name)
        for name in public_names(room):
            value, here = getattr(room, name), f"{room_name}/{name}"
            first = described.setdefault(id(value), here) if isinstance(value, type | FunctionType) else here
            if first != here:
                yield here, f"the same as {first}"
            else:
                yield from prefixed(here, _description(value))


def _description(value: Any) -> Lines:
    """Return the lines of one public thing, each key relative to its name."""
    if isinstance(value, type):
        yield from _class(value)
    elif isinstance(value, ModuleType):
        yield "", "module"
    elif callable(value) and hasattr(value, "__name__"):
        yield "", f"function {_signature(value)}"
    elif isinstance(value, tuple | dict):
        yield "", f"constant {type(value).__name__} of {len(value)}"
    elif isinstance(value, str):
        yield "", "constant str"
    else:
        yield "", f"constant {without_modules(repr(value))}"


def _class(kind: type) -> Lines:
    """Return a class, its constructor and its public members."""
    bases = [base.__name__ for base in kind.__mro__[1:] if base in _public_classes()]
    others = [base.__name__ for base in kind.__mro__[1:] if not _is_ours(base) and issubclass(base, Exception)]
    after = f" of {', '.join(bases + others)}" if bases + others else ""
    if issubclass(kind, Enum):
        yield "", f"enum{after}"
        for member in kind:
            simple = isinstance(member.value, str | int | float)
            yield member.name, f"member {written(member.value)}" if simple else "member"
    else:
        yield "", f"{'abstract ' if inspect.isabstract(kind) else ''}class{after} {_signature(kind)}"
    if dataclasses.is_dataclass(kind):
        for field in dataclasses.fields(kind):
            if not field.name.startswith("_"):
                yield f"{field.name} (field)", _annotation(field.type)
    yield from _members(kind)


def _members(kind: type) -> Lines:
    """Return the public members that a class has from discreet's own classes."""
    fields = {field.name for field in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else set()
    special = []
    for name, member in _own(kind):
        if name in fields:
            continue
        if name.startswith("__") and isinstance(member, FunctionType) and name not in _GENERATED:
            special.append(name)
        elif not name.startswith("_"):
            yield name, _member(member)
    if special:
        yield "(special)", " ".join(sorted(special))


def _own(kind: type) -> Iterator[tuple[str, Any]]:
    """Return the members that our classes define, the most derived definition of each, in order of their names."""
    found: dict[str, Any] = {}
    for base in kind.__mro__:
        if _is_ours(base):
            for name, member in vars(base).items():
                found.setdefault(name, member)
    for name in sorted(found):
        if not isinstance(found[name], Enum):
            yield name, found[name]


def _member(member: Any) -> str:
    """Return the kind and the signature of a member."""
    if isinstance(member, property):
        writable = ", writable" if member.fset is not None else ""
        return f"property{writable}{_returned(member.fget)}"
    if isinstance(member, cached_property):
        return f"property{_returned(member.func)}"
    if isinstance(member, classmethod | staticmethod):
        return f"{type(member).__name__} {_signature(member.__func__)}"
    if isinstance(member, FunctionType):
        return f"method {_signature(member)}"
    simple = member is None or isinstance(member, int | float | str)
    return f"attribute {written(member)}" if simple else "attribute"


def _signature(function: Callable[..., Any]) -> str:
    """Return a signature, its annotations as they are written in the source."""
    try:
        signature = inspect.signature(function)
    except ValueError:
        return "(not stated)"
    parameters = [
        parameter.replace(annotation=_Text(_annotation(parameter.annotation)))
        if parameter.annotation is not inspect.Parameter.empty
        else parameter
        for parameter in signature.parameters.values()
    ]
    arguments = str(signature.replace(parameters=parameters, return_annotation=inspect.Signature.empty))
    return without_modules(arguments) + _returned(function, signature)


def _returned(function: Any, signature: inspect.Signature | None = None) -> str:
    """Return the annotation of what comes back, with its arrow."""
    known = signature or inspect.signature(function)
    if known.return_annotation is inspect.Signature.empty:
        return ""
    return f" -> {_annotation(known.return_annotation)}"


class _Text:
    """An annotation that `inspect` prints as it is."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return self._text


def _annotation(annotation: Any) -> str:
    """Return an annotation as text: the words of the source where they are kept, else the name of the type."""
    return annotation if isinstance(annotation, str) else without_modules(inspect.formatannotation(annotation))


def _is_ours(kind: type) -> bool:
    """Say whether discreet defines this class."""
    return kind.__module__.partition(".")[0] == "discreet"

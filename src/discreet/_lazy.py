"""Packages whose names are loaded when they are first asked for, so that importing one costs nothing (PEP 562)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any


def loader(package: str, *, rooms: Sequence[str] = (), names: Sequence[str], of: Sequence[str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package: a room is imported, a name is taken from the first of `of` that has it.

    >>> loader("discreet", names=["Laplace"], of=["privacy", "mechanisms"])("Laplace")
    <class 'discreet.mechanisms.noise.laplace.Laplace'>
    """

    def load(name: str) -> Any:
        if name in rooms:
            return import_module(f"{package}.{name}")
        for part in of if name in names else ():
            module = import_module(f"{package}.{part}")
            if hasattr(module, name):
                found = getattr(module, name)
                setattr(sys.modules[package], name, found)  # so that the next look finds it there
                return found
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load

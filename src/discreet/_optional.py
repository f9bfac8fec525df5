"""Imports that wait: of an optional package, and of a package's names that are asked for later (PEP 562)."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

from discreet.errors import MissingExtra


def optional(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Return the module, or raise `MissingExtra` naming the extra and what needed it."""
    try:
        return importlib.import_module(module)
    except Exception as error:  # a package that is broken raises anything
        raise unusable(module.partition(".")[0], error, extra=extra, purpose=purpose) from None


def present(package: str, *, extra: str, purpose: str) -> None:
    """Raise `MissingExtra` if a package is not installed; one that is installed is not imported yet."""
    missing = ModuleNotFoundError(name=package)
    try:
        found = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        found = None
    if found is None:
        raise unusable(package, missing, extra=extra, purpose=purpose)


def unusable(package: str, error: Exception, *, extra: str, purpose: str) -> MissingExtra:
    """Return what to raise where a package cannot be imported: it is not installed, or it is broken."""
    absent = isinstance(error, ModuleNotFoundError) and str(error.name).partition(".")[0] == package
    why = "is not installed" if absent else f"is installed but cannot be imported ({type(error).__name__})"
    again = "" if absent else " again"
    return MissingExtra(
        f"{purpose} needs the package {package!r}, which {why}. "
        f"Install discreet with its extra {extra!r}{again}: discreet[{extra}]."
    )


def loader(package: str, *, rooms: Sequence[str] = (), names: Sequence[str], of: Sequence[str]) -> Callable[[str], Any]:
    """Return the `__getattr__` of a package: a room is imported, a name is taken from the first of `of` that has it.

    >>> loader("discreet", names=["Laplace"], of=["privacy", "mechanisms"])(
    ...     "Laplace"
    ... ).__name__
    'Laplace'
    """

    def load(name: str) -> Any:
        if name in rooms:
            return importlib.import_module(f"{package}.{name}")
        for part in of if name in names else ():
            module = importlib.import_module(f"{package}.{part}")
            if hasattr(module, name):
                found = getattr(module, name)
                setattr(sys.modules[package], name, found)  # so that the next look finds it there
                return found
        raise AttributeError(f"module {package!r} has no attribute {name!r}")

    return load


def listing(package: str) -> Callable[[], list[str]]:
    """Return the `__dir__` of a package: its public names and the special ones, without what it imports for itself.

    >>> "Laplace" in listing("discreet")(), "loader" in listing("discreet")()
    (True, False)
    """
    module = sys.modules[package]

    def names() -> list[str]:
        special = [name for name in vars(module) if name.startswith("__") and name.endswith("__")]
        return sorted({*module.__all__, *special})

    return names

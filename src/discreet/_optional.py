"""Import an optional package, or say which extra brings it."""

from __future__ import annotations

import importlib
import importlib.util
from types import ModuleType

from discreet.errors import MissingExtra


def optional(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Return the module, or raise `MissingExtra` naming the extra and what needed it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        raise _missing(module.partition(".")[0], extra, purpose) from None


def present(package: str, *, extra: str, purpose: str) -> None:
    """Raise `MissingExtra` if a package is not installed; one that is installed is not imported yet."""
    if importlib.util.find_spec(package) is None:
        raise _missing(package, extra, purpose)


def _missing(package: str, extra: str, purpose: str) -> MissingExtra:
    return MissingExtra(
        f"{purpose} needs the package {package!r}, which is not installed. "
        f"Install discreet with its extra {extra!r}: discreet[{extra}]."
    )

"""Import an optional package, or say which extra brings it."""

from __future__ import annotations

import importlib
from types import ModuleType

from discreet.errors import MissingExtra


def optional(module: str, *, extra: str, purpose: str) -> ModuleType:
    """Return the module, or raise `MissingExtra` naming the extra and what needed it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise MissingExtra(
            f"{purpose} needs the package {package!r}, which is not installed. "
            f"Install discreet with its extra {extra!r}: discreet[{extra}]."
        ) from None

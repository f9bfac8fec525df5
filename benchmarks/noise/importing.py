"""What `import discreet` costs, and which packages it brings."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import PackageNotFoundError, requires

from packaging.requirements import Requirement

CORE = ("numpy", "scipy", "cryptography", "python-flint")
_PROBE = "import time; start = time.process_time(); import discreet; print(time.process_time() - start)"
_LOADED = "import sys; import discreet; print(*{name.partition('.')[0] for name in sys.modules})"


def import_seconds() -> float:
    """Return the CPU seconds of the import in a fresh process."""
    return float(_fresh(_PROBE))


def loaded(*names: str) -> list[str]:
    """Return which of the named modules the import has loaded."""
    modules = _fresh(_LOADED).split()
    return [name for name in names if name in modules]


def packages_of_the_core() -> set[str]:
    """Return the four packages and, in turn, whatever they require on this machine."""
    found: set[str] = set()
    waiting = list(CORE)
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            waiting += _requirements(name)
    return found


def _requirements(name: str) -> list[str]:
    """Return the packages that an installed one requires here, extras aside."""
    try:
        stated = [Requirement(line) for line in requires(name) or []]
    except PackageNotFoundError:
        return []
    return [entry.name.lower() for entry in stated if entry.marker is None or entry.marker.evaluate({"extra": ""})]


def _fresh(code: str) -> str:
    """Return what a new interpreter prints."""
    command = [sys.executable, "-c", code]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout  # noqa: S603 - our own code

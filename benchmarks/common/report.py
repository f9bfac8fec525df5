"""What a benchmark reports: one row a comparison, with the bar it is held against, and the machine it ran on."""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

COLUMNS = ("what", "ours", "peer", "ratio", "bar", "")


@dataclass(frozen=True, slots=True)
class Row:
    """One comparison; `holds` is None where there is no bar and the numbers are for information."""

    what: str
    ours: str
    peer: str = ""
    ratio: str = ""
    bar: str = ""
    holds: bool | None = None

    @property
    def cells(self) -> tuple[str, ...]:
        """The row as text."""
        verdict = "" if self.holds is None else "met" if self.holds else "SHORT"
        return self.what, self.ours, self.peer, self.ratio, self.bar, verdict


def compared(what: str, ours: float, peer: str, theirs: float, bar: float | None = None) -> Row:
    """Return the row of two times; the ratio is how many times faster ours is, and the bar the least it should be."""
    ratio = theirs / ours
    wanted, holds = ("", None) if bar is None else (f">= {bar:g}", ratio >= bar)
    return Row(what, duration(ours), f"{peer} {duration(theirs)}", f"{ratio:.3g}", wanted, holds)


def duration(seconds: float) -> str:
    """Return a time to three digits in a unit that suits it.

    >>> duration(0.0000123)
    '12.3 us'
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def table(rows: list[Row]) -> str:
    """Return rows as a Markdown table whose columns line up."""
    return aligned([COLUMNS, *(row.cells for row in rows)])


def aligned(lines: list[tuple[str, ...]]) -> str:
    """Return a heading and lines as a Markdown table whose columns line up."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    texts = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |" for line in lines
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([texts[0], rule, *texts[1:]])


def machine(*versions: str) -> str:
    """Return one line about the machine, its load and the versions that ran."""
    load = f", load {os.getloadavg()[0]:.1f}"
    packages = ", ".join(f"{name} {version(name)}" for name in ("numpy", "cryptography", "python-flint"))
    here = f"{_processor()}, {os.cpu_count()} cores{load}; {platform.system()}, Python {platform.python_version()}"
    return f"{here}, {', '.join([packages, *versions])}; {datetime.now(UTC):%Y-%m-%d}"


def _processor() -> str:
    """Return the name of the processor, as far as the system tells."""
    information = Path("/proc/cpuinfo")
    if information.exists():
        for line in information.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()

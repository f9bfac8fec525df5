"""One line of a benchmark of attacks or audits: what was measured, the bar it is held against, and whether it holds."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

from benchmarks.common.report import aligned, machine

EVIDENCE = Path(__file__).resolve().parent.parent.parent / "docs" / "evidence"
COLUMNS = ("what", "measured", "bar", "")


@dataclass(frozen=True)
class Bar:
    """A measurement beside the bar it must meet, both as people read them; `met` is None where there is no bar."""

    what: str
    measured: str
    bar: str = ""
    met: bool | None = None

    @property
    def cells(self) -> tuple[str, ...]:
        """The line as text."""
        return self.what, self.measured, self.bar, "" if self.met is None else "met" if self.met else "SHORT"


Section = Callable[[], Iterable[Bar]]


def section(module: str, function: str) -> Section:
    """Return a part, a function of a module beside this one, that shows every line as soon as it is measured."""

    def lines() -> Iterator[Bar]:
        measure: Section = getattr(import_module(module), function)
        for bar in measure():
            print("  " + " | ".join(cell for cell in bar.cells if cell), file=sys.stderr, flush=True)
            yield bar

    return lines


def table(bars: list[Bar]) -> str:
    """Return lines as a Markdown table whose columns line up."""
    return aligned([COLUMNS, *(bar.cells for bar in bars)])


def run(sections: Mapping[str, Section], *, page: str, title: str, document: str) -> int:
    """Run all sections or one, print the tables, and write the page of evidence if asked."""
    parser = argparse.ArgumentParser(description=document.partition("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"write docs/evidence/{page}.md as well")
    parser.add_argument("--only", choices=list(sections), help="run one part")
    options = parser.parse_args()
    parts: list[str] = []
    every: list[Bar] = []
    for name, section in sections.items():
        if options.only in (None, name):
            print(f"{name} ...", file=sys.stderr, flush=True)
            bars = list(section())
            every += bars
            parts.append(f"## {name}\n\n{table(bars)}")
            print(f"\n{parts[-1]}", flush=True)
    bound = [bar for bar in every if bar.met is not None]
    summary = f"{sum(bool(bar.met) for bar in bound)} of {len(bound)} bars met."
    about = machine()
    print(f"\n{about}\n{summary}")
    if options.write and options.only is None:
        method = document.partition("\n\n")[2].strip()
        head = f"# {title}\n\nMade by `make {page}`. {summary}\n\n{method}\n\n{about}.\n"
        (EVIDENCE / f"{page}.md").write_text("\n\n".join([head.rstrip(), *parts]) + "\n", encoding="utf-8")
    return 0

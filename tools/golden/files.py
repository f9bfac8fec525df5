"""The golden files by name, their text, and how a difference is told."""

from __future__ import annotations

from collections.abc import Callable
from difflib import unified_diff
from pathlib import Path

from tools.golden import books, command_line, estimates, local_model, names, noise, plans, prices, refusals
from tools.golden.written import Line, Lines

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "tests" / "golden"
MOST_SHOWN = 60

FILES: dict[str, Callable[[], Lines]] = {
    "names": names.names,
    "randomness": noise.randomness_lines,
    "laws": noise.law_lines,
    "mechanisms": noise.mechanism_lines,
    "statistics": estimates.statistic_lines,
    "local_reports": local_model.report_lines,
    "local_wire": local_model.wire_lines,
    "prices": prices.price_lines,
    "guarantees": prices.guarantee_lines,
    "records": prices.record_lines,
    "plans": plans.plan_lines,
    "answers": plans.answer_lines,
    "synthesis": plans.synthesis_lines,
    "ledger": books.book_lines,
    "help": command_line.help_lines,
    "refusals": refusals.refusal_lines,
}


def text_of(lines: list[Line]) -> str:
    """Return the text of a golden file: one key and its value a line; a value of several lines follows its key."""
    seen: set[str] = set()
    parts = []
    for key, value in lines:
        if key in seen:
            raise ValueError(f"two lines have the key {key!r}")
        seen.add(key)
        parts.append(f"{key.removesuffix('/')}:{value if value.startswith(chr(10)) else ' ' + value}\n")
    return "".join(parts)


def stored(name: str) -> str:
    """Return the text that is kept for this file."""
    return (FOLDER / f"{name}.txt").read_text(encoding="utf-8")


def difference(name: str, kept: str, made: str) -> str:
    """Return the lines that differ and what to do, or nothing where the two texts are the same."""
    if kept == made:
        return ""
    lines = list(unified_diff(kept.splitlines(), made.splitlines(), "kept", "made now", lineterm="", n=0))
    shown = [line for line in lines if not line.startswith("@@")]
    left = len(shown) - MOST_SHOWN
    return "\n".join(
        [
            f"tests/golden/{name}.txt is not what the code gives now:",
            *shown[:MOST_SHOWN],
            *([f"... and {left} more lines"] if left > 0 else []),
            "Where this change is wanted, `make golden` writes the files anew; where not, the code is at fault.",
        ]
    )

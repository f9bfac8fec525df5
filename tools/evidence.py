"""Write docs/evidence/soak.md from the JUnit report of a soak run: what ran, how often, when, and on what.

A run with a failure is no evidence: it is summed up, and the page of the last good run stays.
"""

from __future__ import annotations

import argparse
import platform
import sys
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
PAGE = Path("docs/evidence/soak.md")
CORE = ("numpy", "scipy", "cryptography", "python-flint")


@dataclass(frozen=True)
class Check:
    """One test of the run: where it stands, how it ended, how long it took, and what it counted."""

    place: str
    name: str
    outcome: str
    seconds: float
    counted: dict[str, str] = field(default_factory=dict)


def checks(report: Path) -> list[Check]:
    """Read the report that `pytest --junit-xml` wrote."""
    tree = ElementTree.parse(report)  # noqa: S314 - our own file, written by the run just before
    return [_check(case) for case in tree.iter("testcase")]


def _check(case: ElementTree.Element) -> Check:
    kinds = {"failure": "failed", "error": "failed", "skipped": "skipped"}
    outcomes = [kinds[child.tag] for child in case if child.tag in kinds]
    counted = {entry.get("name", ""): entry.get("value", "") for entry in case.iter("property")}
    place, name = case.get("classname", ""), case.get("name", "")
    return Check(place, name, outcomes[0] if outcomes else "passed", float(case.get("time", "0")), counted)


def summary(found: list[Check], when: datetime) -> str:
    """Return the one line that a person reads: counts, duration and date."""
    count = {outcome: sum(check.outcome == outcome for check in found) for outcome in ("passed", "failed", "skipped")}
    seconds = sum(check.seconds for check in found)
    return (
        f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped "
        f"in {seconds:.0f} s of test time on {when:%Y-%m-%d}"
    )


def page(found: list[Check], when: datetime, room: str | None = None) -> str:
    """Return the text of the page."""
    title, command = ("", "make soak") if room is None else (f": {room}", f"make soak ROOM={room}")
    versions = ", ".join(f"{name} {version(name)}" for name in CORE)
    machine = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}, {versions}"
    head = (
        f"# Soak run{title}\n\nMade by `{command}`: the heavy checks at full count.\n\n{summary(found, when)}.\n\n"
        f"{machine}.\n"
    )
    rows = [
        f"| `{check.place.removeprefix('tests.')}` | `{_plain(check.name)}` | {_counts(check)} | {check.seconds:.1f} | "
        f"{check.outcome} |"
        for check in sorted(found, key=lambda check: (check.place, check.name))
    ]
    table = ["", "| where | check | counted | seconds | outcome |", "|---|---|---|---:|---|", *rows, ""]
    return head + "\n".join(table)


def _plain(name: str) -> str:
    return name.replace("`", "'").replace("|", "/")


def _counts(check: Check) -> str:
    return ", ".join(f"{name} {value}" for name, value in sorted(check.counted.items()))


def main(arguments: list[str] | None = None) -> int:
    """Print the summary, and write the page when every test that ran passed."""
    parser = argparse.ArgumentParser(prog="python -m tools.evidence", description=__doc__.partition("\n")[0])
    parser.add_argument("report", type=Path, help="the JUnit report of the run")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository")
    parser.add_argument("--room", help="the one room that was soaked, which has a page of its own")
    options = parser.parse_args(arguments)
    own_page = PAGE if not options.room else PAGE.with_name(f"soak-{options.room}.md")
    found = checks(options.report)
    if not found:
        print("The report holds no test: nothing was run, nothing was written.", file=sys.stderr)
        return 1
    when = datetime.now(UTC)
    if any(check.outcome == "failed" for check in found):
        print(f"soak: {summary(found, when)}; {own_page} is left as it was", file=sys.stderr)
        return 1
    path = options.root / own_page
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page(found, when, options.room or None), encoding="utf-8")
    print(f"soak: {summary(found, when)}; written to {own_page}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

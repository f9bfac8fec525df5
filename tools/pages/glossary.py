"""Write docs/glossary.md: every word of public signatures with its one meaning, its class and who takes it."""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from tools.pages.signatures import Callee, attributes, parameters

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = Path("docs/glossary.md")
TERMS = Path("tools/pages/glossary.toml")
OFTEN = 5
"""A word that this number of signatures and attributes share needs an entry."""

_SHOWN = 5

_OPENING = """\
# Glossary

One word has one meaning in all signatures, messages and pages. The third column links to the class that a word belongs
to, and to what takes it as a parameter or has it as an attribute. `make glossary` writes this page from the signatures
and a table of terms; do not edit it.
"""

_NOT = """
## Words that are not used

They name no parameter and no attribute, except where the third column says so.

| not | write | except |
|---|---|---|
"""


@dataclass(frozen=True)
class Term:
    """A word, its meaning, the section it stands in, the class that defines it, and a second use where there is one."""

    word: str
    means: str
    section: str
    defined: str = ""
    also: str = ""


@dataclass(frozen=True)
class Avoided:
    """A word that must not name a parameter or an attribute, what to write instead, and the exceptions."""

    word: str
    instead: str
    allowed: dict[str, str] = field(default_factory=dict)

    def allows(self, callee: Callee) -> bool:
        """Say whether an exception names the callable."""
        return any(fnmatchcase(callee.name, pattern) for pattern in self.allowed)


def terms(root: Path = ROOT) -> list[Term]:
    """Return the terms in the order of the table."""
    sections = {name: words for name, words in _stated(root).items() if name != "not"}
    return [_term(word, entry, section) for section, words in sections.items() for word, entry in words.items()]


def avoided(root: Path = ROOT) -> list[Avoided]:
    """Return the words that must not name a parameter or an attribute."""
    stated = _stated(root)["not"]
    return [Avoided(word, entry["instead"], entry.get("except", {})) for word, entry in stated.items()]


def missing(root: Path = ROOT) -> list[str]:
    """Return the words that many signatures and attributes share and the table does not explain."""
    explained = {term.word for term in terms(root)}
    refused = {word.word for word in avoided(root)}
    return [word for word, users in _users().items() if len(users) >= OFTEN and word not in explained | refused]


def misused(root: Path = ROOT) -> list[str]:
    """Say which callables take, and which classes have, a word that must not be used."""
    taken, held = parameters(), attributes()
    return [
        f"{callee.target}: {sentence}, write {word.instead}"
        for word in avoided(root)
        for callee, sentence in (
            *((one, f"{one.name} takes {word.word}=") for one in taken.get(word.word, [])),
            *((one, f"{one.name} has .{word.word}") for one in held.get(word.word, [])),
        )
        if not word.allows(callee)
    ]


def idle(root: Path = ROOT) -> list[str]:
    """Say which exceptions no callable and no class needs any more."""
    users = _users()
    return [
        f"not.{word.word}: nothing named {pattern} takes or has it"
        for word in avoided(root)
        for pattern in word.allowed
        if not any(fnmatchcase(callee.name, pattern) for callee in users.get(word.word, []))
    ]


def unused(root: Path = ROOT) -> list[str]:
    """Return the words of the table that no signature and no attribute has."""
    users = _users()
    return [term.word for term in terms(root) if term.word not in users]


def _users() -> dict[str, list[Callee]]:
    """Return, for each word, the callables that take it and the classes that have it, each once."""
    taken, held = parameters(), attributes()
    return {word: sorted({*taken.get(word, []), *held.get(word, [])}) for word in sorted({*taken, *held})}


def page(root: Path = ROOT) -> str:
    """Return the whole page."""
    users = _users()
    written = [_OPENING]
    section = ""
    for term in terms(root):
        if term.section != section:
            section = term.section
            written.append(f"\n## {section}\n\n| word | meaning | where |\n|---|---|---|\n")
        written.append(f"| `{term.word}` | {_meaning(term)} | {_where(term, users.get(term.word, []))} |\n")
    written.append(_NOT)
    written.extend(f"| `{word.word}` | {_code(word.instead)} | {_exceptions(word)} |\n" for word in avoided(root))
    return "".join(written)


def main(arguments: list[str] | None = None) -> int:
    """Write the page, or with --check say whether it is current."""
    parser = argparse.ArgumentParser(prog="python -m tools.pages.glossary", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if the page is not current")
    options = parser.parse_args(arguments)
    text = page()
    if not options.check:
        (ROOT / PAGE).write_text(text, encoding="utf-8")
        print(PAGE)
        for word in unused():
            print(f"no signature has {word}", file=sys.stderr)
        return 0
    if (ROOT / PAGE).exists() and (ROOT / PAGE).read_text(encoding="utf-8") == text:
        return 0
    print(f"{PAGE} is not current: run `make glossary`.", file=sys.stderr)
    return 1


def _stated(root: Path) -> dict[str, dict[str, Any]]:
    return tomllib.loads((root / TERMS).read_text(encoding="utf-8"))


def _term(word: str, entry: str | dict[str, str], section: str) -> Term:
    if isinstance(entry, str):
        return Term(word, entry, section)
    return Term(word, entry["means"], section, entry.get("class", ""), entry.get("also", ""))


def _meaning(term: Term) -> str:
    return f"{term.means}. Also: {term.also}" if term.also else term.means


def _where(term: Term, takers: list[Callee]) -> str:
    """Return the class in bold and the first takers, one link for each documented object, classes first."""
    links = [f"**{_link(term.defined.rpartition('.')[2], term.defined)}**"] if term.defined else []
    shown = [one for one in takers if one.target != term.defined]
    first = {one.target: one for one in reversed(shown)}  # of several methods of one class, the first
    listed = sorted(first.values(), key=lambda one: ("." in one.name, one.name.lower()))
    links += [_link(one.name, one.target) for one in listed[:_SHOWN]]
    more = f" and {len(listed) - _SHOWN} more" if len(listed) > _SHOWN else ""
    return ", ".join(links) + more


def _exceptions(word: Avoided) -> str:
    return "; ".join(f"`{pattern}`: {reason}" for pattern, reason in word.allowed.items())


def _link(name: str, target: str) -> str:
    return f"{{py:obj}}`{name} <{target}>`"


def _code(words: str) -> str:
    return re.sub(r"\b(?!or\b)(\w+)", r"`\1`", words)


if __name__ == "__main__":
    sys.exit(main())

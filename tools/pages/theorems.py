"""Write docs/theorems.md: every claim of a docstring with the class that makes it, the tests that check it, its figure.

A claim is a `Privacy.` or `Accuracy.` paragraph; its name is the class or function and that word: `Laplace.privacy`.
A test says what it checks by `@pytest.mark.theorem("Laplace.privacy")`. A `Figure.` paragraph names a file
of docs/_static.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path

from tools.pages.docstrings import Claim, Documented, Subject, claims, subjects

ROOT = Path(__file__).resolve().parent.parent.parent
PAGE = Path("docs/theorems.md")
CLAIMED = {"Privacy", "Accuracy"}

INTRODUCTION = """\
# Theorems

Each line is a claim that a docstring makes, the tests that check the same words, and a figure where there is one.
The proof stands in the docstring, one click away. `make theorems` makes this page from the source; do not edit it.
"""


class Unsound(Exception):
    """The docstrings, tests and figures do not fit together; the message says where."""


@dataclass(frozen=True)
class Theorem:
    """One claim, where it is made and what supports it."""

    subject: Subject
    claim: Claim
    tests: tuple[str, ...]
    figure: str
    exported: bool

    @property
    def name(self) -> str:
        """The name by which tests call it."""
        return f"{self.subject.name}.{self.claim.head.lower()}"


def theorems(root: Path) -> list[Theorem]:
    """Return every claim under the root, in the order of rooms and files."""
    marked = marked_tests(root / "tests", root)
    package = root / "src" / "discreet"
    found: list[Theorem] = []
    for subject in subjects(package, {*CLAIMED, "Figure"}):
        stated = claims(subject.docstring)
        figure = _figure(subject, stated, root / "docs" / "_static")
        exported = subject.name.partition(".")[0] in _exported(package, subject.room)
        for claim in stated:
            if claim.head in CLAIMED:
                tests = tuple(marked.get(f"{subject.name}.{claim.head.lower()}", ()))
                found.append(Theorem(subject, claim, tests, figure, exported))
                figure = ""  # shown once, beside the first claim
    _refuse_duplicates(found)
    return found


def _refuse_duplicates(found: list[Theorem]) -> None:
    places: dict[str, str] = {}
    for theorem in found:
        place = places.setdefault(theorem.name, theorem.subject.module)
        if place != theorem.subject.module:
            raise Unsound(f"{theorem.name} is claimed in {place} and in {theorem.subject.module}: rename one.")


def _figure(subject: Subject, stated: list[Claim], folder: Path) -> str:
    """Return the file named by the `Figure.` paragraph, which must exist."""
    for claim in stated:
        if claim.head == "Figure":
            file = Path(claim.statement.partition(" ")[0]).name
            if not file or not (folder / file).is_file():
                raise Unsound(f"{subject.module}.{subject.name}: its Figure paragraph names no file of docs/_static.")
            return file
    return ""


def _exported(package: Path, room: str) -> frozenset[str]:
    """Return the names in the room's `__all__`, which are the ones the reference documents."""
    for path in (package / room / "__init__.py", package / f"{room}.py"):
        if path.is_file() and (listed := _listed(path.read_text(encoding="utf-8"))):
            return listed
    return frozenset()


@cache
def _listed(text: str) -> frozenset[str]:
    for node in ast.parse(text).body:
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == "__all__" for t in node.targets):
            return frozenset(ast.literal_eval(node.value))
    return frozenset()


def marked_tests(folder: Path, root: Path) -> dict[str, list[str]]:
    """Return, for each theorem named by a marker, the tests that carry it, as pytest would call them."""
    found: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("test_*.py")):
        place = path.relative_to(root).as_posix()
        for name, test in _marks_of(path.read_text(encoding="utf-8"), place):
            found.setdefault(name, []).append(test)
    return {name: sorted(set(tests)) for name, tests in found.items()}


@cache
def _marks_of(text: str, place: str) -> tuple[tuple[str, str], ...]:
    """Return what `_marks` finds in one file; most files have no marker and are not parsed."""
    return tuple(_marks(ast.parse(text), place)) if "theorem" in text else ()


def _marks(node: ast.AST, place: str) -> Iterator[tuple[str, str]]:
    for child in ast.iter_child_nodes(node):
        inner = f"{place}::{child.name}" if isinstance(child, Documented) else place
        if isinstance(child, ast.Call) and _is_marker(child.func):
            for argument in child.args:
                if not (isinstance(argument, ast.Constant) and isinstance(argument.value, str)):
                    raise Unsound(f"{place}: a theorem marker needs its name written out, so that it can be found.")
                yield argument.value, place
        yield from _marks(child, inner)


def _is_marker(called: ast.expr) -> bool:
    """Say whether a call is of `mark.theorem`, whatever stands before; unparsing every call takes long."""
    return (
        isinstance(called, ast.Attribute)
        and called.attr == "theorem"
        and ast.unparse(called.value).rpartition(".")[2] == "mark"
    )


def gaps(root: Path) -> list[str]:
    """Say which privacy claims no test is marked for, and which markers name no claim."""
    known = theorems(root)
    names = {theorem.name for theorem in known}
    untested = [
        f'{one.subject.module}.{one.subject.name} claims privacy, but no test has @pytest.mark.theorem("{one.name}")'
        for one in known
        if one.claim.head == "Privacy" and not one.tests
    ]
    unknown = [
        f"{test} checks {name}, which no docstring claims"
        for name, tests in marked_tests(root / "tests", root).items()
        if name not in names
        for test in tests
    ]
    return untested + unknown


def page(root: Path) -> str:
    """Return the text of the page."""
    parts = [INTRODUCTION]
    for room, group in groupby(theorems(root), key=lambda theorem: theorem.subject.room):
        parts.append(f"\n## {room}\n\n| theorem | claim | checked by | figure |\n|---|---|---|---|\n")
        parts += [_row(theorem) for theorem in group]
    return "".join(parts)


def _row(theorem: Theorem) -> str:
    subject = theorem.subject
    target = f"discreet.{subject.room}.{subject.name}"
    where = f"{{py:obj}}`{theorem.name} <{target}>`" if theorem.exported else f"`{theorem.name}`"
    tests = "<br>".join(f"`{test.removeprefix('tests/')}`" for test in theorem.tests) or "not yet"
    figure = f"![{theorem.name}](_static/{theorem.figure})" if theorem.figure else ""
    return f"| {where} | {_cell(theorem.claim.statement)} | {tests} | {figure} |\n"


def _cell(text: str) -> str:
    """Escape what Markdown would take for markup or for the end of a cell; code stays code."""
    pieces = re.split(r"(`[^`]*`)", text)
    return "".join(
        piece.replace("|", "\\|") if piece.startswith("`") else re.sub(r"([\\*_{}\[\]<>|$~#])", r"\\\1", piece)
        for piece in pieces
    )


def main(arguments: list[str] | None = None) -> int:
    """Write the page, or with --check say whether it is current."""
    parser = argparse.ArgumentParser(prog="python -m tools.pages.theorems", description=__doc__.partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; fail when the page is not current")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository")
    options = parser.parse_args(arguments)
    try:
        text = page(options.root)
    except Unsound as problem:
        print(problem, file=sys.stderr)
        return 1
    path = options.root / PAGE
    if options.check:
        if path.is_file() and path.read_text(encoding="utf-8") == text:
            return 0
        print(f"{PAGE} is not current: run `make theorems`.", file=sys.stderr)
        return 1
    path.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""Read the house form of a docstring: a sentence, then claims that open with one word and a full stop.

::

    Privacy. What is guaranteed.
        Proof: why.
    Accuracy. How far off the answer may be.

A claim runs until the next claim or an empty line. Everything else is left to whoever asked.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cache
from inspect import cleandoc
from pathlib import Path

HEADS = ("Privacy", "Accuracy", "Exactness", "Cost", "Reference", "Figure")

_OPENING = re.compile(rf"({'|'.join(HEADS)})\.(?:\s+|$)")
_LIST = re.compile(r"(Args|Raises):")
_ENTRY = re.compile(r"    (\*{0,2}\w[\w.]*): (.*)")
_CODE = re.compile(r"(`+)(?:.+?)\1")

Documented = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Claim:
    """One claim of a docstring: its opening word, what it says, and its proof where there is one."""

    head: str
    statement: str
    proof: str = ""


@dataclass(frozen=True)
class Subject:
    """A class or function of the package with the docstring it carries."""

    module: str
    name: str
    docstring: str

    @property
    def room(self) -> str:
        """The room of the package that holds it: `mechanisms` for `discreet.mechanisms.noise.laplace`."""
        return self.module.split(".")[1] if "." in self.module else ""


def claims(docstring: str) -> list[Claim]:
    r"""Return the claims in the order in which they are made.

    >>> claims(
    ...     "Add noise.\n\nPrivacy. It is 1-DP.\n    Proof: by inspection.\nCost. Nothing."
    ... )[0]
    Claim(head='Privacy', statement='It is 1-DP.', proof='by inspection.')
    """
    found: list[Claim] = []
    rest = cleandoc(docstring).splitlines()
    while rest:
        line = rest.pop(0)
        if opening := _OPENING.match(line):
            found.append(_claim(opening[1], [line[opening.end() :], *_taken(rest, until_claim=True)]))
    return found


def _claim(head: str, lines: list[str]) -> Claim:
    statement, _, proof = " ".join(line.strip() for line in lines).partition("Proof:")
    return Claim(head, statement.strip(), proof.strip())


def restructured(lines: list[str]) -> list[str]:
    r"""Turn a docstring into reStructuredText: claims become paragraphs, plain mathematics is not taken for markup.

    Examples and literal blocks stay as they are.

    >>> restructured(["Privacy. The law is exp(-|y|).", "    Proof: obvious."])
    ['', '**Privacy.** The law is exp(-\\|y\\|).', '', '    *Proof.* obvious.', '']
    """
    made: list[str] = []
    literal = False
    rest = list(lines)
    while rest:
        line = rest.pop(0)
        literal = literal and (not line.strip() or line.startswith(" "))
        if literal:
            made.append(line)
        elif line.lstrip().startswith(">>>"):
            made += [line, *_taken(rest, until_claim=False)]
        elif _LIST.fullmatch(line):
            made += _listed(line, _indented(rest))
        elif line.startswith("| "):
            made += _table([line, *_taken(rest, until_claim=True)])
        elif opening := _OPENING.match(line):
            made += _paragraphs(_claim(opening[1], [line[opening.end() :], *_taken(rest, until_claim=True)]))
        else:
            made.append(_escaped(line))
            literal = line.rstrip().endswith("::")
    return made


def _taken(rest: list[str], *, until_claim: bool) -> list[str]:
    """Take from the rest what belongs to the same block: up to an empty line, or to the next claim."""
    taken: list[str] = []
    while rest and rest[0].strip() and not (until_claim and _OPENING.match(rest[0])):
        taken.append(rest.pop(0))
    return taken


def _indented(rest: list[str]) -> list[str]:
    """Take the indented lines that follow."""
    taken: list[str] = []
    while rest and rest[0].startswith("    "):
        taken.append(rest.pop(0))
    return taken


def _listed(line: str, entries: list[str]) -> list[str]:
    """Return the arguments or errors of a function as a list with one entry each."""
    made = ["", f"**{line.removesuffix(':')}.**", ""]
    for entry in entries:
        if stated := _ENTRY.fullmatch(entry):
            made.append(f"* ``{stated[1]}``: {_escaped(stated[2])}")
        else:
            made.append(f"  {_escaped(entry.strip())}")
    return [*made, ""]


def _paragraphs(claim: Claim) -> list[str]:
    """Return a claim as one paragraph, its proof as an indented second one; a figure is shown."""
    if claim.head == "Figure":
        file, _, caption = claim.statement.partition(" ")
        return ["", f".. figure:: /_static/{Path(file).name}", "", f"   {_escaped(caption)}".rstrip(), ""]
    made = ["", f"**{claim.head}.** {_escaped(claim.statement)}", ""]
    return [*made, f"    *Proof.* {_escaped(claim.proof)}", ""] if claim.proof else made


def _table(lines: list[str]) -> list[str]:
    """Return a table with a head; a bar between spaces ends a cell, so that |x| may stand in one."""
    rows = [line for line in lines if not set(line) <= set("|-: ")]
    made = ["", ".. list-table::", "   :header-rows: 1", ""]
    for row in rows:
        cells = re.split(r"(?<=\s)\|(?=\s)", row.strip().removeprefix("|").removesuffix("|"))
        made += [f"   {'  ' if number else '* '}- {_escaped(cell.strip())}" for number, cell in enumerate(cells)]
    return [*made, ""]


def _escaped(text: str) -> str:
    """Put a backslash before what reStructuredText would take for markup, outside code and roles."""
    pieces, position = [], 0
    for code in _CODE.finditer(text):
        pieces += [_marks_escaped(text[position : code.start()]), code[0]]
        position = code.end()
    return "".join([*pieces, _marks_escaped(text[position:])])


def _marks_escaped(text: str) -> str:
    return re.sub(r"([|*\\]|_(?=\W|$))", r"\\\1", text)


def subjects(package: Path, heads: Collection[str] = ()) -> list[Subject]:
    """Return every class, function and method under the package that has a docstring, without importing anything.

    With heads, files in which none of them occurs are left out: they have no such claim.
    """
    return [
        subject
        for path in sorted(package.rglob("*.py"))
        for subject in _subjects_of(path.read_text(encoding="utf-8"), _module_name(package, path), frozenset(heads))
    ]


@cache
def _subjects_of(text: str, module: str, heads: frozenset[str]) -> tuple[Subject, ...]:
    if heads and not any(f"{head}." in text for head in heads):
        return ()
    return tuple(_documented(ast.parse(text), module, ""))


def _module_name(package: Path, path: Path) -> str:
    parts = path.relative_to(package.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _documented(node: ast.Module | Documented, module: str, prefix: str) -> Iterator[Subject]:
    for child in node.body:
        if isinstance(child, Documented):
            docstring = ast.get_docstring(child)
            if docstring:
                yield Subject(module, prefix + child.name, docstring)
            if isinstance(child, ast.ClassDef):
                yield from _documented(child, module, f"{prefix}{child.name}.")

"""Make examples/*.ipynb from docs/tutorials/*.md: the same words, the same code, executed, with the outputs it gave."""

from __future__ import annotations

import argparse
import doctest
import hashlib
import json
import os
import posixpath
import re
import sys
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tools.pages.cells import WRITE, Raised, run_cell
from tools.pages.examples import Chunk, chunks, namespace
from tools.pages.shell import typed

ROOT = Path(__file__).resolve().parent.parent.parent
TUTORIALS = Path("docs/tutorials")
NOTEBOOKS = Path("examples")

_LINK = re.compile(r"(\]\()(?![a-z]+:|#|/)([^)\s]+)(\))")
_ROLE = re.compile(r"\{[\w:+-]+\}`(?:([^`<]+?)\s*<[^`>]+>|[~!]?([^`]+))`")
_TARGET = re.compile(r"^\([\w-]+\)=\n?", re.MULTILINE)
_OPTION = re.compile(r"[ \t]*#[ \t]*doctest:.*$", re.MULTILINE)
_SHOWN = {"note", "tip", "hint", "important", "warning", "caution", "danger", "attention", "seealso", "admonition"}


@dataclass(frozen=True)
class Cell:
    """One cell before it is executed; `raises` when the page shows an exception as its output."""

    kind: str
    source: str
    raises: bool = False


def cells(page: Path) -> list[Cell]:
    """Return the cells of a page: its prose, and its Python cut after each piece of output."""
    return [cell for chunk in chunks(page.read_text(encoding="utf-8")) for cell in _cells(chunk)]


def _cells(chunk: Chunk) -> Iterator[Cell]:
    if chunk.is_session:
        yield from _session(chunk.text)
    elif chunk.is_python:
        yield Cell("code", chunk.text.strip("\n"))
    elif chunk.file:
        yield Cell("code", f"{WRITE}{chunk.file}\n{chunk.text}")
    elif chunk.is_console:
        yield from (Cell("code", f"!{one.command}") for one in typed(chunk.text))
    elif chunk.directive in _SHOWN:
        body = chunk.text.strip("\n").splitlines()
        quoted = "\n".join(f"> {_prose(line)}".rstrip() for line in [f"**{chunk.directive.capitalize()}**", "", *body])
        yield Cell("markdown", quoted)
    elif chunk.language and not chunk.directive:
        yield Cell("markdown", f"```{chunk.language}\n{chunk.text}\n```")
    elif not chunk.language and (prose := _prose(chunk.text).strip("\n")):
        yield Cell("markdown", prose)


def _session(text: str) -> Iterator[Cell]:
    """Cut a session after each example that shows output, as a notebook shows the output of a cell's last line only."""
    pending: list[str] = []
    for example in doctest.DocTestParser().get_examples(text + "\n"):
        pending.append(_OPTION.sub("", example.source).rstrip("\n"))
        if example.want:
            yield Cell("code", "\n".join(pending), raises=example.exc_msg is not None)
            pending = []
    if pending:
        yield Cell("code", "\n".join(pending))


def _prose(text: str) -> str:
    """Turn what only Sphinx understands into plain Markdown, and make links hold from the notebook's folder."""
    plain = _TARGET.sub("", _ROLE.sub(lambda role: f"`{role[1] or role[2]}`", text))
    base = posixpath.relpath(TUTORIALS.as_posix(), NOTEBOOKS.as_posix())
    return _LINK.sub(lambda link: f"{link[1]}{posixpath.normpath(posixpath.join(base, link[2]))}{link[3]}", plain)


def notebook(page: Path) -> dict[str, Any]:
    """Execute the page's cells in order, in an empty folder, and return the notebook."""
    made: list[dict[str, Any]] = []
    os.environ.setdefault("MPLBACKEND", "Agg")
    with namespace(page) as names, tempfile.TemporaryDirectory() as folder, chdir(folder):
        count = 0
        for identity, cell in identified(cells(page)):
            entry: dict[str, Any] = {"cell_type": cell.kind, "id": identity, "metadata": {}}
            if cell.kind == "code":
                count += 1
                entry["metadata"] = {"tags": ["raises-exception"]} if cell.raises else {}
                entry["execution_count"] = count
                entry["outputs"] = run_cell(cell.source, names, count, may_raise=cell.raises)
            entry["source"] = cell.source.splitlines(keepends=True)
            made.append(entry)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python", "file_extension": ".py"}}
    return {"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def identified(listed: list[Cell]) -> Iterator[tuple[str, Cell]]:
    """Give each cell an id made from its source, so that an edit elsewhere does not change it."""
    seen: dict[str, int] = {}
    for cell in listed:
        digest = hashlib.sha256(f"{cell.kind}\n{cell.source}".encode()).hexdigest()[:12]
        seen[digest] = seen.get(digest, 0) + 1
        yield (digest if seen[digest] == 1 else f"{digest}-{seen[digest]}"), cell


def tutorials(root: Path) -> dict[Path, Path]:
    """Return each tutorial with the notebook made from it."""
    pages = sorted(path for path in (root / TUTORIALS).glob("*.md") if path.stem != "index")
    return {page: root / NOTEBOOKS / f"{page.stem}.ipynb" for page in pages}


def problems(root: Path) -> list[str]:
    """Say which notebooks are missing, belong to no tutorial, were not executed, or differ from their tutorial."""
    expected = tutorials(root)
    found = [
        f"{path.relative_to(root)} is not made from a tutorial"
        for path in sorted((root / NOTEBOOKS).glob("*.ipynb"))
        if path not in expected.values()
    ]
    for page, path in expected.items():
        if not path.is_file():
            found.append(f"{path.relative_to(root)} is missing")
        elif _outline(json.loads(path.read_text(encoding="utf-8"))) != _expected_outline(page):
            found.append(f"{path.relative_to(root)} differs from {page.relative_to(root)}")
    return found


def _expected_outline(page: Path) -> list[tuple[str, str, str, bool]]:
    return [(identity, cell.kind, cell.source, cell.kind == "code") for identity, cell in identified(cells(page))]


def _outline(stored: dict[str, Any]) -> list[tuple[str, str, str, bool]]:
    """Return what must agree with the page; outputs are noisy and need only exist."""
    return [
        (cell["id"], cell["cell_type"], "".join(cell["source"]), cell.get("execution_count") is not None)
        for cell in stored["cells"]
    ]


def main(arguments: list[str] | None = None) -> int:
    """Write every notebook, or with --check say whether they are current."""
    parser = argparse.ArgumentParser(prog="python -m tools.pages.notebooks", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write and execute nothing; fail when one is not current")
    parser.add_argument("--root", type=Path, default=ROOT, help="the repository")
    options = parser.parse_args(arguments)
    if options.check:
        stale = problems(options.root)
        if stale:
            print("\n".join([*stale, "Run `make notebooks`."]), file=sys.stderr)
        return 1 if stale else 0
    for page, path in tutorials(options.root).items():
        try:
            text = json.dumps(notebook(page), ensure_ascii=False, indent=1) + "\n"
        except Raised as problem:
            print(f"{page.relative_to(options.root)}: {problem}", file=sys.stderr)
            return 1
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        print(f"{path.relative_to(options.root)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())

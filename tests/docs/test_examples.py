"""Every example in the documentation runs, and prints what the page shows."""

from __future__ import annotations

import re
from doctest import DocTestParser
from pathlib import Path

import pytest

from tests.needs import NEEDS
from tools.pages.examples import Chunk, chunks, code, failures
from tools.pages.shell import WIDTH

ROOT = Path(__file__).resolve().parent.parent.parent
PAGES = [*sorted((ROOT / "docs").rglob("*.md")), *sorted(ROOT.glob("README.md"))]
TAUGHT = [page for page in PAGES if page.parent.name in {"tutorials", "how-to"} and page.stem != "index"]


def place(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def needed(text: str) -> list[str]:
    """Return what a page needs that not every machine has: a module of tests/needs.py, never a graphics card."""
    typed = "\n".join(one.text for one in code(text))
    imported = set(re.findall(r"^(?:>>> )?(?:import|from) (\w+)", typed, re.MULTILINE))
    imported |= {"torch"} if "learning.deep" in text else set()
    return [name for name, need in NEEDS.items() if not need.card and imported.intersection(need.modules)]


def executed() -> list[object]:
    """Return the pages with examples, each marked by what it needs."""
    texts = {page: page.read_text(encoding="utf-8") for page in PAGES}
    return [
        pytest.param(page, marks=pytest.mark.needs(*needed(text)), id=place(page))
        for page, text in texts.items()
        if code(text)
    ]


@pytest.mark.parametrize("page", executed())
def test_the_examples_of_a_page_print_what_it_shows(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # torch: several tests at once would wait for each other
    report = failures(page)
    if report:
        pytest.fail(report, pytrace=False)


def test_a_page_needs_what_its_examples_import():
    text = "import spark\n\n```python\n>>> import torch\n>>> from torch import nn\n>>> import numpy\n```\n"
    assert needed(text) == ["torch"]


@pytest.mark.parametrize("page", TAUGHT, ids=place)
def test_a_page_that_teaches_has_an_example(page):
    assert any(block.is_session for block in code(page.read_text(encoding="utf-8")))


@pytest.mark.parametrize("page", PAGES, ids=place)
def test_no_prompt_stands_outside_a_python_block(page):
    stray = [
        chunk.line
        for chunk in chunks(page.read_text(encoding="utf-8"))
        if not chunk.is_python and not chunk.directive and re.search(r"^\s*>>>", chunk.text, re.MULTILINE)
    ]
    assert not stray, f"an example is not executed because it is not in a python block; chunks at lines {stray}"


def shown(text: str) -> list[Chunk]:
    """Every block of code, those inside notes included; tables of contents and formulas are no code."""
    found = [chunk for chunk in chunks(text) if chunk.language and (not chunk.directive or chunk.file)]
    notes = [chunk for chunk in chunks(text) if chunk.directive and "```" in chunk.text]
    return found + [inner for note in notes for inner in shown(note.text)]


@pytest.mark.parametrize("page", PAGES, ids=place)
def test_code_is_no_wider_than_a_terminal_beside_the_sidebars(page):
    text = page.read_text(encoding="utf-8")
    wide = [line for chunk in shown(text) for line in chunk.text.splitlines() if len(line) > WIDTH]
    assert not wide, f"more than {WIDTH} columns:\n" + "\n".join(wide)


def test_a_wide_line_is_found_in_a_note_and_in_a_file():
    line = "a" * (WIDTH + 1)
    note = f"````{{note}}\n```python\n{line}\n```\n````\n"
    file = f"```{{code-block}} toml\n:caption: a.toml\n\n{line}\n```\n"
    assert [chunk.text for chunk in shown(note + file)] == [line, line]


def wide_examples(text: str) -> list[str]:
    """Return the lines of examples in a text that are wider than a page, prompts counted."""
    examples = DocTestParser().get_examples(text.replace('"""', "\n\n")) if ">>>" in text else []
    prompted = [f">>> {line}" for example in examples for line in example.source.splitlines()]
    printed = [line for example in examples for line in example.want.splitlines()]
    return [line for line in (*prompted, *printed) if len(line) > WIDTH]


def test_examples_of_docstrings_are_no_wider_than_those_of_pages():
    files = sorted((ROOT / "src" / "discreet").rglob("*.py"))
    wide = [f"{place(file)}: {line}" for file in files for line in wide_examples(file.read_text(encoding="utf-8"))]
    assert not wide, f"more than {WIDTH} columns:\n" + "\n".join(wide)


def test_a_wide_line_is_found_in_the_source_and_in_the_output_of_an_example():
    long, fitting = "a" * (WIDTH - 3), "a" * (WIDTH - 4)
    assert wide_examples(f'"""Text.\n\n>>> {long}\n{long}bcde\n>>> {fitting}\n"""\n') == [f">>> {long}", f"{long}bcde"]

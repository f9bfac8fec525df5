"""Read Markdown pages as prose and code, and run their examples the way a reader would: in order, in one namespace."""

from __future__ import annotations

import doctest
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import dedent, indent
from types import CodeType, ModuleType
from typing import Any

from tools.pages.shell import Shell, typed

OPTIONS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE

_FENCE = re.compile(r"^(?P<indent> *)(?P<mark>`{3,}|~{3,}|:{3,})\s*(?P<info>[^`]*)$")
_DIRECTIVE = re.compile(r"^\{(?P<name>[\w:-]+)\}\s*(?P<argument>.*)$")
_CAPTION = re.compile(r":caption: (?P<file>.+)\n")
_PYTHON = {"python", "py", "pycon", "python3", "ipython"}
_CODE_DIRECTIVES = {"code", "code-block", "sourcecode", "doctest", "testcode"}


@dataclass(frozen=True)
class Chunk:
    """A piece of a page: prose when `language` is empty, else a fenced block; `line` is where its text starts.

    A block of code with a caption shows a file: `file` is its name, which the runner writes before it goes on.
    """

    text: str
    line: int
    language: str = ""
    directive: str = ""
    file: str = ""

    @property
    def is_python(self) -> bool:
        """Whether it is Python that a reader would type or run."""
        return self.language in _PYTHON

    @property
    def is_console(self) -> bool:
        """Whether it shows commands of a shell and what they print."""
        return self.language == "console"

    @property
    def is_executed(self) -> bool:
        """Whether a reader would run it, or save it as a file."""
        return self.is_python or self.is_console or bool(self.file)

    @property
    def is_session(self) -> bool:
        """Whether it shows prompts and output, as an interpreter would."""
        return self.is_python and ">>>" in self.text


def chunks(text: str) -> list[Chunk]:
    """Split a page into prose and fenced blocks, in order."""
    lines = text.splitlines()
    found: list[Chunk] = []
    prose: list[str] = []
    number = 0
    while number < len(lines):
        opening = _FENCE.match(lines[number])
        if not opening or not (opening["info"] or opening["mark"][0] != ":"):
            prose.append(lines[number])
            number += 1
            continue
        end = _closing(lines, number + 1, opening["mark"])
        found += [Chunk("\n".join(prose), number - len(prose) + 1)] if prose else []
        found.append(_fenced(lines[number + 1 : end], number + 2, opening["info"].strip()))
        prose, number = [], end + 1
    return [*found, Chunk("\n".join(prose), len(lines) - len(prose) + 1)] if prose else found


def _closing(lines: list[str], start: int, mark: str) -> int:
    """Return the line that closes a fence; a fence never closed runs to the end of the page."""
    for number in range(start, len(lines)):
        line = lines[number].strip()
        if line.startswith(mark) and not line.strip(mark[0]):
            return number
    return len(lines)


def _fenced(lines: list[str], line: int, info: str) -> Chunk:
    text = dedent("\n".join(lines))
    directive = _DIRECTIVE.match(info)
    if directive is None:
        words = info.split()
        return Chunk(text, line, language=words[0].lower() if words else "text")
    name = directive["name"]
    if name in _CODE_DIRECTIVES:
        language = "python" if name in {"doctest", "testcode"} else directive["argument"].strip().lower() or "python"
        caption = _CAPTION.match(text)
        body = text[caption.end() :].lstrip("\n") if caption else text
        start = line + text[: len(text) - len(body)].count("\n")
        return Chunk(body, start, language=language, directive=name, file=caption["file"] if caption else "")
    return Chunk(text, line, language=f"{{{name}}}", directive=name)


def code(text: str) -> list[Chunk]:
    """Return the blocks of a page that are executed, those inside notes and other directives included."""
    found: list[Chunk] = []
    for chunk in chunks(text):
        if chunk.is_executed:
            found.append(chunk)
        elif chunk.directive:
            found += [replace(one, line=one.line + chunk.line - 1) for one in code(chunk.text)]
    return found


@contextmanager
def namespace(page: Path) -> Iterator[dict[str, Any]]:
    """Give a page's code a module of its own, so that what it defines can be pickled and found by name."""
    name = "page_" + re.sub(r"\W", "_", page.stem)
    module = ModuleType(name, f"The code of {page.name}.")
    sys.modules[name] = module
    try:
        yield module.__dict__
    finally:
        del sys.modules[name]


def failures(page: Path) -> str:
    """Run every block of Python and of the shell of the page; return what differed from the page, or nothing.

    A block with prompts must print what the page shows. A block without must run without an exception. A block that
    shows a file writes it.
    """
    report: list[str] = []
    runner = doctest.DocTestRunner(verbose=False, optionflags=OPTIONS)
    shell = Shell()
    with namespace(page) as names:
        for block in code(page.read_text(encoding="utf-8")):
            if block.file:
                Path(block.file).write_text(block.text + "\n", encoding="utf-8")
            elif block.is_console:
                report += _console(block, page, shell)
            elif block.is_session:
                examples = doctest.DocTestParser().get_examples(block.text + "\n", page.name)
                report += [
                    f"{page.name}: an example is skipped, line {block.line + example.lineno}\n"
                    for example in examples
                    if doctest.SKIP in example.options
                ]
                # a name of its own: doctest looks up the lines of a traceback by name and number of the example
                name = f"{page.name}, block of line {block.line}"
                test = doctest.DocTest(examples, {}, name, str(page), block.line - 1, block.text)
                test.globs = names  # the page's own, where DocTest would keep a copy
                runner.run(test, out=report.append, clear_globs=False)
            else:
                exec(compiled(block, page), names)  # noqa: S102 - running the page is the purpose
    return "".join(report)


def _console(block: Chunk, page: Path, shell: Shell) -> Iterator[str]:
    """Run the commands of a shell block, and yield how their output differs from what is shown."""
    checker = doctest.OutputChecker()
    for one in typed(block.text):
        got = shell.run(one.command)
        if not checker.check_output(f"{one.want}\n", f"{got}\n", OPTIONS):
            place = f"{page.name}, line {block.line + one.line}"
            yield f"{place}: $ {one.command}\nExpected:\n{indent(one.want, '    ')}\nGot:\n{indent(got, '    ')}\n"


def compiled(block: Chunk, page: Path) -> CodeType:
    """Compile a block so that a traceback names the page and its line."""
    made: CodeType = compile("\n" * (block.line - 1) + block.text, str(page), "exec", dont_inherit=True)
    return made

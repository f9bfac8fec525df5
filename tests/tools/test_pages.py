"""Pages are run the way a reader would: in order, in one namespace, nothing left out."""

from __future__ import annotations

import sys

import pytest

from tools.pages.examples import chunks, code, failures


@pytest.fixture
def page(tmp_path):
    def write(text):
        path = tmp_path / "page.md"
        path.write_text(text)
        return path

    return write


def test_a_page_is_prose_and_blocks_in_order_with_their_lines():
    found = chunks("# Title\n\n```toml\na = 1\n```\nafter\n\n~~~python\n>>> 1\n1\n~~~\n")
    assert [(chunk.language, chunk.line) for chunk in found] == [("", 1), ("toml", 4), ("", 6), ("python", 9)]


def test_python_inside_a_note_is_found_at_its_line():
    text = "a\n\n````{note}\nb\n\n```python\n>>> 1\n1\n```\n````\n\n:::{tip}\n```pycon\n>>> 2\n2\n```\n:::\n"
    assert [(block.text, block.line) for block in code(text)] == [(">>> 1\n1", 7), (">>> 2\n2", 14)]


def test_blocks_share_one_namespace_and_their_classes_can_be_pickled(page):
    defined = "```python\nclass A: ...\n```\n"
    pickled = "```python\n>>> import pickle\n>>> type(pickle.loads(pickle.dumps(A()))) is A\nTrue\n```\n"
    assert failures(page(defined + pickled)) == ""
    assert "page_page" not in sys.modules


def test_a_function_sees_what_later_blocks_define(page):
    assert failures(page("```python\n>>> def f(): return x\n```\n```python\n>>> x = 3\n>>> f()\n3\n```")) == ""


def test_an_exception_may_come_out_of_a_function_of_an_earlier_block(page):
    defined = "```python\n>>> x = 0\n>>> def f():\n...     return 1 / x\n```\n"
    raised = "```python\n>>> f()\nTraceback (most recent call last):\n...\nZeroDivisionError: division by zero\n```\n"
    assert failures(page(defined + raised)) == ""


def test_a_wrong_output_is_reported_with_its_line(page):
    report = failures(page("text\n\n```python\n>>> 1 + 1\n3\n```\n"))
    assert "line 4" in report
    assert "Expected:\n    3\nGot:\n    2" in report


def test_a_skipped_example_is_a_failure(page):
    assert "an example is skipped, line 2" in failures(page("```python\n>>> 1 / 0  # doctest: +SKIP\n```\n"))


def test_code_without_prompts_must_run(page):
    with pytest.raises(ZeroDivisionError) as raised:
        failures(page("text\n\n```python\n1 / 0\n```\n"))
    assert raised.traceback[-1].lineno + 1 == 4


def test_a_shell_block_runs_in_order_with_the_python_around_it(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    made = "```python\n>>> from pathlib import Path\n>>> _ = Path('a.txt').write_text('one two')\n```\n"
    shown = "```console\n$ export WORD=three\n$ cat a.txt\none\n  two\n$ printf %s \\\n    $WORD > b.txt\n```\n"
    read = "```python\n>>> Path('b.txt').read_text()\n'three'\n```\n"
    assert failures(page(made + shown + read)) == ""


def test_a_shell_block_with_another_output_is_reported_with_its_line(page):
    report = failures(page("text\n\n```console\n$ true\n$ echo one\ntwo\n```\n"))
    assert "page.md, line 5: $ echo one\nExpected:\n    two\nGot:\n    one" in report


def test_discreet_in_a_shell_block_is_the_program_and_its_errors_are_shown(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    told = "```console\n$ discreet --version\ndiscreet ...\n$ discreet ask\nError: ...--file...\n```\n"
    assert failures(page(told)) == ""
    piped = "```console\n$ discreet --version | cat\ndiscreet ...\n$ discreet nothing 2> told.txt; echo $?\n2\n```\n"
    assert failures(page(piped)) == ""


def test_a_shell_block_without_a_command_is_refused(page):
    with pytest.raises(ValueError, match="must start with a command"):
        failures(page("```console\nno command\n```\n"))


def test_a_block_with_a_caption_is_a_file(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = "```{code-block} toml\n:caption: a.toml\n\n[a]\nb = 1\n```\n```console\n$ cat a.toml\n[a]\nb = 1\n```\n"
    assert failures(page(text)) == ""
    assert code(text)[0].line == 4

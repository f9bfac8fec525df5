"""What is tried on the wheel runs without this tree in sight, and a failure shows what the command printed."""

from __future__ import annotations

import sys

import pytest

from tools.wheel import CALLS, COMMANDS, CommandFailed, run


def test_a_command_sees_neither_this_tree_nor_its_variables(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "src")
    program = "import os; print(os.environ.get('PYTHONPATH'), os.getcwd())"
    assert run([sys.executable, "-c", program], folder=tmp_path).split() == ["None", str(tmp_path)]


def test_a_failure_says_what_the_command_printed(tmp_path):
    with pytest.raises(CommandFailed, match="ended with 3:\nnothing here"):
        run([sys.executable, "-c", "print('nothing here'); raise SystemExit(3)"], folder=tmp_path)


def test_the_first_commands_and_the_documented_calls_are_tried():
    assert {"demo", "check", "ask"} <= {words[1] for words in COMMANDS}
    assert CALLS.exists()

"""The room of attacks: its public names come from its floors, each when it is asked for."""

from __future__ import annotations

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from discreet import attacks


def stated():
    """The floor that the room's list names for each of its exports."""
    tree = ast.parse(Path(attacks.__file__).read_text(encoding="utf-8"))
    imports = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    floors = [node for node in imports if node.module and node.module.startswith("discreet.attacks.")]
    return {alias.name: node.module for node in floors for alias in node.names}


def test_every_name_comes_from_the_floor_that_the_list_states():
    assert sorted(stated()) == sorted(attacks.__all__)
    for name, floor in stated().items():
        assert getattr(attacks, name) is getattr(import_module(floor), name)


def test_linkage_loads_no_other_room_than_it_needs():
    script = "import sys; from discreet.attacks import link; print('discreet.synthesis' in sys.modules)"
    command = [sys.executable, "-W", "error", "-c", script]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "False\n"  # noqa: S603


def test_a_name_that_is_not_there_is_an_attribute_error():
    assert set(attacks.__all__) <= set(dir(attacks))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = attacks.nothing

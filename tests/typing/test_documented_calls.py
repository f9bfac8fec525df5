"""The calls that `make lint` checks by their types also run."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

from tests.typing import documented_calls


@pytest.mark.parametrize("room", documented_calls.ROOMS, ids=lambda room: room.__name__)
def test_the_documented_calls_of_a_room_run(room):
    room()


def test_there_are_sixty_of_them():
    tree = ast.parse(Path(documented_calls.__file__).read_text(encoding="utf-8"))
    called = {ast.unparse(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    ours = {name for name in called if inspect.ismodule(vars(documented_calls).get(name.partition(".")[0]))}
    assert len([name for name in ours if not name.startswith(("np.", "pd."))]) >= 60

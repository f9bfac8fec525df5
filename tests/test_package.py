"""The package as a whole: what importing it costs and brings, and which names are public."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import discreet

ROOT = Path(__file__).resolve().parent.parent
HEAVY = ("scipy", "flint", "matplotlib", "click", "rich", "pandas", "duckdb", "torch", "numba")


def test_the_core_depends_on_four_packages() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = sorted(entry.split(">")[0].split("=")[0].strip() for entry in project["dependencies"])
    assert names == ["cryptography", "numpy", "python-flint", "scipy"]


def test_importing_discreet_loads_nothing_heavy() -> None:
    script = (
        "import discreet, sys; from discreet import Laplace, PureDP, audit, errors, laws, mechanisms, privacy; "
        f"print([name for name in {HEAVY!r} if name in sys.modules])"
    )
    command = [sys.executable, "-W", "error", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603  our own script
    assert done.stdout.strip() == "[]"


def test_no_public_privacy_call_takes_a_seed() -> None:
    import inspect

    for name in discreet.__all__:
        thing = getattr(discreet, name)
        if callable(thing):
            parameters = inspect.signature(thing).parameters
            assert not {"seed", "random_state", "rng", "generator"} & set(parameters), name


def test_names_come_when_they_are_asked_for_and_are_the_same_as_in_their_rooms() -> None:
    script = (
        "import discreet, sys; assert not [name for name in sys.modules if name.startswith('discreet.') "
        "and name not in ('discreet._optional', 'discreet._version', 'discreet.errors')]; "
        "assert set(discreet.__all__) <= set(dir(discreet)); "
        "import discreet.audit.request; import discreet.audit as room; assert discreet.audit is room; "
        "from discreet import *; from discreet import mechanisms; assert Laplace is mechanisms.Laplace; "
        "assert Session is query.Session and privacy.PureDP is PureDP"
    )
    subprocess.run([sys.executable, "-W", "error", "-c", script], check=True)  # noqa: S603 (our own program)


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    for package in (discreet, discreet.query):
        with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
            _ = package.nothing


EXTRAS = ("sqlglot", "duckdb", "pandas", "polars", "pyarrow", "matplotlib", "numba", "click", "rich", "arviz_base")
WITHOUT_EXTRAS = """
import sys
from importlib import import_module

class Hidden:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in EXTRAS:
            raise ModuleNotFoundError("No module named " + repr(name), name=name)

sys.meta_path.insert(0, Hidden())
for room in ROOMS:
    import_module("discreet." + room)
"""


def test_every_room_but_the_command_line_is_imported_without_any_extra() -> None:
    folder = Path(discreet.__file__).parent
    rooms = sorted(path.parent.name for path in folder.glob("*/__init__.py") if path.parent.name != "cli")
    assert "synthesis" in rooms
    program = WITHOUT_EXTRAS.replace("EXTRAS", repr(EXTRAS)).replace("ROOMS", repr(rooms))
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  our own program
    assert done.returncode == 0, done.stderr

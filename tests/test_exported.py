"""The front doors: every `__all__` lists names that exist, are documented and mean one thing; `dir` shows no other."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import pytest

import discreet

PACKAGE = Path(discreet.__file__).parent
OPEN = [
    ".".join(["discreet", *path.parent.relative_to(PACKAGE).parts])
    for path in sorted(PACKAGE.rglob("__init__.py"))
    if "\n__all__ = [" in path.read_text(encoding="utf-8")
    and (find_spec("torch") or "deep" not in path.parts)  # networks need the extra `deep`; CI has it
]
HIDDEN = ("cli", "frames")  # a program, and what rooms share
ROOMS = sorted({path.parent.name for path in PACKAGE.glob("*/__init__.py")} - set(HIDDEN))


@pytest.fixture(params=OPEN)
def package(request):
    return importlib.import_module(request.param)


def submodules(package):
    return {found.name for found in pkgutil.iter_modules(package.__path__)}


def test_every_room_has_a_front_door():
    assert {f"discreet.{room}" for room in ROOMS} <= set(OPEN)
    assert len(ROOMS) > 12


def test_every_exported_name_exists_and_stands_once_in_order(package):
    names = package.__all__
    assert len(names) == len(set(names))
    assert list(names) == sorted(names, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    for name in names:
        assert getattr(package, name) is not None


def test_nothing_private_is_exported(package):
    assert [name for name in package.__all__ if name.startswith("_") and name != "__version__"] == []


def test_every_exported_name_is_documented(package):
    for name in package.__all__:
        thing = getattr(package, name)
        if inspect.isclass(thing) or inspect.isroutine(thing) or inspect.ismodule(thing):
            assert (thing.__doc__ or "").strip(), name
        elif name != "__version__":
            assert name in described(Path(package.__file__).parent), name


def described(folder):
    """Return the names in the files of a folder whose assignment is followed by a text, as types and constants have."""
    found = set()
    for path in folder.rglob("*.py"):
        body = ast.parse(path.read_text(encoding="utf-8")).body
        for first, second in pairwise(body):
            targets = first.targets if isinstance(first, ast.Assign) else [getattr(first, "target", None)]
            if isinstance(second, ast.Expr) and isinstance(second.value, ast.Constant):
                found |= {target.id for target in targets if isinstance(target, ast.Name)}
    return found


def test_no_exported_name_hides_a_module_of_its_package(package):
    for name in submodules(package) & set(package.__all__):
        assert getattr(package, name) is importlib.import_module(f"{package.__name__}.{name}"), name


def test_dir_lists_the_exported_names_and_no_other(package):
    special = {name for name in vars(package) if name.startswith("__") and name.endswith("__")}
    assert set(dir(package)) - special == set(package.__all__) - special


def test_no_two_exported_classes_have_one_name():
    known: dict[str, object] = {}
    for package in map(importlib.import_module, OPEN):
        for name in package.__all__:
            thing = getattr(package, name)
            if inspect.isclass(thing) and name != "Bins":  # of a column, and of features: see tests/test_house.py
                assert known.setdefault(name, thing) is thing, f"{package.__name__}.{name} is another class"


@pytest.mark.parametrize("room", ["errors", *ROOMS])
def test_every_room_is_reached_from_the_package(room):
    assert getattr(discreet, room) is importlib.import_module(f"discreet.{room}")
    assert room in discreet.__all__


@pytest.mark.parametrize(
    "name",
    [
        found.name
        for found in pkgutil.walk_packages([str(PACKAGE)], "discreet.")
        if found.ispkg and (find_spec("torch") or ".deep" not in found.name)
    ],
)
def test_what_has_the_name_of_a_module_is_that_module(name):
    """`import discreet.statistics.sums as s` and then `s.means` never give a function in place of the file."""
    package = importlib.import_module(name)
    found = {part: getattr(package, part, None) for part in submodules(package)}
    assert {part for part, value in found.items() if value is not None and not inspect.ismodule(value)} == set()

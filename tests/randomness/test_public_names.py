"""There is no way to choose the randomness of privacy code from outside: no seed, no other generator."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

from discreet import laws, randomness

SOURCE = Path(inspect.getfile(randomness)).resolve().parent.parent
FORBIDDEN = {"seed", "random_state", "rng", "generator", "random", "key", "source", "entropy", "bit_generator"}


def public_callables():
    """Yield every public function, class and method of the two rooms."""
    for room in (randomness, laws):
        names = [f"{room.__name__}.{module.name}" for module in pkgutil.iter_modules(room.__path__)]
        for module in (room, *map(importlib.import_module, names)):
            for name, value in vars(module).items():
                ours = str(getattr(value, "__module__", "")).startswith("discreet")
                if name.startswith("_") or not callable(value) or not ours:
                    continue
                yield f"{module.__name__}.{name}", value
                if inspect.isclass(value):
                    for part, method in vars(value).items():
                        function = getattr(method, "__func__", method)
                        if inspect.isfunction(function) and (part == "__init__" or not part.startswith("_")):
                            yield f"{module.__name__}.{name}.{part}", function


def test_no_public_callable_takes_a_seed():
    looked_at = 0
    for name, function in public_callables():
        try:
            parameters = inspect.signature(function).parameters
        except (TypeError, ValueError):
            continue
        looked_at += 1
        assert not FORBIDDEN & set(parameters), name
    assert looked_at > 100


def test_the_hook_of_the_tests_is_private():
    assert "_swapped_source" not in randomness.__all__
    assert not hasattr(randomness, "_swapped_source")


def imported(tree: ast.AST):
    """Yield every dotted name that a file imports or looks up."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield f"{node.value.id}.{node.attr}"


# a museum shows noise that protects nobody, and one planted fault is a seed
SHOWN = {"testing/museum/exhibit.py", "testing/planted/additive.py"}
# what the datasets of users draw from these generators is made secret there, and they are put back afterwards
HIDDEN = {"learning/deep/training/rows.py"}
# draws from a posterior are computed from what was released, so that no privacy rests on them; the one draw that is a
# release by itself is no exception
RELEASED = {SOURCE / "bayes" / "one_draw.py"}
FILES = sorted(
    path
    for path in SOURCE.rglob("*.py")
    if path.relative_to(SOURCE).parts[0] not in ("data", "bayes") or path in RELEASED
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_no_file_outside_data_uses_an_insecure_generator(path):
    names = set(imported(ast.parse(path.read_text())))
    insecure = {name for name in names if name == "random" or name.startswith(("random.", "numpy.random", "np.random"))}
    assert bool(insecure) == (path.relative_to(SOURCE).as_posix() in SHOWN | HIDDEN)


def test_there_are_files_to_look_at():
    assert len(FILES) > 30
    assert set(FILES) >= RELEASED


def test_only_the_keystream_asks_the_operating_system_for_randomness():
    asking = {path.name for path in FILES if {"os.urandom", "secrets"} & set(imported(ast.parse(path.read_text())))}
    assert asking == {"keystream.py"}

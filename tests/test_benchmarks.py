"""Benchmarks run by hand, so a file that no longer imports would be noticed only there."""

from __future__ import annotations

import ast
from importlib.util import find_spec
from pathlib import Path

import pytest

from tools.imports import House

ROOT = Path(__file__).resolve().parent.parent
FILES = sorted((ROOT / "benchmarks").rglob("*.py"))


@pytest.fixture(scope="module")
def house():
    return House.of(ROOT / "src" / "discreet")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_module_of_discreet_that_a_benchmark_names_is_there(path, house):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] in {"discreet", "benchmarks"}:
            module = str(node.module)
            there = module in house.files if module.startswith("discreet") else find_spec(module) is not None
            assert there, f"{path}: {module}"

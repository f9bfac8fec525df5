"""What the room offers to the outside, and what it rests on."""

from __future__ import annotations

import ast
from dataclasses import fields
from pathlib import Path

import discreet.ledger
from discreet.ledger import Request, Terms

ROOM = Path(discreet.ledger.__file__).parent


def imported(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (name.name for name in node.names)


def test_every_exported_name_exists_and_is_documented():
    assert list(discreet.ledger.__all__) == sorted(discreet.ledger.__all__)
    for name in discreet.ledger.__all__:
        assert getattr(discreet.ledger, name).__doc__


def test_the_room_sees_no_data_and_no_engine():
    rooms = {
        name.split(".")[1] for path in ROOM.rglob("*.py") for name in imported(path) if name.startswith("discreet.")
    }
    assert rooms == {"_optional", "display", "errors", "ledger", "privacy", "randomness"}  # _optional lists names


def test_only_the_leaf_knows_about_files():
    outside = {"sqlite3", "fcntl"}
    users = {path.relative_to(ROOM).as_posix() for path in ROOM.rglob("*.py") if outside & set(imported(path))}
    assert users == {"files/anchor.py", "files/one_at_a_time.py", "sqlite/ledger.py", "sqlite/shelf.py"}


def test_the_rules_are_written_once():
    """Leaves keep entries; deciding, charging and storing are not theirs to change."""
    for leaf in ("memory", "sqlite/ledger"):
        tree = ast.parse((ROOM / f"{leaf}.py").read_text(encoding="utf-8"))
        names = {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
        assert not names & {"obtain", "store", "note", "amend", "balance", "fits"}


def test_nothing_in_the_terms_renews_a_budget_and_nothing_in_a_request_holds_data():
    assert {field.name for field in fields(Terms)} == {"lineage", "unit", "budget", "caps", "shared_answers"}
    assert {field.name for field in fields(Request)} == {
        "analyst", "cost", "digest", "description", "releases", "idempotency",
    }  # fmt: skip

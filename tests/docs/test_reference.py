"""Every room has a page that leads on, and every public class a page of its own."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "docs" / "_extensions"))

import class_pages

from tools.golden.names import public_names, room_of
from tools.pages.signatures import DOCUMENTED

ROOT = Path(__file__).resolve().parent.parent.parent
REFERENCE = ROOT / "docs" / "reference"
ROOMS = sorted(path.parent.name for path in (ROOT / "src" / "discreet").glob("*/__init__.py"))
PUBLIC = [name for name in ROOMS if getattr(room_of(f"discreet.{name}"), "__all__", None)]


@pytest.mark.parametrize("name", PUBLIC)
def test_a_room_has_a_page_with_its_use_its_reasons_and_its_decisions(name):
    text = (REFERENCE / f"{name}.md").read_text(encoding="utf-8")
    for row in ("how to use it", "why it works", "decisions"):
        assert re.search(rf"^\| {row} \| \S", text, re.MULTILINE), row
    assert f"({name}.md)" in (REFERENCE / "index.md").read_text(encoding="utf-8")


def test_every_public_class_of_a_documented_room_has_a_page_that_documents_it():
    pages = class_pages.pages()
    for place in DOCUMENTED:
        room = room_of(place)
        for name in public_names(room):
            if isinstance(kind := getattr(room, name), type):
                home = class_pages.owner(kind, place)
                assert f".. autoclass:: {home}.{name}\n   :members:" in pages[f"{home}.{name}.rst"]
    assert len(pages) > 200


def test_what_scikit_learn_writes_into_a_class_is_left_out_of_its_page():
    kind = room_of("discreet.learning").LogisticRegression

    def left_out(name):
        return class_pages._foreign(None, "class", name, getattr(kind, name), False, None)

    assert left_out("set_fit_request")
    assert left_out("set_score_request")
    assert left_out("get_params")
    assert left_out("fit") is None
    assert left_out("predict") is None


def test_names_that_differ_in_capitals_only_are_refused(monkeypatch):
    room = ModuleType("discreet.clash")
    room.__all__ = ["Top", "TOP"]
    room.Top = room.TOP = type("Top", (), {})
    monkeypatch.setattr(class_pages, "import_module", lambda _place: room)
    with pytest.raises(class_pages.TwoPagesOfOneName):
        class_pages.pages()


def test_a_room_lists_its_classes_with_a_sentence_and_its_functions_in_full():
    text = class_pages.listing(room_of("discreet.audit"))
    assert "| {py:obj}`~discreet.audit.Verdict` | " in text
    assert ".. autofunction:: discreet.audit.one_run" in text
    assert ".. autofunction:: discreet.privacy.largest_rho" in class_pages.listing(
        room_of("discreet.privacy")
    )  # cached


def test_a_sentence_in_a_table_keeps_its_bars():
    assert class_pages._sentence(type("A", (), {"__doc__": "The size |x| of x.\n\nMore."})) == "The size \\|x\\| of x."

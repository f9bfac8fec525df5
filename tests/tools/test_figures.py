"""The figures of the documentation: drawn from the laws, the same every time, and loading nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.docstrings import claims, subjects
from tools.experiments import EXPERIMENTS
from tools.figures import FIGURES, FOLDER, draw, main

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    folder = tmp_path_factory.mktemp("figures")
    draw(folder)
    return folder


def named_in_docstrings():
    stated = (claim for subject in subjects(ROOT / "src" / "discreet") for claim in claims(subject.docstring))
    return sorted({claim.statement.split()[0] for claim in stated if claim.head == "Figure"})


@pytest.mark.parametrize("name", named_in_docstrings())
def test_every_figure_that_a_docstring_names_is_drawn_here(name):
    assert Path(name).stem in {*FIGURES, *EXPERIMENTS}


@pytest.mark.parametrize("name", [*FIGURES, *EXPERIMENTS])
def test_a_figure_is_stored_and_loads_nothing_from_elsewhere(name):
    text = (ROOT / FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    assert not re.search(r"(?:href|src)=\"(?!#)", text)


def test_drawing_twice_gives_the_same_bytes(drawn, tmp_path):
    assert main(["--folder", str(tmp_path)]) == 0
    for path in sorted(tmp_path.iterdir()):
        assert path.read_bytes() == (drawn / path.name).read_bytes()


def test_the_picture_of_one_answer_exists_for_pages_that_show_no_svg(drawn):
    assert (drawn / "one-answer.png").read_bytes().startswith(b"\x89PNG")

"""The figures of the documentation: drawn from the laws, the same every time, and loading nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.figures.catalog import FIGURES, FOLDER, draw, main
from tools.figures.experiments import EXPERIMENTS
from tools.pages.docstrings import claims, subjects

ROOT = Path(__file__).resolve().parent.parent.parent


SLOW = {  # their exact laws take most of the time of all figures together; the soak draws them, twice
    "audit-cap",
    "clipping-error",
    "discovered-error",
    "error-against-queries",
    "histogram-error",
    "shuffling",
    "sparse-vectors",
    "sum-error",
}
ONE_OF_A_KIND = (
    "laplace",
    "randomized_response",
    "count-error",
    "one-answer",
    "museum",
    "local-frequencies",
    "price-tradeoff",
)


@pytest.fixture(scope="module")
def drawn(tmp_path_factory):
    folder = tmp_path_factory.mktemp("figures")
    draw(folder, names=[name for name in FIGURES if name not in SLOW])
    return folder


def named_in_docstrings():
    stated = (
        claim for subject in subjects(ROOT / "src" / "discreet", {"Figure"}) for claim in claims(subject.docstring)
    )
    return sorted({claim.statement.split()[0] for claim in stated if claim.head == "Figure"})


@pytest.mark.parametrize("name", named_in_docstrings())
def test_every_figure_that_a_docstring_names_is_drawn_here(name):
    assert Path(name).stem in {*FIGURES, *EXPERIMENTS}


@pytest.mark.parametrize("name", [*FIGURES, *EXPERIMENTS])
def test_a_figure_is_stored_and_loads_nothing_from_elsewhere(name):
    text = (ROOT / FOLDER / f"{name}.svg").read_text(encoding="utf-8")
    assert not re.search(r"(?:href|src)=\"(?!#)", text)


def test_drawing_twice_gives_the_same_bytes(drawn, tmp_path):
    assert main(["--folder", str(tmp_path), *ONE_OF_A_KIND]) == 0
    for path in sorted(tmp_path.iterdir()):
        assert path.read_bytes() == (drawn / path.name).read_bytes()


@pytest.mark.soak
def test_drawing_any_figure_twice_gives_the_same_bytes(tmp_path):
    for folder in ("first", "second"):
        assert main(["--folder", str(tmp_path / folder)]) == 0
    for path in sorted((tmp_path / "first").iterdir()):
        assert path.read_bytes() == (tmp_path / "second" / path.name).read_bytes()


def test_whatever_is_left_out_or_drawn_twice_is_a_figure():
    assert {*SLOW, *ONE_OF_A_KIND} <= set(FIGURES)


def test_the_picture_of_one_answer_exists_for_pages_that_show_no_svg(drawn):
    assert (drawn / "one-answer.png").read_bytes().startswith(b"\x89PNG")

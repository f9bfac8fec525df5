"""The documentation loads nothing from elsewhere, and draws formulas without help."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from docutils import nodes

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "docs" / "_extensions"))

import mathml
import offline


@pytest.mark.parametrize(
    "page",
    [
        '<script defer="defer" src="https://cdn.example/mathjax.js"></script>',
        '<link rel="stylesheet" type="text/css" href="//fonts.example/css" />',
        '<img alt="badge" src="http://badges.example/ok.svg" />',
    ],
)
def test_what_a_page_loads_from_another_host_is_found(page):
    assert len(offline.loaded(page)) == 1


@pytest.mark.parametrize(
    "page",
    [
        '<a href="https://papers.example/dwork2006">the paper</a>',
        '<script src="_static/doctools.js"></script>',
        '<link rel="canonical" href="https://docs.example/" />',
    ],
)
def test_links_to_follow_and_local_files_are_not_loaded_from_elsewhere(page):
    assert offline.loaded(page) == []


def test_a_formula_becomes_mathml():
    drawn = mathml._drawn(
        nodes.math("", r"\Pr[M(D) \in T] \le e^{\varepsilon} \Pr[M(D') \in T] + \delta"), as_block=True
    )
    assert drawn.startswith("<math")
    assert "ε" in drawn or "𝜀" in drawn
    assert "script" not in drawn


@pytest.mark.parametrize("formula", [r"\frac12(x)", r"\tfrac12 (x)", r"\dfrac 12(x)", r"\frac{1}{2}(x)"])
def test_a_half_is_drawn_as_a_half(formula):
    drawn = "".join(mathml._drawn(nodes.math("", formula), as_block=False).split())
    assert "<mn>1</mn><mn>2</mn></mfrac>" in drawn

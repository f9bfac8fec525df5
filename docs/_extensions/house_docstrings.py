"""Show docstrings of the house form: claims as paragraphs, formulas as they are typed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tools.pages.docstrings import restructured

if TYPE_CHECKING:
    from sphinx.application import Sphinx


def setup(app: Sphinx) -> dict[str, bool]:
    """Hook into autodoc."""
    app.connect("autodoc-process-docstring", _restructure)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _restructure(*event: object) -> None:
    lines = event[-1]
    assert isinstance(lines, list)  # noqa: S101 - what autodoc documents as its last argument
    lines[:] = restructured(lines)

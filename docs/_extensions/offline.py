"""Fail the build when a page would load anything from another host: pages are read offline, and unwatched."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from sphinx.errors import SphinxError

if TYPE_CHECKING:
    from sphinx.application import Sphinx

_LOADED = re.compile(
    r"<(?:script|img|iframe|source|video|audio|embed|link(?![^>]*rel=\"(?:canonical|author|license)\"))\b"
    r"[^>]*?(?:src|href)=\"((?:https?:)?//[^\"]+)\"",
    re.IGNORECASE,
)


class LoadsFromElsewhere(SphinxError):
    """A page names another host for a script, a style, a picture or a frame."""

    category = "Not offline"


def setup(app: Sphinx) -> dict[str, bool]:
    """Look at the pages once they are written."""
    app.connect("build-finished", _check)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def loaded(html: str) -> list[str]:
    """Return the addresses on other hosts that a page loads by itself; links to follow are not among them."""
    return _LOADED.findall(html)


def _check(app: Sphinx, exception: Exception | None) -> None:
    if exception is not None or app.builder.format != "html":
        return
    for page in sorted(Path(app.outdir).rglob("*.html")):
        addresses = loaded(page.read_text(encoding="utf-8"))
        if addresses:
            raise LoadsFromElsewhere(f"{page.relative_to(app.outdir)} loads {', '.join(addresses)}")

"""How Sphinx builds the documentation: offline, from the docstrings, with every warning an error."""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "docs" / "_extensions"), str(ROOT / "src")]

from discreet._version import __version__  # noqa: E402 - the path above comes first

project = "discreet"
author = "The discreet developers"
project_copyright = "The discreet developers, Apache-2.0"
release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "class_pages",
    "house_docstrings",
    "mathml",
    "offline",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}  # the pages of classes are made in the second
exclude_patterns = ["_extensions", "_static"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_type_aliases = {"ArrayLike": "ArrayLike", "NDArray": "NDArray"}
nitpicky = True
nitpick_ignore_regex = [
    ("py:.*", r"(?!discreet\.).*"),  # other projects' names: their pages are not fetched
    ("py:.*", r"discreet\.\w+\.[a-z_]\w*\..*"),  # modules inside a room, which the reference leaves out
]
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 80  # a longer one has a line for each parameter
add_module_names = False
default_role = "code"

html_theme = "furo"
html_title = f"discreet {release}"
html_static_path = ["_static"]
html_css_files = ["house.css"]
html_js_files = ["copy.js"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False

"""Write one page for each public class before a build, and list a room's names where a page says `{names}`."""

from __future__ import annotations

from importlib import import_module
from inspect import getdoc, isfunction, unwrap
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from sphinx.errors import SphinxError
from sphinx.util.docutils import SphinxDirective

from tools.golden.names import public_names
from tools.pages.signatures import DOCUMENTED

if TYPE_CHECKING:
    from types import ModuleType

    from docutils import nodes
    from sphinx.application import Sphinx

FOLDER = Path("reference") / "classes"


class TwoPagesOfOneName(SphinxError):
    """Two classes would have one page on a file system that does not distinguish capitals."""

    category = "Class pages"


class Names(SphinxDirective):
    """Show the public classes of a room as links with their first sentence, and its functions in full."""

    required_arguments = 1
    has_content = False
    option_spec: ClassVar = {}

    def run(self) -> list[nodes.Node]:
        """Return the table of classes and the documentation of the functions."""
        room = import_module(self.arguments[0])
        for file in (room.__file__, __file__):
            self.env.note_dependency(str(file))
        return self.parse_text_to_nodes(listing(room), allow_section_headings=True)


def setup(app: Sphinx) -> dict[str, bool]:
    """Write the pages when a build begins, and register the directive."""
    app.connect("builder-inited", _write)
    app.connect("autodoc-skip-member", _foreign)
    app.add_directive("names", Names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _foreign(_app: Sphinx, _what: str, _name: str, value: object, _skip: bool, _options: object) -> bool | None:
    """Leave out what scikit-learn writes into its subclasses: its docstrings name pages that are not here."""
    place = getattr(value, "__module__", None) or ""
    return True if place.partition(".")[0] == "sklearn" else None


def classes(room: ModuleType) -> list[str]:
    """Return the names of the public classes of a room."""
    return [name for name in public_names(room) if isinstance(getattr(room, name), type)]


def owner(kind: type, place: str) -> str:
    """Return the room that documents a class: the one that defines it where that exports it, else this one."""
    home = ".".join(kind.__module__.split(".")[:2])
    return home if home in DOCUMENTED and kind.__name__ in public_names(import_module(home)) else place


def functions(room: ModuleType) -> list[str]:
    """Return the names of the public functions of a room."""
    return [name for name in public_names(room) if isfunction(unwrap(getattr(room, name)))]


def pages() -> dict[str, str]:
    """Return the text of every class page by its file name.

    Raises:
        TwoPagesOfOneName: If two names differ in capitals only.
    """
    made: dict[str, str] = {}
    for place in DOCUMENTED:
        room = import_module(place)
        own = [one for one in classes(room) if owner(getattr(room, one), place) == place]
        made |= {f"{place}.{one}.rst": _page(place, getattr(room, one), one) for one in own}
    if len({file.lower() for file in made}) < len(made):
        raise TwoPagesOfOneName("rename one of two classes whose names differ in capitals only")
    return made


def listing(room: ModuleType) -> str:
    """Return the Markdown that lists the names of a room."""
    found = classes(room)
    parts: list[str] = []
    if found:
        parts += ["## Classes\n", "| class | what it is |", "|---|---|"]
        parts += [f"| {_link(room, one)} | {_sentence(getattr(room, one))} |" for one in found]
    if functions(room):
        parts += ["\n## Functions\n", "```{eval-rst}"]
        parts += [f".. autofunction:: {room.__name__}.{one}" for one in functions(room)]
        parts += ["```"]
    return "\n".join(parts)


def _page(place: str, kind: type, name: str) -> str:
    """Return a page in reStructuredText: inside Markdown each would be stored with a copy of the whole environment."""
    room = place.split(".")[1]
    shown = "   :show-inheritance:\n" if kind.__bases__ != (object,) else ""
    return (
        f":orphan:\n\n{name}\n{'=' * len(name)}\n\n*In* :doc:`{place} </reference/{room}>`\n\n"
        f".. autoclass:: {place}.{name}\n   :members:\n{shown}{_inherited(kind)}"
    )


def _inherited(kind: type) -> str:
    """Return the option that shows what a class has from discreet's own bases: it is called on the class at hand."""
    foreign = {base.__name__ for base in kind.__mro__[1:] if not base.__module__.startswith("discreet")}
    own = len(kind.__mro__) - 1 > len(foreign) and not issubclass(kind, BaseException)
    called = "   :special-members: __call__\n" if any("__call__" in vars(base) for base in kind.__mro__) else ""
    return f"   :inherited-members: {', '.join(sorted(foreign))}\n{called}" if own else ""


def _link(room: ModuleType, name: str) -> str:
    return f"{{py:obj}}`~{owner(getattr(room, name), room.__name__)}.{name}`"


def _sentence(value: object) -> str:
    """Return the first sentence of a docstring, safe inside a cell of a table."""
    first = " ".join((getdoc(value) or "").partition("\n\n")[0].split())
    return first.replace("\\", "\\\\").replace("|", "\\|").replace("*", "\\*").replace("$", "\\$")


def _write(app: Sphinx) -> None:
    """Write what changed, and remove the pages of classes that are gone."""
    folder = Path(app.srcdir) / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    made = pages()
    for path in folder.glob("*.*"):
        if path.name not in made:
            path.unlink()
    for name, text in made.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")

"""How results print themselves: one line, several lines, and a list in a notebook, all from the same rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, TypeVar

from discreet.display.html import definition_list

Kind = TypeVar("Kind", bound=type)
Choice = TypeVar("Choice", bound=type[Enum])
Row = tuple[str, str | None]


def in_lines(rows: Sequence[tuple[str, str]]) -> str:
    """Return names and their meanings in two columns.

    >>> print(in_lines([("people", "5,040"), ("queries", "63")]))
    people   5,040
    queries  63
    """
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {words}" for name, words in rows)


def percent(share: float | None) -> str | None:
    """Write a frequency in percent, to a tenth, or nothing.

    >>> percent(0.1234)
    '12.3 %'
    """
    return None if share is None else f"{100 * share:.1f} %"


def told_in_rows(kind: Kind) -> Kind:
    """Let a class of results print what its method `_rows` returns: names, each with words or None if unknown.

    `_asked`, if the class has it, returns rows about the question, which lines and notebooks have before the others;
    `_found` rows that only lines have, after them. The line has none of these: it says nothing about a person.
    """

    def rows(self: Any, *methods: str) -> list[tuple[str, str]]:
        found: Iterable[Row] = (row for method in methods if hasattr(self, method) for row in getattr(self, method)())
        return [(name, words) for name, words in found if words is not None]

    def line(self: Any) -> str:
        told = "; ".join(f"{name} {words}" for name, words in rows(self, "_rows"))
        return f"<{type(self).__name__}: {told}>"

    def lines(self: Any) -> str:
        return in_lines(rows(self, "_asked", "_rows", "_found"))

    def listed(self: Any) -> str:
        return definition_list(rows(self, "_asked", "_rows"))

    return _with(kind, {"__repr__": line, "__str__": lines, "_repr_html_": listed})


def told_in_a_table(kind: Kind) -> Kind:
    """Let a class of results print its `table()`, in lines and in a notebook."""
    shown = {"__str__": lambda self: str(self.table()), "_repr_html_": lambda self: self.table()._repr_html_()}
    return _with(kind, shown)


def told_by_name(kind: Choice) -> Choice:
    """Let the members of an enumeration print the name by which code reaches them."""
    return _with(kind, {"__repr__": lambda self: f"{kind.__name__}.{self.name}"})


def _with(kind: Kind, methods: Mapping[str, Callable[[Any], str]]) -> Kind:
    """Give a class methods, under its own name."""
    for name, method in methods.items():
        method.__name__, method.__qualname__ = name, f"{kind.__qualname__}.{name}"
        setattr(kind, name, method)
    return kind

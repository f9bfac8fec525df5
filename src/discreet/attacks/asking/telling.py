"""How a result is printed: a name and what it stands for, a line each."""

from __future__ import annotations

from collections.abc import Sequence


def in_lines(rows: Sequence[tuple[str, str]]) -> str:
    """Return names and their meanings in two columns.

    >>> print(in_lines([("people", "5,040"), ("queries", "63")]))
    people   5,040
    queries  63
    """
    width = max(len(name) for name, _ in rows)
    return "\n".join(f"{name:<{width}}  {words}" for name, words in rows)

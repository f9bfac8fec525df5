"""Numbers of things in words."""

from __future__ import annotations


def counted(number: int, one: str, many: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "person", "people"), counted(2000, "person", "people")
    ('1 person', '2,000 people')
    """
    return f"{number:,} {one if number == 1 else many}"

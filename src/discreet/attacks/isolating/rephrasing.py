"""One count asked in many ways: other spellings, other conditions of the same meaning, and sums over a partition."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, permutations, product

from discreet.errors import ParameterError
from discreet.privacy.numbers.arguments import whole

Wording = tuple[str, ...]
"""Texts whose answers add up to the count wanted."""

_HEAD = "SELECT COUNT(*) AS people FROM"
_OR = re.compile(r"\bOR\b", re.IGNORECASE)


def spellings(table: str, conditions: Sequence[str], *, count: int) -> tuple[Wording, ...]:
    """Return so many texts of one query that differ in spaces, capitals, brackets, names, comments and nesting only.

    >>> for (text,) in spellings("patients", ["marker = 1", "age > 30"], count=3):
    ...     print(text)
    SELECT COUNT(*) AS people FROM patients WHERE marker = 1 AND age > 30
    SELECT COUNT(*) AS people FROM patients WHERE marker = 1 AND (age > 30)
    SELECT COUNT(*) AS people FROM patients WHERE (marker = 1) AND age > 30
    """
    return _taken(_spelled(table, _listed(conditions)), count)


def rephrasings(
    table: str, conditions: Sequence[str], *, count: int, dummies: Sequence[str] = ()
) -> tuple[Wording, ...]:
    """Return so many queries that select the same rows: conditions in another order, doubled, or beside a dummy.

    `dummies` are conditions that everybody meets, such as `age >= 0`.

    >>> for (text,) in rephrasings("patients", ["marker = 1", "age > 30"], count=3, dummies=["age >= 0"]):
    ...     print(text)
    SELECT COUNT(*) AS people FROM patients WHERE marker = 1 AND age > 30
    SELECT COUNT(*) AS people FROM patients WHERE age > 30 AND marker = 1
    SELECT COUNT(*) AS people FROM patients WHERE marker = 1 AND age > 30 AND age >= 0
    """
    return _taken(_rephrased(table, _listed(conditions), list(dummies)), count)


def splits(table: str, conditions: Sequence[str], partitions: Iterable[Sequence[str]]) -> tuple[Wording, ...]:
    """Return the count as sums: one wording a partition, one text for each of its cells.

    A partition is a list of conditions of which every row meets exactly one, such as `["age < 40", "age >= 40"]`.

    >>> wording, = splits("patients", ["marker = 1"], [["age < 40", "age >= 40"]])
    >>> wording[1]
    'SELECT COUNT(*) AS people FROM patients WHERE marker = 1 AND age >= 40'
    """
    return tuple(tuple(_text(table, [*conditions, cell]) for cell in _listed(cells)) for cells in partitions)


def thresholds(column: str, levels: Iterable[int]) -> list[tuple[str, str]]:
    """Return the partitions of a public column into those below a level and the others.

    >>> thresholds("age", [40])
    [('age < 40', 'age >= 40')]
    """
    return [(f"{column} < {level}", f"{column} >= {level}") for level in levels]


def _listed(conditions: Sequence[str]) -> list[str]:
    """Return conditions as a list; a text would be taken for a list of its letters, and none makes no WHERE."""
    if isinstance(conditions, str) or not conditions:
        raise ParameterError("give a list of conditions, at least one", parameter="conditions")
    return list(conditions)


def _text(table: str, conditions: Sequence[str], *, head: str = _HEAD) -> str:
    """Write a count of rows; the attacker may write any text, what guards a table is who answers it."""
    # AND binds before OR
    joined = " AND ".join(f"({one})" if _OR.search(one) else one for one in conditions)
    return f"{head} {table} WHERE {joined}"


def _spelled(table: str, conditions: list[str]) -> Iterator[str]:
    """Write one plan in many ways, without end."""
    bracketed = [[one, f"({one})"] for one in conditions]
    yield _text(table, conditions)
    for number in range(1, 1 << 20):
        for place, choice in enumerate(product(*bracketed)):
            if place == 0:
                continue
            yield _text(table, choice) + " " * (number - 1)
        if len(conditions) > 1:
            inner = _text(table, conditions[:1], head="SELECT * FROM")
            yield _text(f"({inner}) AS inner_rows", conditions[1:]) + " " * (number - 1)
        yield _text(table, conditions) + f" -- {number}"
        yield _text(table, conditions, head=_HEAD.replace("people", f"people_{number}"))
        yield _text(table, conditions, head=" " * number + "select count(*) AS people from")


def _rephrased(table: str, conditions: list[str], dummies: list[str]) -> Iterator[str]:
    """Write plans that select the same rows, from few conditions to many."""
    extras = [*dummies, *conditions]
    for size in range(len(extras) + 1):
        for added in combinations(extras, size):
            for order in permutations([*conditions, *added]):
                yield _text(table, order)


def _taken(texts: Iterator[str], count: int) -> tuple[Wording, ...]:
    """Return the first different texts."""
    wanted = whole(count, name="count")
    taken: dict[str, None] = {}
    for text in texts:
        taken[text] = None  # a text met again keeps its place
        if len(taken) == wanted:
            return tuple((one,) for one in taken)
    raise ParameterError(
        f"there are only {len(taken)} such wordings; give more conditions or dummies", parameter="count"
    )

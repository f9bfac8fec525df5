"""Whom an attack can ask: a plain table, a curator who adds noise, or anything that runs SQL."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from discreet.attacks.weighing import Counts, Question

Ask = Callable[[Sequence[Question]], Sequence[Counts]]
"""Questions in, answers out: for each question its counts by block, as an array in order or as a mapping."""


def exact_answers(secret: ArrayLike) -> Ask:
    """Answer from a plain table, exactly.

    >>> from discreet.attacks.weighing import Weighing
    >>> ask = exact_answers([1, 0, 1, 1])
    >>> [counts.tolist() for counts in ask(Weighing(people=4, queries=3).questions)]
    [[2, 1], [1, 0], [1, 1]]
    """
    bits = np.array(secret)

    def ask(questions: Sequence[Question]) -> list[Counts]:
        return [question.counts(bits) for question in questions]

    return ask


def noisy_answers(secret: ArrayLike, noise: Callable[[Any], Any]) -> Ask:
    """Answer by the exact counts of all blocks, put through `noise`: a mechanism for arrays, or rounding.

    >>> from discreet.attacks.weighing import Weighing
    >>> ask = noisy_answers([1, 0, 1, 1], lambda counts: 5 * np.round(counts / 5))
    >>> ask(Weighing(people=4, queries=3).questions)[0].tolist()
    [0.0, 0.0]
    """
    exact = exact_answers(secret)

    def ask(questions: Sequence[Question]) -> list[Counts]:
        return [np.asarray(noise(counts)) for counts in exact(questions)]

    return ask


def sql_answers(
    run: Callable[[str], Iterable[Sequence[Any]]], *, table: str, secret: str, block: str, place: str
) -> Ask:
    """Answer through SQL: `run` takes the text of a query and returns its rows, block first, then the count.

    For a DuckDB connection `run` is `lambda text: connection.execute(text).fetchall()`; for a session that charges
    every query it returns the released rows. Blocks without a row count 0. The names are those of `Question.sql`.

    >>> from discreet.attacks.weighing import Weighing
    >>> ask = sql_answers(lambda text: [(0, 2)], table="patients", secret="marker", block="id // 3", place="id % 3 + 1")
    >>> ask(Weighing(people=4, queries=3).questions)[0]
    {0: 2.0}
    """

    def ask(questions: Sequence[Question]) -> list[Counts]:
        texts = (question.sql(table=table, secret=secret, block=block, place=place) for question in questions)
        return [{int(row[0]): float(row[1]) for row in run(text)} for text in texts]

    return ask

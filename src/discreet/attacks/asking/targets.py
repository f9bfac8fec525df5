"""Whom an attack can ask: a plain table, a curator who adds noise, anything that runs SQL, or a session."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from discreet.attacks.asking.counting import CountingQueries, Floats, secret_bits
from discreet.attacks.asking.running import RUN, rows_of, runner
from discreet.errors import ParameterError
from discreet.laws.number import Number

if TYPE_CHECKING:
    from discreet.query.session.session import Session

Ask = Callable[[CountingQueries], Floats]
"""Queries in, answers out: one number a query, or one a query and group, in the order of the design."""


def asked(ask: Ask, queries: CountingQueries) -> Floats:
    """Return what somebody answers, or say who can be asked."""
    if not callable(ask):
        raise ParameterError(
            "ask must be a function from queries to answers: exact_answers(secret), noisy_answers(secret, noise), "
            f"sql_answers(run, ...), session_answers(session, ...) or your own; got {type(ask).__name__}",
            parameter="ask",
        )
    return ask(queries)


def exact_answers(secret: ArrayLike) -> Ask:
    """Answer from a plain table, exactly.

    >>> from discreet.attacks.reconstructing.weighing import Weighing
    >>> exact_answers([1, 0, 1, 1])(Weighing(people=4, queries=3)).tolist()
    [[2.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
    """
    bits = secret_bits(secret)
    return lambda queries: queries.exact(bits).astype(np.float64)


def noisy_answers(secret: ArrayLike, noise: Callable[[Any], Any]) -> Ask:
    """Answer by the exact counts put through `noise`: a mechanism for arrays, rounding, or one of `attacks.noise`.

    All answers go through it in one array; where a query gives a count for each of several groups, query by query.

    >>> from discreet.attacks.reconstructing.weighing import Weighing
    >>> ask = noisy_answers([1, 0, 1, 1], lambda counts: 5 * np.round(counts / 5))
    >>> ask(Weighing(people=4, queries=3))[0].tolist()
    [0.0, 0.0]
    """
    bits = secret_bits(secret)
    if not callable(noise):
        raise ParameterError(
            "noise must be a function from counts to noisy counts: a mechanism, attacks.uniform_noise(5, seed=1), "
            f"attacks.gaussian_noise(5, seed=1), or your own; got {type(noise).__name__}",
            parameter="noise",
        )

    def ask(queries: CountingQueries) -> Floats:
        counts = queries.exact(bits)
        noised = noise(counts) if counts.ndim == 1 else [noise(row) for row in counts]
        return np.asarray(noised, dtype=np.float64)

    return ask


def sql_answers(run: Callable[[str], Iterable[Sequence[Any]]], **names: str) -> Ask:
    """Answer through SQL: `run` takes the text of a query and returns its rows; `names` are what the design needs.

    For a DuckDB connection `run` is `lambda text: connection.execute(text).fetchall()`.

    >>> from discreet.attacks.reconstructing.weighing import Weighing
    >>> ask = sql_answers(lambda text: [(0, 2)], table="patients", secret="marker", block="id // 3", place="id % 3 + 1")
    >>> ask(Weighing(people=4, queries=3))[0].tolist()
    [2.0, 0.0]
    """
    runs = runner(run)

    def ask(queries: CountingQueries) -> Floats:
        answers = [queries.read(rows_of(runs(text))) for text in queries.texts(names)]
        return np.array(answers, dtype=np.float64)

    return ask


def session_answers(session: Session, *, epsilon: Number | None = None, rho: Number | None = None, **names: str) -> Ask:
    """Answer through a session that charges every query this price; the attack sees what an analyst sees."""
    if not hasattr(session, "policy"):
        raise ParameterError(
            f"session must be a discreet Session; for a database use sql_answers({RUN}, ...)", parameter="session"
        )

    def run(text: str) -> list[tuple[Any, ...]]:
        return session.sql(text, epsilon=epsilon, rho=rho).rows

    return sql_answers(run, **names)

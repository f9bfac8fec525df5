"""Whom an attack can ask: a plain table, a curator who adds noise, anything that runs SQL, a session that charges."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from discreet.attacks.asking.counting import CountingQueries, Floats, secret_bits
from discreet.errors import InputError, ParameterError
from discreet.frames import frame_library
from discreet.laws.number import Number
from discreet.privacy import PrivacyLoss, compose

if TYPE_CHECKING:
    from discreet.query import Session


Ask = Callable[[CountingQueries], Floats]
"""Queries in, answers out: one number a query, or one a query and group, in the order of the design."""

Run = Callable[[str], Iterable[Sequence[Any]]]
"""The text of a query in, its rows out; for a DuckDB connection `lambda text: connection.execute(text).fetchall()`."""

RUN = "lambda text: connection.execute(text).fetchall()"
_NO_COUNT = "a counting query must give one row with one number"


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
    """Answer by the exact counts put through `noise`: a mechanism for arrays, rounding, or one of `asking.noise`.

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
    >>> ask = sql_answers(
    ...     lambda text: [(0, 2)],
    ...     table="patients",
    ...     secret="marker",
    ...     block="id // 3",
    ...     place="id % 3 + 1",
    ... )
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


def runner(run: Run) -> Run:
    """Return what runs SQL, or say how to make it of a connection."""
    if not callable(run):
        raise ParameterError(
            f"run must be a function from the text of a query to its rows, such as {RUN}; got {type(run).__name__}",
            parameter="run",
        )
    return run


def rows_of(found: Any) -> list[tuple[Any, ...]]:
    """Return the rows that a query gave, or say in which form they must come.

    >>> rows_of([(0, 2), [1, 3]])
    [(0, 2), (1, 3)]
    """
    strange = isinstance(found, str | bytes | Mapping) or frame_library(found) is not None
    if not strange and isinstance(found, Iterable):
        rows = list(found)
        if all(isinstance(row, Iterable) and not isinstance(row, str | bytes | Mapping) for row in rows):
            return [tuple(row) for row in rows]
    raise InputError(
        f"run must return rows as from fetchall(), a list of tuples, and gave {type(found).__name__}; "
        f"for a DuckDB connection: {RUN}"
    )


def counted(run: Run, text: str) -> float:
    """Run a query that must give one number, and return it.

    >>> counted(lambda text: [(41,)], "SELECT COUNT(*) FROM patients")
    41.0
    """
    value = _only(run, text)
    try:
        number = math.nan if isinstance(value, str | bytes) else float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise InputError(_NO_COUNT)
    return number


def _only(run: Run, text: str) -> Any:
    """Run a query and return the one value it must give."""
    rows = rows_of(runner(run)(text))
    if len(rows) != 1 or len(rows[0]) != 1:
        raise InputError(_NO_COUNT)
    return rows[0][0]


def noisy_run(run: Run, noise: Callable[[Any], Any]) -> Run:
    """Put every count through `noise`: a mechanism, rounding, or anything else that takes a number.

    >>> run = noisy_run(lambda text: [(43,)], lambda count: 5 * round(count / 5))
    >>> list(run("SELECT COUNT(*) FROM patients"))
    [(45,)]
    """
    runs = runner(run)
    if not callable(noise):
        raise ParameterError(
            f"noise must be a function from a count to a noisy one, such as a mechanism; got {type(noise).__name__}",
            parameter="noise",
        )
    return lambda text: [(noise(_only(runs, text)),)]


class Charged:
    """A session as an attacker uses it, every query at one price; it remembers what its answers cost.

    `answered` counts the texts that got an answer, `replayed` those that got a stored one again at no new charge, and
    `distinct` the answers that are different releases.
    """

    def __init__(self, session: Session, *, epsilon: Number | None = None, rho: Number | None = None) -> None:
        self._session, self._epsilon, self._rho = session, epsilon, rho
        self._prices: dict[int, PrivacyLoss] = {}
        self.answered = self.replayed = 0

    def __call__(self, text: str) -> list[tuple[Any, ...]]:
        """Ask the session, and write down the charge that the answer belongs to."""
        answer = self._session.sql(text, epsilon=self._epsilon, rho=self._rho)
        self.answered += 1
        self.replayed += answer.record.replayed
        self._prices[answer.record.number] = answer.cost
        return answer.rows

    @property
    def distinct(self) -> int:
        """How many different releases were handed out here; only these have noise of their own."""
        return len(self._prices)

    @property
    def loss(self) -> PrivacyLoss | None:
        """The price of all answers together, None before the first; what was paid for earlier counts too, once."""
        return compose(list(self._prices.values())) if self._prices else None

    def __repr__(self) -> str:
        return f"<Charged: {self.answered} answered, {self.replayed} of them stored answers>"

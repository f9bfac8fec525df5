"""Who runs the SQL of an attack: a database, a database behind noise, or a session that charges for every question."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from discreet.errors import InputError, ParameterError
from discreet.laws.number import Number
from discreet.privacy import PrivacyLoss, compose
from discreet.statistics.columns.numbers import frame_library

if TYPE_CHECKING:
    from discreet.query.session.session import Session

Run = Callable[[str], Iterable[Sequence[Any]]]
"""The text of a query in, its rows out; for a DuckDB connection `lambda text: connection.execute(text).fetchall()`."""

RUN = "lambda text: connection.execute(text).fetchall()"
_NO_COUNT = "a counting query must give one row with one number"


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
        """State the price of one query."""
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
        """Say how many were answered."""
        return f"<Charged: {self.answered} answered, {self.replayed} of them stored answers>"

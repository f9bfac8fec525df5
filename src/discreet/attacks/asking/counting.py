"""What an attack asks: a fixed list of counting queries about one secret bit a person, in numbers and as SQL."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.attacks.asking.columns import array_of
from discreet.errors import InputError, MissingParameter

Bits = NDArray[np.int8]
Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_LARGEST = 2.0**900  # of an answer: sums of many still are floats


class CountingQueries(ABC):
    """Counting queries about a secret column: each asks how many people of a public set have the bit 1.

    People are numbered from 0. A design says what the true answers are and how each query is written in SQL; who
    answers (a plain table, a noisy curator, a session) is the business of an `Ask`.
    """

    people: int  # how many have a bit; a field of every design

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of queries."""

    @abstractmethod
    def exact(self, secret: ArrayLike) -> Integers:
        """Return the true answers: the first axis is the queries, a second one (if any) the groups of a query."""

    @abstractmethod
    def texts(self, names: Mapping[str, str]) -> Iterator[str]:
        """Return the queries as SQL, in order; `names` gives the table and the columns or expressions it needs."""

    def read(self, rows: Sequence[Sequence[Any]]) -> Any:
        """Return the answer in the rows that one text gave: the only number, unless a design groups its answers."""
        if len(rows) != 1 or len(rows[0]) != 1:
            raise InputError("a counting query must give one row with one number")
        return number_of(rows[0][0])


def named(names: Mapping[str, str], *wanted: str) -> list[str]:
    """Return the SQL names that a design needs, or say which one is missing."""
    for name in wanted:
        if name not in names:
            raise MissingParameter(
                f"this attack needs to know what {name!r} is called in SQL: pass {name}=", parameter=name
            )
    return [names[name] for name in wanted]


def number_of(cell: Any) -> float:
    """Return a number that SQL gave; raise InputError for anything else."""
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        raise InputError("a counting query must give numbers") from None


def numbers_of(answers: Any, shape: tuple[int, ...], *, wanted: str) -> Floats:
    """Return answers as floats of this shape; `wanted` says what they should have been."""
    try:
        numbers = np.asarray(answers, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(wanted) from None
    if numbers.shape != shape:
        raise InputError(wanted)
    # false for what is not a number, too
    if not -_LARGEST <= numbers.min() <= numbers.max() <= _LARGEST:
        raise InputError("answers must be finite numbers, and such that their sums are")
    return numbers


def secret_bits(secret: ArrayLike, people: int | None = None, *, what: str = "the secret column") -> NDArray[np.bool_]:
    """Return a column of bits as Booleans, one a person if their number is given; the values are never shown.

    >>> secret_bits([1, 0, 1], 3).tolist()
    [True, False, True]
    """
    bits = array_of(secret, what=what)
    if bits.ndim != 1:
        raise InputError(f"{what} must be a list of bits, one a person; this has {bits.ndim} dimensions")
    if people is not None and len(bits) != people:
        raise InputError(f"{what} has {len(bits):,} bits, people={people}: there must be one a person")
    if bits.size and bits.dtype.kind not in "biu":
        hint = "; convert it by .astype(int)" if bits.dtype.kind == "f" else ""
        raise InputError(f"{what} must hold bits as ints or Booleans, got {bits.dtype}{hint}")
    if not np.isin(bits, (0, 1)).all():
        raise InputError(f"{what} must hold {len(bits)} bits, each 0 or 1")
    return bits.astype(np.bool_)

"""One column of a domain: the values it can have, and codes 0, 1, ... for them."""

from __future__ import annotations

from dataclasses import dataclass
from operator import ne
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, ParameterError
from discreet.synthesis.domain.columns import places, python_times

Codes = NDArray[np.uint16]
_MOST_CODES = 1 << 16


@dataclass(frozen=True)
class Attribute:
    """One categorical column: its values in the order of their codes; `missing` adds a last code for everything else.

    Values are compared as Python does, so that 1, 1.0 and True are one value; None and NaN are what is missing. In a
    column of numpy, or of a plain pandas type, numbers of 2^53 and more in size are outside the values: one empty cell
    makes floats of such a column, which do not tell them apart. Lists, Polars, Arrow and pandas' Int64 keep them.

    >>> colour = Attribute("colour", ("red", "green"), missing=True)
    >>> colour.size, colour.encode(["green", None, "mauve"]).tolist()
    (3, [1, 2, 2])
    """

    name: str
    values: tuple[Any, ...]
    missing: bool = False

    def __post_init__(self) -> None:
        """Refuse no values, too many, the same one twice, and what could never be met."""
        if not isinstance(self.name, str) or not self.name:
            raise ParameterError("an attribute has a name", parameter="name")
        object.__setattr__(self, "values", tuple(_python(value) for value in self.values))
        object.__setattr__(self, "missing", bool(self.missing))
        if not self.values or self.size > _MOST_CODES:
            raise ParameterError(
                f"{self.name}: an attribute has between 1 and {_MOST_CODES:,} values", parameter="values"
            )
        if any(_absent(value) for value in self.values):
            raise ParameterError(
                f"{self.name}: None and NaN are no values; missing=True gives them a code", parameter="values"
            )
        if _distinct(self.values) != len(self.values):
            raise ParameterError(
                f"{self.name}: a value is listed twice (1, 1.0 and True are equal), or cannot be hashed",
                parameter="values",
            )

    @property
    def size(self) -> int:
        """The number of codes."""
        return len(self.values) + self.missing

    def encode(self, column: Any) -> Codes:
        """Return the code of every entry; what is not among the values is missing, or an error where nothing may be."""
        return self._checked(places(column, self.values))

    def _checked(self, codes: NDArray[np.int64]) -> Codes:
        """Return codes in their small type, refusing missing ones where there is no code for them."""
        if not self.missing and np.any(codes == len(self.values)):
            raise InputError(
                f"{self.name} has an entry outside its stated values. List the value, or let missing=True take it in. "
                "(Numbers of 2^53 and more are outside in columns of numpy; a type such as pandas' Int64 keeps them.)"
            )
        return codes.astype(np.uint16)

    def decode(self, codes: NDArray[Any]) -> NDArray[Any]:
        """Return the values of codes, None where one is missing."""
        names = np.empty(self.size, dtype=object)
        for place, value in enumerate(self.values):
            names[place] = value
        decoded: NDArray[Any] = names[np.asarray(codes, dtype=np.int64)]
        return decoded

    def label(self, code: int) -> str:
        """Return a value as a query in words shows it."""
        return repr(self.values[code]) if code < len(self.values) else "missing"


def _python(value: Any) -> Any:
    """Return a number, truth value, text or time of numpy as the Python object it equals."""
    if isinstance(value, np.datetime64 | np.timedelta64):
        return python_times(np.array([value]))[0]
    return value.item() if isinstance(value, np.bool_ | np.integer | np.floating | np.str_) else value


def _absent(value: Any) -> bool:
    """Say whether a value stands for nothing: None, or unequal to itself as NaN is."""
    try:
        return value is None or bool(ne(value, value))
    except (TypeError, ValueError):
        return True


def _distinct(values: tuple[Any, ...]) -> int:
    """Return how many values differ, or -1 if one cannot be told apart by its hash."""
    try:
        return len(set(values))
    except TypeError:
        return -1

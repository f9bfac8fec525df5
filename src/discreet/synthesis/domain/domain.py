"""The public domain of a table: for each attribute the values it can have, and codes 0, 1, ... for them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError, InputError, ParameterError, UnknownName
from discreet.frames import Frame
from discreet.synthesis.domain.attribute import Attribute, Bins, Codes

__all__ = ["Attribute", "Codes", "Domain", "Records"]


@dataclass(frozen=True)
class Domain:
    """The attributes of a table, in order.

    >>> domain = Domain.of(sex=["f", "m"], rooms=range(1, 6))
    >>> domain.sizes, domain.width
    ((2, 5), 7)
    """

    attributes: tuple[Attribute, ...]

    def __post_init__(self) -> None:
        if not self.attributes:
            raise ParameterError("a domain must have at least one attribute", parameter="attributes")
        if len(set(self.names)) != len(self.attributes):
            raise ParameterError("two attributes have the same name", parameter="attributes")

    @classmethod
    def of(
        cls,
        values: Mapping[str, Sequence[Any] | Bins] | None = None,
        /,
        *,
        missing: bool = False,
        **more: Sequence[Any] | Bins,
    ) -> Domain:
        """Return a domain from the values of each attribute; with `missing`, each has one more code for all others."""
        stated = {**(values or {}), **more}
        return cls(tuple(_attribute(name, one, missing) for name, one in stated.items()))

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the attributes."""
        return tuple(one.name for one in self.attributes)

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}

    @cached_property
    def _hash(self) -> int:
        return hash(self.attributes)

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of codes of each attribute."""
        return tuple(len(one) for one in self.attributes)

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """The first one-hot column of each attribute, and the width."""
        return np.concatenate([[0], np.cumsum(self.sizes, dtype=np.int64)])

    @property
    def width(self) -> int:
        """The number of one-hot columns."""
        return sum(self.sizes)

    @cached_property
    def cells(self) -> int:
        """The number of possible records: an exact integer, however large."""
        product = 1
        for size in self.sizes:
            product *= size
        return product

    def place(self, name: str) -> int:
        """Return the position of an attribute."""
        if name not in self._places:
            known = ", ".join(self.names[:20]) + (", ..." if len(self) > 20 else "")
            raise UnknownName(f"there is no attribute {str(name)[:80]!r}; there are {known}")
        return self._places[name]

    def __len__(self) -> int:
        return len(self.attributes)

    def __iter__(self) -> Iterator[Attribute]:
        return iter(self.attributes)

    def encode(self, columns: Mapping[str, Any]) -> Records:
        """Return a table (arrays by name, a data frame or an arrow table) as records of this domain."""
        table = Frame.read(columns)
        coded = [_coded(one, table) for one in self.attributes]
        if len({len(one) for one in coded}) > 1:
            raise InputError("the columns have different lengths")
        return Records(self, np.stack(coded))


def _coded(attribute: Attribute, table: Frame) -> Codes:
    """Return the codes of one column of a table; whatever a library says about an entry is left unsaid."""
    try:
        return attribute.encode(table.stored(attribute.name))
    except DiscreetError:
        raise
    except Exception:  # each library has a tree of its own, and its messages may show an entry
        failed = InputError(f"the column {attribute.name} could not be read; give it as a list or a numpy array")
    raise failed


def _attribute(name: str, values: Sequence[Any] | Bins, missing: bool) -> Attribute:
    """Return an attribute from its values or bins."""
    if isinstance(values, Bins):
        return values.attribute(name, missing=missing)
    if isinstance(values, str | bytes):
        raise ParameterError(f"{name}: list the values, as in [{values[:40]!r}, ...]", parameter=name)
    return Attribute(name, tuple(values), missing)


@dataclass(frozen=True, repr=False, eq=False)
class Records:
    """A table of codes, one row of `codes` for each attribute; it prints its shape and never an entry."""

    domain: Domain
    codes: Codes

    def __post_init__(self) -> None:
        given = np.asarray(self.codes)
        if given.dtype != np.uint16 and given.size and (given.dtype.kind not in "ui" or _wraps(given)):
            raise InputError("codes must be whole numbers; one lies outside its attribute's values")
        codes = np.ascontiguousarray(given, dtype=np.uint16)
        if codes.ndim != 2 or codes.shape[0] != len(self.domain):
            raise InputError("codes must be an array with one row for each attribute")
        if codes.size and np.any(codes.max(axis=1) >= np.array(self.domain.sizes)):
            raise InputError("a code lies outside its attribute's values")
        codes = codes.view()  # so that an array handed in can still be written to by its owner
        codes.flags.writeable = False
        object.__setattr__(self, "codes", codes)

    def __len__(self) -> int:
        return int(self.codes.shape[1])

    def __repr__(self) -> str:
        return f"Records({len(self.domain)} attributes)"


def _wraps(codes: NDArray[Any]) -> bool:
    """Say whether a code would become another one in 16 bits."""
    return bool(codes.min() < 0 or codes.max() > np.iinfo(np.uint16).max)

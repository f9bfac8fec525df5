"""The design of a regression on cells: one column a coefficient, from the keys by which a release is grouped."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.display import as_stated
from discreet.errors import ParameterError

Floats = NDArray[np.float64]
Group = tuple[Any, ...]
Numeric = Mapping[str, Mapping[Any, float]] | Sequence[str]
INTERCEPT = "(intercept)"
_ZERO, _LARGEST = 1e-9, 1e100


@dataclass(frozen=True, eq=False)
class CellDesign:
    """Names of the coefficients, and a row of numbers for each cell."""

    terms: tuple[str, ...]
    matrix: Floats  # (cells, terms)

    @classmethod
    def of(
        cls, key_names: Sequence[str], groups: Sequence[Group], *, numeric: Numeric, reference: Mapping[str, Any]
    ) -> CellDesign:
        """Return the design of cells by their keys: an intercept, numbers, and a column for every other value of a key.

        A key that `numeric` names enters as a number, its own or the one that is given for each value. Of any other
        key, each value has a column that is 1 there, but for the reference: `reference` names it, else it is the first
        value that is listed.

        >>> design = CellDesign.of(
        ...     ("ward", "age"),
        ...     [("a", 20), ("a", 50), ("b", 20)],
        ...     numeric=["age"],
        ...     reference={},
        ... )
        >>> design.terms, design.matrix[2].tolist()
        (('(intercept)', 'ward = b', 'age'), [1.0, 1.0, 20.0])
        """
        _require_known([*numeric, *reference], key_names)
        terms, columns = [INTERCEPT], [np.ones(len(groups))]
        for place, name in enumerate(key_names):
            values = [group[place] for group in groups]
            if name in numeric:
                terms.append(name)
                columns.append(_numbers(name, values, numeric))
                continue
            base = _reference(name, values, reference)
            for value in dict.fromkeys(values):
                if value != base:
                    terms.append(f"{name} = {value}")
                    columns.append(np.array([float(one == value) for one in values]))
        design = cls(tuple(terms), np.stack(columns, axis=1))
        design._require_independent()
        return design

    def _require_independent(self) -> None:
        """Refuse columns of which one follows from others, naming them."""
        scale = np.maximum(np.abs(self.matrix).max(axis=0), 1e-300)
        _, sizes, directions = np.linalg.svd(self.matrix / scale, full_matrices=True)
        rank = int((sizes > _ZERO * sizes.max()).sum())
        if rank == len(self.terms):
            return
        involved = np.abs(directions[rank:]).max(axis=0) > 1e-6
        names = ", ".join(repr(term) for term, one in zip(self.terms, involved, strict=True) if one)
        raise ParameterError(
            f"the columns of the design must not follow from each other; got {len(self.matrix)} cells in which {names} "
            "do, group by fewer keys, or give a key that says the same no column of its own",
            parameter="numeric",
        )


def shown(value: Any) -> str:
    """Return a value of a key as a refusal names it."""
    return repr(value) if isinstance(value, str) else as_stated(value)


def _require_known(named: Sequence[str], key_names: Sequence[str]) -> None:
    """Refuse names of keys that are no predictors."""
    for name in named:
        if name not in key_names:
            known = ", ".join(map(repr, key_names)) or "none"
            raise ParameterError(
                f"numeric and reference must name predictors; got {name!r}, the predictors are {known}",
                parameter="numeric",
            )


def _numbers(name: str, values: Sequence[Any], numeric: Numeric) -> Floats:
    """Return the number of each value of a key, or say which value has none."""
    given: Mapping[Any, Any] = numeric[name] if isinstance(numeric, Mapping) else {value: value for value in values}
    found = []
    for value in values:
        number = given.get(value)
        real = isinstance(number, int | float | np.integer | np.floating) and not isinstance(number, bool)
        if not real or not abs(number) <= _LARGEST:  # type: ignore[arg-type]
            raise ParameterError(
                f"every cell must have a finite number for {name!r}; got none for {shown(value)}, write "
                f"numeric={{{name!r}: {{{value!r}: ...}}}}",
                parameter="numeric",
            )
        found.append(float(number))  # type: ignore[arg-type]
    return np.array(found)


def _reference(name: str, values: Sequence[Any], reference: Mapping[str, Any]) -> Any:
    """Return the value of a key that has no column."""
    base = reference.get(name, values[0])
    if not isinstance(base, Hashable) or base not in values:
        known = ", ".join(repr(value) for value in dict.fromkeys(values))
        raise ParameterError(
            f"the reference of {name!r} must be one of its values; got {shown(base)}, write one of {known}",
            parameter="reference",
        )
    return base

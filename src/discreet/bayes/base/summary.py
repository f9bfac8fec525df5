"""The summary of a posterior: a row for every parameter and group."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from discreet.bayes.base.intervals import Parameter, free
from discreet.bayes.base.marginal import Marginal

_NUMBERS = ("median", "low", "high", "mean", "deviation")


def summary_columns(
    parameters: Sequence[Parameter],
    laws: Callable[[str], Sequence[Marginal]],
    confidence: float,
    *,
    most: int | None = None,
) -> dict[str, list[Any]]:
    """Return columns by name: the parameter, its group, median, interval, mean and deviation; at most so many rows.

    The keys have a column each where all grouped parameters have the same, else labels are texts in one column.

    >>> from discreet.bayes.base.marginal import DrawnMarginal
    >>> from discreet.privacy import Target
    >>> import numpy as np
    >>> share = Parameter("share", "", Target.POPULATION, (("north",),), ("region",))
    >>> columns = summary_columns(
    ...     [share], lambda name: [DrawnMarginal(np.ones(9))], 0.95
    ... )
    >>> columns["parameter"], columns["region"], columns["median"]
    (['share'], ['north'], [1.0])
    """
    kinds = list(dict.fromkeys(one.keys for one in parameters if one.groups))
    keys = kinds[0] if len(kinds) == 1 else ("group",) if kinds else ()
    columns: dict[str, list[Any]] = {"parameter": []}
    for name in (*keys, *_NUMBERS):
        columns[free(name, columns)] = []
    for one in parameters:
        for place, law in enumerate(laws(one.name)):
            if most is not None and len(columns["parameter"]) >= most:
                return columns
            cells = (one.name, *_label(one, place, keys), law.quantile(0.5), *law.ends(confidence))
            for column, cell in zip(columns.values(), (*cells, law.mean, law.deviation), strict=True):
                column.append(cell)
    return columns


def _label(parameter: Parameter, place: int, keys: tuple[str, ...]) -> tuple[Any, ...]:
    """Return the label of a row in so many columns."""
    if not parameter.groups:
        return (None,) * len(keys)
    return parameter.labels(place) if parameter.keys == keys else (parameter.words[place],)

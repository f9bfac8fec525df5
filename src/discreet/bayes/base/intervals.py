"""Posterior intervals as people see them: one number in a line, or a table with a row for every group."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.display import Table, format_number
from discreet.display.plots import Plot, plot_interval
from discreet.errors import ParameterError
from discreet.frames import to_arrow, to_pandas, to_polars
from discreet.privacy import Guarantee, Target

SHOWN = 60  # rows of a table, and of a plot
Label = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Parameter:
    """What a posterior is about: a name, a sentence, the groups it has a value for, and whom it describes.

    `Target.TABLE` is a number of the people who were asked; `Target.POPULATION` is one of those they came from.
    `key_names` says what the labels of the groups are values of; left empty, it is read off the measurements.

    >>> Parameter(
    ...     "share", "who smokes", Target.POPULATION, (("north",), ("south",))
    ... ).words
    ['north', 'south']
    """

    name: str
    meaning: str
    target: Target
    groups: tuple[Label, ...] = ()  # none: one number for all
    key_names: tuple[str, ...] = ()

    @property
    def words(self) -> list[str]:
        """The labels of the groups as texts; one empty text where there are none."""
        return [in_words(label) for label in self.groups] if self.groups else [""]

    @property
    def keys(self) -> tuple[str, ...]:
        """The names of the columns that a table of the groups has."""
        if not self.groups:
            return ()
        return self.key_names if len(self.key_names) == len(self.groups[0]) else ("group",)

    def labels(self, place: int) -> Label:
        """Return the label of a group in as many columns as `keys` names."""
        label = self.groups[place]
        return label if len(label) == len(self.keys) else (in_words(label),)

    def place(self, label: Any) -> int:
        """Return the place of a group by its label: a tuple, or its only entry."""
        wanted = label if isinstance(label, tuple) else (label,)
        if not all(isinstance(one, Hashable) for one in wanted) or wanted not in self.groups:
            such = f"such as {self.groups[0]}" if self.groups else "that is none, as it is one number"
            raise ParameterError(
                f"there is no such group of {self.name!r}; write one of its {len(self.groups):,} labels, {such}",
                parameter="group",
            )
        return self.groups.index(wanted)

    def shaped(self, values: Sequence[float]) -> Any:
        """Return one number, or an array over the groups."""
        return np.array(values) if self.groups else values[0]


def in_words(label: Label) -> str:
    """Return the label of a group as people read it.

    >>> in_words(("north", None)), in_words(())
    ('north, NULL', 'all')
    """
    return ", ".join("NULL" if one is None else str(one) for one in label) if label else "all"


@dataclass(frozen=True, eq=False)
class PosteriorInterval:
    """Posterior medians with equal-tailed intervals, of one parameter: a number, or one for every group.

    `value`, `low` and `high` are numbers, or arrays over the groups. `together` says that all groups are in their
    intervals at once with the confidence. `guarantee` is that of what was released; the interval itself costs nothing.

    >>> made = PosteriorInterval(
    ...     Parameter("share", "who smokes", Target.POPULATION),
    ...     (0.25,),
    ...     (0.21,),
    ...     (0.3,),
    ...     0.95,
    ... )
    >>> print(made)
    share: 0.25 [0.21, 0.3] (95 %, population)
    >>> made.value, made.low, made.high
    (0.25, 0.21, 0.3)
    """

    parameter: Parameter
    values: tuple[float, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]
    confidence: float
    together: bool = False
    guarantee: Guarantee | None = None
    naive: tuple[float, ...] | None = None  # what was released, read as if it had no noise

    @property
    def value(self) -> Any:
        """The posterior median."""
        return self.parameter.shaped(self.values)

    @property
    def low(self) -> Any:
        """The lower end."""
        return self.parameter.shaped(self.lows)

    @property
    def high(self) -> Any:
        """The upper end."""
        return self.parameter.shaped(self.highs)

    @property
    def target(self) -> Target:
        """Whom the interval is about."""
        return self.parameter.target

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, group: Any) -> PosteriorInterval:
        place = self.parameter.place(group)
        own = Parameter(f"{self.parameter.name} of {self.parameter.words[place]}", self.parameter.meaning, self.target)
        naive = None if self.naive is None else (self.naive[place],)
        ends = (self.values[place],), (self.lows[place],), (self.highs[place],)
        return PosteriorInterval(own, *ends, self.confidence, self.together, self.guarantee, naive)

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns by name: the keys, the median, and both ends."""
        keys = self.parameter.keys
        labels = [self.parameter.labels(place) for place in range(len(self))] if keys else []
        columns: dict[str, list[Any]] = {name: [one[at] for one in labels] for at, name in enumerate(keys)}
        for name, column in {"value": self.values, "low": self.lows, "high": self.highs}.items():
            columns[free(name, columns)] = list(column)
        return columns

    def to_pandas(self) -> Any:
        """Return a pandas frame."""
        return to_pandas(self.to_dict())

    def to_polars(self) -> Any:
        """Return a Polars frame."""
        return to_polars(self.to_dict(), strict=False)

    def to_arrow(self) -> Any:
        """Return an Arrow table."""
        return to_arrow(self.to_dict())

    def table(self) -> Table:
        """Return the first rows as people are shown them."""
        columns = self.to_dict()
        return shown_rows(columns, f"{self.parameter.name}: {self._words}")

    def plot(self) -> Plot:
        """Draw the intervals, with what was released beside them where it is about the same numbers."""
        kept = slice(0, SHOWN)
        more = f", the first {SHOWN} of {len(self):,}" if len(self) > SHOWN else ""
        return plot_interval(
            [one or self.parameter.name for one in self.parameter.words[kept]],
            np.array(self.values[kept], dtype=float),
            np.array(self.lows[kept], dtype=float),
            np.array(self.highs[kept], dtype=float),
            truth=None if self.naive is None else np.array(self.naive[kept], dtype=float),
            title=f"{self.parameter.name}: {self._words}{more}",
            x_label=self.parameter.meaning or self.parameter.name,
            names=("posterior median and interval", "as released, noise and all"),
        )

    @property
    def _words(self) -> str:
        held = " that hold together" if self.together and len(self) > 1 else ""
        plural = "s" if self.parameter.groups else ""
        sure = f"{100 * self.confidence:.6g} % interval{plural}{held}"
        return f"posterior median{plural} and {sure}, for the {self.target.value}"

    def __str__(self) -> str:
        if self.parameter.groups:
            return str(self.table())
        value, low, high = (format_number(one) for one in (self.values[0], self.lows[0], self.highs[0]))
        sure = f"{100 * self.confidence:.6g} %, {self.target.value}"
        return f"{self.parameter.name}: {value} [{low}, {high}] ({sure})"

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        return self.table()._repr_html_()


def shown_rows(columns: Mapping[str, Sequence[Any]], caption: str) -> Table:
    """Return at most 60 rows as a table, and say how many more there are."""
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    left = len(rows) - SHOWN
    return Table(list(columns), rows[:SHOWN], f"{caption}; {left:,} more rows" if left > 0 else caption, digits=4)


def free(name: str, taken: Mapping[str, Any]) -> str:
    """Return a name for a column that no key has.

    >>> free("value", {"value": []})
    'value_'
    """
    while name in taken:
        name += "_"
    return name

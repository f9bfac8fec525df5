"""What results of many numbers have in common: columns of values and errors, intervals, a table, a frame, a plot."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet._optional import optional
from discreet.display import Table
from discreet.display.plots import Plot, plot_interval
from discreet.local.estimates.intervals import Intervals
from discreet.local.protocol import Floats, Spec
from discreet.privacy import PrivacyLoss, PureDP, Target


class FromReports:
    """A result of reports under one spec."""

    if TYPE_CHECKING:  # a field of every kind

        @property
        def spec(self) -> Spec:
            """The protocol."""

    @property
    def guarantee(self) -> PureDP:
        """What each person who reported is guaranteed."""
        return self.spec.guarantee

    @property
    def cost(self) -> PrivacyLoss:
        """What one report costs its person."""
        return self.spec.loss


class EstimateColumns(FromReports, ABC):
    """Many estimates from one collection of reports: `value` and `standard_error` are columns, one entry a line.

    A line is a category, a key or a coordinate; iterating over a result gives their names.
    """

    if TYPE_CHECKING:  # fields of some kinds, properties of others

        @property
        def value(self) -> Floats:
            """The estimates."""

        @property
        def standard_error(self) -> Floats:
            """Their standard errors."""

    @property
    @abstractmethod
    def _line(self) -> str:
        """What a line is, in one word."""

    @abstractmethod
    def __iter__(self) -> Iterator[Any]: ...

    @abstractmethod
    def intervals(
        self, *, confidence: float = 0.95, together: bool = False, target: Target = Target.TABLE
    ) -> Intervals:
        """Return an interval for every line; with `together=True` all of them hold at once."""

    @abstractmethod
    def table(self) -> Table:
        """Return lines for a reader."""

    def __len__(self) -> int:
        return int(self.value.size)

    def to_pandas(self, *, confidence: float = 0.95, together: bool = True) -> Any:
        """Return a frame of all lines by name: value, standard_error, low and high."""
        pandas = optional("pandas", extra="frames", purpose="to_pandas()")
        ends = self.intervals(confidence=confidence, together=together)
        columns = {"value": self.value, "standard_error": self.standard_error, "low": ends.low, "high": ends.high}
        return pandas.DataFrame(columns, index=pandas.Index(list(self), name=self._line, tupleize_cols=False))

    def _lines(self, places: Iterable[int], confidence: float) -> list[list[Any]]:
        """Return name, value, standard error and the ends of intervals that hold together, for some lines."""
        ends, names = self.intervals(confidence=confidence, together=True), list(self)
        columns = self.value, self.standard_error, ends.low, ends.high
        return [[str(names[place]), *(float(column[place]) for column in columns)] for place in places]

    def _drawn(self, places: Iterable[int], confidence: float, title: str, x_label: str) -> Plot:
        """Draw some lines with intervals that hold together."""
        lines = self._lines(places, confidence)
        names, middle, _, low, high = zip(*lines, strict=True)
        words = f"{title}, {100 * confidence:.6g} % intervals that hold together"
        return plot_interval(names, np.clip(middle, low, high), low, high, title=words, x_label=x_label)

    def __str__(self) -> str:
        return str(self.table())

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        return self.table()._repr_html_()

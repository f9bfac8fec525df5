"""Several estimates released together: one a key, with one guarantee and one price for all of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.display import Table
from discreet.errors import InputError
from discreet.frames import Typed, key_form, to_pandas
from discreet.privacy import Estimate, Guarantee, PrivacyLoss, Target
from discreet.privacy.estimate import NO_INTERVAL

if TYPE_CHECKING:
    from discreet.display.plots import Plot

_SHOWN = 20


@dataclass(frozen=True, eq=False, repr=False)
class EstimateTable(Mapping[Any, Estimate]):
    """A mapping from keys to estimates, in the order in which they were asked for.

    `labels`, `value`, `low` and `high` are the same as columns, `low` and `high` not a number (NaN) where no interval
    was bought. The intervals hold one at a time, and `half_width_together` is the half-width that holds for all of them
    at once (infinite where it is not known). The guarantee covers the whole table, not each line.
    """

    labels: tuple[Any, ...]
    value: NDArray[Any]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    half_width_together: float
    confidence: float
    guarantee: Guarantee
    method: str
    cost: PrivacyLoss

    def __len__(self) -> int:
        return len(self.labels)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.labels)

    @cached_property
    def _places(self) -> dict[Any, int]:
        """Where each key stands."""
        return {Typed.of(key_form(label)): place for place, label in enumerate(self.labels)}

    def __getitem__(self, key: Any) -> Estimate:
        try:
            place = self._places.get(Typed.of(key_form(key)))
        except InputError:
            place = None
        if place is None and key in self.labels:  # 1 finds 1.0, as everywhere in Python
            place = self.labels.index(key)
        if place is None:
            raise KeyError("the key must be one of those released; got another, write one of `.labels`")
        return Estimate(
            np.asarray(self.value[place]).item(),
            *self._ends(place),
            self.confidence,
            Target.TABLE,
            self.guarantee,
            self.method,
            self.cost,
        )

    def _ends(self, place: int) -> tuple[float | None, float | None]:
        """Return the interval of a line, None and None where there is none."""
        if np.isnan(self.low[place]):
            return None, None
        return float(self.low[place]), float(self.high[place])

    def to_pandas(self) -> Any:
        """Return a frame with the keys as its index and the columns value, low and high (missing if not bought)."""
        return to_pandas({"value": self.value, "low": self.low, "high": self.high}, index=self.labels)

    def plot(self, *, title: str = "", x_label: str = "") -> Plot:
        """Draw the values with their intervals, at most the first twenty; the title says where there are none."""
        from discreet.display.plots import plot_interval

        shown = slice(0, _SHOWN)
        value = self.value[shown].astype(np.float64)
        bought = ~np.isnan(self.low[shown])
        low, high = np.where(bought, self.low[shown], value), np.where(bought, self.high[shown], value)
        names = [str(key) for key in self.labels[shown]]
        words = title if bought.all() else f"{title}: {NO_INTERVAL}" if title else NO_INTERVAL
        return plot_interval(names, np.clip(value, low, high), low, high, title=words, x_label=x_label)

    def _table(self) -> Table:
        """Return the first lines for a reader."""
        rows = [
            [str(key), np.asarray(self.value[place]).item(), *self._ends(place)]
            for place, key in enumerate(self.labels[:_SHOWN])
        ]
        more = "" if len(self) <= _SHOWN else f", the first {_SHOWN} of {len(self)}"
        some = "" if not np.isnan(self.low).any() else f", {NO_INTERVAL} where low and high are empty"
        words = NO_INTERVAL if np.isnan(self.low).all() and len(self) else f"{100 * self.confidence:.6g} %{some}"
        return Table(["key", "value", "low", "high"], rows, f"{self.guarantee!r}, {words}{more}")

    def __str__(self) -> str:
        return str(self._table())

    def __repr__(self) -> str:
        return f"EstimateTable({len(self)} keys, {self.guarantee!r})"

    def _repr_html_(self) -> str:
        """Return the first lines for a notebook."""
        return self._table()._repr_html_()

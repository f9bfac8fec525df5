"""The values that stand out, largest first; a list of none says so."""

from __future__ import annotations

from discreet.display import Table
from discreet.statistics.histograms.estimate_table import EstimateTable

_NONE = "nothing stands out from chance"


class TopList(EstimateTable):
    """The largest shares, each of a value that certainly somebody holds; it may be empty."""

    def _table(self) -> Table:
        """Return the lines for a reader, or the one that there are none."""
        if len(self):
            return super()._table()
        return Table([_NONE], [], f"{self.guarantee!r}, {100 * self.confidence:.6g} %")

    def __str__(self) -> str:
        """Print the first lines, or the one that there are none."""
        return super().__str__() if len(self) else f"{_NONE} ({self.guarantee!r}, {100 * self.confidence:.6g} %)"

    def __repr__(self) -> str:
        """Say how many lines there are and under which promise."""
        return super().__repr__() if len(self) else f"TopList({_NONE}, {self.guarantee!r})"

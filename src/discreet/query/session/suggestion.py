"""Bounds that were found privately: what to write, how many people they cut, and what they do to the noise."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.display import Table, definition_list
from discreet.privacy import Guarantee, PrivacyLoss, Relation
from discreet.privacy.guarantees import with_notion
from discreet.query.answer import Record

if TYPE_CHECKING:
    from discreet.display.plots import Plot

BOUND = int | tuple[float, float]
_MANY = 0.2  # so many people are not meant to be cut: the price was too small to find better bounds


@dataclass(frozen=True, slots=True)
class SuggestedBound:
    """One bound: what it bounds, its value, what is written for it, and about what share of the people it cuts.

    `low` and `high` are the ends of the 95 % interval of the quantile that the bound was rounded from.
    """

    name: str  # rows, groups, rows_per_group, or the name of a column or aggregate
    value: BOUND
    line: str
    cut: float
    low: float | None
    high: float | None


@dataclass(frozen=True, kw_only=True)
class Suggestion:
    """Suggested bounds, released at a price: write them into a policy, or hand `arguments` to `sql`.

    Any bound is sound, since bounds are enforced; these are chosen so that noise and what is left out are about alike.
    """

    of: str
    unit: str
    people: float  # about how many there are, as released
    bounds: tuple[SuggestedBound, ...]
    arguments: Mapping[str, Any]  # of `sql`; empty where a table was asked about
    noise: Mapping[str, tuple[float | None, float | None]]  # with the policy's bounds, and with these
    later: str  # the price of the answer that the bounds are chosen for, in words
    guarantee: Guarantee
    record: Record

    @property
    def cost(self) -> PrivacyLoss:
        """What the release costs, as a loss that adds up with others."""
        return PrivacyLoss.from_guarantee(self.guarantee)

    @property
    def relation(self) -> Relation:
        """What neighbors are."""
        return self.guarantee.relation

    @property
    def lines(self) -> tuple[str, ...]:
        """What to write: lines of a policy for a table, arguments of `sql` for a query."""
        return tuple(dict.fromkeys(one.line for one in self.bounds))

    def table(self) -> Table:
        """Return the bounds with what each leaves out."""
        rows = [[one.line, f"about {100 * one.cut:.2g} %", _ends(one)] for one in self.bounds]
        return Table(["write", f"share of {self.unit}s that are cut", "quantile, 95 % interval"], rows)

    def noises(self) -> Table:
        """Return the standard deviation of the noise of the answer, with the policy's bounds and with these."""
        rows: list[list[object]] = [[name, before, after] for name, (before, after) in self.noise.items()]
        return Table(["aggregate", "noise with the policy's bounds", "noise with these"], rows, digits=4)

    def facts(self) -> list[tuple[str, str]]:
        """Return what goes with the tables."""
        again = " (stored answer, handed out again)" if self.record.replayed else ""
        most = max((one.cut for one in self.bounds), default=0.0)
        fewer = "" if self.arguments else ", or for fewer columns"
        poor = f"a bound cuts about {100 * most:.2g} % of them: ask at a larger price{fewer}, before you use it"
        return [
            *([("worth knowing", poor)] if most >= _MANY else []),
            ("for", self.of),
            ("people", f"about {max(round(self.people), 0):,} {self.unit}s have rows"),
            ("chosen for an answer at", self.later),
            ("guarantee", with_notion(self.guarantee)),
            ("neighbors", self.relation.sentence),
            ("record", f"{self.record.number}, {self.record.entry_hash[:16]}{again}"),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for machines."""
        bounds = [
            {"name": one.name, "value": one.value, "line": one.line, "cut": one.cut, "low": one.low, "high": one.high}
            for one in self.bounds
        ]
        return {
            **dict(self.facts()),
            "people": self.people,
            "bounds": bounds,
            "arguments": dict(self.arguments),
            "noise": {name: list(pair) for name, pair in self.noise.items()},
        }

    def plot(self) -> Plot:
        """Draw the noise of each aggregate with the policy's bounds and with these."""
        from discreet.display.plots import BLUE, SOFT, Plot, axes

        known = {name: pair for name, pair in self.noise.items() if None not in pair}
        panel = axes(
            title="Noise of the answer by its bounds", x_label="standard deviation", height=1.4 + 0.5 * len(known)
        )
        places = list(range(len(known)))[::-1]
        for side, (color, words) in enumerate(((SOFT, "bounds of the policy"), (BLUE, "suggested bounds"))):
            values = [float(pair[side] or 0.0) for pair in known.values()]
            panel.barh([one + 0.2 - 0.4 * side for one in places], values, height=0.38, color=color, label=words)
        panel.set_yticks(places, list(known), parse_math=False)
        if known:
            panel.legend()
        return Plot(panel.figure)  # type: ignore[arg-type]

    def __str__(self) -> str:
        shown = [str(self.table()), *([str(self.noises())] if self.noise else [])]
        return "\n\n".join([*shown, "\n".join(f"{name}: {words}" for name, words in self.facts())])

    def _repr_html_(self) -> str:
        """Return the suggestion for a notebook."""
        noises = self.noises()._repr_html_() if self.noise else ""
        return self.table()._repr_html_() + noises + definition_list(self.facts())


def _ends(one: SuggestedBound) -> str:
    return "" if one.low is None or one.high is None else f"{one.low:.4g} to {one.high:.4g}"

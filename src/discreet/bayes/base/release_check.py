"""The predictive check: does a model give releases such as the one that was made?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.base.intervals import SHOWN, in_words, shown_rows
from discreet.display import Table
from discreet.display.plots import BLUE, INK, ORANGE, SOFT, Plot, axes, plotted, shown_labels
from discreet.frames import to_arrow, to_pandas, to_polars
from discreet.privacy import Target
from discreet.statistics.measurement import Measurement

if TYPE_CHECKING:
    from discreet.bayes.base.posterior import Posterior

_SURE = 0.95


@dataclass(frozen=True, eq=False)
class ReleaseCheck:
    """Where each released integer falls among those of repetitions: parameters, people and noise drawn again.

    `probabilities` are the shares of the repetitions that lie below what was released, ties shared at random: evenly
    spread over (0, 1), or closer to 1/2, as long as the model fits, because the model has seen the release. One near 0
    or 1 says that the model makes such an integer hardly ever. `least` is the smallest two-sided probability times the
    number of integers: small values count against the model, whatever the number of groups. Where a row that counts in
    full adds a weight, as rows of a session do, `released`, `lows` and `highs` are in such rows.

    >>> made = ReleaseCheck(
    ...     ("men", "women"), (31, 98), (20, 40), (40, 60), (0.5, 0.999), 999
    ... )
    >>> round(made.least, 4)
    0.004
    """

    names: tuple[str, ...]
    released: tuple[float, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]
    probabilities: tuple[float, ...]
    repetitions: int

    @property
    def least(self) -> float:
        """The smallest two-sided probability, times the number of integers, at most 1."""
        two_sided = min(2.0 * min(one, 1.0 - one) for one in self.probabilities)
        return min(1.0, two_sided * len(self.probabilities))

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns by name."""
        return {
            "released integer": list(self.names),
            "released": list(self.released),
            "low": list(self.lows),
            "high": list(self.highs),
            "share below": list(self.probabilities),
        }

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
        """Return the first rows, with the range that holds 95 % of the repetitions."""
        return shown_rows(self.to_dict(), f"What was released among {self.repetitions:,} repetitions of the model")

    def plot(self) -> Plot:
        """Draw the share of repetitions below each released integer, and the range that holds 95 % of them."""
        kept = min(len(self.names), SHOWN)
        more = f", the first {kept} of {len(self.names):,}" if kept < len(self.names) else ""
        drawn = axes(
            title=f"Where the release falls among {self.repetitions:,} repetitions of the model{more}",
            x_label="share of the repetitions below what was released",
            height=max(2.2, 1.5 + 0.3 * kept),
        )
        drawn.axvspan((1 - _SURE) / 2, (1 + _SURE) / 2, color=BLUE, alpha=0.13, linewidth=0)
        drawn.axvline(0.5, color=SOFT, linewidth=0.8)
        shares = np.array(self.probabilities[:kept])
        far = np.abs(shares - 0.5) > _SURE / 2
        for mask, color, marker in ((~far, INK, "o"), (far, ORANGE, "D")):
            drawn.plot(shares[mask], np.arange(kept)[mask], marker, color=color, markersize=6, clip_on=False)
        drawn.set_yticks(range(kept), shown_labels(self.names[:kept], longest=60), parse_math=False)
        drawn.set_ylim(kept - 0.4, -0.6)
        drawn.set_xlim(0, 1)
        return plotted(drawn)

    def __str__(self) -> str:
        verdict = f"smallest two-sided probability, times {len(self.names):,} integers: {self.least:.3g}"
        return f"{self.table()}\n\n{verdict}"

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        return self.table()._repr_html_()


def repeated_release(posterior: Posterior, repetitions: int, generator: np.random.Generator) -> ReleaseCheck:
    """Draw parameters from a posterior, people from those, noise from its law; compare such releases with it."""
    plans = [one.plan for one in posterior.measurements]
    shapes = [(plan.adds_up.entries, len(plan.keys)) for plan in plans]
    noise = [plan.noise.sample((repetitions, *shape)) for plan, shape in zip(plans, shapes, strict=True)]
    repeated = []
    for turn, values in enumerate(_repeatable(posterior, repetitions, generator)):
        people = posterior.model.integers(values, plans, generator)
        repeated.append([one + added[turn] for one, added in zip(people, noise, strict=True)])
    return checked(posterior.measurements, repeated, generator)


def _repeatable(posterior: Posterior, count: int, generator: np.random.Generator) -> list[dict[str, NDArray[Any]]]:
    """Return draws of the parameters from which new people are drawn: those of the population, and what is kept."""
    every = [one.name for one in posterior.parameters]
    names = [one.name for one in posterior.parameters if one.target is Target.POPULATION]
    if names:
        names = [name for name in every if name in {*names, *posterior.model.kept}]
    arrays = {name: np.asarray(posterior.draws[name]) for name in names or every}
    flat = {name: array.reshape(-1, *array.shape[2:]) for name, array in arrays.items()}
    chosen = generator.integers(len(next(iter(flat.values()))), size=count)
    return [{name: np.asarray(array[place]) for name, array in flat.items()} for place in chosen]


def checked(
    measurements: Sequence[Measurement], repeated: Sequence[Sequence[NDArray[Any]]], generator: np.random.Generator
) -> ReleaseCheck:
    """Compare releases that a model made, (entries, groups) for every measurement, with the real one.

    Accuracy. With R repetitions, L of them below and E equal, the share is (L + U (E + 1)) / (R + 1), U uniform:
        exactly uniform where the release is one more repetition.
        Proof: its place among the R + 1, ties broken at random, is then any with the same chance; U fills the cells.
    """
    names: list[str] = []
    columns: list[tuple[float, float, float, float]] = []
    for place, one in enumerate(measurements):
        weight = getattr(one.plan.adds_up, "weight", 1)
        made = np.stack([np.asarray(draws[place]) for draws in repeated])  # (repetitions, entries, groups)
        for entry, integers in enumerate(one.released):
            for group, released in enumerate(integers):
                own = np.sort(made[:, entry, group])
                below, up_to = (int(np.searchsorted(own, released, side=side)) for side in ("left", "right"))
                share = (below + generator.random() * (up_to - below + 1)) / (len(own) + 1)
                low, high = own[round((1 - _SURE) / 2 * len(own))], own[round((1 + _SURE) / 2 * len(own)) - 1]
                shown = released if weight == 1 else released / weight
                columns.append((shown, float(low) / weight, float(high) / weight, share))
                names.append(_named(one, entry, group))
    released_, lows, highs, shares = zip(*columns, strict=True)
    return ReleaseCheck(tuple(names), released_, lows, highs, shares, len(repeated))


def _named(one: Measurement, entry: int, group: int) -> str:
    """Return a name for one integer of a measurement."""
    label = one.plan.keys[group]
    entries = f", entry {entry + 1}" if one.plan.adds_up.entries > 1 else ""
    return f"{one.plan.name}{f': {in_words(label)}' if label else ''}{entries}"

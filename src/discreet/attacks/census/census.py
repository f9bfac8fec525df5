"""What the published tables of a census block prove: what is true in every block that agrees with them."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.asking import Integers
from discreet.attacks.census.solutions import Histogram, Solutions, extent
from discreet.attacks.census.tables import CELLS, PublishedFact, age_of, checked, describe, histogram_of
from discreet.attacks.results import read_only
from discreet.data import CensusBlock
from discreet.data.invented_block import AGE_RANGE
from discreet.display.plots import BLUE, ORANGE, Plot, axes, explained
from discreet.display.result import Row, told_in_rows

_BAND = 5


@told_in_rows
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class BlockReconstruction:
    """What tables prove about a block.

    `shown` is one block that agrees with the tables: how many people it has in each cell, a combination of age, sex,
    race and origin. It is *a* solution and proves nothing by itself. `least` is how many people every solution has in a
    cell: these are proven. `certain` says for which cells the number is the same in all solutions. `apart` encloses the
    most people in which two solutions differ. `matched` is how many people of the true block the solution shown has, if
    the owner gave the truth.
    """

    statements: int
    shown: Integers
    least: Integers
    certain: NDArray[np.bool_]
    open_cells: int
    apart: tuple[int, int]
    matched: int | None
    seconds: float

    def __post_init__(self) -> None:
        read_only(self.shown, self.least, self.certain)

    @property
    def people(self) -> int:
        """How many people the solution shown has."""
        return int(self.shown.sum())

    @property
    def proven(self) -> int:
        """How many people are proven to be in the block, with age, sex, race and origin."""
        return int(self.least.sum())

    @property
    def unique(self) -> bool:
        """Whether the tables allow one block only."""
        return bool(self.certain.all())

    def claims(self) -> list[tuple[str, int]]:
        """Return what an attacker can swear to: descriptions, each with how many such people there are at least."""
        return [(describe(cell), int(self.least[cell])) for cell in np.flatnonzero(self.least).tolist()]

    def _rows(self) -> list[Row]:
        """Return what people want to read, in order."""
        low, high = self.apart
        return [
            ("published numbers", f"{self.statements:,}"),
            ("people", f"{self.people:,}"),
            ("proven people", f"{self.proven:,}"),
            ("cells left open by single numbers", f"{self.open_cells:,}"),
            ("cells the same in all solutions", f"{int(self.certain.sum()):,} of {CELLS:,}"),
            ("two solutions differ in at most", f"{high:,}" if low == high else f"{low:,} to {high:,}"),
            ("people of one solution that exist", None if self.matched is None else f"{self.matched:,}"),
            ("seconds", f"{self.seconds:.2f}"),
        ]

    def plot(self) -> Plot:
        """Draw the solution shown by age: people that are proven, and people that are merely possible."""
        drawn = axes(title="A block from its tables: proven and merely possible", x_label="age", y_label="people")
        bands = np.arange(AGE_RANGE[0], AGE_RANGE[1] + 1, _BAND)
        ages = np.array([age_of(cell) for cell in range(CELLS)]) // _BAND
        proven = np.bincount(ages, weights=self.least, minlength=len(bands))
        possible = np.bincount(ages, weights=self.shown - self.least, minlength=len(bands))
        drawn.bar(bands + _BAND / 2, proven, width=0.8 * _BAND, color=ORANGE, label="proven")
        drawn.bar(
            bands + _BAND / 2, possible, width=0.8 * _BAND, bottom=proven, color=BLUE, alpha=0.45, hatch="//",
            edgecolor="white", linewidth=0, label="in one solution, not in all",
        )  # fmt: skip
        drawn.locator_params(axis="y", integer=True)
        return explained(drawn, ncols=2)


def reconstruct_block(tables: Sequence[PublishedFact], *, truth: CensusBlock | None = None) -> BlockReconstruction:
    """Find what is true of every block that agrees with published tables, by integer programs.

    `tables` are statements such as those of `block_tables`. The owner may give `truth`, to learn how many people of one
    solution exist; the attack does not use it.

    Accuracy. If the tables are right, every claim is: a block has at least `least` people in each cell, and exactly so
        many in cells that are `certain`. Two solutions have at least `proven` people in common.
        Proof: the true block agrees with its tables, so it is one of the solutions, and what holds in all of them holds
        in it. The least of a cell over all solutions is the optimum of an integer program; it is taken from the
        solver's lower bound, not from the solution found. Cells in which no solution seen so far has people are
        certain once an integer program shows that no solution has people in any of them. Two solutions share at least
        the least of every cell.
    Cost. A few dozen integer programs, within seconds for some dozens of people.
    Figure. census.svg
    Reference. Garfinkel, Abowd, Martindale 2019; Abowd et al. 2023, for solution variability; Huangfu, Hall 2018, for
        the solver.

    >>> from discreet.attacks import block_tables
    >>> from discreet.data import census_block
    >>> block = census_block(12, seed=2)
    >>> found = reconstruct_block(block_tables(block), truth=block)
    >>> found.people, found.proven, found.unique
    (12, 10, False)
    >>> found.claims()[0]
    ('female, 0, amber, near', 1)

    Raises:
        InputError: no block agrees with the tables.
    """
    started = time.perf_counter()
    statements = checked(tables)
    solutions = Solutions(statements)
    reach = extent(solutions)
    apart = _apart(solutions, reach.shown, reach.seen, reach.least)
    matched = None if truth is None else _shared(reach.shown, histogram_of(truth))
    return BlockReconstruction(
        statements=len(statements),
        shown=reach.shown,
        least=reach.least,
        certain=reach.certain,
        open_cells=int(np.count_nonzero(solutions.most > 0)),
        apart=apart,
        matched=matched,
        seconds=time.perf_counter() - started,
    )


def _shared(one: Histogram, other: Histogram) -> int:
    """Return how many people two blocks have in common."""
    return int(np.minimum(one, other).sum())


def _apart(solutions: Solutions, shown: Histogram, seen: Sequence[Histogram], least: Integers) -> tuple[int, int]:
    """Enclose the most people of one solution that another lacks.

    Below: pairs that were found. Above: all solutions share the people that are proven; and where the tables fix the
    number of people, a solution is at most d of them from the one shown, so that two are at most 2 d apart.
    """
    far, common = solutions.fewest_shared(shown)
    farther, _ = solutions.fewest_shared(far)
    found = (shown, far, farther, *seen)
    below = max(max(int(one.sum()), int(far.sum())) - _shared(one, far) for one in found)
    fewest, most = solutions.people
    above = most - int(least.sum())
    if fewest == most:
        above = min(above, 2 * (int(shown.sum()) - int(np.ceil(max(common, 0.0)))))
    return below, max(below, above)

"""The curse of dimension: with every column the boxes of k people widen, and people become unique."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.linking.mondrian_boxes import mondrian
from discreet.attacks.linking.unique_people import uniques
from discreet.attacks.results import read_only
from discreet.data.table import MOST_PEOPLE, check_whole, generator
from discreet.display import Table
from discreet.display.plots import BLUE, INK, ORANGE, SOFT, Plot, axes, explained
from discreet.display.result import told_in_a_table
from discreet.errors import ParameterError

Floats = NDArray[np.float64]

MOST_COLUMNS = 1000
LEVELS = 10


@told_in_a_table
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Curse:
    """Boxes and uniques against the number of columns, for people spread evenly over a cube.

    `sides` are the mean sides of a person's box, the least one around its group, and `expected_sides` what halving
    gives; `least_sides` are (k / n)^(1 / d), below which cells that fill the cube cannot be. `frequencies` are those of
    people who are unique when each column has ten levels, and `expected_frequencies` the same by formula.
    """

    people: int
    k: int
    columns: tuple[int, ...]
    sides: Floats
    expected_sides: Floats
    least_sides: Floats
    frequencies: Floats
    expected_frequencies: Floats

    def __post_init__(self) -> None:
        read_only(self.sides, self.expected_sides, self.least_sides, self.frequencies, self.expected_frequencies)

    def table(self) -> Table:
        """Return the numbers, one row for each number of columns."""
        parts = (self.sides, self.expected_sides, self.least_sides, self.frequencies, self.expected_frequencies)
        rows = [
            [count, *(f"{one:.3f}" for one in numbers[:3]), *(f"{100 * one:.1f} %" for one in numbers[3:])]
            for count, *numbers in zip(self.columns, *(part.tolist() for part in parts), strict=True)
        ]
        words = f"{self.people:,} people in groups of {self.k} or more"
        return Table(["columns", "mean side", "expected", "(k/n)^(1/d)", "unique", "expected"], rows, words, digits=3)

    def __repr__(self) -> str:
        return (
            f"<Curse: people {self.people:,}; k {self.k}; columns {self.columns[0]} to {self.columns[-1]}; "
            f"mean side {self.sides[0]:.3f} to {self.sides[-1]:.3f}>"
        )

    def plot(self) -> Plot:
        """Draw sides and uniques against the number of columns; needs the extra `plot`."""
        title = f"{self.people:,} people in groups of {self.k}: more columns, less said"
        drawn = axes(title=title, x_label="columns", y_label="mean side; share unique")
        drawn.plot(self.columns, self.sides, "o", color=BLUE, markersize=7, label="mean side of a box")
        drawn.plot(self.columns, self.expected_sides, color=BLUE, linewidth=1.8, label="side, expected by halving")
        drawn.plot(
            self.columns, self.least_sides, ":", color=INK, linewidth=1.8, label="cells that fill the cube: (k/n)^(1/d)"
        )
        drawn.plot(self.columns, self.frequencies, "D", color=ORANGE, markersize=6, label="unique, ten levels a column")
        drawn.plot(self.columns, self.expected_frequencies, "--", color=ORANGE, linewidth=1.8, label="unique, expected")
        drawn.set_xscale("log")
        drawn.set_xticks(self.columns, [str(count) for count in self.columns])
        drawn.set_xticks([], minor=True)
        drawn.set_ylim(-0.03, 1.03)
        drawn.grid(color=SOFT, alpha=0.18, linewidth=0.8)
        return explained(drawn, ncols=2)


def curse(
    *, people: int = 10_000, k: int = 10, columns: Sequence[int] = (1, 2, 3, 5, 8, 12, 20, 40), seed: int
) -> Curse:
    """Measure boxes and uniques on people spread evenly over a cube of growing dimension.

    Cost. A second for ten thousand people and up to 40 columns.
    Reference. Aggarwal 2005.

    >>> curse(people=2000, columns=(1, 2, 5), seed=1)
    <Curse: people 2,000; k 10; columns 1 to 5; mean side 0.00... to 0.3...>
    """
    if not columns or list(columns) != sorted(set(columns)):
        raise ParameterError("columns must be rising numbers of columns", parameter="columns")
    for count in columns:
        _check(people, k, count)
    points = generator(people, seed).random((people, max(columns)))
    names = [str(place) for place in range(max(columns))]
    alone = uniques(dict(zip(names, (points.T * LEVELS).astype(np.int64), strict=True)), names).frequencies
    return Curse(
        people,
        k,
        tuple(columns),
        sides=np.array([mondrian(points[:, :count], k=k).mean_side for count in columns]),
        expected_sides=np.array([expected_side(people=people, k=k, columns=count) for count in columns]),
        least_sides=np.array([least_side(people=people, k=k, columns=count) for count in columns]),
        frequencies=np.array([alone[count - 1] for count in columns]),
        expected_frequencies=np.array([(1 - float(LEVELS) ** -count) ** (people - 1) for count in columns]),
    )


def _check(people: int, k: int, columns: int) -> None:
    """Raise unless the sizes make a cube of people."""
    check_whole("people", people, low=1, high=MOST_PEOPLE)
    check_whole("k", k, low=1, high=people)
    check_whole("columns", columns, low=1, high=MOST_COLUMNS)


def least_side(*, people: int, k: int, columns: int) -> float:
    """Return (k / n)^(1 / d): no k-anonymous partition of a cube has a lower mean side.

    Accuracy. Cut a cube into at most n / k boxes, whatever the rule. Then the mean side of the box around a person
        drawn evenly from the cube is at least (k / n)^(1 / d).
        Proof: the mean side of a box is at least the d-th root of its volume w (arithmetic and geometric mean), and a
        person is in it with chance w. The g volumes add up to 1, so the sum of w^(1 + 1/d), which is convex, is least
        when all are 1 / g: it is at least g^(-1/d), and g <= n / k.
    Reference. Aggarwal 2005.

    >>> round(least_side(people=10_000, k=10, columns=20), 3)
    0.708
    """
    _check(people, k, columns)
    return float((k / people) ** (1 / columns))


def expected_side(*, people: int, k: int, columns: int) -> float:
    """Return the mean side of a person's box that halving gives for people spread evenly over a cube.

    A group is halved while both halves keep k, its columns in turn, so a group after t cuts has t // d or one more in
    each column; the least box around m people covers (m - 1) / (m + 1) of a side. Which column is widest, and where the
    median lies, varies from group to group: this is the middle of it, no bound.

    >>> round(expected_side(people=10_000, k=10, columns=20), 3)
    0.652
    """
    _check(people, k, columns)
    leaves: dict[tuple[int, int], int] = {}
    open_groups = {people: 1}
    cuts = 0
    while open_groups:
        halves: dict[int, int] = {}
        for size, count in open_groups.items():
            if size < 2 * k:
                leaves[size, cuts] = leaves.get((size, cuts), 0) + count
                continue
            for half in (size // 2, size - size // 2):
                halves[half] = halves.get(half, 0) + count
        open_groups, cuts = halves, cuts + 1
    total = 0.0
    for (size, depth), count in leaves.items():
        each, more = divmod(depth, columns)
        side = ((columns - more) * 2.0**-each + more * 2.0 ** -(each + 1)) / columns
        total += count * size * side * (size - 1) / (size + 1)
    return total / people

"""Linkage: join a table without names to a register with names, on what both know about a person."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike

from discreet.attacks.asking import Columns, Integers, array_of, cells, columns_of, distinct
from discreet.attacks.results import read_only
from discreet.display.plots import BLUE, ORANGE, SOFT, Plot, axes, explained
from discreet.display.result import Row, percent, told_in_rows
from discreet.errors import InputError, ParameterError


class MatchRule(Enum):
    """When the attacker claims that a row of the released table is a person of the register."""

    UNIQUE_IN_BOTH = "the only row with these values in either table"
    UNIQUE_IN_REGISTER = "one person in the register has these values, whatever the released table holds"


@told_in_rows
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Linkage:
    """What a join on some columns claims, and how much of it is right.

    `claims` holds, for every released row, the row of the register that it is said to be, or -1. `expected_wrong` is
    how many claims theory expects to be wrong, estimated from the two tables alone: the attacker knows it too. `truth`
    is what only the owner knows (the right row of the register or -1), if it was given.
    """

    columns: tuple[str, ...]
    rule: MatchRule
    registered: int
    claims: Integers
    expected_wrong: float
    truth: Integers | None
    seconds: float

    def __post_init__(self) -> None:
        read_only(self.claims, self.truth)

    @property
    def claimed(self) -> int:
        """How many rows of the released table are given a name."""
        return int(np.count_nonzero(self.claims >= 0))

    @property
    def right(self) -> int | None:
        """How many claims are right, if the truth was given."""
        if self.truth is None:
            return None
        return int(np.count_nonzero((self.claims >= 0) & (self.claims == self.truth)))

    @property
    def precision(self) -> float | None:
        """The share of claims that are right, if the truth was given and anything was claimed."""
        return None if self.right is None or not self.claimed else self.right / self.claimed

    @property
    def recall(self) -> float | None:
        """The frequency of people in both tables who are named rightly, if the truth was given."""
        if self.right is None or self.truth is None:
            return None
        both = int(np.count_nonzero(self.truth >= 0))
        return self.right / both if both else None

    @property
    def expected_precision(self) -> float | None:
        """The share of claims that theory expects to be right, from the two tables alone."""
        return None if not self.claimed else max(0.0, 1 - self.expected_wrong / self.claimed)

    def _asked(self) -> list[tuple[str, str]]:
        """Return the question, which is told first."""
        return [("columns", ", ".join(self.columns)), ("claimed if", self.rule.value)]

    def _rows(self) -> list[Row]:
        """Return what people want to read, in order."""
        return [
            ("registered", f"{self.registered:,}"),
            ("released", f"{len(self.claims):,}"),
            ("claimed", f"{self.claimed:,}"),
            ("precision", percent(self.precision)),
            ("expected precision", percent(self.expected_precision)),
            ("recall", percent(self.recall)),
            ("seconds", f"{self.seconds:.2f}"),
        ]

    def plot(self) -> Plot:
        """Draw the released rows as one bar: named, wrongly named, left alone; needs the extra `plot`."""
        wrong = self.expected_wrong if self.right is None else self.claimed - self.right
        parts = (
            ("named rightly", self.claimed - wrong, BLUE, ""),
            ("named wrongly", wrong, ORANGE, "//"),
            ("not named", len(self.claims) - self.claimed, SOFT, ""),
        )
        words = "as far as the attacker knows" if self.right is None else "by the owner's truth"
        drawn = axes(title=f"Linkage on {len(self.columns)} columns, {words}", x_label="released rows", height=2.6)
        start = 0.0
        for name, count, color, hatch in parts:
            drawn.barh(
                [0], [count], left=start, height=0.5, color=color, hatch=hatch, edgecolor="white", linewidth=0,
                label=f"{name}: {round(count):,}", alpha=0.35 if color == SOFT else 1.0,
            )  # fmt: skip
            start += count
        drawn.set_yticks([])
        drawn.xaxis.set_major_formatter("{x:,.0f}")
        return explained(drawn, ncols=3)


def link(
    register: Columns,
    released: Columns,
    *,
    on: Sequence[str],
    rule: MatchRule = MatchRule.UNIQUE_IN_BOTH,
    truth: ArrayLike | None = None,
) -> Linkage:
    """Join a released table with a register on some columns, and claim the matches that the rule allows.

    The owner of both tables may give `truth`, for every released row the row of the register that is the same person or
    -1, to learn precision and recall; the attack does not use it. Tables are those that `uniques` takes.

    Accuracy. Let people enter the tables independently of one another, with chances that depend on their values at
        most. Then the expected number of wrong claims is at most `expected_wrong` in expectation of its two parts: 2
        sqrt(E G20 E G02) for unique in both, where Gij counts the cells with i people of the register and j released
        rows; sqrt(2 E G2 E D) for unique in the register, where G2 counts the cells with two people of the register and
        D the ordered pairs of released rows in cells with none of it. If the chances are the same for everybody, equal.
        Proof: let a person of a cell of N be in both tables with chance p, in the register or the released table alone
        with chances a, b, in neither with chance z. A wrong claim takes one person of each kind and N - 2 in neither:
        its chance is N (N - 1) a b z^(N - 2). Two of the register and no released row: half of that with a^2 for a b;
        the other way round, b^2. So the wrong claims of a cell are twice the geometric mean of the two, and so are the
        sums over cells if a and b are the same everywhere; if not, by the inequality of Cauchy and Schwarz, at most
        that. Unique in the register: with r = p + a, the expected number is N (N - 1) r b (1 - r)^(N - 2), that of two
        registered half of it with r^2 for r b, and that of ordered pairs it with b^2.
    Cost. A sort of both tables a column.
    Reference. Sweeney 2002; for samples of one population Skinner, Elliot 2002.

    >>> from discreet.data import register as city
    >>> tables = city(people=100_000, seed=1)
    >>> found = link(
    ...     tables.register,
    ...     tables.discharges,
    ...     on=["zip_code", "birth_date", "sex"],
    ...     truth=tables.match,
    ... )
    >>> (
    ...     round(found.precision, 2),
    ...     round(found.expected_precision, 2),
    ...     round(found.recall, 2),
    ... )
    (0.95, 0.95, 0.92)
    """
    started = time.perf_counter()
    columns = distinct(on)
    if not isinstance(rule, MatchRule):
        raise ParameterError("rule must be a MatchRule, such as MatchRule.UNIQUE_IN_BOTH", parameter="rule")
    tables = [columns_of(table, columns) for table in (register, released)]
    codes = cells(tables, columns)
    registered = len(tables[0][columns[0]])
    known, seen = codes[:registered], codes[registered:]
    right = None if truth is None else _checked(truth, len(seen), registered)
    named, rows = (np.bincount(part, minlength=int(codes.max()) + 1) for part in (known, seen))
    row_of = np.full(len(named), -1)
    row_of[known] = np.arange(registered)
    sure = named == 1 if rule is MatchRule.UNIQUE_IN_REGISTER else (named == 1) & (rows == 1)
    claims = np.where(sure[seen], row_of[seen], -1)
    wrong = expected_wrong(named, rows, rule)
    return Linkage(columns, rule, registered, claims, wrong, right, time.perf_counter() - started)


def expected_wrong(registered: ArrayLike, released: ArrayLike, rule: MatchRule = MatchRule.UNIQUE_IN_BOTH) -> float:
    """Return how many wrong claims to expect, from the number of people of every cell in either table.

    >>> expected_wrong([1, 1, 2, 0], [1, 0, 0, 2])
    2.0
    """
    known, seen = np.asarray(registered), np.asarray(released)
    if rule is MatchRule.UNIQUE_IN_BOTH:
        twos = np.count_nonzero((known == 2) & (seen == 0)), np.count_nonzero((known == 0) & (seen == 2))
        return 2 * float(np.sqrt(float(twos[0]) * float(twos[1])))
    alone = seen[known == 0].astype(np.float64)
    return float(np.sqrt(2.0 * np.count_nonzero(known == 2) * float(np.sum(alone * (alone - 1)))))


def _checked(truth: ArrayLike, rows: int, registered: int) -> Integers:
    """Return the owner's truth; raise if it cannot be one."""
    match = array_of(truth, what="the truth")
    if match.shape != (rows,) or match.dtype.kind not in "iu":
        raise InputError("the truth must hold, for every released row, a row of the register or -1")
    if match.size and (match.min() < -1 or match.max() >= registered):
        raise InputError("the truth must name rows of the register, counted from 0, or -1")
    return match.astype(np.int64)

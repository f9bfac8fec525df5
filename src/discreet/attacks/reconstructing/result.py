"""What a reconstruction attack made of the answers it got: guesses, what theory expects, and the ceiling."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.attacks.asking import Bits, Floats, secret_bits
from discreet.attacks.ceilings import Flip, ceiling
from discreet.attacks.results import read_only
from discreet.display.plots import BLUE, INK, ORANGE, SOFT, Plot, axes, explained
from discreet.display.result import Row, percent, told_in_rows
from discreet.laws import Enclosure
from discreet.laws.number import Number
from discreet.privacy import PrivacyLoss

_FEWEST_BARS, _MOST_BARS = 8, 60
HALF = Fraction(1, 2)


@told_in_rows
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Reconstruction:
    """The finding of one attack on a secret column.

    `bits` are its guesses and `estimates` the numbers they were rounded from. `right` says who was guessed right, if
    the owner of the table gave the truth to compare with; an attacker has none. `expected` is the share that theory
    expects under the noise that was stated, `floor` the share that is certain given a bound on all errors, and
    `ceiling` bounds the share that any attacker can expect, if the price of the answers was given.
    """

    decoder: str
    queries: int
    estimates: Floats
    bits: Bits
    right: NDArray[np.bool_] | None
    expected: float | None
    floor: float | None
    ceiling: Enclosure | None
    seconds: float

    def __post_init__(self) -> None:
        read_only(self.estimates, self.bits, self.right)

    @property
    def people(self) -> int:
        """How many bits were guessed."""
        return len(self.bits)

    @property
    def recovered(self) -> float | None:
        """The frequency of people whose bit was guessed right, if the truth was given."""
        return None if self.right is None else float(self.right.mean())

    @property
    def wrong(self) -> int | None:
        """How many bits were guessed wrong, if the truth was given."""
        return None if self.right is None else int(np.count_nonzero(~self.right))

    def _asked(self) -> list[tuple[str, str]]:
        """Return the decoder, which is told first."""
        return [("decoder", self.decoder)]

    def _rows(self) -> list[Row]:
        """Return what people want to read, in order; the certain part is rounded down, the ceiling up."""
        return [
            ("people", f"{self.people:,}"),
            ("queries", f"{self.queries:,}"),
            ("recovered", percent(self.recovered)),
            ("expected", percent(self.expected)),
            ("certain", None if self.floor is None else f"{math.floor(1000 * self.floor) / 10:.1f} %"),
            ("ceiling", None if self.ceiling is None else f"{math.ceil(1000 * self.ceiling.upper) / 10:.1f} %"),
            ("seconds", f"{self.seconds:.2f}"),
        ]

    def plot(self) -> Plot:
        """Draw how many people have which estimate, by their true bit if it was given; needs the extra `plot`."""
        drawn = axes(
            title=f"Estimates by {self.decoder}",
            x_label="estimate; above 1/2 the guess is 1",
            y_label="people",
        )
        low, high = min(float(self.estimates.min()), 0.0), max(float(self.estimates.max()), 1.0)
        # about as many bars as the root of the people, or few people would be a comb
        bars = int(np.clip(round(math.sqrt(self.people)), _FEWEST_BARS, _MOST_BARS))
        edges = np.linspace(low - 0.05, high + 0.05, bars + 1)
        groups = [(self.estimates, SOFT, "estimates", "")]
        if self.right is not None:
            truth = self.bits.astype(np.bool_) == self.right
            groups = [
                (self.estimates[~truth], BLUE, "the bit is 0", ""),
                (self.estimates[truth], ORANGE, "the bit is 1", "//"),
            ]
        for values, color, name, hatch in groups:
            drawn.hist(
                values, bins=edges.tolist(), color=color, alpha=0.6, label=name, hatch=hatch, edgecolor="white",
                linewidth=0,
            )  # fmt: skip
        drawn.axvline(0.5, color=INK, linewidth=1.4, linestyle="--")
        return explained(drawn, ncols=2)


@dataclass(frozen=True, slots=True)
class Owner:
    """What only the owner of a table knows: the truth to compare with, and the price of the answers.

    Checked before anything is asked; the attack itself uses neither.
    """

    truth: NDArray[np.bool_] | None
    ceiling: Enclosure | None

    @classmethod
    def of(cls, people: int, truth: ArrayLike | None, loss: PrivacyLoss | None, frequency: Number = HALF) -> Owner:
        """Check the truth, and turn a price into the ceiling for queries that count rows with the bit 1."""
        known = None if truth is None else secret_bits(truth, people, what="truth")
        return cls(known, None if loss is None else ceiling(loss, flip=Flip.ONE_ROW, frequency=frequency))

    def judge(
        self,
        estimates: Floats,
        *,
        decoder: str,
        queries: int,
        seconds: float,
        expected: float | None = None,
        floor: float | None = None,
    ) -> Reconstruction:
        """Round estimates to bits, and compare with the truth if there is one."""
        bits = (estimates > 0.5).astype(np.int8)
        right = None if self.truth is None else bits.astype(np.bool_) == self.truth
        return Reconstruction(decoder, queries, estimates, bits, right, expected, floor, self.ceiling, seconds)

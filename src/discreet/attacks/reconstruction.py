"""Reconstruction by least squares: a whole secret column from counts that are each about half of the people."""

from __future__ import annotations

import time
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.attacks.ceiling import Flip, ceiling
from discreet.attacks.targets import Ask
from discreet.attacks.weighing import Bits, Floats, Weighing, secret_bits
from discreet.display import definition_list
from discreet.display.plots import BLUE, INK, ORANGE, SOFT, Plot, axes
from discreet.laws.enclosure import Enclosure
from discreet.laws.number import Number
from discreet.privacy import PrivacyLoss

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_BARS = 60
_HALF = Fraction(1, 2)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Reconstruction:
    """What an attack made of the answers it got.

    `bits` are its guesses and `estimates` the numbers they were rounded from. `right` says who was guessed right, if
    the owner of the table gave the truth to compare with; an attacker has none. `ceiling` bounds the share that any
    attacker can expect, if the price of the answers was given.
    """

    design: Weighing
    estimates: Floats
    bits: Bits
    right: NDArray[np.bool_] | None
    ceiling: Enclosure | None
    seconds: float

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        for array in (self.estimates, self.bits, self.right):
            if array is not None:
                array.flags.writeable = False

    @property
    def people(self) -> int:
        """How many bits were guessed."""
        return self.design.people

    @property
    def queries(self) -> int:
        """How many queries were asked."""
        return self.design.queries

    @property
    def fraction(self) -> float | None:
        """The share of bits guessed right, if the truth was given."""
        return None if self.right is None else float(self.right.mean())

    def __repr__(self) -> str:
        """Say the same in one line, and nobody's bit."""
        return f"<Reconstruction: {'; '.join(f'{name} {text}' for name, text in self._rows())}>"

    def _repr_html_(self) -> str:
        """Show the result in a notebook."""
        return definition_list(self._rows())

    def _rows(self) -> list[tuple[str, str]]:
        """Return what people want to read, in order; the ceiling is rounded up."""
        rows = [("people", f"{self.people:,}"), ("queries", f"{self.queries:,}")]
        if self.fraction is not None:
            rows.append(("recovered", f"{100 * self.fraction:.1f} %"))
        if self.ceiling is not None:
            rows.append(("ceiling", f"{-(-self.ceiling.upper * 1000 // 1) / 10:.1f} %"))
        return [*rows, ("seconds", f"{self.seconds:.2f}")]

    def plot(self) -> Plot:
        """Draw how many people have which estimate, by their true bit if it was given; needs the extra `plot`."""
        drawn = axes(
            title="Least-squares estimates of the secret bits",
            x_label="estimate; above 1/2 the guess is 1",
            y_label="people",
        )
        low, high = min(float(self.estimates.min()), 0.0), max(float(self.estimates.max()), 1.0)
        edges = np.linspace(low - 0.05, high + 0.05, _BARS + 1)
        groups = [(self.estimates, SOFT, "estimates", "")]
        if self.right is not None:
            truth = self.bits.astype(np.bool_) == self.right
            groups = [
                (self.estimates[~truth], BLUE, "the bit is 0", ""),
                (self.estimates[truth], ORANGE, "the bit is 1", "//"),
            ]
        for values, colour, name, hatch in groups:
            drawn.hist(
                values, bins=edges.tolist(), color=colour, alpha=0.6, label=name, hatch=hatch, edgecolor="white",
                linewidth=0,
            )  # fmt: skip
        drawn.axvline(0.5, color=INK, linewidth=1.4, linestyle="--")
        figure = cast("Figure", drawn.figure)
        figure.legend(loc="outside lower center", ncols=2, frameon=False, labelcolor=INK)
        return Plot(figure)


def least_squares(
    ask: Ask,
    people: int,
    *,
    queries: int,
    truth: ArrayLike | None = None,
    loss: PrivacyLoss | None = None,
    share: Number = _HALF,
) -> Reconstruction:
    """Ask the counts of a `Weighing` through one function, solve them by least squares and round to bits.

    `ask` is all that the attack sees of its target (`exact_answers`, `noisy_answers`, `sql_answers`, or your own). The
    owner of the table may give `truth`, to learn the share that was guessed right, and `loss`, the price of all answers
    together, to learn the `ceiling` for bits that are 1 with the chance `share`; the attack uses neither.

    Privacy. Answers of a price `loss` allow no attacker, this one included, a larger expected share than `ceiling`.
        Proof: every question counts rows with the bit 1, one row a person, and a person is in one block. So a flip adds
        or removes one counted row of one block: `Flip.ONE_ROW` of `ceiling`. (A person can count in N/2 of the N - 1
        questions only; the price of those alone gives a lower ceiling, that of all is what a ledger charges.)
    Accuracy. Exact answers give back every bit. Answers rounded to multiples of r err by at most r/2, so that at most 4
        r^2 people of a block are wrong, and answers with independent noise give `expected_fraction`.
        Proof: the theorem of `Weighing`, with E = 0 and with E = r/2.
    Cost. As many queries as stated, and a transform of milliseconds.
    Reference. Dinur, Nissim 2003; Dwork, McSherry, Talwar 2007; Dwork, Yekhanin 2008.

    >>> from discreet.attacks import exact_answers
    >>> secret = np.arange(5040) % 7 < 3
    >>> least_squares(exact_answers(secret), 5040, queries=63, truth=secret).fraction
    1.0
    """
    started = time.perf_counter()
    design = Weighing(people=people, queries=queries)
    known = None if truth is None else secret_bits(truth, design.people)
    highest = None if loss is None else ceiling(loss, flip=Flip.ONE_ROW, share=share)
    estimates = design.estimate(ask(design.questions))
    bits = (estimates > 0.5).astype(np.int8)
    right = None if known is None else bits.astype(np.bool_) == known
    return Reconstruction(design, estimates, bits, right, highest, time.perf_counter() - started)

"""What a test of membership found: who was called a member, the ROC curve, and theory beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.asking import Floats, in_lines
from discreet.display import definition_list
from discreet.display.plots import BLUE, INK, ORANGE, SOFT, Plot, axes
from discreet.errors import ParameterError
from discreet.laws import Enclosure
from discreet.privacy.numbers import probability

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_NORMAL = NormalDist()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Membership:
    """The scores of candidates and of reference people (sorted), and what follows from them.

    `truth` says who is a member, if the owner gave it. `separation` is what theory expects between members and
    outsiders, in standard deviations; `area_ceiling` bounds the expected area under the ROC curve of every test, if the
    release had a price.
    """

    statistic: str
    people: int
    positions: int
    level: float
    scores: Floats
    references: Floats
    truth: NDArray[np.bool_] | None
    separation: float
    area_ceiling: Enclosure | None

    def __post_init__(self) -> None:
        """Make the arrays read-only."""
        for array in (self.scores, self.references, self.truth):
            if array is not None:
                array.flags.writeable = False

    @property
    def p_values(self) -> Floats:
        """For every candidate, the rank among the reference people: at most x with a chance of at most x outside."""
        above = len(self.references) - np.searchsorted(self.references, self.scores, side="left")
        return np.asarray((1 + above) / (len(self.references) + 1))

    @property
    def called(self) -> NDArray[np.bool_]:
        """Who is called a member."""
        return np.asarray(self.p_values <= self.level)

    @property
    def true_rate(self) -> float | None:
        """The share of members that were called members, if the truth was given and there are any."""
        return self._share(member=True)

    @property
    def false_rate(self) -> float | None:
        """The share of outsiders that were called members, if the truth was given and there are any."""
        return self._share(member=False)

    def _share(self, *, member: bool) -> float | None:
        """Return the share called members in one of the two groups."""
        if self.truth is None or not (self.truth == member).any():
            return None
        return float(self.called[self.truth == member].mean())

    @property
    def expected_rate(self) -> float:
        """The share of members that theory expects to be called members."""
        return self.expected_at(self.level)

    def expected_at(self, false_rate: float) -> float:
        """Return the share of members that theory expects to be found at a rate of false alarms."""
        if probability(false_rate, name="false_rate") in {0, 1}:
            return float(false_rate)
        return _NORMAL.cdf(self.separation + _NORMAL.inv_cdf(false_rate))

    @property
    def area(self) -> float | None:
        """The area under the ROC curve: how often a member looks more like one than an outsider does, ties half."""
        members = self._members()
        if members is None:
            return None
        return float(_below(self.references, members).mean())

    @property
    def area_error(self) -> float | None:
        """The standard error of the area for so many members and reference people, by DeLong's estimate."""
        members = self._members()
        if members is None or min(len(members), len(self.references)) < 2:
            return None
        ours, theirs = _below(self.references, members), _below(np.sort(members), self.references)
        return float(math.sqrt(ours.var(ddof=1) / len(ours) + theirs.var(ddof=1) / len(theirs)))

    @property
    def expected_area(self) -> float:
        """The area that theory expects of this test."""
        return _NORMAL.cdf(self.separation / math.sqrt(2))

    def curve(self) -> tuple[Floats, Floats]:
        """Return the ROC curve: false rates among reference people, and the share of members at each."""
        members = self._members()
        if members is None:
            raise ParameterError("a ROC curve needs members= for some candidates", parameter="members")
        count = len(self.references)
        levels = np.append(self.references[::-1], -np.inf)
        found = 1 - np.searchsorted(np.sort(members), levels, side="right") / len(members)
        return np.arange(count + 1) / count, np.asarray(found)

    def _members(self) -> Floats | None:
        """Return the scores of members, if known."""
        return None if self.truth is None or not self.truth.any() else self.scores[self.truth]

    def __repr__(self) -> str:
        """Say the same in one line, and about nobody."""
        return f"<Membership: {'; '.join(f'{name} {text}' for name, text in self._rows())}>"

    def __str__(self) -> str:
        """Say it in lines."""
        return in_lines(self._rows())

    def _repr_html_(self) -> str:
        """Show the result in a notebook."""
        return definition_list(self._rows())

    def _rows(self) -> list[tuple[str, str]]:
        """Return what people want to read, in order; the ceiling is rounded up."""
        rows = [("statistic", self.statistic), ("frequencies", f"{self.positions:,} of {self.people:,} people")]
        rows.append(("false alarms allowed", f"{100 * self.level:.3g} %"))
        if self.true_rate is not None:
            rows.append(("members found", f"{100 * self.true_rate:.1f} %"))
        rows.append(("expected", f"{100 * self.expected_rate:.1f} %"))
        if self.false_rate is not None:
            rows.append(("outsiders accused", f"{100 * self.false_rate:.1f} %"))
        if self.area is not None:
            rows.append(("area under the ROC curve", f"{self.area:.3f}"))
        rows.append(("expected area", f"{self.expected_area:.3f}"))
        if self.area_ceiling is not None:
            rows.append(("ceiling of the area", f"{-(-self.area_ceiling.upper * 1000 // 1) / 1000:.3f}"))
        return rows

    def plot(self) -> Plot:
        """Draw the ROC curve beside theory and a coin; needs the extra `plot`."""
        drawn = axes(
            title=f"Membership from {self.positions:,} frequencies of {self.people:,} people",
            x_label="outsiders accused",
            y_label="members found",
        )
        places = np.linspace(0.001, 0.999, 400)
        theory = [self.expected_at(float(place)) for place in places]
        drawn.plot([0, 1], [0, 1], color=SOFT, linewidth=1.2, linestyle=":", label="a coin")
        drawn.plot(places, theory, color=INK, linewidth=1.4, linestyle="--", label="theory", zorder=4)
        if self._members() is not None:
            found = (np.append(0.0, rates) for rates in self.curve())
            drawn.plot(*found, color=BLUE, linewidth=2.0, label="measured")
        drawn.axvline(self.level, color=ORANGE, linewidth=1.0, label="false alarms allowed")
        ticks, names = [0, 0.25, 0.5, 0.75, 1.0], ["0", "25 %", "50 %", "75 %", "100 %"]
        drawn.set_xticks(ticks, names)
        drawn.set_yticks(ticks, names)
        figure = cast("Figure", drawn.figure)
        figure.legend(loc="outside lower center", ncols=4, frameon=False, labelcolor=INK)
        return Plot(figure)


def _below(ordered: Floats, scores: Floats) -> Floats:
    """Return, for every score, the share of the ordered ones that lie below it, ties half."""
    places = np.searchsorted(ordered, scores, side="left") + np.searchsorted(ordered, scores, side="right")
    return np.asarray(places / (2 * len(ordered)))

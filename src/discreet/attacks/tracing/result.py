"""What a test of membership found: who was called a member, the ROC curve, and theory beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.asking import Floats
from discreet.attacks.results import QUARTERS, explained, read_only
from discreet.display.plots import BLUE, INK, ORANGE, SOFT, Plot, axes
from discreet.display.result import Row, percent, told_in_rows
from discreet.errors import ParameterError
from discreet.laws import Enclosure
from discreet.privacy.numbers import probability

_NORMAL = NormalDist()


@told_in_rows
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
        read_only(self.scores, self.references, self.truth)

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

    def _rows(self) -> list[Row]:
        """Return what people want to read, in order; the ceiling is rounded up."""
        top = None if self.area_ceiling is None else -(-self.area_ceiling.upper * 1000 // 1) / 1000
        return [
            ("statistic", self.statistic),
            ("frequencies", f"{self.positions:,} of {self.people:,} people"),
            ("false alarms allowed", f"{100 * self.level:.3g} %"),
            ("members found", percent(self.true_rate)),
            ("expected", percent(self.expected_rate)),
            ("outsiders accused", percent(self.false_rate)),
            ("area under the ROC curve", None if self.area is None else f"{self.area:.3f}"),
            ("expected area", f"{self.expected_area:.3f}"),
            ("ceiling of the area", None if top is None else f"{top:.3f}"),
        ]

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
        drawn.set_xticks(*QUARTERS)
        drawn.set_yticks(*QUARTERS)
        return explained(drawn, columns=4)


def _below(ordered: Floats, scores: Floats) -> Floats:
    """Return, for every score, the share of the ordered ones that lie below it, ties half."""
    places = np.searchsorted(ordered, scores, side="left") + np.searchsorted(ordered, scores, side="right")
    return np.asarray(places / (2 * len(ordered)))

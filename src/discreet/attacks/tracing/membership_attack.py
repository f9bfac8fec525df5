"""Membership from aggregates: is this genome one of those behind the published frequencies? With its ROC curve."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.attacks.asking import Floats
from discreet.attacks.results import QUARTERS, read_only
from discreet.attacks.tracing.publishing import exactly
from discreet.data import Panel
from discreet.display.plots import BLUE, INK, ORANGE, SOFT, Plot, axes, explained
from discreet.display.result import Row, percent, told_by_name, told_in_rows
from discreet.errors import InputError, ParameterError
from discreet.laws import Enclosure
from discreet.laws.number import Number, positive_rational
from discreet.privacy.numbers import bounds, nonnegative, number, positive, probability, whole

_FARTHEST = 10.5  # from the middle: frequencies with noise may leave [0, 1], counts of people leave it by far
_NORMAL = NormalDist()


@told_by_name
class TracingStatistic(Enum):
    """How a candidate is compared with what was published.

    `INNER_PRODUCT`: the sum over positions of (y - p)(m - p)/(p(1 - p)), for a candidate's bits y, published
    frequencies m and population frequencies p. `LIKELIHOOD_RATIO`: the logarithm of the chance of y where m are the
    frequencies, over its chance where p are. Frequencies with errors of the variance v are first drawn towards p, to p
    + (m - p) s/(s + v) with s = p(1 - p)/n: the best guess of the exact ones.
    """

    INNER_PRODUCT = "inner product"
    LIKELIHOOD_RATIO = "likelihood ratio"


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
        """The frequency of members that were called members, if the truth was given and there are any."""
        return self._share(member=True)

    @property
    def false_rate(self) -> float | None:
        """The frequency of outsiders that were called members, if the truth was given and there are any."""
        return self._share(member=False)

    def _share(self, *, member: bool) -> float | None:
        """Return the share called members in one of the two groups."""
        if self.truth is None or not (self.truth == member).any():
            return None
        return float(self.called[self.truth == member].mean())

    @property
    def expected_rate(self) -> float:
        """The frequency of members that theory expects to be called members."""
        return self.expected_at(self.level)

    def expected_at(self, false_rate: float) -> float:
        """Return the frequency of members that theory expects to be found at a rate of false alarms."""
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
        """The standard error of the area for this number of members and reference people, by DeLong's estimate."""
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
        """Return the ROC curve: false rates among reference people, and the frequency of members at each."""
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
        return explained(drawn, ncols=4)


def membership(  # noqa: PLR0913  one call, all by keyword: the question, what is known of the noise, what the owner knows
    published: ArrayLike,
    frequencies: ArrayLike,
    candidates: Panel | ArrayLike,
    *,
    reference: Panel | ArrayLike,
    people: int,
    level: Number = 0.01,
    statistic: TracingStatistic = TracingStatistic.INNER_PRODUCT,
    deviation: Number = 0,
    members: ArrayLike | None = None,
    mu: float | None = None,
) -> Membership:
    """Decide for every candidate whether they are among the `people` whose frequencies were published.

    The attacker knows the population's `frequencies`, the group's size, `reference` people who are not in the group and
    not among the candidates (both are a `Panel`, or a table of bits with a row a person), and how noisy the published
    numbers are (`deviation`, 0 for exact ones; of rounding, `Rounded.deviation`). A candidate is called a member if the
    rank among the reference people, 1 for a score above all of theirs, is at most `level` times one more than their
    number. The owner may give `members`, true for candidates in the group, and `mu` if the release is mu-Gaussian-DP
    for a replaced member; the attack uses neither.

    Privacy. If the release is mu-GDP for the replacement of one member by another person, every test of membership has
        an expected area under its ROC curve of at most Phi(mu/sqrt 2), and at a false-alarm rate alpha finds at most
        Phi(mu - z) of the members, z being the upper alpha quantile of the normal law: `area_ceiling`.
        Proof: give the attacker the candidate, all other members and the person who would take the candidate's place.
        The group with the candidate and the group with the other person are neighbors, so by definition of mu-GDP any
        rule with the false-alarm rate alpha has a rate of true alarms of at most Phi(mu - z): the ROC curve of N(0, 1)
        against N(mu, 1). It is concave, so the bound holds for the mean over people too. A family of thresholds, which
        may depend on what was published as ranks among reference people do, has the area integral of the true rate over
        the false rate, at most the area below that curve, which is the chance that a N(mu, 1) exceeds an independent
        N(0, 1): their difference is N(mu, 2), so Phi(mu/sqrt 2).
    Accuracy. An outsider is called a member with a chance of at most `level`, whatever was published. Where d
        frequencies of n people are published with independent errors of the variance v, the inner product tells a
        member by a separation of sqrt(S/n) standard deviations, S being the sum over positions of s/(s + v) with s =
        p(1 - p)/n: sqrt(d/n) for exact ones. For large d and n, S/n and the reference people being given, a member is
        found with the chance Phi(sqrt(S/n) - z) and the area under the ROC curve is Phi(sqrt(S/(2n))).
        Proof: given what was published, an outsider and the reference people are independent draws of one law, so the
        rank of the outsider's score among theirs is uniform (ties only make it larger; equal bits have equal scores,
        because `Panel.weighed` rounds no sum). For the second, let u = (y -
        p)/sqrt(p(1 - p)), with mean 0 and variance 1, and write m - p = (sum over members of their y - p)/n + error.
        Position j adds (y - p)(m - p)/(s + v). For an outsider the two factors are independent: mean 0, variance p(1 -
        p)(s + v)/(s + v)^2 = n s/(s + v), in all n S. A member's own part of m adds p(1 - p) u^2/(n (s + v)), of mean
        s/(s + v), in all S; the variance changes by terms of relative order 1/n only: at v = 0 it is n d (1 - 1/n) +
        sum of (1 - 4p(1 - p))/(p(1 - p)). So the means are S/sqrt(n S) = sqrt(S/n) deviations apart, both scores are
        sums of independent bounded terms, and the central limit theorem gives the chances.
    Cost. One pass over the bits of candidates and reference people.
    Figure. membership.svg
    Reference. Homer et al. 2008; Sankararaman, Obozinski, Jordan, Halperin 2009; Dwork, Smith, Steinke, Ullman, Vadhan
        2015; for the ceiling Dong, Roth, Su 2022.

    >>> from discreet.data import genomes
    >>> people = genomes(people=100, positions=5000, seed=1)
    >>> found = membership(
    ...     people.cases.frequencies,
    ...     people.frequencies,
    ...     people.cases,
    ...     reference=people.reference,
    ...     people=100,
    ... )
    >>> bool(found.called.mean() > 0.99), round(found.separation, 2)
    (True, 7.07)
    """
    size, rate = whole(people, name="people"), float(probability(level, name="level"))
    tested, others = _panel(candidates), _panel(reference)
    shown, known = _frequencies(published, tested, others), _frequencies(frequencies, tested, others)
    if not ((known > 0) & (known < 1)).all():
        raise InputError("population frequencies must lie strictly between 0 and 1")
    if not isinstance(statistic, TracingStatistic):
        raise ParameterError(
            "statistic must be TracingStatistic.INNER_PRODUCT or .LIKELIHOOD_RATIO", parameter="statistic"
        )
    noise = np.float64(nonnegative(deviation, name="deviation"))
    if np.abs(shown - 0.5).max() > _FARTHEST + 100 * noise:
        raise InputError(
            "published must be frequencies, and these lie far outside [0, 1]: divide counts by people, or state the "
            "deviation= of very noisy ones"
        )
    with np.errstate(all="ignore"):  # what overflows is refused below
        spread = known * (1 - known) / size
        trusted = spread / (spread + noise**2)
        weights, constant = _weights(statistic, known + trusted * (shown - known), known, size)
        sizes = np.abs(weights).sum() + abs(constant)
    if not np.isfinite(sizes):
        raise InputError("these frequencies are too extreme to be weighed")
    return Membership(
        statistic=statistic.value,
        people=size,
        positions=tested.positions,
        level=rate,
        scores=tested.weighed(weights) + constant,
        references=np.sort(others.weighed(weights) + constant),
        truth=_truth(members, len(tested)),
        separation=math.sqrt(float(trusted.sum()) / size),
        area_ceiling=None if mu is None else area_ceiling(mu),
    )


def area_ceiling(mu: Number) -> Enclosure:
    """Enclose the largest area under the ROC curve of any membership test on a mu-GDP release: Phi(mu/sqrt 2).

    >>> round(area_ceiling(0.268).upper, 4)
    0.5752
    """
    exact = positive_rational(positive(mu, name="mu"), name="mu")
    low, high = bounds(lambda: (1 + (number(exact) / 2).erf()) / 2)
    return Enclosure(low, low + (high - low) / 2, high, "area under the ROC curve of N(0, 1) against N(mu, 1)")


def _weights(statistic: TracingStatistic, guessed: Floats, known: Floats, people: int) -> tuple[Floats, float]:
    """Return a weight a position and a constant, whose sum over a candidate's variants is the score."""
    if statistic is TracingStatistic.INNER_PRODUCT:
        weights = (guessed - known) / (known * (1 - known))
        return weights, -float(weights @ known)
    # a frequency of 0 or 1 would make one position decide everything; nobody knows it that well
    inside = np.clip(guessed, 0.5 / people, 1 - 0.5 / people)
    without = np.log1p(-inside) - np.log1p(-known)
    return np.log(inside) - np.log(known) - without, float(without.sum())


def _panel(given: Panel | ArrayLike) -> Panel:
    """Return people as packed bits; a table of zeros and ones is packed, a row a person."""
    found = given if isinstance(given, Panel) else Panel.of(given)
    if len(found) == 0:
        raise InputError("there must be at least one candidate and one reference person")
    return found


def _frequencies(given: ArrayLike, candidates: Panel, reference: Panel) -> Floats:
    """Return one number a position."""
    found = exactly(given)
    if candidates.positions != reference.positions or found.shape != (candidates.positions,):
        raise InputError("frequencies, candidates and reference people must have the same positions")
    if not np.isfinite(found).all():
        raise InputError("frequencies must be finite numbers")
    return found


def _truth(members: Any, candidates: int) -> NDArray[np.bool_] | None:
    """Return who is a member, if that was given."""
    if members is None:
        return None
    found = np.array(members)
    if found.shape != (candidates,) or found.dtype != np.bool_:
        raise InputError("members must be one Boolean a candidate")
    return found


def _below(ordered: Floats, scores: Floats) -> Floats:
    """Return, for every score, the share of the ordered ones that lie below it, ties half."""
    places = np.searchsorted(ordered, scores, side="left") + np.searchsorted(ordered, scores, side="right")
    return np.asarray(places / (2 * len(ordered)))

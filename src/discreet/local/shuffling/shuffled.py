"""Shuffling: what local reports guarantee to those who see them only mixed with everybody else's.

For the accountant upper bounds on delta at some levels become a pair of laws that is nowhere better: exact, in
rationals.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from discreet.display import LastDigit, definition_list, format_number
from discreet.errors import MissingParameter, NoSoundConversion, ParameterError
from discreet.laws import Finite, FinitePair
from discreet.laws.number import Number, round_down, round_up
from discreet.local.frequency import FrequencyOracle
from discreet.local.protocol import Spec, checked_spec, number_of_people
from discreet.local.shuffling.blankets import Blanket, TwoLevels, clones, distances
from discreet.privacy import ApproxDP, PrivacyLoss, Relation
from discreet.privacy.numbers import downward, nonnegative, number, positive_price, upward, written_up
from discreet.randomness.rigor import Ball

_SMALLEST_DELTA = 1e-100
_MOST_RANGES = 100
_SMALLEST_STEP = 2.0**-30
_CONDITIONS = (
    "neighbors: one person's value is changed; everybody still sends one report",
    "people: the honest reports that are really shuffled together; whoever colludes, or never reports, does not count",
    "the collector sees the reports alone: no names, addresses, times, sizes or order that could link them to people",
    "all under this one spec, one report each; a second round is another release and is composed",
    "to whoever sees the reports before the shuffler, the guarantee is that of one report",
)


class Shuffled:
    """The guarantee of n shuffled reports to those who see only the shuffled ones.

    Privacy. The shuffled reports are (epsilon, delta)-DP for changing one person's value, with `epsilon` computed from
        the protocol's own probabilities where they have two levels, and from its local epsilon alone otherwise.
        Proof: see `Blanket` for the bound of one blanket, `TwoLevels` and `clones` for the blankets that hold. Of
        several blankets that hold for two values the least delta holds; over the distances that two values can have,
        the largest. Shuffling is a post-processing of the reports, so the local epsilon is never exceeded.
    Cost. A tenth of a second, for 10^9 people too; a second or two for keys that can have many distances. Where more
        than a hundred ranges of distances would have to be checked (few people, a large epsilon) the local epsilon
        alone is used.
    Figure. shuffling.svg
    Reference. Cheu, Smith, Ullman, Zeber, Zhilyaev 2019; Erlingsson et al. 2019; Balle, Bell, Gascon, Nissim 2019;
        Feldman, McMillan, Talwar 2021, 2023.

    >>> from discreet.local.frequency.direct_response import DirectResponse
    >>> shuffled = Shuffled(
    ...     DirectResponse(epsilon=4, categories=16), people=1_000_000, delta=1e-6
    ... )
    >>> [
    ...     round(float(one.epsilon), 3)
    ...     for one in (shuffled.guarantee, shuffled.generic, shuffled.closed_form)
    ... ]
    [0.03, 0.049, 0.201]
    """

    def __init__(self, spec: Spec, *, people: int | None = None, delta: Number | None = None) -> None:
        if people is None:
            raise MissingParameter(
                "people= is the number of honest reports shuffled together, never guessed", parameter="people"
            )
        if delta is None:
            raise MissingParameter("delta= belongs to the guarantee and is never defaulted", parameter="delta")
        self.spec, self.people = checked_spec(spec), number_of_people(people)
        self.delta = positive_price(delta, name="delta")
        if not _SMALLEST_DELTA <= self.delta < 1:
            raise ParameterError("delta must be between 1e-100 and 1", parameter="delta")
        self._target = round_down(self.delta)
        self._given = delta

    @property
    def epsilon(self) -> float:
        """The epsilon of the shuffled reports at this delta, rounded up."""
        return self._bound[0]

    @property
    def guarantee(self) -> ApproxDP:
        """What is guaranteed to everybody whose report was shuffled."""
        return self._guarantee(self.epsilon)

    @property
    def generic(self) -> ApproxDP:
        """The same from the local epsilon alone, which holds for every protocol."""
        return self._guarantee(self._generic_epsilon)

    @cached_property
    def closed_form(self) -> ApproxDP:
        """The formula of Feldman, McMillan and Talwar, for comparison; NoSoundConversion where its condition fails.

        Privacy. ln(1 + (E - 1)/(E + 1) (8 sqrt(E ln(4/delta)/n) + 8 E/n)) with E = e^epsilon0, if epsilon0 <=
            ln(n/(16 ln(2/delta))).
            Proof: Theorem 3.1 of the reference; our own bound does not rest on it.
        Reference. Feldman, McMillan, Talwar 2021.
        """
        local, people, delta = self.spec.epsilon, self.people, self.delta

        def largest() -> Ball:
            return (number(people) / (16 * (2 / number(delta)).log())).log()

        if not local <= downward(largest):
            raise NoSoundConversion(
                "the closed form needs epsilon <= ln(people / (16 ln(2 / delta))); use the numeric bound, `guarantee`"
            )

        def formula() -> Ball:
            growth = number(local).exp()
            spread = 8 * (growth * (4 / number(delta)).log() / people).sqrt() + 8 * growth / people
            return ((growth - 1) / (growth + 1) * spread).log1p()

        return self._guarantee(upward(formula))

    def delta_at(self, epsilon: Number) -> float:
        """Return an upper bound on delta at another epsilon; useful down to about 1e-10 of the stated delta."""
        exact = Fraction(nonnegative(epsilon, name="epsilon"))
        if exact >= self.spec.epsilon:
            return 0.0
        level = round_down(exact)
        own = max(min(one.delta(level) for one in choices) for choices in self._bound[1])
        return min(own, self._clones.delta(level))

    @cached_property
    def loss(self) -> PrivacyLoss:
        """The whole curve for the accountant: a pair of laws that dominates the shuffled reports."""
        local = float(self.spec.epsilon)
        fine = self.epsilon / 64 or local * _SMALLEST_STEP  # epsilon is 0 if delta covers all there is to see
        levels = [fine * step for step in range(1, 129) if fine * step < local]
        while levels and levels[-1] * 1.25 < local:
            levels.append(levels[-1] * 1.25)
        dots = [(level, self.delta_at(level)) for level in (0.0, *levels)]
        pair = pair_below(dots, self.spec.exact_epsilon)
        return PrivacyLoss.from_pairs(
            [pair], relation=Relation.CHANGE_ONE, guarantee=self.spec.guarantee, attained=False
        )

    def explain(self) -> str:
        """Say the guarantee, how it compares, and everything it rests on."""
        guarantees = [f"{name}: {text}" for name, text in self._summary()]
        return "\n".join([*guarantees, "It holds if:", *(f"- {line}" for line in _CONDITIONS)])

    def _guarantee(self, epsilon: float) -> ApproxDP:
        return ApproxDP(written_up(Fraction(epsilon)), self._given, relation=Relation.CHANGE_ONE)

    @cached_property
    def _clones(self) -> Blanket:
        return clones(self.spec.exact_epsilon, self.people, self._target)

    @cached_property
    def _generic_epsilon(self) -> float:
        return self._clones.epsilon(self._target, most=round_up(self.spec.exact_epsilon))

    @cached_property
    def _bound(self) -> tuple[float, list[list[Blanket]]]:
        """Return epsilon, and for each range of distances the blankets that hold for it."""
        most = self._generic_epsilon
        if not isinstance(self.spec, FrequencyOracle):
            return most, [[self._clones]]
        levels = TwoLevels.of(self.spec, self.people, self._target)
        found = _over_distances(levels, distances(self.spec), self._target, most)
        return found or (most, [[self._clones]])

    def _summary(self) -> list[tuple[str, str]]:
        local = _shown(round_up(self.spec.exact_epsilon))
        try:
            closed = f"epsilon {_shown(float(self.closed_form.epsilon))}"
        except NoSoundConversion:
            closed = "does not apply"
        return [
            ("guarantee", self.guarantee.in_words()),
            ("of one report", f"epsilon {local}"),
            ("people", f"{self.people:,}"),
            ("from the local epsilon alone", f"epsilon {_shown(self._generic_epsilon)}"),
            ("closed form", closed),
        ]

    def __repr__(self) -> str:
        return f"Shuffled({self.spec.protocol}, people={self.people}, {self.guarantee!r})"

    def __str__(self) -> str:
        return self.explain()

    def _repr_html_(self) -> str:
        """Return the guarantee and its conditions as a list for a notebook."""
        return definition_list([*self._summary(), ("it holds if", "; ".join(_CONDITIONS))])


def _shown(epsilon: float) -> str:
    return format_number(epsilon, rounding=LastDigit.UP)


def _least(blankets: Sequence[Blanket], target: float, least: float, most: float) -> float:
    """Return the least epsilon that one of several blankets gives, between two ends."""
    for blanket in blankets:
        if blanket.delta(most) <= target:
            most = blanket.epsilon(target, least=least, most=most)
    return most


def _over_distances(
    levels: TwoLevels, distances: Sequence[int], target: float, most: float
) -> tuple[float, list[list[Blanket]]] | None:
    """Check all distances (rising), in ranges that are halved until each is settled; None if there are too many.

    A range is settled when its one blanket meets delta; a single distance by its own epsilon, if that is larger.
    """
    largest = list(levels.exactly(distances[-1]))
    epsilon = _least(largest, target, 0.0, most)
    families, ranges = [largest], [(0, len(distances) - 1)]
    while ranges:
        start, end = ranges.pop()
        if start == end:
            continue
        if len(families) + len(ranges) >= _MOST_RANGES:
            return None
        if end - start == 1:
            families.append(list(levels.exactly(distances[start])))
            epsilon = _least(families[-1], target, epsilon, most)
            continue
        wide = levels.between(distances[start], distances[end - 1])
        if wide is not None and wide.delta(epsilon) <= target:
            families.append([wide])
        else:
            middle = (start + end) // 2
            ranges += [(start, middle), (middle, end)]
    return epsilon, families


def pair_below(dots: Sequence[tuple[float, float]], largest: Fraction) -> FinitePair:
    """Return a symmetric pair with delta at least that of every pair that keeps below the dots in both directions.

    `dots` are levels epsilon >= 0 with upper bounds on delta; beyond `largest` delta is 0.

    Privacy. The pair dominates every pair of laws whose delta is at most the dots' in both directions.
        Proof: write D(t) = delta(ln t) of one direction, a convex function that falls from D(0) = 1, and D' of the
        other. D(1/t) = 1 - 1/t + D'(t)/t, so a bound on both at t gives one at 1/t; and D(t) = 1 - t up to e^-largest.
        The largest convex function below the dots is at least D, because D is one, and at least D' likewise. It is a
        polygon that starts with slope -1 and ends at 0; at a corner t where the slope changes by s let Q have mass s
        and P mass s t. Both add up to 1, the loss at the corner is ln t, and the delta of this pair is the polygon.
        Levels are rounded so that a bound at ln t or below is used at t.
    """
    end = Fraction(_exponential(largest))
    points = {Fraction(0): Fraction(1), end: Fraction(0)}
    for level, bound in dots:
        place, height = Fraction(_exponential(level)), min(Fraction(bound), Fraction(1))
        if place < end:
            points[place] = min(points.get(place, Fraction(1)), height)
    for place, height in [*points.items()]:
        if place >= 1:
            points[1 / place] = 1 - 1 / place + height / place
    hull = _convex(sorted(points.items()))
    slopes = [(y1 - y0) / (x1 - x0) for (x0, y0), (x1, y1) in pairwise(hull)] + [Fraction(0)]
    corners = [
        (place, after - before) for (place, _), before, after in zip(hull[1:], slopes[:-1], slopes[1:], strict=True)
    ]
    names = range(len(corners))
    first = Finite(names, [place * change for place, change in corners])
    return first.pair(Finite(names, [change for _, change in corners]))


def _exponential(level: Number) -> float:
    """Return e^level, rounded up."""
    return upward(lambda: number(level).exp())


def _convex(points: Sequence[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """Return the corners of the largest convex function below the points."""
    hull: list[tuple[Fraction, Fraction]] = []
    for x, y in points:
        while len(hull) > 1:
            (x0, y0), (x1, y1) = hull[-2], hull[-1]
            if (y1 - y0) * (x - x0) < (y - y0) * (x1 - x0):
                break
            hull.pop()
        hull.append((x, y))
    return hull

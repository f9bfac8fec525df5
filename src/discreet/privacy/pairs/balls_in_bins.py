"""The pair of an epoch in which each person goes to one uniformly random step, with Gaussian noise at every step."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.laws import Enclosure, Pair
from discreet.laws.number import Number, exact_rational
from discreet.laws.pair import unit_floats
from discreet.privacy.numbers import bounds, nonnegative, number, whole
from discreet.privacy.pairs.derived import Side
from discreet.privacy.pairs.lognormal_sums import UNIT, SumLaw, sum_law
from discreet.privacy.pairs.tradeoff import tradeoff_from_deltas
from discreet.privacy.pairs.worst_pairs import NormalPair, enclosed

Floats = NDArray[np.float64]

_CELLS = 800  # for the noise that gives a ratio of 1: bounds 1e-3 apart in epsilon or nearer
_MANY_CELLS = 1400  # for ratios from 1.75 to 4; the bounds are then as near relative to epsilon
_FEWEST, _MOST = 16, 1 << 14
# outside these limits cells are narrower than floats, or numbers too large: the price is that of one step
_LEAST_SQUARE, _LARGEST, _MOST_STEPS = 1e-18, 16, 1 << 34
_CHUNK = 1 << 22
_METHOD = "law of the mean likelihood ratio between two laws with finitely many atoms, in convex order"


@dataclass(frozen=True, slots=True)
class BallsInBinsPair(Pair):
    """N(0, 1) noise on each of `steps` coordinates, one of them, uniformly chosen, moved by `mu`; against no move.

    On the side `REMOVE` P is the mixture and Q the noise alone, on `ADD` the other way round. `cells` is how finely
    the law of the loss is computed: more cells cost time and give narrower bounds, which hold for any number; by
    default so many that epsilon is known to a thousandth.

    Privacy. This pair dominates an epoch in which each person's data enters one step, chosen uniformly and
        independently of everything else, and every step releases a sum of L2 sensitivity mu times the noise, whatever
        is asked in view of earlier steps.
        Proof: fix the choices of all other people; by joint convexity of delta(epsilon) their average is no worse. Let
        t be the person's step. A release at another step is the same function of the past and fresh noise on both
        tables. At step t it is moved by a vector that the past determines, of norm at most mu; rotate it onto the first
        axis (`gaussian_loss`): given t and the past, it is a post-processing of a coordinate t moved by mu. So the
        transcript, for each t, is one and the same post-processing of T independent normal coordinates of which
        coordinate t is moved by mu; on the table without the person no coordinate is moved. Average over t.
        Under Q the likelihood ratio is R, the mean of T independent X = e^(mu Z - mu^2/2); delta is E (R - a)^+ where
        a person is removed, and E (1 - a R)^+ where one is added, with a = e^epsilon: both convex in R, so the laws of
        `lognormal_sums` bound both. The law from above is a pair itself, with P's mass `beyond` at infinity, so it may
        be composed; so is the law from below.
    Reference. Chua et al. 2025; Feldman, Shenfeld 2026 for random allocation in general.

    >>> BallsInBinsPair(1, 100, Side.REMOVE).epsilon(1e-6).upper
    0.858...
    """

    mu: Number
    steps: int
    side: Side
    cells: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "mu", nonnegative(self.mu, name="mu"))
        object.__setattr__(self, "steps", whole(self.steps, name="steps"))
        cells = _usual_cells(self.mu) if self.cells is None else self.cells
        object.__setattr__(self, "cells", whole(cells, name="cells"))
        if not _FEWEST <= cells <= _MOST:
            raise ParameterError(
                f"cells must be between {_FEWEST} and {_MOST}; got another number, write {_CELLS}, for example",
                parameter="cells",
            )

    def __hash__(self) -> int:
        return hash((self.mu.as_integer_ratio(), self.steps, self.side, self.cells))

    @property
    def unsampled(self) -> NormalPair:
        """The pair of somebody who is told the step: worse both ways, as leaving the step out is post-processing."""
        return NormalPair(self.mu)

    @property
    def is_followed(self) -> bool:
        """Whether the law of the loss is computed; ratios beyond the range of floats are priced by `unsampled`."""
        return 1 < self.steps <= _MOST_STEPS and self.mu <= _LARGEST and self.mu * self.mu >= _LEAST_SQUARE * self.steps

    def ratios(self, *, upper: bool) -> RatioLaw:
        """Return a law of R under Q, from above or from below."""
        return RatioLaw.of(sum_law(self.mu, self.steps, self.cells or _CELLS, upper=upper), self.steps)

    def delta(self, epsilon: float | Fraction) -> Enclosure:
        """Enclose E (R - a)^+ or E (1 - a R)^+, at a = e^epsilon."""
        whole_step = self.unsampled.delta(epsilon)
        if self.steps == 1 or (isinstance(epsilon, float) and math.isinf(epsilon)):
            return whole_step
        level = exact_rational(epsilon, name="epsilon")
        least = bounds(lambda: -number(min(level, Fraction(0))).expm1())[0]
        if not self.is_followed or abs(level) > 700:
            return enclosed((least, whole_step.upper), method=_METHOD)
        factors = bounds(lambda: number(level).exp())
        high = self.ratios(upper=True).delta(factors[0], self.side, upper=True)
        low = self.ratios(upper=False).delta(factors[1], self.side, upper=False)
        high = min(high, whole_step.upper)
        return enclosed((min(max(low, least), high), high), method=_METHOD)

    def max_loss(self) -> Enclosure:
        """Return infinity: every ratio is possible; 0 where nothing is moved."""
        return self.unsampled.max_loss()

    def tradeoff(self, alpha: float) -> Enclosure:
        """Enclose the best miss from delta at several levels, in both directions."""
        return tradeoff_from_deltas(self.delta, self.reversed().delta, alpha)

    def concentration(self) -> Fraction:
        """Leaving the step out is post-processing: what holds for somebody who is told the step holds."""
        return self.unsampled.concentration()

    def gaussian_square(self) -> Fraction:
        """mu^2, for the same reason."""
        return self.unsampled.gaussian_square()

    def draw_losses(self, count: int) -> Floats:
        """Draw all coordinates, in chunks, and compute the ratio."""
        from scipy.special import logsumexp, ndtri

        mu, total = float(self.mu), np.empty(count)
        rows = max(_CHUNK // self.steps, 1)
        for start in range(0, count, rows):
            size = min(rows, count - start)
            noise = ndtri(unit_floats(size * self.steps)).reshape(size, self.steps)
            if self.side is Side.REMOVE:
                noise[:, 0] += mu  # which coordinate is moved does not change the ratio's law
            total[start : start + size] = logsumexp(mu * noise - mu * mu / 2, axis=1) - math.log(self.steps)
        return total if self.side is Side.REMOVE else -total

    def reversed(self) -> BallsInBinsPair:
        """Exchange P and Q: the other direction."""
        return BallsInBinsPair(self.mu, self.steps, self.side.opposite, self.cells)


def _usual_cells(mu: Number) -> int:
    """Return how many cells it takes for bounds on epsilon that are near each other: 1e-3 for a mu of up to 3."""
    quarters = max(math.ceil(4 * min(mu, _LARGEST)), 4)
    return max(min(_CELLS * quarters // 4, _MANY_CELLS), _MANY_CELLS * quarters // 16)


@dataclass(frozen=True, slots=True, eq=False)
class RatioLaw:
    """A law of the likelihood ratio under Q, above or below the true one in convex order; see `SumLaw`."""

    ratio: Floats
    mass: Floats
    beyond: float
    doubt: float
    shift: float

    @classmethod
    def of(cls, law: SumLaw, steps: int) -> RatioLaw:
        """Divide by the number of steps."""
        return cls(law.place / steps, law.mass, law.beyond / steps * (1 + 4 * UNIT), law.doubt, law.shift + 2 * UNIT)

    @property
    def spacing(self) -> float:
        """How far apart the logarithms of the positive ratios are, of a law from above."""
        return math.log(self.ratio[-1] / self.ratio[1]) / (len(self.ratio) - 2)

    def delta(self, factor: float, side: Side, *, upper: bool) -> float:
        """Return E (R - a)^+ or E (1 - a R)^+, rounded up or down.

        Accuracy. All terms are at least 0. A ratio that is off by a factor e^s gives at most e^s times the payoff of
            the level e^-s a (remove), or at most the payoff of the level e^s a (add); masses are off by `doubt`.
        """
        away = math.expm1(2 * self.shift) + 16 * UNIT
        moved = factor * (1 - away if upper else 1 + away)
        payoff = self.ratio - moved if side is Side.REMOVE else 1 - moved * self.ratio
        total = float(np.dot(self.mass, np.maximum(payoff, 0.0)))
        error = self.doubt + 2 * away + 4 * len(self.mass) * UNIT
        if not upper:
            return max(total * (1 - 2 * error), 0.0)
        return total * (1 + 2 * error) + (self.beyond if side is Side.REMOVE else 0.0)

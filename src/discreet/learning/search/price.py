"""What a private search costs: the best of a random number of runs, priced from what one run costs.

Setting. One run draws (output, score) from a law Q, on the neighboring table from Q'. A search draws a secret number K,
whose law is public, makes K independent runs and returns the output and the score of the one whose score is largest,
the first of them where several are. With no run it returns a constant.

Lemma (law of the winner). Let w(p) = E K (1 - p)^(K - 1). The search returns y with chance Q(y) times the mean of w(p)
over p uniform between the chance of a larger score than that of y and the chance of a score as large or larger.
    Proof: give every run an independent uniform number that decides between equal scores, so that there are none. Given
    the scores, outputs are independent, each from its law given its score; so it does not matter by which rule one of
    several best runs is picked, as long as outputs have no part in it. The chance that the winner is y with uniform
    number in du is E K Q(y) du (1 - p)^(K - 1), where p is the chance that another run does better.

Theorem (curve). Let every event that has chance p on one table have at most chance T(p) on a neighbor. For a set of
pairs (r, k) let the sum of r (k - t)^+ be at least sup_p (w(p) - t w(T(p))) for all t >= 0. Then the search has
delta(e) <= sum of r k delta_Q(e - ln k) for all e >= 0, where delta_Q is the curve of one run.
    Proof: by the lemma, with (y, u) for the winner and its uniform number, the laws of the search have densities
    Q(y) w(p) and Q'(y) w(p'), where p and p' are chances of the same event, 'a run does better than (y, u)', so that
    p' <= T(p); and w falls. Hence delta(e) = E (Q w(p) - e^e Q' w(p'))^+ is at most the integral of Q (w(p) - t
    w(T(p)))^+ with t = e^e Q'/Q, that is, at most the sum of r times the integral of (k Q - e^e Q')^+, which is
    k delta_Q(e - ln k). Dropping u is post-processing. 'No run' has the same chance on both tables.

The theorem is never worse than a Renyi divergence of the search and its conversion: for every order l the positive part
is at most c_l (w(p) Q)^l (e^e w(p') Q')^(1 - l), from which the formulas of Papernot and Steinke follow by bounding
w(p)^l w(p')^(1 - l) by its supremum over p. Tests compare both.

Reference. Liu, Talwar 2019; Papernot, Steinke 2022; Koskela, Redberg, Wang 2024 (prices from curves).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.display import format_number
from discreet.errors import ConflictingParameters, MissingParameter, ParameterError
from discreet.laws.number import Number, round_up
from discreet.learning.exact import FitPrice, stated_relation
from discreet.learning.search.runs import RunsLaw
from discreet.privacy import (
    ZCDP,
    ApproxDP,
    GaussianDP,
    Guarantee,
    Price,
    PureDP,
    Relation,
    largest_mu,
)
from discreet.privacy.adaptive import root_down
from discreet.privacy.guarantees import epsilon_of
from discreet.privacy.numbers import (
    bounds,
    exactly,
    normal_upper_tail,
    number,
    positive_price,
    upward,
    written,
    written_up,
)
from discreet.randomness.rigor import Ball, lower_float, precision, upper_float

Floats = NDArray[np.float64]
_BITS = 72
_STEP = 2.0**-6  # of the standard scores at which w is looked at
_LOWEST_SCORE, _NEGLIGIBLE = -5.0, 1e-6
_BELOW, _ABOVE = 24, 64  # nodes of the chords, and how far below 1 they go
_REACH = 8.0
_PRECISION, _LEAST_MU, _LARGEST_MU = 1e-5, 1e-6, 1e6
_LARGEST_EPSILON = Fraction(10**13)  # more than the largest mu takes
_LEAST_DELTA = Fraction(1, 10**300)  # sums of floats that are rounded up come no nearer to 0
_WIDEST = 90.0  # e^-8 of it is still a float
_ROUNDING = 2.0**-49


@dataclass(frozen=True)
class SearchPrice:
    """What a search guarantees, what one run of it costs, and which part of that its score gets."""

    guarantee: PureDP | ApproxDP
    run: FitPrice
    share: Fraction
    law: RunsLaw

    @classmethod
    def read(
        cls,
        *,
        law: RunsLaw,
        epsilon: Number | None,
        delta: Number | None,
        base: Any,
        share: Number | None,
        relation: Any,
    ) -> SearchPrice:
        """Read a price: epsilon of the whole search, or `base`, that of one run; delta beside it unless it is pure."""
        stated_relation(relation)
        part = Fraction(0) if share is None else positive_price(share, name="share")
        if part >= 1:
            raise ParameterError("share must be below 1; got more, write share=0.1", parameter="share")
        if (epsilon is None) == (base is None):
            raise ConflictingParameters(
                "the price must be given once; write epsilon= (and delta=) of the whole search, or base= of one run",
                parameter="epsilon",
            )
        chance = None if delta is None else _chance(delta)
        if base is None:
            stated, run = _of_total(positive_price(epsilon, name="epsilon"), chance, law, relation)
        else:
            stated, run = _of_run(base, chance, law, relation)
        return cls(stated, FitPrice(run, relation), part, law)

    @property
    def relation(self) -> Relation:
        """Who is a neighbor."""
        return self.run.relation

    def fit_words(self) -> dict[str, Number]:
        """Return the price of the fit of one run, without its score, as a keyword."""
        if self.run.mu is None:
            return {"epsilon": (1 - self.share) * (self.run.stated.epsilon or 0)}
        return {"mu": written(root_down((1 - self.share) * self.run.mu**2))}

    def under(self, budget: Guarantee) -> Guarantee:
        """Return what a ledger with a budget is charged: the guarantee of the whole search.

        A budget in rho or mu is charged through it, with its delta, for which the budget must have room.
        """
        pure = isinstance(self.guarantee, PureDP)
        if isinstance(budget, ApproxDP) or (pure and isinstance(budget, PureDP | ZCDP | GaussianDP)):
            return self.guarantee
        if isinstance(budget, ZCDP | GaussianDP) and budget.delta:
            return self.guarantee
        raise ParameterError(
            "the budget must have a delta, because the price of a search has one; got a budget without, write pure "
            "runs (epsilon= alone), or let the curator state another budget. Nothing was spent.",
            parameter="ledger",
        )

    def told(self) -> str:
        """Say what one run costs, score included."""
        if self.run.mu is None:
            return f"epsilon {format_number(float(self.run.stated.epsilon or 0))}"
        alone = epsilon_of(self._alone(1), Fraction(getattr(self.guarantee, "delta", 0)))
        return f"mu {format_number(float(self.run.mu))}, alone epsilon {format_number(alone)} at the same delta"

    def composed(self) -> float:
        """Return the epsilon of the expected number of runs if all were told, at the delta of the search."""
        if self.run.mu is None:
            return float(self.run.stated.epsilon or 0) * self.law.mean
        return epsilon_of(self._alone(self.law.mean), Fraction(getattr(self.guarantee, "delta", 0)))

    def factor(self) -> float:
        """Return how many times the noise of one fit at the whole price the fit of a run has."""
        total = written(self.guarantee.epsilon)
        (left,) = self.fit_words().values()
        if isinstance(self.guarantee, ApproxDP):
            total = largest_mu(total, written(self.guarantee.delta))
        return float(total) / float(left)

    def _alone(self, runs: float) -> GaussianDP:
        return GaussianDP(float(self.run.mu or 0) * runs**0.5)


def _of_total(
    epsilon: Fraction, delta: Fraction | None, law: RunsLaw, relation: Relation
) -> tuple[PureDP | ApproxDP, Price]:
    """Return the guarantee of a search, and the price that it leaves for a run."""
    if delta is None:
        return PureDP(exactly(epsilon), relation=relation), Price(epsilon=largest_base_epsilon(epsilon, law))
    guarantee = ApproxDP(exactly(epsilon), exactly(delta), relation=relation)
    return guarantee, Price(mu=largest_base_mu(epsilon, delta, law))


def _of_run(base: Any, delta: Fraction | None, law: RunsLaw, relation: Relation) -> tuple[PureDP | ApproxDP, Price]:
    """Return the guarantee that a search with runs of a given price has, and that price."""
    if isinstance(base, PureDP) and written(base.epsilon) > 0:
        if delta is not None:
            raise ConflictingParameters(
                "delta= must be left out where runs are pure; got base=PureDP(...) and delta=", parameter="delta"
            )
        epsilon = written(base.epsilon)
        total = written_up(Fraction(pure_search_epsilon(epsilon, law)))
        return PureDP(total, relation=relation), Price(epsilon=epsilon)
    if delta is None:
        raise MissingParameter(
            "delta must be given: the price of a search over Gaussian runs depends on it; write delta=1e-6",
            parameter="delta",
        )
    if isinstance(base, GaussianDP) and not base.delta and written(base.mu) > 0:
        mu = written(base.mu)
    elif isinstance(base, ApproxDP) and base.delta:
        mu = largest_mu(written(base.epsilon), written(base.delta))
    else:
        raise ParameterError(
            "base must be the price of one run; got another, write GaussianDP(0.2), ApproxDP(1, 1e-6) or PureDP(1)",
            parameter="base",
        )
    if mu > _LARGEST_MU:
        raise ParameterError("base must be at most mu = 1e6; got more, write GaussianDP(0.2)", parameter="base")
    total = written_up(Fraction(search_epsilon(mu, law, delta)))
    return ApproxDP(total, exactly(delta), relation=relation), Price(mu=mu)


def _chance(delta: Number) -> Fraction:
    chance = positive_price(delta, name="delta")
    if not _LEAST_DELTA <= chance < 1:
        raise ParameterError(
            "delta must be a small probability, from 1e-300 on; got another, write 1e-6", parameter="delta"
        )
    return chance


def pure_search_epsilon(epsilon: Fraction, law: RunsLaw) -> float:
    """Return the epsilon of a search whose runs are epsilon-DP, rounded up: at most (2 + eta) epsilon.

    Privacy. epsilon + ln w(c) - ln w(1 - c), with c = 1 / (1 + e^epsilon).
        Proof: by the lemma the loss is at most epsilon + sup_p ln(w(p) / w(T(p))), with T(p) the smaller of e^epsilon p
        and 1 - e^-epsilon (1 - p), which are equal at p = c, where T(c) = 1 - c. Truncated negative binomial: the ratio
        is ((g + (1 - g) T(p)) / (g + (1 - g) p))^(1 + eta), which grows up to c and falls beyond, and is at most
        e^((1 + eta) epsilon). Poisson: its logarithm is m (T(p) - p), likewise; at c it is m tanh(epsilon / 2).
    """

    def formula() -> Ball:
        less = 1 / (1 + number(epsilon).exp())
        return number(epsilon) + law.winning(less).log() - law.winning(1 - less).log()

    return upward(formula)


def search_delta(mu: Fraction, law: RunsLaw, epsilon: float) -> float:
    """Return a delta at epsilon >= 0 of a search whose runs are mu-Gaussian-DP, rounded up.

    Privacy. By the theorem, with the sums that `_hinges` proves and delta_Q(x) = F(mu/2 - x/mu) - e^x F(-mu/2 - x/mu),
        which holds for negative x too.
    """
    total = Fraction(0)
    for weight, knot in _hinges(mu, law):
        total += Fraction(weight) * Fraction(_gaussian_delta(mu, epsilon, knot))
    return min(round_up(total), 1.0)


def search_epsilon(mu: Fraction, law: RunsLaw, delta: Fraction) -> float:
    """Return an epsilon of a search whose runs are mu-Gaussian-DP: nearly the least with `search_delta` <= delta.

    mu is at most 1e6, and delta at least 1e-300.
    """

    def enough(epsilon: float) -> bool:
        return Fraction(search_delta(mu, law, epsilon)) <= delta

    if enough(0.0):
        return 0.0
    high = float(mu)
    while not enough(high):
        high *= 2
    return _boundary(high / 2, high, enough)


@lru_cache(maxsize=64)
def largest_base_mu(epsilon: Fraction, delta: Fraction, law: RunsLaw) -> Fraction:
    """Return nearly the largest mu of one run with which the search is (epsilon, delta)-DP."""
    level = float(min(epsilon, _LARGEST_EPSILON)) * (1 - 2.0**-50)  # a float below epsilon

    def enough(mu: float) -> bool:
        return Fraction(search_delta(Fraction(mu), law, level)) <= delta

    high = min(float(largest_mu(epsilon, delta)), _LARGEST_MU)
    low = high / 2
    while not enough(low):
        low, high = low / 2, low
        if low < _LEAST_MU:
            raise ParameterError(
                "epsilon and delta must be large enough for this number of runs; got less, write more or runs=2",
                parameter="epsilon",
            )
    return Fraction(_boundary(high, low, enough))


def largest_base_epsilon(epsilon: Fraction, law: RunsLaw) -> Fraction:
    """Return nearly the largest epsilon of one pure run with which the search is epsilon-DP."""
    low, high = Fraction(0), epsilon
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if Fraction(pure_search_epsilon(middle, law)) <= epsilon else (low, middle)
    if low == 0:
        raise ParameterError("epsilon must be larger for this number of runs; write more", parameter="epsilon")
    return low


@lru_cache(maxsize=64)
def _hinges(mu: Fraction, law: RunsLaw) -> tuple[tuple[float, float], ...]:
    """Return pairs (r k, k) as in the theorem, for T(p) = F(F^-1(p) + mu).

    Proof: S(t) = sup_p (w(p) - t w(T(p)))^+ is at most E K times the largest of finitely many lines (`_lines`), which
    is convex and falls; so it lies below its chords between nodes, which begin at t = 0 and end where every line is
    negative. A broken line that is 0 from its last node on is the sum of (change of slope) (k - t)^+ over its nodes k;
    a change that rounding made negative is left out, which only enlarges the sum.
    """
    tops, slopes = _lines(mu, law)
    last = float((tops / slopes).max()) * (1 + 2.0**-40)
    spread = min(float(mu), _WIDEST)
    logarithms = [*np.linspace(-_REACH * spread, 0.0, _BELOW, endpoint=False)]
    logarithms += [*np.linspace(0.0, math.log(last), _ABOVE, endpoint=False)]
    inner = {math.exp(one) for one in logarithms}  # where mu is tiny some of them are equal
    knots = [0.0, *sorted(one for one in inner if one < last), last]
    heights = [max(float((tops - knot * slopes).max()), 0.0) + _ROUNDING for knot in knots[:-1]] + [0.0]
    exact = [(Fraction(knot), Fraction(height)) for knot, height in zip(knots, heights, strict=True)]
    found, right, expected = [], Fraction(0), Fraction(law.mean)
    for (before, higher), (knot, height) in zip(exact[-2::-1], exact[:0:-1], strict=True):
        slope = (height - higher) / (knot - before)
        if right > slope:
            found.append((round_up((right - slope) * knot * expected), float(knot)))
        right = slope
    return tuple(found)


def _lines(mu: Fraction, law: RunsLaw) -> tuple[Floats, Floats]:
    """Return a and b of lines a - b t, one of which is at least (w(p) - t w(T(p))) / E K, for every p and t >= 0.

    Proof: let z be the score that a standard normal exceeds with chance p; T(p) belongs to z - mu. A(z) = w(p) and
    B(z) = w(T(p)) grow with z. In a cell from z to z + h, A(z + u) <= A(z) + u A' and B(z + u) >= B(z) + u B', with A'
    the largest slope of the first and B' the least of the second: -w' grows with z, and the normal density is
    monotone in every cell, as 0 is a node, or for the least slope least at an end. A(z) + u A' - t (B(z) + u B') is
    linear in u and hence largest at u = 0 or u = h. Beyond the last node w <= w(0), before the first w >= w(1).
    """
    highest = math.sqrt(2 * math.log(max(law.mean / _NEGLIGIBLE, 2.0)))
    scores = np.arange(round(_LOWEST_SCORE / _STEP), math.ceil(highest / _STEP) + 1) * _STEP
    with precision(_BITS):
        own = [_at(law, number(float(z))) for z in scores]
        others = [_at(law, number(float(z)) - number(mu)) for z in scores]
        least = lower_float(law.winning(number(1)))
    top, steep, dense = (np.array(column) for column in zip(*(one[0] for one in own), strict=True))
    bottom, gentle, sparse = (np.array(column) for column in zip(*(one[1] for one in others), strict=True))
    rise = np.nextafter(steep[1:] * np.maximum(dense[:-1], dense[1:]), np.inf) * _STEP
    gain = np.nextafter(gentle[:-1] * np.minimum(sparse[:-1], sparse[1:]), 0.0) * _STEP
    tops = [top[:-1], np.nextafter(top[:-1] + rise, np.inf), [1.0, top[0]]]
    slopes = [bottom[:-1], np.nextafter(bottom[:-1] + gain, 0.0), [bottom[-1], least]]
    found = np.concatenate(tops), np.concatenate(slopes)
    if not (found[1] > 1e-280).all():
        raise ParameterError("the law of runs is too wide to be priced; write fewer runs", parameter="runs")
    return found


def _at(law: RunsLaw, score: Ball) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """Return w and -w', over E K, and the normal density at a score: all rounded up, and all rounded down."""
    chance = normal_upper_tail(score)
    density = (-score * score / 2).exp() / (8 * number(1).atan()).sqrt()
    share = law.winning(chance)
    values = share, share * law.descent(chance), density
    up, down = [upper_float(value) for value in values], [max(lower_float(value), 0.0) for value in values]
    return (up[0], up[1], up[2]), (down[0], down[1], down[2])


def _gaussian_delta(mu: Fraction, epsilon: float, knot: float) -> float:
    """Return the delta of Gaussian DP at epsilon - ln knot, of any sign, rounded up."""

    def formula() -> Ball:
        level, spread = number(epsilon) - number(knot).log(), number(mu)
        tail = normal_upper_tail(level / spread + spread / 2)
        return normal_upper_tail(level / spread - spread / 2) - level.exp() * tail

    return min(max(bounds(formula)[1], 0.0), 1.0)


def _boundary(outside: float, inside: float, enough: Callable[[float], bool]) -> float:
    """Return a number that is enough, near one that is not, by bisection."""
    while abs(outside - inside) > _PRECISION * inside:
        middle = (outside + inside) / 2
        outside, inside = (outside, middle) if enough(middle) else (middle, inside)
    return inside

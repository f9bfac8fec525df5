"""What a fit pays and what it gets for it: noise on exact integers, in shares of one price fixed beforehand."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import MissingParameter, ParameterError
from discreet.laws import DiscreteLaplace, RoundedGaussian
from discreet.laws.number import Number
from discreet.privacy import (
    ZCDP,
    ApproxDP,
    GaussianDP,
    Guarantee,
    Price,
    PrivacyLoss,
    PureDP,
    Relation,
    largest_mu,
    warn_if_senseless,
)
from discreet.privacy.adaptive import root_down
from discreet.privacy.numbers import exactly, written
from discreet.statistics.pricing import NoisyVector

_END = 1 << 63
PURE = ("CategoricalNB", "DecisionTreeClassifier", "RandomForestClassifier")
_LEAST, _MOST = Fraction(1, 10**30), 10**30  # mu, or epsilon of a pure price
_LEAST_DEVIATION = 1e-100


@dataclass(frozen=True, slots=True)
class FitPrice:
    """The price of one fit as it was stated, and what it buys: mu of Gaussian DP, or epsilon of pure DP.

    Privacy. A fit that is mu-Gaussian-DP keeps `guarantee`.
        Proof: epsilon with delta is kept by `largest_mu`. rho is kept because mu^2 / 2 <= rho and a mu-Gaussian-DP
        release by Gaussian noise is (mu^2 / 2)-zCDP.
    """

    stated: Price
    relation: Relation

    @classmethod
    def read(
        cls,
        *,
        epsilon: Number | None,
        delta: Number | None,
        rho: Number | None,
        mu: Number | None,
        relation: Any,
        pure: bool,
    ) -> FitPrice:
        """Read a price; epsilon without delta is accepted where the estimator has a pure form."""
        stated = Price.read(epsilon=epsilon, delta=delta, rho=rho, mu=mu, accepts=("epsilon", "rho", "mu"))
        stated_relation(relation)
        if not stated.is_gaussian and not pure:
            raise MissingParameter(
                "epsilon must have a delta beside it, because this estimator adds Gaussian noise; got epsilon alone, "
                f"write delta=1e-6, or take one of those with a pure form: {', '.join(PURE)}",
                parameter="delta",
            )
        found = cls(stated, relation)
        if not _LEAST <= (found.mu or stated.epsilon or 0) <= _MOST:
            raise ParameterError(
                "the price must be one that noise can be made for, mu or epsilon between 1e-30 and 1e30; got another, "
                "write mu=1, for example"
            )
        return found

    @property
    def mu(self) -> Fraction | None:
        """The mu of Gaussian DP that all releases of the fit may use together, None where the price is pure."""
        stated = self.stated
        if stated.epsilon is not None:
            return None if stated.delta is None else largest_mu(stated.epsilon, stated.delta)
        return stated.mu if stated.mu is not None else written(root_down(2 * (stated.rho or Fraction(0))))

    @property
    def guarantee(self) -> Guarantee:
        """What the fit guarantees, in the notion of the price."""
        stated, relation = self.stated, self.relation
        if stated.epsilon is not None:
            epsilon = exactly(stated.epsilon)
            if stated.delta is None:
                return PureDP(epsilon, relation=relation)
            return ApproxDP(epsilon, exactly(stated.delta), relation=relation)
        if stated.rho is not None:
            return ZCDP(exactly(stated.rho), relation=relation)
        return GaussianDP(exactly(stated.mu or Fraction(0)), relation=relation)

    @property
    def loss(self) -> PrivacyLoss:
        """The whole curve of the fit: that of Gaussian noise, or of the pure guarantee."""
        mu = self.mu
        kept = self.guarantee if mu is None else GaussianDP(exactly(mu), relation=self.relation)
        return PrivacyLoss.from_guarantee(kept)

    def under(self, budget: Guarantee) -> Guarantee:
        """Return what a ledger with a budget is charged: the fit's guarantee in the notion of the budget.

        Under zCDP that is mu^2 / 2, under Gaussian DP mu, under an approximate budget the stated epsilon and delta.
        """
        mu = self.mu
        if mu is None and isinstance(budget, PureDP | ApproxDP | ZCDP | GaussianDP):
            return self.guarantee
        if mu is not None and isinstance(budget, ZCDP):
            return ZCDP(exactly(mu * mu / 2), relation=self.relation)
        if mu is not None and isinstance(budget, GaussianDP):
            return GaussianDP(exactly(mu), relation=self.relation)
        if isinstance(budget, ApproxDP):
            if isinstance(self.guarantee, ApproxDP):
                return self.guarantee
            raise ParameterError(
                "the price must be epsilon= and delta= under a budget in epsilon and delta; got another, write "
                "epsilon=... and delta=.... Nothing was spent.",
                parameter="epsilon",
            )
        raise ParameterError(
            f"the budget must be approximate, concentrated or Gaussian, because this estimator adds Gaussian noise; "
            f"got another, write a fit with epsilon= alone of {', '.join(PURE)}, or let the curator state another "
            "budget. Nothing was spent.",
            parameter="ledger",
        )


@dataclass(frozen=True, slots=True)
class FitNeighbors:
    """Tables that differ in one person, who has at most `rows` rows, and a public number of people.

    `people` divides sums and sets parameters. It is a public statement, never a count of the rows; a wrong one makes a
    model worse and costs no privacy.

    Privacy. Let every row add an integer vector of squared norm at most `one` to a sum. One person moves the sum by a
        vector of squared norm at most `squared(one)`.
        Proof: add/remove adds or takes at most `rows` such vectors: norm rows sqrt(one). Change-one takes the person's
        rows and adds others: the norms add up to 2 rows sqrt(one); where inner products of all vectors are at least 0,
        |a - b|^2 <= |a|^2 + |b|^2 <= 2 rows^2 one.
    """

    relation: Relation
    people: int
    rows: int = 1

    def squared(self, one: int, *, acute: bool = False) -> int:
        """Return the square of the L2 distance of sums on neighbors; `acute` where no two vectors form a wide angle."""
        if self.relation is Relation.ADD_REMOVE:
            return self.rows**2 * one
        return (2 if acute else 4) * self.rows**2 * one

    def l1(self, one: int) -> int:
        """Return the L1 distance of sums on neighbors, where every row adds a vector of L1 norm at most `one`."""
        return (1 if self.relation is Relation.ADD_REMOVE else 2) * self.rows * one


class Measurements:
    """The releases of one fit: exact integers in, noisy floats out, each for a share of the price.

    Privacy. If every sum is moved by at most the stated distance by one person, given what was released before, all
        releases of the fit together keep the price.
        Proof: a share w buys mu_i = sqrt(w) mu, rounded down; noise of scale distance / mu_i is mu_i-Gaussian-DP, and
        adaptively chosen releases compose to the root of the sum of mu_i^2 <= mu^2, since shares add up to at most 1,
        which is checked before noise is drawn. Pure: a share w buys epsilon_i = w epsilon, and epsilons add up.
    Reference. Dong, Roth, Su 2022.
    """

    def __init__(self, price: FitPrice) -> None:
        self._price = price
        self._spent = Fraction(0)
        self._noises: dict[tuple[Fraction, int, int], NoisyVector] = {}

    def release(self, sums: Any, *, share: Fraction, squared: int, l1: int | None = None) -> NDArray[np.float64]:
        """Return integers with noise, as floats; `squared` and `l1` are the distances of neighbors."""
        noise = self.noise(share, squared=squared, l1=l1)
        self._spent += share
        if share <= 0 or self._spent > 1:
            raise AssertionError("the shares of a fit add up to at most 1")
        return _held(noisy(noise, sums))

    def noise(self, share: Fraction, *, squared: int, l1: int | None = None) -> NoisyVector:
        """Return the noise that a share buys."""
        key = (share, squared, l1 or 0)
        if key not in self._noises:
            self._noises[key] = bought(self._price, share, squared=squared, l1=l1)
        return self._noises[key]

    def deviation(self, share: Fraction, *, squared: int, l1: int | None = None) -> float:
        """Return the standard deviation of the noise that a share buys; never 0, since others are measured by it."""
        law = self.noise(share, squared=squared, l1=l1).noise
        if not isinstance(law, RoundedGaussian | DiscreteLaplace):
            raise AssertionError("the noise of a fit is rounded Gaussian or discrete Laplace")
        return max(math.sqrt(law.variance), _LEAST_DEVIATION)


def bought(price: FitPrice, share: Fraction, *, squared: int, l1: int | None = None) -> NoisyVector:
    """Return the noise that a share of a price buys for sums that one person moves by the stated distances."""
    mu = price.mu
    if mu is not None:
        part = written(root_down(share * mu * mu))
        return NoisyVector.gaussian(sensitivity=squared, squared=squared, relation=price.relation, mu=part)
    if l1 is None or price.stated.epsilon is None:
        raise AssertionError("a pure price is for sums with an L1 distance")
    return NoisyVector.laplace(epsilon=share * price.stated.epsilon, sensitivity=l1, relation=price.relation)


def noisy(noise: Callable[[Any], Any], sums: Any) -> Any:
    """Add noise to exact integers: the one place where a fit draws, and where tests look at what is drawn for."""
    return noise(sums)


def _held(released: Any) -> NDArray[np.float64]:
    """Return noisy integers as floats, cut to 64 bits whatever holds them, which follows from the number of rows."""
    held = np.asarray(released)
    if held.dtype == object:
        held = np.array([min(max(int(one), -_END), _END - 1) for one in held.ravel()], dtype=np.int64).reshape(
            held.shape
        )
    return np.asarray(held, dtype=np.float64)


def stated_relation(relation: Any) -> Relation:
    """Return a relation that says who is a neighbor; raise an error for anything else."""
    if isinstance(relation, Relation) and relation in (Relation.ADD_REMOVE, Relation.CHANGE_ONE):
        return relation
    got = "none" if relation is None else repr(relation[:40]) if isinstance(relation, str) else "another"
    raise MissingParameter(
        f"relation must say who is a neighbor; got {got}, write relation=dp.Relation.ADD_REMOVE (a person more or less)"
        " or relation=dp.Relation.CHANGE_ONE (a person's row replaced)",
        parameter="relation",
    )


def judged(price: FitPrice, people: int) -> None:
    """Warn where the price protects nobody or teaches nothing, given a public number of people."""
    warn_if_senseless(price.guarantee, people=people)

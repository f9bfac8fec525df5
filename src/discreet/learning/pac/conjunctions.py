"""Conjunctions of bits and their negations: one noisy count a literal; those that are hardly ever false are kept."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ParameterError
from discreet.laws.number import Number
from discreet.learning.exact import FitNeighbors, FitPrice, Measurements
from discreet.learning.pac.finite_class import Labeled, bits_of
from discreet.privacy import Guarantee, PrivacyLoss, Relation
from discreet.privacy.numbers import whole

_MOST_FEATURES = 1 << 20
_ALL = Fraction(1)
_CHANCE = 0.05  # that a literal of the truth is lost, all of them together


@dataclass(frozen=True, slots=True)
class Conjunction:
    """The hypothesis that some bits are 1 and some are 0, all of them at once."""

    ones: tuple[int, ...]
    zeros: tuple[int, ...]

    def __call__(self, rows: Any) -> NDArray[np.bool_]:
        """Return a label for every row."""
        held = np.asarray(rows)
        return np.asarray((held[:, list(self.ones)] == 1).all(axis=1) & (held[:, list(self.zeros)] == 0).all(axis=1))


class ConjunctionLearner:
    """Count for each of the 2 d literals the rows of label 1 in which it is false; keep those with small noisy counts.

    Privacy. mu-Gaussian-DP, mu the one that the price buys, one row a person. Rows that are not bits count for nothing.
        Proof: a row of label 1 makes d of the 2 d literals false, so that it adds a vector of norm sqrt(d); one that
        leaves and another that comes move the counts by at most sqrt(2 d), as no entry is below 0.
    Accuracy. Labels right, and tau the quantile of the noise: with probability 95 % all literals of the truth are kept,
        and each literal that is kept is false for at most 2 tau rows of label 1; so at most 4 d tau rows are labeled
        wrongly.
        Proof: a literal of the truth is never false where the label is 1, so its noisy count is noise alone, above tau
        with probability 0.05 / (4 d); all noises are within tau together but for 5 %.
    Reference. Kearns, Vazirani 1994, for the learner without noise.

    >>> learner = ConjunctionLearner(
    ...     3, epsilon=1, delta=1e-6, relation=Relation.ADD_REMOVE
    ... )
    >>> rows = np.array([[n >> k & 1 for k in range(3)] for n in range(8)] * 500)
    >>> found = learner((rows, rows[:, 0] & (1 - rows[:, 2])))
    >>> set(found.ones) <= {0}, set(found.zeros) <= {2}  # equal in 99 % of runs
    (True, True)
    """

    def __init__(
        self,
        features: int,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        relation: Relation | None = None,
    ) -> None:
        self.features = whole(features, name="features")
        if not 1 <= self.features <= _MOST_FEATURES:
            raise ParameterError(f"features must be from 1 to {_MOST_FEATURES:,}; got another", parameter="features")
        self._price = FitPrice.read(epsilon=epsilon, delta=delta, rho=rho, mu=mu, relation=relation, pure=False)
        self._squared = FitNeighbors(self._price.relation, people=1).squared(self.features, acute=True)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee in the notion of the price."""
        return self._price.guarantee

    @property
    def loss(self) -> PrivacyLoss:
        """The price: the whole curve of Gaussian noise."""
        return self._price.loss

    @property
    def threshold(self) -> float:
        """The noisy count up to which a literal is kept."""
        deviation = Measurements(self._price).deviation(_ALL, squared=self._squared)
        return deviation * NormalDist().inv_cdf(1 - _CHANCE / (4 * self.features))

    def __call__(self, value: Labeled) -> Conjunction:
        """Return a conjunction for rows of bits and labels."""
        rows, labels = bits_of(value, self.features)
        counted = rows[labels == 1]
        ones = counted.sum(axis=0, dtype=np.int64)
        false = np.concatenate([len(counted) - ones, ones])  # of "is 1", then of "is 0"
        noisy = Measurements(self._price).release(false, share=_ALL, squared=self._squared)
        kept = np.flatnonzero(noisy <= self.threshold)
        split = self.features
        return Conjunction(
            tuple(int(one) for one in kept if one < split), tuple(int(one) - split for one in kept if one >= split)
        )

    def __repr__(self) -> str:
        return f"ConjunctionLearner({self.features}, {self.guarantee!r})"

"""The facts of the demo: a differencing attack on exact counts, and the same counts answered privately."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt

import discreet as dp
from discreet.data import HospitalTable
from discreet.data.hospital import STIGMATISED, WARDS
from discreet.errors import ParameterError

EPSILON = 0.5
CONFIDENCE = 0.95


@dataclass(frozen=True)
class Target:
    """A patient described by what a neighbour knows, and the diagnosis the neighbour wants to learn."""

    zip_code: str
    age: int
    sex: str
    diagnosis: str

    def __str__(self) -> str:
        """Describe the person as one would over the fence."""
        noun = {"female": "woman", "male": "man"}[self.sex]
        return f"a {noun} aged {self.age} with zip code {self.zip_code}"


@dataclass(frozen=True)
class Differencing:
    """Two exact totals, one over everyone and one over everyone but the target."""

    everyone: int
    others: int

    @property
    def difference(self) -> int:
        """What the two totals say about the target alone: 1 has the diagnosis, 0 has not."""
        return self.everyone - self.others


@dataclass(frozen=True)
class PrivatePair:
    """Private answers to the two totals; with the stated confidence both are within `error` of the truth."""

    everyone: int
    others: int
    error: int

    @property
    def difference(self) -> int:
        """The difference of the two private answers."""
        return self.everyone - self.others

    @property
    def difference_interval(self) -> tuple[int, int]:
        """Where the true difference lies: two answers each within `error` differ by at most twice that."""
        return self.difference - 2 * self.error, self.difference + 2 * self.error

    @property
    def hides_the_target(self) -> bool:
        """Whether the interval allows both that the target has the diagnosis and that they have not."""
        low, high = self.difference_interval
        return low <= 0 and high >= 1


@dataclass(frozen=True)
class WardCounts:
    """Private counts for a public list of wards; with the stated confidence all are within `error` of the truth."""

    wards: tuple[str, ...]
    exact: tuple[int, ...]
    answers: tuple[int, ...]
    error: int


@dataclass(frozen=True)
class Story:
    """Everything the demo tells."""

    people: int
    seed: int
    alone: int
    target: Target
    exact: Differencing
    pair: PrivatePair
    wards: WardCounts
    pair_price: dp.PureDP
    price: dp.PureDP


def tell(table: HospitalTable, *, seed: int) -> Story:
    """Run the attack and the private answers on a table with one row a person."""
    target = choose_target(table)
    exact = attack(table, target)
    mechanism = private_count()
    one = mechanism.guarantee
    return Story(
        people=len(table),
        seed=seed,
        alone=int(alone(table).sum()),
        target=target,
        exact=exact,
        pair=answer_pair(mechanism, exact),
        wards=answer_wards(mechanism, table),
        pair_price=total_price([one, one]),
        price=total_price([one, one, one]),
    )


def private_count() -> dp.Laplace:
    """Return integer Laplace noise for a count, or a list of counts, that one person changes by at most 1 in all."""
    sensitivity = dp.Sensitivity(1, norm=dp.Norm.L1, relation=dp.Relation.ADD_REMOVE)
    return dp.Laplace(epsilon=EPSILON, sensitivity=sensitivity)


def alone(table: HospitalTable) -> npt.NDArray[np.bool_]:
    """Return, for every row, whether nobody else has the same zip code, age and sex."""
    keys = table.zip_code.astype(np.int64) * 1000 + 2 * table.age + table.matches(sex="male")
    _, place, copies = np.unique(keys, return_inverse=True, return_counts=True)
    return np.asarray(copies[place] == 1)


def choose_target(table: HospitalTable) -> Target:
    """Return a person whom zip code, age and sex single out and who has a diagnosis that people are shamed for."""
    unique = alone(table)
    for diagnosis in STIGMATISED:
        places = np.flatnonzero(unique & table.matches(diagnosis=diagnosis))
        if len(places):
            row = int(places[0])
            return Target(str(table.zip_code[row]), int(table.age[row]), str(table.sex[row]), diagnosis)
    raise ParameterError("this table has nobody to attack: try another number of people or another seed")


def attack(table: HospitalTable, target: Target) -> Differencing:
    """Ask for two exact totals that differ in the target only."""
    ill = table.matches(diagnosis=target.diagnosis)
    described = table.matches(zip_code=target.zip_code, age=target.age, sex=target.sex)
    return Differencing(everyone=int(ill.sum()), others=int((ill & ~described).sum()))


def answer_pair(mechanism: dp.Laplace, exact: Differencing) -> PrivatePair:
    """Answer both totals privately: two releases, for one person may count in both."""
    error = mechanism.error(confidence=CONFIDENCE, count=2)
    return PrivatePair(int(mechanism(exact.everyone)), int(mechanism(exact.others)), int(error))


def answer_wards(mechanism: dp.Laplace, table: HospitalTable) -> WardCounts:
    """Count the people of every ward in one release: one person lies in one ward, so the whole list moves by 1."""
    exact = np.array([table.matches(ward=ward).sum() for ward in WARDS], dtype=np.int64)
    answers = mechanism(exact)
    error = mechanism.error(confidence=CONFIDENCE, count=len(WARDS))
    return WardCounts(WARDS, tuple(exact.tolist()), tuple(answers.tolist()), int(error))


def total_price(guarantees: Sequence[dp.PureDP]) -> dp.PureDP:
    """Return what several releases about the same people cost together."""
    # pure promises compose to a pure promise
    return cast("dp.PureDP", dp.privacy.basic_composition(guarantees))


def posterior(prior: float, epsilon: float) -> float:
    """Return the largest belief that an epsilon-private release can turn a prior belief into (Bayes' rule).

    >>> posterior(0.5, 0.0)
    0.5
    >>> round(posterior(0.5, 1.0), 3)
    0.731
    """
    odds = math.exp(epsilon) * prior / (1.0 - prior)
    return odds / (1.0 + odds)

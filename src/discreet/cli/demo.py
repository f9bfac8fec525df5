"""The facts of the demo: a differencing attack on exact counts, the same counts answered privately, and useful ones."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
import numpy.typing as npt

import discreet as dp
from discreet import statistics
from discreet.data import HospitalTable
from discreet.data.hospital import NIGHTS_RANGE, STIGMATISED, WARDS
from discreet.errors import ParameterError

EPSILON = 0.5
DELTA = 1e-6
CONFIDENCE = 0.95
RELATION = dp.Relation.ADD_REMOVE
_SHOWN = 5

Mask = npt.NDArray[np.bool_]


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
class Diagnoses:
    """The most frequent of the diagnoses that were named, with their private counts, most frequent first.

    A diagnosis is named from a noisy count of `threshold` on; no count is off by more than `most`.
    """

    counts: dict[str, dp.Estimate]
    named: int
    threshold: int
    most: int


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
    stay: dp.Estimate
    diagnoses: Diagnoses
    pair_price: dp.PureDP
    price: dp.ApproxDP


def tell(table: HospitalTable, *, seed: int) -> Story:
    """Run the attack and the private answers on a table with one row a person."""
    target = choose_target(table)
    counting, wards, stay, diagnoses = count_patients(), count_by_ward(), mean_stay(), find_diagnoses()
    pair = [counting.guarantee] * 2
    return Story(
        people=len(table),
        seed=seed,
        alone=int(alone(table).sum()),
        target=target,
        exact=attack(table, target),
        pair=answer_pair(counting, table, target),
        wards=answer_wards(wards, table),
        stay=stay(table.nights),
        diagnoses=answer_diagnoses(diagnoses, table),
        # pure promises compose to a pure one, and with one that has a delta to one that has it
        pair_price=cast("dp.PureDP", total_price(pair)),
        price=cast("dp.ApproxDP", total_price([*pair, wards.guarantee, stay.guarantee, diagnoses.guarantee])),
    )


def count_patients() -> statistics.Count:
    """Return a count of patients with some property."""
    return statistics.Count(filtered=True, relation=RELATION, epsilon=EPSILON, confidence=CONFIDENCE)


def count_by_ward() -> statistics.Histogram:
    """Return the counts of all wards: one release, since a person lies in one ward."""
    return statistics.Histogram(keys=WARDS, relation=RELATION, epsilon=EPSILON, confidence=CONFIDENCE)


def mean_stay() -> statistics.Mean:
    """Return the mean number of nights, between public bounds."""
    return statistics.Mean(bounds=NIGHTS_RANGE, relation=RELATION, epsilon=EPSILON, confidence=CONFIDENCE)


def find_diagnoses() -> statistics.DiscoveredHistogram:
    """Return the counts of diagnoses that nobody listed beforehand: those that enough people have are named.

    The noise is truncated, so that no count is off by more than its reach.
    """
    return statistics.DiscoveredHistogram(
        relation=RELATION,
        epsilon=EPSILON,
        delta=DELTA,
        confidence=CONFIDENCE,
        noise=dp.KeyNoise.TRUNCATED_GEOMETRIC,
    )


def alone(table: HospitalTable) -> Mask:
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


def questions(table: HospitalTable, target: Target) -> tuple[Mask, Mask]:
    """Return whom two innocent questions count: all with the diagnosis, and the same without the target."""
    ill = table.matches(diagnosis=target.diagnosis)
    described = table.matches(zip_code=target.zip_code, age=target.age, sex=target.sex)
    return ill, ill & ~described


def attack(table: HospitalTable, target: Target) -> Differencing:
    """Ask for two exact totals that differ in the target only."""
    everyone, others = questions(table, target)
    return Differencing(everyone=int(everyone.sum()), others=int(others.sum()))


def answer_pair(counting: statistics.Count, table: HospitalTable, target: Target) -> PrivatePair:
    """Answer both totals privately: two releases, for one person may count in both."""
    everyone, others = (counting(mask) for mask in questions(table, target))
    return PrivatePair(int(everyone.value), int(others.value), counting.mechanism.error(CONFIDENCE, 2))


def answer_wards(counting: statistics.Histogram, table: HospitalTable) -> WardCounts:
    """Count the people of every ward in one release: one person lies in one ward, so the whole list moves by 1."""
    exact = tuple(int(table.matches(ward=ward).sum()) for ward in WARDS)
    answers = counting(table.ward)
    return WardCounts(WARDS, exact, tuple(answers.numbers.tolist()), int(answers.together))


def answer_diagnoses(finding: statistics.DiscoveredHistogram, table: HospitalTable) -> Diagnoses:
    """Find the diagnoses that many people have, and keep the most frequent."""
    found = finding(table.diagnosis)
    ordered = sorted(found, key=lambda diagnosis: (-found[diagnosis].value, diagnosis))
    counts = {diagnosis: found[diagnosis] for diagnosis in ordered[:_SHOWN]}
    return Diagnoses(counts, named=len(found), threshold=finding.threshold, most=int(found.together))


def total_price(guarantees: Sequence[dp.Guarantee]) -> dp.Guarantee:
    """Return what several releases about the same people cost together."""
    return dp.privacy.basic_composition(guarantees)


def posterior(prior: float, epsilon: float) -> float:
    """Return the largest belief that an epsilon-private release can turn a prior belief into (Bayes' rule).

    >>> posterior(0.5, 0.0)
    0.5
    >>> round(posterior(0.5, 1.0), 3)
    0.731
    """
    odds = math.exp(epsilon) * prior / (1.0 - prior)
    return odds / (1.0 + odds)

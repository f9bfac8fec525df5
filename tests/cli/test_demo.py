"""The facts of the demo: the attack works on exact answers, and the private answers say exactly what they promise."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

import discreet as dp
from discreet import statistics
from discreet.cli import demo
from discreet.cli.demo import PrivatePair, Target
from discreet.data import HospitalTable, hospital
from discreet.data.hospital import STIGMATISED, WARDS
from discreet.errors import ParameterError
from tests.chances import most

TABLE = hospital(people=1500, seed=8)


class ScriptedCount(statistics.Count):
    """A count whose noise is written down beforehand, and which remembers what it was asked."""

    def __init__(self, *noise: int) -> None:
        super().__init__(filtered=True, relation=demo.RELATION, epsilon=demo.EPSILON, confidence=demo.CONFIDENCE)
        self.noise = list(noise)
        self.asked: list[int] = []

    def release(self, value):
        self.asked.append(self.measure(value))
        return self.asked[-1] + self.noise.pop(0)


class ScriptedHistogram(statistics.Histogram):
    """Counts of wards that are all off by the same, and which remembers how often it was asked."""

    def __init__(self, noise: int) -> None:
        super().__init__(keys=WARDS, relation=demo.RELATION, epsilon=demo.EPSILON, confidence=demo.CONFIDENCE)
        self.noise, self.releases = noise, 0

    def release(self, value):
        self.releases += 1
        return self.measure(value) + self.noise


def description(table: HospitalTable, row: int) -> tuple[str, int, str]:
    return str(table.zip_code[row]), int(table.age[row]), str(table.sex[row])


def test_alone_means_that_nobody_else_fits_the_description() -> None:
    copies = Counter(description(TABLE, row) for row in range(len(TABLE)))
    expected = [copies[description(TABLE, row)] == 1 for row in range(len(TABLE))]
    assert demo.alone(TABLE).tolist() == expected
    assert 0 < sum(expected) < len(TABLE)


@pytest.mark.parametrize("people", [100, 2000, 50_000])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_target_is_one_person_with_a_stigmatised_diagnosis(people: int, seed: int) -> None:
    table = hospital(people=people, seed=seed)
    target = demo.choose_target(table)
    fits = table.matches(zip_code=target.zip_code, age=target.age, sex=target.sex)
    assert table.diagnosis[fits].tolist() == [target.diagnosis]
    assert target.diagnosis in STIGMATISED


def test_a_table_without_a_target_is_refused() -> None:
    healthy = TABLE.where(~np.isin(TABLE.diagnosis, STIGMATISED))
    with pytest.raises(ParameterError, match="another seed"):
        demo.choose_target(healthy)


@pytest.mark.parametrize("diagnosis", ["depression", "fracture"])
def test_two_exact_totals_reveal_the_diagnosis_of_anyone_who_is_alone(diagnosis: str) -> None:
    revealed = []
    for row in np.flatnonzero(demo.alone(TABLE))[:200]:
        target = Target(*description(TABLE, int(row)), diagnosis)
        revealed.append(demo.attack(TABLE, target).difference == 1)
    truth = TABLE.diagnosis[demo.alone(TABLE)][:200] == diagnosis
    assert revealed == truth.tolist()
    assert 0 < sum(revealed) < 200


def test_both_totals_are_released_separately_and_bounded_together() -> None:
    counting, target = ScriptedCount(3, -4), demo.choose_target(TABLE)
    exact = demo.attack(TABLE, target)
    pair = demo.answer_pair(counting, TABLE, target)
    assert counting.asked == [exact.everyone, exact.others]
    assert (pair.everyone, pair.others) == (exact.everyone + 3, exact.others - 4)
    assert pair.error == dp.Laplace(epsilon=0.5, sensitivity=1).error(confidence=0.95, count=2) == 7


def test_the_difference_interval_holds_whenever_both_answers_are_within_their_error() -> None:
    error = 3
    for first in range(-error, error + 1):
        for second in range(-error, error + 1):
            low, high = PrivatePair(50 + first, 49 + second, error).difference_interval
            assert low <= 1 <= high
    low, high = PrivatePair(50 + error, 49 - error, error).difference_interval
    assert low == 1, "a narrower interval would miss the truth here"


@pytest.mark.parametrize(("noise", "hides"), [(0, True), (14, False), (13, True), (-15, False), (-14, True)])
def test_the_target_is_hidden_when_the_interval_allows_both_answers(noise: int, hides: bool) -> None:
    assert PrivatePair(everyone=50 + noise, others=49, error=7).hides_the_target is hides


def test_ward_counts_are_one_release_of_the_whole_list_with_a_joint_error() -> None:
    counting = ScriptedHistogram(2)
    wards = demo.answer_wards(counting, TABLE)
    assert counting.releases == 1
    assert wards.error == dp.Laplace(epsilon=0.5, sensitivity=1).error(confidence=0.95, count=len(WARDS))
    assert sum(wards.exact) == len(TABLE)
    assert [answer - exact for answer, exact in zip(wards.answers, wards.exact, strict=True)] == [2] * len(WARDS)
    assert all(type(answer) is int for answer in wards.answers)


def test_the_ward_list_moves_by_one_when_a_person_leaves() -> None:
    smaller = TABLE.where(TABLE.person != 17)
    before, after = (demo.answer_wards(ScriptedHistogram(0), table).exact for table in (TABLE, smaller))
    assert sum(abs(one - two) for one, two in zip(before, after, strict=True)) == 1


def test_the_mean_stay_is_near_the_true_one_and_within_its_interval_up_to_rounding() -> None:
    stay = demo.tell(TABLE, seed=8).stay
    # the noise of a mean of 1500 stays has scale 0.12 at most: thirty of them have chance below 1e-12
    assert abs(float(stay) - TABLE.nights.mean()) < 3.6
    assert stay.low <= float(stay) <= stay.high
    assert stay.confidence == demo.CONFIDENCE


def test_diagnoses_of_many_are_named_most_frequent_first_and_none_is_far_off() -> None:
    exact = Counter(TABLE.diagnosis.tolist())
    found = demo.answer_diagnoses(demo.find_diagnoses(), TABLE)
    values = [count.value for count in found.counts.values()]
    assert values == sorted(values, reverse=True)
    assert len(values) == 5
    assert all(abs(count.value - exact[name]) <= found.most for name, count in found.counts.items())
    surely = sum(count >= found.threshold + found.most for count in exact.values())
    assert surely <= found.named <= sum(count > 0 for count in exact.values())
    assert found.threshold == found.most + 1


def test_a_diagnosis_of_one_person_is_never_named_but_with_the_chance_of_delta() -> None:
    finding = demo.find_diagnoses()
    assert finding.mechanism.chance(1).upper <= demo.DELTA
    law = finding.law(TABLE.where(TABLE.person == TABLE.person[0]).diagnosis)
    assert float(law.pmf((finding.threshold - 1,))) >= 1 - demo.DELTA  # below the threshold: not named


@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.5, 5.0])
def test_an_even_belief_becomes_at_most_the_logistic_of_epsilon(epsilon: float) -> None:
    assert demo.posterior(0.5, epsilon) == pytest.approx(math.exp(epsilon) / (1 + math.exp(epsilon)))


def test_beliefs_follow_bayes_rule_for_the_worst_output() -> None:
    prior, epsilon = 0.2, 0.7
    likely, unlikely = math.exp(epsilon) * 0.1, 0.1
    expected = prior * likely / (prior * likely + (1 - prior) * unlikely)
    assert demo.posterior(prior, epsilon) == pytest.approx(expected)


def test_the_whole_story_prices_five_releases_of_one_half() -> None:
    story = demo.tell(TABLE, seed=8)
    assert float(story.pair_price.epsilon) == pytest.approx(1.0)
    assert float(story.price.epsilon) == pytest.approx(2.5)
    assert float(story.price.delta) == pytest.approx(demo.DELTA)
    assert story.price.relation is story.pair_price.relation is demo.RELATION
    assert story.exact.difference == 1
    assert story.people == 1500
    assert story.alone == int(demo.alone(TABLE).sum())


def test_the_promised_confidence_holds_for_the_real_noise() -> None:
    runs = 20_000
    for answers, mechanism in ((2, demo.count_patients().mechanism), (len(WARDS), demo.count_by_ward().mechanism)):
        noise = mechanism(np.zeros((runs, answers), dtype=np.int64))
        error = mechanism.error(demo.CONFIDENCE, answers)
        missed = int((np.abs(noise).max(axis=1) > error).sum())
        assert 0 < missed <= most(runs, 0.05)

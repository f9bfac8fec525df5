"""The facts of the demo: the attack, its ceiling, the chance of a false alarm, the stage and the claims."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import discreet as dp
from discreet import attacks
from discreet.attacks.reconstructing.weighing import Weighing
from discreet.cli.demo import stage as stages
from discreet.cli.demo import story as stories
from discreet.cli.demo.stage import Stage
from discreet.cli.demo.story import Story
from discreet.errors import ParameterError
from discreet.query.policy.file import read_policy


def test_plain_answers_give_everything_away_and_private_ones_do_not(story: Story) -> None:
    assert story.plain.people >= 5000
    assert story.plain.recovered is not None
    assert story.plain.recovered >= stories.LEAST_RECOVERED
    assert story.private.recovered is not None
    assert story.private.ceiling is not None
    assert story.private.recovered <= story.private.ceiling.upper + stories.POINTS
    assert all(claim.held for claim in story.claims)


def test_the_ceiling_is_that_of_what_the_ledger_charged(story: Story) -> None:
    charged = dp.PureDP(stories.EACH, relation=dp.Relation.ADD_REMOVE).loss * stories.QUERIES
    assert story.private.ceiling is not None
    assert story.private.ceiling.upper == attacks.ceiling(charged, flip=attacks.Flip.ONE_ROW).upper
    assert float(story.own.own_spent.epsilon) == float(stories.QUERIES * stories.EACH)  # type: ignore[union-attr]


def test_a_false_alarm_of_the_demo_has_a_chance_far_below_one_in_a_thousand_millions() -> None:
    # Chernoff's bound for 80 independent practices, with the law of the bits right in one practice from simulated ones
    practices, shown = 20_000, 80
    random = np.random.default_rng(2026)
    design = Weighing(people=practices * stories.QUERIES, queries=stories.QUERIES)
    bits = random.integers(0, 2, design.people)
    ratio = 1 - np.exp(-float(stories.EACH))
    noisy = [
        counts + random.geometric(ratio, practices) - random.geometric(ratio, practices)
        for counts in attacks.exact_answers(bits)(design)
    ]
    right = (design.decode(noisy) == bits).reshape(practices, stories.QUERIES).sum(axis=1)
    charged = dp.PureDP(stories.EACH, relation=dp.Relation.ADD_REMOVE).loss * stories.QUERIES
    bar = attacks.ceiling(charged, flip=attacks.Flip.ONE_ROW).upper + stories.POINTS
    excess = right - bar * stories.QUERIES
    exponents = [shown * np.log(np.mean(np.exp(tilt * excess))) for tilt in np.linspace(0.05, 0.4, 36)]
    assert np.exp(min(exponents)) < 1e-12
    assert right.mean() / stories.QUERIES == pytest.approx(stories.expected_share(), abs=0.005)


def test_a_claim_that_does_not_hold_says_so(story: Story) -> None:
    worse = dataclasses.replace(story.plain, right=np.zeros(story.people, dtype=bool))
    better = dataclasses.replace(story.private, right=np.ones(story.people, dtype=bool))
    failed = dataclasses.replace(
        story, plain=worse, private=better, unchanged=False, refusals=(), spent=stories.Refused("", "")
    )
    assert [claim.held for claim in failed.claims] == [False, False, False, False, False, True]


def test_the_books_of_the_demo_add_up(story: Story) -> None:
    later = 3 * stories.LATER
    assert float(story.balance.spent.epsilon) == float(stories.QUERIES * stories.EACH + stories.FIRST + later)  # type: ignore[attr-defined]
    assert story.verification.charges == stories.QUERIES + 4
    assert story.again.rows == story.departments.rows


def test_answers_are_near_the_truth(story: Story, stage: Stage) -> None:
    # noise of scale 12 on nine counts is off by more than 350 with a chance below 1e-11; at most 6 visits count
    for value, truth in zip(story.departments["visits"], story.truth, strict=True):
        assert abs(float(value) - truth) < 350 + 0.02 * truth  # type: ignore[arg-type]
    assert sum(story.truth) == len(stage.hospital.visits)


def test_the_policy_of_the_demo_is_in_order(stage: Stage) -> None:
    policy = read_policy(stage.policy)
    assert policy.unit == "patient"
    assert list(policy.analysts) == [stages.ANALYST, stages.ATTACKER]


def test_a_stage_is_built_anew_over_an_old_one_but_over_nothing_else(tmp_path: Path) -> None:
    stages.build(tmp_path, people=100, seed=1)
    (tmp_path / stages.LEDGER).write_text("of the old demo", encoding="utf-8")
    again = stages.build(tmp_path, people=200, seed=1)
    assert again.people == 200
    assert not (tmp_path / stages.LEDGER).exists()
    again.policy.write_text("# a policy of somebody\n", encoding="utf-8")
    with pytest.raises(ParameterError, match="no demo wrote"):
        stages.build(tmp_path, people=100, seed=1)
    assert again.database.exists()

"""Many rounds cost what is drawn: every round if reports are fresh, every value once if they are memoized."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from discreet.errors import MissingParameter, ParameterError
from discreet.local import DirectResponse
from discreet.local.shuffling.shuffled import Shuffled
from discreet.local.through_time import MemoizedClient, Schedule, lifetime
from discreet.privacy import PureDP, Relation

SPEC = DirectResponse(epsilon=Fraction(1, 2), categories=4)


@pytest.mark.theorem("Schedule.privacy")
@pytest.mark.parametrize(
    ("schedule", "reports"),
    [(Schedule(1), 1), (Schedule(30), 30), (Schedule(30, 4), 4), (Schedule(3, 4), 3), (Schedule(10**6, 1), 1)],
)
def test_rounds_cost_what_is_drawn(schedule: Schedule, reports: int) -> None:
    assert schedule.reports == reports
    assert schedule.guarantee(SPEC) == PureDP(reports / 2, relation=Relation.CHANGE_ONE)
    assert schedule.loss(SPEC) == SPEC.loss * reports


def test_a_memoized_schedule_costs_what_its_client_says() -> None:
    schedule = Schedule(365, 4)
    client = MemoizedClient(SPEC, distinct=4)
    assert schedule.guarantee(SPEC) == client.guarantee
    assert schedule.loss(SPEC) == client.loss


def test_a_delta_buys_less_than_the_sum_and_never_more() -> None:
    guarantee = Schedule(200).at_delta(SPEC, 1e-6)
    assert guarantee.relation is Relation.CHANGE_ONE
    assert guarantee.epsilon < 0.7 * 100
    assert Schedule(1).at_delta(SPEC, 1e-6).epsilon <= 0.5
    third = DirectResponse(epsilon=Fraction(1, 3), categories=4)
    assert Schedule(3).at_delta(third, 0).epsilon == Schedule(3).guarantee(third).epsilon == 1


def test_both_lives_are_printed_side_by_side() -> None:
    both = lifetime(SPEC, rounds=30, distinct=4, delta=1e-6)
    lines = str(both).splitlines()
    assert lines[0] == "one report: epsilon 0.5"
    assert "epsilon 15, or" in lines[1]
    assert "epsilon 2, or" in lines[2]
    assert "4 of 30 rounds drawn" in lines[2]
    assert "memoized" in both._repr_html_()


@pytest.mark.parametrize("missing", ["rounds", "distinct", "delta"])
def test_nothing_is_guessed(missing: str) -> None:
    given: dict[str, Any] = {"rounds": 30, "distinct": 4, "delta": 1e-6}
    del given[missing]
    with pytest.raises(MissingParameter, match=f"{missing}="):
        lifetime(SPEC, **given)


@pytest.mark.parametrize("spec", [None, "x", 1.0, SPEC.to_json()])
def test_a_schedule_is_for_a_spec(spec: Any) -> None:
    schedule = Schedule(3)
    asked = (
        lambda: schedule.guarantee(spec),
        lambda: schedule.loss(spec),
        lambda: schedule.at_delta(spec, 1e-6),
        lambda: lifetime(spec, rounds=3, distinct=1, delta=1e-6),
        lambda: MemoizedClient(spec, distinct=1),
        lambda: MemoizedClient.load(spec, MemoizedClient(SPEC, distinct=1).save()),
        lambda: Shuffled(spec, people=1000, delta=1e-6),
    )
    words = r"takes a spec.*; Spec\.from_json reads a text into one" if isinstance(spec, str) else "takes a spec"
    for ask in asked:
        with pytest.raises(ParameterError, match=words):
            ask()


@pytest.mark.parametrize("bad", [0, -1, 2.0, True])
def test_counts_are_whole(bad: Any) -> None:
    with pytest.raises(ParameterError):
        Schedule(bad)
    with pytest.raises(ParameterError):
        Schedule(3, bad)

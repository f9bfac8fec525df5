"""Every planted fault is caught at the level that guarantees it, and no right mechanism is convicted there."""

from __future__ import annotations

from collections import Counter
from functools import partial

import pytest

from discreet import mechanisms
from discreet.audit import Level, audit
from discreet.mechanisms import Mechanism
from discreet.testing import PLANTED, Planted, Subject, conformance_checks
from discreet.testing.planted import streams
from discreet.testing.planted.fault import LAW


@pytest.mark.parametrize("fault", PLANTED.values(), ids=PLANTED.keys())
def test_a_planted_fault_is_caught_at_its_level(fault: Planted) -> None:
    assert fault.caught()


@pytest.mark.parametrize("fault", PLANTED.values(), ids=PLANTED.keys())
def test_the_same_level_does_not_convict_the_right_mechanism(fault: Planted) -> None:
    assert not fault.false_alarm()


@pytest.mark.parametrize("kind", [streams.Stream, streams.Answers])
def test_the_frame_around_the_faults_is_no_fault_itself(kind: type[streams.Stream]) -> None:
    extra = {"answer_epsilon": 1} if kind is streams.Answers else {}
    make = partial(kind, threshold=0, epsilon=1, sensitivity=1, **extra)
    assert not audit(make(), search=0).refuted
    if kind is streams.Stream:
        (law,) = [check for check in conformance_checks() if check.name == LAW]
        law(Subject(make, [[0, 1, 2]], draws=1000))


@pytest.mark.parametrize("fault", PLANTED.values(), ids=PLANTED.keys())
def test_no_fault_is_seen_by_an_error_unless_errors_are_the_fault(fault: Planted) -> None:
    if fault.name in {"Laplace: an error on negative answers", "Laplace: inputs not looked at"}:
        return
    for mechanism in (fault.make(), fault.right()):
        for value in [*fault.inputs, *(one for pair in fault.neighbors or () for one in pair)]:
            mechanism.wire(value)
            mechanism.outcome(value)


def test_there_are_faults_for_every_level_and_every_mechanism() -> None:
    assert len(PLANTED) >= 60
    by_level = Counter(fault.level for fault in PLANTED.values())
    assert all(by_level[level] >= 5 for level in Level)
    duties = {check.name for check in conformance_checks()}
    assert {level for level in by_level if isinstance(level, str)} <= duties
    kinds = [one for one in vars(mechanisms).values() if isinstance(one, type) and issubclass(one, Mechanism)]
    for kind in kinds:
        if kind is not Mechanism:
            assert any(name.startswith(f"{kind.__name__}:") for name in PLANTED), kind


def test_a_fault_says_what_it_is_in_a_few_words() -> None:
    for fault in PLANTED.values():
        assert 10 < len(fault.story) < 80
        assert fault.story[-1] != "."
        assert fault.claimed_by

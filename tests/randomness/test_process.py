"""State that may be used once is refused in a fork, also in one that has got the number of the first process."""

from __future__ import annotations

import os
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import DiscreetError
from discreet.laws.samplers.race import Race
from discreet.mechanisms import AboveThreshold
from discreet.randomness.process import Process
from discreet.synthesis import MemoryTranscript


def stream():
    made = AboveThreshold(threshold=0, epsilon=1, sensitivity=1)
    return lambda: made.watch(5)


def race():
    made = Race(Fraction(1))
    return lambda: made.run(np.array([1, 2, 3]))


def transcript():
    made = MemoryTranscript()
    return lambda: made.announce(1)


@pytest.mark.parametrize("make", [stream, race, transcript])
@pytest.mark.parametrize("same_number", [False, True])
def test_a_fork_is_refused_whatever_its_number(make, same_number, monkeypatch):
    use, number = make(), os.getpid()
    child = os.fork()
    if child == 0:
        if same_number:
            monkeypatch.setattr(os, "getpid", lambda: number)
        try:
            use()
        except DiscreetError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    use()


def test_a_process_is_itself_until_it_forks():
    before = Process.here()
    assert before == Process.here()
    assert before[0] == os.getpid()

"""A memoized client says the same about a value for ever, and no more than its declared number of values."""

from __future__ import annotations

import copy
import hashlib
import os
import pickle
import threading
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import InputError, MissingParameter, NotCopyable, ParameterError, StreamSpent
from discreet.local import DirectResponse, HashedGeometry, ProjectiveGeometry, Spec
from discreet.local.means.one_bit_and_hybrid import DuchiBit, HybridMean
from discreet.local.means.unit_vectors import UnitVectors
from discreet.local.through_time import Beyond, MemoizedClient
from discreet.privacy import PureDP, Relation
from tests.local.claims.enumeration import exact_law

SPEC = DirectResponse(epsilon=Fraction(1), categories=4)
WIDE = DirectResponse(epsilon=Fraction(1), categories=1000)


@given(life=st.lists(st.integers(0, 3), max_size=40))
def test_a_value_has_one_report_for_ever(life: list[int]) -> None:
    client = MemoizedClient(SPEC, distinct=4)
    said: dict[int, int] = {}
    for value in life:
        report = client.report(value)
        assert said.setdefault(value, report) == report


@given(life=st.lists(st.integers(0, 9), min_size=1, max_size=40), distinct=st.integers(1, 5))
def test_whether_a_round_is_answered_follows_from_the_pattern_alone(life: list[int], distinct: int) -> None:
    shifted = [(value * 7 + 3) % 10 for value in life]  # another life of the same pattern
    spec = DirectResponse(epsilon=Fraction(1), categories=10)
    answered = [_answered(MemoizedClient(spec, distinct=distinct), one) for one in (life, shifted)]
    first = list(dict.fromkeys(life))[:distinct]
    assert answered[0] == answered[1] == [value in first for value in life]


def _answered(client: MemoizedClient, life: list[int]) -> list[bool]:
    answers = []
    for value in life:
        try:
            answers.append(client.report(value) in range(client.spec.cells))
        except StreamSpent:
            answers.append(False)
    return answers


@given(life=st.lists(st.integers(0, 9), min_size=1, max_size=40), distinct=st.integers(1, 5))
def test_beyond_its_cap_a_client_may_repeat_the_round_before(life: list[int], distinct: int) -> None:
    client = MemoizedClient(DirectResponse(epsilon=Fraction(1), categories=10), distinct=distinct, beyond=Beyond.REPEAT)
    said: dict[int, int] = {}
    last = -1
    for value in life:
        report = client.report(value)
        if value in said or len(said) < distinct:
            assert said.setdefault(value, report) == report
        else:
            assert report == last
        last = report
    assert len(said) <= distinct


@pytest.mark.theorem("MemoizedClient.privacy")
@pytest.mark.parametrize("beyond", list(Beyond))
def test_lives_of_one_pattern_are_told_apart_no_better_than_the_cap_allows(beyond: Beyond) -> None:
    spec, distinct, pattern = DirectResponse(epsilon=Fraction(1), categories=3), 2, (0, 1, 0, 2, 1, 2)
    single = {value: spec.law(value).probabilities for value in range(3)}
    lives = [names for names in product(range(3), repeat=3) if len(set(names)) == 3]
    laws = [_law_of_life(spec, [names[place] for place in pattern], distinct, beyond, single) for names in lives]
    worst = max(one[key] / two[key] for one in laws for two in laws for key in one)
    limit = float(MemoizedClient(spec, distinct=distinct).guarantee.epsilon)
    assert limit == 2.0
    assert limit - 1e-12 < _log(worst) <= limit


def _log(ratio: Fraction) -> float:
    import math

    return math.log(ratio.numerator) - math.log(ratio.denominator)


def _law_of_life(
    spec: DirectResponse, life: list[int], distinct: int, beyond: Beyond, single: dict[int, Any]
) -> dict[tuple[int, ...], Fraction]:
    """The law of everything a real client says in a life, its draws replaced by each possible report in turn."""
    drawn = list(dict.fromkeys(life))[:distinct]
    law: dict[tuple[int, ...], Fraction] = {}
    for reports in product(range(3), repeat=len(drawn)):
        client = MemoizedClient(spec, distinct=distinct, beyond=beyond)
        for value, report in zip(drawn, reports, strict=True):
            client._reports[spec.items([value]).tobytes()] = report
        transcript = tuple(_said(client, value) for value in life)
        mass = Fraction(1)
        for value, report in zip(drawn, reports, strict=True):
            mass *= single[value][report]
        law[transcript] = law.get(transcript, Fraction(0)) + mass
    return law


def _said(client: MemoizedClient, value: int) -> int:
    try:
        return client.report(value)
    except StreamSpent:
        return -1


def test_a_first_report_is_drawn_by_the_law_of_the_spec() -> None:
    spec = DirectResponse(epsilon=Fraction(1), categories=3)
    found = exact_law(lambda items: [MemoizedClient(spec, distinct=1).report(int(items[0]))], spec.items([2]))
    assert [found[output] for output in range(3)] == list(spec.law(2).probabilities)


def test_the_guarantee_is_for_life() -> None:
    client = MemoizedClient(DirectResponse(epsilon=Fraction(1, 3), categories=4), distinct=5)
    assert client.guarantee == PureDP(1.6666666666666667, relation=Relation.CHANGE_ONE)
    assert client.loss.releases == 5
    assert client.loss.relation is Relation.CHANGE_ONE
    assert client.loss.max_loss().upper <= 1.667


def test_names_of_one_value_are_one_value() -> None:
    spec = DirectResponse(epsilon=Fraction(1), categories=("no", "yes"))
    client = MemoizedClient(spec, distinct=1)
    assert client.report("yes") == client.report(1)
    with pytest.raises(StreamSpent):
        client.report("no")


def test_keys_and_vectors_are_remembered_too() -> None:
    keys = MemoizedClient(
        HashedGeometry(epsilon=Fraction(1), keys="text:24", prime=3, dimension=3, rows=64, seed=8), distinct=2
    )
    assert len({keys.report("one.example") for _ in range(20)}) == 1
    vectors = MemoizedClient(UnitVectors(epsilon=Fraction(1), dimension=2, codewords=5, cap=2, codebooks=3), distinct=1)
    assert len({vectors.report((0.6, 0.8)) for _ in range(20)}) == 1


def test_zero_is_one_value_whatever_its_sign() -> None:
    vectors = MemoizedClient(UnitVectors(epsilon=Fraction(1), dimension=2, codewords=5, cap=2, codebooks=3), distinct=1)
    assert vectors.report((0.0, 0.8)) == vectors.report((-0.0, 0.8))
    mean = MemoizedClient(DuchiBit(epsilon=Fraction(1), bounds=(-1, 1)), distinct=1)
    assert mean.report(0.0) == mean.report(-0.0)


def test_a_refused_value_costs_nothing_and_is_not_shown() -> None:
    client = MemoizedClient(SPEC, distinct=1)
    with pytest.raises(InputError) as caught:
        client.report(41)
    assert "41" not in str(caught.value)
    assert client.report(2) in range(4)
    with pytest.raises(StreamSpent) as spent:
        client.report(3)
    assert spent.value.__context__ is None
    assert "its 1 permanent report, " in str(spent.value)
    assert "3" not in str(spent.value)


def test_a_restart_repeats_what_was_said() -> None:
    client = MemoizedClient(WIDE, distinct=3, beyond=Beyond.REPEAT)
    said = [client.report(value) for value in (7, 900)]
    again = MemoizedClient.load(WIDE, client.save())
    assert [again.report(value) for value in (7, 900)] == said
    assert (again.distinct, again.beyond) == (3, Beyond.REPEAT)
    third = again.report(5)
    assert again.report(6) == third
    assert again.save() == again.save()


def test_a_new_report_is_stored_before_it_is_said() -> None:
    kept: list[bytes] = []
    client = MemoizedClient(WIDE, distinct=2, keep=kept.append)
    said = client.report(7)
    assert client.report(7) == said
    assert len(kept) == 1
    assert MemoizedClient.load(WIDE, kept[0], keep=kept.append).report(7) == said


def test_storing_may_look_at_the_state_itself() -> None:
    kept: list[bytes] = []
    client = MemoizedClient(WIDE, distinct=2, keep=lambda state: kept.extend((state, client.save())))
    client.report(7)
    assert kept[0] == kept[1]


def test_a_report_that_could_not_be_stored_is_not_said_and_takes_no_place() -> None:
    full = [True]

    def keep(_: bytes) -> None:
        if full[0]:
            raise OSError("disk full")

    client = MemoizedClient(WIDE, distinct=1, keep=keep)
    before = client.save()
    with pytest.raises(OSError, match="disk full"):
        client.report(7)
    assert client.save() == before
    full[0] = False
    assert client.report(900) == client.report(900)


def test_a_number_is_one_value_however_it_is_written() -> None:
    spec = HybridMean(epsilon=Fraction(4), bounds=(0, 120))
    disk: list[bytes] = []
    client = MemoizedClient(spec, distinct=3, keep=disk.append)
    said = client.report(37), client.report(Fraction(1, 3)), client.report(0.0)
    for again in (client, MemoizedClient.load(spec, disk[-1])):
        for _ in range(20):  # with a fresh report all would agree with a chance below 1e-9
            same = [again.report(value) for value in (37.0, Fraction(37), np.float32(37), np.int64(37))]
            assert same == [said[0]] * 4
            assert (again.report(Fraction(2, 6)), again.report(-0.0), again.report(0)) == (said[1], said[2], said[2])
        for other in (38, 1 / 3, Fraction(1, 3) + Fraction(1, 2**200)):
            with pytest.raises(StreamSpent):
                again.report(other)
    assert len(disk) == 3


def test_a_fraction_of_any_length_is_remembered_like_any_other_number() -> None:
    spec, long = HybridMean(epsilon=Fraction(4), bounds=(0, 120)), Fraction(1, 10**5000)
    client = MemoizedClient(spec, distinct=1)
    said = client.report(long)
    assert {MemoizedClient.load(spec, client.save()).report(long) for _ in range(2)} == {said}
    with pytest.raises(StreamSpent):
        client.report(2 * long)


@pytest.mark.parametrize("spec", [SPEC, DirectResponse(epsilon=Fraction(2), categories=1000)])
def test_a_state_of_another_spec_is_refused(spec: Spec) -> None:
    state = MemoizedClient(WIDE, distinct=2).save()
    with pytest.raises(InputError, match="another spec"):
        MemoizedClient.load(spec, state)


@given(st.binary(max_size=80), st.integers(0, 400), st.integers(1, 255))
def test_a_damaged_state_is_refused(junk: bytes, place: int, flip: int) -> None:
    client = MemoizedClient(WIDE, distinct=2)
    client.report(7)
    state = client.save()
    place %= len(state)
    damaged = state[:place] + bytes([state[place] ^ flip]) + state[place + 1 :]
    for bad in (junk, damaged, state[:place], state + b" "):
        with pytest.raises(InputError):
            MemoizedClient.load(WIDE, bad)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b'"distinct":2', b'"distinct":0'),
        (b'"distinct":2', b'"distinct":"2"'),
        (b'"beyond":"refuse"', b'"beyond":"tell"'),
        (b'"version":1', b'"version":2'),
        (b'"last":null', b'"last":"1000"'),
        (b'"last":null', b'"last":{}'),
        (b'"memory":[]', b'"memory":[["00","-1"]]'),
        (b'"memory":[]', b'"memory":[["zz","1"]]'),
        (b'"memory":[]', b'"memory":[["00"," 1"]]'),
        (b'"memory":[]', b'"memory":[["00","1"],["00","2"]]'),
        (b'"memory":[]', b'"memory":7'),
        (b'"memory":[]', b'"memory":[["00","1"],["01","1"],["02","1"]]'),
        (b'"memory":[]', b'"other":[]'),
        (b"{", b"["),
    ],
)
def test_a_forged_state_is_refused_by_our_own_errors(old: bytes, new: bytes) -> None:
    text = MemoizedClient(WIDE, distinct=2).save()[32:]
    assert old in text
    forged = text.replace(old, new, 1)
    with pytest.raises((InputError, ParameterError)) as caught:
        MemoizedClient.load(WIDE, hashlib.sha256(forged).digest() + forged)
    assert caught.value.__context__ is None


@pytest.mark.parametrize("state", [None, "text", 7, [1, 2]])
def test_what_is_no_state_is_refused(state: Any) -> None:
    with pytest.raises(InputError):
        MemoizedClient.load(WIDE, state)


def test_a_client_is_not_copied() -> None:
    client = MemoizedClient(SPEC, distinct=1)
    for act in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(NotCopyable):
            act(client)


def test_a_client_does_not_show_what_it_knows() -> None:
    client = MemoizedClient(WIDE, distinct=2)
    fresh = repr(client)
    client.report(77)
    assert repr(client) == fresh == "MemoizedClient(randomized-response, distinct=2)"


def test_threads_get_one_report_for_a_value() -> None:
    client = MemoizedClient(ProjectiveGeometry.best(epsilon=Fraction(1), categories=1000), distinct=1)
    start, said = threading.Barrier(8), []

    def report() -> None:
        start.wait()
        said.append(client.report(5))

    threads = [threading.Thread(target=report) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(said) == 8
    assert len(set(said)) == 1


def test_a_forked_child_does_not_speak_for_its_parent(monkeypatch: pytest.MonkeyPatch) -> None:
    client = MemoizedClient(SPEC, distinct=2)
    here = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: here + 1)
    with pytest.raises(StreamSpent, match="another process"):
        client.report(1)
    with pytest.raises(StreamSpent, match="another process"):
        client.save()


def test_the_cap_is_declared_and_checked() -> None:
    with pytest.raises(MissingParameter, match="distinct="):
        MemoizedClient(SPEC)
    for distinct in (0, -1, 2.0, True, (1 << 20) + 1):
        with pytest.raises(ParameterError):
            MemoizedClient(SPEC, distinct=distinct)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="Beyond"):
        MemoizedClient(SPEC, distinct=1, beyond="repeat")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="keep"):
        MemoizedClient(SPEC, distinct=1, keep=b"file")  # type: ignore[arg-type]
    assert repr(Beyond.REPEAT) == "Beyond.REPEAT"

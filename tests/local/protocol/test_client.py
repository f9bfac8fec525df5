"""A client reports once, says nothing about what it refuses, and is of one process and one person."""

from __future__ import annotations

import copy
import os
import pickle
import threading
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas
import pytest

from clients.python import standalone
from discreet.errors import InputError, NotCopyable, StreamSpent
from discreet.local import DirectResponse, MemoizedClient
from discreet.testing.hostile import HOSTILE_VALUES
from tests.randomness.sources import in_child

SPEC = DirectResponse(epsilon=Fraction(1), categories=4)
NAMED = DirectResponse(epsilon=Fraction(1), categories=("tea", "coffee", "wäter"))
NO_VALUES = [
    *(value for value in HOSTILE_VALUES if not (isinstance(value, np.ndarray) and value.ndim == 0)),
    4,
    -1,
    1.0,
    Decimal(1),
    Fraction(1),
    "1",
    "tea",
    "теа",
    "\x00",
    "\ud800",
    np.float64(2),
    np.datetime64("2020-01-01"),
    np.timedelta64(1, "D"),
    np.timedelta64(1),
    np.timedelta64("NaT"),
    [1],
    (1,),
    np.array([1]),
]


@pytest.mark.parametrize("value", [0, 3, np.int8(2), np.uint64(1)])
def test_a_value_is_reported_once_and_a_second_time_never(value: Any) -> None:
    client = SPEC.client()
    assert client.report(value) in range(4)
    for _ in range(2):
        with pytest.raises(StreamSpent, match="cost epsilon again"):
            client.report(value)


@pytest.mark.parametrize("value", NO_VALUES, ids=lambda value: type(value).__name__)
def test_what_is_no_value_is_refused_in_the_same_words_and_spends_nothing(value: Any) -> None:
    client = SPEC.client()
    with pytest.raises(InputError) as caught:
        client.report(value)
    assert str(caught.value) == "a value must be an int from 0 to 3; nothing was reported"
    assert caught.value.__context__ is None
    assert client.report(0) in range(4)


@pytest.mark.parametrize("value", NO_VALUES, ids=lambda value: type(value).__name__)
def test_one_bad_value_among_many_refuses_them_all_in_the_same_words(value: Any) -> None:
    with pytest.raises(InputError) as caught:
        SPEC.client().report_many([0, value, 1])
    assert str(caught.value) == "a value must be an int from 0 to 3; nothing was reported"
    assert caught.value.__context__ is None


class Exploding:
    """An object that raises with a private value when it is looked at."""

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("the value is 41")


@pytest.mark.parametrize(
    "values",
    [None, 3, "03", b"03", {0: 1}, {1, 2}, iter([1, 2]), np.array(3), np.array([[1, 2]]), Exploding()],
    ids=lambda values: type(values).__name__,
)
def test_what_has_no_entry_for_each_person_is_refused_as_a_container(values: Any) -> None:
    for refuse in (SPEC.client().report_many, NAMED.client().batch):
        with pytest.raises(InputError) as caught:
            refuse(values)
        assert str(caught.value) == (
            "values must be a list or one-dimensional array, one entry a person (report() takes a single value); "
            "nothing was reported"
        )
        assert caught.value.__context__ is None


@pytest.mark.parametrize(
    "values",
    [
        [True, False],
        [1.0, 2.0],
        [1, True],
        [[1, 2], [3, 0]],
        [[1], [1, 2]],
        np.array([1.0, 2.0]),
        np.array([True, False]),
        np.array([1, 4]),
        np.array([-1, 0], dtype=np.int8),
        np.array([2**63], dtype=np.uint64),
        np.array(["1", "2"]),
        np.array([1, None], dtype=object),
        np.array([1, True], dtype=object),
        np.array([1 + 0j]),
        np.ma.masked_array([1, 2], mask=[True, False]),
    ],
    ids=lambda values: type(values).__name__,
)
def test_a_column_with_what_is_no_value_is_refused_without_a_word_about_it(values: Any) -> None:
    with pytest.raises(InputError) as caught:
        SPEC.client().report_many(values)
    assert str(caught.value) == "a value must be an int from 0 to 3; nothing was reported"
    assert caught.value.__context__ is None


@pytest.mark.parametrize(
    "values",
    [
        [0, 1, 2, 3],
        (0, 1, 2, 3),
        range(4),
        np.arange(4, dtype=np.int8),
        np.arange(4, dtype=np.uint64),
        np.arange(4, dtype=">i4"),
        np.arange(8)[::2] // 2,
        np.array([0, 1, 2, 3], dtype=object),
        [np.int16(0), 1, np.uint8(2), 3],
    ],
    ids=lambda values: type(values).__name__,
)
def test_every_kind_of_column_of_whole_numbers_is_taken(values: Any) -> None:
    reports = SPEC.client().report_many(values)
    assert reports.dtype == np.int64
    assert reports.shape == (4,)
    assert set(reports.tolist()) <= set(range(4))


def test_nobody_may_report() -> None:
    assert SPEC.client().report_many([]).tolist() == []
    assert SPEC.client().report_many(np.array([], dtype=np.int64)).tolist() == []
    assert SPEC.client().report_many(np.array([])).dtype == np.int64
    assert len(SPEC.client().batch([])) == 0


def test_a_data_frame_is_no_column_and_its_columns_are() -> None:
    frame = pandas.DataFrame({"drink": ["tea", "coffee"], "index": [0, 1]})
    assert NAMED.items(frame["drink"]).tolist() == NAMED.items(frame["index"]).tolist() == [0, 1]
    with pytest.raises(InputError, match="one entry a person"):
        NAMED.client().batch(frame)


def test_labels_and_indices_stand_for_the_same_values() -> None:
    assert NAMED.items(["tea", 1, "wäter", np.int8(0)]).tolist() == [0, 1, 2, 0]
    assert NAMED.items(np.array(["coffee", "tea"])).tolist() == [1, 0]
    assert NAMED.items(np.array(["coffee", 2], dtype=object)).tolist() == [1, 2]
    assert NAMED.client().report("coffee") in range(3)


@pytest.mark.parametrize("value", ["Tea", "tea ", "", "wa\u0308ter", "0", b"tea", 3, None])
def test_what_is_no_label_is_refused_and_no_label_is_shown(value: Any) -> None:
    with pytest.raises(InputError) as caught:
        NAMED.client().report(value)
    assert str(caught.value) == "a value must be an int from 0 to 2 or the name of a category; nothing was reported"
    assert caught.value.__context__ is None


def test_of_many_threads_racing_one_gets_the_report() -> None:
    for _ in range(20):
        client, start, seen = SPEC.client(), threading.Barrier(8), []

        def race(client: Any = client, start: Any = start, seen: Any = seen) -> None:
            start.wait()
            try:
                seen.append(client.report(1))
            except StreamSpent:
                seen.append(None)

        threads = [threading.Thread(target=race) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(seen) == 8
        assert sum(report is not None for report in seen) == 1


@pytest.mark.parametrize("stop", [KeyboardInterrupt, MemoryError, RuntimeError])
def test_a_client_stopped_in_the_middle_never_draws_a_second_report(monkeypatch: Any, stop: Any) -> None:
    client, drawn = SPEC.client(), []

    def stopped(*given: Any) -> Any:
        drawn.append(given)
        raise stop

    monkeypatch.setattr(DirectResponse, "randomize", stopped)
    with pytest.raises(stop):
        client.report(1)
    with pytest.raises(StreamSpent):
        client.report(1)
    assert len(drawn) == 1


def test_a_forked_child_cannot_report_and_its_parent_still_can() -> None:
    client = SPEC.client()

    def refused() -> bool:
        try:
            client.report(1)
        except StreamSpent:
            return True
        return False

    assert in_child(refused, seconds=600) is True
    assert client.report(1) in range(4)


def test_a_fork_that_has_got_the_number_of_its_parent_cannot_report(monkeypatch: pytest.MonkeyPatch) -> None:
    # numbers of processes are used again: a grandchild may have the number of a process that has reported and ended
    here = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: here)
    for made, spent in (
        (SPEC.client(), StreamSpent),
        (MemoizedClient(SPEC, distinct=2), StreamSpent),
        (standalone.Client(SPEC.to_json()), standalone.AlreadyReported),
    ):
        assert in_child(lambda one=made, error=spent: _refuses(one, error), seconds=600) is True


def _refuses(client: Any, error: type[Exception]) -> bool:
    try:
        client.report(1)
    except error:
        return True
    return False


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_client_is_not_copied(duplicate: Any) -> None:
    with pytest.raises(NotCopyable):
        duplicate(SPEC.client())


def test_the_repr_says_the_protocol_and_not_whether_it_reported() -> None:
    client = SPEC.client()
    before = repr(client)
    client.report(2)
    assert repr(client) == before == "Client(randomized-response)"

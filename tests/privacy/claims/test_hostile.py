"""Whatever is thrown at a session: one clear error, and nothing spent."""

from __future__ import annotations

import copy
import math
import os
import pickle
import threading
from fractions import Fraction

import numpy as np
import pytest

from discreet.errors import BudgetExceeded, DiscreetError, NotCopyable, ParameterError
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP
from discreet.privacy.adaptive import (
    ApproxFilter,
    GaussianFilter,
    Odometer,
    Partition,
    PureFilter,
    RenyiFilter,
    ZCDPFilter,
    privacy_filter,
)
from discreet.privacy.relation import Relation
from tests.randomness.sources import in_child

OPENERS = [
    PureFilter,
    lambda epsilon: ApproxFilter(epsilon, 1e-6),
    ZCDPFilter,
    lambda epsilon: RenyiFilter(2, epsilon),
    GaussianFilter,
    lambda _: Odometer(PureDP),
    lambda _: Odometer(RenyiDP, alpha=2),
]
NO_NUMBERS = [math.nan, math.inf, -math.inf, -1, -5e-324, True, "1", None, 1j, [1], 10**400, np.longdouble(1)]
NO_GUARANTEES = [0.5, 1, True, None, "PureDP(1)", math.nan, PureDP, [PureDP(1)], ..., Fraction(1, 2)]


@pytest.mark.parametrize("number", NO_NUMBERS, ids=repr)
@pytest.mark.parametrize("opener", OPENERS[:5])
def test_a_budget_is_a_finite_number_that_is_at_least_zero(opener, number):
    with pytest.raises(ParameterError):
        opener(number)


@pytest.mark.parametrize("thing", NO_GUARANTEES, ids=repr)
@pytest.mark.parametrize("opener", OPENERS)
def test_what_is_no_guarantee_is_refused_and_costs_nothing(opener, thing):
    session = opener(1)
    before = repr(session)
    asks = [session.spend] if isinstance(session, Odometer) else [session.spend, session.admits, session.fits]
    for ask in asks:
        with pytest.raises(ParameterError, match="guarantee") as caught:
            ask(thing)
        assert caught.value.__cause__ is None
    assert repr(session) == before


@pytest.mark.parametrize("number", NO_NUMBERS[:-2], ids=repr)
def test_no_guarantee_can_be_made_of_what_is_no_number(number):
    for make in (PureDP, ZCDP, GaussianDP):
        with pytest.raises(ParameterError):
            make(number)


@pytest.mark.parametrize("delta", [math.nan, math.inf, -0.1, 1.5, True, "0", 1j], ids=repr)
def test_a_named_delta_is_a_probability(delta):
    session = ApproxFilter(1, 1e-6)
    with pytest.raises(ParameterError):
        session.spend(PureDP(0.1), at_delta=delta)
    assert session.spent == ApproxDP(0, 0)


def test_a_forged_negative_price_is_refused():
    forged = PureDP(1)
    object.__setattr__(forged, "epsilon", -10)
    session = PureFilter(1)
    with pytest.raises(ParameterError, match="at least 0"):
        session.spend(forged)
    assert session.remaining == PureDP(1)


def test_the_largest_prices_do_not_overflow():
    session = PureFilter(1.7e308)
    session.spend(PureDP(1.7e308))
    assert not session.admits(PureDP(5e-324))
    meter = Odometer(PureDP)
    meter.spend(PureDP(1.7e308))
    with pytest.raises(BudgetExceeded):
        meter.spend(PureDP(1.7e308))
    assert meter.spent == PureDP(1.7e308)
    squares = Odometer(GaussianDP)
    squares.spend(GaussianDP(1.7e308))
    assert squares.spent == GaussianDP(1.7e308)


def test_a_budget_that_guarantees_nothing_is_refused():
    for make in (lambda: ApproxFilter(1, 1), lambda: ApproxFilter(1, 1, slack=0.5), lambda: ZCDPFilter(1, 1.0)):
        with pytest.raises(ParameterError, match="guarantees nothing"):
            make()


@pytest.mark.parametrize("thing", [0.5, None, PureDP, "ZCDP"])
def test_a_session_is_opened_with_a_guarantee(thing):
    with pytest.raises(ParameterError, match="a guarantee is needed"):
        privacy_filter(thing)


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, pickle.dumps])
@pytest.mark.parametrize("opener", OPENERS)
def test_a_budget_cannot_be_copied_or_pickled(opener, duplicate):
    with pytest.raises(NotCopyable, match="again"):
        duplicate(opener(1))


def test_the_parts_of_a_partition_cannot_be_duplicated():
    parts = Partition(PureFilter(1, relation=Relation.ADD_REMOVE), {"a": PureDP(1)})
    for duplicate in (copy.deepcopy, pickle.dumps):
        with pytest.raises(NotCopyable):
            duplicate(parts)
    assert copy.copy(parts)["a"] is parts["a"]


@pytest.mark.parametrize("held", [False, True])
def test_a_forked_child_has_no_budget_even_if_the_lock_was_held(held):
    session = PureFilter(1)
    asks = [
        lambda: session.spend(PureDP(1)),
        lambda: session.admits(PureDP(1)),
        lambda: session.fits(PureDP(1)),
        lambda: session.spent,
        lambda: session.remaining,
        lambda: session.budget,
    ]
    if held:
        session._lock.acquire()
    assert in_child(lambda: [_refuses(ask) for ask in asks]) == [True] * len(asks)
    if held:
        session._lock.release()
    session.spend(PureDP(1))


def test_a_grandchild_with_the_number_of_the_process_that_opened_the_budget_has_none(monkeypatch):
    session, number = PureFilter(1), os.getpid()

    def spend():
        monkeypatch.setattr(os, "getpid", lambda: number)
        return _refuses(lambda: session.spend(PureDP(1)))

    assert in_child(spend) is True
    session.spend(PureDP(1))


def test_a_fork_that_python_did_not_see_is_told_by_its_number(monkeypatch):
    session = PureFilter(1)
    monkeypatch.setattr(os, "getpid", lambda: 1)
    assert _refuses(lambda: session.spend(PureDP(1)))


def _refuses(ask):
    try:
        ask()
    except NotCopyable:
        return True
    return False


@pytest.mark.parametrize(
    ("session", "guarantee", "count"),
    [
        (PureFilter(1), PureDP(Fraction(1, 300)), 300),
        (ApproxFilter(1, 0.5), ApproxDP(Fraction(1, 1000), Fraction(1, 600)), 300),
        (ZCDPFilter(1), GaussianDP(Fraction(1, 10)), 200),
        (RenyiFilter(2, 1), RenyiDP(2, Fraction(1, 300)), 300),
        (GaussianFilter(1), GaussianDP(Fraction(1, 17)), 289),
    ],
)
def test_threads_together_spend_the_budget_once(session, guarantee, count):
    spent, start = [], threading.Barrier(8)

    def work():
        start.wait()
        while session.admits(guarantee):
            try:
                session.spend(guarantee)
            except BudgetExceeded:
                return
            spent.append(1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(spent) == count
    assert not session.admits(guarantee)


def test_an_interrupted_spend_is_charged_or_not_and_never_half():
    session = ApproxFilter(1, 0.5)

    class Interrupted(Exception):
        pass

    class Amount(Fraction):
        @property
        def denominator(self):
            raise Interrupted

    with pytest.raises(Interrupted):
        session._charge((Fraction(1, 2), Amount(1, 4)), Relation.UNSTATED)
    assert session.spent == ApproxDP(0, 0)
    session.spend(ApproxDP(1, 0.5))


def test_a_refusal_is_one_error_of_the_house():
    session = PureFilter(1)
    with pytest.raises(DiscreetError) as caught:
        session.spend(PureDP(2))
    assert isinstance(caught.value, RuntimeError)
    assert str(caught.value).startswith("this release costs epsilon 2, and 1 is left.")

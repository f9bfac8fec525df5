"""Hostile SQL reaches neither the data nor the ledger: through a session, nothing is run and nothing is charged."""

from __future__ import annotations

from dataclasses import replace

import pytest

from discreet.errors import QueryRefused
from discreet.ledger import MemoryLedger
from discreet.query.policy import terms_of
from discreet.query.session.session import Session
from tests.query.hostile import HOSTILE
from tests.query.sample_policy import POLICY


class Untouchable:
    """An engine that fails the test when it is asked for anything."""

    def __getattr__(self, name):
        pytest.fail(f"the engine was asked for {name}")


@pytest.fixture(scope="module")
def session():
    policy = replace(POLICY, ledger=None, budget=POLICY.budget.under(POLICY.relation))
    analyst = next(iter(policy.analysts))
    return Session(policy, analyst=analyst, engine=Untouchable(), ledger=MemoryLedger(terms_of(policy)))


def test_the_corpus_is_large():
    assert len({sql for _, sql in HOSTILE}) >= 150


@pytest.mark.parametrize("place", range(len(HOSTILE)))
def test_a_hostile_query_reads_nothing_and_is_charged_nothing(session, place):
    _, sql = HOSTILE[place]
    before = session.ledger.head
    for ask in (session.sql, session.explain):
        with pytest.raises(QueryRefused) as refusal:
            ask(sql, rho=0.01)
        assert refusal.value.__cause__ is None
        assert refusal.value.__suppress_context__ or refusal.value.__context__ is None
    assert session.ledger.head == before

"""Processes that are killed in the middle of a charge or of a store: what was spent covers what was released."""

from __future__ import annotations

import pytest

from tests.ledger.ledgers import in_a_process_of_its_own
from tests.ledger.spenders import TURN

DURABLE = TURN.index("after commit")


@pytest.mark.theorem("SqliteLedger.privacy")
def test_a_kill_during_the_charge_spends_from_the_commit_on_and_releases_nothing(rounds, folder):
    count = rounds(sample=8, full=200)
    found = in_a_process_of_its_own("kill_in_turn", folder / "ledger.db", rounds=count, turn=1)
    assert tuple(found) == TURN
    for place, (tally, entries) in enumerate(found.values()):
        spent = 1 if place >= DURABLE else 0
        assert tally == [[0, spent * (index + 1), 0, spent * (index + 1)] for index in range(count)]
        assert entries == 1 + spent * count + 1


@pytest.mark.theorem("SqliteLedger.privacy")
def test_a_kill_during_the_store_leaves_the_charge_spent(rounds, folder):
    count = rounds(sample=8, full=200)
    found = in_a_process_of_its_own("kill_in_turn", folder / "ledger.db", rounds=count, turn=2)
    assert tuple(found) == TURN
    for place, (tally, entries) in enumerate(found.values()):
        stored = 1 if place >= DURABLE else 0
        assert tally == [[0, index + 1, stored * (index + 1), index + 1] for index in range(count)]
        assert entries == 1 + (1 + stored) * count + 1


@pytest.mark.theorem("SqliteLedger.privacy")
def test_what_was_released_before_a_kill_is_stored_and_spent(rounds, folder):
    count = rounds(sample=3, full=50)
    found = in_a_process_of_its_own("kill_in_turn", folder / "ledger.db", rounds=count, turn=3)
    for place, (tally, _) in enumerate(found.values()):
        spent = 2 if place >= DURABLE else 1
        assert tally == [[index + 1, spent * (index + 1), index + 1, spent * (index + 1)] for index in range(count)]


@pytest.mark.theorem("SqliteLedger.privacy")
def test_a_kill_while_the_anchor_is_repaired_loses_nothing(rounds, folder):
    count = rounds(sample=5, full=200)
    found = in_a_process_of_its_own("kill_in_repair", folder / "ledger.db", rounds=count)
    assert found["tally"] == [[index + 1, 0, index + 1] for index in range(count)]


def test_a_ledger_whose_opening_was_killed_is_opened_by_the_next(folder):
    found = in_a_process_of_its_own("kill_at_opening", folder / "ledger.db", most=30)
    assert found == [[True, 1]] * (len(found) - 1) + [[False, 1]]
    assert len(found) > 5

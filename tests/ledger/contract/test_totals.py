"""Exact totals, whatever is asked: tiny and huge prices, random histories, memory and file alike."""

from __future__ import annotations

import sys
import tempfile
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import BudgetExceeded, DiscreetError
from discreet.ledger import Charge, Entry, EntryKind, MemoryLedger, SqliteLedger, Stored
from discreet.ledger.contract.terms import amounts_from_plain
from discreet.ledger.contract.verification import replayed
from discreet.privacy import ZCDP, PureDP, privacy_filter
from discreet.privacy.numbers import written
from tests.ledger.ledgers import IN_MEMORY, PEOPLE, epsilon, request, terms

NUMBERS = st.one_of(
    st.floats(min_value=sys.float_info.min, max_value=1e300),
    st.floats(min_value=1e-6, max_value=10),
    st.fractions(min_value=Fraction(1, 1000), max_value=100, max_denominator=1000),
    st.integers(min_value=0, max_value=1000),
)
STEPS = st.tuples(
    st.sampled_from(["ask", "answer", "fail", "share", "raise"]),
    st.integers(min_value=0, max_value=3),
    st.sampled_from(["ana", "bo"]),
    st.sampled_from([None, "k1", "k2"]),
)


@given(st.lists(NUMBERS, max_size=12), NUMBERS)
def test_the_total_is_the_exact_sum_and_admits_what_a_filter_admits(costs, budget):
    ledger = MemoryLedger(terms(budget=epsilon(budget), caps={"ana": None}))
    reference, total = privacy_filter(epsilon(budget)), Fraction(0)
    for name, cost in enumerate(costs):
        if reference.admits(epsilon(cost)):
            reference.spend(epsilon(cost))
            assert isinstance(ledger.obtain(request(name, cost=epsilon(cost))), Charge)
            total += written(cost)
        else:
            with pytest.raises(BudgetExceeded):
                ledger.obtain(request(name, cost=epsilon(cost)))
    last = list(ledger.entries())[-1]
    assert amounts_from_plain(last.fields["spent"]) == (total,)
    assert ledger.balance().spent == reference.spent
    assert ledger.balance().remaining == reference.remaining
    assert ledger.verify().spent == reference.spent


@given(st.lists(st.floats(min_value=1e-3, max_value=3), min_size=1, max_size=8))
def test_prices_of_another_notion_are_never_counted_below_their_worth(costs):
    ledger = MemoryLedger(terms(budget=ZCDP(100, relation=PEOPLE), caps={"ana": None}))
    for name, cost in enumerate(costs):
        ledger.obtain(request(name, cost=PureDP(cost, relation=PEOPLE)))
    least = sum(cost * cost / 2 / (1 + cost * cost / 4) for cost in costs) * (1 - 1e-12)  # tanh x >= x / (1 + x^2)
    assert ledger.balance().spent.rho >= least
    ledger.verify()


def take(ledger, charges, step):
    """Do one step; return what can be compared between ledgers."""
    try:
        return do(ledger, charges, *step)
    except DiscreetError as refusal:
        return type(refusal).__name__, str(refusal)


def do(ledger, charges, action, name, analyst, key):
    if action == "ask":
        found = ledger.obtain(request(name, analyst=analyst, idempotency=key))
        if isinstance(found, Stored):
            return "stored", found.number, found.answer, found.shared
        charges.append(found)
        return "charge", found.number
    if action == "share":
        ledger.amend(shared_answers=not ledger.terms.shared_answers, reason="a vote", by="curator")
    elif action == "raise":
        ledger.amend(budget=epsilon(1 + name / 8), reason="a vote", by="curator")
    elif charges and action == "fail":
        ledger.note(charges[name % len(charges)], "failed")
    elif charges:
        return ledger.store(charges[name % len(charges)], f"{name % len(charges)}").answer
    return None


@pytest.mark.theorem("decide.privacy")
@given(st.lists(STEPS, max_size=40))
def test_no_history_passes_the_budget_refunds_or_renews(steps):
    ledger, charges, spent = MemoryLedger(terms()), [], Fraction(0)
    for step in steps:
        before = len(list(ledger.entries()))
        take(ledger, charges, step)
        state = replayed(ledger.entries())
        assert spent <= state.spent[0]
        assert state.spent[0] == spent or state.spent[0] <= Fraction(ledger.terms.budget.epsilon)
        assert len(list(ledger.entries())) - before in {0, 1}
        spent = state.spent[0]
    paid = [entry.cost for entry in ledger.entries() if entry.kind is EntryKind.CHARGE]
    assert sum(written(cost.epsilon) for cost in paid) == spent


@pytest.mark.theorem("decide.privacy")
@given(st.lists(STEPS, max_size=30), st.integers(min_value=0))
def test_what_is_decided_does_not_depend_on_the_answers(steps, salt):
    class Salted(MemoryLedger):
        def store(self, charge, answer):
            return super().store(charge, f"{answer} and {salt}")

    plain, salted, mine, yours = MemoryLedger(terms()), Salted(terms()), [], []
    for step in steps:
        first, second = take(plain, mine, step), take(salted, yours, step)
        if isinstance(first, tuple) and first[0] == "stored":
            first, second = (first[:2], first[3:]), (second[:2], second[3:])
        elif step[0] == "answer":
            first, second = type(first), type(second)
        assert first == second


@given(st.lists(STEPS, min_size=1, max_size=12))
@settings(max_examples=20)
def test_a_file_and_memory_decide_alike(steps):
    with tempfile.TemporaryDirectory(dir=IN_MEMORY) as place:
        memory, file = MemoryLedger(terms()), SqliteLedger.open(Path(place) / "ledger.db", terms())
        with file:
            mine, yours = [], []
            for step in steps:
                assert take(memory, mine, step) == take(file, yours, step)
            assert file.balance("bo") == memory.balance("bo")
            found = file.verify(head=file.head)
            expected = memory.verify()
            assert (found.entries, found.charges, found.answers, found.spent) == (
                expected.entries, expected.charges, expected.answers, expected.spent,
            )  # fmt: skip


@pytest.mark.parametrize("budget", [1.7e308, Fraction(10**460, 3**323), 1, 1e-300])
def test_totals_can_be_read_back_whatever_was_added(budget):
    """The longest numbers there are: a huge total, the least addends, long odd denominators."""
    ledger = MemoryLedger(terms(budget=epsilon(budget), caps={"ana": epsilon(budget)}))
    costs = [budget / 2, sys.float_info.min, Fraction(1, 3**323), Fraction(1, 5**130), Fraction(1, 7**180), 1 / 3]
    for name, cost in enumerate(costs):
        if ledger.fits("ana", epsilon(cost)):
            ledger.obtain(request(name, cost=epsilon(cost)))
    for entry in ledger.entries():
        assert Entry.parse(entry.number, entry.previous, entry.text, entry.hash) == entry
    assert ledger.verify().charges == ledger.balance("ana").charges >= 1


def test_an_interrupt_while_an_entry_is_kept_in_memory_leaves_it_whole(monkeypatch):
    from discreet.ledger import memory

    ledger = MemoryLedger(terms(caps={"ana": epsilon(0.25)}))

    def interrupt(_):
        raise KeyboardInterrupt

    with monkeypatch.context() as hooked:
        hooked.setattr(memory, "_places", interrupt)
        with pytest.raises(KeyboardInterrupt):
            ledger.obtain(request("lost"))
    assert ledger.balance("ana").own_spent == epsilon(0.125)
    ledger.obtain(request("kept"))
    with pytest.raises(BudgetExceeded, match="own cap"):
        ledger.obtain(request("more"))
    assert ledger.verify().charges == ledger.balance().charges == 2


def test_a_free_release_is_kept_too():
    ledger = MemoryLedger(terms(budget=epsilon(0), caps={"ana": None}))
    charge = ledger.obtain(request(cost=0))
    assert isinstance(ledger.store(charge, "public"), Stored)
    assert ledger.verify().spent == epsilon(0)


def test_a_sum_of_a_thousand_thirds_and_tenths_is_exact():
    ledger = MemoryLedger(terms(budget=epsilon(1000), caps={"ana": None}))
    total = Fraction(0)
    for name in range(300):
        cost = [Fraction(1, 3), 0.1, Fraction(1, 7)][name % 3]
        ledger.obtain(request(name, cost=epsilon(cost)))
        total += written(cost)
    assert amounts_from_plain(list(ledger.entries())[-1].fields["spent"]) == (total,)

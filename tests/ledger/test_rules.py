"""What a ledger does with a request, in memory and in a file alike."""

from __future__ import annotations

import copy
import pickle
from fractions import Fraction

import pytest

from discreet.errors import (
    BudgetExceeded,
    LedgerError,
    LedgerMismatch,
    NoSoundConversion,
    NotCopyable,
    ParameterError,
    RelationMismatch,
)
from discreet.ledger import Charge, EntryKind, Stored
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, PureDP, Relation, RenyiDP
from tests.ledger.ledgers import PEOPLE, digest, epsilon, request, terms


def kinds(ledger):
    return [entry.kind for entry in ledger.entries()]


def answered(ledger, name="q", answer='{"count": 41}', **more):
    charge = ledger.obtain(request(name, **more))
    assert isinstance(charge, Charge)
    return ledger.store(charge, answer)


def test_a_charge_is_an_entry_with_its_exact_price_and_totals(opened):
    ledger = opened()
    charge = ledger.obtain(request(cost=epsilon(Fraction(1, 3)), releases=("Laplace, scale 3",)))
    assert isinstance(charge, Charge)
    assert (charge.number, charge.analyst, charge.digest) == (2, "ana", digest("q"))
    entry = list(ledger.entries())[1]
    assert (entry.hash, entry.cost) == (charge.entry_hash, epsilon(Fraction(1, 3)))
    assert [entry.fields[name] for name in ("amounts", "own", "spent")] == [["1/3"]] * 3
    assert entry.fields["releases"] == ["Laplace, scale 3"]


def test_the_same_request_again_is_the_stored_answer_and_free(opened):
    ledger = opened()
    first = answered(ledger)
    again = ledger.obtain(request())
    assert again == first
    assert isinstance(again, Stored)
    assert again.answer == '{"count": 41}'
    assert kinds(ledger) == [EntryKind.OPEN, EntryKind.CHARGE, EntryKind.ANSWER]


def test_a_replay_is_free_when_nothing_is_left(opened):
    ledger = opened(budget=epsilon(0.125))
    first = answered(ledger)
    with pytest.raises(BudgetExceeded):
        ledger.obtain(request("other"))
    assert ledger.obtain(request()) == first


def test_a_charge_without_an_answer_is_paid_again(opened):
    ledger = opened()
    first, second = ledger.obtain(request()), ledger.obtain(request())
    assert isinstance(first, Charge)
    assert isinstance(second, Charge)
    assert ledger.balance().spent == epsilon(0.25)


def test_a_failed_release_stays_spent_and_its_retry_pays_again(opened):
    ledger = opened()
    charge = ledger.obtain(request())
    ledger.note(charge, "failed")
    assert isinstance(ledger.obtain(request()), Charge)
    assert ledger.balance().spent == epsilon(0.25)
    with pytest.raises(LedgerError, match="outcome already"):
        ledger.store(charge, "1")
    with pytest.raises(LedgerError, match="outcome already"):
        ledger.note(charge, "failed")


def test_an_answer_is_stored_once(opened):
    ledger = opened()
    charge = ledger.obtain(request())
    stored = ledger.store(charge, "1")
    assert ledger.store(charge, "1") == stored
    with pytest.raises(LedgerError, match="stored once"):
        ledger.store(charge, "2")
    assert kinds(ledger).count(EntryKind.ANSWER) == 1


def test_an_answer_is_stored_where_it_was_charged(opened):
    ledger, other = opened(), opened()
    charge = other.obtain(request())
    ledger.obtain(request())
    with pytest.raises(LedgerMismatch, match="not of this ledger"):
        ledger.store(charge, "1")


def test_a_charge_that_says_other_than_its_entry_is_refused(opened):
    from dataclasses import replace

    ledger = opened()
    charge = ledger.obtain(request())
    ledger.store(charge, "1")
    for change in ({"analyst": "bo"}, {"digest": digest("other")}, {"cost": epsilon(0)}, {"number": 3}):
        with pytest.raises(LedgerMismatch, match="not of this ledger"):
            ledger.store(replace(charge, **change), "1")


@pytest.mark.theorem("Ledger.privacy")
def test_what_does_not_fit_is_refused_and_nothing_is_written(opened):
    ledger = opened()
    for name in range(8):
        ledger.obtain(request(name))
    head = ledger.head
    with pytest.raises(BudgetExceeded, match=r"costs epsilon 0\.125, and 0 is left of the budget that all analysts"):
        ledger.obtain(request("one more"))
    assert ledger.head == head
    assert ledger.balance().remaining == epsilon(0)


def test_the_last_unit_of_the_budget_can_be_spent_and_not_one_more(opened):
    ledger = opened(budget=epsilon(Fraction(1)))
    for name in range(3):
        ledger.obtain(request(name, cost=epsilon(Fraction(1, 3))))
    with pytest.raises(BudgetExceeded):
        ledger.obtain(request("least", cost=epsilon(2.2250738585072014e-308)))


def test_an_own_cap_binds_its_analyst_alone(opened):
    ledger = opened()
    for name in range(4):
        ledger.obtain(request(name, analyst="bo"))
    with pytest.raises(BudgetExceeded, match="own cap of 'bo'"):
        ledger.obtain(request("more", analyst="bo"))
    assert isinstance(ledger.obtain(request("more")), Charge)
    balance = ledger.balance("bo")
    assert (balance.own_spent, balance.own_remaining, balance.spent) == (epsilon(0.5), epsilon(0), epsilon(0.625))


@pytest.mark.theorem("Ledger.privacy")
def test_the_total_binds_all_analysts_together(opened):
    names = [f"analyst {index}" for index in range(20)]
    ledger = opened(caps={name: epsilon(1) for name in names})
    granted = 0
    for name in names:
        try:
            ledger.obtain(request(name, analyst=name))
            granted += 1
        except BudgetExceeded:
            continue
    assert granted == 8


def test_whoever_is_not_listed_is_refused(opened):
    ledger = opened()
    with pytest.raises(ParameterError, match="'eve' is not an analyst of this ledger: add the name"):
        ledger.obtain(request(analyst="eve"))
    assert kinds(ledger) == [EntryKind.OPEN]


def test_answers_are_not_shared_unless_the_terms_say_so(opened):
    ledger = opened()
    answered(ledger)
    assert isinstance(ledger.obtain(request(analyst="bo")), Charge)
    assert ledger.balance().spent == epsilon(0.25)


def test_a_shared_answer_is_charged_to_the_own_cap_and_not_to_the_total(opened):
    ledger = opened(shared_answers=True)
    first = answered(ledger)
    shared = ledger.obtain(request(analyst="bo"))
    assert isinstance(shared, Stored)
    assert (shared.answer, shared.number, shared.analyst, shared.shared) == (first.answer, first.number, "bo", True)
    balance = ledger.balance("bo")
    assert (balance.spent, balance.own_spent, balance.charges) == (epsilon(0.125), epsilon(0.125), 1)
    assert ledger.obtain(request(analyst="bo")) == shared
    assert ledger.balance("bo") == balance
    ledger.verify()


def test_a_shared_answer_needs_room_in_the_own_cap(opened):
    ledger = opened(shared_answers=True, caps={"ana": None, "bo": epsilon(0.0625)})
    answered(ledger)
    with pytest.raises(BudgetExceeded, match="own cap of 'bo'"):
        ledger.obtain(request(analyst="bo"))
    assert kinds(ledger)[-1] is EntryKind.ANSWER


def test_a_charge_that_was_not_answered_is_not_shared(opened):
    ledger = opened(shared_answers=True)
    ledger.obtain(request())
    assert isinstance(ledger.obtain(request(analyst="bo")), Charge)


def test_an_idempotency_key_is_bound_to_its_request(opened):
    ledger = opened()
    first = answered(ledger, idempotency="k1")
    assert ledger.obtain(request(idempotency="k1")) == first
    with pytest.raises(LedgerMismatch, match="'k1' belongs to another request of 'ana'"):
        ledger.obtain(request("other", idempotency="k1"))
    assert ledger.balance().charges == 1


def test_a_key_used_on_a_replay_is_bound_too(opened):
    ledger = opened()
    first = answered(ledger)
    assert ledger.obtain(request(idempotency="k2")) == first
    assert ledger.obtain(request(idempotency="k2")) == first
    assert kinds(ledger).count(EntryKind.REPLAY) == 1
    with pytest.raises(LedgerMismatch):
        ledger.obtain(request("other", idempotency="k2"))
    ledger.verify()


def test_a_key_belongs_to_its_analyst(opened):
    ledger = opened()
    ledger.obtain(request(idempotency="k"))
    assert isinstance(ledger.obtain(request("other", analyst="bo", idempotency="k")), Charge)


def test_a_retry_with_its_key_pays_again_if_nothing_was_stored(opened):
    ledger = opened()
    ledger.obtain(request(idempotency="k"))
    assert isinstance(ledger.obtain(request(idempotency="k")), Charge)
    assert ledger.balance().charges == 2


def test_a_digest_that_does_not_cover_the_cost_is_refused(opened):
    ledger = opened()
    answered(ledger)
    with pytest.raises(LedgerMismatch, match="must cover the cost"):
        ledger.obtain(request(cost=0.25))


def test_a_price_for_another_relation_is_refused(opened):
    ledger = opened()
    for relation in (Relation.CHANGE_ONE, Relation.UNSTATED):
        with pytest.raises(RelationMismatch, match="price the release under the ledger's relation"):
            ledger.obtain(request(cost=epsilon(0.1, relation)))
        with pytest.raises(RelationMismatch):
            ledger.fits("ana", epsilon(0.1, relation))
    assert kinds(ledger) == [EntryKind.OPEN]


def test_a_cost_that_says_nothing_in_the_budgets_notion_is_refused(opened):
    ledger = opened()
    with pytest.raises(NoSoundConversion, match="state the cost in the notion of the budget"):
        ledger.obtain(request(cost=ZCDP(0.1, relation=PEOPLE)))
    other = opened(budget=ZCDP(1, relation=PEOPLE), caps={"ana": None})
    with pytest.raises(NoSoundConversion):
        other.obtain(request(cost=RenyiDP(2, 0.1, relation=PEOPLE)))


def test_prices_are_kept_in_their_own_notion_and_added_in_the_budgets(opened):
    budget = ZCDP(1, 1e-6, relation=PEOPLE)
    ledger = opened(budget=budget, caps={"ana": None})
    ledger.obtain(request("gaussian", cost=GaussianDP(1, relation=PEOPLE)))
    ledger.obtain(request("own", cost=ZCDP(0.25, 2.0**-30, relation=PEOPLE)))
    assert ledger.balance().spent == ZCDP(0.75, 2.0**-30, relation=PEOPLE)
    ledger.obtain(request("pure", cost=PureDP(0.5, relation=PEOPLE)))
    costs = [entry.cost for entry in ledger.entries() if entry.kind is EntryKind.CHARGE]
    assert costs[0] == GaussianDP(1, relation=PEOPLE)
    assert costs[2] == PureDP(0.5, relation=PEOPLE)
    assert ledger.fits("ana", ZCDP(0.1, relation=PEOPLE)) == 1
    ledger.verify()


def test_epsilons_and_deltas_both_bind(opened):
    ledger = opened(budget=ApproxDP(10, 2.0**-20, relation=PEOPLE), caps={"ana": None})
    for name in range(2):
        ledger.obtain(request(name, cost=ApproxDP(1, 2.0**-21, relation=PEOPLE)))
    with pytest.raises(BudgetExceeded, match="delta"):
        ledger.obtain(request("more", cost=ApproxDP(1, 2.0**-21, relation=PEOPLE)))
    assert isinstance(ledger.obtain(request("pure", cost=1)), Charge)


def test_fits_counts_what_total_and_cap_leave(opened):
    ledger = opened()
    assert ledger.fits("ana", epsilon(0.3)) == 3
    assert ledger.fits("bo", epsilon(0.3)) == 1
    assert ledger.fits("ana", epsilon(Fraction(1, 3))) == 3
    with pytest.raises(ParameterError, match="costs nothing"):
        ledger.fits("ana", epsilon(0))
    with pytest.raises(ParameterError, match="not an analyst"):
        ledger.fits("eve", epsilon(0.3))


def test_amendments_are_entries_with_a_reason(opened):
    ledger = opened()
    ledger.obtain(request())
    ledger.amend(budget=epsilon(2), reason="the board agreed on a second year", by="curator")
    ledger.amend(caps={"ana": epsilon(0.25), "cy": None}, reason="bo left, cy came", by="curator")
    entry = list(ledger.entries())[2]
    assert (entry.kind, entry.fields["reason"], entry.fields["by"]) == (
        EntryKind.AMEND, "the board agreed on a second year", "curator",
    )  # fmt: skip
    assert ledger.terms == terms(budget=epsilon(2), caps={"ana": epsilon(0.25), "cy": None})
    assert ledger.balance().spent == epsilon(0.125)
    assert ledger.fits("ana", epsilon(0.125)) == 1
    with pytest.raises(ParameterError, match="'bo' is not an analyst"):
        ledger.obtain(request(analyst="bo"))
    ledger.verify()


def test_a_budget_lowered_below_what_was_spent_leaves_nothing(opened):
    ledger = opened()
    ledger.obtain(request())
    ledger.amend(budget=epsilon(0.0625), reason="a mistake", by="curator")
    assert ledger.balance().remaining == epsilon(0)
    assert ledger.balance().spent == epsilon(0.125)
    assert ledger.fits("ana", epsilon(0.125)) == 0
    with pytest.raises(BudgetExceeded, match="0 is left"):
        ledger.obtain(request("more"))
    ledger.verify()


def test_what_was_spent_is_never_shown_smaller_than_it_is(opened):
    ledger = opened()
    for name in range(3):
        ledger.obtain(request(name, cost=epsilon(Fraction(0.1))))  # no float is three times this one
    ledger.amend(budget=epsilon(0.05), reason="a mistake", by="curator")
    assert ledger.balance().spent.epsilon >= 3 * Fraction(0.1)


def test_an_amendment_needs_a_reason_and_keeps_the_notion(opened):
    ledger = opened()
    for reason, by in (("", "curator"), ("a reason", " ")):
        with pytest.raises(ParameterError):
            ledger.amend(budget=epsilon(2), reason=reason, by=by)
    with pytest.raises(ParameterError, match="name what to amend"):
        ledger.amend(reason="a reason", by="curator")
    for budget in (ZCDP(1, relation=PEOPLE), epsilon(1, Relation.CHANGE_ONE)):
        with pytest.raises(LedgerMismatch, match="amend the numbers only"):
            ledger.amend(budget=budget, caps={"ana": None}, reason="a reason", by="curator")
    assert kinds(ledger) == [EntryKind.OPEN]


def test_a_ledger_cannot_be_copied_or_pickled(opened):
    ledger = opened()
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(NotCopyable, match="spend the same budget again"):
            attempt(ledger)


def test_a_ledger_and_its_balance_show_themselves(opened):
    ledger = opened()
    assert repr(ledger).endswith("unit='patient', budget=PureDP(epsilon=1, relation=Relation.ADD_REMOVE))")
    assert "<dt>own cap</dt><dd>epsilon 0.5</dd>" in ledger.balance("bo")._repr_html_()
    assert "own cap" not in str(ledger.balance("ana"))
    assert "<dt>remaining</dt>" in ledger._repr_html_()
    assert "chained without a gap" in ledger.verify()._repr_html_()


def test_entries_can_be_read_while_others_are_written(opened):
    ledger = opened(budget=epsilon(1000), caps={"ana": None})
    for name in range(70):
        ledger.obtain(request(name))
    seen = 0
    for entry in ledger.entries():
        seen += 1
        if entry.number == 1:
            ledger.obtain(request("meanwhile"))
    assert seen == 72


def test_long_texts_that_could_not_be_read_back_are_refused(opened, monkeypatch):
    from discreet.ledger.contract import decisions, entry

    monkeypatch.setattr(decisions, "_MOST_ANSWER", 4000)
    monkeypatch.setattr(entry, "_MOST_CHARACTERS", 4000)
    ledger = opened()
    charge = ledger.obtain(request())
    for answer in ("x" * 4001, "\U0001f600" * 1001):
        with pytest.raises(ParameterError, match="ask for fewer cells"):
            ledger.store(charge, answer)
    with pytest.raises(ParameterError, match="shorten its texts"):
        ledger.obtain(request("long", releases=("x" * 4001,)))
    assert ledger.store(charge, "x" * 4000).answer == "x" * 4000
    ledger.verify()


def test_any_text_is_handed_back_as_it_was_stored(opened):
    ledger = opened()
    text = 'naïve \ud800 "text"\n\0 \U0001f600'
    assert ledger.store(ledger.obtain(request()), text).answer == text
    assert ledger.obtain(request()).answer == text
    ledger.verify()


def test_a_charge_does_not_read_the_answers_before_it(opened):
    """Every step looks at the last entry, so that a large answer would slow all that follow."""
    ledger = opened(shared_answers=True)
    answered(ledger, answer="x" * 100_000)
    assert all(len(entry.text) < 1000 for entry in ledger.entries())
    with ledger._glance() as shelf:
        assert "x" not in str(shelf.last().fields)
        assert shelf.content(3) == b"x" * 100_000


def test_what_is_not_a_request_or_a_charge_is_refused(opened):
    ledger = opened()
    with pytest.raises(ParameterError, match="must be a Request"):
        ledger.obtain("SELECT 1")
    with pytest.raises(ParameterError, match="a Charge from obtain"):
        ledger.store(2, "1")
    charge = ledger.obtain(request())
    with pytest.raises(ParameterError, match="JSON text"):
        ledger.store(charge, {"count": 1})

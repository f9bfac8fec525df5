"""A ledger with a Gaussian budget: squares of mu and deltas, exact to the last unit, however they come."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import BudgetExceeded, NoSoundConversion, ParameterError, RelationMismatch
from discreet.ledger import Charge, MemoryLedger, SqliteLedger, Stored, Terms
from discreet.ledger.contract.decisions import FORMAT
from discreet.ledger.contract.terms import guarantee_from_plain, guarantee_to_plain
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, PureDP, Relation, RenyiDP
from discreet.privacy.guarantees import pure_to_gaussian
from discreet.privacy.numbers import written
from tests.ledger.ledgers import PEOPLE, in_a_process_of_its_own, mu, request, terms

prices = st.tuples(st.integers(1, 400).map(lambda whole: whole / 1000), st.sampled_from([0, 1e-8, 2.5e-8]))


def gaussian_terms(budget=None, **changes):
    return terms(**{"budget": budget or mu(1), "caps": {"ana": None, "bo": mu(0.5)}, **changes})


@pytest.mark.theorem("Ledger.privacy", "decide.privacy")
def test_a_hundred_tenths_fill_a_budget_of_one_exactly():
    ledger = MemoryLedger(gaussian_terms())
    assert ledger.fits("ana", mu(0.1)) == 100
    for name in range(100):
        assert isinstance(ledger.obtain(request(name, cost=mu(0.1))), Charge)
    assert ledger.balance().remaining == mu(0)
    assert ledger.balance().spent == mu(1)
    with pytest.raises(BudgetExceeded, match="mu squared"):
        ledger.obtain(request("more", cost=mu(1e-150)))
    assert ledger.verify().charges == 100


@pytest.mark.theorem("Ledger.privacy", "GaussianFilter.privacy")
@given(st.lists(prices, max_size=12), st.randoms(use_true_random=False))
def test_no_order_of_charges_passes_mu_or_the_reserve(listed, order):
    ledger, squares, lost = MemoryLedger(gaussian_terms(mu(0.7, 5e-8), caps={"ana": None})), Fraction(0), Fraction(0)
    order.shuffle(listed)
    for name, (price, delta) in enumerate(listed):
        square, part = squares + written(price) ** 2, lost + written(delta)
        if square <= Fraction(49, 100) and part <= Fraction(5, 10**8):
            ledger.obtain(request(name, cost=mu(price, delta)))
            squares, lost = square, part
        else:
            with pytest.raises(BudgetExceeded):
                ledger.obtain(request(name, cost=mu(price, delta)))
    found = ledger.verify().spent
    assert written(found.mu) ** 2 >= squares
    assert written(found.delta) == lost


@pytest.mark.theorem("pure_to_gaussian.privacy", "approx_to_gaussian.privacy")
def test_other_notions_are_charged_the_mu_that_they_imply():
    ledger = MemoryLedger(gaussian_terms(mu(10, 1e-6), caps={"ana": None}))
    costs = [PureDP(0.5), ApproxDP(0.5, 1e-7), ZCDP(0.1), ZCDP(0.1, 1e-7)]
    for cost in costs:
        ledger.obtain(request(repr(cost), cost=cost.under(PEOPLE)))
    spent = ledger.balance().spent
    pure = 2 * Fraction(pure_to_gaussian(PureDP(0.5)).mu) ** 2
    assert written(spent.mu) ** 2 >= pure + 2 * 2 * Fraction(1, 10)  # at least the normal noise of such a rho
    assert written(spent.delta) == Fraction(2, 10**7)
    for cost in (RenyiDP(2, 0.1, relation=PEOPLE),):
        with pytest.raises(NoSoundConversion, match="does not follow"):
            ledger.obtain(request("renyi", cost=cost))
    with pytest.raises(RelationMismatch):
        ledger.obtain(request("other", cost=mu(0.1, relation=Relation.CHANGE_ONE)))


def test_a_reserve_of_nothing_refuses_every_delta():
    ledger = MemoryLedger(gaussian_terms())
    with pytest.raises(BudgetExceeded, match="delta"):
        ledger.obtain(request("keys", cost=mu(0.1, 1e-12)))
    assert ledger.balance().charges == 0


def test_caps_bind_in_squares_and_shared_answers_are_charged_to_them():
    ledger = MemoryLedger(gaussian_terms(shared_answers=True))
    ledger.store(ledger.obtain(request("a", cost=mu(0.4))), "1")
    shared = ledger.obtain(request("a", analyst="bo", cost=mu(0.4)))
    assert isinstance(shared, Stored)
    assert shared.shared
    assert ledger.balance("bo").own_remaining == mu(Fraction(3, 10))
    with pytest.raises(BudgetExceeded):
        ledger.obtain(request("b", analyst="bo", cost=mu(0.4)))
    ledger.obtain(request("b", analyst="bo", cost=mu(0.3)))
    assert ledger.balance("bo").own_remaining == mu(0)
    assert ledger.verify().spent == mu(Fraction(1, 2))


def test_amendments_replays_and_keys_work_as_in_every_ledger(tmp_path):
    path = tmp_path / "ledger.db"
    with SqliteLedger.open(path, gaussian_terms()) as ledger:
        charge = ledger.obtain(request("a", cost=mu(0.8), idempotency="once"))
        ledger.store(charge, "7")
        assert ledger.obtain(request("a", cost=mu(0.8), idempotency="once")).answer == "7"
        with pytest.raises(BudgetExceeded):
            ledger.obtain(request("b", cost=mu(0.8)))
        ledger.amend(budget=mu(2, 1e-7), reason="more people agreed", by="curator")
        ledger.obtain(request("b", cost=mu(0.8, 1e-8)))
        with pytest.raises(ParameterError, match="one notion"):
            ledger.amend(budget=ZCDP(1, relation=PEOPLE), reason="another notion", by="curator")
        assert ledger.verify().charges == 2
    with SqliteLedger.open(path, gaussian_terms(mu(2, 1e-7))) as again:
        assert again.obtain(request("a", cost=mu(0.8))).answer == "7"
        assert written(again.balance().spent.mu) ** 2 >= Fraction(128, 100)
        assert again.balance().remaining.delta == Fraction(9, 10**8)


def test_a_gaussian_guarantee_is_written_as_it_was_before_it_had_a_delta():
    assert guarantee_to_plain(mu(0.5)) == {"notion": "gaussian", "relation": "add/remove", "mu": "1/2"}
    for one in (mu(0.1), mu(Fraction(1, 3), 1e-7)):
        assert guarantee_from_plain(guarantee_to_plain(one)) == one
    with pytest.raises(ParameterError):
        guarantee_from_plain({"notion": "gaussian", "relation": "add/remove", "delta": "1/2"})
    assert FORMAT == 3


@pytest.mark.parametrize("budget", [mu(1, 1), GaussianDP(1), mu(Fraction(1, 3**300))])
def test_a_budget_that_guarantees_nothing_or_cannot_be_counted_is_refused(budget):
    with pytest.raises((ParameterError, RelationMismatch)):
        gaussian_terms(budget, caps={"ana": None})


def test_caps_of_another_notion_are_refused():
    with pytest.raises(ParameterError, match="one notion"):
        Terms(lineage="l", unit="u", budget=mu(1), caps={"ana": PureDP(1, relation=PEOPLE)})


@pytest.mark.theorem("SqliteLedger.privacy")
def test_processes_at_once_get_exactly_what_fits_in_squares(folder):
    path = folder / "ledger.db"
    SqliteLedger.open(path, gaussian_terms(mu(1), caps={"ana": None})).close()
    granted = in_a_process_of_its_own("race", path, processes=4, cost=0.2, notion="gaussian")
    assert sum(granted) == 25
    with SqliteLedger.open(path) as ledger:
        assert ledger.verify().spent == mu(1)


@pytest.mark.theorem("SqliteLedger.privacy")
def test_a_crash_anywhere_leaves_whole_charges_of_mu(folder):
    found = in_a_process_of_its_own("kill_in_gaussian_ledger", folder / "ledger.db", rounds=1)
    for released, charges, answers, (squares, lost) in found.values():
        assert released <= answers <= charges
        assert Fraction(squares) >= charges * Fraction(9, 100)
        assert Fraction(squares) <= charges * Fraction(9, 100) * (1 + Fraction(1, 10**14))
        assert Fraction(lost) == charges * Fraction(1, 10**9)

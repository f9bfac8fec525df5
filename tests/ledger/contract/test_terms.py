"""What a ledger may be opened for and what may be asked of it."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from discreet.errors import ParameterError, RelationMismatch
from discreet.ledger import Terms
from discreet.ledger.contract.terms import guarantee_from_plain, guarantee_to_plain
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, PureDP, Relation, RenyiDP
from tests.ledger.ledgers import PEOPLE, digest, epsilon, request, terms


def test_terms_survive_being_written_down():
    given = terms(budget=epsilon(Fraction(1, 3)), caps={"ana": epsilon(0.1), "bö": None}, shared_answers=True)
    assert Terms.from_plain(given.to_plain()) == given


@pytest.mark.parametrize(
    "guarantee",
    [
        PureDP(0.1, relation=PEOPLE),
        ApproxDP(Fraction(1, 3), 1e-300, relation=Relation.CHANGE_ONE),
        ZCDP(1.7e308, 1e-9, relation=PEOPLE),
        RenyiDP(2, 0.1),
        GaussianDP(2.0**-1022, relation=PEOPLE),
    ],
)
def test_a_guarantee_is_written_down_exactly(guarantee):
    assert guarantee_from_plain(guarantee_to_plain(guarantee)) == guarantee


def test_the_caps_cannot_be_changed_behind_the_terms():
    caps = {"ana": None}
    given = terms(caps=caps)
    caps["eve"] = None
    assert list(given.caps) == ["ana"]
    with pytest.raises(TypeError):
        given.caps["eve"] = None


@pytest.mark.parametrize("budget", [RenyiDP(2, 1, relation=PEOPLE)])
def test_books_are_kept_in_notions_that_policies_state(budget):
    with pytest.raises(ParameterError, match="PureDP, ApproxDP, ZCDP or GaussianDP"):
        terms(budget=budget, caps={"ana": None})


@pytest.mark.parametrize("budget", [1.0, PureDP, None])
def test_a_budget_is_a_guarantee(budget):
    with pytest.raises(ParameterError, match="must be a guarantee, for example"):
        terms(budget=budget)


def test_a_budget_that_could_not_be_counted_down_and_read_back_is_refused():
    for number in (Fraction(10**449 - 1, 10**448 + 1), Fraction(1, 3**400)):
        with pytest.raises(ParameterError, match="write a float"):
            terms(budget=epsilon(number), caps={"ana": None})
        with pytest.raises(ParameterError, match="write a float"):
            terms(budget=epsilon(10), caps={"ana": epsilon(number)})


def test_a_budget_states_its_relation():
    with pytest.raises(RelationMismatch, match=r"state relation=Relation\.ADD_REMOVE"):
        terms(budget=PureDP(1))


def test_a_budget_with_delta_one_guarantees_nothing():
    with pytest.raises(ParameterError, match="below 1"):
        terms(budget=ApproxDP(1, 1, relation=PEOPLE), caps={"ana": None})


def test_a_cap_is_of_the_budgets_notion_and_relation():
    with pytest.raises(ParameterError, match="one notion"):
        terms(caps={"ana": ZCDP(1, relation=PEOPLE)})
    with pytest.raises(RelationMismatch, match="one relation"):
        terms(caps={"ana": epsilon(1, Relation.CHANGE_ONE)})


@pytest.mark.parametrize("change", [{"caps": {}}, {"caps": None}, {"lineage": ""}, {"unit": 3}, {"shared_answers": 1}])
def test_terms_that_cannot_be_kept_are_refused(change):
    with pytest.raises(ParameterError):
        terms(**change)


@pytest.mark.parametrize("value", [math.nan, math.inf, -1, 5e-324, 2.0**-1030, Fraction(1, 10**900), True])
def test_a_price_that_cannot_be_added_up_is_refused(value):
    with pytest.raises(ParameterError):
        request(cost=epsilon(value))


def test_a_number_with_endless_digits_is_refused():
    with pytest.raises(ParameterError, match="round it up to a float"):
        request(cost=epsilon(Fraction(3**1000, 7**800)))


@pytest.mark.parametrize(
    "change",
    [
        {"analyst": ""},
        {"digest": "abc"},
        {"digest": digest("q").upper()},
        {"description": " "},
        {"releases": ["Laplace"]},
        {"releases": ("",)},
        {"idempotency": ""},
        {"idempotency": "k" * 201},
        {"analyst": "\ud800"},
    ],
)
def test_a_request_that_cannot_be_written_down_is_refused(change):
    from dataclasses import replace

    with pytest.raises(ParameterError):
        replace(request(), **change)

"""An (epsilon, delta) budget counted in rho keeps its guarantee, and wastes nothing."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import ParameterError
from discreet.privacy import ZCDP, ApproxDP, Relation, implies
from discreet.query.policy.budget import concentrated
from discreet.query.policy.file import parse_policy
from tests.query.policy.policies import policy_text

TARGETS = [
    (Fraction(1), Fraction(1, 10**6)),
    (Fraction(1, 10), Fraction(1, 10**9)),
    (Fraction(10), Fraction(1, 10**5)),
    (Fraction(1, 1000), Fraction(1, 10**12)),
    (Fraction(10_000), Fraction(1, 10**7)),
    (Fraction(1), Fraction(99, 100)),
]


@pytest.mark.theorem("concentrated.privacy")
@pytest.mark.parametrize(("epsilon", "delta"), TARGETS)
def test_a_concentrated_budget_keeps_the_guarantee_it_was_made_of(epsilon, delta):
    budget = concentrated(epsilon, delta)
    assert budget.delta == delta / 2
    assert implies(ZCDP(budget.rho), ApproxDP(epsilon, delta / 2))
    assert implies(budget, ApproxDP(epsilon, delta))


@pytest.mark.theorem("concentrated.privacy")
@pytest.mark.parametrize(("epsilon", "delta"), TARGETS)
def test_no_larger_rho_is_proven_to_keep_the_guarantee(epsilon, delta):
    rho = Fraction(concentrated(epsilon, delta).rho)
    assert not implies(ZCDP(rho * (1 + Fraction(1, 10**12))), ApproxDP(epsilon, delta / 2))


def test_a_guarantee_too_small_for_any_rho_is_refused():
    with pytest.raises(ParameterError, match="large enough"):
        concentrated(Fraction(1, 10**200), Fraction(1, 10**290))


def test_a_budget_and_a_cap_in_epsilon_and_delta_are_counted_in_rho(tmp_path):
    (tmp_path / "hospital.duckdb").touch()
    budget = '[budget]\nnotion = "zcdp"\nepsilon = 1\ndelta = 1e-6\nledger = "l"\n'
    analysts = "[analysts]\nana = {epsilon = 0.5, delta = 1e-7}\nben = {epsilon = 1, delta = 1e-6}\n"
    policy = parse_policy(policy_text(budget=budget, analysts=analysts), folder=tmp_path)
    assert policy.budget == concentrated(Fraction(1), Fraction(1, 10**6)).under(Relation.ADD_REMOVE)
    assert policy.analysts["ben"].cap == policy.budget
    assert policy.analysts["ana"].cap.rho < policy.budget.rho
    assert policy.analysts["ana"].cap.delta == Fraction(1, 2 * 10**7)

"""An (epsilon, delta) budget counted in rho or in mu keeps its guarantee, and wastes nothing."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.errors import ParameterError, PolicyError
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, Relation, gaussian_budget, implies
from discreet.query.policy.budget import concentrated, terms_of
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


def gaussian_policy(tmp_path, budget, analysts="[analysts]\nana = {}\n"):
    (tmp_path / "hospital.duckdb").touch()
    text = f'[budget]\nnotion = "gaussian"\n{budget}\nledger = "l"\n'
    return parse_policy(policy_text(budget=text, analysts=analysts), folder=tmp_path)


@pytest.mark.theorem("gaussian_budget.privacy")
@pytest.mark.parametrize(("epsilon", "delta"), TARGETS)
@pytest.mark.parametrize("share", [Fraction(0), Fraction(1, 10), Fraction(1, 2)])
def test_a_gaussian_budget_keeps_the_guarantee_it_was_made_of_and_hardly_more_does(epsilon, delta, share):
    budget = gaussian_budget(epsilon=epsilon, delta=delta, reserve=share * delta)
    assert budget.delta == share * delta
    assert implies(budget, ApproxDP(epsilon, delta))
    larger = GaussianDP(budget.mu * (1 + Fraction(1, 10**9)), budget.delta)
    assert not implies(larger, ApproxDP(epsilon, delta))


def test_a_reserve_that_leaves_no_delta_is_refused():
    with pytest.raises(ParameterError, match="part of delta"):
        gaussian_budget(epsilon=1, delta=Fraction(1, 10**6), reserve=Fraction(1, 10**6))


def test_mu_is_read_as_it_is_written_with_the_reserve_and_caps(tmp_path):
    analysts = "[analysts]\nana = {mu = 0.3}\nben = {share = 0.25}\ncy = {mu = 0.3, reserve = 1e-8}\ndi = {}\n"
    policy = gaussian_policy(tmp_path, "mu = 0.7\nreserve = 1e-7", analysts)
    people = Relation.ADD_REMOVE
    assert policy.budget == GaussianDP(Fraction(7, 10), Fraction(1, 10**7), relation=people)
    caps = {name: one.cap for name, one in policy.analysts.items()}
    assert caps["ana"] == GaussianDP(Fraction(3, 10), Fraction(1, 10**7), relation=people)
    assert caps["ben"] == GaussianDP(Fraction(35, 100), Fraction(1, 4 * 10**7), relation=people)  # mu^2 in quarters
    assert caps["cy"].delta == Fraction(1, 10**8)
    assert caps["di"] is None
    assert terms_of(policy).budget == policy.budget


def test_epsilon_and_delta_are_counted_in_the_largest_mu(tmp_path):
    analysts = "[analysts]\nana = {epsilon = 0.5, delta = 1e-7, reserve = 0}\nben = {share = 0.3}\n"
    policy = gaussian_policy(tmp_path, "epsilon = 1\ndelta = 1e-6\nreserve = 1e-7", analysts)
    assert policy.budget == gaussian_budget(epsilon=1, delta=Fraction(1, 10**6), reserve=Fraction(1, 10**7)).under(
        Relation.ADD_REMOVE
    )
    assert policy.analysts["ana"].cap == gaussian_budget(epsilon=Fraction(1, 2), delta=Fraction(1, 10**7)).under(
        Relation.ADD_REMOVE
    )
    assert Fraction(policy.analysts["ben"].cap.mu) ** 2 <= Fraction(3, 10) * Fraction(policy.budget.mu) ** 2
    without = gaussian_policy(tmp_path, "epsilon = 1\ndelta = 1e-6")
    assert without.budget.delta == 0
    assert without.budget.mu > policy.budget.mu


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        ("rho = 1", 'rho belongs to the notion "zcdp"'),
        ("mu = 1\ndelta = 1e-6", "write `reserve = 1e-7`"),
        ("mu = 1\nepsilon = 1", "mu and epsilon are both given"),
        ("epsilon = 1", "delta"),
        ("epsilon = 1\ndelta = 0", "must be greater than 0"),
        ("", "mu"),
        ("mu = 0", "must be greater than 0"),
        ("mu = 1\nreserve = 1", "less than 1"),
        ("epsilon = 1\ndelta = 1e-6\nreserve = 1e-6", "must be less than delta"),
        ("epsilon = 1e-300\ndelta = 1e-299\nreserve = 9.9999e-300", "or write mu"),
    ],
)
def test_a_gaussian_budget_that_is_not_well_stated_is_refused_with_the_remedy(tmp_path, budget, words):
    with pytest.raises(PolicyError) as caught:
        gaussian_policy(tmp_path, budget)
    assert words in str(caught.value)


@pytest.mark.parametrize("cap", ["mu = 2", "mu = 0.1, reserve = 1e-6", "share = 0.5, reserve = 1e-9", "rho = 0.1"])
def test_a_gaussian_cap_that_is_too_large_or_of_another_notion_is_refused(tmp_path, cap):
    with pytest.raises(PolicyError):
        gaussian_policy(tmp_path, "mu = 1\nreserve = 1e-7", f"[analysts]\nana = {{{cap}}}\n")


@pytest.mark.parametrize("word", ["mu = 1", "reserve = 1e-7"])
@pytest.mark.parametrize("notion", ["pure", "approx", "zcdp"])
def test_words_of_a_gaussian_budget_belong_to_it_alone(tmp_path, notion, word):
    (tmp_path / "hospital.duckdb").touch()
    budget = f'[budget]\nnotion = "{notion}"\nepsilon = 1\ndelta = 1e-6\n{word}\nledger = "l"\n'
    with pytest.raises(PolicyError, match='belongs to the notion "gaussian"'):
        parse_policy(policy_text(budget=budget), folder=tmp_path)

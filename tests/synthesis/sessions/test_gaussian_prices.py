"""Releases priced in mu: charged mu in a Gaussian ledger and mu^2/2 in a concentrated one, for every method."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import pytest

from discreet.errors import ConflictingParameters, ParameterError
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, Price, PureDP, Relation, largest_mu, largest_rho
from discreet.privacy.numbers import written
from discreet.query.pricing import price_under
from discreet.synthesis import Domain, Neighbors, conjunctions, marginals
from discreet.synthesis.methods import METHODS
from discreet.synthesis.methods.dual_query import DualQuery
from discreet.synthesis.sessions.asking import domain_of, dual_query, independent, synthesize
from discreet.synthesis.sessions.asking import explain_synthesis as explain
from discreet.synthesis.sessions.transcript import rounds_again
from tests.synthesis.sessions.test_sessions import open_session, workload_of

HALF = Fraction(1, 2)


@pytest.mark.parametrize("method", [name for name in METHODS if name != "residual"])
@pytest.mark.parametrize(
    ("budget", "spent"), [(GaussianDP(2), GaussianDP(HALF)), (ZCDP(2), ZCDP(Fraction(1, 8)))], ids=["mu", "rho"]
)
def test_a_release_priced_by_mu_costs_mu_or_its_half_square(method: str, budget: Any, spent: Any) -> None:
    with open_session(budget) as session:
        release = synthesize(session, "visits", workload_of(session), method=method, mu=0.5, people=60)
        assert release.guarantee == GaussianDP(HALF, relation=session.policy.relation)
        assert session.balance.spent == spent.under(session.policy.relation)


def test_marginals_are_priced_by_mu_too() -> None:
    with open_session(GaussianDP(2)) as session:
        asked = marginals(domain_of(session, "visits", ("region", "smokes")), ways=1)
        synthesize(session, "visits", asked, method="residual", mu=0.5, people=60)
        assert session.balance.spent == GaussianDP(HALF, relation=session.policy.relation)


@pytest.mark.parametrize(
    ("given", "mu"),
    [
        ({"rho": Fraction(1, 8)}, HALF),
        ({"share": Fraction(1, 16)}, HALF),
        ({"mu": HALF}, HALF),
        ({"epsilon": 1, "delta": Fraction(1, 10**6)}, largest_mu(Fraction(1), Fraction(1, 10**6))),
    ],
    ids=str,
)
@pytest.mark.parametrize("reserve", [0, 1e-6])
def test_under_a_gaussian_budget_every_price_of_gaussian_noise_is_one_of_mu(
    given: Any, mu: Fraction, reserve: float
) -> None:
    with open_session(GaussianDP(2, reserve)) as session:
        found = explain(session, "visits", workload_of(session), method="independent", people=60, **given)
        assert written(found.guarantee.mu) == mu  # type: ignore[attr-defined]
        assert found.made.allowance.gaussian
        independent(session, "visits", workload_of(session), people=60, **given)
        assert Fraction(session.balance.spent.mu) == pytest.approx(mu, rel=1e-15)  # type: ignore[attr-defined]


def test_a_share_of_a_gaussian_budget_is_one_of_its_square_and_never_more() -> None:
    for share in (Fraction(1, 3), Fraction(2, 7)):
        price = price_under(GaussianDP(2), Price(share=share))
        assert price.mu is not None
        assert share * 4 * (1 - Fraction(1, 10**14)) <= price.mu**2 <= share * 4


def test_under_zcdp_an_approximate_price_still_buys_rho() -> None:
    found = price_under(ZCDP(2), Price(epsilon=Fraction(1), delta=Fraction(1, 10**6)))
    assert found == Price(rho=largest_rho(Fraction(1), Fraction(1, 10**6)))


def test_epsilon_alone_stays_pure_under_a_gaussian_budget() -> None:
    with open_session(GaussianDP(2)) as session:
        found = explain(session, "visits", workload_of(session), method="independent", people=60, epsilon=0.5)
        assert found.guarantee == PureDP(HALF, relation=session.policy.relation)


@pytest.mark.parametrize("budget", [PureDP(2), ApproxDP(2, 1e-6)])
def test_mu_is_refused_under_a_budget_in_epsilon(budget: Any) -> None:
    with open_session(budget) as session:
        with pytest.raises(ParameterError, match=r"got mu=, write epsilon=. Nothing was spent."):
            independent(session, "visits", workload_of(session), mu=0.5, people=60)
        assert session.balance.spent.epsilon == 0  # type: ignore[attr-defined]


@pytest.mark.parametrize("budget", [GaussianDP(2), ZCDP(2)])
@pytest.mark.parametrize("word", ["mu", "rho"])
def test_delta_beside_mu_or_rho_is_refused(budget: Any, word: str) -> None:
    with open_session(budget) as session, pytest.raises(ConflictingParameters, match=rf"write {word}=. Nothing"):
        independent(session, "visits", workload_of(session), people=60, delta=1e-7, **{word: 0.5})


@pytest.mark.parametrize(
    ("budget", "spent"), [(GaussianDP(2), GaussianDP(HALF)), (ZCDP(2), ZCDP(Fraction(1, 8)))], ids=["mu", "rho"]
)
def test_a_grant_of_gaussian_privacy_is_charged_in_the_notion_of_the_ledger(budget: Any, spent: Any) -> None:
    with open_session(budget) as session:
        with session.grant("visits", ["region"], GaussianDP(0.5)):
            pass
        assert session.balance.spent == spent.under(session.policy.relation)


@pytest.mark.theorem("rounds_again.privacy", "affords.privacy")
def test_draws_cost_pi_times_their_rho_in_squares_of_mu() -> None:
    domain = Domain.of(sex=["f", "m"], smokes=["no", "yes"])
    made = DualQuery.of(conjunctions(domain, count=15), Neighbors(Relation.CHANGE_ONE, 1000), mu=HALF, eta=1, rounds=5)
    assert float(made.price.rho) <= 0.25 / 3.14159265358979
    again = [rounds_again(made, one, one) for one in range(2, 6)]
    squares = [Fraction(one.mu) ** 2 for one in again]  # type: ignore[attr-defined]
    assert float(sum(squares)) == pytest.approx(3.141592653589793 * float(made.price.rho), rel=1e-12)
    whole = rounds_again(made, 1, 5)
    assert isinstance(whole, GaussianDP)
    assert sum(squares) <= written(whole.mu) ** 2 * (1 + Fraction(1, 10**12))
    assert written(whole.mu) <= HALF
    assert all(one.relation is Relation.CHANGE_ONE for one in again)


def test_dual_query_takes_mu_from_a_session() -> None:
    with open_session(GaussianDP(2)) as session:
        release = dual_query(session, "visits", workload_of(session), mu=0.5, people=60, eta=1, rounds=3)
        assert release.guarantee == GaussianDP(HALF, relation=session.policy.relation)

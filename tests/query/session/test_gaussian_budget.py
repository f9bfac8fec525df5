"""A session with a Gaussian budget: mu exactly, normal noise rounded, private keys from a reserve, all prices."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from discreet.errors import BudgetExceeded, MissingParameter, ParameterError, PrivateKeys
from discreet.laws import DiscreteLaplace, RoundedGaussian
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, PureDP, Relation, gaussian_budget, largest_mu, largest_rho
from discreet.privacy.guarantees import pure_to_gaussian
from discreet.privacy.numbers import written
from discreet.query import Session
from discreet.query.policy import concentrated
from discreet.query.pricing import read_price

REGIONS = [f"r{number}" for number in range(50)]
COLUMNS = {
    "region": {"values": REGIONS},
    "cost": {"min": 0, "max": 500},
    "name": {"type": "text"},
}
BY_REGION = "SELECT region, COUNT(*) AS n FROM visits GROUP BY region"
POINT = Fraction(1), Fraction(1, 10**6)


def open_session(budget, **changes):
    rows = 600
    frame = pd.DataFrame(
        {
            "region": [REGIONS[row % 50] for row in range(rows)],
            "cost": [float(row % 500) for row in range(rows)],
            "name": [f"ward-{row % 3}" for row in range(rows)],
        }
    )
    return Session.from_frames(**{"visits": frame, "unit": "row", "budget": budget, "columns": COLUMNS, **changes})


def above(cost):
    return f"visits WHERE cost > {cost}"


def priced(session, sql, **price):
    return session._charging.priced(sql, read_price(**price))


@pytest.mark.theorem("PricedQuery.privacy", "NoisyVector.privacy")
def test_ten_counts_by_fifty_groups_have_less_noise_than_under_zcdp():
    """Ten questions share one (1, 1e-6) budget: the variance is at most .87 of that under zCDP."""
    by_mu = open_session(gaussian_budget(epsilon=POINT[0], delta=POINT[1]))
    by_rho = open_session(ZCDP(largest_rho(*POINT)))  # all of delta, though a policy keeps half for private keys
    variance = {}
    for name, session in (("gaussian", by_mu), ("zcdp", by_rho)):
        made = priced(session, BY_REGION, share=0.1)
        assert session.ledger.fits("analyst", made.guarantee) == 10
        variance[name] = made.measures[0].noise(made.parts[0]).noise.variance
    assert variance["gaussian"] / variance["zcdp"] <= 0.87
    policy = priced(open_session(concentrated(*POINT)), BY_REGION, share=0.1)
    assert variance["gaussian"] / policy.measures[0].noise(policy.parts[0]).noise.variance <= 0.82
    for turn in range(10):
        answer = by_mu.sql(BY_REGION.replace("visits", above(turn)), share=0.1)
        assert len(answer.to_pandas()) == 50
    with pytest.raises(BudgetExceeded):
        by_mu.sql("SELECT COUNT(*) AS n FROM visits", share=0.01)
    assert by_mu.ledger.verify().charges == 10


@pytest.mark.theorem("PricedQuery.privacy")
def test_a_price_in_mu_is_charged_as_it_is_written():
    session = open_session(GaussianDP(1))
    for turn in range(100):
        answer = session.sql("SELECT COUNT(*) AS n FROM " + above(turn), mu=0.1)  # noqa: S608  our own number
        assert answer.guarantee == GaussianDP(0.1, relation=Relation.ADD_REMOVE)
    assert session.balance.remaining == GaussianDP(0, relation=Relation.ADD_REMOVE)
    assert session.sql("SELECT COUNT(*) AS n FROM visits WHERE cost > 3", mu=0.1).record.replayed
    with pytest.raises(BudgetExceeded):
        session.sql("SELECT COUNT(*) AS n FROM visits", mu=1e-9)


@pytest.mark.theorem("NoisyVector.privacy")
@pytest.mark.parametrize(
    "asked", ["COUNT(*)", "SUM(cost)", "AVG(cost)", "VARIANCE(cost)", "COUNT(*), SUM(cost), AVG(cost), STDDEV(cost)"]
)
def test_noise_in_a_gaussian_ledger_is_rounded_normal_noise_of_its_mu(asked):
    made = priced(open_session(GaussianDP(1)), f"SELECT region, {asked} FROM visits GROUP BY region", mu=0.3)  # noqa: S608  our own words
    squares = Fraction(0)
    for measure, part in zip(made.measures, made.parts, strict=True):
        vector = measure.noise(part)
        assert isinstance(vector.noise, RoundedGaussian)
        _, distance = measure.bounding.moved(measure.norms)
        squares += Fraction(distance) / vector.noise.scale**2  # what the noise costs, from its scale alone
    assert squares <= Fraction(9, 100)
    assert squares >= Fraction(9, 100) * (1 - Fraction(1, 10**9))


def test_the_words_of_a_price_buy_what_they_say():
    session = open_session(GaussianDP(2))
    count = "SELECT COUNT(*) AS n FROM visits"
    assert priced(session, count, mu=0.25).guarantee.mu == 0.25
    assert written(priced(session, count, share=0.25).guarantee.mu) == 1  # a quarter of mu squared
    assert written(priced(session, count, rho=0.125).guarantee.mu) == Fraction(1, 2)
    assert priced(session, count, epsilon=1, delta=1e-6).guarantee.mu == largest_mu(*POINT)
    pure = priced(session, count, epsilon=0.5)
    assert pure.guarantee == PureDP(0.5, relation=Relation.ADD_REMOVE)
    assert isinstance(pure.measures[0].noise(pure.parts[0]).noise, DiscreteLaplace)
    bought = session.explain(count, error=20)
    assert bought.aggregates.rows[0][3] == "20"
    again = session.explain(count, mu=bought.guarantee.mu)
    assert again.digest == bought.digest


def test_a_pure_price_is_charged_its_mu():
    session = open_session(GaussianDP(2))
    session.sql("SELECT COUNT(*) AS n FROM visits", epsilon=0.5)
    mu = pure_to_gaussian(PureDP(0.5)).mu
    assert mu <= float(session.balance.spent.mu) <= mu * (1 + 1e-12)
    assert f"mu {mu:.3g}"[:7] in session.explain("SELECT COUNT(*) AS n FROM visits", epsilon=0.5).cost_in_budget


@pytest.mark.theorem("QuantilesOfGroups.privacy", "rho_of_halves.privacy")
def test_choices_and_counts_spend_mu_by_their_ranges_and_distances():
    session = open_session(GaussianDP(1))
    made = priced(session, "SELECT MEDIAN(cost) AS m FROM visits", mu=0.5)
    choice = made.measures[0].mechanism(made.parts[0])
    squares = Fraction(pure_to_gaussian(PureDP(choice.value.range / 2)).mu) ** 2
    noise = choice.around.counter
    assert isinstance(noise.noise, RoundedGaussian)
    squares += Fraction(noise._squared) / noise.noise.scale**2
    assert Fraction(1, 4) * Fraction(98, 100) <= squares <= Fraction(1, 4)
    assert "mu 0.5" in made.words()[0]
    answer = session.sql("SELECT MEDIAN(cost) AS m, QUANTILE(cost, 0.9) AS high, COUNT(*) AS n FROM visits", mu=0.5)
    assert answer.guarantee.mu == 0.5
    top = session.top("SELECT region, COUNT(*) AS n FROM visits GROUP BY region", k=2, mu=0.2)
    assert len(top.to_dict()["region"]) == 2
    assert written(session.balance.spent.mu) ** 2 <= Fraction(29, 100) * (1 + Fraction(1, 10**12))


def test_private_keys_need_a_reserve_and_spend_it():
    asked = "SELECT name, COUNT(*) AS n FROM visits GROUP BY name"
    with pytest.raises(PrivateKeys, match=r"reserve = 1e-7.*Nothing was spent"):
        open_session(GaussianDP(1)).sql(asked, mu=0.5, delta=1e-8)
    session = open_session(GaussianDP(2, delta=1e-6))
    with pytest.raises(PrivateKeys, match="delta="):
        session.sql(asked, mu=1)
    answer = session.sql(asked, mu=1, delta=1e-7)
    assert set(answer.to_pandas()["name"]) <= {"ward-0", "ward-1", "ward-2"}
    assert answer.guarantee == GaussianDP(1, 1e-7, relation=Relation.ADD_REMOVE)
    assert written(session.balance.spent.delta) == Fraction(1, 10**7)
    halved = priced(session, asked, epsilon=1, delta=1e-6).guarantee
    assert halved == gaussian_budget(epsilon=POINT[0], delta=POINT[1], reserve=Fraction(1, 2 * 10**6)).under(
        Relation.ADD_REMOVE
    )
    assert priced(session, asked, share=0.25).guarantee.delta == Fraction(1, 4 * 10**6)
    with pytest.raises(BudgetExceeded, match="delta"):
        session.sql(asked, mu=0.1, delta=1e-6)


@pytest.mark.theorem("SelectedKeys.privacy", "ThresholdedHistogram.privacy")
def test_keys_are_selected_with_rounded_normal_noise_and_the_delta_of_new_keys():
    made = priced(open_session(GaussianDP(2, delta=1e-6)), "SELECT name, COUNT(*) AS n FROM visits GROUP BY name",
                  mu=1, delta=1e-7)  # fmt: skip
    selection = made.measures[-1].mechanism(made.parts[-1])
    assert isinstance(selection.noise, RoundedGaussian)
    assert selection.noise.scale**2 * made.parts[-1].mu ** 2 >= 1
    assert selection.guarantee.delta == 1e-7
    assert selection.chance(1).upper <= 1e-7
    assert selection.loss.delta(3.0).upper <= GaussianDP(made.parts[-1].mu, 1e-7).loss.delta(3.0).upper


def test_a_watch_is_charged_by_its_epsilon():
    session = open_session(GaussianDP(3))
    with pytest.raises(ParameterError, match="Gaussian"):
        session.watch(100, share=0.1)
    watch = session.watch(100, epsilon=1)
    assert watch.ask("SELECT COUNT(*) AS n FROM visits") in (True, False)
    assert float(session.balance.spent.mu) == pytest.approx(pure_to_gaussian(PureDP(1)).mu, rel=1e-9)


def test_a_grant_is_charged_in_mu():
    session = open_session(GaussianDP(1, delta=1e-6))
    with session.grant("visits", ["cost"], GaussianDP(0.6)) as rows:
        assert np.asarray(rows["cost"]).size == 600
    with session.grant("visits", ["cost"], ApproxDP(0.1, 1e-7)) as rows:
        assert rows
    assert written(session.balance.spent.delta) == Fraction(1, 10**7)
    with pytest.raises(BudgetExceeded), session.grant("visits", ["cost"], GaussianDP(0.8)):
        pass


@pytest.mark.parametrize("budget", [PureDP(1), ApproxDP(1, 1e-6), ZCDP(0.5)])
def test_mu_is_a_price_under_a_gaussian_budget_only(budget):
    with pytest.raises(ParameterError, match="mu= must be left out") as caught:
        open_session(budget).sql("SELECT COUNT(*) AS n FROM visits", mu=0.1)
    assert "Nothing was spent" in str(caught.value)


def test_a_price_is_still_asked_for_once():
    session = open_session(GaussianDP(1))
    with pytest.raises(MissingParameter, match="mu="):
        session.sql("SELECT COUNT(*) AS n FROM visits")


def compared(words):
    listed = words.partition(" would be: ")[2].split(", ")
    return {name: float(size) for name, _, size in (one.rpartition(" ") for one in listed)}


def test_explain_compares_the_notions_for_the_question_at_hand():
    session = open_session(gaussian_budget(epsilon=POINT[0], delta=POINT[1]))
    counts = session.explain(BY_REGION, share=0.1).other_budgets
    assert counts.startswith(
        "with epsilon 1 at delta 1e-06 for 10 such questions, the noise (st. dev.) of n would be: "
    )
    noise = compared(counts)
    assert list(noise) == ["pure or approx", "zcdp", "gaussian"]
    assert (noise["gaussian"] / noise["zcdp"]) ** 2 <= 0.87
    ranked = compared(session.explain("SELECT MEDIAN(cost) AS m FROM visits", share=0.1).other_budgets)
    assert ranked["zcdp"] < ranked["gaussian"] < ranked["pure or approx"]  # choices are dearer in mu
    assert (
        "approx"
        in open_session(GaussianDP(1, 1e-6))
        .explain("SELECT name, COUNT(*) AS n FROM visits GROUP BY name", share=0.1)
        .other_budgets
    )
    assert open_session(PureDP(1)).explain(BY_REGION, share=0.1).other_budgets == ""


def test_a_certificate_states_mu_and_a_replay_keeps_it(tmp_path):
    given = {"ledger": tmp_path / "ledger.db", "lineage": "visits"}
    with open_session(GaussianDP(1, delta=1e-6), **given) as session:
        first = session.sql(BY_REGION, mu=0.3)
        certificate = first.certificate()
    with open_session(GaussianDP(1, delta=1e-6), **given) as again:
        second = again.sql(BY_REGION, mu=0.3)
        assert second.record.replayed
        assert second.to_pandas().equals(first.to_pandas())
        assert again.ledger.verify().charges == 1
    assert certificate.fields["guarantee"] == "mu 0.3 (Gaussian differential privacy)"
    assert "rounded Gaussian noise of scale 3.33333" in certificate.fields["mechanisms"][0]

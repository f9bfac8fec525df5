"""DualQuery's accuracy theorem, its parts taken separately, and the largest noise of many answers."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.privacy import PureDP, Relation
from discreet.query import Session
from discreet.synthesis import Domain, Neighbors, Records, conjunctions, domain_of, explain_synthesis
from discreet.synthesis.methods.dual_query.method import DualQuery, Responder, Weights
from discreet.synthesis.methods.dual_query.theorem import dual_query_error
from discreet.synthesis.reporting.error_report import report
from discreet.synthesis.reporting.prediction import largest_noise


def weights(totals, eta):
    """Return the law over (q, +) for all q and then (q, -), for totals of the payoffs of (q, +)."""
    scores = eta * np.concatenate([totals, -totals])
    law = np.exp(scores - scores.max())
    return law / law.sum()


def play(held, table, *, eta, rounds, draws, random, lazy=False):
    """Play DualQuery with exact best responses (worst ones if lazy); return the answers and the true shares.

    `held[x, q]` says whether record x satisfies query q; `table` are the shares of the records.
    """
    shares = table @ held
    totals, chosen = np.zeros(held.shape[1]), np.zeros(len(held))
    signed = np.concatenate([held, 1 - held], axis=1)
    for _ in range(rounds):
        drawn = random.multinomial(draws, weights(totals, eta))
        satisfied = signed @ drawn
        best = int(np.argmin(satisfied) if lazy else np.argmax(satisfied))
        totals += shares - held[best]
        chosen[best] += 1
    return chosen / rounds @ held, shares


def instance(random, *, attributes=4, queries=20):
    """Return which of all binary records satisfy which random conjunctions of two literals, and a skewed table."""
    records = (np.arange(2**attributes)[:, None] >> np.arange(attributes)) & 1
    pairs = np.array([random.choice(attributes, 2, replace=False) for _ in range(queries)])
    wanted = random.integers(0, 2, (queries, 2))
    held = (records[:, pairs] == wanted).all(axis=2).astype(float)
    table = random.dirichlet(np.full(2**attributes, 0.15))
    return held, table


SETTING = {"eta": 0.06, "rounds": 1500, "draws": 2000}


@pytest.mark.theorem("dual_query_error.accuracy")
def test_no_answer_is_off_by_more_than_the_theorem_says(rounds):
    # each play fails with a chance of at most 1e-12
    random = np.random.default_rng(20)
    for _ in range(rounds(sample=4, full=60)):
        held, table = instance(random)
        answers, shares = play(held, table, random=random, **SETTING)
        alpha = dual_query_error(**SETTING, queries=20, records=16, confidence=1 - Fraction(1, 10**12))
        assert alpha < 0.11, "a bound that says nothing cannot fail"
        assert np.abs(answers - shares).max() <= alpha


@pytest.mark.theorem("dual_query_error.accuracy")
def test_the_gap_must_be_counted_as_lazy_responses_are_far_off():
    random = np.random.default_rng(21)
    held, table = instance(random)
    answers, shares = play(held, table, random=random, lazy=True, **SETTING)
    assert np.abs(answers - shares).max() > dual_query_error(**SETTING, queries=20, records=16)


@pytest.mark.theorem("dual_query_error.accuracy")
@given(st.data())
def test_exponential_weights_regret_at_most_what_the_proof_adds(data):
    # step (1) of the proof, deterministic: whatever records are played, also against the drawing law
    queries, count = data.draw(st.integers(1, 6)), data.draw(st.integers(1, 40))
    eta = data.draw(st.floats(0.01, 3))
    shares = np.array(data.draw(st.lists(st.floats(0, 1), min_size=queries, max_size=queries)))
    row = st.lists(st.integers(0, 1), min_size=queries, max_size=queries)
    totals, paid = np.zeros(queries), 0.0
    for played in data.draw(st.lists(row, min_size=count, max_size=count)):
        payoff = shares - np.array(played)
        paid += weights(totals, eta) @ np.concatenate([payoff, -payoff])
        totals += payoff
    allowed = paid / count + math.log(2 * queries) / (eta * count) + eta / 2
    assert np.abs(totals / count).max() <= allowed + 1e-9


@pytest.mark.theorem("dual_query_error.accuracy")
@pytest.mark.parametrize(("draws", "chance"), [(4, 0.5), (9, 0.2), (25, 0.9), (60, 0.03)])
def test_the_sampling_step_holds_for_the_exact_binomial_law(draws, chance):
    # step (3): E exp(l (mean - chance)) <= exp(l^2 / (8 s)), both signs, on the exact law
    law = [math.comb(draws, hits) * chance**hits * (1 - chance) ** (draws - hits) for hits in range(draws + 1)]
    for level in np.linspace(-8 * draws, 8 * draws, 81):
        moment = sum(mass * math.exp(level * (hits / draws - chance)) for hits, mass in enumerate(law))
        assert moment <= math.exp(level**2 / (8 * draws)) * (1 + 1e-9)


@pytest.mark.theorem("DualQuery.accuracy")
@pytest.mark.theorem("dual_query_error.accuracy")
def test_dual_query_itself_stays_within_the_theorem_with_certified_records():
    # with records that an integer program proved best, the report predicts the maximum; it fails with chance 1e-12
    random = np.random.default_rng(22)
    domain = Domain.of({f"bit {place}": (0, 1) for place in range(4)})
    people = Records(domain, (random.random((4, 300)) < [[0.1], [0.3], [0.8], [0.9]]).astype(np.uint16))
    asked = conjunctions(domain, ways=2, count=20, repeats=False)
    method = DualQuery.of(
        asked, Neighbors(Relation.CHANGE_ONE, 300), rho=100, eta=Fraction(1, 5), rounds=100,
        oracle=Responder.EXACT, weights=Weights.EQUAL,
    )  # fmt: skip
    release = method(people)
    found = report(release, people, confidence=1 - Fraction(1, 10**12))
    assert 0 <= found.gap < 0.05  # counted in the prediction
    assert found.prediction.maximum < 0.4, "a bound that says nothing cannot fail"
    assert found.errors[0].maximum <= found.prediction.maximum


@pytest.mark.theorem("dual_query_error.accuracy")
@pytest.mark.parametrize("draws", [1, 2, 4])
def test_the_sampling_step_holds_for_the_largest_of_all_records_on_the_exact_law(draws):
    # step (3) with a maximum: E exp(l max_x (s(x) - S(x))) <= |X| exp(l^2 / (8 s)), over all outcomes of the draws
    random = np.random.default_rng(22)
    signed = random.integers(0, 2, (5, 6)).astype(float)  # which of five records satisfy which of six signed queries
    law = random.dirichlet(np.full(6, 0.7))
    for level in (0.1, 1, 4, 4 * draws, 16 * draws):
        moment = 0.0
        for drawn in product(range(6), repeat=draws):
            excess = (signed[:, list(drawn)].mean(axis=1) - signed @ law).max()
            moment += math.prod(law[query] for query in drawn) * math.exp(level * excess)
        assert moment <= 5 * math.exp(level**2 / (8 * draws)) * (1 + 1e-9)


def test_alpha_is_the_sum_of_its_five_terms():
    found = dual_query_error(eta=0.5, rounds=40, draws=300, queries=1000, records=2**30, gap=0.01, confidence=0.9)
    luck = math.log(2 / 0.1) / 40
    regret = math.log(2000) / 20 + 0.25
    expected = regret + math.sqrt((30 * math.log(2) + luck) / 600) + math.sqrt(luck / 600) + 0.01
    assert found == pytest.approx(expected, rel=1e-12)


def test_rounds_with_different_draws_count_by_the_mean_of_their_inverses():
    same = dual_query_error(eta=1, rounds=3, draws=100, queries=5, records=9)
    mixed = dual_query_error(eta=1, rounds=3, draws=[50, 200, 200], queries=5, records=9)
    assert mixed == pytest.approx(same, rel=1e-12)
    with pytest.raises(ParameterError, match="one for each round"):
        dual_query_error(eta=1, rounds=3, draws=[50, 200], queries=5, records=9)


@pytest.mark.parametrize(
    "wrong",
    [{"eta": 0}, {"rounds": 0}, {"draws": 0}, {"queries": 0}, {"records": 0}, {"gap": -1}, {"confidence": 1}],
    ids=lambda one: next(iter(one)),
)
def test_parameters_without_meaning_are_refused(wrong):
    stated = {"eta": 1, "rounds": 2, "draws": 2, "queries": 2, "records": 2}
    with pytest.raises(ParameterError):
        dual_query_error(**{**stated, **wrong})


@pytest.mark.theorem("largest_noise.accuracy")
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999999])
@pytest.mark.parametrize("count", [1, 100, 10**6])
def test_gaussian_noises_stay_below_with_the_confidence_on_the_exact_law(count, confidence):
    # by the union bound count * P(|noise| > bound) must be at most 1 - confidence
    bound = largest_noise(np.full(count, 2.0), pure=False, confidence=confidence)
    assert count * math.erfc(bound / 2 / math.sqrt(2)) <= 1 - confidence


@pytest.mark.theorem("largest_noise.accuracy")
@pytest.mark.parametrize("terms", [1, 2])
@pytest.mark.parametrize("count", [1, 1000])
def test_laplace_noises_and_sums_of_two_stay_below_with_the_confidence_on_the_exact_law(count, terms):
    # a Laplace noise of scale 1 has the tail exp(-t), the sum of two (1 + t/2) exp(-t), for both signs together
    bound = largest_noise(np.full(count, math.sqrt(2 * terms)), pure=True, confidence=0.95)
    tail = math.exp(-bound) * (1 if terms == 1 else 1 + bound / 2)
    assert count * tail <= 0.05
    assert largest_noise(np.full(count, 1.0), pure=True) > largest_noise(np.full(count, 1.0), pure=False)


@pytest.mark.parametrize("confidence", [1, -0.5, 2, float("nan")])
def test_noises_are_never_below_a_bound_for_certain(confidence):
    with pytest.raises(ParameterError, match="confidence"):
        largest_noise(np.ones(3), pure=True, confidence=confidence)


def test_the_largest_of_no_noises_is_refused():
    with pytest.raises(ParameterError, match="no deviations"):
        largest_noise(np.array([]), pure=False)


def plan(**choices):
    domain = Domain.of(sex=["f", "m"], smokes=["no", "yes"])
    asked = conjunctions(domain, ways=2, count=8)
    return DualQuery.of(asked, Neighbors(Relation.CHANGE_ONE, 1_000_000), epsilon=1, delta=1e-9, **choices)


@pytest.mark.theorem("dual_query_error.accuracy")
def test_a_plan_predicts_what_the_theorem_says_about_its_own_parameters():
    made = plan(eta=0.05, rounds=1500, weights=Weights.EQUAL)
    found = made.error(confidence=0.9)
    stated = dual_query_error(
        eta=made.eta, rounds=1500, draws=made.draws, queries=8, records=4, confidence=Fraction(9, 10)
    )
    assert abs(found.bound - stated) < 1e-12
    assert (found.vacuous, found.maximum, float(found)) == (False, found.bound, found.bound)
    assert "with 90 % confidence no frequency is off" in str(found)
    assert made.error(confidence=0.99).bound > found.bound
    assert "0.25 of the best one" in str(made.error(0.9, gap=0.25))
    assert made.error(0.9, gap=0.25).bound == pytest.approx(found.bound + 0.25)


def test_a_plan_says_when_the_theorem_says_nothing():
    found = plan(eta=1, rounds=3).error(confidence=0.95)
    assert found.vacuous
    assert found.bound > 1 == found.maximum
    assert "vacuous" in str(found)
    assert "nothing is proven" in str(plan(eta=0.05, rounds=1500).error(confidence=0.95))


@pytest.mark.parametrize("confidence", [1, 1.5, -1, float("nan"), True, None, "0.95"])
def test_a_confidence_that_is_none_is_refused(confidence):
    with pytest.raises(ParameterError):
        plan(eta=1, rounds=3).error(confidence=confidence)


def test_explain_says_what_is_known_about_the_errors():
    people = pd.DataFrame({"sex": ["f", "m"], "smokes": ["no", "yes"]})
    columns = {"sex": {"values": ["f", "m"]}, "smokes": {"values": ["no", "yes"]}}
    with Session.from_frames(people=people, unit="row", budget=PureDP(1), columns=columns) as session:
        workload = conjunctions(domain_of(session, "people"), ways=2, count=8)
        words = {
            method: str(explain_synthesis(session, "people", workload, method=method, epsilon=1, people=100))
            for method in ("dual-query", "mwem")
        }
    assert "the theorem is vacuous here" in words["dual-query"]
    assert "theorem" not in words["mwem"]

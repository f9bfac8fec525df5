"""The price of a search: laws of runs, the exact law of the winner on small mechanisms, and the bars."""

import math
from collections import Counter
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.learning import Poisson, TruncatedNegativeBinomial
from discreet.learning.search import RunsLaw, pure_search_epsilon, search_delta, search_epsilon
from discreet.learning.search.price import largest_base_mu
from discreet.privacy import GaussianDP, largest_mu
from discreet.privacy.guarantees.moments import renyi_epsilon

LAWS = (
    TruncatedNegativeBinomial.of_mean(3),
    TruncatedNegativeBinomial.of_mean(10),
    TruncatedNegativeBinomial(eta=1, gamma=0.2),
    TruncatedNegativeBinomial(eta=Fraction(1, 2), gamma=0.05),
    TruncatedNegativeBinomial(eta=2.5, gamma=0.3),
    Poisson(1),
    Poisson(6),
)
LEVELS = (0.0, 0.1, 0.3, 0.6, 1.0, 1.5, 2.5)


def _chances(law: RunsLaw, most: int = 1500) -> np.ndarray:
    """Return P(K = 0), P(K = 1), ..., by the ratios, until next to nothing is left."""
    first = law._first
    chances = np.zeros(most)
    chances[first] = law.pmf(first).estimate
    for count in range(first, most - 1):
        chances[count + 1] = chances[count] * float(law._ratio(count))
    return chances


def _winner(chances: np.ndarray, scores: np.ndarray, base: np.ndarray) -> np.ndarray:
    """Return the law of the winner by its definition, from the numbers of runs one by one; 'no run' comes last."""
    found = np.zeros(len(base) + 1)
    counts = np.arange(len(chances))
    for score in set(scores.tolist()):
        upto, below = base[scores <= score].sum(), base[scores < score].sum()
        largest = (chances * (min(upto, 1.0) ** counts - below**counts))[1:].sum()
        level = scores == score
        found[:-1][level] = largest * base[level] / base[level].sum()
    found[-1] = chances[0]
    return found


def _delta(one: np.ndarray, other: np.ndarray, epsilon: float) -> float:
    return float(np.maximum(one - math.exp(epsilon) * other, 0).sum())


def _normal(score: float) -> float:
    return math.erfc(-score / math.sqrt(2)) / 2


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_laws_add_up_to_one_and_have_the_stated_mean(law: RunsLaw) -> None:
    chances = _chances(law)
    assert math.isclose(chances.sum(), 1, rel_tol=1e-9)
    assert math.isclose(chances @ np.arange(len(chances)), law.mean, rel_tol=1e-7)
    assert math.isclose(1 - chances @ 0.7 ** np.arange(len(chances)), law.hit(0.3), rel_tol=1e-9)
    assert all(
        law.pmf(k).lower <= chances[k] * (1 + 1e-12) and chances[k] <= law.pmf(k).upper * (1 + 1e-12) for k in range(9)
    )


@pytest.mark.parametrize("law", LAWS, ids=str)
def test_draws_follow_the_law(law: RunsLaw) -> None:
    # a frequency of 3,000 draws is off by 6.8 standard deviations and 0.01 less than once in 1e12 runs (Bernstein), and
    # there are 77 of them
    draws, chances = Counter(law.sample() for _ in range(3000)), _chances(law)
    for count in range(11):
        spread = math.sqrt(chances[count] * (1 - chances[count]) / 3000)
        assert abs(draws[count] / 3000 - chances[count]) <= 6.8 * spread + 0.01


def test_a_draw_asks_for_more_bits_only_where_the_first_leave_it_open() -> None:
    law = TruncatedNegativeBinomial(eta=1, gamma=0.5)
    assert law._inverse(0, 64) == 1
    assert law._inverse((1 << 63) + 1, 64) == 2
    assert law._inverse((1 << 64) - 1, 64) is None  # a number within 2^-64 of 1 may be any large one
    assert law._inverse((((1 << 64) - 1) << 64) + (1 << 60), 128) == 65


@pytest.mark.theorem("PrivateSearch.privacy")
@pytest.mark.theorem("search_delta.privacy")
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_the_exact_law_of_the_winner_never_exceeds_the_gaussian_price(law: RunsLaw) -> None:
    chances = _chances(law)
    generator = np.random.default_rng(5)
    for mu in (Fraction(1, 5), Fraction(1)):
        claims = [search_delta(mu, law, level) for level in LEVELS]
        for trial in range(60):
            # any grouping of a normal variable that the neighbor moves by mu is mu-Gaussian-DP
            cuts = np.sort(generator.normal(float(mu) / 2, 1.2, generator.integers(1, 25)))
            laws = [np.diff([0.0, *(_normal(cut - shift) for cut in cuts), 1.0]) for shift in (0.0, float(mu))]
            groups = generator.integers(0, len(cuts) + 1, len(cuts) + 1) if trial % 3 else np.arange(len(cuts) + 1)
            one, other = (np.bincount(groups, weights=law_, minlength=len(cuts) + 1) for law_ in laws)
            kept = one > 0
            scores = generator.permutation(kept.sum()) // (1 + trial % 2)
            scores = np.arange(kept.sum())[:: 1 if trial % 4 else -1] if trial % 5 == 0 else scores
            first, second = (_winner(chances, scores, base[kept]) for base in (one, other))
            for level, claim in zip(LEVELS, claims, strict=True):
                assert max(_delta(first, second, level), _delta(second, first, level)) <= claim + 1e-9


@pytest.mark.theorem("PrivateSearch.privacy")
@pytest.mark.theorem("pure_search_epsilon.privacy")
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_the_exact_law_of_the_winner_never_exceeds_the_pure_price(law: RunsLaw) -> None:
    chances = _chances(law)
    generator = np.random.default_rng(6)
    worst = 0.0
    for trial in range(150):
        one = generator.dirichlet(np.ones(generator.integers(2, 7)))
        other = one * np.exp(generator.choice([-1.0, 1.0], len(one)) * generator.uniform(0, 1))
        if trial % 3 == 0:  # randomized response, whose better outcome wins or loses
            one, other = np.array([0.8, 0.2]), np.array([0.2, 0.8])
        other /= other.sum()
        epsilon = Fraction(float(np.abs(np.log(one / other)).max()))
        claim = pure_search_epsilon(epsilon, law)
        first, second = (_winner(chances, np.arange(len(one)), base)[:-1] for base in (one, other))
        loss = float(np.abs(np.log(first / second)).max())
        assert loss <= claim + 1e-7
        assert claim <= 4.5 * float(epsilon) + 1e-9 or isinstance(law, Poisson)
        worst = max(worst, loss / claim)
    assert worst > 0.6  # the price is not far from what these mechanisms do


def test_a_price_that_forgot_the_choice_would_be_refuted() -> None:
    law = LAWS[1]
    chances, mu = _chances(law), 0.5
    cuts = np.linspace(-3, 3.5, 60)
    one, other = (np.diff([0.0, *(_normal(cut - shift) for cut in cuts), 1.0]) for shift in (0.0, mu))
    first, second = (_winner(chances, np.arange(len(one)), base) for base in (one, other))
    found = max(_delta(first, second, 1.0), _delta(second, first, 1.0))
    assert found > GaussianDP(mu).loss.delta(1).upper
    assert found <= search_delta(Fraction(1, 2), law, 1.0)


@pytest.mark.parametrize(("runs", "bar"), [(10, 1.93), (100, 2.30)])
def test_ten_and_a_hundred_expected_runs_cost_less_than_the_bar(runs: int, bar: float) -> None:
    mu, delta = largest_mu(Fraction(1), Fraction(1, 10**5)), Fraction(1, 10**5)
    found = search_epsilon(mu, TruncatedNegativeBinomial.of_mean(runs), delta)
    assert found <= bar - 0.4
    composed = GaussianDP(float(mu) * math.sqrt(runs)).to_approx(delta=1e-5).epsilon
    assert composed > 1.8 * found


@pytest.mark.parametrize("eta", [0, 1])
def test_the_price_is_below_every_renyi_price(eta: int) -> None:
    mu, delta = Fraction(27, 100), Fraction(1, 10**5)
    law = TruncatedNegativeBinomial.of_mean(10, eta=eta)
    gamma, expected = float(law.gamma), law.mean

    def renyi(order: float, other: float) -> float:
        rate = float(mu) ** 2 / 2
        chosen = (1 + eta) * ((other - 1) * rate + math.log(1 / gamma) / other)
        return renyi_epsilon(Fraction(order), Fraction(order * rate + chosen + math.log(expected) / (order - 1)), delta)

    known = min(renyi(order, other) for order in np.geomspace(2, 200, 40) for other in np.geomspace(1.5, 200, 40))
    assert search_epsilon(mu, law, delta) < known


def test_laws_that_make_no_sense_are_refused() -> None:
    for wrong in (lambda: TruncatedNegativeBinomial(eta=-0.01, gamma=0.5), lambda: TruncatedNegativeBinomial.of_mean(1),
                  lambda: TruncatedNegativeBinomial(eta=0, gamma=1), lambda: Poisson(0), lambda: Poisson(10**4),
                  lambda: TruncatedNegativeBinomial(eta=math.nan, gamma=0.5)):  # fmt: skip
        with pytest.raises(ParameterError):
            wrong()


@pytest.mark.parametrize("law", [TruncatedNegativeBinomial.of_mean(10), Poisson(500)])
def test_prices_from_the_smallest_to_the_largest_are_numbers_that_grow(law: RunsLaw) -> None:
    found = [search_epsilon(Fraction(mu), law, Fraction(1, 10**6)) for mu in (1e-300, 1e-3, 93, 94, 1e3, 1e6)]
    assert found == sorted(found)
    assert found[-1] > 5e11  # mu^2 / 2
    assert largest_base_mu(Fraction(10) ** 300, Fraction(1, 10**6), law) <= 10**6


@pytest.mark.parametrize("count", [2.5, math.nan, "3", None, [], 2**70])
def test_what_is_no_number_of_runs_has_no_chance(count: Any) -> None:
    with pytest.raises(ParameterError):
        Poisson(3).pmf(count)


@pytest.mark.parametrize("frequency", [-0.1, 1.5, "x", None, math.nan])
def test_what_is_no_frequency_is_not_hit(frequency: Any) -> None:
    with pytest.raises(ParameterError):
        Poisson(3).hit(frequency)


def test_a_law_of_hardly_any_runs_has_a_price() -> None:
    assert search_epsilon(Fraction(1, 2), Poisson(1e-9), Fraction(1, 10**6)) >= 0

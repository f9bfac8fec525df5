"""The Fourier attack recovers what its theorems say: from any bounded errors, from noise, and from a session."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet.attacks import (
    Characters,
    Flip,
    ceiling,
    exact_answers,
    fourier,
    noisy_answers,
    recovered_fraction,
    session_answers,
)
from discreet.attacks.asking.noise import gaussian_noise, malicious_noise, sign_noise, uniform_noise
from discreet.cli.attack.people import PERSON, SECRET, TABLE, counts_loss, secret_session, split
from discreet.errors import BudgetExceeded, InputError, MissingParameter, ParameterError
from tests.chances import fewest, most

NAMES = {"table": TABLE, "secret": SECRET, "person": PERSON}


def bits(people: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 2, people)


@pytest.mark.theorem("fourier.accuracy")
@pytest.mark.parametrize("people", [1, 2, 1000, 2**16 - 1, 2**20 - 1])
def test_exact_answers_give_everybody_away(people):
    secret = bits(people)
    found = fourier(exact_answers(secret), people, error=0, noise_variance=0, truth=secret)
    assert np.array_equal(found.bits, secret)
    assert found.recovered == found.expected == found.floor == 1.0
    assert found.queries == Characters(people=people).length


@pytest.mark.theorem("fourier.accuracy")
@pytest.mark.parametrize("level", [0.05, 0.1, 0.2, 0.25, 0.3, 0.5, 0.6, 1.0])
@pytest.mark.parametrize("power", [8, 12, 16])
def test_errors_within_a_bound_turn_at_most_sixteen_squares_of_bits_and_malice_turns_many(power, level):
    people, error = 2**power - 1, level * 2 ** (power / 2)
    secret = bits(people, power)
    ask = noisy_answers(secret, malicious_noise(error, seed=1))
    found = fourier(ask, people, error=error, truth=secret)
    exact = Characters(people=people).exact(secret)
    assert np.abs(ask(Characters(people=people)) - exact).max() <= error
    assert found.wrong <= 16 * error**2
    # the theorem is not far from the truth: malice gets half of what it allows, or everybody where that is all
    assert found.wrong >= 0.4 * min(16 * error**2, people) - 1
    if found.floor is None:
        assert 16 * error**2 >= people
    else:
        assert found.floor == pytest.approx(1 - math.floor(16 * error**2 + 1e-6) / people, abs=1e-9)
        assert found.recovered >= found.floor


@pytest.mark.theorem("fourier.accuracy")
@pytest.mark.parametrize("noise", [uniform_noise, sign_noise])
@pytest.mark.parametrize("relabelings", [1, 3])
def test_bounded_noise_turns_at_most_sixteen_squares_of_bits_too(noise, relabelings):
    secret, error = bits(4095), 8
    ask = noisy_answers(secret, noise(error, seed=3))
    found = fourier(ask, 4095, relabelings=relabelings, seed=4, error=error, truth=secret)
    assert found.wrong <= 16 * error**2
    assert found.floor == pytest.approx(1 - 1024 / 4095, abs=1e-9)


@pytest.mark.theorem("fourier.accuracy")
@pytest.mark.parametrize("level", [0.1, 0.2, 0.25, 0.5, 1.0])
def test_normal_noise_leaves_a_binomial_number_of_bits(level):
    people, deviation = 2**16 - 1, level * 2**8
    secret = bits(people, 7)
    ask = noisy_answers(secret, gaussian_noise(deviation, seed=8))
    found = fourier(ask, people, noise_variance=deviation**2, truth=secret)
    assert found.expected == pytest.approx(float(_phi(1 / (4 * level))), rel=1e-12)
    right = people - found.wrong
    assert fewest(people, found.expected) <= right <= most(people, found.expected)


@pytest.mark.theorem("fourier.accuracy")
@pytest.mark.parametrize(("make", "part", "moment"), [(uniform_noise, 3, 3**1.5 / 4), (sign_noise, 1, 1.0)])
@pytest.mark.parametrize("level", [0.1, 0.25, 0.5, 1.0])
def test_other_noise_of_the_same_variance_does_the_same_up_to_berry_and_esseen(make, part, moment, level):
    people, error = 2**16 - 1, level * 2**8
    secret = bits(people, 9)
    found = fourier(noisy_answers(secret, make(error, seed=10)), people, noise_variance=error**2 / part, truth=secret)
    away = 0.56 * moment / 2**8 * people
    right = people - found.wrong
    assert fewest(people, found.expected) - away <= right <= most(people, found.expected) + away


@pytest.mark.theorem("fourier.accuracy")
@pytest.mark.parametrize(("relabelings", "share"), [(1, 0.5987), (4, 0.6915), (16, 0.8413)])
def test_relabelings_divide_the_variance(relabelings, share):
    people, deviation = 2**12 - 1, 64.0
    secret = bits(people, 11)
    ask = noisy_answers(secret, gaussian_noise(deviation, seed=12))
    found = fourier(ask, people, relabelings=relabelings, seed=13, noise_variance=deviation**2, truth=secret)
    assert found.queries == relabelings * 2**12
    assert found.expected == pytest.approx(share, abs=1e-4)
    assert fewest(people, share) <= people - found.wrong <= most(people, share)


@pytest.mark.parametrize(("rho", "attack"), [(0.05, 0.5315), (0.5, 0.5987), (2, 0.6915), (8, 0.8413)], ids=str)
def test_a_budget_of_rho_split_over_all_queries_leaves_the_normal_chance_of_the_root_of_an_eighth(rho, attack):
    for queries in (256, 1024):
        share = recovered_fraction(queries / (2 * rho), queries=queries)
        assert share == pytest.approx(attack, abs=1e-4)
        assert share == pytest.approx(_phi(math.sqrt(rho / 8)), rel=1e-12)
        highest = ceiling(counts_loss(Fraction(rho) / queries, queries=queries), flip=Flip.ONE_ROW)
        assert highest.upper == pytest.approx(_phi(math.sqrt(rho / 2)), abs=1e-6)
        # a person has an even parity with half of all numbers
        counted = ceiling(counts_loss(Fraction(rho) / queries, queries=queries // 2), flip=Flip.ONE_ROW)
        assert counted.upper == pytest.approx(_phi(math.sqrt(rho) / 2), abs=1e-6)
        assert share < counted.lower <= counted.upper < highest.lower
        guaranteed = ceiling(dp.ZCDP(rho, relation=dp.Relation.ADD_REMOVE).loss, flip=Flip.ONE_ROW)
        assert highest.upper <= guaranteed.upper


@pytest.mark.theorem("fourier.privacy", "counts_loss.privacy")
@pytest.mark.parametrize("rho", [0.5, 8])
def test_asked_as_sql_of_a_session_the_attack_gets_its_share_and_no_more_than_the_ceiling(rho, rounds):
    people = rounds(sample=2**7, full=2**10) - 1
    secret = bits(people, 17)
    with secret_session(secret, rho=rho, purpose="a test") as session:
        each = split(session, queries=people + 1)
        ask = session_answers(session, rho=each, **NAMES)
        found = fourier(
            ask, people, noise_variance=1 / (2 * each), truth=secret, loss=counts_loss(each, queries=people + 1)
        )
        assert session.balance.remaining.rho == 0
        with pytest.raises(BudgetExceeded):
            session.sql("SELECT COUNT(*) AS n FROM people", rho=each)
        # asked again, the stored answers come back: nothing is charged and nothing can be averaged
        again = fourier(ask, people)
    assert np.array_equal(again.estimates, found.estimates)
    assert found.expected == pytest.approx(_phi(math.sqrt(rho / 8)), rel=1e-12)
    right = people - found.wrong
    assert fewest(people, found.expected) <= right <= most(people, found.expected)
    assert right <= most(people, found.ceiling.upper)
    assert found.expected < found.ceiling.lower


def test_relabeled_queries_are_understood_by_a_session():
    secret = bits(15, 1)
    with secret_session(secret, rho=384, purpose="a test") as session:
        each = split(session, queries=48)
        ask = session_answers(session, rho=each, **NAMES)
        found = fourier(ask, 15, relabelings=3, seed=5, noise_variance=1 / (2 * each), truth=secret)
        # no text was asked twice: every answer was charged and has noise of its own
        assert session.balance.remaining.rho == 0
    # at this price the noise of a count has a deviation of 1/4
    assert found.recovered == 1.0
    assert found.expected > 1 - 1e-11


def test_the_attack_sees_nothing_but_answers():
    secret, asked = bits(100), []

    def ask(design):
        asked.append(design)
        return design.exact(secret)

    blind = fourier(ask, 100)
    assert asked == [Characters(people=100)]
    assert blind.recovered is blind.right is blind.ceiling is blind.expected is blind.floor is None
    assert np.array_equal(blind.bits, secret)


def test_the_result_tells_totals_in_words_and_nobodys_bit():
    secret = bits(1023)
    ask = noisy_answers(secret, uniform_noise(2, seed=1))
    found = fourier(ask, 1023, error=2, noise_variance=Fraction(4, 3), truth=secret)
    for text in (repr(found), found._repr_html_()):
        assert "1,023" in text
        assert "93.7 %" in text  # certain: 1 - 64/1023
        assert "[" not in text


@pytest.mark.parametrize(("error", "shown"), [(0, "100.0 %"), (1, "98.4 %")])
def test_what_is_certain_is_shown_rounded_down(error, shown):
    found = fourier(exact_answers(bits(1023)), 1023, error=error)
    assert f"certain {shown}" in repr(found)


@pytest.mark.parametrize("wrong", [{"noise_variance": -1}, {"noise_variance": math.nan}, {"queries": 0}])
def test_no_share_is_told_for_noise_that_cannot_be(wrong):
    given = {"noise_variance": 1, "queries": 4} | wrong
    with pytest.raises(ParameterError, match=r"noise_variance|queries"):
        recovered_fraction(given["noise_variance"], queries=given["queries"])


def test_the_floor_allows_for_answers_so_large_that_floats_round():
    answers = np.full(1024, 2.0**60)
    assert fourier(lambda _: answers, 1023, error=1).floor is None


@pytest.mark.parametrize(
    ("wrong", "kind"),
    [
        ({"people": 0}, ParameterError),
        ({"error": -1}, ParameterError),
        ({"noise_variance": -1}, ParameterError),
        ({"relabelings": 2}, MissingParameter),
        ({"truth": [0, 1]}, InputError),
        ({"loss": 1.0}, ParameterError),
    ],
)
def test_what_makes_no_attack_is_refused_before_anything_is_asked(wrong, kind):
    def ask(_):
        pytest.fail("asked")

    with pytest.raises(kind):
        fourier(ask, **{"people": 10} | wrong)


@pytest.mark.parametrize("answers", [[1, 2], np.full(16, np.nan)])
def test_answers_that_are_not_one_number_a_query_are_refused(answers):
    with pytest.raises(InputError, match="answers"):
        fourier(lambda _: answers, 10)


def _phi(deviations: float) -> float:
    return math.erfc(-deviations / math.sqrt(2)) / 2

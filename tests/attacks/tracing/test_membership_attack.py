"""Frequencies of a group give its members away, rounded or not; a private release bounds every test."""

from __future__ import annotations

import math
from itertools import product
from statistics import NormalDist

import numpy as np
import pytest

from discreet.attacks import (
    PrivateFrequencies,
    Rounded,
    TracingStatistic,
    area_ceiling,
    exactly,
    membership,
)
from discreet.data import Panel, genomes
from discreet.errors import InputError, ParameterError

NORMAL = NormalDist()
CASES, POSITIONS = 1000, 10_000


@pytest.fixture(scope="module")
def invented():
    return genomes(people=CASES, positions=POSITIONS, seed=2026, reference=4000)


def attacked(invented, publish, *, deviation=0.0, **changed):
    return membership(
        publish(invented.cases.frequencies),
        invented.frequencies,
        invented.candidates,
        reference=invented.reference,
        people=len(invented.cases),
        deviation=deviation,
        members=invented.members,
        **changed,
    )


@pytest.mark.theorem("membership.accuracy")
@pytest.mark.parametrize("statistic", list(TracingStatistic))
@pytest.mark.parametrize("decimals", [None, 2])
def test_exact_and_rounded_frequencies_give_three_quarters_of_the_group_away(invented, statistic, decimals):
    # invented people come from a seed, and nothing else is drawn: nothing here is left to chance
    publish, deviation = (exactly, 0) if decimals is None else (Rounded(2), Rounded(2).deviation)
    found = attacked(invented, publish, deviation=deviation, statistic=statistic)
    assert found.true_rate >= 0.75
    assert found.false_rate <= 0.025
    assert found.expected_rate == pytest.approx(0.798 if decimals is None else 0.775, abs=0.001)
    assert found.true_rate == pytest.approx(found.expected_rate, abs=0.06)
    assert found.area == pytest.approx(found.expected_area, abs=0.006)
    if decimals is None:
        assert found.separation == pytest.approx(math.sqrt(POSITIONS / CASES))


@pytest.mark.theorem("membership.accuracy")
@pytest.mark.parametrize("positions", [300, 1000, 3000])
def test_the_chance_to_be_found_grows_with_the_number_of_frequencies_as_theory_says(positions):
    found = attacked(genomes(people=1000, positions=positions, seed=7, reference=3000), exactly, level=0.05)
    assert found.separation == pytest.approx(math.sqrt(positions / 1000))
    assert found.true_rate == pytest.approx(NORMAL.cdf(found.separation - NORMAL.inv_cdf(0.95)), abs=0.06)
    assert found.area == pytest.approx(NORMAL.cdf(found.separation / math.sqrt(2)), abs=0.03)


@pytest.mark.theorem("membership.accuracy")
@pytest.mark.parametrize("people", [1, 2, 3])
@pytest.mark.parametrize("chance", [0.05, 0.3, 0.5])
def test_mean_and_variance_of_a_score_are_those_of_enumerating_everybody(people, chance):
    spread = chance * (1 - chance)
    moments = {True: np.zeros(3), False: np.zeros(3)}
    for bits in product((0, 1), repeat=people + 1):
        weight = math.prod(chance if bit else 1 - chance for bit in bits)
        outsider, group = bits[0], bits[1:]
        for member, candidate in ((True, group[0]), (False, outsider)):
            score = (candidate - chance) * (np.mean(group) - chance) / (spread / people)
            moments[member] += weight * np.array([1, score, score**2])
    for member, (mass, mean, square) in moments.items():
        excess = (1 - 4 * spread) / spread if member else 1
        assert mass == pytest.approx(1)
        assert mean == pytest.approx(1.0 if member else 0.0)
        assert square - mean**2 == pytest.approx(people - 1 + excess)


@pytest.mark.theorem("membership.accuracy")
def test_an_outsider_is_accused_no_more_often_than_allowed_whatever_was_published():
    # exchangeability: every order of an outsider among the reference people, ties included
    panel = Panel.of([[0, 0], [0, 1], [1, 0], [1, 1], [1, 1], [0, 1]])
    bits = np.concatenate(list(panel.bits()))
    for published, level in product(([0.9, 0.1], [0.5, 0.5], [0.2, 0.9]), (0.1, 0.2, 0.34, 0.5, 1.0)):
        accused = 0
        for outsider in range(6):
            others = np.delete(bits, outsider, axis=0)
            found = membership(
                published, [0.4, 0.3], Panel.of(bits[[outsider]]), reference=Panel.of(others), people=3, level=level
            )
            accused += int(found.called[0])
        assert accused / 6 <= level + 1e-12


@pytest.mark.theorem("membership.accuracy")
@pytest.mark.parametrize("statistic", list(TracingStatistic))
@pytest.mark.parametrize("positions", [7, 100, 1000, 50_000])
def test_nobody_stands_out_among_people_with_the_same_bits(statistic, positions):
    random = np.random.default_rng(positions)
    row = random.integers(0, 2, (1, positions))
    known = random.uniform(0.05, 0.5, positions)
    shown = np.clip(known + random.normal(0, 0.02, positions), 0, 1)
    for count in (1, 2, 3, 5):
        found = membership(
            shown, known, np.repeat(row, count, axis=0), reference=np.repeat(row, 301, axis=0), people=100,
            statistic=statistic,
        )  # fmt: skip
        assert (found.p_values == 1).all()


def test_what_the_owner_gave_is_left_alone():
    panel, members, known = Panel.of([[0, 1], [1, 1]]), np.array([True, False]), np.array([0.3, 0.4])
    membership([0.1, 0.2], known, panel, reference=panel, people=2, members=members)
    members[0], known[0] = False, 0.5


@pytest.mark.theorem("membership.privacy", "PrivateFrequencies.accuracy")
def test_private_frequencies_hide_everybody(invented):
    publish = PrivateFrequencies(people=CASES, positions=POSITIONS, epsilon=1, delta=1e-5)
    shown = publish(invented.cases.frequencies)
    error = shown - invented.cases.frequencies
    # the mean square of ten thousand normal errors, ten of its standard deviations either way
    assert np.mean(error**2) == pytest.approx(publish.deviation**2, rel=10 * math.sqrt(2 / POSITIONS))
    found = attacked(invented, lambda _: shown, deviation=publish.deviation, mu=publish.mu)
    assert 0.575 < found.area_ceiling.upper < 0.576
    assert found.expected_area == pytest.approx(0.532, abs=0.002)
    assert found.expected_area < found.area_ceiling.upper
    # the expected area is more than seven of its standard deviations, noise that all members share included, below this
    assert found.area <= found.area_ceiling.upper + 6 * found.area_error
    assert 0.008 < found.area_error < 0.0125
    assert found.true_rate < 0.1


@pytest.mark.theorem("membership.privacy")
@pytest.mark.parametrize("mu", [0.01, 0.268, 1, 3])
def test_the_ceiling_is_the_area_under_the_curve(mu):
    rates = np.linspace(0, 1, 20_001)[1:-1]
    curve = np.array([NORMAL.cdf(mu + NORMAL.inv_cdf(rate)) for rate in rates])
    area = np.trapezoid(np.concatenate([[0], curve, [1]]), np.concatenate([[0], rates, [1]]))
    ceiling = area_ceiling(mu)
    assert ceiling.lower <= ceiling.upper <= ceiling.lower + 1e-12
    assert area == pytest.approx(ceiling.upper, abs=1e-4)
    assert ceiling.upper == pytest.approx(NORMAL.cdf(mu / math.sqrt(2)), abs=1e-12)


def test_the_area_is_how_often_a_member_looks_more_like_one():
    candidates = [[1, 1], [1, 0], [0, 0]]
    reference = Panel.of([[0, 0], [1, 0], [0, 1], [0, 0]])
    found = membership(
        [0.9, 0.6], [0.5, 0.5], candidates, reference=reference, people=2, members=np.array([True, True, False]),
        level=0.2,
    )  # fmt: skip
    # scores rank 11 > 10 > 01 > 00
    assert found.area == pytest.approx(((4 / 4) + (3.5 / 4)) / 2)
    assert found.p_values.tolist() == [1 / 5, 2 / 5, 1.0]
    assert found.called.tolist() == [True, False, False]
    assert found.true_rate == 0.5
    assert found.false_rate == 0.0
    false_rates, true_rates = found.curve()
    assert false_rates.tolist() == [0, 0.25, 0.5, 0.75, 1]
    assert true_rates.tolist() == [0.5, 1.0, 1.0, 1.0, 1.0]
    assert found.area_error > 0


def test_an_attacker_knows_no_truth():
    small = genomes(people=20, positions=200, seed=1)
    found = membership(
        small.cases.frequencies, small.frequencies, small.outsiders, reference=small.reference, people=20
    )
    assert found.area is found.true_rate is found.false_rate is found.area_error is found.area_ceiling is None
    with pytest.raises(ParameterError, match="members"):
        found.curve()
    assert found.plot().svg().startswith("<?xml")


def test_the_result_tells_totals_and_draws_the_curve():
    small = genomes(people=50, positions=500, seed=1)
    found = attacked(small, exactly, mu=0.5)
    for text in (repr(found), found._repr_html_()):
        assert "500 of 50 people" in text
        assert "0.639" in text
        assert "[" not in text
    names = [text.get_text() for text in found.plot().figure.legends[0].get_texts()]
    assert names == ["a coin", "theory", "measured", "false alarms allowed"]
    with pytest.raises(ValueError, match="read-only"):
        found.scores[0] = 1
    assert repr(TracingStatistic.INNER_PRODUCT) == "TracingStatistic.INNER_PRODUCT"


def test_extreme_levels_have_plain_expectations():
    small = genomes(people=50, positions=100, seed=1)
    assert attacked(small, exactly, level=0).expected_rate == 0.0
    with pytest.raises(ParameterError, match="false_rate"):
        attacked(small, exactly).expected_at(1.5)
    assert attacked(small, exactly, level=1).expected_rate == attacked(small, exactly, level=1).true_rate == 1.0


def test_frequencies_of_nobody_and_everybody_do_not_break_the_likelihood_ratio():
    panel = Panel.of([[0, 1], [1, 1]])
    found = membership(
        [0.0, 1.0], [0.5, 0.5], panel, reference=panel, people=4, statistic=TracingStatistic.LIKELIHOOD_RATIO
    )
    assert np.isfinite(found.scores).all()
    assert found.scores[0] > found.scores[1]


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        ({"published": [0.1]}, InputError),
        ({"published": [np.nan, 0.1]}, InputError),
        ({"published": ["a", "b"]}, InputError),
        ({"published": [[0.1], [0.1, 0.2]]}, InputError),
        ({"published": [1e308, -1e308]}, InputError),
        ({"frequencies": [5e-324, 0.5]}, InputError),
        ({"candidates": [[0], [0, 1]]}, ParameterError),
        ({"frequencies": [0.0, 0.5]}, InputError),
        ({"members": [True]}, InputError),
        ({"members": [1, 0]}, InputError),
        ({"level": 2}, ParameterError),
        ({"people": 0}, ParameterError),
        ({"deviation": -1}, ParameterError),
        ({"statistic": "inner product"}, ParameterError),
        ({"mu": 0}, ParameterError),
        ({"reference": Panel.of([[1]])}, InputError),
        ({"reference": np.zeros((0, 2), dtype=int)}, InputError),
        ({"candidates": [[0, 2]]}, ParameterError),
    ],
)
def test_what_cannot_be_tested_is_refused(changed, error):
    panel = Panel.of([[0, 1], [1, 1]])
    given = {"published": [0.1, 0.2], "frequencies": [0.3, 0.4], "candidates": panel, "reference": panel, "people": 2}
    with pytest.raises(error):
        membership(**(given | changed))


def test_published_numbers_that_are_all_noise_accuse_nobody():
    panel = Panel.of([[0, 1], [1, 1]])
    found = membership([0.1, 0.2], [0.3, 0.4], panel, reference=panel, people=2, deviation=1e200)
    assert found.separation == 0
    assert not found.called.any()

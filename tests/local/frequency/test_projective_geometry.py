"""Projective geometry response: exact privacy, exact accuracy, and a choice of space that stays at the optimum."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.data.invention import coins
from discreet.errors import InputError, ParameterError
from discreet.local.frequency.geometry import Geometry, is_prime
from discreet.local.frequency.projective import ProjectiveGeometry
from discreet.local.protocol.spec import Spec
from discreet.privacy import PureDP
from discreet.randomness.rigor import ball, precision
from tests.local.claims.enumeration import exact_law
from tests.local.frequency.projective import incidence, vectors

EPSILONS = [Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4), Fraction(6)]
EXTREMES = [Fraction(1, 1024), *EPSILONS, Fraction(20)]
SPACES = [(2, 2), (2, 3), (2, 4), (3, 2), (3, 3), (5, 3), (7, 2)]


def made(epsilon: Fraction | float, prime: int, dimension: int, values: int | None = None) -> ProjectiveGeometry:
    size = Geometry(prime, dimension).points if values is None else values
    return ProjectiveGeometry(epsilon=Fraction(epsilon), categories=size, prime=prime, dimension=dimension)


@pytest.mark.parametrize(("prime", "dimension"), SPACES)
def test_a_value_stands_for_its_digits_with_a_one_on_top(prime: int, dimension: int) -> None:
    spec = made(1, prime, dimension)
    points, table = vectors(prime, dimension), incidence(prime, dimension)
    seen = []
    for value in range(spec.category_count):
        number = [value // prime**place % prime for place in range(dimension - 1)]
        top = value < prime ** (dimension - 1)
        vector = [*number, 1] if top else points[value - prime ** (dimension - 1)].tolist()
        point = points.tolist().index(vector)
        assert spec.preferred(value).tolist() == np.flatnonzero(table[point]).tolist()
        seen.append(point)
    assert sorted(seen) == list(range(spec.cells))


@pytest.mark.theorem("ProjectiveGeometry.privacy")
@pytest.mark.parametrize("epsilon", EXTREMES)
@pytest.mark.parametrize(("prime", "dimension"), SPACES)
def test_no_report_tells_two_values_apart_by_more_than_e_to_the_epsilon(
    prime: int, dimension: int, epsilon: Fraction
) -> None:
    spec = made(epsilon, prime, dimension)
    laws = np.array([spec.law(value).probabilities for value in range(spec.category_count)], dtype=object)
    assert all(sum(law) == 1 for law in laws)
    with precision(512):
        largest = max(ball(max(column) / min(column)) for column in laws.T)
        assert largest <= ball(epsilon).exp()
        assert largest.log() >= ball(epsilon) * 99 / 100


@pytest.mark.theorem("ProjectiveGeometry.privacy")
@pytest.mark.parametrize(("prime", "dimension"), SPACES)
def test_the_sampler_has_the_law_that_is_stated(prime: int, dimension: int) -> None:
    spec = made(1, prime, dimension)
    for value in {0, 1, spec.category_count // 2, spec.category_count - 1}:
        assert exact_law(spec.randomize, np.array([value])) == dict(enumerate(spec.law(value).probabilities))


@pytest.mark.theorem("ProjectiveGeometry.accuracy")
@pytest.mark.parametrize(("prime", "dimension"), SPACES)
def test_the_estimate_is_unbiased_and_its_variance_as_stated(prime: int, dimension: int) -> None:
    spec = made(2, prime, dimension)
    p, r = spec.preference, spec.shared
    for held in {0, 1, spec.category_count - 1}:
        law = spec.law(held).probabilities
        for value in range(spec.category_count):
            on_plane = set(spec.preferred(value).tolist())
            weights = [(Fraction(report in on_plane) - r) / (p - r) for report in range(spec.cells)]
            mean = sum(mass * weight for mass, weight in zip(law, weights, strict=True))
            square = sum(mass * weight**2 for mass, weight in zip(law, weights, strict=True))
            assert mean == (value == held)
            assert float(square - mean**2) == spec.variance(1, float(value == held))


@pytest.mark.theorem("ProjectiveGeometry.accuracy")
@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize(("prime", "dimension"), [(2, 25), (3, 16), (7, 9), (53, 5)])
def test_in_a_large_space_the_variance_is_the_formula(prime: int, dimension: int, epsilon: Fraction) -> None:
    spec, growth = made(epsilon, prime, dimension, 100), math.exp(epsilon)
    formula = (growth + prime - 1) ** 2 / ((prime - 1) * math.expm1(epsilon) ** 2)
    assert spec.variance(1) == pytest.approx(formula, rel=1e-5)


@pytest.mark.parametrize("values", [2, 7, 9, 10, 13])
def test_support_counts_the_reports_on_the_plane_of_every_value(values: int) -> None:
    spec = made(1, 3, 3, values)
    counts = coins(6, values).integers(0, 100, spec.cells)
    expected = [counts[spec.preferred(value)].sum() for value in range(values)]
    assert spec.support(counts).tolist() == expected


def test_estimates_follow_from_the_support() -> None:
    spec = made(1, 3, 3, 11)
    counts = coins(7).integers(0, 100, spec.cells)
    people = int(counts.sum())
    p, r = float(spec.preference), float(spec.shared)
    found = spec.estimate(counts, people)
    assert found.value == pytest.approx((spec.support(counts) / people - r) / (p - r), abs=1e-12)


@pytest.mark.parametrize("values", [1_024, 65_536])
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_the_best_space_is_within_three_percent_of_the_optimum(values: int, epsilon: Fraction) -> None:
    spec = ProjectiveGeometry.best(epsilon=epsilon, categories=values)
    assert spec.variance(1) <= 1.03 * spec.optimum(1)


@pytest.mark.parametrize("prime", [2, 3])
def test_the_worst_epsilon_lies_where_two_primes_are_equally_good(prime: int) -> None:
    following = {2: 3, 3: 5}[prime]
    crossing = math.sqrt((prime - 1) * (following - 1))  # (E + q - 1)^2 / (q - 1) agree at this E
    spec = ProjectiveGeometry.best(epsilon=math.log(crossing), categories=1 << 20)
    assert spec.variance(1) / spec.optimum(1) == pytest.approx(1.0303, abs=1e-4)
    worst = max(
        ProjectiveGeometry.best(epsilon=Fraction(step, 50), categories=1 << 20).variance(1)
        / ProjectiveGeometry.best(epsilon=Fraction(step, 50), categories=1 << 20).optimum(1)
        for step in range(5, 301, 5)
    )
    assert worst <= 1.0303


@pytest.mark.parametrize("values", [2, 5, 40, 1_000, 30_000])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(1), Fraction(3), Fraction(5)])
def test_no_prime_does_much_better_than_the_one_chosen(values: int, epsilon: Fraction) -> None:
    chosen = ProjectiveGeometry.best(epsilon=epsilon, categories=values)
    for prime in filter(is_prime, range(2, 2_000)):
        dimension = 2
        while Geometry(prime, dimension).points < values:
            dimension += 1
        other = made(epsilon, prime, dimension, values)
        assert chosen.variance(1) <= 1.00501 * other.variance(1)


def test_a_table_larger_than_allowed_is_refused_and_a_smaller_one_found() -> None:
    for largest in (None, 0, 2.5, "many"):
        with pytest.raises(ParameterError) as caught:
            ProjectiveGeometry.best(epsilon=5, categories=65_536, largest=largest)  # type: ignore[arg-type]
        assert caught.value.parameter == "largest"
    small = ProjectiveGeometry.best(epsilon=5, categories=65_536, largest=100_000)
    assert 65_536 <= small.cells <= 100_000
    assert small.variance(1) > ProjectiveGeometry.best(epsilon=5, categories=65_536).variance(1)
    with pytest.raises(ParameterError, match="HybridGeometry"):
        ProjectiveGeometry.best(epsilon=5, categories=65_536, largest=65_537)
    with pytest.raises(ParameterError, match="near the optimum"):  # 2^26 - 1 points of PG(25, 2) would do, badly
        ProjectiveGeometry.best(epsilon=5, categories=(1 << 26) - 1)
    with pytest.raises(ParameterError):
        ProjectiveGeometry.best(epsilon=1, categories=1 << 40)


@pytest.mark.parametrize(
    "changes",
    [
        *[{"prime": 4}, {"prime": 1}, {"prime": "3"}, {"dimension": 1}, {"dimension": 2}, {"dimension": 40}],
        *[{"values": 14}, {"values": 1}, {"values": None}, {"values": 1 << 50}, {"epsilon": 0}, {"epsilon": 21}],
        *[{"prime": None}, {"dimension": 3.0}, {"prime": 10**30}],
    ],
)
def test_parameters_that_cannot_be_used_are_refused(changes: dict[str, object]) -> None:
    given = {"epsilon": Fraction(1), "values": 13, "prime": 3, "dimension": 3, **changes}
    with pytest.raises(ParameterError):
        ProjectiveGeometry(**given)  # type: ignore[arg-type]


def test_a_spec_survives_its_text_and_a_changed_text_is_refused() -> None:
    spec = made(Fraction(3, 2), 3, 4, 35)
    text = spec.to_json()
    again = Spec.from_json(text)
    assert again == spec
    assert again.to_json() == text
    for before, after in (('"prime":3', '"prime":4'), ('"prime":3', '"prime":5'), ('"dimension":4', '"dimension":3')):
        assert before in text
        with pytest.raises(ParameterError):
            Spec.from_json(text.replace(before, after))


@pytest.mark.parametrize("value", [-1, 40, 2.5, "3", None])
def test_a_value_outside_the_domain_is_never_reported(value: object) -> None:
    with pytest.raises(InputError):
        made(1, 3, 4).client().report(value)


def test_the_loss_is_epsilon_and_a_hostile_report_has_the_stated_gain() -> None:
    spec = made(1, 3, 4)
    assert spec.loss.satisfies(PureDP(1.0000001, relation=spec.guarantee.relation))
    assert float(spec.loss.epsilon(delta=0.0)) == pytest.approx(1.0, abs=1e-9)
    counts = np.zeros((2, spec.cells), dtype=np.int64)
    counts[:, 0] = 1_000
    counts[1, 0] += 1
    planes = spec.support(counts)
    frequencies = (planes / [[1_000], [1_001]] - float(spec.shared)) / float(spec.preference - spec.shared)
    added = frequencies[1] * 1_001 - frequencies[0] * 1_000
    assert added.max() == pytest.approx(spec.poisoning_gain)


def test_many_reports_give_back_the_shares_of_the_people() -> None:
    spec = ProjectiveGeometry.best(epsilon=2, categories=50)
    people = 40_000
    items = coins(8).integers(0, 5, people) ** 2
    truth = np.bincount(items, minlength=50) / people
    found = spec.aggregator().add(spec.client().batch(items)).estimate()
    spread = np.array([math.sqrt(spec.variance(people, float(frequency))) for frequency in truth])
    assert np.all(np.abs(found.value - truth) <= 8 * spread)  # a normal tail of 1e-15 for each of 50 values

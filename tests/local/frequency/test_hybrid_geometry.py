"""Projective geometry response in blocks: exact privacy, exact accuracy whatever the frequencies of the blocks."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from discreet.data.invention import coins
from discreet.errors import InputError, ParameterError
from discreet.local.frequency.blocks import HybridGeometry
from discreet.local.frequency.projective import ProjectiveGeometry
from discreet.local.protocol.spec import Spec
from discreet.privacy import PureDP
from discreet.randomness.rigor import ball, precision
from tests.local.claims.enumeration import exact_law

EPSILONS = [Fraction(1, 10), Fraction(1), Fraction(2), Fraction(4), Fraction(6)]
EXTREMES = [Fraction(1, 1024), *EPSILONS, Fraction(20)]
SHAPES = [(2, 2, 2), (2, 2, 3), (3, 2, 3), (2, 3, 2), (2, 3, 3), (3, 5, 2), (4, 2, 2)]


def made(epsilon: Fraction | float, blocks: int, prime: int, dimension: int, values: int = 0) -> HybridGeometry:
    size = values or blocks * (prime**dimension - 1) // (prime - 1)
    return HybridGeometry(epsilon=Fraction(epsilon), categories=size, blocks=blocks, prime=prime, dimension=dimension)


def weights_of(spec: HybridGeometry, value: int) -> list[Fraction]:
    """What each report adds to n times the estimated frequency of a value."""
    points, block, on_plane = spec.geometry.points, value % spec.blocks, set(spec.preferred(value).tolist())
    plane, near, rest = spec.weights
    inside = [report // points == block for report in range(spec.cells)]
    return [plane if report in on_plane else near if inside[report] else rest for report in range(spec.cells)]


def moments(law: tuple[Fraction, ...], weights: list[Fraction]) -> tuple[Fraction, Fraction]:
    mean = sum((mass * weight for mass, weight in zip(law, weights, strict=True)), Fraction(0))
    square = sum((mass * weight**2 for mass, weight in zip(law, weights, strict=True)), Fraction(0))
    return mean, square - mean**2


@pytest.mark.parametrize(("blocks", "prime", "dimension"), SHAPES)
def test_values_of_a_block_prefer_planes_of_their_block_as_without_blocks(
    blocks: int, prime: int, dimension: int
) -> None:
    spec = made(1, blocks, prime, dimension)
    alone = ProjectiveGeometry(epsilon=spec.epsilon, categories=spec.geometry.points, prime=prime, dimension=dimension)
    for value in range(spec.category_count):
        shifted = alone.preferred(value // blocks) + value % blocks * spec.geometry.points
        assert spec.preferred(value).tolist() == shifted.tolist()


@pytest.mark.theorem("HybridGeometry.privacy")
@pytest.mark.parametrize("epsilon", EXTREMES)
@pytest.mark.parametrize(("blocks", "prime", "dimension"), SHAPES)
def test_no_report_tells_two_values_apart_by_more_than_e_to_the_epsilon(
    blocks: int, prime: int, dimension: int, epsilon: Fraction
) -> None:
    spec = made(epsilon, blocks, prime, dimension)
    laws = np.array([spec.law(value).probabilities for value in range(spec.category_count)], dtype=object)
    assert all(sum(law) == 1 for law in laws)
    with precision(512):
        largest = max(ball(max(column) / min(column)) for column in laws.T)
        assert largest <= ball(epsilon).exp()
        assert largest.log() >= ball(epsilon) * 99 / 100


@pytest.mark.theorem("HybridGeometry.privacy")
@pytest.mark.parametrize(("blocks", "prime", "dimension"), SHAPES)
def test_the_sampler_has_the_law_that_is_stated(blocks: int, prime: int, dimension: int) -> None:
    spec = made(1, blocks, prime, dimension)
    for value in {0, 1, spec.category_count // 2, spec.category_count - 1}:
        assert exact_law(spec.randomize, np.array([value])) == dict(enumerate(spec.law(value).probabilities))


@pytest.mark.theorem("HybridGeometry.accuracy")
@pytest.mark.parametrize(("blocks", "prime", "dimension"), SHAPES)
def test_the_estimate_is_unbiased_and_its_variance_as_stated(blocks: int, prime: int, dimension: int) -> None:
    spec = made(2, blocks, prime, dimension)
    laws = [spec.law(value).probabilities for value in range(spec.category_count)]
    for value in {0, 1, spec.category_count // 2, spec.category_count - 1}:
        weights = weights_of(spec, value)
        spreads = set()
        for held, law in enumerate(laws):
            mean, spread = moments(law, weights)
            assert mean == (held == value)
            same = held % blocks == value % blocks
            assert float(spread) == spec.variance(1, float(held == value), float(same))
            spreads.add((held == value, same, spread))
        assert len(spreads) == 3  # of x, of another value of its block, of any other


@pytest.mark.theorem("HybridGeometry.accuracy")
def test_the_variance_of_any_mixture_of_people_is_as_stated() -> None:
    spec = made(1, 3, 2, 3)
    counts = coins(9).integers(1, 9, spec.category_count)
    people = int(counts.sum())
    for value in range(spec.category_count):
        weights = weights_of(spec, value)
        exact = sum(
            (int(held) * moments(spec.law(item).probabilities, weights)[1] for item, held in enumerate(counts)),
            Fraction(0),
        )
        frequency, block = counts[value] / people, counts[value % 3 :: 3].sum() / people
        assert spec.variance(people, frequency, block) == pytest.approx(float(exact / people**2), rel=1e-12)


@pytest.mark.theorem("HybridGeometry.accuracy")
@pytest.mark.parametrize(("epsilon", "blocks", "prime", "dimension"), [(4, 2, 29, 5), (5, 4, 31, 5), (6, 7, 53, 4)])
def test_in_a_large_space_with_equal_blocks_the_variance_is_the_formula(
    epsilon: int, blocks: int, prime: int, dimension: int
) -> None:
    spec, growth, product = made(epsilon, blocks, prime, dimension), math.expm1(epsilon), blocks * prime
    formula = (growth + product) ** 2 / (product * growth**2 * (1 - 1 / prime))
    assert spec.variance(1) == pytest.approx(formula, rel=0.02)
    assert spec.variance(1) == pytest.approx(prime / (prime - 1) * spec.optimum(1), rel=0.02)


def test_the_variance_averaged_over_all_values_does_not_depend_on_the_shares_of_the_blocks() -> None:
    spec = made(3, 4, 5, 3)
    frequencies = [0.7, 0.2, 0.1, 0.0]
    average = sum(spec.variance(1, 0.0, frequency) for frequency in frequencies) / 4
    assert average == pytest.approx(spec.variance(1), rel=1e-12)
    assert spec.worst_variance(1) == pytest.approx(max(spec.variance(1, 0.0, 0.0), spec.variance(1, 0.0, 1.0)))
    assert spec.worst_variance(1) > spec.variance(1)
    assert all(spec.variance(1, 0.1, 0.1 + 0.09 * step) <= spec.worst_variance(1, 0.1) for step in range(11))


@pytest.mark.parametrize(("frequency", "block"), [(0.5, 0.4), (0.0, -0.1), (0.0, 1.1), (-0.1, 0.2), (-0.1, None)])
def test_a_block_has_at_least_the_share_of_its_value(frequency: float, block: float | None) -> None:
    with pytest.raises(ParameterError):
        made(1, 2, 2, 3).variance(10, frequency, block)


@pytest.mark.parametrize("values", [2, 3, 11, 25, 26])
def test_estimates_are_the_sums_of_the_weights(values: int) -> None:
    spec = made(1, 2, 3, 3, values)
    counts = coins(10, values).integers(0, 100, spec.cells)
    people = int(counts.sum())
    found = spec.estimate(counts, people)
    total = counts.reshape(2, -1).sum(axis=1)
    _, near, far = spec.holders
    for value in range(values):
        frequency = (
            sum((int(c) * w for c, w in zip(counts, weights_of(spec, value), strict=True)), Fraction(0)) / people
        )
        assert found.value[value] == pytest.approx(float(frequency), abs=1e-12)
        block = (Fraction(int(total[value % 2]), people) - far.block) / (near.block - far.block)
        held = min(max(float(frequency), 0.0), 1.0)
        around = max(min(max(float(block), 0.0), 1.0), held)
        assert found.standard_error[value] == pytest.approx(math.sqrt(spec.variance(people, held, around)))
    assert len(found) == values


def test_the_loss_is_epsilon_and_a_hostile_report_has_the_stated_gain() -> None:
    spec = made(1, 2, 3, 3)
    assert spec.loss.satisfies(PureDP(1.0000001, relation=spec.guarantee.relation))
    assert spec.poisoning_gain == float(max(weights_of(spec, 0)))


@pytest.mark.parametrize("values", [65_536, 1_000_000, 3_300_000, 1 << 22])
@pytest.mark.parametrize("epsilon", [3, 4, 5, 6, 8])
def test_the_best_blocks_are_within_six_percent_of_the_optimum_and_fit(epsilon: int, values: int) -> None:
    spec = HybridGeometry.best(epsilon=epsilon, categories=values)
    assert spec.variance(1) <= 1.06 * spec.optimum(1)
    assert values <= spec.cells <= 1 << 24


def test_a_smaller_limit_gives_a_smaller_table_or_a_clear_refusal() -> None:
    for largest in (None, 0, 2.5, "many"):
        with pytest.raises(ParameterError) as caught:
            HybridGeometry.best(epsilon=5, categories=1_000, largest=largest)  # type: ignore[arg-type]
        assert caught.value.parameter == "largest"
    small = HybridGeometry.best(epsilon=5, categories=1_000, largest=1_200)
    assert small.cells <= 1_200
    with pytest.raises(ParameterError, match="at most 999 cells"):
        HybridGeometry.best(epsilon=5, categories=1_000, largest=999)
    for values in (1 << 24, 1 << 25):  # 2^24 cells could hold 2^24 values, with a useless variance
        with pytest.raises(ParameterError, match="raise largest"):
            HybridGeometry.best(epsilon=5, categories=values)


@pytest.mark.parametrize("epsilon", [Fraction(1, 1024), Fraction(1, 2), 12, 20])
def test_every_epsilon_is_served_quickly(epsilon: Fraction | int) -> None:
    spec = HybridGeometry.best(epsilon=epsilon, categories=500)
    assert spec.cells >= 500


@pytest.mark.parametrize(
    "changes",
    [
        *[{"blocks": 1}, {"blocks": 0}, {"blocks": -2}, {"blocks": True}, {"blocks": 2.0}, {"blocks": 1 << 40}],
        *[{"blocks": 1 << 28}, {"prime": 9}, {"dimension": 1}, {"values": 27}, {"values": 1}, {"epsilon": -1}],
        *[{"blocks": None}, {"values": None}, {"blocks": "2"}],
    ],
)
def test_parameters_that_cannot_be_used_are_refused(changes: dict[str, object]) -> None:
    given = {"epsilon": Fraction(1), "values": 26, "blocks": 2, "prime": 3, "dimension": 3, **changes}
    with pytest.raises(ParameterError):
        HybridGeometry(**given)  # type: ignore[arg-type]


def test_a_spec_survives_its_text_and_a_changed_text_is_refused() -> None:
    spec = made(Fraction(3, 2), 2, 3, 3, 20)
    text = spec.to_json()
    assert Spec.from_json(text) == spec
    for before, after in (('"blocks":2', '"blocks":1'), ('"blocks":2', '"blocks":3'), ('"prime":3', '"prime":5')):
        assert before in text
        with pytest.raises(ParameterError):
            Spec.from_json(text.replace(before, after))


@pytest.mark.parametrize("value", [-1, 26, 2.5, "3", None])
def test_a_value_outside_the_domain_is_never_reported(value: object) -> None:
    with pytest.raises(InputError):
        made(1, 2, 3, 3).client().report(value)


@pytest.mark.parametrize("count", [0, 1, 65, 20_000])
def test_any_number_of_reports_is_drawn(count: int) -> None:
    spec = made(1, 3, 3, 3)
    reports = spec.randomize(np.arange(count) % spec.category_count)
    assert reports.shape == (count,)
    assert not count or (reports.min() >= 0 and reports.max() < spec.cells)


def test_many_reports_give_back_the_shares_of_the_people() -> None:
    spec = HybridGeometry.best(epsilon=3, categories=200)
    people = 40_000
    items = coins(11).integers(0, 7, people) ** 2
    counted = np.bincount(items, minlength=200) / people
    found = spec.aggregator().add(spec.client().batch(items)).estimate()
    for value, frequency in enumerate(counted):
        block = min(1.0, max(float(frequency), counted[value % spec.blocks :: spec.blocks].sum()))
        spread = math.sqrt(spec.variance(people, float(frequency), block))
        assert abs(found.value[value] - frequency) <= 8 * spread  # a normal tail of 1e-15 for each of 200 values


def test_absurd_questions_about_errors_and_values_are_refused() -> None:
    spec = HybridGeometry(epsilon=Fraction(1), categories=9, blocks=2, prime=2, dimension=3)
    for people in (0, -1, 1.5, "x", None, True):
        with pytest.raises(ParameterError, match="people"):
            spec.variance(people)
    for frequency in (-0.1, 1.1, "x", None):
        with pytest.raises(ParameterError, match="frequency"):
            spec.variance(10, frequency)
    for item in (-1, 9, 1.5, "x", None):
        with pytest.raises(InputError):
            spec.preferred(item)
    with pytest.raises(InputError, match="sum of the counts"):
        spec.estimate(np.ones(spec.cells, dtype=np.int64), spec.cells + 1)
    with pytest.raises(InputError, match="histogram"):
        spec.estimate([1, 2, 3], 6)

"""Means of vectors: exact privacy whatever floats do, the constant that makes them unbiased, the best cap."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.audit import audit
from discreet.data.invention import coins
from discreet.errors import InputError, ParameterError, StreamSpent
from discreet.local.means import unit_vectors
from discreet.local.means.directions import UNIT_BITS, choose_cap, least_error, mean_shift, top_mean
from discreet.local.means.unit_vectors import UnitVectors
from discreet.local.protocol.spec import Spec
from discreet.privacy import Target
from tests.local.means.mean_checks import exponential, follows, largest_ratio

EPSILONS = [Fraction(1, 10), Fraction(1, 2), Fraction(1), Fraction(2), Fraction(4), Fraction(6)]
EXTREMES = [Fraction(1, 1024), *EPSILONS, Fraction(20)]
VECTORS = [(1, 0, 0), (-1, 0, 0), (0, 1.0, 0), (0.6, -0.8, 0), (0.3, 0.2, 0.1), (0, 0, 0), (1e-300, 0, 0)]


def small(epsilon: Fraction = Fraction(2), **chosen: Any) -> UnitVectors:
    return UnitVectors(**{"epsilon": epsilon, "dimension": 3, "codewords": 8, "codebooks": 5, **chosen})


@pytest.mark.theorem("UnitVectors.privacy")
@pytest.mark.parametrize("epsilon", EXTREMES)
@pytest.mark.parametrize("cap", [1, 3, 4])
def test_no_report_tells_two_vectors_apart_by_more_than_e_to_the_epsilon(epsilon: Fraction, cap: int) -> None:
    ratio = largest_ratio([small(epsilon, cap=cap).law(vector) for vector in VECTORS])
    assert exponential(Fraction(99, 100) * epsilon)[1] <= ratio <= exponential(epsilon)[0]


@pytest.mark.theorem("UnitVectors.privacy")
def test_every_vector_prefers_exactly_as_many_codewords_even_on_ties() -> None:
    spec = small(cap=3)
    for direction in (np.zeros(3), np.ones(3), np.array([np.inf, 0, 0]), np.full(3, np.nan), np.full(3, 1e300)):
        with np.errstate(all="ignore"):
            ranking = spec.ranking(2, direction)
        assert sorted(ranking.tolist()) == list(range(8))


@pytest.mark.theorem("UnitVectors.privacy", "Randomizer.privacy")
def test_the_audit_finds_the_guarantee_kept() -> None:
    verdict = audit(small().mechanism())
    assert verdict.outcome.name == "KEPT"
    assert verdict.low == pytest.approx(2, abs=1e-9)
    assert small().loss.epsilon(0.0).upper <= 2


@pytest.mark.theorem("UnitVectors.privacy")
@pytest.mark.parametrize("vector", [(0.6, -0.8, 0), (0.3, 0.2, 0.1), (0, 0, 0)])
def test_the_sampler_draws_from_the_law(vector: tuple[float, ...]) -> None:
    reports = small().client().report_many(np.tile(vector, (10_000, 1)))
    assert follows(np.bincount(reports, minlength=40), small().law(vector))


@pytest.mark.theorem("UnitVectors.accuracy")
@pytest.mark.parametrize(("dimension", "codewords", "cap"), [(2, 8, 2), (3, 16, 5), (10, 64, 6)])
def test_the_mean_product_over_codebooks_is_the_stated_constant(dimension: int, codewords: int, cap: int) -> None:
    spec = UnitVectors(epsilon=Fraction(2), dimension=dimension, codewords=codewords, cap=cap)
    direction = np.zeros(dimension)
    direction[:2] = 0.6, -0.8
    books = 3000
    weights = np.full(codewords, float(spec.unlikely))
    weights[:cap] = float(spec.likely)
    means = np.empty((books, dimension))
    for book in range(books):
        numbers = book * codewords + spec.ranking(book, direction)
        means[book] = weights @ spec.codebook.directions(numbers) / 2.0**UNIT_BITS
    # the directions are fixed; the tolerance is seven standard errors of random ones
    error = means.std(axis=0) / math.sqrt(books)
    assert np.all(np.abs(means.mean(axis=0) - spec.normalization * direction) < 7 * error)


@pytest.mark.theorem("UnitVectors.accuracy")
def test_on_a_circle_with_two_codewords_the_constant_is_known() -> None:
    # the larger of two independent cosines of uniform angles has the mean 4 / pi^2
    assert top_mean(2, 2, 1) == pytest.approx(4 / math.pi**2, rel=1e-12)
    # on the sphere products are uniform on [-1, 1]: the mean of the k largest of M is 1 - (k + 1) / (M + 1)
    for codewords, cap in ((2, 1), (8, 3), (100, 10)):
        assert top_mean(3, codewords, cap) == pytest.approx(1 - (cap + 1) / (codewords + 1), rel=1e-12)


@pytest.mark.theorem("UnitVectors.accuracy")
@pytest.mark.parametrize("codewords", [64, 4096, 8192])
def test_the_largest_of_many_products_on_a_circle_has_its_mean(codewords: int) -> None:
    # no angle from the vector is below x with probability (1 - x / pi)^M: by parts, 1 - M times a series in 1 / M^2
    angles, weights = np.polynomial.legendre.leggauss(60)
    ends = np.pi * np.concatenate([[0], np.geomspace(1e-3 / codewords, 1, 60)])
    nodes = (ends[:-1, None] + ends[1:, None]) / 2 + np.diff(ends)[:, None] / 2 * angles
    survive = np.exp(codewords * np.log1p(-nodes / np.pi)) * np.sin(nodes)
    expected = 1 - float(np.sum(np.diff(ends)[:, None] / 2 * weights * survive))
    assert top_mean(2, codewords, 1) == pytest.approx(expected, rel=1e-10)


@pytest.mark.theorem("UnitVectors.accuracy")
def test_the_best_cap_on_the_sphere_is_that_of_calculus() -> None:
    # a cap that is the part c of the sphere has the mean product 1 - c: the shift is (E - 1) c (1 - c) / (1 + (E - 1)
    # c)
    growth = math.expm1(2.0)
    part = (math.sqrt(1 + growth) - 1) / growth
    expected = growth * part * (1 - part) / (1 + growth * part)
    assert least_error(Fraction(2), 3) == pytest.approx(1 / expected**2, rel=1e-7)


@pytest.mark.theorem("UnitVectors.accuracy")
@pytest.mark.parametrize("dimension", [2, 16, 256])
@pytest.mark.parametrize("epsilon", [Fraction(1, 2), Fraction(2), Fraction(6), Fraction(8)])
def test_the_choice_is_within_a_hundredth_of_the_least_error(dimension: int, epsilon: Fraction) -> None:
    choice = choose_cap(epsilon, dimension)
    assert least_error(epsilon, dimension) < choice.error < 1.0101 * least_error(epsilon, dimension)
    for cap in (choice.cap - 1, choice.cap + 1):
        if cap >= 1:
            assert 1 / mean_shift(float(epsilon), dimension, choice.codewords, cap) ** 2 >= choice.error
    spec = UnitVectors(epsilon=epsilon, dimension=dimension)
    assert spec.error == pytest.approx(choice.error, rel=1e-12)


@pytest.mark.theorem("UnitVectors.accuracy", "VectorMean.accuracy")
def test_the_mean_of_a_crowd_is_found() -> None:
    spec = UnitVectors(epsilon=Fraction(4), dimension=6)
    invented = coins(9)
    vectors = invented.normal(size=(4000, 6)) + np.array([2, 0, -1, 0, 0, 0])
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors[::2] *= 0.5
    found = spec.aggregator().add(spec.client().batch(vectors)).estimate()
    # each coordinate is nearly normal with a variance of at most its second moment; 1e-10 either way each
    assert np.all(np.abs(found.value - vectors.mean(axis=0)) < 6.6 * found.standard_error)
    assert np.sum(found.standard_error**2) < spec.variance(4000) * 1.001
    assert 0.8 * spec.variance(4000) < np.sum(found.standard_error**2)
    assert found.intervals(confidence=1 - 1e-10, together=True).contain(vectors.mean(axis=0)).all()


@pytest.mark.theorem("VectorMean.accuracy")
def test_few_people_get_a_proven_interval() -> None:
    spec = UnitVectors(epsilon=Fraction(4), dimension=6)
    found = spec.aggregator().add(np.arange(500) * 1000).estimate()
    assert "Hoeffding" in found.of(2).method
    one, two = found.intervals(), found.intervals(together=True, target=Target.POPULATION)
    assert (one.together, one.target, two.together, two.target) == (False, Target.TABLE, True, Target.POPULATION)
    assert np.all(two.low <= one.low)
    assert np.all(one.high <= two.high)
    assert "normal" in spec.aggregator().add(np.arange(1000) * 1000).estimate().of(2).method
    with pytest.raises(ParameterError, match="from 0 to 5"):
        found.of(6)
    half = math.sqrt(2 * math.log(40) * (1 / 500 + 1 / spec.codebooks)) / spec.normalization
    assert one.high == pytest.approx(found.value + half)
    assert one.low == pytest.approx(found.value - half)
    for confidence in (0, 1, float("nan")):
        with pytest.raises(ParameterError):
            found.intervals(confidence=confidence)
    with pytest.raises(ParameterError, match="Target"):
        found.intervals(target="table")  # type: ignore[arg-type]


def test_an_interval_contains_its_estimate_be_that_outside_the_ball() -> None:
    spec = UnitVectors(epsilon=Fraction(1), dimension=6)
    found = spec.aggregator().add([7] * 3).estimate()
    assert np.abs(found.value).max() > 1
    assert found.intervals().contain(found.value).all()
    one = found.of(int(np.argmax(np.abs(found.value))))
    assert one.low <= one.value <= one.high


def test_a_mean_vector_shows_its_first_coordinates() -> None:
    spec = UnitVectors(epsilon=Fraction(4), dimension=12)
    found = spec.aggregator().add(np.arange(1000) * 1000).estimate()
    table, ends = found.table(3), found.intervals(together=True)
    assert [row[0] for row in table.rows] == ["0", "1", "2"]
    assert table.rows[1][1:] == (found.value[1], found.standard_error[1], ends.low[1], ends.high[1])
    assert str(found) == str(found.table(10))
    assert "10 of 12 coordinates" in str(found)
    assert len(found.table(100).rows) == 12
    assert "<table" in found._repr_html_()
    assert repr(found).startswith("VectorMean(12 coordinates, 1,000 people, distance about ")


@pytest.mark.theorem("VectorMean.accuracy")
def test_few_codebooks_leave_a_bias_that_errors_and_intervals_count() -> None:
    few, many = (
        UnitVectors(epsilon=Fraction(4), dimension=6, codewords=8, cap=2, codebooks=count) for count in (50, 1 << 32)
    )
    reports = np.arange(400)
    narrow, wide = (spec.aggregator().add(reports).estimate() for spec in (many, few))
    assert wide.standard_error == pytest.approx(narrow.standard_error * math.sqrt(1 + 400 / 50), rel=1e-6)
    half = math.sqrt(2 * math.log(40) * (1 / 400 + 1 / 50)) / few.normalization
    assert wide.intervals().high == pytest.approx(wide.value + half)
    one = many.aggregator().add([7]).estimate()
    assert one.standard_error == pytest.approx(np.full(6, 1 / many.normalization))


@pytest.mark.theorem("UnitVectors.accuracy")
def test_a_vector_of_length_a_half_is_turned_round_for_a_quarter_of_the_words(monkeypatch: pytest.MonkeyPatch) -> None:
    spec, direction = small(cap=1), np.array([0.0, 1.0, 0.0])
    monkeypatch.setattr(unit_vectors, "toss", lambda _, count: np.ones(count, dtype=np.bool_))
    monkeypatch.setattr(unit_vectors, "uniform_below_array", lambda _, count: np.zeros(count, dtype=np.int64))
    edge = 3 << 62  # of 2^64 words those below three quarters keep the direction
    for word, sign in ((0, 1), (edge - 1, 1), (edge, -1), ((1 << 64) - 1, -1)):
        monkeypatch.setattr(unit_vectors, "words", lambda count, word=word: np.full(count, word, dtype=np.uint64))
        assert spec.randomize(direction[None, :] / 2).tolist() == [spec.ranking(0, sign * direction)[0]]
    assert spec.ranking(0, direction)[0] != spec.ranking(0, -direction)[0]


def test_a_large_codebook_is_ranked_in_parts_to_the_same_end(monkeypatch: pytest.MonkeyPatch) -> None:
    spec, direction = small(codewords=64, cap=9), np.array([0.6, -0.64, 0.48])
    whole = spec.ranking(1, direction)
    products = spec.codebook.directions(64 + np.arange(64)) @ direction
    assert np.all(np.diff(products[whole]) < 1)  # in units of 2^-24
    monkeypatch.setattr(unit_vectors, "_CHUNK", 20)
    assert np.array_equal(spec.ranking(1, direction), whole)


class Surprise:
    def __repr__(self) -> str:
        return "Surprise()"

    def __array__(self, *_: Any, **__: Any) -> Any:
        raise RuntimeError("secret")


@pytest.mark.parametrize(
    "vector",
    [
        (1, 1, 0),
        (1.00001, 0, 0),
        (float("nan"), 0, 0),
        (float("inf"), 0, 0),
        (1e300, 1e300, 0),
        (0.1, 0.1),
        (True, False, False),
        (True, 0.0, 0.0),
        [np.True_, 0, 0.5],
        np.array([True, False, False]),
        (np.timedelta64(1), 0, 0),
        np.ma.masked_array([0.1, 0.2, 0.3], mask=[False, True, False]),
        (0.1, np.ma.masked, 0.3),
        ("1", "0", "0"),
        (None, 0, 0),
        (1j, 0, 0),
        0.5,
        Surprise(),
    ],
    ids=repr,
)
def test_what_is_no_vector_in_the_ball_is_refused_without_being_shown(vector: Any) -> None:
    client = small().client()
    with pytest.raises(InputError, match="nothing was reported") as caught:
        client.report(vector)
    assert caught.value.__context__ is None
    assert 0 <= client.report((0.0, 0.6, 0.8)) < 40
    with pytest.raises(StreamSpent):
        client.report((0.0, 0.6, 0.8))


@pytest.mark.parametrize("nobody", [[], (), np.empty((0, 3))], ids=repr)
def test_no_people_send_no_reports(nobody: Any) -> None:
    assert small().client().report_many(nobody).shape == (0,)


def test_a_length_of_1_up_to_rounding_is_1() -> None:
    vectors = coins(3).normal(size=(1000, 3))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert small().items(vectors * (1 + 1e-9)).shape == (1000, 3)
    assert small().law((1 + 1e-9, 0, 0)).probabilities == small().law((1, 0, 0)).probabilities


def test_a_spec_survives_its_text() -> None:
    for spec in (small(seed=7), UnitVectors(epsilon=Fraction(1, 3), dimension=40)):
        assert Spec.from_json(spec.to_json()) == spec
        with pytest.raises(ParameterError):
            Spec.from_json(spec.to_json().replace('"cap":', '"cap":1'))
    assert small(seed=7) != small(seed=8)


@pytest.mark.parametrize(
    "chosen",
    [
        {"dimension": 1},
        {"dimension": 2.0},
        {"dimension": True},
        {"dimension": 1 << 17},
        {"codewords": 1},
        {"codewords": -4},
        {"codewords": 1 << 14},
        {"cap": 5},
        {"cap": 2, "codewords": 0},
        {"codebooks": 0},
        {"codebooks": 1 << 41},
        {"seed": -1},
        {"seed": 1 << 60},
        {"seed": "0"},
    ],
)
def test_sizes_are_checked(chosen: dict[str, Any]) -> None:
    with pytest.raises(ParameterError):
        small(**chosen)


def test_the_law_is_listed_for_few_outputs_only() -> None:
    with pytest.raises(ParameterError, match="2\\^16"):
        UnitVectors(epsilon=Fraction(1), dimension=3).law((1, 0, 0))

"""The mean of a population: what is released moves as stated, and the intervals that use its spread are proven."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import integrate, stats

import discreet as dp
from discreet import statistics
from discreet.errors import ConflictingParameters
from discreet.laws import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from discreet.statistics.pricing import combination_quantile, normal_with_noise_quantile
from discreet.statistics.pricing.combined_noise import _normal_laplace_tail
from discreet.statistics.sums import sampling as bounds_of_sampling
from discreet.statistics.sums.population_mean import PopulationMean
from discreet.statistics.sums.power_sums import ONE, power_sums
from discreet.statistics.sums.sampling import Known, Sampling, _Cells, _growth
from tests.chances import fewest
from tests.conftest import Rounds

ADD_REMOVE, CHANGE_ONE = dp.Relation.ADD_REMOVE, dp.Relation.CHANGE_ONE
POPULATION = dp.Target.POPULATION
BASES = [
    (relation, gaussian, fourth)
    for relation in (ADD_REMOVE, CHANGE_ONE)
    for gaussian in (False, True)
    for fourth in (False, True)
]


def control_points(polynomials):
    """The coefficients of the polynomials in the Bernstein basis of degree 4: one vector a k."""
    return [
        [
            sum((Fraction(c * math.comb(k, i), math.comb(4, i)) for i, c in enumerate(one)), Fraction(0))
            for one in polynomials
        ]
        for k in range(5)
    ]


@pytest.mark.theorem("Mean.privacy")
@pytest.mark.parametrize(("relation", "gaussian", "fourth"), BASES)
def test_control_points_are_as_near_to_each_other_as_stated(relation, gaussian, fourth):
    basis = power_sums(relation, gaussian=gaussian, fourth=fourth, size_is_public=False)
    points = control_points(basis.polynomials)
    x = Fraction(3, 7)
    for place, one in enumerate(basis.polynomials):
        bernstein = sum(math.comb(4, k) * x**k * (1 - x) ** (4 - k) * points[k][place] for k in range(5))
        assert bernstein == sum(c * x**i for i, c in enumerate(one))
    others = [[Fraction(0)] * len(points[0])] if relation is ADD_REMOVE else [[Fraction(0)] * len(points[0]), *points]
    power = 2 if gaussian else 1
    largest = max(sum(abs(a - b) ** power for a, b in zip(one, two, strict=True)) for one in points for two in others)
    assert Fraction(17, 20) * basis.distance**power <= largest <= basis.distance**power


@pytest.mark.theorem("Mean.privacy")
@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 0.5}, {"epsilon": 1, "delta": 1e-6}])
@pytest.mark.parametrize("missing", [statistics.Missing.LEAVE_OUT, 0.25])
@pytest.mark.parametrize("relation", [ADD_REMOVE, CHANGE_ONE])
@pytest.mark.parametrize("approximate", [False, True])
def test_a_row_moves_the_sums_no_further_than_the_noise_is_for(price, missing, relation, approximate):
    asked = {"bounds": (0, 1), "missing": missing, "target": POPULATION, "approximate": approximate}
    statistic = statistics.Mean(relation=relation, **asked, **price)
    rows = [*np.linspace(0, 1, 26), 1 / 3, -5.0, 7.0, None]
    one = [statistic.measure([0.5, row]) for row in rows]
    two = [statistic.measure([0.5])] if relation is ADD_REMOVE else one
    moves = [[int(step) for step in a - b] for a, b in itertools.product(one, two)]
    if "epsilon" in price and "delta" not in price:
        stated = statistic.mechanism.noise.scale * Fraction(1)  # L1 at epsilon 1
        assert 0.9 * stated <= max(sum(map(abs, move)) for move in moves) <= stated
    else:
        stated = statistic.mechanism._squared
        assert 0.75 * stated <= max(sum(step * step for step in move) for move in moves) <= stated


@pytest.mark.parametrize(("relation", "gaussian", "fourth"), BASES)
def test_moments_about_any_point_come_back_from_the_sums(relation, gaussian, fourth):
    shares = np.random.default_rng(1).beta(2, 5, 3000)
    for public in (False, True):
        basis = power_sums(relation, gaussian=gaussian, fourth=fourth, size_is_public=public)
        sums = basis.read(basis.sums(shares), shares.size)
        for mean in (0.0, 0.3, 1.0):
            found = basis.about(mean) @ sums
            exact = [np.sum((shares - mean) ** power) for power in range(len(found))]
            assert np.allclose(found, exact, rtol=0, atol=1e-7)


def test_the_largest_coefficients_hold_over_the_whole_range_of_means():
    sampling = laplace(ADD_REMOVE)
    weights = np.array([[0.7, -0.3, 0.2, 0.1], [1.0, 0.0, 0.0, 0.0]])
    bound = sampling.largest(weights, (0.1, 0.35))
    for mean in np.linspace(0.1, 0.35, 41):
        assert np.all(np.abs(weights @ sampling.basis.about(mean)[1:]) <= bound + 1e-12)
    assert np.all(bound[1] <= np.abs(sampling.basis.about(0.1)[1]) + 0.26)


def laplace(relation, *, public=False, epsilon=1):
    basis = power_sums(relation, gaussian=False, fourth=True, size_is_public=public)
    return Sampling(basis, DiscreteLaplace(Fraction(basis.sensitivity) / Fraction(epsilon)))


@pytest.mark.parametrize("law", [DiscreteLaplace, DiscreteGaussian, RoundedGaussian])
@pytest.mark.parametrize("scale", [0.5, 1, 3])
def test_the_exponent_of_the_noise_is_bounded_on_its_exact_law(law, scale):
    noise = law(scale)
    basis = power_sums(ADD_REMOVE, gaussian=law is not DiscreteLaplace, fourth=True, size_is_public=False)
    sampling = Sampling(basis, noise)
    places = np.arange(-300, 301)
    masses = np.asarray(noise.pmf(places), dtype=np.float64)
    for reach in (1e-3, 0.1, 0.5, 0.9):
        exact = math.log(float(np.exp(reach / scale * places) @ masses))
        bound = float(sampling.noise_exponent(np.array([[reach, reach]]))[0])
        assert 2 * exact <= bound + 1e-12
        if law is RoundedGaussian and scale == 1:  # a normal variable of the same scale has less
            assert exact > reach**2 / 2


def test_growth_bounds_the_exponential_at_every_value():
    y = np.linspace(-0.8, 0.7, 20_001)
    y = y[np.abs(y) > 1e-3]
    for rate, square in itertools.product((0.05, 0.3, 0.7, 2.0), (0.5, 0.625, 1.0)):
        a, b = rate, square * rate**2
        bound = _growth(np.array([a]), np.array([b]), (-0.8, 0.7))[0]
        exact = np.max((np.exp(a * y - b * y**2) - 1 - a * y) / y**2)
        assert exact <= bound <= exact + 0.05 * a**2 + 0.2 * a**3


@pytest.mark.parametrize("deviation", [0.01, 1.0, 50.0])
def test_the_quantile_of_a_normal_with_laplace_noises_agrees_with_integration(deviation):
    noise, coefficients, rest = DiscreteLaplace(2**40), np.array([0.7, 0.3]) / 2**40, 0.01
    point = normal_with_noise_quantile(noise, coefficients, deviation, rest)

    def of_laplaces(t):  # the tail of 0.7 L + 0.3 L'
        size = math.exp(-abs(t) / 0.7) * 0.49 / 0.4 - math.exp(-abs(t) / 0.3) * 0.09 / 0.4
        return size / 2 if t >= 0 else 1 - size / 2

    def density(z):
        return stats.norm.pdf(z) * of_laplaces(point - deviation * z)

    edge = point / deviation
    places = [edge] if abs(edge) < 12 else None
    exact, _ = integrate.quad(density, -12, 12, points=places, limit=400, epsabs=1e-12)
    assert exact == pytest.approx(rest, rel=1e-5)
    assert exact <= rest * (1 + 1e-9)


@pytest.mark.parametrize("rest", [0.3, 0.05, 1e-3])
def test_five_equal_laplace_noises_stay_within_their_quantile(rest):
    reach = combination_quantile(DiscreteLaplace(2**40), [2.0**-40] * 5, 1 - rest)
    # by the characteristic function (1 + u^2)^-5
    inside, _ = integrate.quad(lambda u: math.sin(u * reach) / u / (1 + u * u) ** 5, 0, 60, limit=2000)
    assert 0.7 * rest < 1 - 2 / math.pi * inside <= rest


def test_the_quantile_of_a_normal_with_gaussian_noise_is_that_of_their_sum():
    point = normal_with_noise_quantile(DiscreteGaussian(2**40), [3 / 2**40], 4.0, 0.025)
    assert point == pytest.approx(5 * 1.959964, rel=1e-6)


def constants(n, p, side):
    """What is known of a coin, exactly."""
    fourth = n * (p * (1 - p) ** 4 + (1 - p) * p**4)
    third = n * (p * (1 - p) ** 3 - (1 - p) * p**3) * side
    spread = n * p * (1 - p)
    return Known(side, (p, p), 0.0, (spread, spread), (third, third), fourth, n)


@pytest.mark.parametrize("p", [0.05, 0.3, 0.5, 0.9])
@pytest.mark.parametrize("n", [40, 400, 4000])
@pytest.mark.parametrize("side", [-1, 1])
def test_the_remainder_bounds_the_distance_of_coins_from_the_normal_law(n, p, side):
    known = constants(n, p, side)
    spread = np.array([known.spread[0]])
    cell = _Cells(known, spread, spread, 0.5, 1.96)
    heads = np.arange(n + 1)
    rate = cell.first[0]
    total = side * (heads - n * p)
    squares = heads * (1 - p) ** 2 + (n - heads) * p**2
    g = total - rate * (squares - spread[0])
    order = np.argsort(g)
    chance = np.cumsum(stats.binom.pmf(heads, n, p)[order])
    deviation = math.sqrt(float(np.sum(stats.binom.pmf(heads, n, p) * g**2)))
    assert deviation**2 <= cell.variance[0] * (1 + 1e-9)
    assert deviation**2 >= cell.least_variance[0] * (1 - 1e-9)
    normal = stats.norm.cdf(g[order] / deviation)
    exact = max(np.max(np.abs(chance - normal)), np.max(np.abs(chance - stats.binom.pmf(heads, n, p)[order] - normal)))
    assert exact <= cell.remainder[0]


def test_the_cosine_lies_below_its_cubic_bound():
    x = np.linspace(0.01, 40.0, 400_001)
    assert (
        0 < bounds_of_sampling._KAPPA - np.max((np.cos(x) - 1 + x**2 / 2) / x**3) < 1e-4
    )  # from 40 on 1 / (2 x) is less


@pytest.mark.parametrize("p", [0.05, 0.3, 0.5])
@pytest.mark.parametrize("n", [400, 4000])
@pytest.mark.parametrize("scale", [0.3, 1.0])
@pytest.mark.parametrize("smooth", [False, True])
def test_noise_leaves_coins_as_near_to_the_normal_law_as_stated(n, p, scale, smooth):
    known = constants(n, p, 1)
    spread = np.array([known.spread[0]])
    cell = _Cells(known, spread, spread, 0.5, 1.96)
    heads = np.arange(n + 1)
    masses = stats.binom.pmf(heads, n, p)
    g = heads - n * p - cell.first[0] * (heads * (1 - p) ** 2 + (n - heads) * p**2 - spread[0])
    deviation = math.sqrt(float(masses @ g**2))
    points = np.linspace(-4 * deviation, 4 * deviation, 401)
    if smooth:
        exact = stats.norm.sf(points[:, None] - g, scale=scale) @ masses
        normal = stats.norm.sf(points, scale=math.hypot(deviation, scale))
    else:
        exact = stats.laplace.sf(points[:, None] - g, scale=scale) @ masses
        normal = np.array([_normal_laplace_tail(point, deviation, np.array([scale]))[0] for point in points])
    bound = float(cell.smoothed(np.array([scale]), laplace=not smooth)[0])
    assert np.max(np.abs(exact - normal)) <= bound
    if scale == 1.0 and smooth and n == 4000:
        assert bound < 0.3 * cell.remainder[0]
    assert np.isinf(cell.smoothed(np.array([0.0]), laplace=True)[0])  # no noise: nothing is smoothed


def test_the_least_coefficients_hold_over_the_range_of_means_and_rates():
    made = laplace(ADD_REMOVE)
    weights = np.array([[1.0, -0.05], [1.0, -0.4]])
    bound = made.least(weights, (0.1, 0.13))
    assert np.max(bound) > 0.3
    for mean, rate in itertools.product(np.linspace(0.1, 0.13, 31), np.linspace(0.05, 0.4, 15)):
        exact = np.abs(np.array([1.0, -rate]) @ made.basis.about(mean)[1:3])
        assert np.all(exact >= bound - 1e-12)


@pytest.mark.parametrize("power", [2, 4])
@pytest.mark.parametrize(("n", "p"), [(60, 0.3), (400, 0.02), (600, 0.5)])
@pytest.mark.parametrize("allowed", [1.0, 4.0])
def test_even_moments_of_coins_lie_between_their_ends_by_exact_enumeration(power, n, p, allowed):
    made = laplace(CHANGE_ONE, public=True, epsilon=10**6)
    exact = n * (p * (1 - p) ** power + (1 - p) * p**power)
    below = above = 0.0
    for heads in range(n + 1):
        released = heads * (1 - p) ** power + (n - heads) * p**power
        low, high = made.moment(power, (p, p), (released, released), allowed)
        assert low <= released <= high
        below += stats.binom.pmf(heads, n, p) * (high < exact)
        above += stats.binom.pmf(heads, n, p) * (low > exact)
    assert max(below, above) <= math.exp(-allowed)


def test_an_approximate_interval_is_moved_towards_the_long_tail_and_mirrors_with_the_values():
    basis = power_sums(CHANGE_ONE, gaussian=False, fourth=False, size_is_public=True)
    made = Sampling(basis, DiscreteLaplace(Fraction(basis.sensitivity)))
    values = np.repeat([1.0, 0.0], [20, 380])
    ends = [
        PopulationMean(made, basis.read(basis.sums(shares), 400)).approximate(0.05) for shares in (values, 1 - values)
    ]
    assert ends[0] == pytest.approx([1 - ends[1][1], 1 - ends[1][0]], abs=1e-9)
    # 20 heads of 400: spread 19, noise 2, third moment 19 * 0.9; (1 + 2 z^2) / 6 = 1.447
    assert (sum(ends[0]) / 2 - 0.05) * 400 == pytest.approx(1.447 * 17.1 / 21, rel=1e-3)
    assert (ends[0][1] - ends[0][0]) * 200 == pytest.approx(1.96 * math.sqrt(21) * 1.02, rel=1e-3)


@pytest.mark.parametrize(("n", "p"), [(60, 0.3), (400, 0.5), (400, 0.02), (3000, 0.5), (3000, 0.1)])
@pytest.mark.parametrize("rest", [0.05, 0.3])
def test_coins_without_noise_are_covered_by_exact_enumeration(n, p, rest):
    sampling = laplace(CHANGE_ONE, public=True, epsilon=10**6)
    middle, sd = n * p, math.sqrt(n * p * (1 - p))
    covered = 0.0
    for heads in range(max(0, int(middle - 3.5 * sd)), min(n, int(middle + 3.5 * sd)) + 1):
        sums = [heads * sum(one) + (n - heads) * one[0] for one in sampling.basis.polynomials]
        found = PopulationMean(sampling, np.array(sums, dtype=np.float64))
        side = 1 if heads > middle else -1
        reach, _ = found._reach((p, p), side, rest)
        if side * (heads - middle) <= reach:
            covered += stats.binom.pmf(heads, n, p)
    assert covered >= 1 - rest
    assert covered < 1 - 1e-5 or rest < 0.1  # it is not the whole range


def test_more_confidence_is_a_wider_interval():
    shares = np.random.default_rng(2).beta(2, 5, 40_000)
    sampling = laplace(ADD_REMOVE)
    for rows in (400, 40_000):
        exact = PopulationMean(sampling, sampling.basis.read(sampling.basis.sums(shares[:rows]), None))
        ends = [exact.proven(rest)[0] for rest in (0.5, 0.2, 0.1, 0.05, 0.01, 1e-3, 1e-6, 1e-9)]
        assert all(b[0] <= a[0] < a[1] <= b[1] for a, b in itertools.pairwise(ends))


@pytest.mark.parametrize(
    ("rows", "bar"),
    [(400, 2.2), (40_000, 1.1)],
)
@pytest.mark.parametrize("relation", [ADD_REMOVE, CHANGE_ONE])
def test_the_proven_interval_is_not_much_wider_than_the_normal_one(rows, bar, relation):
    shares = (np.arange(rows) + 0.5) / rows
    for values in (shares, np.round(shares), stats.beta.ppf(shares, 2, 5), stats.beta.ppf(shares, 1, 9)):
        sampling = laplace(relation)
        found = PopulationMean(sampling, sampling.basis.read(sampling.basis.sums(values), None))
        low, high = found.proven(0.05)[0]
        mean, noise = values.mean(), 2 * (1 if relation is CHANGE_ONE else 0.5)
        normal = 1.96 * math.sqrt(rows * values.var() + noise) / rows
        assert low < mean < high
        assert (high - low) / 2 <= bar * normal


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 0.5}])
def test_population_intervals_cover_skewed_and_rare_values(price, rounds: Rounds):
    runs = rounds(sample=12, full=2000)
    made = np.random.default_rng(7)
    cases = [
        (lambda: (made.random(400) < 0.02).astype(float), 0.02),
        (lambda: made.beta(1, 9, 1000), 0.1),
    ]
    for draw, truth in cases:
        statistic = statistics.Mean(bounds=(0, 1), relation=ADD_REMOVE, target=POPULATION, **price)
        inside = 0
        for _ in range(runs):
            answer = statistic(draw())
            inside += answer.low <= truth <= answer.high
        assert inside >= fewest(runs, 0.95)


def test_an_approximate_interval_says_so_everywhere():
    values = np.linspace(0, 1, 5000)
    asked = {"bounds": (0, 1), "relation": ADD_REMOVE, "epsilon": 1, "target": POPULATION}
    proven, normal = (statistics.mean(values, approximate=how, **asked) for how in (False, True))
    assert str(normal).endswith("(95 %, population, approximate)")
    assert str(proven).endswith("(95 %, population)")
    assert (normal.to_dict()["approximate"], proven.to_dict()["approximate"]) == (True, False)
    assert "approximate" in normal.method
    assert "approximate 95 % interval" in normal._repr_html_()
    assert "approximate" not in proven.method + proven._repr_html_()
    half = (normal.high - normal.low) / 2
    assert 0.98 < half / (1.96 * math.sqrt(1 / 12 / 5000)) < 1.02
    assert proven.high - proven.low > normal.high - normal.low
    with pytest.raises(ConflictingParameters, match="approximate must be False"):
        statistics.mean(values, bounds=(0, 1), relation=ADD_REMOVE, epsilon=1, approximate=True)


def test_the_method_says_how_many_sums_the_spread_comes_from():
    values = np.linspace(0, 1, 20_000)
    answer = statistics.mean(values, bounds=(0, 1), relation=CHANGE_ONE, missing=0, epsilon=1, target=POPULATION)
    assert answer.method == (
        "noise and sampling by Berry and Esseen's bound, the spread from 4 noisy sums at one price"
    )


def test_nobody_says_nothing_about_a_population():
    for relation in (ADD_REMOVE, CHANGE_ONE):
        answer = statistics.mean([], bounds=(0, 10), relation=relation, epsilon=0.1, target=POPULATION)
        assert answer.high - answer.low > 5
    with pytest.raises(dp.errors.InputError, match="at least one row"):
        statistics.mean([], bounds=(0, 1), relation=CHANGE_ONE, missing=0, epsilon=1, target=POPULATION)


def test_equal_values_far_from_the_bounds_leave_a_narrow_interval():
    answer = statistics.mean([30.0] * 100_000, bounds=(0, 100), relation=ADD_REMOVE, epsilon=1, target=POPULATION)
    assert answer.low <= 30 <= answer.high
    assert answer.high - answer.low < 0.2  # the bound without a spread: 0.9


def test_rounded_rows_are_near_their_polynomials():
    basis = power_sums(ADD_REMOVE, gaussian=False, fourth=True, size_is_public=False)
    for share in (0.0, 1 / 3, 0.5, 0.7, 1.0):
        exact = [sum(c * Fraction(share) ** i for i, c in enumerate(one)) * ONE for one in basis.polynomials]
        found = basis.sums(np.array([share]))
        assert all(abs(a - b) <= Fraction(51, 100) for a, b in zip(found, exact, strict=True))

"""Many releases as other accountants publish them: printed epsilons, deltas and divergences agree with our bounds."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import flint
import numpy as np
import pytest

from discreet.privacy import (
    ZCDP,
    ApproxDP,
    PureDP,
    Relation,
    RenyiDP,
    discrete_laplace_loss,
    gaussian_loss,
    laplace_loss,
    pointwise_delta,
    randomized_response_loss,
    subsample,
    table_loss,
)
from discreet.privacy.pairs import NormalPair, PoissonPair, Side

ADD_REMOVE = Relation.ADD_REMOVE


def sampled(loss, rate):
    """Return a loss on a Poisson sample."""
    return subsample(loss, rate=rate)


def gaussian(scale, sensitivity=1):
    """Return a Gaussian loss for add/remove."""
    return gaussian_loss(scale, sensitivity=sensitivity, relation=ADD_REMOVE)


def laplace(scale):
    """Return a Laplace loss for add/remove."""
    return laplace_loss(scale, relation=ADD_REMOVE)


# (family of losses by scale, epsilon, delta, printed scale, its tolerance)
LEAST_NOISE = {
    "Laplace, pure": (lambda scale: laplace_loss(scale, sensitivity=21) * 10, 3, 0, 70, 1e-9),
    "Laplace, 20": (lambda scale: laplace_loss(scale) * 20, 1, 1e-4, 13.6, 0.1),
    "Laplace, 20 of half the sensitivity": (lambda s: laplace_loss(s, sensitivity=0.5) * 20, 1, 1e-4, 6.8, 0.1),
    "Laplace, 500": (lambda scale: laplace_loss(scale) * 500, 1, 1e-4, 71, 0.1),
    "Gaussian": (gaussian_loss, 1, 0.78760074, 1 / 3, 1e-7),
    "Gaussian, 25": (lambda scale: gaussian_loss(scale, sensitivity=6) * 25, 1, 0.78760074, 10, 1e-6),
    "sampled Gaussian": (lambda scale: sampled(gaussian(scale), 0.01), 1, 1e-5, 0.67379294682, 1e-7),
}
# the same with the inverse of the scale
LEAST_DISCRETE_NOISE = {
    "pure": (2, 5, 3, 0, 0.3),
    "20 releases": (1, 20, 1, 1e-4, 0.073),
    "20 releases of sensitivity 5": (5, 20, 1, 1e-4, 0.014),
}


@pytest.mark.parametrize("name", LEAST_NOISE)
def test_published_noise_for_a_composition_is_the_least_within_its_tolerance(name):
    family, epsilon, delta, scale, tolerance = LEAST_NOISE[name]
    assert family(scale - tolerance).delta(epsilon).lower > delta
    assert family(scale + tolerance).delta(epsilon).upper <= delta


@pytest.mark.parametrize("name", LEAST_DISCRETE_NOISE)
def test_published_integer_noise_for_a_composition_is_the_least_within_its_tolerance(name):
    sensitivity, count, epsilon, delta, inverse = LEAST_DISCRETE_NOISE[name]

    def found(value):
        return (discrete_laplace_loss(1 / Fraction(value), sensitivity=sensitivity) * count).delta(epsilon)

    assert found(inverse - 1e-3).upper <= delta < found(inverse + 1e-3).lower


@pytest.mark.soak
def test_published_noise_of_25_sampled_releases():
    def found(scale):
        return (sampled(gaussian(scale, sensitivity=6), 0.001) * 25).delta(1)

    assert found(3.20956502598 * (1 + 1e-5)).upper <= 1e-5 < found(3.20956502598 * (1 - 1e-5)).lower


@pytest.mark.parametrize(
    ("epsilon", "delta", "count", "total", "printed"),
    [(1, 0, 30, 0, 30), (1, 0.001, 30, 0.06, 22), (1, 0.001, 30, 0.1, 20), (0.25, 0, 50, 0.01, 5),
     (1, 0.2, 1, 0.1, None), (1, 0.01, 30, 0.26, None)],
)  # fmt: skip
def test_published_totals_of_equal_guarantees_are_reached(epsilon, delta, count, total, printed):
    loss = ApproxDP(epsilon, delta).loss * count
    if printed is None:
        assert loss.epsilon(total).lower == math.inf
        return
    # the published rule rounds to a total of count - 2 i epsilons; the least epsilon lies within its last step
    assert loss.epsilon(total).upper <= printed
    assert loss.epsilon(total).upper > printed - 2 * epsilon
    assert loss.delta(printed).upper <= total * (1 + 1e-12)


COMPOSED = [  # (loss, epsilon, delta, tolerance of delta, tolerance of epsilon)
    (gaussian(math.sqrt(3)) * 3, 1, 0.126936, 1e-6, 1e-5),
    (sampled(gaussian(0.5), 0.2) * 3, 1, 0.15594, 5e-5, 1e-3),
    (laplace(1) * 3 + laplace(2) * 2, 4, 0, 1e-6, 1e-6),
    (sampled(laplace(0.5), 0.2) * 3, 2.46964, 0, 1e-6, 1e-5),
    (discrete_laplace_loss(1) * 3 + discrete_laplace_loss(2) * 2, 4, 0, 1e-6, 1e-6),
    (ApproxDP(1, 0.1).loss + ApproxDP(2, 0.2).loss, 3, 0.28, 1e-12, 1e-12),
]


@pytest.mark.parametrize(("loss", "epsilon", "delta", "near", "close"), COMPOSED)
def test_published_points_of_compositions_lie_on_our_curve(loss, epsilon, delta, near, close):
    found = loss.delta(epsilon)
    assert found.lower - near <= delta <= found.upper + near
    back = loss.epsilon(delta)
    assert back.lower - close <= epsilon <= back.upper + close


@pytest.mark.parametrize(("noise", "categories"), [(4 / (3 + math.e), 4), (0.5, 2), (0.2, 4)])
def test_randomized_response_has_the_published_epsilon(noise, categories):
    epsilon = math.log((1 - noise + noise / categories) / (noise / categories))
    loss = randomized_response_loss(epsilon, categories=categories)
    own = 1 - noise + noise / categories
    expected = own - math.exp(epsilon / 2) * noise / categories
    assert loss.delta(epsilon).upper <= 1e-15
    assert loss.delta(epsilon / 2).estimate == pytest.approx(expected, rel=1e-12)
    assert noise != 4 / (3 + math.e) or epsilon == pytest.approx(1)


TABLES = [  # (first law, second law) of one release, over a common list of outcomes
    ([0.2, 0.2, 0.6, 0], [0.5, 0.2, 0, 0.3]),
    ([0.4, 0.6, 0], [0, 0.7, 0.3]),
    ([0.5, 0.5], [0.6, 0.4]),
    ([0.2, 0.2, 0.6, 0], [0.5, 0.4, 0, 0.1]),
]


def table(index):
    """Return a price of a table, the second law being that of the table with the person."""
    without, held = ([Fraction(str(chance)) for chance in row] for row in TABLES[index])
    return table_loss(held, without, relation=ADD_REMOVE)


@pytest.mark.parametrize(
    ("index", "ratio", "printed"),
    [(2, 1, 0.1), (2, 1.1, 0.06), (2, 0.9, 0.15), (3, 1, 0.6), (3, 1.1, 0.6), (3, 0.9, 0.64)],
)  # fmt: skip
def test_published_divergences_of_tables(index, ratio, printed):
    found = [pair.delta(math.log(ratio)) for pair in table(index).pairs]
    assert max(one.estimate for one in found) == pytest.approx(printed, abs=1e-12)


@pytest.mark.parametrize("parts", [(0, 1), (0, 0, 0)])
@pytest.mark.parametrize("level", [0, 0.2, 0.5])
def test_published_compositions_of_tables_are_their_products(parts, level):
    total = sum(table(index) for index in parts)
    for side in (Side.REMOVE, Side.ADD):
        laws = [TABLES[index] if side is Side.ADD else TABLES[index][::-1] for index in parts]
        atoms = product(*(list(zip(first, second, strict=True)) for first, second in laws))
        chances = [np.prod(np.array(atom), axis=0) for atom in atoms]
        exact = math.fsum(max(0.0, p - math.exp(level) * q) for p, q in chances)
        one = (total.remove if side is Side.REMOVE else total.add).delta(level)
        assert one.lower - 1e-12 <= exact <= one.upper + 1e-12
        assert one.width <= 1e-3


def divergence(rate, scale, order):
    """Return the Renyi divergence of a removed person on a sample, by an integral in balls."""
    with flint.ctx.workprec(256):
        variance, share, power = flint.arb(scale) ** 2, flint.arb(rate), flint.arb(order)

        def moment(x, _):
            mixture = 1 - share + share * ((2 * x - 1) / (2 * variance)).exp()
            return mixture**power * (-x * x / (2 * variance)).exp()

        # the integrand is a mixture of normal densities about points between 0 and the order
        total = flint.acb.integral(moment, -14 * scale, order + 14 * scale, rel_tol=flint.arb(2) ** -60).real
        total /= (2 * flint.arb.pi() * variance).sqrt()
        return float(total.log() / (power - 1))


LOGARITHMS = [
    (1e-7, 0.1, 1.01), (1e-6, 1, 27), (1e-4, 1, 1.5), (1e-3, 1, 2), (0.01, 10, 20), (0.1, 100, 20.5),
    (0.999, 100, 256.1),
]  # fmt: skip
LARGE = [(1e-6, 0.1, 256), (1e-5, 0.1, 256.1), (0.99, 0.1, 256)]


@pytest.mark.parametrize(("rate", "scale", "order"), LOGARITHMS)
def test_published_orders_of_a_sampled_release_agree_with_the_integral(rate, scale, order):
    exact = divergence(rate, scale, order)
    found = (sampled(gaussian(scale), rate) * 2).remove.renyi(order)
    assert found.lower / 2 * (1 - 1e-6) - 1e-12 <= exact <= found.upper / 2 * (1 + 1e-6) + 1e-12
    assert found.width <= 2e-3 * found.upper


@pytest.mark.parametrize(("rate", "scale", "order"), LARGE)
def test_published_large_orders_are_dominated_by_the_sampled_part(rate, scale, order):
    """The moment is at least rate^order times that of the whole release, and at most that of the whole release."""
    found, whole = (sampled(gaussian(scale), rate) * 2).remove.renyi(order), order / (2 * scale**2)
    least = order * math.log(rate) / (order - 1) + whole
    assert 2 * least * (1 - 1e-9) <= found.upper <= 2 * whole * (1 + 1e-9)


# rate .01, scale 2.5, 50 times: the printed divergences, to four digits; ours are checked against the integral
TABLE_OF_ORDERS = {1.5: 6.70579741e-04, 2.5: 1.08548710e-03, 5: 2.18075656e-03, 50: 2.38460375e-02, 100: 1.67416308e02}


@pytest.mark.parametrize("order", TABLE_OF_ORDERS)
def test_published_table_of_orders(order):
    found, exact = (sampled(gaussian(2.5), 0.01) * 50).renyi(order), 50 * divergence(0.01, 2.5, order)
    assert found.lower * (1 - 1e-9) <= exact <= found.upper * (1 + 1e-9)
    if order != 1.5:
        assert TABLE_OF_ORDERS[order] == pytest.approx(found.estimate, rel=1e-4)
    else:  # printed 3 % above the integral: an upper bound, as it must be, and not the least
        assert 1.02 < TABLE_OF_ORDERS[order] / found.upper < 1.05


@pytest.mark.parametrize(("scales", "order"), [((2.71828,), 3.14159), ((2.71828, 6.28319), 3.14159)])
def test_published_divergences_of_gaussians_add(scales, order):
    total = sum(gaussian_loss(scale) for scale in scales)
    assert total.renyi(order).estimate == pytest.approx(sum(order / (2 * scale**2) for scale in scales), rel=1e-12)


def test_published_conversions_of_orders():
    assert RenyiDP(32, 1.1).to_approx(delta=1e-5).epsilon == pytest.approx(1.32783806176, abs=1e-7)
    assert ZCDP(1 / (2 * 4.530877117**2)).to_approx(delta=1e-6).epsilon == pytest.approx(1, abs=1e-6)
    loss = gaussian_loss(1)
    for tenths in range(0, 400, 7):
        epsilon = tenths / 10
        exact, bound = loss.delta(epsilon), ZCDP(0.5).loss.delta(epsilon).upper
        assert exact.upper <= bound <= (math.exp(-((epsilon - 0.5) ** 2) / 2) if epsilon >= 0.5 else 1) + 1e-300


@pytest.mark.parametrize(("epsilon", "count"), [(0.01, 1), (1, 1), (100, 1), (1, 100)])
def test_published_divergences_of_laplace(epsilon, count):
    loss = laplace_loss(1 / epsilon) * count
    assert loss.max_loss().upper == pytest.approx(epsilon * count)
    assert loss.epsilon(1e-10).upper <= epsilon * count * (1 + 1e-12)
    assert loss.renyi(1).upper <= min(epsilon, epsilon**2 / 2) * count * (1 + 1e-12)
    assert loss.renyi(1).estimate == pytest.approx(loss.renyi(1 + 1e-6).upper, abs=1e-3)


@pytest.mark.parametrize(("scale", "printed"), [(1.13, 19.74), (8.83, 2.04)])
def test_published_tree_of_1600_steps_costs_at_most_the_printed_epsilon(scale, printed):
    depth = math.ceil(math.log2(1600 + 1))  # a person is in one node a level
    assert (gaussian_loss(scale) * depth).epsilon(1e-6).upper < printed


@pytest.mark.parametrize("count", [10_000, 10_001, 10_002])
def test_published_homogeneous_gaussians(count):
    mu = math.sqrt(count) / 100
    assert (gaussian_loss(100) * count).delta(4).contains(NormalPair(mu).delta(4).estimate) or (
        (gaussian_loss(100) * count).delta(4).estimate == pytest.approx(NormalPair(mu).delta(4).estimate, rel=1e-12)
    )


def test_published_heterogeneous_gaussians():
    total = gaussian_loss(10) * 50 + gaussian_loss(5) * 50
    assert total.delta(4).estimate == pytest.approx(NormalPair(math.sqrt(0.5 + 2)).delta(4).estimate, rel=1e-12)


@pytest.mark.parametrize("delta", [1e-7, 1e-8])
@pytest.mark.parametrize("count", [10_000, 100_000])
def test_published_totals_of_deltas(delta, count):
    total = ApproxDP(0, delta).loss * count
    assert total.delta(0).estimate == pytest.approx(-math.expm1(count * math.log1p(-delta)), rel=1e-9)
    for slack in (1e-5, 1e-6):
        strong = 0.01 * math.sqrt(2 * count * -math.log(slack)) + count * 0.01 * math.tanh(0.005)
        assert (ApproxDP(0.01, delta).loss * count).epsilon(count * delta + slack).upper < strong


def test_published_tails_of_a_sampled_release():
    rate = 0.01
    pair = PoissonPair(NormalPair(1), rate, Side.REMOVE)

    def chance(level):
        inner = math.log((math.exp(level) - 1 + rate) / rate)
        first, second = (NormalPair(1).tail(inner).estimate, math.erfc((inner + 0.5) / math.sqrt(2)) / 2)
        return rate * first + (1 - rate) * second

    for level in (0.0, 1.0):
        assert pointwise_delta(pair, level).estimate == pytest.approx(chance(level), rel=1e-3)
    assert pointwise_delta(pair, 100).upper <= 1e-300


def test_published_noise_for_training_lies_in_the_published_range():
    steps = sampled(gaussian(2), 2e-3) * 10_000
    assert steps.epsilon(1e-7, tolerance=1e-3).upper < 4  # so the least noise is below 2
    assert PureDP(4).loss.epsilon(0).upper == 4


@pytest.mark.parametrize("scale", [1e-3, 0.1, 1.0, 10.0, 1e3])
@pytest.mark.parametrize("delta", [1e-10, 1e-5, 0.1, 0.5, 0.9])
def test_epsilon_and_delta_of_a_gaussian_invert_each_other(scale, delta):
    found = gaussian_loss(scale).epsilon(delta)
    assert gaussian_loss(scale).delta(found.upper).upper <= delta
    if found.lower > 0:
        assert gaussian_loss(scale).delta(found.lower).lower >= delta
        assert found.width <= 1e-12 * found.upper


@pytest.mark.parametrize("rate", [0.01, 0.1, 0.8, 1])
@pytest.mark.parametrize("scale", [0.1, 1, 10, 100])
def test_epsilon_and_delta_of_a_sampled_release_invert_each_other(rate, scale):
    loss = gaussian(scale) if rate == 1 else sampled(gaussian(scale), rate)
    for delta in (0.99, 0.9, 0.1, 0.01, 1e-3, 1e-5, 1e-9, 1e-12):
        found = loss.epsilon(delta)
        assert loss.delta(found.upper).upper <= delta
        assert found.lower == 0 or loss.delta(found.lower * (1 - 1e-9)).upper >= delta * (1 - 1e-12)

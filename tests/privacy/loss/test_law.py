"""The loss as a random variable: its mean and variance against quadrature and sums, draws against its law, its walk."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import numpy as np
import pytest

from discreet.errors import NoSoundConversion, ParameterError
from discreet.laws import DiscreteGaussian, DiscreteLaplace, FinitePair, LocationPair, Pair, ProductPair
from discreet.laws.noise.noise import IntegerNoise
from discreet.privacy import (
    ZCDP,
    ApproxDP,
    GaussianDP,
    PureDP,
    Relation,
    RenyiDP,
    bounded_range_loss,
    discrete_gaussian_loss,
    discrete_laplace_loss,
    gaussian_loss,
    group_loss,
    laplace_loss,
    randomized_response_loss,
    subsample,
    table_loss,
)
from discreet.privacy.pairs import (
    BoundedRangePair,
    FixedSizePair,
    LaplacePair,
    NormalPair,
    PoissonPair,
    PureApproxPair,
    Side,
    moments_of,
)

ADD_REMOVE = Relation.ADD_REMOVE
FINITE = table_loss([Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(1, 4), Fraction(1, 2)])
CLOSED = [
    NormalPair(0.25), NormalPair(2), LaplacePair(0.5), LaplacePair(4), PureApproxPair(1), BoundedRangePair(2),
    FINITE.pairs[0], randomized_response_loss(1.5, categories=5).pairs[0],
]  # fmt: skip
PAIRS = [
    *CLOSED,
    LocationPair(DiscreteGaussian(2), shift=3),
    LocationPair(DiscreteLaplace(2), shift=3),
    PoissonPair(NormalPair(1), 0.1, Side.REMOVE),
    PoissonPair(NormalPair(1), 0.1, Side.ADD),
    PoissonPair(LaplacePair(1), 0.2, Side.ADD),
    FixedSizePair(LaplacePair(1), 0.2),
]
DRAWS, DEVIATIONS = 40_000, 7.5  # a normal variable is further from its mean with chance 7e-14


class Unknown(Pair):
    """A pair that answers for its curve alone."""

    def __init__(self, pair):
        self.pair = pair
        self.delta, self.max_loss, self.concentration = pair.delta, pair.max_loss, pair.concentration

    def delta(self, epsilon):
        """Replaced by the pair's own."""

    def max_loss(self):
        """Replaced by the pair's own."""

    def tradeoff(self, alpha):
        """Return nothing: not asked."""

    def reversed(self):
        """Hide the other direction too."""
        return Unknown(self.pair.reversed())


def integral(function, low, high):
    """Integrate an analytic function in balls."""
    with flint.ctx.workprec(128):
        return float(flint.acb.integral(lambda x, _: function(x), low, high, rel_tol=flint.arb(2) ** -60).real)


def named(pair):
    """Return what it is called by; a table has no name of its own that would be the same in every process."""
    return "table" if isinstance(pair, FinitePair) else repr(pair)


@pytest.mark.parametrize("pair", CLOSED, ids=named)
def test_the_integral_of_the_curve_agrees_with_the_closed_form(pair):
    known, found = moments_of(pair), moments_of(Unknown(pair))
    for one, other in [(known.mean, found.mean), (known.variance, found.variance)]:
        assert max(one.lower, other.lower) <= min(one.upper, other.upper)
        assert one.width <= 1e-12 * one.upper
    assert found.mean.width <= 3e-5 * found.mean.upper
    assert found.variance.width <= 2e-4 * found.variance.upper


@pytest.mark.parametrize(("side", "sign"), [(Side.REMOVE, 1), (Side.ADD, -1)])
def test_on_a_sample_the_moments_are_the_integrals_over_the_density(side, sign):
    rate, mu = 0.1, 1.0

    def moment(power):
        def integrand(x):
            mixture = 1 - rate + rate * (mu * x - mu * mu / 2).exp()
            law = (-x * x / 2).exp() / (2 * flint.arb.pi()).sqrt() * (mixture if side is Side.REMOVE else 1)
            return law * (sign * mixture.log()) ** power

        return integral(integrand, -16, 16)

    found = moments_of(PoissonPair(NormalPair(mu), rate, side))
    assert found.mean.contains(moment(1))
    assert found.variance.contains(moment(2) - moment(1) ** 2)
    assert found.mean.width <= 1e-4 * found.mean.upper


def test_integer_noise_has_the_moments_of_a_sum_over_the_integers():
    scale, shift = 2, 3
    for noise, loss in [
        (DiscreteGaussian(scale), lambda x: shift * (2 * x + shift) / (2 * scale**2)),
        (DiscreteLaplace(scale), lambda x: (abs(x + shift) - abs(x)) / scale),
    ]:
        places = range(-200, 201)
        chances = [float(noise.pmf(x)) for x in places]
        mean = math.fsum(p * loss(x) for p, x in zip(chances, places, strict=True))
        square = math.fsum(p * loss(x) ** 2 for p, x in zip(chances, places, strict=True))
        found = moments_of(LocationPair(noise, shift=shift))
        assert found.mean.lower * (1 - 1e-12) <= mean <= found.mean.upper * (1 + 1e-12)
        assert found.variance.lower * (1 - 1e-12) <= square - mean**2 <= found.variance.upper * (1 + 1e-12)


def test_components_of_a_vector_add():
    one, other = LocationPair(DiscreteGaussian(2), shift=3), LocationPair(DiscreteLaplace(2), shift=1)
    both = moments_of(ProductPair([one, other]))
    parts = [moments_of(part) for part in (one, other)]
    assert both.mean.estimate == pytest.approx(sum(part.mean.estimate for part in parts))
    assert both.variance.estimate == pytest.approx(sum(part.variance.estimate for part in parts))
    drawn = ProductPair([one, other]).draw_losses(DRAWS)
    assert abs(np.mean(drawn) - both.mean.estimate) <= DEVIATIONS * math.sqrt(both.variance.upper / DRAWS)


@pytest.mark.parametrize("pair", PAIRS, ids=named)
def test_drawn_losses_follow_the_law(pair):
    drawn, known = pair.draw_losses(DRAWS), moments_of(pair)
    assert drawn.shape == (DRAWS,)
    error = DEVIATIONS * math.sqrt(known.variance.upper / DRAWS)
    assert abs(np.mean(drawn) - known.mean.estimate) <= error + 1e-3 * math.sqrt(known.variance.upper)
    for level in (0.0, 0.3, 1.0):  # E max(0, 1 - e^(level - L)) is delta(level)
        terms = np.maximum(0.0, -np.expm1(np.minimum(level - drawn, 0.0)))
        spread = math.sqrt(max(float(np.var(terms)), 30 / DRAWS) / DRAWS)
        assert abs(np.mean(terms) - pair.delta(level).estimate) <= DEVIATIONS * spread + 1e-3


def test_means_and_variances_of_independent_releases_add():
    sampled = subsample(gaussian_loss(1, relation=ADD_REMOVE), rate=0.1)
    total = sampled * 50 + laplace_loss(10, relation=ADD_REMOVE) * 3
    assert total.mean.estimate == pytest.approx(50 * sampled.mean.estimate + 3 * (0.1 + math.expm1(-0.1)), rel=1e-9)
    assert sampled.mean.estimate == pytest.approx(max(sampled.remove.mean.estimate, sampled.add.mean.estimate))
    drawn = total.sample(DRAWS)
    assert abs(np.mean(drawn) - total.mean.estimate) <= DEVIATIONS * math.sqrt(total.variance.upper / DRAWS)
    assert np.var(drawn) == pytest.approx(total.variance.estimate, rel=0.2)


@pytest.mark.parametrize(
    "loss",
    [
        gaussian_loss(2), laplace_loss(2), discrete_laplace_loss(3), randomized_response_loss(1, categories=4), FINITE,
        laplace_loss(2) * 3 + gaussian_loss(5), discrete_gaussian_loss(5),
    ],
    ids=str,
)  # fmt: skip
def test_the_mean_is_the_divergence_of_order_one(loss):
    assert loss.renyi(1) == loss.mean
    near = [loss.renyi(order).upper for order in (1.001, 1.01, 1.1)]
    assert loss.mean.lower <= near[0] <= near[1] <= near[2]
    assert near[0] == pytest.approx(loss.mean.upper, rel=5e-3)


def test_guarantees_bound_the_mean_from_above():
    assert ZCDP(0.5).loss.mean.upper == 0.5
    assert (ZCDP(0.5).loss + gaussian_loss(1)).mean.upper == 1.0
    assert RenyiDP(2, 0.25).loss.mean.upper == 0.25
    assert GaussianDP(1).loss.mean.upper == 0.5
    assert PureDP(1).loss.mean.upper == pytest.approx(math.tanh(0.5))
    assert bounded_range_loss(1).mean.upper == 0.125  # below that of its envelope, coth(1/2) - 2
    assert ApproxDP(1, 1e-9).loss.mean.lower == math.inf
    with pytest.raises(NoSoundConversion, match="guarantee alone"):
        ZCDP(0.5).loss.sample(10)


def test_the_price_to_a_group_bounds_its_mean_by_the_largest_loss():
    assert group_loss(laplace_loss(2), 2).mean.upper == pytest.approx(math.tanh(0.5))
    assert group_loss(laplace_loss(2), 2).mean.upper >= laplace_loss(1).mean.upper
    assert group_loss(gaussian_loss(2), 2).mean == gaussian_loss(1).mean
    with pytest.raises(ParameterError, match="known by its curve only"):
        group_loss(laplace_loss(2), 2).sample(3)


def test_what_cannot_be_drawn_is_refused_before_any_work():
    with pytest.raises(ParameterError, match=r"2\^27"):
        (laplace_loss(1) * 2**40).sample(10)
    assert (gaussian_loss(1e6) * 2**40).sample(10).shape == (10,)
    for delta in (0, 1):
        with pytest.raises(ParameterError, match="strictly between"):
            PureDP(1).loss.walk(5, delta=delta)
    with pytest.raises(NoSoundConversion, match="infinite"):
        ApproxDP(1, 1).loss.walk(5, delta=0.1)


@pytest.mark.theorem("LossWalk.accuracy")
@pytest.mark.parametrize("loss", [PureDP(0.1).loss, laplace_loss(5), gaussian_loss(10), discrete_gaussian_loss(10)])
def test_a_walk_ends_below_its_lines_except_with_chance_delta(loss):
    delta, walks = 0.05, 2000
    walk = loss.walk(30, delta=delta, walks=walks)
    assert walk.paths.shape == (walks, 30)
    assert np.all(walk.tight <= walk.azuma)
    assert walk.mean[-1] == pytest.approx(30 * loss.mean.estimate)
    # a binomial count with chance 1/20 exceeds 9.5 % of 2,000 with chance below 1e-13
    assert np.mean(walk.paths[:, -1] > walk.azuma[-1]) <= 0.095
    exact = (loss * 30).mean
    error = DEVIATIONS * math.sqrt((loss * 30).variance.upper / walks)
    assert abs(np.mean(walk.paths[:, -1]) - exact.estimate) <= error


def test_a_walk_draws_itself():
    pytest.importorskip("matplotlib")
    drawn = PureDP(0.1).loss.walk(40, delta=1e-5, walks=5).plot()
    (axes,) = drawn.figure.axes
    assert len(axes.lines) == 5 + 3
    assert [text.get_text() for text in drawn.figure.legends[0].get_texts()] == [
        "one run of releases", "mean of the loss", "Azuma's line at delta 1e-05", "tight line, epsilon(delta)",
    ]  # fmt: skip
    assert "Chernoff" in gaussian_loss(9).walk(9, delta=0.01).plot().figure.legends[0].get_texts()[2].get_text()


@pytest.mark.parametrize("noise", [DiscreteGaussian(3), DiscreteLaplace(3)])
def test_losses_in_closed_form_are_those_of_the_masses(noise):
    drawn = np.array([-9, -2, -1, 0, 2, 7])
    assert noise.losses(drawn, 2) == pytest.approx(IntegerNoise.losses(noise, drawn, 2), rel=1e-12)

"""The contour engine: every interval contains the truth, by every road it can take, and whatever was asked before."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import flint
import numpy as np
import pytest

from discreet import privacy
from discreet.errors import AssumptionFailed
from discreet.laws.enclosure import Enclosure
from discreet.laws.finite import Finite, FinitePair
from discreet.laws.noise.discrete_gaussian import DiscreteGaussian
from discreet.laws.noise.discrete_laplace import DiscreteLaplace
from discreet.laws.noise.location_pair import LocationPair
from discreet.laws.pair import Pair
from discreet.privacy import ZCDP, ApproxDP, PureDP, Relation
from discreet.privacy.accounting import lattice
from discreet.privacy.accounting.contour.answers import ContourEngine
from discreet.privacy.accounting.contour.families import flattened, gathered
from discreet.privacy.accounting.contour.integral import Contour, LatticeKernel, LineKernel
from discreet.privacy.accounting.contour.moments import Moments, Unsuitable, log_constant
from discreet.privacy.accounting.directed_loss import DirectedLoss, least_rho
from discreet.privacy.pairs.bounded_range import BoundedRangePair
from discreet.privacy.pairs.derived import FixedSizePair, PoissonPair, Side
from discreet.privacy.pairs.laplace import LaplacePair
from discreet.privacy.pairs.worst_pairs import NormalPair, PureApproxPair
from tests.privacy.accounting.finite import curve_of, discrete_gaussian, discrete_laplace, table
from tests.privacy.accounting.integrals import beside_normal
from tests.privacy.accounting.references import (
    Curve,
    approximate,
    ball,
    gaussian,
    laplace,
    poisson_add,
    poisson_remove,
    pure,
)

LEVELS = [0.0, 1e-12, 0.05, 0.4, 1.5, 5.0]
DELTAS = [0.6, 0.2, 1e-2, 1e-6, 1e-20]
BEYOND = 10**4
NEAR_ONE = 1 - Fraction(3, 2**55)


def engine(*parts: tuple[Pair, int]) -> ContourEngine:
    """Return the contour engine of a composition, without closed forms and without the lattice."""
    return ContourEngine(gathered(flattened(parts)) or [])


def directed(*parts: tuple[Pair, int]) -> DirectedLoss:
    """Return everything that answers for a composition in one direction."""
    return DirectedLoss(tuple((pair, None, count) for pair, count in parts), attained=True)


def finite(p: Sequence[Fraction], q: Sequence[Fraction]) -> Pair:
    """Return the pair of two laws on the same outcomes."""
    return Finite(range(len(p)), p).pair(Finite(range(len(q)), q))


def loose(*ends: list[float]) -> FinitePair:
    """Return a finite pair whose masses are known between two ends."""
    return FinitePair(range(len(ends[0])), *(np.array(end) for end in ends))


def noise(scale: object, shift: int = 1) -> LocationPair:
    """Integer Gaussian noise."""
    return LocationPair(DiscreteGaussian(scale), shift=shift)  # type: ignore[arg-type]


def assert_contains(found: Enclosure, truth: flint.arb) -> None:
    """Check both ends, and that they are in order."""
    assert 0 <= found.lower <= found.estimate <= found.upper <= 1
    assert not truth < ball(found.lower), "lower end above the truth"
    assert not truth > ball(found.upper), "upper end below the truth"


def assert_epsilon(found: Enclosure, curve: Curve, delta: float) -> None:
    """Check the two ends of an epsilon by the curve there."""
    assert 0 <= found.lower <= found.estimate <= found.upper
    if found.lower > 0:
        assert not curve(min(found.lower, BEYOND)) < ball(delta), "lower end above the truth"
    if math.isfinite(found.upper):
        assert not curve(found.upper) > ball(delta), "upper end below the truth"


def gaussian_atoms(sigma: object, shift: int, count: int) -> Curve:
    """Return the curve of integer Gaussian noise."""
    atoms, lost = discrete_gaussian(sigma, shift, count)
    return curve_of(atoms, lost=lost)


THIRDS = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)], [Fraction(1, 7), Fraction(3, 7), Fraction(3, 7)]
PARTED = [Fraction(1, 9), Fraction(8, 9), Fraction(0)], [Fraction(0), Fraction(5, 9), Fraction(4, 9)]
BESIDE = {"law": "gaussian", "scale": 1.0, "rate": 0.1}
TRUTHS: dict[str, tuple[list[tuple[Pair, int]], Curve]] = {
    "response": ([(PureApproxPair(0.3), 40)], pure(0.3, 40)),
    "response of tiny losses": ([(PureApproxPair(1e-5), 10**6)], pure(1e-5, 10**6)),
    "response of large losses": ([(PureApproxPair(40), 3)], pure(40, 3)),
    "approximate guarantee": ([(PureApproxPair(0.2, 1e-4), 30)], approximate(0.2, 1e-4, 30)),
    "guarantee that may leak half": ([(PureApproxPair(1, 0.5), 3)], approximate(1, 0.5, 3)),
    "Laplace": ([(LaplacePair(Fraction(1, 2)), 6)], laplace(Fraction(1, 2), 6)),
    "Laplace of small losses": ([(LaplacePair(1e-3), 6)], laplace(1e-3, 6)),
    "integer Laplace": (
        [(LocationPair(DiscreteLaplace(3), shift=4), 8)],
        curve_of(discrete_laplace(3, 4, 8)),
    ),
    "Gaussian and nothing else": ([(NormalPair(0.5), 9)], gaussian(Fraction(9, 4))),
    "integer Gaussian of 1/20 steps": ([(noise(Fraction(1, 20)), 2)], gaussian_atoms(Fraction(1, 20), 1, 2)),
    "integer Gaussian of 2 steps": ([(noise(2, 3), 4)], gaussian_atoms(2, 3, 4)),
    "integer Gaussian of 39 steps": ([(noise(39, 20), 2)], gaussian_atoms(39, 20, 2)),
    "integer Gaussian of 40 steps": ([(noise(40, 20), 2)], gaussian_atoms(40, 20, 2)),
    "integer Gaussian of 41 steps": ([(noise(41, 1), 2)], gaussian_atoms(41, 1, 2)),
    "table": ([(finite(*THIRDS), 7)], curve_of(table(*THIRDS, 7))),
    "table of parted laws": ([(finite(*PARTED), 4)], curve_of(table(*PARTED, 4))),
    "Gaussian beside a sampled one, removing": (
        [(NormalPair(0.5), 1), (PoissonPair(NormalPair(1), 0.1, Side.REMOVE), 1)],
        beside_normal(Fraction(1, 4), **BESIDE),  # type: ignore[arg-type]
    ),
    "Gaussian beside a sampled one, adding": (
        [(NormalPair(0.5), 1), (PoissonPair(NormalPair(1), 0.1, Side.ADD), 1)],
        beside_normal(Fraction(1, 4), **BESIDE, removing=False),  # type: ignore[arg-type]
    ),
}
KEPT = [(parts, cache(curve)) for parts, curve in TRUTHS.values()]  # many tests ask a slow truth at the same levels
ALL = pytest.mark.parametrize(("parts", "curve"), KEPT, ids=TRUTHS)


@ALL
def test_every_interval_for_delta_contains_the_truth(parts, curve):
    asked = engine(*parts)
    for level in LEVELS:
        assert_contains(asked.delta(level, None), curve(level))
        assert not curve(level) > ball(asked.delta_ceiling(level))


@pytest.mark.parametrize("level", [0.0, 0.4])
@pytest.mark.parametrize(("mu", "rate"), [(1, 0.1), (0.3, 0.99), (2, 0.7)])
def test_one_sampled_release_has_its_own_curve(mu, rate, level):
    removed = engine((PoissonPair(NormalPair(mu), rate, Side.REMOVE), 1)).delta(level, None)
    added = engine((PoissonPair(NormalPair(mu), rate, Side.ADD), 1)).delta(level, None)
    base = gaussian(Fraction(mu) ** 2)
    assert_contains(removed, poisson_remove(base, rate)(level))
    assert_contains(added, poisson_add(base, rate)(level))


@ALL
def test_every_interval_for_epsilon_contains_the_truth(parts, curve):
    asked = engine(*parts)
    for delta in DELTAS:
        assert_epsilon(asked.epsilon(delta, None), curve, delta)
        if math.isfinite(ceiling := asked.ceiling(delta)):
            assert not curve(ceiling) > ball(delta)


@ALL
@pytest.mark.parametrize("level", [0.0, 0.05, 0.4])
def test_left_of_the_pole_the_integral_is_what_delta_lacks_to_one(parts, curve, level):
    asked = engine(*parts)
    asked.moments.begin()
    _, order = asked.moments.left(level)
    assert -1 < order < 0
    for road in asked._roads(abs(order), 1e-6):
        try:
            contour = Contour(road.moments, order, level, road.kernel, road.smoothing)
        except Unsuitable:
            continue
        assert_contains(asked._along(contour, road, level), curve(level))


@ALL
def test_every_road_contains_the_truth(parts, curve):
    asked, taken, level = engine(*parts), 0, 0.4
    asked.moments.begin()
    _, order = asked.moments.log_delta(level)
    smoothed = [asked._smoothed(order, level, size) for size in (0.01, 0.04, 0.16)]
    for road in (*asked._roads(order, level), *smoothed):
        try:
            contour = Contour(road.moments, road.order, level, road.kernel, road.smoothing)
        except Unsuitable:
            continue
        taken += 1
        assert_contains(asked._along(contour, road, level), curve(level))
    # where delta is nearly 1 the right side of the pole is not the road, where it is nearly 0 none is needed
    assert taken > 0 or not 1e-15 < asked.delta_ceiling(level) < 0.4


@pytest.mark.parametrize("smoothing", [0.3, 0.1, 0.01])
@pytest.mark.parametrize("order", [3.0, 0.7, -0.3])
def test_smoothing_raises_delta_by_no_more_than_its_bound(smoothing, order):
    asked, level, curve = engine((PureApproxPair(0.3), 40)), 1.2, pure(0.3, 40)  # 1.2 is a possible loss
    truth, smoothed = curve(level), _beside(0.3, 40, smoothing)(level)
    moments = Moments(asked.factors)
    moments.ask([order / 2, order * 1.1])
    value = Contour(moments, order, level, LineKernel(), smoothing).value(level)
    middle = ball(value.log.estimate).exp() if order > 0 else 1 - ball(value.log.estimate).exp()
    assert smoothed > truth
    assert abs(middle / smoothed - 1) < 1e-6, "the sum is that of the smoothed composition"
    ends = sorted(
        float(ball(end).exp() if order > 0 else 1 - ball(end).exp()) for end in (value.log.lower, value.log.upper)
    )
    assert ends[0] <= float(truth) <= ends[1]
    assert ends[1] - ends[0] < 3 * smoothing * float(truth)


def _beside(epsilon: float, count: int, mu: float) -> Curve:
    """Return the curve of responses beside one Gaussian release."""
    base = gaussian(Fraction(mu) ** 2)
    likely = 1 / (1 + (-ball(epsilon)).exp())

    def delta(level: object) -> flint.arb:
        total = flint.arb(0)
        for tops in range(count + 1):
            mass = math.comb(count, tops) * likely**tops * (1 - likely) ** (count - tops)
            total += mass * base(ball(level) - (2 * tops - count) * ball(epsilon))
        return total

    return delta


class CoarseContour(Contour):
    """A contour with fewer nodes than it should have: its aliases can be seen."""

    def _spacing(self, epsilon: float) -> float:
        return 11 * super()._spacing(epsilon)


@pytest.mark.parametrize("order", [2.0, 0.8, -0.4])
def test_aliases_only_add_and_are_bounded(order):
    curve, level = gaussian(1), 0.7
    moments = Moments(engine((NormalPair(1), 1)).factors)
    moments.ask([order / 2, order * 1.2])
    truth = curve(level) if order > 0 else 1 - curve(level)
    fine = Contour(moments, order, level, LineKernel()).value(level)
    coarse = CoarseContour(moments, order, level, LineKernel()).value(level)
    for value in (fine, coarse):
        assert ball(value.log.lower).exp() <= truth <= ball(value.log.upper).exp()
    assert ball(coarse.log.estimate).exp() > truth * (1 + 1e-7)
    assert fine.log.upper - fine.log.lower < 1e-9


@pytest.mark.parametrize("level", [0.0, 0.3, 1.1, 4.0, 11.0])
@pytest.mark.parametrize("order", [2.0, -0.3])
def test_the_two_kernels_agree(level, order):
    reach, count = 0.3, 40
    moments = Moments(engine((PureApproxPair(reach), count)).factors)
    moments.ask([order / 2, order * 1.2])
    on_lattice = Contour(moments, order, level, LatticeKernel(-count * reach, 2 * reach)).value(level)
    on_line = Contour(moments, order, level, LineKernel(), 0.02).value(level)
    assert on_lattice.log.lower <= on_line.log.upper
    assert on_line.log.lower <= on_lattice.log.upper
    assert on_lattice.log.upper - on_lattice.log.lower < 1e-6


@pytest.mark.parametrize("order", [3.0, 0.2, -0.2, -0.9])
def test_a_lattice_of_small_steps_has_nearly_the_weight_of_the_line(order):
    nodes, level, step = np.linspace(0.0, 30.0, 50), 0.5, 2.0**-20
    fine, line = LatticeKernel(0.0, step), LineKernel()
    weights, errors = fine.weights(order, nodes, level)
    limit, roundings = line.weights(order, nodes, level)
    turned = weights * np.exp(fine.scale(order, level)[0] - line.scale(order, level)[0])
    assert np.max(np.abs(turned / limit - 1)) < 1e-4
    assert np.all(errors < 1e-6 * np.abs(weights))
    assert np.all(roundings < 1e-10 * np.abs(limit))
    assert np.all(np.abs(weights) <= fine.largest(order, nodes, level))
    assert np.all(np.abs(limit) <= line.largest(order, nodes, level))


@pytest.mark.parametrize("order", [1e-6, 0.01, 1.0, 50.0, 1e6])
def test_the_chernoff_constant_is_the_least(order):
    with flint.ctx.workprec(300):
        c = ball(order)
        truth = c * c.log() - (c + 1) * (c + 1).log()
        assert truth <= ball(log_constant(order)) + 2.0**-40 * abs(truth)
        assert abs(ball(log_constant(order)) - truth) < 1e-14 * (1 + abs(truth))
    losses = np.linspace(1e-6, 60 / order if order < 1 else 60, 4000)
    assert np.all(np.log(-np.expm1(-losses)) - order * losses <= log_constant(order) + 1e-12)


HISTORIES: dict[str, list[tuple[Pair, int]]] = {
    "Laplace of many scales": [(LaplacePair(Fraction(1, 10 + index)), 3) for index in range(40)],
    "responses of many kinds": [(PureApproxPair(Fraction(1, 10 + index), 1e-9), 3) for index in range(60)],
    "bounded range": [(BoundedRangePair(0.2), 30)],
    "integer Gaussian": [(noise(3), 20)],
    "wide integer Gaussian": [(noise(50), 400)],
    "sampled Gaussian": [(PoissonPair(NormalPair(1), 0.05, Side.ADD), 200)],
    "table": [(finite(*THIRDS), 9)],
    "mixture": [(LaplacePair(Fraction(1, 10)), 5), (PureApproxPair(0.1), 4), (NormalPair(0.3), 1)],
}


@pytest.mark.parametrize("parts", HISTORIES.values(), ids=HISTORIES)
def test_an_answer_does_not_depend_on_what_was_asked_before(parts):
    def asked(loss: DirectedLoss, question: tuple[str, float]) -> object:
        name, value = question
        return loss.renyi(value) if name == "renyi" else getattr(loss, name)(value, 1.0)

    questions = [("delta", 0.1), ("delta", 1.0), ("epsilon", 1e-6), ("epsilon", 0.2), ("renyi", 2.0), ("renyi", 1.25)]
    fresh = [asked(directed(*parts), question) for question in questions]
    for order in (1, -1):
        loss = directed(*parts)
        answers = [asked(loss, question) for question in questions[::order]]
        assert answers[::order] == fresh


@pytest.mark.parametrize("count", [1, 2, 3, 5])
@pytest.mark.parametrize("q", [Fraction(5, 100), Fraction(15, 100)])
def test_losses_known_loosely_may_be_anywhere_between_their_ends(count, q):
    asked = engine((loose([0.899, 0.099], [0.901, 0.101], [0.05, 0.85], [0.15, 0.95]), count))
    curve = curve_of(table([Fraction(9, 10), Fraction(1, 10)], [q, 1 - q], count))
    for level in (0.0, 0.1, 0.5, 1.0, 2.0):
        assert_contains(asked.delta(level, None), curve(level))


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_rare_outcome_may_have_the_worst_loss_that_its_masses_allow(count):
    p, q = Fraction(1, 1001), Fraction(1, 10**7)
    first, second = Fraction(73, 100) * (1 - p), Fraction(27, 100) * (1 - p)
    third, fourth = Fraction(27, 100) * (1 - q), Fraction(73, 100) * (1 - q)
    low, high = (
        [[math.nextafter(float(mass), way) for mass in law] for law in ([first, second], [third, fourth])]
        for way in (0.0, 2.0)
    )
    pair = loose([*low[0], 1e-6], [*high[0], 1e-3], [*low[1], 1e-8], [*high[1], 1e-5])
    asked, curve = engine((pair, count)), curve_of(table([first, second, p], [third, fourth, q], count))
    for level in np.linspace(0, 9.2 * count, 24):
        assert_contains(asked.delta(float(level), None), curve(float(level)))
    assert_epsilon(asked.epsilon(1e-5, None), curve, 1e-5)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_an_outcome_known_only_from_above_counts_as_possibly_infinite(count):
    pair = loose([0.94, 0.01, 0.0], [0.94, 0.01, 0.05], [0.01, 0.59, 1e-6], [0.01, 0.59, 0.4])
    p, q = [Fraction(0.94), Fraction(0.01)], [Fraction(0.01), Fraction(0.59)]
    asked, curve = engine((pair, count)), curve_of(table([*p, 1 - sum(p)], [*q, 1 - sum(q)], count))
    for level in (0.0, 0.1, 0.5, 1.0, 3.0):
        assert_contains(asked.delta(level, None), curve(level))


@pytest.mark.parametrize("count", [1, 2, 10])
@pytest.mark.parametrize("flipped", [False, True])
def test_a_fixed_size_sample_continues_its_curve_below_zero(count, flipped):
    p, q, rate = [Fraction(9, 10), Fraction(1, 10)], [Fraction(3, 10), Fraction(7, 10)], Fraction(1, 4)
    p, q = (q, p) if flipped else (p, q)
    above = [((1 - rate) * b + rate * a, b) for a, b in zip(p, q, strict=True) if a > b]
    rest = 1 - sum(a + b for a, b in above)
    first, second = [a for a, _ in above] + [b for _, b in above], [b for _, b in above] + [a for a, _ in above]
    curve = curve_of(table([*first, rest], [*second, rest], count))
    asked = engine((FixedSizePair(finite(p, q), rate), count))
    for level in (0.0, 0.1, 0.3, 0.8):
        found = asked.delta(level, None)
        assert_contains(found, curve(level))
        assert found.upper - found.lower < 1e-9


def test_what_is_cut_off_a_law_counts_under_a_fixed_size_sample():
    pair = FixedSizePair(noise(Fraction(1, 2)), 0.1)
    asked = engine((pair, 1))
    for level in (0.0, 0.05, 0.5, 1.0, 4.0):
        truth = pair.delta(level)
        found = asked.delta(level, None)
        assert found.lower <= truth.upper
        assert found.upper >= truth.lower


@pytest.mark.parametrize(
    "rate", [Fraction(999_999, 10**6), 1 - Fraction(1, 10**9), 1 - 2.0**-40, 1 - Fraction(1, 10**17)]
)
@pytest.mark.parametrize("side", list(Side))
@pytest.mark.parametrize(("epsilon", "leak"), [(20, 0), (100, 1e-6)])
def test_sampling_rates_near_one_keep_what_they_lack(rate, side, epsilon, leak):
    pair = PoissonPair(PureApproxPair(epsilon, leak), rate, side)
    with flint.ctx.workprec(400):
        likely, lost, share = 1 / (1 + (-ball(epsilon)).exp()), ball(leak), ball(rate)
        p = [lost, (1 - lost) * likely, (1 - lost) * (1 - likely), flint.arb(0)]
        mixed = [
            (1 - share) * b + share * a if side is Side.REMOVE else (1 - share) * a + share * b
            for a, b in zip(p, p[::-1], strict=True)
        ]
        first, second = (mixed, p[::-1]) if side is Side.REMOVE else (p, mixed)
        both = [(a * c, b * d) for a, b in zip(first, second, strict=True) for c, d in zip(first, second, strict=True)]
    asked = directed((pair, 2))
    for level in (0.0, 1.0, 9.0, 13.0, 19.0, 30.0):
        assert_contains(asked.delta(level, None), curve_of(both)(level))


@cache
def _two_lossy_releases(pair: PoissonPair) -> float:
    return engine((pair, 2)).delta(73.8, 1.0).upper


@pytest.mark.parametrize("level", [1.0, 36.8, 37.0])
@pytest.mark.parametrize("mu", [3, 8])
def test_sampled_gaussians_at_rates_near_one_keep_what_they_lack(mu, level):
    curve = poisson_add(gaussian(mu * mu), NEAR_ONE)
    pair = PoissonPair(NormalPair(mu), NEAR_ONE, Side.ADD)
    assert not curve(level) > ball(engine((pair, 1)).delta(level, None).upper)
    # two releases that each lose 37 or nearly so
    assert not curve(36.9) ** 2 > ball(_two_lossy_releases(pair))


@pytest.mark.parametrize("epsilon", [30, 38, 100, 250])
@pytest.mark.parametrize("side", list(Side))
def test_a_sample_of_everybody_is_no_sample(epsilon, side):
    asked = engine((PoissonPair(PureApproxPair(epsilon, 0.1), 1, side), 2))
    curve = approximate(epsilon, 0.1, 2)
    for level in (1.0, 2 * epsilon - 0.5):
        assert_contains(asked.delta(level, None), curve(level))


@pytest.mark.parametrize(("mu", "rate", "count"), [(0.1, 1e-3, 300), (0.3, 1e-6, 1000)])
def test_a_sharp_bend_of_the_moments_does_not_mislead_the_search(mu, rate, count):
    asked = engine((PoissonPair(NormalPair(mu), rate, Side.REMOVE), count))
    orders = np.geomspace(1e-3, 1e4, 200)
    bounds = [(asked.moments(float(order)) - math.log(1e-6)) / order for order in orders]
    assert asked.ceiling(1e-6) <= 1.2 * min(bounds)
    assert asked.delta_ceiling(3.5) <= 1e-100


def test_a_guarantee_without_a_pair_has_no_lower_end():
    loss = ZCDP(0.1, 1e-3).loss * 2
    assert loss.delta(50.0).lower == 0.0
    assert loss.epsilon(1e-4).lower == 0.0
    assert loss.delta(50.0).upper >= 1e-3


def test_a_guarantee_that_guarantees_nothing():
    assert (ApproxDP(1, 1).loss * 2).delta(1.0).upper == 1.0
    assert (ApproxDP(1, 1).loss * 2).epsilon(0.5).lower == math.inf
    sampled = privacy.subsample(ApproxDP(1, 1, relation=Relation.ADD_REMOVE).loss, rate=0.5) * 2
    assert sampled.delta(1.0).lower <= 0.75 <= sampled.delta(1.0).upper


@pytest.mark.parametrize(("epsilon", "count"), [(1e-3, 10**6), (1e-6, 10**12), (1e-9, 10**18)])
@pytest.mark.parametrize("alpha", [1.5, 2, 40])
def test_many_tiny_pure_guarantees_keep_their_divergence(epsilon, count, alpha):
    loss = privacy.PrivacyLoss.from_pairs([], guarantee=PureDP(epsilon)) * count
    s, level = ball(alpha) - 1, ball(epsilon)
    truth = ((((s + 1) * level).exp() + (-s * level).exp()) / (1 + level.exp())).log() * count / s
    assert truth <= ball(loss.renyi(alpha).upper)
    assert loss.renyi(alpha).upper <= float(truth) * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", [Fraction(1, 10), Fraction(7, 10), Fraction(1, 7)])
@pytest.mark.parametrize("delta", [Fraction(1, 10**5), Fraction(1, 300)])
def test_a_target_that_no_float_holds_is_met_exactly(epsilon, delta):
    found = privacy.calibrate(lambda sigma: privacy.laplace_loss(sigma) * 3, epsilon=epsilon, delta=delta)
    assert Fraction(found.loss.delta(epsilon).lower) <= delta
    scale = Fraction(found.parameter) if hasattr(found, "parameter") else Fraction(float(found))
    assert not laplace(1 / scale, 3)(epsilon) > ball(delta)


def test_engines_that_contradict_each_other_return_no_price(monkeypatch):
    loss = directed((LaplacePair(1), 3))
    monkeypatch.setattr(lattice, "enclose_delta", lambda *_, **__: Enclosure(0.9, 0.95, 1.0, "another engine"))
    monkeypatch.setattr(lattice, "enclose_epsilon", lambda *_, **__: Enclosure(2.9, 2.95, 3.0, "another engine"))
    with pytest.raises(AssumptionFailed, match="contradict"):
        loss.delta(1.0, 1e-300)
    with pytest.raises(AssumptionFailed, match="contradict"):
        loss.epsilon(0.1, 1e-300)


def test_many_kinds_of_small_releases_add_up_without_loss():
    kinds = [(PureApproxPair(Fraction(1, 1000 + index)), 1) for index in range(3000)]
    value, error = engine(*kinds).factors[0].log_moment(1.0)
    truth = flint.arb(0)
    for pair, _ in kinds:
        level = ball(pair.claimed_epsilon)
        truth += (((2 * level).exp() + (-level).exp()) / (1 + level.exp())).log()
    assert abs(ball(value) - truth) <= ball(error)
    assert error < 1e-9 * value


@pytest.mark.parametrize("count", [10**9, 10**14, 10**18])
def test_more_releases_than_phases_can_be_told_apart_are_bounded_all_the_same(count):
    mu = 1.0
    pair = PureApproxPair(mu / math.sqrt(count))
    curve = gaussian(1)
    for level in (0.0, 1.0, 3.0):
        found = engine((pair, count)).delta(level, None)
        # randomized response of tiny losses is Gaussian up to a relative epsilon
        assert found.lower <= float(curve(level)) * (1 + 1e-4)
        assert found.upper >= float(curve(level)) * (1 - 1e-4)


@pytest.mark.theorem("least_rho.privacy")
@pytest.mark.parametrize("parts", [[(PureApproxPair(0.7), 3)], [(finite(*THIRDS), 4)], [(LaplacePair(1), 2)]])
def test_one_rho_serves_every_order(parts):
    loss = directed(*parts)
    rho = least_rho(loss)
    for alpha in (1.0001, 1.01, 1.5, 2.0, 3.3, 10.0, 100.0, 1e4):
        assert loss.renyi(alpha).lower <= alpha * rho
    assert rho <= min(loss.max_loss() ** 2 / 2, loss.max_loss())


@pytest.mark.parametrize("side", list(Side))
@pytest.mark.parametrize(
    ("mu", "rate", "count"), [(2.0**-30, 0.5, 10**6), (64, 1e-3, 3), (30, 1e-6, 5), (1, 2.0**-60, 9)]
)
def test_very_noisy_and_very_loud_samples_are_answered(side, mu, rate, count):
    pair = PoissonPair(NormalPair(mu), rate, side)
    found = engine((pair, count)).delta(1.0, None)
    assert found.upper >= pair.delta(1.0).lower
    assert found.lower <= min(count * pair.delta(0.0).upper, 1.0)

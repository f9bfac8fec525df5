"""Factors: moments and characteristic functions of every family against sums and integrals in balls."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import flint
import numpy as np
import pytest

from discreet.errors import AssumptionFailed
from discreet.laws.finite import Finite, FinitePair
from discreet.laws.noise.discrete_gaussian import DiscreteGaussian
from discreet.laws.noise.discrete_laplace import DiscreteLaplace
from discreet.laws.noise.location_pair import LocationPair
from discreet.laws.pair import Pair
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, PureDP, RenyiDP
from discreet.privacy.accounting import floats
from discreet.privacy.accounting.contour.atoms import AtomsFactor, atoms_of
from discreet.privacy.accounting.contour.families import ClaimFactor, flattened, gathered
from discreet.privacy.accounting.contour.gaussian import WideGaussianFactor
from discreet.privacy.accounting.contour.moments import Factor, Unsuitable
from discreet.privacy.accounting.contour.sampled import SampledNormalFactor
from discreet.privacy.accounting.contour.symmetric import SymmetricFactor
from discreet.privacy.accounting.floats import UNIT
from discreet.privacy.pairs.bounded_range import BoundedRangePair
from discreet.privacy.pairs.derived import FixedSizePair, PoissonPair, Side
from discreet.privacy.pairs.laplace import LaplacePair
from discreet.privacy.pairs.worst_pairs import NormalPair, PureApproxPair
from tests.privacy.accounting.finite import Atoms, discrete_laplace
from tests.privacy.accounting.references import Ball, ball

Moment = Callable[[Ball], Ball]
RIGHT, LEFT = [1e-3, 0.4, 1.0, 6.0], [-0.93, -0.4, -1e-3]
TURNS = [0.0, 1e-3, 0.1, 0.7, 2.0, 5.0, 13.0]
REACH = 30


@dataclass(frozen=True, eq=False)
class Family:
    """Pairs with their counts, and the mean of e^(s loss) of each in balls."""

    parts: Sequence[tuple[Pair, int]]
    moments: Sequence[Moment]

    def factor(self) -> Factor:
        """Return the one factor that the pairs are gathered in."""
        (found,) = gathered(flattened(self.parts)) or []
        return found

    def log_moment(self, order: object) -> Ball:
        """Return the sum of counts * ln M at a real order."""
        total = flint.arb(0)
        for (_, count), moment in zip(self.parts, self.moments, strict=True):
            total += count * moment(flint.acb(ball(order))).real.log()
        return total

    def tilted(self, index: int, order: float, turn: float) -> Ball:
        """Return the characteristic function of one release, tilted."""
        return _moment(self, index, order, turn) / _moment(self, index, order, 0.0)

    def spread(self, index: int, order: float) -> Ball:
        """Return the variance of one tilted loss, by a second difference: right to about ten digits."""
        step = flint.arb(2) ** -20
        near = [self.moments[index](flint.acb(ball(order) + turn * step)).real.log() for turn in (-1, 0, 1)]
        return (near[0] - 2 * near[1] + near[2]) / step**2


@cache
def _moment(family: Family, index: int, order: float, turn: float) -> Ball:
    """Keep slow moments: several tests look at the same places."""
    return family.moments[index](flint.acb(ball(order), ball(turn)))


def exact(value: object) -> Ball:
    """Return a ball that may be raised to complex powers."""
    return flint.acb(ball(value))


def of_atoms(atoms: Atoms) -> Moment:
    """Return the mean of e^(s loss) under P over the outcomes that both laws can produce."""
    kept = [(flint.acb(p), (p / q).log()) for p, q in atoms if p > 0 and q > 0]
    return lambda s: sum((p * (s * loss).exp() for p, loss in kept), flint.acb(0))


def response(epsilon: object, leak: object = 0) -> Moment:
    """Randomized response, with some outcomes of one law only."""
    level, kept = ball(epsilon), 1 - ball(leak)
    likely = 1 / (1 + (-level).exp())
    return lambda s: kept * (likely * (s * level).exp() + (1 - likely) * (-s * level).exp())


def laplace(epsilon: object) -> Moment:
    """Laplace noise: two atoms and the density e^((l - e)/2)/4 between them, integrated."""
    level = ball(epsilon)

    def moment(s: Ball) -> Ball:
        between = _between(s + flint.acb(1) / 2, level) * (-level / 2).exp() / 4
        return ((s * level).exp() + (-(s + 1) * level).exp()) / 2 + between

    return moment


def bounded_range(epsilon: object) -> Moment:
    """The density e^(l/2) between -e and e, scaled to mass 1."""
    level = ball(epsilon)
    return lambda s: _between(s + flint.acb(1) / 2, level) / _between(flint.acb(1) / 2, level)


def _between(slope: Ball, level: Ball) -> Ball:
    """Integrate e^(slope l) over [-level, level]: 2 sinh(slope level)/slope, by its series where the slope is small."""
    if abs(slope * level) > 1:
        return ((slope * level).exp() - (-slope * level).exp()) / slope
    square, term, total = (slope * level) ** 2, 2 * flint.acb(level), flint.acb(0)
    for index in range(80):
        total += term
        term *= square / ((2 * index + 2) * (2 * index + 3))
    return total


def integer_gaussian(sigma: object, shift: int) -> Moment:
    """Integer Gaussian noise: the sum over the integers within 30 sigma of the tilted mode."""
    twice = 2 * ball(sigma) ** 2
    size = float(Fraction(sigma))  # type: ignore[arg-type]

    @cache
    def weight() -> Ball:
        return sum((-(flint.arb(x) ** 2) / twice).exp() for x in range(-int(REACH * size) - 3, int(REACH * size) + 4))

    def moment(s: Ball) -> Ball:
        center = float(shift * (1 + s.real))
        places = range(math.floor(center - REACH * size) - 2, math.ceil(center + REACH * size) + 3)
        terms = ((s * (2 * y * shift - shift**2) / twice - (flint.arb(y - shift) ** 2) / twice).exp() for y in places)
        return sum(terms, flint.acb(0)) / weight()

    return moment


def sampled_laplace(ratio: object, rate: object, *, removing: bool) -> Moment:
    """Laplace noise on a Poisson sample: two atoms and an integral under the law without the person."""
    reach, share = ball(ratio), ball(rate)

    def moment(s: Ball) -> Ball:
        power = s + 1 if removing else -s

        def w(b: Ball) -> Ball:
            return flint.acb(1 - share + share * b.exp())

        def integrand(b: Ball, analytic: bool) -> Ball:
            return ((1 - share + share * b.exp()).log(analytic=analytic) * power - b / 2).exp()

        with flint.ctx.workprec(160):
            accuracy = {"rel_tol": flint.arb(2) ** -100, "abs_tol": flint.arb(2) ** -110}
            between = flint.acb.integral(integrand, -flint.acb(reach), flint.acb(reach), **accuracy)
            ends = w(-reach) ** power / 2 + w(reach) ** power * (-reach).exp() / 2
            return ends + between * (-reach / 2).exp() / 4

    return moment


def sampled_normal(mu: object, rate: object, *, removing: bool) -> Moment:
    """Gaussian noise on a Poisson sample: the mean of w^(s + 1) or w^(-s) under the standard normal law."""
    slope, share = ball(mu), ball(rate)

    def moment(s: Ball) -> Ball:
        power = s + 1 if removing else -s

        def integrand(x: Ball, analytic: bool) -> Ball:
            w = 1 - share + share * (slope * x - slope**2 / 2).exp()
            return (w.log(analytic=analytic) * power - x * x / 2).exp()

        with flint.ctx.workprec(160):
            accuracy = {"rel_tol": flint.arb(2) ** -100, "abs_tol": flint.arb(2) ** -110}
            return flint.acb.integral(integrand, -REACH, REACH, **accuracy) / (2 * flint.arb.pi()).sqrt()

    return moment


def table(p: Sequence[Fraction], q: Sequence[Fraction]) -> tuple[Pair, Moment]:
    """A finite pair and its moments."""
    pair = Finite(range(len(p)), p).pair(Finite(range(len(q)), q))
    return pair, of_atoms([(ball(a), ball(b)) for a, b in zip(p, q, strict=True)])


def mixed(base: Atoms, rate: object, *, removing: bool) -> Moment:
    """Atoms on a Poisson sample."""
    share = ball(rate)
    if removing:
        return of_atoms([((1 - share) * q + share * p, q) for p, q in base])
    return of_atoms([(p, (1 - share) * p + share * q) for p, q in base])


def noise(scale: object, shift: int) -> LocationPair:
    """Integer Gaussian noise."""
    return LocationPair(DiscreteGaussian(scale), shift=shift)  # type: ignore[arg-type]


THIRDS = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)], [Fraction(1, 7), Fraction(3, 7), Fraction(3, 7)]
PARTED = (
    [Fraction(1, 9), Fraction(5, 9), Fraction(3, 9), Fraction(0)],
    [Fraction(0), Fraction(2, 9), Fraction(4, 9), Fraction(3, 9)],
)
NARROW_LAPLACE = LocationPair(DiscreteLaplace(3), shift=4)


def families() -> dict[str, Family]:
    """Return every family at ordinary and at extreme parameters."""
    leaky, far_apart = PureApproxPair(Fraction(1, 3), 1e-3), PureApproxPair(6)
    scales = [Fraction(1, 10 + index) for index in range(20)]
    guarantee = [
        (ball(leak), ball(other))
        for leak, other in zip(_stated_guarantee(2, 0.01), _stated_guarantee(2, 0.01)[::-1], strict=True)
    ]
    wide, many = 50, 10**6
    return {
        "response": Family([(leaky, 7)], [response(Fraction(1, 3), 1e-3)]),
        "response of small losses": Family([(PureApproxPair(1e-6), many)], [response(1e-6)]),
        "response of large losses": Family([(far_apart, 3)], [response(6)]),
        "Laplace": Family([(LaplacePair(2), 5)], [laplace(2)]),
        "Laplace of small losses": Family([(LaplacePair(1e-5), many)], [laplace(1e-5)]),
        "Laplace of many scales": Family([(LaplacePair(s), 2) for s in scales], [laplace(s) for s in scales]),
        "bounded range": Family([(BoundedRangePair(1.5), 4)], [bounded_range(1.5)]),
        "bounded range of small losses": Family([(BoundedRangePair(1e-3), many)], [bounded_range(1e-3)]),
        "integer Laplace": Family([(LocationPair(DiscreteLaplace(3), shift=1), 9)], [response(Fraction(1, 3))]),
        "integer Laplace of shift 4": Family([(NARROW_LAPLACE, 9)], [of_atoms(discrete_laplace(3, 4))]),
        "Gaussian": Family([(NormalPair(Fraction(1, 3)), 1)], [lambda s: (s * (s + 1) / 18).exp()]),
        "integer Gaussian, narrow": Family([(noise(Fraction(1, 2), 1), 3)], [integer_gaussian(Fraction(1, 2), 1)]),
        "integer Gaussian": Family([(noise(3, 2), 8)], [integer_gaussian(3, 2)]),
        "integer Gaussian of 39 steps": Family([(noise(39, 1), 80)], [integer_gaussian(39, 1)]),
        "integer Gaussian of 40 steps": Family([(noise(40, 5), 80)], [integer_gaussian(40, 5)]),
        "integer Gaussians of 41 and 50 steps": Family(
            [(noise(41, 1), 9), (noise(wide, 7), 8)], [integer_gaussian(41, 1), integer_gaussian(wide, 7)]
        ),
        "table": Family([(table(*THIRDS)[0], 6)], [table(*THIRDS)[1]]),
        "table of parted laws": Family([(table(*PARTED)[0], 6)], [table(*PARTED)[1]]),
        "sampled guarantee, removing": Family(
            [(PoissonPair(PureApproxPair(2, 0.01), 0.2, Side.REMOVE), 5)], [mixed(guarantee, 0.2, removing=True)]
        ),
        "sampled guarantee, adding": Family(
            [(PoissonPair(PureApproxPair(2, 0.01), 0.2, Side.ADD), 5)], [mixed(guarantee, 0.2, removing=False)]
        ),
        "sampled integer Laplace, adding": Family(
            [(PoissonPair(NARROW_LAPLACE, 0.7, Side.ADD), 5)], [mixed(discrete_laplace(3, 4), 0.7, removing=False)]
        ),
        **{
            f"sampled Gaussian {mu}, {rate}, {side.value}": Family(
                [(PoissonPair(NormalPair(mu), rate, side), 20)],
                [sampled_normal(mu, rate, removing=side is Side.REMOVE)],
            )
            for mu, rate in ((1, 0.01), (0.1, 0.5), (3, 0.3), (0.5, Fraction(999_999, 10**6)), (2, 1e-3))
            for side in Side
        },
        **{
            f"sampled Laplace {ratio}, {rate}, {side.value}": Family(
                [(PoissonPair(LaplacePair(ratio), rate, side), 20)],
                [sampled_laplace(ratio, rate, removing=side is Side.REMOVE)],
            )
            for ratio, rate in ((0.5, 0.01), (2, 0.3), (3, 1e-3), (0.1, Fraction(999, 1000)))
            for side in Side
        },
    }


def _stated_guarantee(epsilon: object, leak: object) -> list[Any]:
    """Return the masses of P of the worst pair of a guarantee, the outcome that only P can produce first."""
    with flint.ctx.workprec(300):
        likely, kept = 1 / (1 + (-ball(epsilon)).exp()), 1 - ball(leak)
        return [ball(leak), kept * likely, kept * (1 - likely), flint.arb(0)]


with flint.ctx.workprec(300):
    FAMILIES = families()
ALL = pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)


def turns(factor: Factor, order: float) -> np.ndarray:
    """Return places t from 0 to well beyond the inverse spread of a loss."""
    return np.array(TURNS) / math.sqrt(float(np.max(factor.variances(order))))


@ALL
@pytest.mark.parametrize("order", [*RIGHT, *LEFT])
def test_a_log_moment_is_within_its_stated_error(family, order):
    value, error = family.factor().log_moment(order)
    truth = family.log_moment(order)
    assert abs(ball(value) - truth) <= ball(error)
    assert error <= 1e-9 * (sum(count for _, count in family.parts) + abs(value))


@ALL
def test_several_log_moments_are_those_of_one_at_a_time(family):
    together = family.factor().log_moments(RIGHT)
    for order, (value, error) in zip(RIGHT, together, strict=True):
        alone, doubt = family.factor().log_moment(order)
        assert abs(value - alone) <= error + doubt


@ALL
@pytest.mark.parametrize("order", [0.4, 6.0, -0.93, -0.4])
def test_a_characteristic_function_is_within_its_stated_error(family, order):
    factor = family.factor()
    nodes = turns(factor, order)
    logs, errors, heights = factor.logs(order, nodes)
    for row in {0, len(logs) - 1}:
        for place, node in enumerate(nodes):
            truth = family.tilted(row, order, float(node))
            assert not truth.abs_lower().log() > ball(float(heights[row, place])), "higher than its ceiling"
            if math.isfinite(errors[row, place]):
                log = flint.acb(float(logs[row, place].real), float(logs[row, place].imag))
                gap = (truth / log.exp() - 1).abs_lower()
                assert not gap > (ball(float(errors[row, place]))).expm1()
    assert np.max(errors[:, :4]) < 1e-7, "an absurdly large error"


@ALL
def test_a_spectrum_adds_up_the_releases_with_their_counts(family):
    factor, order = family.factor(), 1.0
    nodes = turns(factor, order)[:4] / math.sqrt(float(np.sum(factor.counts)))
    spectrum = factor.spectrum(order, nodes)
    for place, node in enumerate(nodes):
        truth = flint.acb(0)
        for row, (_, count) in enumerate(family.parts):
            truth += count * family.tilted(row, order, float(node)).log()
        assert abs(ball(float(spectrum.log.real[place])) - truth.real) <= ball(float(spectrum.error[place]))
        assert not truth.real > ball(float(spectrum.ceiling[place]))
        turned = (flint.acb(0, ball(float(spectrum.log.imag[place])) - truth.imag).exp() - 1).abs_lower()
        assert turned <= ball(float(spectrum.error[place]))


@ALL
@pytest.mark.parametrize("order", [0.4, 6.0, -0.4])
def test_variances_are_bounded_from_above(family, order):
    bounds = family.factor().variances(order)
    for row, bound in enumerate(bounds):
        truth = family.spread(row, order)
        assert truth * (1 - 1e-9) <= ball(float(bound))
    assert float(bounds[-1]) <= 1e5 * float(truth.mid()) or order == 6.0


@ALL
def test_slopes_are_near_the_mean_and_the_variance(family):
    mean, variance = family.factor().slopes(1.0)
    spread = sum(count * float(family.spread(row, 1.0)) for row, (_, count) in enumerate(family.parts))
    step = flint.arb(2) ** -40
    slope = float((family.log_moment(1 + 2.0**-40) - family.log_moment(1 - 2.0**-40)) / (2 * step))
    assert mean == pytest.approx(slope, rel=1e-2, abs=1e-2 * math.sqrt(spread))
    assert variance == pytest.approx(spread, rel=1e-2)


@ALL
@pytest.mark.parametrize("order", [3.0, -0.4])
def test_one_bound_serves_for_all_later_t(family, order):
    factor = family.factor()
    later = turns(factor, order)[2:]
    logs = [_size(family, order, float(node)).log() for node in later]
    for index, start in enumerate(later):
        bound = ball(factor.far(order, float(start)))
        assert not any(log > bound for log in logs[index:])


@ALL
@pytest.mark.parametrize("order", [3.0, -0.4])
def test_ceilings_hold_all_over_their_intervals(family, order):
    factor = family.factor()
    edges = turns(factor, order)[1:]
    bounds = factor.ceilings(order, edges[:-1], edges[1:])
    for low, high, bound in zip(edges[:-1], edges[1:], bounds, strict=True):
        for share in (0.3, 1.0):
            node = float(high if share == 1.0 else low + share * (high - low))
            assert not _size(family, order, node).log() > ball(float(bound))
    short = factor.ceilings(-0.4, edges[1:2], edges[1:2] * 1.001)
    assert short[0] < 0, "a short interval away from 0 has a bound that says something"


def _size(family: Family, order: float, node: float) -> Ball:
    """Return a number at most |Phi| of the whole group."""
    total = flint.arb(1)
    for row, (_, count) in enumerate(family.parts):
        total *= family.tilted(row, order, node).abs_lower() ** count
    return total


def test_wide_integer_noise_is_taken_for_continuous_noise_only_as_far_as_it_may():
    factor = WideGaussianFactor.of([noise(40, 1)], [1])
    beyond = float(factor.valid[0]) * 1.01
    values, errors = factor.values(0.5, np.array([beyond]))
    assert (values[0, 0], errors[0, 0]) == (0.0, 1.0)
    assert factor.ceilings(0.5, np.array([beyond / 2]), np.array([beyond]))[0] == 0.0
    period = 2 * math.pi * 40**2
    truth = integer_gaussian(40, 1)
    assert truth(flint.acb(0.5, period)).abs_lower() / truth(flint.acb(0.5)).real > 0.999


@pytest.mark.parametrize(("scale", "shift"), [(39, 1), (Fraction(399, 10), 30)])
def test_below_forty_steps_integer_noise_is_a_list_of_atoms(scale, shift):
    assert not WideGaussianFactor.accepts(noise(scale, shift))
    assert WideGaussianFactor.accepts(noise(40, shift))
    assert isinstance(gathered([(noise(scale, shift), 2)])[0], AtomsFactor)


def test_a_lattice_of_losses_is_recognized():
    thirds = AtomsFactor(atoms_of(table([Fraction(4, 7), Fraction(2, 7), Fraction(1, 7)], [Fraction(1, 3)] * 3)[0]), 3)
    assert thirds.lattice is not None
    assert AtomsFactor(atoms_of(table(*THIRDS)[0]), 3).lattice is None
    assert SymmetricFactor.of([LaplacePair(1)], [3]).lattice is None
    offset, step, off = SymmetricFactor.of([NARROW_LAPLACE], [3]).lattice
    assert (offset, step) == (pytest.approx(-4 / 3), pytest.approx(2 / 3))
    assert 0 < off < 1e-14


def test_work_counts_the_atoms():
    pair = Finite(range(300), [Fraction(1, 300)] * 300).pair(
        Finite(range(300), [Fraction(2 * index + 1, 300**2) for index in range(300)])
    )
    assert AtomsFactor(atoms_of(pair), 2).work == 300
    assert SymmetricFactor.of([LaplacePair(1), LaplacePair(2)], [3, 3]).work == 2


def test_masses_known_loosely_widen_the_error():
    exactly = AtomsFactor(atoms_of(table([Fraction(9, 10), Fraction(1, 10)], [Fraction(1, 10), Fraction(9, 10)])[0]), 1)
    loosely = AtomsFactor(atoms_of(_loose([0.89, 0.09], [0.91, 0.11], [0.05, 0.85], [0.15, 0.95])), 1)
    assert loosely.log_moment(1.0)[1] > 0.05
    assert exactly.log_moment(1.0)[1] < 1e-9


def _loose(*ends: list[float]) -> FinitePair:
    """Return a finite pair whose masses are known between two ends."""
    return FinitePair(range(len(ends[0])), *(np.array(end) for end in ends))


@pytest.mark.parametrize("order", [0.3, 1.0, 2.0, -0.5])
@pytest.mark.parametrize("p", [Fraction(89, 100), Fraction(91, 100)])
@pytest.mark.parametrize("q", [Fraction(9, 100), Fraction(11, 100)])
def test_a_moment_of_loosely_known_laws_covers_every_law_in_between(order, p, q):
    factor = AtomsFactor(atoms_of(_loose([0.89, 0.09], [0.91, 0.11], [0.09, 0.89], [0.11, 0.91])), 1)
    value, error = factor.log_moment(order)
    truth = table([p, 1 - p], [q, 1 - q])[1](flint.acb(ball(order))).real.log()
    assert math.isfinite(error)
    assert abs(ball(value) - truth) <= ball(error)


@pytest.mark.parametrize(("order", "known"), [(-0.6, True), (0.3, True), (40.0, False)])
def test_a_rare_outcome_of_a_loosely_known_loss_counts_at_either_sign_of_the_order(order, known):
    loose = _loose([0.7, 0.29999, 1e-9], [0.7, 0.3, 1e-5], [0.3, 0.69999, 1e-12], [0.3, 0.7, 1e-5])
    value, error = AtomsFactor(atoms_of(loose), 1).log_moment(order)
    assert math.isfinite(error) == known
    for p, q in ((1e-9, 1e-5), (1e-5, 1e-12), (1e-5, 1e-9)) if known else ():
        atoms = [(ball(0.7), ball(0.3)), (ball(0.3) - ball(p), ball(0.7) - ball(q)), (ball(p), ball(q))]
        truth = of_atoms(atoms)(flint.acb(ball(order))).real.log()
        assert abs(ball(value) - truth) <= ball(error)


def test_an_outcome_known_only_from_above_may_be_infinitely_bad():
    factor = AtomsFactor(
        atoms_of(_loose([0.94, 0.01, 0.0], [0.94, 0.01, 0.05], [0.01, 0.59, 0.0], [0.01, 0.59, 0.4])), 1
    )
    low, high = factor.log_finite
    assert low <= math.log(0.95) <= high == 0.0


@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 1.0, 40.0, 400.0])
@pytest.mark.parametrize("order", [0.5, 1.0, 9.0, 39.0])
def test_a_pure_guarantee_bounds_moments_without_cancellation(epsilon, order):
    count = 10**18
    value, error = ClaimFactor(PureDP(epsilon), count).log_moment(order)
    truth = count * response(epsilon)(flint.acb(ball(order))).real.log()
    assert truth <= ball(value + error)
    assert ball(value + error) <= truth * (1 + 1e-9)


@pytest.mark.parametrize("guarantee", [ApproxDP(1, 0.1), ZCDP(0.3), ZCDP(0.3, 0.01), GaussianDP(0.7), RenyiDP(3, 0.5)])
def test_a_guarantee_bounds_moments_and_says_nothing_beside_the_axis(guarantee):
    factor = ClaimFactor(guarantee, 2)
    value, error = factor.log_moment(1.5)
    assert 0 < error < 1e-9 < value
    assert factor.log_moment(-0.5) == (math.inf, math.inf)
    assert (factor.log_moment(2.5)[0] == math.inf) == isinstance(guarantee, RenyiDP)
    with pytest.raises(Unsuitable):
        factor.values(1.0, np.zeros(1))
    with pytest.raises(Unsuitable):
        factor.variances(1.0)


@pytest.mark.parametrize("rate", [1 - Fraction(3, 2**55), 1 - Fraction(1, 10**14), 1 - Fraction(1, 10**12)])
@pytest.mark.parametrize("order", [2.0, 30.0])
def test_what_a_sampling_rate_lacks_to_one_keeps_its_digits(rate, order):
    factor = SampledNormalFactor.of(PoissonPair(NormalPair(8), rate, Side.ADD), 1)
    value, error = factor.log_moment(order)
    slope, share = ball(8), ball(rate)

    def integrand(x: Ball, _: bool) -> Ball:
        w = 1 - share + share * (slope * x - slope**2 / 2).exp()
        return (w.log() * ball(-order) - x * x / 2).exp()

    peak = ball(value).exp()
    truth = flint.acb.integral(
        integrand, -8 * order - 30, 30, rel_tol=flint.arb(2) ** -80, abs_tol=peak * flint.arb(2) ** -80
    )
    truth = (truth.real / (2 * flint.arb.pi()).sqrt()).log()
    assert abs(ball(value) - truth) <= ball(error)
    assert error < 1e-6


def test_a_rate_that_no_float_tells_from_one_is_left_to_others():
    assert not SampledNormalFactor.accepts(PoissonPair(NormalPair(8), 1 - Fraction(1, 10**20), Side.ADD))


def test_far_out_sampled_noise_takes_no_more_points_than_near_by():
    factor = SampledNormalFactor.of(PoissonPair(NormalPair(30), 1e-6, Side.ADD), 5)
    near, far = (factor.values(3.0, np.array([turn])) for turn in (1.0, 1e6))
    assert abs(near[0][0, 0]) <= 1 + near[1][0, 0]
    assert abs(far[0][0, 0]) <= 1 + far[1][0, 0]
    assert far[1][0, 0] < 1e-6
    assert sum(len(line.log_w) for line in factor._lines.values()) < 1 << 14


def test_this_machine_keeps_the_assumption():
    assert floats.worst_ulps() <= floats.ASSUMED_ULPS
    assert pytest.approx(64 * 2.0**-52) == UNIT


@pytest.mark.parametrize("name", ["exp", "expm1", "log", "log1p", "sin", "cos", "sqrt", "hypot", "arctan2", "abs"])
def test_a_worse_function_is_noticed(monkeypatch, name):
    right = getattr(np, name)
    monkeypatch.setattr(np, name, lambda *given: right(*given) * (1 + 6 * 2.0**-52))
    monkeypatch.setattr(floats, "_tested", False)
    with pytest.raises(AssumptionFailed, match="units in the last place"):
        floats.ensure_tested()


@pytest.mark.parametrize("name", ["exp", "log"])
def test_a_worse_function_of_complex_numbers_is_noticed(monkeypatch, name):
    right = getattr(np, name)

    def worse(given: np.ndarray) -> np.ndarray:
        return right(given) * (1 + 6 * 2.0**-52) if np.iscomplexobj(given) else right(given)

    monkeypatch.setattr(np, name, worse)
    assert floats.worst_ulps() > floats.ASSUMED_ULPS


@pytest.mark.parametrize("name", ["exp", "expm1", "log", "log1p", "tanh"])
def test_a_worse_function_of_single_numbers_is_noticed(monkeypatch, name):
    right = getattr(math, name)
    monkeypatch.setattr(math, name, lambda given: right(given) * (1 + 6 * 2.0**-52))
    assert floats.worst_ulps() > floats.ASSUMED_ULPS


def test_a_function_that_is_worse_only_at_the_tail_of_an_array_is_noticed(monkeypatch):
    right = np.log

    def worse(given: np.ndarray) -> np.ndarray:
        found = np.array(right(given))
        if found.shape == (13,):
            found[-1] *= 1 + 6 * 2.0**-52
        return found

    monkeypatch.setattr(np, "log", worse)
    assert floats.worst_ulps() > floats.ASSUMED_ULPS


def test_a_function_that_returns_no_number_is_noticed(monkeypatch):
    monkeypatch.setattr(np, "expm1", lambda given: np.full(np.shape(given), math.nan))
    monkeypatch.setattr(floats, "_tested", False)
    with pytest.raises(AssumptionFailed):
        floats.ensure_tested()


def test_the_assumption_is_tested_once(monkeypatch):
    asked = []
    monkeypatch.setattr(floats, "worst_ulps", lambda: asked.append(1) or 1.0)
    monkeypatch.setattr(floats, "_tested", False)
    floats.ensure_tested()
    floats.ensure_tested()
    assert asked == [1]


def test_a_fixed_size_sample_mirrors_its_positive_part():
    atoms = atoms_of(
        FixedSizePair(table([Fraction(9, 10), Fraction(1, 10)], [Fraction(3, 10), Fraction(7, 10)])[0], 0.25)
    )
    above = atoms.low > 0
    assert np.array_equal(np.sort(-atoms.high[atoms.high < 0]), np.sort(atoms.low[above]))
    assert math.fsum(atoms.p_low) <= 1 <= math.fsum(atoms.p_high)
    assert math.fsum(atoms.q_low) <= 1 <= math.fsum(atoms.q_high)

"""What discrete Laplace and discrete Gaussian noise share: one law from every side, its quantiles decided exactly."""

from __future__ import annotations

import copy
import math
import pickle
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise

import flint
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.laws import DiscreteGaussian, DiscreteLaplace, RoundedGaussian
from discreet.randomness.rigor import precision
from tests.laws.agreement import DIGITS, arb, close, gaussian_mass, laplace_mass, rounded_mass
from tests.randomness.sources import within

KINDS = {DiscreteLaplace: laplace_mass, DiscreteGaussian: gaussian_mass, RoundedGaussian: rounded_mass}
kinds = pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
SCALES = [Fraction(1, 1000), Fraction(1, 10), Fraction(1, 3), Fraction(1), Fraction(3.7), Fraction(10), Fraction(33)]
scales = pytest.mark.parametrize("scale", SCALES, ids=str)


def reach(scale: Fraction) -> int:
    """Return where all but 1e-25 of either law ends."""
    return math.ceil(60 * scale) + 2


@kinds
@scales
def test_masses_tails_and_cumulative_probabilities_are_those_of_the_definition(kind, scale):
    mass = KINDS[kind]
    law = kind(scale, center=7)
    with flint.ctx.workprec(DIGITS):
        far = reach(scale)
        tail = arb(0)
        tails = {}
        for place in range(far + 60 * int(scale + 1), -1, -1):
            tail += mass(scale, place)
            tails[place] = tail
        for place in {0, 1, 2, 5, int(scale), int(5 * scale), far // 3}:
            assert close(law.pmf(7 + place), mass(scale, place), 2e-13)
            assert close(law.pmf(7 - place), mass(scale, place), 2e-13)
            if place >= 1 and float(tails[place]) > 1e-12:
                assert close(law.sf(6 + place), tails[place], 2e-13)
                assert close(law.cdf(7 - place), tails[place], 2e-13)
            if place >= 1:
                assert law.cdf(6 + place) == pytest.approx(1 - float(tails[place]), abs=2e-15)


@kinds
@scales
def test_masses_add_up_to_one(kind, scale):
    places = np.arange(-reach(scale), reach(scale) + 1)
    assert math.fsum(kind(scale).pmf(places)) == pytest.approx(1.0, abs=1e-13)


@kinds
@given(scale=st.fractions(Fraction(1, 20), 40), place=st.integers(-200, 200), center=st.integers(-(2**80), 2**80))
def test_cumulative_probabilities_differ_by_masses(kind, scale, place, center):
    law = kind(scale, center=center)
    here = center + place
    assert law.cdf(here) - law.cdf(here - 1) == pytest.approx(law.pmf(here), abs=1e-15)
    assert law.sf(here - 1) - law.sf(here) == pytest.approx(law.pmf(here), abs=1e-15)
    assert law.cdf(here) + law.sf(here) == pytest.approx(1.0, abs=1e-15)
    assert law.cdf(here) == pytest.approx(law.sf(2 * center - here - 1), rel=1e-12)  # symmetry


@kinds
@given(scale=st.fractions(Fraction(1, 20), 40), place=st.integers(-60, 60))
def test_balls_enclose_the_same_masses_and_tails(kind, scale, place):
    law = kind(scale)
    with precision(200):
        step = law.tail_ball(place) - law.tail_ball(place + 1)
        assert step.overlaps(law.mass_ball(place))
        assert (law.tail_ball(place) + law.tail_ball(1 - place)).overlaps(arb(1))
    low, high = law.enclosed_tail(place)
    with precision(200):
        assert arb(low) <= law.tail_ball(place) <= arb(high)
    assert high - low <= 4 * math.ulp(high)


@kinds
@pytest.mark.parametrize("exponent", [-600, -100, 40, 70, 100, 600])
def test_every_scale_a_law_accepts_can_be_looked_up(kind, exponent):
    scale = Fraction(2) ** exponent
    law = kind(scale)
    with within(30):
        assert 0.0 < law.pmf(0) <= 1.0
        assert law.cdf(0) == pytest.approx(0.5 + float(law.pmf(0)) / 2, rel=1e-12)
        assert law.sf(round(3 * scale)) == pytest.approx(law.cdf(-round(3 * scale) - 1), rel=1e-12)
        assert law.quantile(Fraction(1, 2)) == 0
        assert law.half_width(Fraction(19, 20)) == -law.quantile(Fraction(1, 40))
        assert law.variance >= 0.0


@kinds
def test_outcomes_of_any_size_have_a_probability(kind):
    law = kind(2**70)
    assert law.pmf(10**21) == law.pmf([10**21])[0] == law.pmf(np.array([10**21], dtype=object))[0] > 0
    assert law.cdf(10**400) == 1.0
    assert law.sf(-(10**400)) == 1.0
    assert law.sf(10**400) == law.pmf(10**400) == law.cdf(-(10**400)) == 0.0


@kinds
@scales
def test_the_logarithm_of_a_mass_does_not_underflow(kind, scale):
    law = kind(scale, center=7)
    for place in {0, 1, 2, int(scale), int(5 * scale), int(40 * scale), int(1000 * scale) + 1, 10**6}:
        with precision(2000):
            truth = _log_mass(kind, scale, place)
            assert truth.contains(arb(law.log_pmf(7 + place))) or close(law.log_pmf(7 + place), truth)
        assert law.log_pmf(7 + place) == law.log_pmf(7 - place)
        assert float(np.exp(law.log_pmf(7 + place))) == pytest.approx(law.pmf(7 + place), rel=2e-13)


def _log_mass(kind, scale: Fraction, place: int) -> flint.arb:
    """Return the logarithm of a mass that may be far below any ball, from closed forms."""
    if kind is RoundedGaussian:
        return kind(scale).log_mass_ball(place)
    square = kind is DiscreteGaussian
    exponent = Fraction(place * place) / (2 * scale * scale) if square else Fraction(place) / scale
    return KINDS[kind](scale, 0).log() - arb(exponent)


@kinds
@pytest.mark.parametrize("exponent", [-600, -100, 40, 70, 100, 600])
def test_the_logarithm_of_a_mass_is_a_number_at_every_scale(kind, exponent):
    law = kind(Fraction(2) ** exponent)
    places = np.array([0, 1, 2**62, 10**30, 10**400], dtype=object)
    found = law.log_pmf(places)
    assert found.shape == (5,)
    assert all(later <= earlier <= 0.0 for earlier, later in pairwise(found))
    assert np.allclose(np.exp(found), law.pmf(places), rtol=1e-12, atol=0.0)
    assert law.log_pmf(10**400) == found[-1]
    if exponent < 0:
        assert found[-1] == -math.inf


@kinds
def test_arrays_keep_their_shape(kind):
    law = kind(3)
    for shape in ((), (0,), (4,), (2, 3)):
        places = np.zeros(shape, dtype=np.int64)
        assert all(np.shape(ask(places)) == shape for ask in (law.pmf, law.log_pmf, law.cdf, law.sf))


@kinds
@given(scale=st.fractions(Fraction(1, 20), 30), probability=st.fractions(Fraction(1, 10**6), 1 - Fraction(1, 10**6)))
def test_a_quantile_is_the_least_integer_that_reaches_the_probability(kind, scale, probability):
    law = kind(scale, center=-3)
    place = law.quantile(probability)
    with flint.ctx.workprec(300):
        assert 1 - law.tail_ball(place + 3 + 1) >= arb(probability)
        assert 1 - law.tail_ball(place + 3) < arb(probability)


@kinds
@pytest.mark.parametrize("probability", [1e-300, Fraction(1, 10**400), 1e-10, 0.5, 1 - 1e-10, 1 - Fraction(1, 10**400)])
def test_quantiles_far_out_are_exact_and_symmetric(kind, probability):
    law = kind(10)
    place = law.quantile(probability)
    with flint.ctx.workprec(4000):
        assert 1 - law.tail_ball(place + 1) >= arb(probability)
        assert 1 - law.tail_ball(place) < arb(probability)
    assert law.quantile(1 - Fraction(probability)) == -place


@kinds
@pytest.mark.parametrize("count", [1, 2, 3, 10, 1000])
@pytest.mark.parametrize("confidence", [Fraction(1, 10), Fraction(1, 2), 0.9, 0.95, 0.999])
@scales
def test_a_half_width_is_the_least_that_holds_for_all_draws_at_once(kind, scale, confidence, count):
    law = kind(scale)
    with within(30):
        width = law.half_width(confidence, count)
    with flint.ctx.workprec(DIGITS):
        inside = [KINDS[kind](scale, 0)]
        for place in range(1, width + 1):
            inside.append(inside[-1] + 2 * KINDS[kind](scale, place))
        assert inside[width] ** count >= arb(confidence)
        assert width == 0 or inside[width - 1] ** count < arb(confidence)


@kinds
@given(
    scale=st.fractions(Fraction(1, 50), 50),
    count=st.integers(1, 40),
    confidence=st.fractions(Fraction(1, 100), Fraction(99, 100)),
)
def test_half_widths_grow_with_the_number_of_answers_and_with_confidence(kind, scale, count, confidence):
    law = kind(scale)
    with within(30):
        width = law.half_width(confidence, count)
        assert width <= law.half_width(confidence, count + 1)
        assert width <= law.half_width((1 + confidence) / 2, count)


def test_the_half_width_on_integers_is_not_that_of_the_continuous_law():
    law = DiscreteLaplace(1)  # epsilon 1, one answer, beta 0.05
    assert law.half_width(0.95) == 3
    continuous = math.log(1 / 0.05)
    assert 2 < continuous < 3
    assert 2 * law.sf(math.floor(continuous)) == pytest.approx(0.0728, abs=5e-5)  # more than beta


@kinds
def test_moving_the_center_moves_everything(kind):
    law, moved = kind(5), kind(5).at(100)
    assert moved.center == 100
    assert moved.pmf(103) == law.pmf(3)
    assert moved.quantile(0.3) == law.quantile(0.3) + 100
    assert moved == kind(5, center=100)
    assert law.half_width(0.9) == moved.half_width(0.9)


@kinds
def test_equal_parameters_mean_equal_laws(kind):
    assert kind(0.5, center=2) == kind(Fraction(1, 2), center=2.0)
    assert hash(kind(0.5, center=2)) == hash(kind(Fraction(1, 2), center=2))
    assert kind(1) != kind(1, center=1)
    assert kind(1) != kind(2)
    assert DiscreteLaplace(1) != DiscreteGaussian(1)


@kinds
@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda law: pickle.loads(pickle.dumps(law))])  # noqa: S301
def test_copies_are_equal_laws(kind, duplicate):
    law = kind(Fraction(10, 3), center=-(10**30))
    assert duplicate(law) == law


@kinds
def test_the_center_is_never_shown(kind):
    shown = repr(kind(2, center=987654))
    assert "987654" not in shown
    assert repr(kind(2, center=0)) == shown
    assert "2" in shown


@kinds
@pytest.mark.parametrize("center", [2**61, -(2**62), 2**63, 10**30])
def test_centers_beyond_int64_are_exact(kind, center):
    law = kind(2, center=center)
    drawn = law.sample(50)
    assert all(type(value) is int for value in drawn)
    assert all(abs(value - center) < 500 for value in drawn)
    assert abs(law.sample() - center) < 500


@kinds
def test_the_support_is_all_integers(kind):
    assert kind(1).support == (None, None)


BAD_NUMBERS = [
    None, "1", "", b"1", True, False, np.bool_(True), 1j, Decimal(1), [1], np.array([1]), np.longdouble(1),
    math.nan, math.inf, -math.inf, np.float32("nan"),
]  # fmt: skip


@kinds
@pytest.mark.parametrize("scale", [*BAD_NUMBERS, 0, 0.0, -0.0, -1, -0.5, 5e-324, 2.0**700, 2**700, 1e-200], ids=repr)
def test_a_scale_that_cannot_be_used_is_refused(kind, scale):
    with pytest.raises(ParameterError) as refusal:
        kind(scale)
    assert refusal.value.parameter == "scale"


@kinds
@pytest.mark.parametrize(
    "scale", [Fraction(10**400), Fraction(1, 10**400), Fraction(-(10**400), 3), 10**5000, -(10**5000)], ids=range(5)
)
def test_a_huge_or_tiny_fraction_is_no_scale(kind, scale):
    with pytest.raises(ParameterError) as refusal:
        kind(scale)
    assert refusal.value.parameter == "scale"


@kinds
@pytest.mark.parametrize("center", [*BAD_NUMBERS, 0.5, Fraction(1, 3), 5e-324], ids=repr)
def test_a_center_that_is_no_integer_is_refused(kind, center):
    with pytest.raises(ParameterError) as refusal:
        kind(1, center=center)
    assert refusal.value.parameter == "center"


@kinds
@pytest.mark.parametrize("count", [0, -1, True, 1.0, math.nan, None, "1", [1]], ids=repr)
def test_a_number_of_answers_that_is_none_is_refused(kind, count):
    with pytest.raises(ParameterError) as refusal:
        kind(1).half_width(0.9, count)
    assert refusal.value.parameter == "count"


@kinds
@pytest.mark.parametrize("confidence", [0, 1, -0.5, 2, math.nan, math.inf, None, "0.9", True], ids=repr)
def test_a_confidence_that_is_none_is_refused(kind, confidence):
    with pytest.raises(ParameterError):
        kind(1).half_width(confidence)


@kinds
def test_only_the_same_noise_has_a_closed_pair(kind):
    other = DiscreteGaussian if kind is DiscreteLaplace else DiscreteLaplace
    for law in (other(1), kind(2), "law", None):
        with pytest.raises(ParameterError, match="same"):
            kind(1).pair(law)

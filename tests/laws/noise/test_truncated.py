"""Noise cut to a range: conditioned on it, or clamped to its ends; accurate wherever the range lies."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import ParameterError
from discreet.laws import DiscreteGaussian, DiscreteLaplace, Outside, RoundedGaussian, Truncated
from tests.laws.agreement import DIGITS, arb, assert_fits, close, encloses, gaussian_mass, laplace_mass, rounded_mass
from tests.randomness.sources import within

MASSES = {DiscreteLaplace: laplace_mass, DiscreteGaussian: gaussian_mass, RoundedGaussian: rounded_mass}
kinds = pytest.mark.parametrize("kind", MASSES, ids=lambda kind: kind.__name__)
both = pytest.mark.parametrize("outside", Outside, ids=lambda outside: outside.name)
RANGES = [(-3, 4), (0, 0), (2, 9), (-9, -2), (-1, 0), (-40, 40)]


def true_masses(kind, scale: Fraction, low: int, high: int, outside: Outside) -> list[flint.arb]:
    """Cut the law by its definition, adding up all masses that matter."""
    with flint.ctx.workprec(DIGITS):
        far = math.ceil(150 * scale) + max(abs(low), abs(high)) + 60
        masses = {x: MASSES[kind](scale, x) for x in range(-far, far + 1)}
        inside = [masses[x] for x in range(low, high + 1)]
        if outside is Outside.CONDITIONED:
            total = sum(inside, arb(0))
            return [mass / total for mass in inside]
        if low == high:
            return [arb(1)]
        inside[0] += sum((masses[x] for x in range(-far, low)), arb(0))
        inside[-1] += sum((masses[x] for x in range(high + 1, far + 1)), arb(0))
        return inside


@kinds
@both
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(2)], ids=str)
@pytest.mark.parametrize("ends", RANGES, ids=str)
def test_masses_are_those_of_the_definition(kind, outside, scale, ends):
    low, high = ends
    law = Truncated(kind(scale), low, high, outside=outside)
    found = law.pmf(np.arange(low, high + 1))
    with flint.ctx.workprec(DIGITS):
        for value, truth in zip(found, true_masses(kind, scale, low, high, outside), strict=True):
            assert close(value, truth, 1e-12)
    assert math.fsum(found) == pytest.approx(1.0, abs=1e-13)
    assert law.pmf(low - 1) == law.pmf(high + 1) == 0.0
    assert law.support == ends


@kinds
@both
@settings(max_examples=15)
@given(
    scale=st.fractions(Fraction(1, 4), 8),
    low=st.integers(-30, 30),
    length=st.integers(0, 30),
    center=st.integers(-5, 5),
)
def test_cumulative_probabilities_and_quantiles_fit_the_masses(kind, outside, scale, low, length, center):
    law = Truncated(kind(scale, center=center), low, low + length, outside=outside)
    places = np.arange(low - 1, low + length + 2)
    masses, below, above = law.pmf(places), law.cdf(places), law.sf(places)
    assert np.allclose(np.cumsum(masses), below, atol=1e-13)
    assert np.allclose(below + above, 1.0, atol=1e-13)
    assert (below[0], below[-1], above[0], above[-1]) == (0.0, 1.0, 1.0, 0.0)
    for probability in (0.01, 0.3, 0.5, 0.99):
        place = law.quantile(probability)
        assert law.cdf(place) >= probability - 1e-13
        assert place == low or law.cdf(place - 1) <= probability + 1e-13


@kinds
@pytest.mark.parametrize("distance", [50, 290, 2000])
def test_a_range_far_out_is_as_accurate_on_the_left_as_on_the_right(kind, distance):
    right = Truncated(kind(2), distance, distance + 8, outside=Outside.CONDITIONED)
    left = Truncated(kind(2), -distance - 8, -distance, outside=Outside.CONDITIONED)
    places = np.arange(distance, distance + 9)
    with within(30):
        assert np.allclose(right.pmf(places), left.pmf(-places), rtol=1e-12)
        assert right.pmf(places).sum() == pytest.approx(1.0)
        for probability in (0.1, 0.55, 0.9, 0.99):
            mirrored = right.quantile(Fraction(probability))
            assert left.quantile(1 - Fraction(probability)) == -mirrored
        assert set(left.sample(5).tolist()) <= set((-places).tolist())
    if kind is DiscreteLaplace:
        expected = math.exp(-0.5) ** np.arange(9)
        assert np.allclose(right.pmf(places), expected / expected.sum())


@kinds
def test_tails_are_accurate_where_they_are_tiny(kind):
    noise = kind(1)
    law = Truncated(noise, -200, 200, outside=Outside.CLAMPED)
    for place in (10, 20, 30):
        assert law.sf(place) == pytest.approx(float(noise.sf(place)), rel=1e-12)
        assert law.cdf(-place) == pytest.approx(float(noise.cdf(-place)), rel=1e-12)
    assert Truncated(DiscreteLaplace(1), -200, 200, outside=Outside.CLAMPED).sf(190) == pytest.approx(
        float(DiscreteLaplace(1).sf(190)), rel=1e-12
    )


@kinds
@both
@pytest.mark.parametrize("ends", [(-3, 4), (2, 30), (-25, 0), (-100, 100), (0, 0)], ids=str)
def test_draws_have_the_law(kind, outside, ends, rounds):
    law = Truncated(kind(4, center=1), *ends, outside=outside)
    drawn = law.sample(rounds(sample=8_000, full=1_000_000))
    assert drawn.min() >= ends[0]
    assert drawn.max() <= ends[1]
    if ends[0] < ends[1]:
        assert_fits(law, drawn, comparisons=20)


@kinds
@pytest.mark.parametrize("ends", [(15, 25), (-30, -14), (40, 44)], ids=str)
def test_draws_from_an_unlikely_range_have_the_law(kind, ends, rounds):
    law = Truncated(kind(4), *ends, outside=Outside.CONDITIONED)
    drawn = law.sample(rounds(sample=300, full=20_000))
    assert_fits(law, drawn, comparisons=6)


def test_the_walk_finds_the_outcome_whose_interval_holds_the_cell():
    law = Truncated(DiscreteLaplace(2), 3, 9, outside=Outside.CONDITIONED)
    with flint.ctx.workprec(400):
        masses = true_masses(DiscreteLaplace, Fraction(2), 3, 9, Outside.CONDITIONED)
        end = arb(0)
        for place, mass in zip(range(3, 9), masses, strict=False):
            end += mass
            cell = int((end * flint.arb(2) ** 64).floor().unique_fmpz())
            unit = Fraction(1, 2**64)
            assert law._walk(arb(cell * unit), arb((cell + 1) * unit)) is None
            assert law._walk(arb((cell - 1) * unit), arb(cell * unit)) == place
            assert law._walk(arb((cell + 1) * unit), arb((cell + 2) * unit)) == place + 1


@kinds
@pytest.mark.parametrize("shift", [1, 3])
def test_clamping_is_post_processing_and_costs_no_privacy(kind, shift):
    whole = kind(2, center=shift).pair(kind(2))
    cut = Truncated(kind(2, center=shift), -2, 5, outside=Outside.CLAMPED).pair(
        Truncated(kind(2), -2, 5, outside=Outside.CLAMPED)
    )
    for epsilon in (-0.5, 0, 0.25, 1, 2):
        assert cut.delta(epsilon).lower <= whole.delta(epsilon).upper
    assert cut.max_loss().lower <= whole.max_loss().upper


@pytest.mark.parametrize("half", [5, 50, 200, 400])
def test_a_clamped_laplace_pair_keeps_the_loss_of_the_whole(half):
    pair = Truncated(DiscreteLaplace(1, center=1), -half, half, outside=Outside.CLAMPED).pair(
        Truncated(DiscreteLaplace(1), -half, half, outside=Outside.CLAMPED)
    )
    assert pair.max_loss().contains(1.0)
    assert pair.max_loss().width < 1e-11


@kinds
@both
def test_pairs_are_those_of_the_masses(kind, outside):
    p = true_masses(kind, Fraction(2), -4, 5, outside)
    q = true_masses(kind, Fraction(2), -5, 4, outside)  # the noise about 1, seen from its center
    pair = Truncated(kind(2), -4, 5, outside=outside).pair(Truncated(kind(2, center=1), -4, 5, outside=outside))
    with flint.ctx.workprec(DIGITS):
        for epsilon in (-1, 0, 0.3, 1):
            gaps = [a - arb(epsilon).exp() * b for a, b in zip(p, q, strict=True)]
            assert encloses(pair.delta(epsilon), sum((gap for gap in gaps if gap > 0), arb(0)))
        losses = [(a / b).log() for a, b in zip(p, q, strict=True)]
        assert any(encloses(pair.max_loss(), loss) for loss in losses)


def test_ranges_that_differ_give_an_infinite_loss():
    first = Truncated(DiscreteLaplace(1), 0, 5, outside=Outside.CONDITIONED)
    second = Truncated(DiscreteLaplace(1), 1, 6, outside=Outside.CONDITIONED)
    assert first.pair(second).max_loss().upper == math.inf
    assert first.pair(second).delta(0).lower > 0


def test_different_noises_can_be_compared_once_truncated():
    first = Truncated(DiscreteLaplace(2), -5, 5, outside=Outside.CONDITIONED)
    second = Truncated(DiscreteGaussian(2), -5, 5, outside=Outside.CONDITIONED)
    assert 0 < first.pair(second).max_loss().upper < 3


@both
def test_ranges_and_centers_beyond_int64_are_exact(outside):
    center = 2**70
    law = Truncated(DiscreteLaplace(2, center=center), center - 3, center + 3, outside=outside)
    assert law.pmf(center) == Truncated(DiscreteLaplace(2), -3, 3, outside=outside).pmf(0)
    assert all(abs(value - center) <= 3 for value in law.sample(20))
    assert abs(law.sample() - center) <= 3


def test_a_far_range_beyond_int64_is_drawn_exactly():
    law = Truncated(DiscreteLaplace(2**66), 2**70, 2**70 + 2, outside=Outside.CONDITIONED)
    assert set(law.sample(20)) <= {2**70, 2**70 + 1, 2**70 + 2}


@both
def test_a_range_wider_than_int64_is_drawn(outside):
    drawn = Truncated(DiscreteLaplace(2), -(2**70), 2**70, outside=outside).sample(100)
    assert np.abs(drawn).max() < 500


def test_a_range_out_of_order_is_refused():
    with pytest.raises(ParameterError) as refusal:
        Truncated(DiscreteLaplace(1), 3, 2, outside=Outside.CLAMPED)
    assert refusal.value.parameter == "high"


@pytest.mark.parametrize("end", [0.9, 2.5, math.nan, math.inf, None, "1", True, 1j], ids=repr)
def test_an_end_that_is_no_integer_is_refused(end):
    for ends in ((end, 5), (-5, end)):
        with pytest.raises(ParameterError) as refusal:
            Truncated(DiscreteLaplace(1), *ends, outside=Outside.CLAMPED)
        assert refusal.value.parameter in ("low", "high")


def test_ranges_too_long_are_not_compared():
    law = Truncated(DiscreteLaplace(2**30), 0, 2**23, outside=Outside.CLAMPED)
    with pytest.raises(ParameterError):
        law.pair(law)


def test_only_truncated_laws_are_compared():
    with pytest.raises(ParameterError):
        Truncated(DiscreteLaplace(1), 0, 1, outside=Outside.CLAMPED).pair(DiscreteLaplace(1))


def test_the_center_is_not_shown():
    assert "4711" not in repr(Truncated(DiscreteLaplace(1, center=4711), 0, 9, outside=Outside.CLAMPED))

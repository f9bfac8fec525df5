"""Windows leave out what the theorem allows, wherever the mode is; weights are exact and their bounds hold."""

import math

import mpmath
import numpy as np
import pytest

from discreet.bayes.counts.people import NegativeBinomialPeople, PoissonPeople
from discreet.bayes.counts.weights import (
    CellWeight,
    MirroredWeight,
    PoolWeight,
    ReleasedWeight,
    WeightProduct,
    log_ways,
)
from discreet.bayes.counts.windows import window
from discreet.errors import InputError, ParameterError
from discreet.laws.noise import DiscreteGaussian, DiscreteLaplace, RoundedGaussian

LAWS = (DiscreteLaplace(3), DiscreteGaussian(3), RoundedGaussian(3))
WEIGHTS = [
    CellWeight(0.3),
    CellWeight(1.0),
    CellWeight(4.5, -0.1),
    CellWeight(0.5, -0.2),
    PoolWeight(0.4),
    PoolWeight(7.0),
    PoissonPeople(6).weight,
    NegativeBinomialPeople(6, 0.5).weight,
    MirroredWeight(CellWeight(0.3), 400),
    MirroredWeight(ReleasedWeight(DiscreteLaplace(2), 90), 400),
    *(ReleasedWeight(law, 21) for law in LAWS),
    ReleasedWeight(DiscreteLaplace(3 << 20), 7 << 20, 1 << 20),
]


@pytest.mark.parametrize("weight", WEIGHTS, ids=repr)
def test_the_bounds_on_neighbors_hold_from_each_count_on(weight):
    logs = weight.log(0, 400)
    steps = np.diff(logs)
    for count in (1, 2, 5, 20, 39, 300):
        assert steps[count:].max() <= weight.rise(count) + 1e-12
        assert (-steps[:count]).max() <= weight.fall(count) + 1e-12


@pytest.mark.theorem("log_ways.accuracy")
@pytest.mark.parametrize("a", [0.3, 1.0, 2.5, 50.0, 1e6])
@pytest.mark.parametrize("start", [0, 5, 17, 48, 1000, 10**6 - 2, 10**12])
def test_the_number_of_ways_keeps_its_digits_however_large_the_count(a, start):
    with mpmath.workdps(50):
        wanted = [
            mpmath.loggamma(start + i + mpmath.mpf(a)) - mpmath.loggamma(a) - mpmath.loggamma(start + i + 1)
            for i in range(4)
        ]
        error = max(abs(float(w - mpmath.mpf(float(g)))) for w, g in zip(wanted, log_ways(start, 4, a), strict=True))
    assert error <= 1e-15 * (1 + min(a, start + 3)) * (1 + math.log(a + start + 2)) * 4


@pytest.mark.parametrize("law", LAWS, ids=repr)
@pytest.mark.parametrize("released", [-40, 0, 25, 3000])
@pytest.mark.parametrize("a", [0.2, 1.0, 3.0])
def test_a_window_holds_all_but_what_was_allowed(law, released, a):
    weight = WeightProduct((CellWeight(a, math.log(0.9)), ReleasedWeight(law, released)))
    found = window(weight, left_out=1e-12)
    everything = np.exp(weight.log(0, 4000) - found.log_total)
    outside = everything.sum() - everything[found.start : found.stop].sum()
    assert outside <= 1.01e-12 + 1e-15  # summed in floats
    assert np.array_equal(found.logs, everything_logs(weight, found))


def everything_logs(weight, found):
    return weight.log(found.start, len(found.logs))


def test_a_window_moves_to_where_prior_and_release_meet():
    """The release says 2000 within 10; the prior of 10^5 people says half of them, within 16."""
    weight = WeightProduct(
        (CellWeight(5e5), MirroredWeight(CellWeight(5e5), 10**5), ReleasedWeight(DiscreteLaplace(10), 2000))
    )
    found = window(weight, top=10**5)
    everything = weight.log(0, 10**5 + 1)
    masses = np.exp(everything - everything.max())
    assert masses[found.start : found.stop].sum() >= (1 - 1e-15) * masses.sum()
    assert found.start > 20_000


def test_a_tilt_is_part_of_what_is_bounded():
    weight = WeightProduct((CellWeight(1.0), ReleasedWeight(DiscreteLaplace(10), 50)))
    found = window(weight, tilt=0.09, left_out=1e-12)
    tilted = weight.log(0, 6000) + 0.09 * np.arange(6000)
    masses = np.exp(tilted - tilted.max())
    assert masses[found.start : found.stop].sum() >= (1 - 1.1e-12) * masses.sum()


def test_a_sum_that_may_be_infinite_has_no_window():
    assert window(CellWeight(1.0)) is None
    assert window(ReleasedWeight(DiscreteLaplace(10), 50), tilt=0.1) is None


@pytest.mark.parametrize("released", [2**600, 2**70 + 12345])
def test_huge_integers_are_exact(released):
    found = window(ReleasedWeight(DiscreteLaplace(2), released))
    assert found.start + int(np.argmax(found.logs)) == released


def test_fractions_of_a_count_are_counts():
    unit = 1 << 20
    law = DiscreteLaplace(2 * unit)
    found = window(ReleasedWeight(law, 31 * unit + 5, unit))
    assert found.start + int(np.argmax(found.logs)) == 31
    slope = found.logs[-2] - found.logs[-1]
    assert slope == pytest.approx(0.5, rel=1e-12)


def test_what_no_count_can_give_is_refused():
    with pytest.raises(InputError, match="no count can give"):
        window(ReleasedWeight(DiscreteGaussian(1), -(10**200)))


def test_noise_too_wide_to_list_is_refused():
    with pytest.raises(ParameterError, match="so wide"):
        window(ReleasedWeight(DiscreteLaplace(10**9), 0))

"""Counts released by hand: which integers, which law, which groups; what is refused and with which advice."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import discreet as dp
from discreet.bayes import LogNormal, PoissonGamma, SmallAreaRates, noisy_counts, posterior
from discreet.errors import InputError, ParameterError
from discreet.laws import DiscreteLaplace, OnGrid

LAPLACE = dp.Laplace(epsilon=0.5, sensitivity=1)


def test_a_mechanism_and_its_law_say_the_same():
    one = noisy_counts({"yes": 412, "no": 88}, noise=LAPLACE, key="answer")
    two = noisy_counts({"yes": 412, "no": 88}, noise=DiscreteLaplace(2), key="answer")
    assert one.plan == two.plan
    assert (one.guarantee, two.guarantee) == (LAPLACE.guarantee, None)
    assert one.released == two.released == ((412, 88),)
    assert one.plan.adds_up.once


def test_integers_of_numpy_and_counts_below_zero_are_kept():
    counts = dp.Gaussian(scale=2, sensitivity=1)
    found = noisy_counts({"a": np.int64(-3), "b": 7}, noise=counts)
    assert found.released == ((-3, 7),)
    assert found.plan.noise == counts.noise


def test_one_integer_is_a_count_without_groups_and_tuples_have_several_keys():
    assert noisy_counts(5, noise=LAPLACE).plan.keys == ((),)
    pairs = noisy_counts({("n", "f"): 3, ("n", "m"): 4}, noise=LAPLACE, key=["region", "sex"])
    assert pairs.plan.key_names == pairs.plan.source.keys == ("region", "sex")


def test_groups_that_a_threshold_named_are_not_all_groups():
    """Hyperparameters must not be learnt from the large groups alone."""
    options = {"epsilon": 1, "delta": 1e-6, "relation": dp.Relation.ADD_REMOVE}
    named = noisy_counts({"a": 31, "b": 25}, noise=dp.ThresholdedHistogram(keys=1, **options))
    assert (named.plan.source.listed, named.plan.adds_up.selects, named.plan.adds_up.once) == (False, True, True)
    with pytest.raises(ParameterError, match="models of many groups must have all groups"):
        posterior(named, SmallAreaRates(exposures=1, mean=LogNormal(5, 1)))
    assert posterior(named, PoissonGamma(1, 0.1), seed=1).mean("count")[0] == pytest.approx(31, abs=1)
    several = noisy_counts({"a": 31, "b": 25}, noise=dp.ThresholdedHistogram(keys=2, **options))
    with pytest.raises(InputError, match="a person may count in up to 2 groups"):
        posterior(several, PoissonGamma(1, 0.1))


@pytest.mark.parametrize(
    "noise",
    [dp.Laplace(epsilon=0.5, sensitivity=1.0), OnGrid(DiscreteLaplace(2), Fraction(1, 2))],
    ids=["mechanism", "law"],
)
def test_noise_on_a_finer_grid_is_refused(noise):
    with pytest.raises(ParameterError, match=r"whole numbers; got noise on a finer grid, write a whole sensitivity"):
        noisy_counts({"a": 1}, noise=noise)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"noise": 2}, "noise must be a mechanism .*; got int, write Laplace"),
        ({"noise": dp.RandomizedResponse(epsilon=1, categories=2)}, "got RandomizedResponse, write Laplace"),
        ({"noise": dp.NoisyMax(epsilon=1, sensitivity=1)}, "got NoisyMax, write Laplace"),
        ({"noise": DiscreteLaplace(2, 5)}, r"center at 0; got another center, write .*noise.at\(0\)"),
        ({"key": ""}, "key must name what the labels are values of"),
        ({"key": ["a", "a"]}, "each once"),
        ({"key": ["a", "b"]}, "a label for each key"),
        ({"counts": {}}, "a label for each key; got none"),
    ],
)
def test_bad_input_is_refused_with_what_to_write(given, message):
    with pytest.raises(ParameterError, match=message):
        noisy_counts(**{"counts": {"a": 1}, "noise": LAPLACE, **given})


@pytest.mark.parametrize("count", [1.5, True, "1", None])
def test_rounded_numbers_and_texts_are_no_noisy_integers(count):
    with pytest.raises(InputError, match="do not round or cut them") as caught:
        noisy_counts({"a": count}, noise=LAPLACE)
    assert "1.5" not in str(caught.value)

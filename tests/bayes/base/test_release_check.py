"""The predictive check: the release among repetitions of it, with new people and new noise."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest
from scipy.stats import kstest

from discreet.bayes import posterior
from discreet.bayes.base import Posterior, ReleaseCheck
from discreet.bayes.base.release_check import checked
from discreet.errors import ParameterError
from discreet.statistics.measurement import Counts
from tests.bayes.small_models import Coins, coins, plan

TWO = {"north": 31, "south": 58}


@pytest.mark.theorem("checked.accuracy")
def test_one_more_repetition_has_an_even_share():
    """2,000 releases among 40 repetitions each, all seeded: integers with many ties."""
    generator = np.random.default_rng(1)
    shares = []
    for turn in range(2000):
        made = generator.integers(0, 4, size=(41, 1, 1))
        real = plan(groups=1).measured(made[0].tolist(), ("x", turn), None)
        shares += checked([real], [[one] for one in made[1:]], generator).probabilities
    assert kstest(shares, "uniform").pvalue > 0.001  # fixed by the seed


def test_a_fitting_release_is_in_the_middle():
    """Two groups, 400 repetitions: the posterior has seen the release, so the share is near 1/2.

    The noise is real: a share has a standard deviation of at most .025, and .2 off is 8 of them.
    """
    made = posterior(coins(TWO), Coins(100), seed=1).check(seed=2)
    assert all(abs(share - 0.5) < 0.25 for share in made.probabilities)
    assert made.released == (31, 58)
    assert made.names == ("counts: north", "counts: south")
    assert all(low < z < high for low, z, high in zip(made.lows, made.released, made.highs, strict=True))
    assert made.least > 0.5


@dataclass(frozen=True)
class Same(Coins):
    """A model that gives all groups the share of the first, whatever the others say."""

    def fit(self, measurements, *, generator, progress):
        found = super().fit(measurements, generator=generator, progress=progress)

        def drawn(chains, draws):
            share = found.drawn(chains, draws)["share"][..., :1]
            return {"share": np.repeat(share, len(measurements[0].plan.keys), axis=-1)}

        return Posterior(self, measurements, found.parameters[:1], drawn, "wrong")


@pytest.mark.theorem("Posterior.accuracy")
def test_a_model_that_does_not_fit_is_found_out():
    """31 and 90 of 100 from one share: no repetition of 400 reaches 90 (chance below 1e-15 a repetition)."""
    made = posterior(coins({"north": 31, "south": 90}), Same(100), seed=1).check(seed=2)
    assert made.probabilities[1] > 0.99
    assert made.least < 0.02
    assert "smallest two-sided probability" in str(made)


def test_new_people_are_drawn_and_not_only_new_noise():
    """Hardly any noise: the repetitions still spread as people do (by less than 1 if the 31 were kept)."""
    made = posterior(coins(TWO, scale=0.1), Coins(100), seed=1).check(seed=2)
    assert all(high - low > 10 for low, high in zip(made.lows, made.highs, strict=True))


def test_a_check_is_a_table_and_a_picture():
    many = {f"g{place}": place for place in range(70)}
    made = posterior(coins(many), Coins(100), seed=1).check(repetitions=40, seed=2)
    assert len(made.to_dict()["released"]) == 70
    assert made.to_pandas().shape == (70, 5)
    assert made.to_polars().shape == made.to_arrow().shape == (70, 5)
    assert "10 more rows" in str(made)
    assert made.plot().svg().startswith("<?xml")
    assert made._repr_html_().count("<tr>") == 61
    assert isinstance(made, ReleaseCheck)


@pytest.mark.parametrize("wrong", [0, 39, 2.5, True])
def test_bad_numbers_of_repetitions_are_refused(wrong):
    with pytest.raises(ParameterError, match="repetitions must be"):
        posterior(coins(TWO), Coins(100), seed=1).check(repetitions=wrong)


def test_weighted_rows_are_shown_as_rows():
    """A session's rows weigh 2^20 each; people read counts."""
    one = replace(plan(groups=1), adds_up=Counts("rows", weight=1 << 20))
    real = one.measured([[5 << 20]], ("x", 0), None)
    repeated = [[np.array([[rows << 20]])] for rows in range(1, 11)]
    made = checked([real], repeated, np.random.default_rng(1))
    assert (made.released, made.lows, made.highs) == ((5.0,), (1.0,), (10.0,))

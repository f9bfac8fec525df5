"""Trees for ArviZ: the form that every Python has, groups with their labels, the record in the attributes."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from discreet.bayes import posterior
from discreet.bayes.base import Parameter, Posterior
from discreet.errors import MissingExtra
from discreet.privacy import ZCDP, PureDP, Target
from tests.bayes.small_models import Coins, coins, plan, released

TWO = {"north": 31, "south": 58}


def test_draws_have_their_groups_by_label():
    made = posterior(coins(TWO), Coins(100), seed=1)
    tree = made.to_arviz()
    assert type(tree).__name__ == "DataTree"
    share = tree["posterior"]["share"]
    assert share.dims == ("chain", "draw", "region")
    assert share.sel(region="south").values.ravel().tolist() == made["share", "south"].tolist()
    assert tree["observed_data"]["counts"].sel(region="north").values.tolist() == [31]
    assert "sample_stats" not in tree.children
    assert tree["posterior"].attrs["method"] == made.method


def test_the_record_is_in_the_attributes():
    tree = posterior(released(guarantee=PureDP(0.5)), Coins(100), seed=1).to_arviz()
    assert list(tree["observed_data"].data_vars) == ["heads_released"]  # the parameter of the table is "heads"
    assert tree.attrs["epsilon"] == 0.5
    assert tree.attrs["record"] == "ledger, 7, hash"
    assert tree.attrs["guarantee"] == "epsilon 0.5 (pure differential privacy)"
    assert tree.attrs["inference_library"] == "discreet"
    assert "cost" in tree.attrs
    assert posterior(released(guarantee=ZCDP(0.1)), Coins(100), seed=1).to_arviz().attrs["rho"] == 0.1


def test_evidence_k_hat_and_other_draws_are_handed_on():
    draws = {"x": np.zeros((4, 100)), "energy": np.ones((4, 100))}
    parameters = (Parameter("x", "", Target.POPULATION),)
    made = Posterior(Coins(), (released(),), parameters, draws, "m", log_evidence=-3.5, k_hat=0.2, notes=("one", "two"))
    tree = made.to_arviz()
    assert tree.attrs["log_evidence"] == -3.5
    assert tree.attrs["k_hat"] == 0.2
    assert tree.attrs["notes"] == "one; two"
    assert tree["sample_stats"]["energy"].shape == (4, 100)
    assert list(tree["posterior"].data_vars) == ["x"]


def test_names_that_would_collide_are_kept_apart():
    """A key that is called like a parameter, two lists of groups under one key, two measurements of one name."""
    groups = (("a",), ("b",))
    parameters = (
        Parameter("region", "", Target.TABLE, groups, ("region",)),
        Parameter("y", "", Target.TABLE, (*groups, ("(other)",)), ("region",)),
        Parameter("z", "", Target.TABLE, ((1, None), (2, "x")), ("n", "w")),
    )
    draws = {one.name: np.zeros((2, 10, len(one.groups))) for one in parameters}
    tree = Posterior(Coins(), (released(), released(place=1)), parameters, draws, "m").to_arviz()
    assert tree["posterior"]["region"].dims == ("chain", "draw", "region_region")
    assert tree["posterior"]["y"].dims == ("chain", "draw", "y_region")
    assert tree["posterior"]["z"].coords["n_w"].values.tolist() == ["1, NULL", "2, x"]
    assert list(tree["observed_data"].data_vars) == ["heads", "heads_2"]


def test_integers_beyond_64_bits_are_floats():
    wide = plan(groups=1, scale=2**70).measured([[2**80]], ("x", 0), None)
    made = Posterior(Coins(), (wide,), (Parameter("x", "", Target.TABLE),), {"x": np.zeros((2, 10))}, "m")
    assert made.to_arviz()["observed_data"]["heads"].values.ravel().tolist() == [float(2**80)]


def test_the_package_is_named_where_it_is_missing(monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz_base", None)
    with pytest.raises(MissingExtra, match=r"discreet\[bayes\]"):
        posterior(coins(TWO), Coins(100), seed=1).to_arviz()


def test_neither_discreet_nor_bayes_imports_it():
    script = "import discreet, discreet.bayes, sys; discreet.bayes.posterior; sys.exit('arviz_base' in sys.modules)"
    subprocess.run([sys.executable, "-c", script], check=True)  # noqa: S603  our own program

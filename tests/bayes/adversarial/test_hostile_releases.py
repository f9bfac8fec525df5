"""Releases far from what people can be: every model gives finite draws that mean something, or says what to change."""

from __future__ import annotations

import time
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet import bayes
from discreet.bayes.base import LogNormal, Model, Normal
from discreet.bayes.counts import BetaBinomial, DirichletMultinomial, PoissonGamma, PoissonPeople
from discreet.bayes.evidence import noisy_counts
from discreet.bayes.referee import BernoulliRecords, CategoricalRecords, DataAugmentation
from discreet.bayes.regression import LogisticCells, PoissonCells
from discreet.bayes.regression.areas.small_area_rates import SmallAreaRates
from discreet.bayes.regression.areas.small_area_shares import SmallAreaShares
from discreet.errors import DiscreetError
from discreet.laws import DiscreteGaussian, DiscreteLaplace

CELLS = tuple((area, answer) for area in ("a", "b") for answer in ("yes", "no"))
SECONDS = 20  # of processor time; none of them takes a tenth of that

ONE: dict[str, Model] = {
    "referee of ones": DataAugmentation(BernoulliRecords(1, 1), people=9, most_sweeps=300),
    "beta-binomial": BetaBinomial(1, 1, people=9),
    "beta-binomial, people likely": BetaBinomial(1, 1, people=PoissonPeople(20)),
    "Poisson-gamma": PoissonGamma(2, 1),
}
AREAS: dict[str, Model] = {
    "Dirichlet": DirichletMultinomial(1, people=20),
    "Dirichlet, people unknown": DirichletMultinomial(1),
    "Poisson-gamma": PoissonGamma(2, 1),
    "small areas of rates": SmallAreaRates(mean=LogNormal(5, 1), exposures=1),
    "Poisson cells": PoissonCells(intercept=Normal(1, 2), exposures=1),
}
YES_NO: dict[str, Model] = {
    "referee of cells": DataAugmentation(
        CategoricalRecords(("area", "ill"), CELLS, (1, 1, 1, 1)), people=12, most_sweeps=300
    ),
    "beta-binomial": BetaBinomial(1, 1, success=("ill", "yes")),
    "logistic cells": LogisticCells(success=("ill", "yes")),
    "logistic cells, people public": LogisticCells(success=("ill", "yes"), people=6),
    "small areas of shares": SmallAreaShares(success=("ill", "yes")),
}
LAWS = {
    "Laplace": DiscreteLaplace(2),
    "Gaussian": DiscreteGaussian(2),
    "hardly any noise": DiscreteLaplace(Fraction(1, 50)),
    "much noise": DiscreteLaplace(20),
    "more noise than floats count": DiscreteLaplace(2**70),
}
INTEGERS = {
    "none": 0,
    "below": -30,
    "far below": -(10**6),
    "huge": 2**70,
    "hugely below": -(2**70),
    "no float": 10**400,
}


def fitted(model: Model, counts: Any, law: Any, key: Any = "group") -> None:
    """Fit; what comes out must be finite, and what is refused must say something."""
    refused: str | None = None
    started = time.process_time()
    try:
        found = bayes.posterior(noisy_counts(counts, noise=law, key=key), model, seed=7)
    except DiscreetError as error:
        refused = str(error)
    else:
        for name, draws in found.draws.items():
            assert np.isfinite(np.asarray(draws, dtype=np.float64)).all(), name
            if found.parameter(name).name in ("frequency", "share"):
                assert np.all((draws >= 0) & (draws <= 1))
    assert refused is None or len(refused) > 40
    assert time.process_time() - started < SECONDS


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("integer", INTEGERS)
@pytest.mark.parametrize("name", ONE)
def test_one_count(name: str, integer: str, law: str) -> None:
    fitted(ONE[name], INTEGERS[integer], LAWS[law])


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("integer", INTEGERS)
@pytest.mark.parametrize("name", AREAS)
def test_one_area_among_others(name: str, integer: str, law: str) -> None:
    fitted(AREAS[name], {"a": 4, "b": INTEGERS[integer], "c": 7}, LAWS[law])


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("integer", INTEGERS)
@pytest.mark.parametrize("name", YES_NO)
def test_one_cell_among_others(name: str, integer: str, law: str) -> None:
    counts = dict(zip(CELLS, (3, 3, INTEGERS[integer], 2), strict=True))
    fitted(YES_NO[name], counts, LAWS[law], ["area", "ill"])

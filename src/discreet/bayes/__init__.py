"""Posteriors that know about the noise: from what was released to what is known about people and population."""

from discreet._optional import listing
from discreet.bayes.base import (
    Diagnostics,
    FlatDraws,
    HalfNormal,
    LogNormal,
    Marginal,
    Model,
    Normal,
    Parameter,
    Posterior,
    PosteriorInterval,
    Probability,
    ReleaseCheck,
)
from discreet.bayes.bridges import (
    NUMPYRO,
    PYMC,
    STAN,
    CombinedEstimate,
    LikelihoodTable,
    SyntheticTables,
    combine_estimates,
    likelihood_tables,
    noise_terms,
    synthetic_tables,
)
from discreet.bayes.comparisons import beats, difference, expected_loss, ranking, ratio
from discreet.bayes.counts import (
    BetaBinomial,
    DirichletMultinomial,
    FlatPeople,
    NegativeBinomialPeople,
    PeoplePrior,
    PoissonGamma,
    PoissonPeople,
)
from discreet.bayes.evidence import noisy_counts
from discreet.bayes.inference import posterior
from discreet.bayes.one_draw import PosteriorDraw
from discreet.bayes.planning import (
    CalibrationCheck,
    CheapestPrice,
    ExpectedWidth,
    calibration,
    cheapest_price,
    counts_plan,
    expected_width,
)
from discreet.bayes.referee import BernoulliRecords, CategoricalRecords, DataAugmentation, NormalRecords, RecordModel
from discreet.bayes.regression import LogisticCells, PoissonCells, SmallAreaRates, SmallAreaShares
from discreet.bayes.sums import LinearModel, NormalModel

__all__ = [
    "NUMPYRO",
    "PYMC",
    "STAN",
    "BernoulliRecords",
    "BetaBinomial",
    "CalibrationCheck",
    "CategoricalRecords",
    "CheapestPrice",
    "CombinedEstimate",
    "DataAugmentation",
    "Diagnostics",
    "DirichletMultinomial",
    "ExpectedWidth",
    "FlatDraws",
    "FlatPeople",
    "HalfNormal",
    "LikelihoodTable",
    "LinearModel",
    "LogNormal",
    "LogisticCells",
    "Marginal",
    "Model",
    "NegativeBinomialPeople",
    "Normal",
    "NormalModel",
    "NormalRecords",
    "Parameter",
    "PeoplePrior",
    "PoissonCells",
    "PoissonGamma",
    "PoissonPeople",
    "Posterior",
    "PosteriorDraw",
    "PosteriorInterval",
    "Probability",
    "RecordModel",
    "ReleaseCheck",
    "SmallAreaRates",
    "SmallAreaShares",
    "SyntheticTables",
    "beats",
    "calibration",
    "cheapest_price",
    "combine_estimates",
    "counts_plan",
    "difference",
    "expected_loss",
    "expected_width",
    "likelihood_tables",
    "noise_terms",
    "noisy_counts",
    "posterior",
    "ranking",
    "ratio",
    "synthetic_tables",
]

__dir__ = listing("discreet.bayes")

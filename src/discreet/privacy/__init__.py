"""Guarantees and prices: relations, guarantees and their conversions, losses that add up, sampling, live sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet._optional import listing, loader
from discreet.privacy.estimate import Estimate, Target
from discreet.privacy.guarantees import (
    ZCDP,
    ApproxDP,
    GaussianDP,
    Guarantee,
    PureDP,
    RenyiDP,
    advanced_composition,
    amplify_by_poisson,
    basic_composition,
    convert,
    group_privacy,
    implies,
    repeated,
    split,
    warn_if_senseless,
)
from discreet.privacy.loss import (
    Calibration,
    DeltaCurve,
    LossWalk,
    PrivacyLoss,
    Release,
    Sampler,
    above_threshold_loss,
    bounded_range_loss,
    calibrate,
    change_one_loss,
    compose,
    discrete_gaussian_loss,
    discrete_laplace_loss,
    gaussian_loss,
    group_loss,
    laplace_loss,
    largest_count,
    pointwise_delta,
    randomized_response_loss,
    subsample,
    table_loss,
)
from discreet.privacy.pairs import TradeOff
from discreet.privacy.price import (
    Price,
    PriceAmounts,
    PriceOptions,
    cheapest,
    gaussian_budget,
    largest_mu,
    largest_rho,
)
from discreet.privacy.relation import Relation, combine
from discreet.privacy.sensitivity import Norm, Sensitivity

if TYPE_CHECKING:
    from discreet.privacy.adaptive import (
        ApproxFilter,
        Batch,
        Filter,
        GaussianFilter,
        Odometer,
        Partition,
        PureFilter,
        RenyiFilter,
        ZCDPFilter,
        parallel,
        privacy_filter,
    )
    from discreet.privacy.records import ReleaseRecord, records_from_json, records_to_json, replay

__all__ = [
    "ZCDP",
    "ApproxDP",
    "ApproxFilter",
    "Batch",
    "Calibration",
    "DeltaCurve",
    "Estimate",
    "Filter",
    "GaussianDP",
    "GaussianFilter",
    "Guarantee",
    "LossWalk",
    "Norm",
    "Odometer",
    "Partition",
    "Price",
    "PriceAmounts",
    "PriceOptions",
    "PrivacyLoss",
    "PureDP",
    "PureFilter",
    "Relation",
    "Release",
    "ReleaseRecord",
    "RenyiDP",
    "RenyiFilter",
    "Sampler",
    "Sensitivity",
    "Target",
    "TradeOff",
    "ZCDPFilter",
    "above_threshold_loss",
    "advanced_composition",
    "amplify_by_poisson",
    "basic_composition",
    "bounded_range_loss",
    "calibrate",
    "change_one_loss",
    "cheapest",
    "combine",
    "compose",
    "convert",
    "discrete_gaussian_loss",
    "discrete_laplace_loss",
    "gaussian_budget",
    "gaussian_loss",
    "group_loss",
    "group_privacy",
    "implies",
    "laplace_loss",
    "largest_count",
    "largest_mu",
    "largest_rho",
    "parallel",
    "pointwise_delta",
    "privacy_filter",
    "randomized_response_loss",
    "records_from_json",
    "records_to_json",
    "repeated",
    "replay",
    "split",
    "subsample",
    "table_loss",
    "warn_if_senseless",
]

# sessions and records stand on all the rest, and few programs need them
__getattr__ = loader("discreet.privacy", rooms=("adaptive", "records"), names=__all__, of=("adaptive", "records"))
__dir__ = listing("discreet.privacy")

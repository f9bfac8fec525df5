"""Promises and prices: relations, guarantees and their conversions, losses that add up, sampling, live sessions."""

from __future__ import annotations

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
from discreet.privacy.calibration import Calibration, calibrate, largest_count
from discreet.privacy.composition import advanced_composition, basic_composition, repeated, split
from discreet.privacy.conversion import convert, implies
from discreet.privacy.delta_curve import DeltaCurve
from discreet.privacy.estimate import Estimate, Target
from discreet.privacy.group import group_privacy
from discreet.privacy.group_pair import change_one_loss, group_loss
from discreet.privacy.guarantee import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP
from discreet.privacy.loss import PrivacyLoss, compose
from discreet.privacy.losses import (
    above_threshold_loss,
    bounded_range_loss,
    discrete_gaussian_loss,
    discrete_laplace_loss,
    gaussian_loss,
    laplace_loss,
    randomized_response_loss,
    table_loss,
)
from discreet.privacy.pointwise import pointwise_delta
from discreet.privacy.record import ReleaseRecord, records_from_json, records_to_json, replay
from discreet.privacy.relation import Relation, combine
from discreet.privacy.release import Release
from discreet.privacy.sampler import Sampler
from discreet.privacy.sampling import subsample
from discreet.privacy.sensible import warn_if_senseless
from discreet.privacy.sensitivity import Norm, Sensitivity
from discreet.privacy.subsampling import amplify_by_poisson
from discreet.privacy.tradeoff import TradeOff

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
    "Norm",
    "Odometer",
    "Partition",
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
    "combine",
    "compose",
    "convert",
    "discrete_gaussian_loss",
    "discrete_laplace_loss",
    "gaussian_loss",
    "group_loss",
    "group_privacy",
    "implies",
    "laplace_loss",
    "largest_count",
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

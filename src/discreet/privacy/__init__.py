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
from discreet.privacy.estimate import Estimate, Target
from discreet.privacy.guarantees.composition import advanced_composition, basic_composition, repeated, split
from discreet.privacy.guarantees.conversion import convert, implies
from discreet.privacy.guarantees.groups_and_samples import amplify_by_poisson, group_privacy
from discreet.privacy.guarantees.guarantee import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP
from discreet.privacy.guarantees.sensible import warn_if_senseless
from discreet.privacy.loss.calibration import Calibration, calibrate, largest_count
from discreet.privacy.loss.delta_curve import DeltaCurve
from discreet.privacy.loss.groups import change_one_loss, group_loss
from discreet.privacy.loss.loss import PrivacyLoss, compose
from discreet.privacy.loss.pointwise import pointwise_delta
from discreet.privacy.loss.reference import (
    above_threshold_loss,
    bounded_range_loss,
    discrete_gaussian_loss,
    discrete_laplace_loss,
    gaussian_loss,
    laplace_loss,
    randomized_response_loss,
    table_loss,
)
from discreet.privacy.loss.release import Release, Sampler
from discreet.privacy.loss.sampling import subsample
from discreet.privacy.pairs.tradeoff import TradeOff
from discreet.privacy.records.record import ReleaseRecord, records_from_json, records_to_json, replay
from discreet.privacy.relation import Relation, combine
from discreet.privacy.sensitivity import Norm, Sensitivity

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

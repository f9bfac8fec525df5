"""Promises and prices: relations, sensitivities, guarantees and their conversions, the loss of one release."""

from __future__ import annotations

from discreet.privacy.composition import advanced_composition, basic_composition, split
from discreet.privacy.conversion import convert, implies
from discreet.privacy.estimate import Estimate, Target
from discreet.privacy.group import group_privacy
from discreet.privacy.guarantee import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP
from discreet.privacy.loss import PrivacyLoss
from discreet.privacy.pointwise import pointwise_delta
from discreet.privacy.relation import Relation, combine
from discreet.privacy.sensible import warn_if_senseless
from discreet.privacy.sensitivity import Norm, Sensitivity
from discreet.privacy.subsampling import amplify_by_poisson
from discreet.privacy.tradeoff import TradeOff

__all__ = [
    "ZCDP",
    "ApproxDP",
    "Estimate",
    "GaussianDP",
    "Guarantee",
    "Norm",
    "PrivacyLoss",
    "PureDP",
    "Relation",
    "RenyiDP",
    "Sensitivity",
    "Target",
    "TradeOff",
    "advanced_composition",
    "amplify_by_poisson",
    "basic_composition",
    "combine",
    "convert",
    "group_privacy",
    "implies",
    "pointwise_delta",
    "split",
    "warn_if_senseless",
]

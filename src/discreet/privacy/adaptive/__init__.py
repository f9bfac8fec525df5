"""Live sessions: budgets that hold when every release may depend on all earlier answers, its price included."""

from __future__ import annotations

from discreet.privacy.adaptive.filters import (
    ApproxFilter,
    Filter,
    GaussianFilter,
    PureFilter,
    RenyiFilter,
    ZCDPFilter,
    privacy_filter,
)
from discreet.privacy.adaptive.odometer import Odometer
from discreet.privacy.adaptive.partition import Partition, parallel
from discreet.privacy.adaptive.pricing import Batch

__all__ = [
    "ApproxFilter",
    "Batch",
    "Filter",
    "GaussianFilter",
    "Odometer",
    "Partition",
    "PureFilter",
    "RenyiFilter",
    "ZCDPFilter",
    "parallel",
    "privacy_filter",
]

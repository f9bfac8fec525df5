"""Live sessions: budgets that hold when every release may depend on all earlier answers, its price included."""

from __future__ import annotations

from discreet.privacy.adaptive.batch import Batch
from discreet.privacy.adaptive.filters import Filter
from discreet.privacy.adaptive.filters_part import (
    ApproxFilter,
    GaussianFilter,
    PureFilter,
    RenyiFilter,
    ZCDPFilter,
    privacy_filter,
)
from discreet.privacy.adaptive.odometer import Odometer
from discreet.privacy.adaptive.partition import parallel
from discreet.privacy.adaptive.partition_part import Partition

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

"""Estimates from counts of reports: frequencies with intervals, top lists, tables."""

from __future__ import annotations

from discreet.local.estimates.block_support import BlockChances, BlockSupport
from discreet.local.estimates.frequencies import Frequencies
from discreet.local.estimates.intervals import Intervals, allowed_error, stated_target, two_sided_normal
from discreet.local.estimates.support import Floats, Support

__all__ = [
    "BlockChances",
    "BlockSupport",
    "Floats",
    "Frequencies",
    "Intervals",
    "Support",
    "allowed_error",
    "stated_target",
    "two_sided_normal",
]

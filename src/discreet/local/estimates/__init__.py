"""Estimates from counts of reports: frequencies with intervals, top lists, tables."""

from discreet.local.estimates.block_support import BlockChances, BlockSupport
from discreet.local.estimates.columns import EstimateColumns, FromReports
from discreet.local.estimates.frequencies import Frequencies
from discreet.local.estimates.intervals import Intervals, allowed_error, stated_target, two_sided_normal
from discreet.local.estimates.support import Support

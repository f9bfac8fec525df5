"""Histograms: counts by public or by private keys, and the number of distinct values."""

from discreet.statistics.histograms.distinct_keys import CountDistinct, count_distinct
from discreet.statistics.histograms.estimate_table import EstimateTable
from discreet.statistics.histograms.key_histograms import DiscoveredHistogram, Histogram, histogram

"""Mechanisms that decide which keys may be named."""

from discreet.mechanisms.keys.key_counts import KeyCounts
from discreet.mechanisms.keys.thresholded_histogram import KeyNoise, ThresholdedHistogram

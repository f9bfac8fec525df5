"""Mechanisms that decide which keys may be named."""

from __future__ import annotations

from discreet.mechanisms.keys.key_counts import KeyCounts, listed
from discreet.mechanisms.keys.thresholded_histogram import KeyNoise, ThresholdedHistogram

__all__ = ["KeyCounts", "KeyNoise", "ThresholdedHistogram", "listed"]

"""Means of bounded numbers, each person reporting one randomized number."""

from __future__ import annotations

from discreet.local.means.one_bit_and_hybrid import DuchiBit, HybridMean
from discreet.local.means.result import LocalMean
from discreet.local.means.scalar_mean import MeanRandomizer, ScalarMean

__all__ = ["DuchiBit", "HybridMean", "LocalMean", "MeanRandomizer", "ScalarMean"]

"""Means of bounded numbers, each person reporting one randomized number."""

from discreet.local.means.one_bit_and_hybrid import DuchiBit, HybridMean
from discreet.local.means.result import LocalMean
from discreet.local.means.scalar_mean import MeanRandomizer, ScalarMean

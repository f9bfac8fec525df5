"""Mechanisms of three shapes: value to value, scores to choice, stream of values to stream of verdicts."""

from discreet.laws.choices.above_threshold_gap import Hit
from discreet.laws.choices.noisy_max_gap import Winner
from discreet.mechanisms.above_threshold import AboveThreshold, Split
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.key_counts import KeyCounts
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.randomized_response import RandomizedResponse
from discreet.mechanisms.thresholded_histogram import KeyNoise, ThresholdedHistogram
from discreet.mechanisms.top import Top
from discreet.mechanisms.truncated_geometric import TruncatedGeometric

__all__ = [
    "AboveThreshold",
    "Exponential",
    "Gaussian",
    "Hit",
    "KeyCounts",
    "KeyNoise",
    "Laplace",
    "Mechanism",
    "NoisyMax",
    "PermuteAndFlip",
    "RandomizedResponse",
    "Split",
    "ThresholdedHistogram",
    "Top",
    "TruncatedGeometric",
    "Winner",
]

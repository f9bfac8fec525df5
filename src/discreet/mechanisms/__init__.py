"""Mechanisms of three shapes: value to value, scores to choice, stream of values to stream of verdicts."""

from discreet.laws.choices.above_threshold import Hit
from discreet.laws.choices.noisy_max import Winner
from discreet.mechanisms.choices.exponential import Exponential
from discreet.mechanisms.choices.noisy_max import NoisyMax
from discreet.mechanisms.choices.permute_and_flip import PermuteAndFlip
from discreet.mechanisms.choices.randomized_response import RandomizedResponse
from discreet.mechanisms.choices.top import Top
from discreet.mechanisms.keys.key_counts import KeyCounts
from discreet.mechanisms.keys.thresholded_histogram import KeyNoise, ThresholdedHistogram
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.noise.gaussian import Gaussian
from discreet.mechanisms.noise.laplace import Laplace
from discreet.mechanisms.noise.truncated_geometric import TruncatedGeometric
from discreet.mechanisms.streams.above_threshold import AboveThreshold, Split

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

"""Mechanisms of three shapes: value to value, scores to choice, stream of values to stream of verdicts."""

from discreet._optional import listing
from discreet.laws.choices import Hit, Winner
from discreet.mechanisms.choices import Exponential, NoisyMax, PermuteAndFlip, RandomizedResponse, Top
from discreet.mechanisms.keys import KeyCounts, KeyNoise, ThresholdedHistogram
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.noise import Gaussian, GaussianLaw, Laplace, TruncatedGeometric
from discreet.mechanisms.streams import AboveThreshold, Split

__all__ = [
    "AboveThreshold",
    "Exponential",
    "Gaussian",
    "GaussianLaw",
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

__dir__ = listing("discreet.mechanisms")

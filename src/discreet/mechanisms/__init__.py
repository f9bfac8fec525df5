"""Mechanisms of three shapes: value to value, scores to choice, stream of values to stream of verdicts."""

from discreet.mechanisms.above_threshold import AboveThreshold, Split
from discreet.mechanisms.exponential import Exponential
from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.mechanisms.mechanism import Mechanism
from discreet.mechanisms.noisy_max import NoisyMax
from discreet.mechanisms.randomized_response import RandomizedResponse

__all__ = [
    "AboveThreshold",
    "Exponential",
    "Gaussian",
    "Laplace",
    "Mechanism",
    "NoisyMax",
    "RandomizedResponse",
    "Split",
]

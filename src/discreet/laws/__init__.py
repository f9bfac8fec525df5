"""Exact distributions: what they are, how they are drawn, and what a pair of them tells an adversary."""

from discreet._optional import listing
from discreet.laws.choices import (
    AboveThresholdGapLaw,
    AboveThresholdLaw,
    NoisyMaxGapLaw,
    NoisyMaxLaw,
    Peeling,
    PermuteAndFlipLaw,
    Thresholded,
    ThresholdedTable,
)
from discreet.laws.enclosure import Enclosure, SafeEnd
from discreet.laws.finite import Finite, FinitePair
from discreet.laws.law import IntegerLaw, Law
from discreet.laws.noise import (
    DiscreteGaussian,
    DiscreteLaplace,
    LocationPair,
    OnGrid,
    Outside,
    Product,
    ProductPair,
    RoundedGaussian,
    Truncated,
    TruncatedLaplace,
)
from discreet.laws.pair import Pair
from discreet.laws.samplers import Race, SignedDraws, Softmax, SoftmaxDraws, signed_draws

__all__ = [
    "AboveThresholdGapLaw",
    "AboveThresholdLaw",
    "DiscreteGaussian",
    "DiscreteLaplace",
    "Enclosure",
    "Finite",
    "FinitePair",
    "IntegerLaw",
    "Law",
    "LocationPair",
    "NoisyMaxGapLaw",
    "NoisyMaxLaw",
    "OnGrid",
    "Outside",
    "Pair",
    "Peeling",
    "PermuteAndFlipLaw",
    "Product",
    "ProductPair",
    "Race",
    "RoundedGaussian",
    "SafeEnd",
    "SignedDraws",
    "Softmax",
    "SoftmaxDraws",
    "Thresholded",
    "ThresholdedTable",
    "Truncated",
    "TruncatedLaplace",
    "signed_draws",
]

__dir__ = listing("discreet.laws")

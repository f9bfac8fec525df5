"""discreet: differential privacy with exact mechanisms. Ask about everyone, learn about no one."""

from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING

from discreet import errors, laws, mechanisms, privacy, randomness
from discreet._version import __version__
from discreet.audit import Level, Outcome, Verdict, audit, goodness_of_fit
from discreet.laws import Enclosure
from discreet.mechanisms import (
    AboveThreshold,
    Exponential,
    Gaussian,
    KeyNoise,
    Laplace,
    Mechanism,
    NoisyMax,
    PermuteAndFlip,
    RandomizedResponse,
    Split,
    ThresholdedHistogram,
    Top,
    TruncatedGeometric,
)
from discreet.privacy import (
    ZCDP,
    ApproxDP,
    Batch,
    Estimate,
    GaussianDP,
    Guarantee,
    Norm,
    PrivacyLoss,
    PureDP,
    Relation,
    RenyiDP,
    Sampler,
    Sensitivity,
    Target,
    calibrate,
    compose,
    largest_count,
    privacy_filter,
    subsample,
)

if TYPE_CHECKING:
    from discreet import statistics

__all__ = [
    "ZCDP",
    "AboveThreshold",
    "ApproxDP",
    "Batch",
    "Enclosure",
    "Estimate",
    "Exponential",
    "Gaussian",
    "GaussianDP",
    "Guarantee",
    "KeyNoise",
    "Laplace",
    "Level",
    "Mechanism",
    "NoisyMax",
    "Norm",
    "Outcome",
    "PermuteAndFlip",
    "PrivacyLoss",
    "PureDP",
    "RandomizedResponse",
    "Relation",
    "RenyiDP",
    "Sampler",
    "Sensitivity",
    "Split",
    "Target",
    "ThresholdedHistogram",
    "Top",
    "TruncatedGeometric",
    "Verdict",
    "__version__",
    "audit",
    "calibrate",
    "compose",
    "errors",
    "goodness_of_fit",
    "largest_count",
    "laws",
    "mechanisms",
    "privacy",
    "privacy_filter",
    "randomness",
    "statistics",
    "subsample",
]


def __getattr__(name: str) -> ModuleType:
    """Load the room `statistics` when it is first asked for: `import discreet` stays quick."""
    if name == "statistics":
        return import_module("discreet.statistics")
    raise AttributeError(f"module 'discreet' has no attribute {name!r}")

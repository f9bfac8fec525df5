"""discreet: differential privacy with exact mechanisms. Ask about everyone, learn about no one."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

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
    subsample,
)

if TYPE_CHECKING:
    from discreet import attacks, ledger, local, query, statistics, synthesis
    from discreet.privacy import Batch, privacy_filter
    from discreet.query import Answer, Session

_LAZY_ROOMS = ("attacks", "ledger", "local", "query", "statistics", "synthesis")
_LAZY_NAMES = {
    "Answer": "discreet.query",
    "Batch": "discreet.privacy",
    "Session": "discreet.query",
    "privacy_filter": "discreet.privacy",
}

__all__ = [
    "ZCDP",
    "AboveThreshold",
    "Answer",
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
    "Session",
    "Split",
    "Target",
    "ThresholdedHistogram",
    "Top",
    "TruncatedGeometric",
    "Verdict",
    "__version__",
    "attacks",
    "audit",
    "calibrate",
    "compose",
    "errors",
    "goodness_of_fit",
    "largest_count",
    "laws",
    "ledger",
    "local",
    "mechanisms",
    "privacy",
    "privacy_filter",
    "query",
    "randomness",
    "statistics",
    "subsample",
    "synthesis",
]


def __getattr__(name: str) -> Any:
    """Load a large room when it is first asked for: `import discreet` stays quick."""
    if name in _LAZY_ROOMS:
        return import_module(f"discreet.{name}")
    if name in _LAZY_NAMES:
        return getattr(import_module(_LAZY_NAMES[name]), name)
    raise AttributeError(f"module 'discreet' has no attribute {name!r}")

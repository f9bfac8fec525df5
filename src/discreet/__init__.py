"""discreet: differential privacy with exact mechanisms. Ask about everyone, learn about no one."""

from discreet import errors, laws, mechanisms, privacy, randomness
from discreet._version import __version__
from discreet.audit import Level, Outcome, Verdict, audit, goodness_of_fit
from discreet.laws import Enclosure
from discreet.mechanisms import (
    AboveThreshold,
    Exponential,
    Gaussian,
    Laplace,
    Mechanism,
    NoisyMax,
    RandomizedResponse,
    Split,
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
    Sensitivity,
    Target,
)

__all__ = [
    "ZCDP",
    "AboveThreshold",
    "ApproxDP",
    "Enclosure",
    "Estimate",
    "Exponential",
    "Gaussian",
    "GaussianDP",
    "Guarantee",
    "Laplace",
    "Level",
    "Mechanism",
    "NoisyMax",
    "Norm",
    "Outcome",
    "PrivacyLoss",
    "PureDP",
    "RandomizedResponse",
    "Relation",
    "RenyiDP",
    "Sensitivity",
    "Split",
    "Target",
    "Verdict",
    "__version__",
    "audit",
    "errors",
    "goodness_of_fit",
    "laws",
    "mechanisms",
    "privacy",
    "randomness",
]

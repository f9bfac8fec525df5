"""discreet: differential privacy with exact mechanisms. Ask about everyone, learn about no one."""

from typing import TYPE_CHECKING

from discreet._optional import listing, loader
from discreet._version import __version__

if TYPE_CHECKING:
    from discreet import (
        attacks,
        data,
        display,
        errors,
        laws,
        ledger,
        local,
        mechanisms,
        privacy,
        query,
        randomness,
        statistics,
        synthesis,
        testing,
    )
    from discreet.audit import AuditRoom, Level, Outcome, Verdict, goodness_of_fit
    from discreet.laws import Enclosure
    from discreet.mechanisms import (
        AboveThreshold,
        Exponential,
        Gaussian,
        GaussianLaw,
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
    from discreet.query import Answer, Session

    audit: AuditRoom  # the module, which is called as its function `audit` is

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
    "GaussianLaw",
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
    "data",
    "display",
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
    "testing",
]

_ROOMS = (
    "attacks",
    "audit",
    "data",
    "display",
    "errors",
    "laws",
    "ledger",
    "local",
    "mechanisms",
    "privacy",
    "query",
    "randomness",
    "statistics",
    "synthesis",
    "testing",
)

# rooms and names are loaded when they are first asked for: `import discreet` loads none of them
__getattr__ = loader("discreet", rooms=_ROOMS, names=__all__, of=("privacy", "laws", "mechanisms", "audit", "query"))
__dir__ = listing("discreet")

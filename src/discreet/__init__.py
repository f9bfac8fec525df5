"""discreet: differential privacy with exact mechanisms. Ask about everyone, learn about no one."""

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from discreet._optional import loader
from discreet._version import __version__

if TYPE_CHECKING:
    from discreet import (
        attacks,
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
    )
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
    from discreet.query import Answer, Session

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

_ROOMS = (
    "attacks",
    "display",
    "errors",
    "frames",
    "laws",
    "ledger",
    "local",
    "mechanisms",
    "privacy",
    "query",
    "randomness",
    "statistics",
    "synthesis",
)

# rooms and names are loaded when they are first asked for: `import discreet` loads none of them
__getattr__ = loader("discreet", rooms=_ROOMS, names=__all__, of=("privacy", "laws", "mechanisms", "audit", "query"))


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """The package, in which `audit` is the function, also once the room of that name is imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        room = name == "audit" and value is sys.modules.get("discreet.audit")
        super().__setattr__(name, value.audit if room else value)


sys.modules[__name__].__class__ = _Package

"""Releases whose parameters are fixed before the first answer: priced tightly together, charged to a session once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NoReturn

from discreet.errors import ParameterError
from discreet.privacy.guarantees.guarantee import Guarantee
from discreet.privacy.loss.loss import PrivacyLoss, compose


@dataclass(frozen=True, slots=True)
class Batch:
    """Releases whose prices are all fixed before the first of them is answered, as one price.

    The questions may still depend on earlier answers; how noisy each answer is, and how many there are, may not. That
    is what allows the tight composition of `PrivacyLoss`: a curve, not a number. A session charges the whole batch, in
    its own notion, before anything is released.

    Privacy. The releases together are dominated by `loss`, whichever questions are asked in view of earlier answers.
        Proof: each release, given the past, is a post-processing of its pair of laws, which is the same for every past;
        feed independent draws from all pairs to these post-processings in turn. So the transcript is a post-processing
        of the product of the pairs, which is what `loss` composes.
    Reference. Dong, Roth, Su 2022; Zhu, Dong, Wang 2022.

    >>> from discreet.privacy.guarantees.guarantee import PureDP
    >>> Batch([PureDP(0.1).loss] * 100).loss.epsilon(1e-6).upper   # by sums it would be 10
    4.7...
    """

    releases: PrivacyLoss | Guarantee | Iterable[PrivacyLoss | Guarantee]
    loss: PrivacyLoss = field(init=False)

    def __post_init__(self) -> None:
        """Compose the prices once and for all."""
        given = self.releases
        releases = tuple(given) if isinstance(given, Iterable) else (given,)
        if not releases:
            raise ParameterError("a batch needs at least one release", parameter="releases")
        losses = tuple(_loss(release) for release in releases)
        object.__setattr__(self, "releases", losses)
        object.__setattr__(self, "loss", compose(losses))

    def __add__(self, other: object) -> NoReturn:
        """Refuse: what is decided later is not part of the batch."""
        raise ParameterError(
            "a batch is closed: its tight price holds because everything in it was fixed before the first answer. Make "
            "one Batch of all releases before any of them, or spend each on the session's filter, which adds them up "
            "in a way that is sound for later decisions.",
            parameter="releases",
        )

    __radd__ = __add__


def _loss(release: object) -> PrivacyLoss:
    match release:
        case PrivacyLoss():
            return release
        case Guarantee():
            return release.loss
    raise ParameterError(
        f"a batch is made of losses of releases, not of {type(release).__name__}. What a live session spends is "
        "decided as it goes and has no tight price: composing curves and stopping at a target is not sound there.",
        parameter="releases",
    )

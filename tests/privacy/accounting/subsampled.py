"""Random compositions of one release on Poisson samples: the kinds, rates and counts that people ask about."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random

from discreet import privacy
from discreet.privacy import PrivacyLoss, Relation
from tests.privacy.accounting.cases import log_uniform

KINDS: dict[str, Callable[[float], PrivacyLoss]] = {
    "Gaussian": lambda scale: privacy.gaussian_loss(scale, relation=Relation.ADD_REMOVE),
    "integer Gaussian": lambda scale: privacy.discrete_gaussian_loss(scale, relation=Relation.ADD_REMOVE),
    "Laplace": lambda scale: privacy.laplace_loss(scale, relation=Relation.ADD_REMOVE),
    "integer Laplace": lambda scale: privacy.discrete_laplace_loss(scale, relation=Relation.ADD_REMOVE),
    "randomized response": lambda scale: privacy.randomized_response_loss(2 / scale, relation=Relation.ADD_REMOVE),
}


@dataclass(frozen=True)
class Subsampled:
    """A release of one kind on Poisson samples, how often, and the delta at which epsilon is asked for."""

    kind: str
    scale: float
    rate: float
    steps: int
    delta: float

    def loss(self) -> PrivacyLoss:
        """Return the price of all steps."""
        return privacy.subsample(KINDS[self.kind](self.scale), rate=self.rate) * self.steps

    def __str__(self) -> str:
        return f"{self.kind} {self.scale:g}, rate {self.rate:g}, {self.steps} steps, delta {self.delta:g}"


def subsampled(count: int, seed: int = 7) -> Iterator[Subsampled]:
    """Yield cases of every kind in turn: rates 1e-4 to 0.9, 1 to 1e5 steps, deltas 1e-12 to 1e-3, logarithmically."""
    random = Random(seed)  # noqa: S311 - the same cases in every run
    for index in range(count):
        kind = list(KINDS)[index % len(KINDS)]
        scale, rate = float(f"{log_uniform(random, 0.5, 20):.3g}"), float(f"{log_uniform(random, 1e-4, 0.9):.4g}")
        steps, delta = round(log_uniform(random, 1, 1e5)), float(f"{log_uniform(random, 1e-12, 1e-3):.3g}")
        yield Subsampled(kind, scale, rate, steps, delta)

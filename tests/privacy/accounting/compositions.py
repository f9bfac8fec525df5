"""Compositions written as data, so that the library and the accountants it is compared with get the same ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from discreet import privacy
from discreet.privacy import ApproxDP, PrivacyLoss, Relation

Part = tuple[str, Mapping[str, float], int]


def loss_of(parts: Iterable[Part]) -> PrivacyLoss:
    """Build a composition: each part is a kind, its parameters and how often it is repeated."""
    return privacy.compose([_one(kind, **parameters) * count for kind, parameters, count in parts])


def _one(kind: str, *, rate: float = 1.0, **parameters: float) -> PrivacyLoss:
    """Build one release, on a Poisson sample if the rate is below one."""
    return _whole(kind, **parameters) if rate == 1 else privacy.subsample(_noise(kind, **parameters), rate=rate)


def _noise(kind: str, *, scale: float) -> PrivacyLoss:
    make = privacy.gaussian_loss if kind == "gaussian" else privacy.laplace_loss
    return make(scale, relation=Relation.ADD_REMOVE)


def _whole(kind: str, **parameters: float) -> PrivacyLoss:
    match kind, parameters:
        case "gaussian", {"scale": scale}:
            return privacy.gaussian_loss(scale)
        case "laplace", {"scale": scale}:
            return privacy.laplace_loss(scale)
        case "discrete_gaussian", {"scale": scale}:
            return privacy.discrete_gaussian_loss(scale, sensitivity=int(parameters.get("shift", 1)))
        case "discrete_laplace", {"scale": scale}:
            return privacy.discrete_laplace_loss(scale, sensitivity=int(parameters.get("shift", 1)))
        case "response", {"epsilon": epsilon, "categories": categories}:
            return privacy.randomized_response_loss(epsilon, categories=int(categories))
        case "guarantee", {"epsilon": epsilon}:
            return ApproxDP(epsilon, parameters.get("delta", 0)).loss
    raise ValueError(f"no such release: {kind} {parameters}")

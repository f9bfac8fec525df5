"""Which way a layer is summed: each is tried on made-up numbers of the public shape, on the device at hand."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass

import torch

from discreet.learning.deep.clip.layers import Arithmetic, Calls, Layer, Tensor, cluster_part

_ROUNDS = 20
_ENOUGH = 0.05  # seconds after which a way has been tried enough
_SHARE = 0.05  # a way that keeps less is taken if it is slower by no more than this


@dataclass(frozen=True)
class Choice:
    """A way with the seconds it took and the bytes of gradients it keeps until the weights are known."""

    way: str
    seconds: float
    kept_bytes: int


def chosen_ways(arithmetic: Arithmetic, cluster: Sequence[Layer], ways: Sequence[str], calls: Calls) -> Choice:
    """Return the fastest way, of those as fast the one that keeps least; what cannot be done here is passed over."""
    tried = []
    failed: Exception | None = None
    for way in ways:
        try:
            tried.append(_tried(arithmetic, cluster, way, calls))
        except (RuntimeError, ValueError, NotImplementedError) as error:
            failed = error
    if not tried and failed is not None:
        raise failed
    fastest = min(choice.seconds for choice in tried)
    close = [choice for choice in tried if choice.seconds <= fastest * (1 + _SHARE)]
    return min(close, key=lambda choice: choice.kept_bytes)


def _tried(arithmetic: Arithmetic, cluster: Sequence[Layer], way: str, calls: Calls) -> Choice:
    device = next(iter(cluster[0].module.parameters())).device
    weights = torch.full((cluster[0].units,), 0.5, device=device, dtype=torch.float64 if arithmetic.exact else None)
    times: list[float] = []
    kept = 0
    while len(times) < 2 or (len(times) < _ROUNDS and sum(times) < _ENOUGH):
        _wait(device)
        start = time.perf_counter()
        part = cluster_part(arithmetic, cluster, way, calls)
        part.total(weights, None)
        _wait(device)
        times.append(time.perf_counter() - start)
        kept = part.kept_bytes
    return Choice(way, min(times), kept)  # the least: others on the machine only add


def _wait(device: Tensor) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize(device)

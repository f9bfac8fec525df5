"""The opendp side of the noise benchmark, run in opendp's own environment: a JSON request a line, a JSON reply a line.

Vectors are handed over as numpy arrays of the element type that opendp asks for: of the forms it takes, the fastest.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from functools import cache
from importlib.metadata import version
from typing import Any

import numpy as np
import opendp.prelude as dp  # type: ignore[import-not-found]

from benchmarks.common.measure import cpu_seconds, noise_against_time

dp.enable_features("contrib", "honest-but-curious")

Call = Callable[[], Any]


def _element(kind: str) -> tuple[Any, type, Any]:
    """Return the domain of one number, its Python type and the array type that opendp reads."""
    if kind == "int":
        return dp.atom_domain(T=int), int, np.int32
    return dp.atom_domain(T=float, nan=False), float, np.float64


@cache
def scalar(law: str, element: str, scale: float, value: float) -> Call:
    """Return a call that noises one number."""
    domain, number, _ = _element(element)
    make = dp.m.make_laplace if law == "laplace" else dp.m.make_gaussian
    distance = dp.absolute_distance(T=number if law == "laplace" else float)
    measurement, given = make(domain, distance, scale=scale), number(value)
    return lambda: measurement(given)


@cache
def vector(law: str, element: str, scale: float, value: float, length: int, grid: int | None) -> Call:
    """Return a call that noises a vector on the grid 2^grid, or on opendp's own; a grid needs a known length."""
    domain, number, kind = _element(element)
    make = dp.m.make_laplace if law == "laplace" else dp.m.make_gaussian
    distance = dp.l1_distance(T=number) if law == "laplace" else dp.l2_distance(T=float)
    size = None if grid is None else length
    measurement = make(dp.vector_domain(domain, size=size), distance, scale=scale, k=grid)
    values = np.full(length, value, dtype=kind)
    return lambda: measurement(values)


@cache
def choice(scale: float, length: int, form: str) -> Call:
    """Return a call that selects by the exponential mechanism (noisy max under its zero-concentrated measure)."""
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.linf_distance(T=int)
    measurement = dp.m.make_noisy_max(*space, dp.zero_concentrated_divergence(), scale=scale)
    scores = (np.arange(length) * 7919 % 100).astype(np.int32)
    given = scores.tolist() if form == "list" else scores
    return lambda: measurement(given)


CALLS: dict[str, Callable[..., Call]] = {"scalar": scalar, "vector": vector, "choice": choice}


def answer(request: dict[str, Any]) -> Any:
    """Return what is asked for: a version, the CPU seconds of a call, or how its noise goes with its time."""
    task = request.pop("task")
    if task == "version":
        return version("opendp")
    calls = request.pop("calls")
    call = CALLS[request.pop("call")](**request)
    return noise_against_time(call, request["value"], calls) if task == "timing" else cpu_seconds(call, calls)


def main() -> None:
    """Answer requests until the input ends."""
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()

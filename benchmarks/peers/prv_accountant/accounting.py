"""The prv-accountant side of the accounting benchmark, run in its own environment: a JSON request and reply a line."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import prv_accountant as prv  # type: ignore[import-not-found]
from prv_accountant.dpsgd import find_noise_multiplier  # type: ignore[import-not-found]


def gaussian(scale: float, rate: float = 1.0) -> Any:
    """Return Gaussian noise, on a Poisson sample if the rate is below one."""
    if rate == 1:
        return prv.GaussianMechanism(scale)
    return prv.PoissonSubsampledGaussianMechanism(sampling_probability=rate, noise_multiplier=scale)


def laplace(scale: float) -> Any:
    """Return Laplace noise, which prv-accountant names by its epsilon."""
    return prv.LaplaceMechanism(1 / scale)


def guarantee(epsilon: float, delta: float = 0.0) -> Any:
    """Return the worst release that keeps an (epsilon, delta) guarantee."""
    return prv.PureDPMechanism(epsilon) if delta == 0 else prv.ApproximateDPMechanism(epsilon, delta)


KINDS: dict[str, Callable[..., Any]] = {"gaussian": gaussian, "laplace": laplace, "guarantee": guarantee}


def epsilon(parts: list[list[Any]], delta: float, error: float) -> list[float]:
    """Return lower end, estimate and upper end of the epsilon of a composition."""
    made = [KINDS[kind](**parameters) for kind, parameters, _ in parts]
    counts = [count for *_, count in parts]
    accountant = prv.PRVAccountant(prvs=made, max_self_compositions=counts, eps_error=error, delta_error=delta / 1000)
    return [float(one) for one in accountant.compute_epsilon(delta=delta, num_self_compositions=counts)]


def calibrated(epsilon: float, delta: float, rate: float, steps: int, error: float) -> float:
    """Return the scale of a subsampled Gaussian that meets a budget."""
    return float(find_noise_multiplier(rate, steps, epsilon, delta, eps_error=error))


CALLS: dict[str, Callable[..., Any]] = {"epsilon": epsilon, "calibrated": calibrated}


def answer(request: dict[str, Any]) -> Any:
    """Return the version, or a value and the CPU seconds it took."""
    task = request.pop("task")
    if task == "version":
        return version("prv-accountant")
    start = time.process_time()
    value = CALLS[task](**request)
    return {"value": value, "seconds": time.process_time() - start}


def main() -> None:
    """Answer requests until the input ends."""
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()

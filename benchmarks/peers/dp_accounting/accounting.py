"""The dp-accounting side of the accounting benchmark, run in its own environment: a JSON request and reply a line.

Every call builds its distributions anew, as the side it is compared with does; the grid is dp-accounting's own default
unless the request names another.
"""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable
from functools import reduce
from importlib.metadata import version
from typing import Any

import dp_accounting as accounting  # type: ignore[import-not-found]
from dp_accounting.pld import PLDAccountant  # type: ignore[import-not-found]
from dp_accounting.pld import privacy_loss_distribution as pld

GRID = 1e-4
Options = dict[str, Any]


def gaussian(options: Options, scale: float, rate: float = 1.0) -> Any:
    """Return Gaussian noise, on a Poisson sample if the rate is below one."""
    return pld.from_gaussian_mechanism(scale, sampling_prob=rate, **options)


def laplace(options: Options, scale: float, rate: float = 1.0) -> Any:
    """Return Laplace noise, on a Poisson sample if the rate is below one."""
    return pld.from_laplace_mechanism(scale, sampling_prob=rate, **options)


def discrete_gaussian(options: Options, scale: float, shift: int = 1) -> Any:
    """Return integer Gaussian noise."""
    return pld.from_discrete_gaussian_mechanism(scale, sensitivity=shift, **options)


def discrete_laplace(options: Options, scale: float, shift: int = 1) -> Any:
    """Return integer Laplace noise."""
    return pld.from_discrete_laplace_mechanism(1 / scale, sensitivity=shift, **options)


def response(options: Options, epsilon: float, categories: int = 2) -> Any:
    """Return randomized response; dp-accounting names it by the chance of a random answer."""
    return pld.from_randomized_response(categories / (math.expm1(epsilon) + categories), categories, **options)


def guarantee(options: Options, epsilon: float, delta: float = 0.0) -> Any:
    """Return the worst release that keeps an (epsilon, delta) guarantee."""
    stated = accounting.pld.common.DifferentialPrivacyParameters(epsilon, delta)
    return pld.from_privacy_parameters(stated, options["value_discretization_interval"])


KINDS: dict[str, Callable[..., Any]] = {
    "gaussian": gaussian,
    "laplace": laplace,
    "discrete_gaussian": discrete_gaussian,
    "discrete_laplace": discrete_laplace,
    "response": response,
    "guarantee": guarantee,
}


def epsilon(parts: list[list[Any]], delta: float, grid: float = GRID, pessimistic: bool = True) -> float:
    """Return the epsilon of a composition, given as [kind, parameters, count] each."""
    options = {"value_discretization_interval": grid, "pessimistic_estimate": pessimistic}
    made = [KINDS[kind](options, **parameters).self_compose(count) for kind, parameters, count in parts]
    return float(reduce(lambda first, second: first.compose(second), made).get_epsilon_for_delta(delta))


def calibrated(epsilon: float, delta: float, rate: float, steps: int, least: float = 0.5) -> float:
    """Return the scale of a subsampled Gaussian that meets a budget, at sensitivity 1; it is sought above `least`."""

    def event(scale: float) -> Any:
        one = accounting.PoissonSampledDpEvent(rate, accounting.GaussianDpEvent(scale))
        return accounting.SelfComposedDpEvent(one, steps)

    bracket = accounting.ExplicitBracketInterval(least, 20.0)
    return float(accounting.calibrate_dp_mechanism(PLDAccountant, event, epsilon, delta, bracket))


CALLS: dict[str, Callable[..., float]] = {"epsilon": epsilon, "calibrated": calibrated}


def answer(request: dict[str, Any]) -> Any:
    """Return the version, or a value and the CPU seconds it took."""
    task = request.pop("task")
    if task == "version":
        return version("dp-accounting")
    start = time.process_time()
    value = CALLS[task](**request)
    return {"value": value, "seconds": time.process_time() - start}


def main() -> None:
    """Answer requests until the input ends."""
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()

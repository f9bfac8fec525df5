"""The wire audit: does the form of an output tell what its value must not?

Events are fixed beforehand, counted on both inputs of a pair, and turned into a lower bound on epsilon by
Clopper-Pearson intervals with a Bonferroni correction over all events and pairs. Besides, some forms must not occur at
all: outputs whose type or shape differs between neighbours, NaN, infinities, minus zero, numbers off the declared grid,
and errors that differ.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.audit.verdict import Level, Outcome, Verdict, Witness
from discreet.privacy import Guarantee

Floats = NDArray[np.float64]
_GRIDS = range(-60, -19, 1)
_CONFIDENCE = 1 - 1e-6


def audit_wire(
    mechanism: Callable[[Any], Any], claim: Guarantee, neighbours: Iterable[tuple[Any, Any]], *, draws: int
) -> Verdict:
    """Run the mechanism on both inputs of each pair and look at the form of what comes out."""
    started = time.perf_counter()
    pairs = list(neighbours)
    findings: list[str] = []
    best, witness, samples = 0.0, None, 0
    tests = max(len(pairs) * 2 * (len(_GRIDS) + 3), 1)
    for first, second in pairs:
        release = getattr(mechanism, "release", mechanism)
        one, two = _outputs(release, first, draws), _outputs(release, second, draws)
        samples += 2 * draws
        findings += _channels(one, two)
        if isinstance(one, str) or isinstance(two, str):
            continue
        outputs = [one, two]
        findings += _forbidden(outputs, getattr(mechanism, "grid", None))
        for name, events in _events(outputs, (first, second), getattr(mechanism, "scale", None)):
            bound = _bound(events, claim, tests)
            if bound > best:
                best, witness = bound, Witness(first, second, name)
    limit = _epsilon(claim)
    unique = tuple(dict.fromkeys(findings))
    outcome = Outcome.REFUTED if best > limit or unique else Outcome.KEPT
    return Verdict(
        claim=claim,
        level=Level.WIRE,
        outcome=outcome,
        low=best,
        high=None,
        confidence=_CONFIDENCE,
        witness=witness,
        findings=unique,
        pairs=len(pairs),
        samples=samples,
        seconds=time.perf_counter() - started,
    )


def _outputs(mechanism: Callable[[Any], Any], value: Any, draws: int) -> list[Any] | str:
    """Return outputs, or the type and text of the error that the input raises."""
    try:
        return [mechanism(value) for _ in range(draws)]
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def _channels(first: list[Any] | str, second: list[Any] | str) -> list[str]:
    """Compare errors, types and shapes of two neighbours."""
    if isinstance(first, str) or isinstance(second, str):
        return [] if first == second else ["neighbouring inputs do not raise the same error"]
    found = []
    if {_form(output) for output in first} != {_form(output) for output in second}:
        found.append("neighbouring inputs give outputs of different type or shape")
    return found


def _form(output: Any) -> tuple[str, tuple[int, ...]]:
    """Return the type and shape of an output."""
    if isinstance(output, np.ndarray):
        return f"array of {output.dtype}", output.shape
    if isinstance(output, list | tuple):
        return type(output).__name__, (len(output),)
    return type(output).__name__, ()


def _numbers(outputs: list[Any]) -> Floats | None:
    """Return numeric outputs as floats, or None where they are not floats at all."""
    flat = np.concatenate([np.asarray(output).ravel() for output in outputs]) if outputs else np.empty(0)
    return flat if flat.dtype == np.float64 else None


def _forbidden(outputs: list[list[Any]], grid: Fraction | None) -> list[str]:
    """Name forms that no float output may have."""
    found = []
    for numbers in (_numbers(output) for output in outputs):
        if numbers is None:
            continue
        if not np.all(np.isfinite(numbers)):
            found.append("an output is NaN or infinite")
            continue
        if np.any((numbers == 0.0) & np.signbit(numbers)):
            found.append("an output is minus zero")
        if grid is not None and np.any(_off_grid(numbers, grid)):
            found.append("an output lies off the declared grid")
    return found


def _off_grid(numbers: Floats, grid: Fraction) -> NDArray[np.bool_]:
    """Say which numbers are no multiples of a power of two."""
    steps = numbers / float(grid)
    return np.asarray(steps != np.floor(steps))


def _events(
    outputs: list[list[Any]], inputs: tuple[Any, Any], scale: float | None
) -> list[tuple[str, tuple[NDArray[np.bool_], NDArray[np.bool_]]]]:
    """Return precision and reachability events on both sides."""
    one, two = _numbers(outputs[0]), _numbers(outputs[1])
    if one is None or two is None or not (np.all(np.isfinite(one)) and np.all(np.isfinite(two))):
        return []
    events = [
        (f"the output is no multiple of 2^{k}", (_off_grid(one, Fraction(2) ** k), _off_grid(two, Fraction(2) ** k)))
        for k in _GRIDS
    ]
    if scale is not None and not any(isinstance(value, np.ndarray) for value in inputs):
        for value in inputs:
            place = float(value)
            events.append(
                (
                    "the output is reachable by naive inversion from one input",
                    (reachable(one, place, scale), reachable(two, place, scale)),
                )
            )
    return events


def reachable(outputs: Floats, place: float, scale: float) -> NDArray[np.bool_]:
    """Say which outputs equal place +- scale * ln(u) as floats for some multiple u of 2^-53 near the one that fits.

    Naive samplers compute exactly that, and leave holes between the reachable floats that differ from input to input.
    """
    with np.errstate(over="ignore", under="ignore"):
        guess = np.exp(-np.abs(outputs - place) / scale)
    steps = np.round(guess * 2.0**53)
    hit = np.zeros(outputs.shape, dtype=np.bool_)
    for offset in range(-2, 3):
        u = np.maximum(steps + offset, 1.0) * 2.0**-53
        noise = scale * np.log(np.minimum(u, 1.0))
        hit |= (place + noise == outputs) | (place - noise == outputs)
    return hit


def _bound(events: tuple[NDArray[np.bool_], NDArray[np.bool_]], claim: Guarantee, tests: int) -> float:
    """Return a lower confidence bound on epsilon from one event, in both directions."""
    delta = float(getattr(claim, "delta", 0.0))
    counts = [(int(np.count_nonzero(event)), int(event.size)) for event in events]
    rest = (1 - _CONFIDENCE) / tests
    bounds = [_log_ratio(counts[0], counts[1], delta, rest), _log_ratio(counts[1], counts[0], delta, rest)]
    return max(bounds)


def _log_ratio(first: tuple[int, int], second: tuple[int, int], delta: float, rest: float) -> float:
    """Return ln of (lower bound on P minus delta) over the upper bound on Q, at least 0."""
    from scipy.special import betaincinv

    (seen, of), (other, other_of) = first, second
    low = 0.0 if seen == 0 else float(betaincinv(seen, of - seen + 1, rest / 2))
    high = 1.0 if other == other_of else float(betaincinv(other + 1, other_of - other, 1 - rest / 2))
    return max(math.log((low - delta) / high), 0.0) if low > delta else 0.0


def _epsilon(claim: Guarantee) -> float:
    """Return what a sampled event may show at most: the claim's epsilon at its delta, or at delta 0 for the others."""
    epsilon = getattr(claim, "epsilon", None)
    if isinstance(epsilon, int | float):
        return float(epsilon)
    return float(claim.loss.epsilon(1e-9).upper)

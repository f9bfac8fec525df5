"""The wire audit: does the form of an output tell what its value must not?

Every draw is looked at for a list of events: its form (type, shape, lengths, keys), the error it raised, NaN,
infinities, minus zero, not being a multiple of a power of two, being reachable by naive inversion from one of the
inputs. Forms and errors are not known beforehand, so they are collected on the first half of the draws and counted on
the second. Each event is counted once a draw on both inputs of a pair, and turned into a lower bound on epsilon by
Clopper-Pearson intervals with a Bonferroni correction over all events and pairs. A claim is refuted when such a bound
exceeds it; forms that are wrong on any input (NaN, infinities, minus zero, off the declared grid) are findings, and
refute by themselves.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.audit.verdict import Level, Outcome, Verdict, Witness
from discreet.errors import ParameterError
from discreet.privacy import ZCDP, ApproxDP, Guarantee, PureDP

Floats = NDArray[np.float64]
Event = Callable[["Draw"], bool]
_GRIDS = range(-60, -19)
_CONFIDENCE = 1 - 1e-6
_ALLOWANCE = Fraction(1, 1000)


@dataclass(frozen=True, slots=True)
class Draw:
    """What one run gave: its form in words, and its floats where it is one or an array of them."""

    form: str
    floats: Floats | None


def audit_wire(
    mechanism: Callable[[Any], Any], claim: Guarantee, neighbours: Iterable[tuple[Any, Any]], *, draws: int
) -> Verdict:
    """Run the mechanism on both inputs of each pair and look at the form of what comes out."""
    started = time.perf_counter()
    pairs = list(neighbours)
    if not pairs or draws < 2:
        raise ParameterError("a wire audit needs at least one pair of inputs and two draws", parameter="neighbours")
    delta, limit = _allowed(claim)
    release = getattr(mechanism, "wire", mechanism)
    runs = [(_runs(release, first, draws), _runs(release, second, draws)) for first, second in pairs]
    events = [
        _events(*both, inputs, getattr(mechanism, "scale", None)) for both, inputs in zip(runs, pairs, strict=True)
    ]
    tests = 2 * sum(len(listed) for listed in events)
    best, witness = 0.0, None
    for (first, second), inputs, listed in zip(runs, pairs, events, strict=True):
        for name, event in listed:
            counts = [sum(event(draw) for draw in half) for half in (first[draws // 2 :], second[draws // 2 :])]
            bound = _bound(counts, draws - draws // 2, delta, tests)
            if bound > best:
                best, witness = bound, Witness(inputs[0], inputs[1], name)
    everything = [draw for both in runs for run in both for draw in run]
    findings = _findings(everything, getattr(mechanism, "grid", None))
    failed = all(draw.form.startswith("error") for draw in everything)
    outcome = Outcome.REFUTED if best > limit or findings else Outcome.OPEN if failed else Outcome.KEPT
    return Verdict(
        claim=claim,
        level=Level.WIRE,
        outcome=outcome,
        low=best,
        high=None,
        confidence=_CONFIDENCE,
        witness=witness,
        findings=(*findings, *(("every run raised an error",) if failed else ())),
        pairs=len(pairs),
        samples=len(everything),
        seconds=time.perf_counter() - started,
    )


def _runs(release: Callable[[Any], Any], value: Any, draws: int) -> list[Draw]:
    """Run on one input; an error is an outcome like any other."""
    return [_run(release, value) for _ in range(draws)]


def _run(release: Callable[[Any], Any], value: Any) -> Draw:
    """Run once."""
    try:
        output = release(value)
    except Exception as error:
        return Draw(f"error {type(error).__name__}: {error}", None)
    return Draw(_form(output), _floats(output))


def _form(output: Any) -> str:
    """Describe the type, shape, lengths and keys of an output, never its numbers."""
    if isinstance(output, np.ndarray):
        return f"array of {output.dtype}, shape {output.shape}"
    if isinstance(output, dict):
        return f"dict {{{', '.join(f'{key!r}: {_form(entry)}' for key, entry in output.items())}}}"
    if isinstance(output, list | tuple):
        return f"{type(output).__name__} ({', '.join(_form(entry) for entry in output)})"
    if isinstance(output, str | bytes):
        return f"{type(output).__name__} of length {len(output)}"
    return type(output).__name__


def _floats(output: Any) -> Floats | None:
    """Return the floats of a number or an array; tuples, positions and texts have none."""
    if isinstance(output, float | np.floating) or (isinstance(output, np.ndarray) and output.dtype.kind == "f"):
        return np.atleast_1d(np.asarray(output, dtype=np.float64)).ravel()
    return None


def _events(
    first: list[Draw], second: list[Draw], inputs: tuple[Any, Any], scale: float | None
) -> list[tuple[str, Event]]:
    """Return the events to count: the forms seen in the first halves, precision and reachability for floats."""
    early = [*first[: len(first) // 2], *second[: len(second) // 2]]
    events: list[tuple[str, Event]] = [
        (f"the output has the form {form!r}", _has_form(form)) for form in sorted({draw.form for draw in early})
    ]
    if not any(draw.floats is not None for draw in early):
        return events
    events += [(f"an output is no multiple of 2^{k}", _is_off(Fraction(2) ** k)) for k in _GRIDS]
    if scale is not None and all(isinstance(value, int | float | Fraction) for value in inputs):
        for value in inputs:
            events.append(
                ("an output is reachable by naive inversion from one input", _is_reached(float(value), scale))
            )
    return events


def _has_form(form: str) -> Event:
    return lambda draw: draw.form == form


def _is_off(grid: Fraction) -> Event:
    return lambda draw: draw.floats is not None and bool(np.any(_off_grid(draw.floats, grid)))


def _is_reached(place: float, scale: float) -> Event:
    return lambda draw: draw.floats is not None and bool(np.all(reachable(draw.floats, place, scale)))


def _findings(draws: list[Draw], grid: Fraction | None) -> tuple[str, ...]:
    """Name forms that no float output may have, whatever the input."""
    numbers = [draw.floats for draw in draws if draw.floats is not None]
    found = []
    if any(not np.all(np.isfinite(one)) for one in numbers):
        found.append("an output is NaN or infinite")
    if any(np.any((one == 0.0) & np.signbit(one)) for one in numbers):
        found.append("an output is minus zero")
    if grid is not None and any(np.any(_off_grid(one, grid)) for one in numbers):
        found.append("an output lies off the declared grid")
    return tuple(found)


def _off_grid(numbers: Floats, grid: Fraction) -> NDArray[np.bool_]:
    """Say which numbers are no multiples of a power of two; infinities and numbers too large to have a fraction are."""
    with np.errstate(over="ignore", invalid="ignore"):
        steps = numbers / float(grid)
    return np.asarray(np.isfinite(steps) & (steps != np.floor(steps)))


def reachable(outputs: Floats, place: float, scale: float) -> NDArray[np.bool_]:
    """Say which outputs equal place +- scale * ln(u) as floats for some multiple u of 2^-53 near the one that fits.

    Naive samplers compute exactly that, and leave holes between the reachable floats that differ from input to input.
    """
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        guess = np.exp(-np.abs(outputs - place) / scale)
        steps = np.round(guess * 2.0**53)
        hit = np.zeros(outputs.shape, dtype=np.bool_)
        for offset in range(-2, 3):
            u = np.clip((steps + offset) * 2.0**-53, 2.0**-53, 1.0)
            noise = scale * np.log(u)
            hit |= (place + noise == outputs) | (place - noise == outputs)
    return hit


def _bound(counts: list[int], draws: int, delta: float, tests: int) -> float:
    """Return a lower confidence bound on epsilon from one event, in both directions."""
    rest = (1 - _CONFIDENCE) / max(tests, 1)
    one, two = counts
    return max(_log_ratio(one, two, draws, delta, rest), _log_ratio(two, one, draws, delta, rest))


def _log_ratio(seen: int, other: int, draws: int, delta: float, rest: float) -> float:
    """Return ln of (lower bound on P minus delta) over the upper bound on Q, at least 0."""
    from scipy.special import betaincinv

    low = 0.0 if seen == 0 else float(betaincinv(seen, draws - seen + 1, rest / 2))
    high = 1.0 if other == draws else float(betaincinv(other + 1, draws - other, 1 - rest / 2))
    return max(math.log((low - delta) / high), 0.0) if low > delta else 0.0


def _allowed(claim: Guarantee) -> tuple[float, float]:
    """Return a delta, the claim's own or one in a thousand more, and the epsilon that the claim allows at it."""
    match claim:
        case PureDP():
            return 0.0, float(claim.epsilon)
        case ApproxDP():
            return float(claim.delta), float(claim.epsilon)
    own = Fraction(claim.delta) if isinstance(claim, ZCDP) else Fraction(0)
    delta = float(own + (1 - own) * _ALLOWANCE)
    return delta, claim.loss.epsilon(delta).upper

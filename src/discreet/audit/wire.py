"""The wire audit: does the form of an output tell what its value must not?

Every draw is looked at for a list of events: its form (type, shape, lengths, keys), the error it raised, NaN,
infinities, minus zero, not being a multiple of a power of two, being reachable by naive inversion from one of the
inputs. Floats are looked for inside lists, tuples and dicts too. Forms and errors are not known beforehand, so they are
collected on the first half of the draws and counted on the second. Each event is counted once a draw on both inputs of
a pair, and turned into a lower bound on epsilon by Clopper-Pearson intervals with a Bonferroni correction over all
events and pairs. A guarantee is refuted when such a bound exceeds it; forms that are wrong on any input (NaN,
infinities, minus zero, off the declared grid) are findings, and refute by themselves.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import NDArray

from discreet.audit.statistical import loss_at_least
from discreet.audit.verdict import Level, Outcome, Verdict, Witness
from discreet.errors import ParameterError
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP

Floats = NDArray[np.float64]
Hits = NDArray[np.bool_]
Event = Callable[["WireRuns"], Hits]
_GRIDS = range(-60, -19)
_CONFIDENCE = 1 - 1e-9
_ALLOWANCE = Fraction(1, 1000)
_LARGEST = 1e300


@dataclass(frozen=True, slots=True)
class WireRuns:
    """What many runs on one input gave: the form of each in words, and the floats of all with the run each is from."""

    forms: tuple[str, ...]
    floats: Floats
    places: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.forms)

    def halves(self) -> tuple[WireRuns, WireRuns]:
        """Return the first half, from which events are chosen, and the second, in which they are counted."""
        middle = len(self) // 2
        first = self.places < middle
        return (
            WireRuns(self.forms[:middle], self.floats[first], self.places[first]),
            WireRuns(self.forms[middle:], self.floats[~first], self.places[~first] - middle),
        )

    def any_of(self, holds: NDArray[np.bool_]) -> Hits:
        """Say which runs have a float for which something holds."""
        hits = np.zeros(len(self), dtype=np.bool_)
        hits[self.places[holds]] = True
        return hits


def audit_wire(
    mechanism: Callable[[Any], Any], guarantee: Guarantee, neighbors: Iterable[tuple[Any, Any]], *, draws: int
) -> Verdict:
    """Run the mechanism on both inputs of each pair and look at the form of what comes out."""
    started = time.perf_counter()
    pairs = list(neighbors)
    if not pairs or draws < 2:
        raise ParameterError("a wire audit needs at least one pair of inputs and two draws", parameter="neighbors")
    delta, limit = _allowed(guarantee)
    runs = [(_runs(mechanism, first, draws), _runs(mechanism, second, draws)) for first, second in pairs]
    scale = getattr(mechanism, "scale", None)
    halves = [(first.halves(), second.halves()) for first, second in runs]
    events = [
        _events(first[0], second[0], inputs, _scales(scale, guarantee, inputs))
        for (first, second), inputs in zip(halves, pairs, strict=True)
    ]
    tested, rest = draws - draws // 2, (1 - _CONFIDENCE) / (2 * sum(len(listed) for listed in events))
    best, witness = 0.0, None
    for (first, second), inputs, listed in zip(halves, pairs, events, strict=True):
        counts = np.array([[np.count_nonzero(event(half)) for half in (first[1], second[1])] for _, event in listed])
        bounds = loss_at_least(counts, tested, counts[:, ::-1], tested, delta=delta, rest=rest).max(axis=1)
        if bounds.max() > best:
            best, witness = float(bounds.max()), Witness(inputs[0], inputs[1], listed[int(bounds.argmax())][0])
    everything = [run for both in runs for run in both]
    findings = _findings(np.concatenate([run.floats for run in everything]), getattr(mechanism, "grid", None))
    failed = all(form.startswith("error") for run in everything for form in run.forms)
    outcome = Outcome.REFUTED if best > limit or findings else Outcome.OPEN if failed else Outcome.KEPT
    return Verdict(
        guarantee=guarantee,
        level=Level.WIRE,
        outcome=outcome,
        low=best,
        high=None,
        confidence=_CONFIDENCE,
        witness=witness,
        findings=findings,
        pairs=2 * len(pairs),
        samples=sum(len(run) for run in everything),
        seconds=time.perf_counter() - started,
    )


def _runs(mechanism: Callable[[Any], Any], value: Any, draws: int) -> WireRuns:
    """Run on one input, all at once where the mechanism has `runs`; an error is an outcome like any other."""
    many = getattr(mechanism, "runs", None)
    if not callable(many):
        release = getattr(mechanism, "wire", mechanism)
        return _listed([_run(release, value) for _ in range(draws)])
    try:
        outputs = many(value, draws)
    except Exception as error:
        return _listed([(_error(error), None)] * draws)
    single = isinstance(outputs, np.ndarray) and outputs.ndim == 0
    if single or not isinstance(outputs, np.ndarray | list | tuple) or len(outputs) != draws:
        raise ParameterError("runs(value, draws) returns as many outputs as it is asked for", parameter="mechanism")
    if isinstance(outputs, np.ndarray) and outputs.dtype.kind in "biuf":
        floats = outputs.reshape(draws, -1).astype(np.float64) if outputs.dtype.kind == "f" else np.empty((draws, 0))
        places = np.repeat(np.arange(draws), floats.shape[1])
        return WireRuns((_form(outputs[0]),) * draws, floats.ravel(), places)
    return _listed([(_form(output), _floats(output)) for output in outputs])


def _listed(found: list[tuple[str, Floats | None]]) -> WireRuns:
    """Put forms and floats of single runs together."""
    numbers = [np.empty(0) if floats is None else floats for _, floats in found]
    places = np.repeat(np.arange(len(found)), [floats.size for floats in numbers])
    return WireRuns(tuple(form for form, _ in found), np.concatenate(numbers), places)


def _run(release: Callable[[Any], Any], value: Any) -> tuple[str, Floats | None]:
    """Run once."""
    try:
        output = release(value)
    except Exception as error:
        return _error(error), None
    return _form(output), _floats(output)


def _error(error: Exception) -> str:
    """Return the form of a run that failed."""
    return f"error {type(error).__name__}: {error}"


def _form(output: Any) -> str:
    """Describe the type, shape, lengths and keys of an output, never its numbers."""
    if isinstance(output, np.ndarray):
        return f"array of {output.dtype}, shape {output.shape}"
    if isinstance(output, dict):
        return f"dict {{{', '.join(f'{key!r}: {_form(entry)}' for key, entry in output.items())}}}"
    if isinstance(output, list | tuple):
        kinds = [(form, sum(1 for _ in same)) for form, same in groupby(output, _form)]
        return f"{type(output).__name__} ({', '.join(form if n == 1 else f'{n} of {form}' for form, n in kinds)})"
    if isinstance(output, str | bytes):
        return f"{type(output).__name__} of length {len(output)}"
    return type(output).__name__


def _floats(output: Any) -> Floats | None:
    """Return the floats of an output, those in lists, tuples and values of dicts too; None where there are none."""
    if isinstance(output, np.ndarray) and output.dtype.kind == "f":
        return output.astype(np.float64).ravel()
    found = list(_walk(output))
    return np.array(found, dtype=np.float64) if found else None


def _walk(output: Any) -> Iterator[float]:
    """Walk over the floats of an output."""
    if isinstance(output, float | np.floating):
        yield float(output)
    elif isinstance(output, dict):
        yield from _walk(list(output.values()))
    elif isinstance(output, np.ndarray) and output.dtype.kind in "fO":
        yield from _walk(output.ravel().tolist())
    elif isinstance(output, list | tuple):
        for entry in output:
            yield from _walk(entry)


def _scales(stated: object, guarantee: Guarantee, inputs: tuple[Any, Any]) -> set[float]:
    """Return the scales of noise to try: the one stated, and what a pure guarantee needs for this distance."""
    if not all(isinstance(value, int | float | Fraction) and -_LARGEST < value < _LARGEST for value in inputs):
        return set()
    scales: set[float] = {float(stated)} if isinstance(stated, int | float | Fraction) else set()
    if isinstance(guarantee, PureDP) and guarantee.epsilon > 0:
        scales.add(abs(float(inputs[1]) - float(inputs[0])) / float(guarantee.epsilon))
    return {scale for scale in scales if 0.0 < scale < _LARGEST}


def _events(first: WireRuns, second: WireRuns, inputs: tuple[Any, Any], scales: set[float]) -> list[tuple[str, Event]]:
    """Return the events to count: the forms seen in the first halves, precision and reachability for floats."""
    forms = sorted({*first.forms, *second.forms})
    events: list[tuple[str, Event]] = [(f"the output has the form {form!r}", _has_form(form)) for form in forms]
    if not (first.floats.size or second.floats.size):
        return events
    events += [(f"an output is no multiple of 2^{k}", _is_off(Fraction(2) ** k)) for k in _GRIDS]
    name = "an output is reachable by naive inversion from one input"
    return events + [(name, _is_reached(float(value), scale)) for scale in sorted(scales) for value in inputs]


def _has_form(form: str) -> Event:
    return lambda runs: np.array([one == form for one in runs.forms])


def _is_off(grid: Fraction) -> Event:
    return lambda runs: runs.any_of(_off_grid(runs.floats, grid))


def _is_reached(place: float, scale: float) -> Event:
    def event(runs: WireRuns) -> Hits:
        reached = reachable(runs.floats, place, scale)
        return np.asarray(runs.any_of(reached) & ~runs.any_of(~reached))

    return event


def _findings(numbers: Floats, grid: object) -> tuple[str, ...]:
    """Name forms that no float output may have, whatever the input; a grid is looked at if it is a power of two."""
    found = []
    if not np.all(np.isfinite(numbers)):
        found.append("an output is NaN or infinite")
    if np.any((numbers == 0.0) & np.signbit(numbers)):
        found.append("an output is minus zero")
    if _is_power_of_two(grid) and np.any(_off_grid(numbers, Fraction(grid))):
        found.append("an output lies off the declared grid")
    return tuple(found)


def _is_power_of_two(grid: object) -> TypeGuard[int | float | Fraction]:
    """Say whether a float can be tested for being a multiple without a rounding of its own."""
    if not isinstance(grid, int | float | Fraction) or not 0 < grid < _LARGEST:
        return False
    top, bottom = Fraction(grid).as_integer_ratio()
    return top & (top - 1) == 0 and bottom & (bottom - 1) == 0


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


def _allowed(guarantee: Guarantee) -> tuple[float, float]:
    """Return a delta, the guarantee's own or one in a thousand more, and the epsilon allowed at it."""
    match guarantee:
        case PureDP():
            return 0.0, float(guarantee.epsilon)
        case ApproxDP():
            return float(guarantee.delta), float(guarantee.epsilon)
    own = Fraction(guarantee.delta) if isinstance(guarantee, ZCDP | GaussianDP) else Fraction(0)
    delta = float(own + (1 - own) * _ALLOWANCE)
    return delta, guarantee.loss.epsilon(delta).upper

"""The time and the memory of one private step over a plain step, the same network and batch, in turns.

Steps are whole, as the trainer takes them: forward, backward, clipping, noise, update; one thread computes, medians of
rounds. Float steps add torch's normal numbers (`FloatRelease`). Exact steps go through `IntegerRelease`: float64 sums,
integers, exact noise that a second thread draws while the step is computed. `exact` is the time that one waits, `exact
CPU` counts the second thread too; all other times are CPU time. Opacus is timed where it lies under .peers/opacus (or
DISCREET_PEER_OPACUS), made by `pip install --no-deps --target`; what raises an error is left out. Memory is what
tensors hold at the peak of a step. `python -m benchmarks.deep.speed [--batch 64] [--rounds 9] [--only CNN VGG]
[--memory]` prints a line a network.
"""

from __future__ import annotations

import argparse
import copy
import statistics
import time
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import torch

from benchmarks.common.bars import Bar
from benchmarks.deep.models import NETWORKS, Network
from benchmarks.deep.opacus_steps import opacus_sides
from discreet.learning.deep.clip import ClippedSum, CrossEntropy
from discreet.learning.deep.noise import FloatRelease, GradientGrid, IntegerRelease
from discreet.learning.deep.plan import Clip

RATE = 1e-4
NORM = 1.0
LARGE = ("CNN", "VGG", "ResNet-GN", "transformer")
_STEPS = 1 << 20
_BATCHES = 1 << 14  # physical batches a step that the noise allows for


def sides(network: Network, batch: int) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield the names and the steps that are compared."""
    inputs, targets = network.batch(batch)
    yield "plain", plain_step(copy.deepcopy(network.model), inputs, targets)
    for name, exact in (("float", False), ("exact", True)):
        yield name, private_step(copy.deepcopy(network.model), network, inputs, targets, exact)


def plain_step(model: Any, inputs: Any, targets: Any, compiled: bool = False) -> Callable[[], None]:
    """Return one step of gradient descent."""
    trained = [value for value in model.parameters() if value.requires_grad]
    optimizer = torch.optim.SGD(trained, lr=RATE)

    def losses() -> Any:
        return torch.nn.functional.cross_entropy(model(inputs), targets)

    run = torch.compile(losses, dynamic=False) if compiled else losses

    def step() -> None:
        run().backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def private_step(
    model: Any, network: Network, inputs: Any, targets: Any, exact: bool, compiled: bool = False
) -> Callable[[], None]:
    """Return one private step: clipped sum, noise, update."""
    rows = len(targets)
    clipped = clipped_sum(network._replace(model=model), inputs, targets, exact=exact, compiled=compiled)
    present = torch.ones(rows, dtype=torch.bool, device=inputs.device)
    optimizer = torch.optim.SGD(clipped.parameters, lr=RATE)
    release = _release(clipped, rows, exact)
    steps = iter(range(_STEPS))

    def step() -> None:
        release.clear()
        release.add(clipped(inputs, targets, present))
        noisy = release.release(next(steps))
        torch._foreach_div_(noisy, rows)
        for value, one in zip(clipped.parameters, noisy, strict=True):
            value.grad = one.to(value.dtype)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)

    return step


def clipped_sum(
    network: Network, inputs: Any, targets: Any, *, exact: bool, compiled: bool = False, norm: float = NORM
) -> ClippedSum:
    """Return the clipped sum of batches like this one."""
    example = (torch.zeros_like(inputs[:1]), torch.zeros_like(targets[:1]))
    loss, rule = CrossEntropy(network.classes), Clip(norm)
    return ClippedSum(network.model, loss, rule, physical=len(targets), exact=exact, example=example, compiled=compiled)


def _release(clipped: ClippedSum, rows: int, exact: bool) -> Any:
    """Return what adds noise and hands out steps in order: exact, or torch's normal numbers."""
    shapes = [tuple(one.shape) for one in clipped.parameters]
    device = clipped.parameters[0].device
    if not exact:
        return FloatRelease(shapes, deviation=NORM, steps=_STEPS, device=device)
    grid = GradientGrid(
        norm=Fraction(NORM), dimension=clipped.dimension, physical=rows, batches=_BATCHES,
        summation_error=Fraction(clipped.summation_error), scale=Fraction(1), fixed_slots=False,
        sizes=tuple(clipped.sizes),
    )  # fmt: skip
    return IntegerRelease(grid, shapes, steps=_STEPS, device=device)


def ratios(network: Network, batch: int, rounds: int) -> dict[str, float]:
    """Return the median of the ratios to the plain step of the same round, and its milliseconds."""
    steps = dict(sides(network, batch)) | dict(opacus_sides(network, batch))
    taken: dict[str, list[float]] = {name: [] for name in (*steps, "exact CPU")}
    for turn in range(rounds + 1):
        for name, step in steps.items():
            processor, wall = _timed(step)
            if turn:
                taken[name].append(wall if name == "exact" else processor)
                if name == "exact":
                    taken["exact CPU"].append(processor)
    found = {"plain ms": 1e3 * statistics.median(taken["plain"])}
    for name in [name for name in taken if name != "plain"]:
        found[name] = statistics.median(a / b for a, b in zip(taken[name], taken["plain"], strict=True))
    return found


def _timed(step: Callable[[], None]) -> tuple[float, float]:
    """Return the CPU time and the time on the clock of one step, averaged over a few."""
    processor, clock = time.process_time(), time.perf_counter()
    calls = 0
    while calls < 3 or time.perf_counter() - clock < 0.05:
        step()
        calls += 1
    return (time.process_time() - processor) / calls, (time.perf_counter() - clock) / calls


def times(batch: int, rounds: int = 9) -> Iterator[Bar]:
    """Hold the times of all networks against their bars."""
    torch.set_num_threads(1)
    for name, make in NETWORKS.items():
        found = ratios(make(False), batch, rounds)
        shown = ", ".join(f"{side} {value:.2f}" for side, value in found.items() if side != "plain ms")
        yield Bar(f"{name}, batch {batch}: plain {found['plain ms']:.2f} ms", shown)
        yield from _bars(name, batch, found)


def _bars(name: str, batch: int, found: dict[str, float]) -> Iterator[Bar]:
    """Yield what the times of one network must meet."""
    if batch == 64:
        most = 1.1 if name == "LoRA" else 1.5 if name in LARGE else 2.5
        yield Bar(f"{name}: float", f"{found['float']:.2f}", f"<= {most:g}", found["float"] <= most)
    if name in LARGE:
        bar = "<= 2.2, stretch 1.8"
        yield Bar(f"{name}: exact", f"{found['exact']:.2f}", bar, found["exact"] <= 2.2)
    elif batch == 256:
        yield Bar(f"{name}: exact", f"{found['exact']:.2f}", "stretch <= 3", None)
    for peer in ("opacus hooks", "opacus ghost"):
        if peer in found:
            ratio = found[peer] / found["float"]
            least = 15 if peer == "opacus hooks" and name in ("MLP", "embedding") else 1
            yield Bar(f"{name}: {peer} / float", f"{ratio:.2f}", f">= {least}", ratio >= least)
    if "opacus hooks" in found:
        ratio = found["opacus hooks"] / found["exact"]
        yield Bar(f"{name}: opacus hooks / exact", f"{ratio:.2f}", ">= 1", ratio >= 1)


def steps_of_64() -> Iterator[Bar]:
    """Time steps of 64 rows."""
    yield from times(64)


def steps_of_256() -> Iterator[Bar]:
    """Time steps of 256 rows."""
    yield from times(256, rounds=5)


def memory() -> Iterator[Bar]:
    """Hold the memory of steps of 64 rows against their bars."""
    torch.set_num_threads(1)
    for name, make in NETWORKS.items():
        found = peaks(make(False), 64)
        shown = ", ".join(f"{side} {value / found['plain']:.2f}" for side, value in found.items() if side != "plain")
        worst = max(found["float"], found["exact"]) / found["plain"]
        yield Bar(f"{name}: plain {found['plain']:.1f} MB", shown, "<= 3, stretch 2", worst <= 3)


def peaks(network: Network, batch: int) -> dict[str, float]:
    """Return, for each side, the megabytes that tensors hold at the peak of a step beyond what it starts with."""
    steps = [*sides(network, batch), *opacus_sides(network, batch)]
    return {side: _resident(step) for side, step in steps}


def _resident(step: Callable[[], None]) -> float:
    """Return the largest memory that tensors hold during a step, by torch's own allocator's notes."""
    from torch.profiler import ProfilerActivity, profile

    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        for _ in range(3):  # the second step frees what the first one left
            step()
    sizes = [event.nbytes() for event in _memory_events(seen)]
    now = top = 0
    for size in sizes:
        now += size
        top = max(top, now)
    return top / 1e6


def _memory_events(seen: Any) -> list[Any]:
    return [event for event in seen.profiler.kineto_results.events() if event.name() == "[memory]"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--only", nargs="*", default=list(NETWORKS))
    parser.add_argument("--memory", action="store_true")
    asked = parser.parse_args()
    torch.set_num_threads(1)
    for name in asked.only:
        if asked.memory:
            megabytes = peaks(NETWORKS[name](False), asked.batch)
            shown = {side: f"{value:.1f} ({value / megabytes['plain']:.2f})" for side, value in megabytes.items()}
            print(name, shown, flush=True)
        else:
            found = ratios(NETWORKS[name](False), asked.batch, asked.rounds)
            print(name, {key: round(value, 2) for key, value in found.items()}, flush=True)


if __name__ == "__main__":
    main()

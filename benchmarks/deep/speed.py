"""The time and the memory of one private step over a plain step, the same network and batch, in turns.

`python -m benchmarks.deep.speed [--batch 64] [--rounds 9] [--only CNN VGG] [--memory]` prints a line a network.
Steps are whole: forward, backward, clipping, noise, update. Float steps add torch's normal numbers; exact steps
round to integers and add integers that were drawn ahead: their drawing is timed by the benchmark of noise. Opacus is
timed where it lies under .peers/opacus (or DISCREET_PEER_OPACUS), made by `pip install --no-deps --target`.
"""

from __future__ import annotations

import argparse
import copy
import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch

from benchmarks.deep.models import NETWORKS, Network
from benchmarks.deep.opacus_steps import opacus_sides
from discreet.learning.deep.clip import ClippedSum, CrossEntropy

RATE = 1e-4
NORM = 1.0


class _Clip:
    norm, mode = NORM, "flat"


def sides(network: Network, batch: int) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield the names and the steps that are compared."""
    inputs, targets = network.batch(batch)
    yield "plain", plain_step(copy.deepcopy(network.model), inputs, targets)
    for name, exact in (("float", False), ("exact", True)):
        yield name, private_step(copy.deepcopy(network.model), network, inputs, targets, exact)


def plain_step(model: Any, inputs: Any, targets: Any) -> Callable[[], None]:
    """Return one step of gradient descent."""
    trained = [value for value in model.parameters() if value.requires_grad]
    optimizer = torch.optim.SGD(trained, lr=RATE)

    def step() -> None:
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(inputs), targets).backward()
        optimizer.step()

    return step


def private_step(model: Any, network: Network, inputs: Any, targets: Any, exact: bool) -> Callable[[], None]:
    """Return one private step: clipped sum, noise, update."""
    rows = len(targets)
    example = (torch.zeros_like(inputs[:1]), torch.zeros_like(targets[:1]))
    clipped = ClippedSum(model, CrossEntropy(network.classes), _Clip, physical=rows, exact=exact, example=example)
    present = torch.ones(rows, dtype=torch.bool)
    trained = list(clipped.parameters)
    optimizer = torch.optim.SGD(trained, lr=RATE)
    sizes = [value.numel() for value in trained]
    ahead = [torch.randint(-(1 << 20), 1 << 20, value.shape).double() for value in trained]

    def step() -> None:
        optimizer.zero_grad()
        sums = clipped(inputs, targets, present)
        if exact:
            for place, integers in enumerate(ahead):
                steps = sums[place].mul_(2.0**20).round_().add_(integers).mul_(2.0**-20 / rows)
                sums[place] = steps.float()
        else:
            noise = torch.randn(sum(sizes)).split(sizes)
            torch._foreach_add_(sums, [one.view_as(value) for one, value in zip(noise, trained, strict=True)])
            torch._foreach_div_(sums, rows)
        for value, one in zip(trained, sums, strict=True):
            value.grad = one
        optimizer.step()

    return step


def ratios(network: Network, batch: int, rounds: int) -> dict[str, float]:
    """Return the median of the ratios to the plain step of the same round, and its milliseconds."""
    steps = dict(sides(network, batch)) | dict(opacus_sides(network, batch))
    taken: dict[str, list[float]] = {name: [] for name in steps}
    for turn in range(rounds + 1):
        for name, step in steps.items():
            start = time.process_time()
            calls = 0
            while calls < 1 or time.process_time() - start < 0.03:
                step()
                calls += 1
            if turn:
                taken[name].append((time.process_time() - start) / calls)
    found = {"plain ms": 1e3 * statistics.median(taken["plain"])}
    for name in [name for name in steps if name != "plain"]:
        found[name] = statistics.median(a / b for a, b in zip(taken[name], taken["plain"], strict=True))
    return found


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

"""Private steps on a graphics card: the eight networks at their large size, 256 rows, TF32 off, and the noise alone.

All steps of a network are taken in turns, and a time is the median of the rounds, each a few steps long and ended by
waiting for the card. `plain` is a step of gradient descent as torch does it, `plain compiled` with loss and gradient
under torch.compile; `float` and `float compiled` are private steps with torch's normal numbers, `exact` those with
integers made on the card, under deterministic cuDNN, which only they need. Ratios are to `plain`. Memory is what torch
allocates at the peak of a step beyond what was there before it. Opacus is timed where it lies under .peers/opacus (or
DISCREET_PEER_OPACUS). `python -m benchmarks.deep.card [--only CNN VGG] [--rounds 7] [--small]` prints the lines.
"""

from __future__ import annotations

import argparse
import copy
import gc
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import torch

from benchmarks.common.bars import Bar
from benchmarks.deep.models import NETWORKS, Network
from benchmarks.deep.opacus_steps import opacus_sides
from benchmarks.deep.speed import plain_step, private_step

BATCH = 256
LARGE = ("VGG", "ResNet-GN", "transformer")
DRAWS = 10_000_000
_ENOUGH = 0.06  # seconds a turn of one side takes at least


def available() -> bool:
    """Say whether torch sees a graphics card."""
    return bool(torch.cuda.is_available())


def device() -> Any:
    """Return the card, or the processor where a script is tried without one."""
    return torch.device("cuda" if available() else "cpu")


@contextmanager
def deterministic() -> Iterator[None]:
    """Let cuDNN take the ways that exact sums demand."""
    before = torch.backends.cudnn.deterministic
    torch.backends.cudnn.deterministic = True
    try:
        yield
    finally:
        torch.backends.cudnn.deterministic = before


def full_floats() -> None:
    """Switch TF32 off."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False


def on_card(made: Network) -> Network:
    """Return a network and its batches on the card."""
    there = device()
    return made._replace(model=made.model.to(there), batch=lambda rows: tuple(one.to(there) for one in made.batch(rows)))


def sides(network: Network, batch: int) -> Iterator[tuple[str, Callable[[], None]]]:
    """Yield the names and the steps that are compared."""
    inputs, targets = network.batch(batch)
    for name, compiled in (("plain", False), ("plain compiled", True)):
        yield name, plain_step(copy.deepcopy(network.model), inputs, targets, compiled)
    for name, compiled in (("float", False), ("float compiled", True)):
        yield name, private_step(copy.deepcopy(network.model), network, inputs, targets, False, compiled)
    with deterministic():
        exact = private_step(copy.deepcopy(network.model), network, inputs, targets, True)
    yield "exact", deterministic()(exact)
    yield from opacus_sides(network, batch)


def built(network: Network, batch: int = BATCH) -> dict[str, Callable[[], None]]:
    """Return the steps by name, each taken twice: what is compiled is compiled then."""
    found = {}
    for name, step in sides(network, batch):
        step()
        step()
        _settle()
        found[name] = step
    return found


def _settle() -> None:
    """Wait for the card and give back what nobody holds."""
    gc.collect()
    if available():
        torch.cuda.synchronize()
        torch.cuda.empty_cache()


def milliseconds(steps: dict[str, Callable[[], None]], rounds: int) -> dict[str, float]:
    """Return the median time of each side over rounds of turns."""
    taken: dict[str, list[float]] = {name: [] for name in steps}
    for turn in range(rounds + 1):
        for name, step in steps.items():
            found = _timed(step)
            if turn:
                taken[name].append(found)
    return {name: 1e3 * statistics.median(times) for name, times in taken.items()}


def _timed(step: Callable[[], None]) -> float:
    """Return the time of one step, averaged over a few, the card's work included."""
    wait = torch.cuda.synchronize if available() else int
    step()
    wait()
    start, calls = time.perf_counter(), 0
    while calls < 2 or time.perf_counter() - start < _ENOUGH:
        step()
        calls += 1
        if calls % 8 == 0:
            wait()  # else the clock would only see how fast work is asked for
    wait()
    return (time.perf_counter() - start) / calls


def megabytes(steps: dict[str, Callable[[], None]]) -> dict[str, float]:
    """Return what is allocated at the peak of a step beyond what was there before it."""
    found = {}
    for name, step in steps.items():
        step()
        _settle()
        before = torch.cuda.memory_allocated()
        torch.cuda.reset_peak_memory_stats()
        step()
        torch.cuda.synchronize()
        found[name] = (torch.cuda.max_memory_allocated() - before) / 1e6
    return found


def lines(name: str, steps: dict[str, Callable[[], None]], rounds: int) -> Iterator[Bar]:
    """Hold the times and the memory of one network against their bars."""
    found = milliseconds(steps, rounds)
    plain = found["plain"]
    shown = ", ".join(f"{side} {value / plain:.2f}" for side, value in found.items() if side != "plain")
    yield Bar(f"{name}: plain {plain:.2f} ms", shown)
    best = found["float compiled"]
    most = 1.2 if name in LARGE else 1.35
    yield Bar(f"{name}: float, compiled", f"{best / plain:.2f}", f"<= {most}", best <= most * plain)
    beside = best / found["plain compiled"]
    yield Bar(f"{name}: float, compiled / plain, compiled", f"{beside:.2f}")
    for peer in ("opacus hooks", "opacus ghost"):
        if peer in found:
            yield Bar(f"{name}: {peer} / float, compiled", f"{found[peer] / best:.2f}", "> 1", found[peer] > best)
    most = 2.0 if name in ("VGG", "transformer") else 4.0
    exact = found["exact"] / plain
    yield Bar(f"{name}: exact", f"{exact:.2f}", f"<= {most:g}", exact <= most)
    if available():
        peaks = megabytes(steps)
        shown = ", ".join(f"{side} {value / peaks['plain']:.2f}" for side, value in peaks.items() if side != "plain")
        yield Bar(f"{name}: peak {peaks['plain']:.0f} MB", shown)


def steps(only: tuple[str, ...] = tuple(NETWORKS), rounds: int = 7, large: bool = True) -> Iterator[Bar]:
    """Time the steps of the networks."""
    full_floats()
    for name in only:
        torch.manual_seed(0)
        made = built(on_card(NETWORKS[name](large)), BATCH if large else 16)
        yield from lines(name, made, rounds)
        made.clear()
        torch.compiler.reset()
        _settle()


def noise(draws: int = DRAWS, rounds: int = 20) -> Iterator[Bar]:
    """Time the integers of a step of ten million parameters, beside torch's floats, and compare their bits."""
    from discreet.learning.deep.noise.device import DeviceNoise

    scale = Fraction(3, 2) * 2**30
    source = DeviceNoise(scale, draws, device())
    exact = [_timed(source.take) for _ in range(rounds + 1)][1:]
    floats = [_timed(lambda: torch.empty(draws, device=device()).normal_()) for _ in range(rounds + 1)][1:]
    taken = 1e3 * statistics.median(exact)
    shown = f"{taken:.2f} ms; torch's float32 normals {1e3 * statistics.median(floats):.3f} ms"
    yield Bar(f"exact integers, {draws:,} draws", shown, "<= 2 ms", taken <= 2)
    yield Bar("made by one kernel", str(source._fused))


def lines_of_card() -> Iterator[Bar]:
    """Measure noise and steps where there is a card, and say so where there is none."""
    if not available():
        yield Bar("no graphics card here", "nothing was measured")
        return
    yield Bar(torch.cuda.get_device_name(), f"torch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}")
    yield from noise()
    yield from steps()


def main() -> None:
    """Print the lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", nargs="*", default=list(NETWORKS))
    parser.add_argument("--small", action="store_true", help="small networks and batches, to try the script")
    parser.add_argument("--noise", action="store_true", help="the noise alone")
    asked = parser.parse_args()
    for bar in noise(10_000 if asked.small else DRAWS) if asked.noise else steps(tuple(asked.only), asked.rounds, not asked.small):
        print(" | ".join(cell for cell in bar.cells if cell), flush=True)


if __name__ == "__main__":
    main()

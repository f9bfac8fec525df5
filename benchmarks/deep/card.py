"""Private steps on a graphics card: the eight networks at their large size, 256 rows, TF32 off, and the noise alone.

All steps of a network are taken in turns, and a time is the median of the rounds, each a few steps long and ended by
waiting for the card. `plain` is a step of gradient descent as torch does it, `plain compiled` with loss and gradient
under torch.compile; `float` and `float compiled` are private steps with torch's normal numbers, `exact` those with
integers made on the card, under deterministic cuDNN, which only they need. Ratios are to `plain`. Memory is what torch
allocates at the peak of a step beyond what was there before it. Opacus is timed where it lies under .peers/opacus (or
DISCREET_PEER_OPACUS). `python -m benchmarks.deep.card [--parts noise rows vmap steps] [--only CNN VGG]` prints lines.
"""

from __future__ import annotations

import argparse
import copy
import gc
import statistics
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from fractions import Fraction
from typing import Any

import torch
from torch.func import functional_call, grad, vmap

from benchmarks.common.bars import Bar
from benchmarks.deep.models import NETWORKS, Network
from benchmarks.deep.opacus_steps import opacus_sides
from benchmarks.deep.speed import clipped_sum, plain_step, private_step
from discreet.learning.deep.clip import ClippedSum, CrossEntropy, probe

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
    return made._replace(
        model=made.model.to(there), batch=lambda rows: tuple(one.to(there) for one in made.batch(rows))
    )


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


def steps(only: Sequence[str] = tuple(NETWORKS), rounds: int = 5, large: bool = True) -> Iterator[Bar]:
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


def rows(only: Sequence[str] = tuple(NETWORKS), large: bool = True) -> Iterator[Bar]:
    """Compare all that is computed about one row, to the bit, while other rows and the slots change."""
    full_floats()
    batch, place = (BATCH, 100) if large else (16, 5)
    for name in only:
        network = on_card(NETWORKS[name](large))
        inputs, targets = network.batch(batch)
        with deterministic():
            clipped = clipped_sum(network, inputs, targets, exact=True)
            base = _numbers(clipped, inputs, targets, place)
            alike = []
            for by in (0, 1, batch - 1):
                others, labels = network.batch(batch)
                others[place], labels[place] = inputs[place], targets[place]
                found = _numbers(clipped, others.roll(by, 0), labels.roll(by, 0), (place + by) % batch)
                alike.append(all(torch.equal(one, other) for one, other in zip(base, found, strict=True)))
        count = sum(one.numel() for one in base)
        fits = all(alike) and clipped.slot_independent
        yield Bar(f"{name}: {count:,} numbers of a row", f"equal in {sum(alike)} of 3", "equal to the bit", fits)
        del clipped, base
        _settle()


def _numbers(clipped: ClippedSum, inputs: Any, targets: Any, unit: int) -> list[Any]:
    return [one.cpu() for one in probe._numbers(clipped, (inputs,), targets, unit).own]


def against_vmap(only: Sequence[str] = tuple(NETWORKS), large: bool = True) -> Iterator[Bar]:
    """Compare clipped sums with those of the gradients of rows, by vmap of the whole network, in float64."""
    full_floats()
    for name in only:
        network = on_card(NETWORKS[name](large))
        model, loss = network.model.double(), CrossEntropy(network.classes)
        inputs, targets = network.batch(8)
        inputs = inputs.double() if inputs.is_floating_point() else inputs
        found = list(gradients_of_rows(model, loss, inputs, targets).values())
        lengths = torch.stack([one.flatten(1).square().sum(1) for one in found]).sum(0).sqrt()
        norm = float(lengths.median())
        weights = (norm / lengths).clamp_max(1)
        wanted = [torch.einsum("b,b...->...", weights, one) for one in found]
        mine = clipped_sum(network, inputs, targets, exact=False, norm=norm)(inputs, targets, targets >= 0)
        off = [(one - other).square().sum() for one, other in zip(mine, wanted, strict=True)]
        error = float((torch.stack(off).sum() / torch.stack([one.square().sum() for one in wanted]).sum()).sqrt())
        yield Bar(f"{name}: clipped sum of 8 rows against vmap", f"{error:.1e}", "<= 1e-12", error <= 1e-12)
        del found, wanted, mine
        _settle()


def gradients_of_rows(model: Any, loss: Any, inputs: Any, targets: Any) -> dict[str, Any]:
    """Return the gradient of every row, for each trained tensor."""
    named = dict(model.named_parameters())
    trained = {name: value.detach() for name, value in named.items() if value.requires_grad}
    fixed = {name: value.detach() for name, value in named.items() if not value.requires_grad}

    def of_row(values: Any, row: Any, target: Any) -> Any:
        return loss(functional_call(model, {**fixed, **values}, (row[None],)), target[None]).sum()

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # torch says where a batching rule is missing
        found: dict[str, Any] = vmap(grad(of_row), in_dims=(None, 0, 0))(trained, inputs, targets)
    return found


def on_a_graphics_card() -> Iterator[Bar]:
    """Measure noise and steps where there is a card, and say so where there is none."""
    if not available():
        yield Bar(
            "no graphics card here", "nothing was measured; python -m benchmarks.deep.card runs where there is one"
        )
        return
    yield Bar(torch.cuda.get_device_name(), f"torch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}")
    for part in (noise, rows, against_vmap, steps):
        yield from part()


def main() -> None:
    """Print the lines."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", nargs="*", default=list(NETWORKS))
    parser.add_argument("--parts", nargs="*", default=["noise", "rows", "vmap", "steps"])
    parser.add_argument("--small", action="store_true", help="small networks and batches, to try the script")
    asked = parser.parse_args()
    parts: dict[str, Callable[[], Iterator[Bar]]] = {
        "noise": lambda: noise(10_000 if asked.small else DRAWS),
        "rows": lambda: rows(asked.only, not asked.small),
        "vmap": lambda: against_vmap(asked.only, not asked.small),
        "steps": lambda: steps(asked.only, asked.rounds, not asked.small),
    }
    for part in asked.parts:
        for bar in parts[part]():
            print(" | ".join(cell for cell in bar.cells if cell), flush=True)


if __name__ == "__main__":
    main()

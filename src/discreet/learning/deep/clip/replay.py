"""Many operations as one: recorded by a graphics card once, and played again on the numbers of other batches."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence

import torch

from discreet.learning.deep.clip.layers import Tensor

Sums = Callable[..., list[Tensor]]
_WORTH = 0.8  # a recording keeps its memory: it must be that much faster
_ROUNDS = 5
_CLOSE = 2.0**-40  # of sums of words, which a card adds in any order; other kernels would be farther apart
_CLOSE_FLOATS = 1e-3


def replayed(
    plain: Sums, steady: Sums, values: tuple[Sequence[Tensor], Tensor, Tensor], *, held: Sequence[Tensor], exact: bool
) -> Sums:
    """Return `plain`, or `steady` as a recording of it where that is faster and says the same on made-up rows.

    `steady` does what `plain` does without looking at a number. The same kernels run in the same order on the same
    shapes, so that what was found out about rows holds; the sums of both are compared all the same, in exact mode to
    2^-40. What draws masks, or waits for the card in the middle, is not recorded. A recording reads the tensors of the
    model, `held`, where they were: once an optimizer has put one elsewhere, `plain` is what is called.
    """
    device = values[1].device
    if device.type != "cuda":
        return plain
    with torch.no_grad(), torch.random.fork_rng(devices=[device]):
        generators = torch.default_generator, torch.cuda.default_generators[values[2].get_device()]
        before = [one.get_state() for one in generators]
        wanted = plain(*values)
        if not all(torch.equal(one.get_state(), state) for one, state in zip(generators, before, strict=True)):
            return plain
        try:
            recording = _Recording(steady, values)
        except Exception:  # whatever a model does that cannot be recorded: it goes on as it is
            return plain
        found = recording(*values)
        close = _CLOSE if exact else _CLOSE_FLOATS
        if not all(_alike(one, other, close) for one, other in zip(found, wanted, strict=True)):
            return plain
        worth = _seconds(recording, values) < _WORTH * _seconds(plain, values)
        return WhileInPlace(recording, plain, held) if worth else plain


class WhileInPlace:
    """Calls a recording while the tensors that it reads are where they were, and later the operations themselves.

    An optimizer may put weights elsewhere (`value.data = ...`). Where they were is then free for other numbers, such as
    those of rows, on which no row's gradient may depend.
    """

    def __init__(self, recording: Sums, plain: Sums, held: Sequence[Tensor]) -> None:
        self._recording, self._plain, self._held = recording, plain, held
        self._places = [one.data_ptr() for one in held]

    def __call__(self, inputs: Sequence[Tensor], targets: Tensor, here: Tensor) -> list[Tensor]:
        """Return the sums."""
        unmoved = [one.data_ptr() for one in self._held] == self._places
        return (self._recording if unmoved else self._plain)(inputs, targets, here)


class _Recording:
    """Operations on numbers at fixed places: what they are applied to is copied there, what they made copied away."""

    def __init__(self, steady: Sums, values: tuple[Sequence[Tensor], Tensor, Tensor]) -> None:
        inputs, targets, here = values
        self._inputs = tuple(one.clone() for one in inputs)
        self._targets, self._here = targets.clone(), here.clone()
        aside, now = torch.cuda.Stream(here.device), torch.cuda.current_stream(here.device)
        aside.wait_stream(now)
        with torch.cuda.stream(aside):
            for _ in range(2):  # what is made or chosen at a first use is made before
                steady(self._inputs, self._targets, self._here)
        now.wait_stream(aside)
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph):
            self._sums = steady(self._inputs, self._targets, self._here)

    def __call__(self, inputs: Sequence[Tensor], targets: Tensor, here: Tensor) -> list[Tensor]:
        torch._foreach_copy_([*self._inputs, self._targets, self._here], [*inputs, targets, here])
        self._graph.replay()
        return [one.clone() for one in self._sums]


def _alike(one: Tensor, other: Tensor, close: float) -> bool:
    """Whether two sums are equal, or as close as rounding in another order leaves them."""
    return bool(torch.equal(one, other) or (one - other).double().norm() <= close * other.double().norm())


def _seconds(sums: Sums, values: tuple[Sequence[Tensor], Tensor, Tensor]) -> float:
    """Return the least time that a call takes."""
    taken = []
    for _ in range(_ROUNDS):
        torch.cuda.synchronize(values[2].device)
        start = time.perf_counter()
        sums(*values)
        torch.cuda.synchronize(values[2].device)
        taken.append(time.perf_counter() - start)
    return min(taken)

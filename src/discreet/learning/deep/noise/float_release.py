"""Floating-point noise for benchmarks and first tries: fast, and nothing is proven about it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NoReturn

import torch

from discreet.errors import NotCopyable, ParameterError, StreamSpent
from discreet.learning.deep.noise.integer_sums import Tensor
from discreet.randomness.process import Process


class FloatRelease:
    """Sum float32 gradients and add float32 normal draws: not exact, and no ledger accepts it.

    The sum of floats can move by more than the clip norm when one row leaves, the draws are not normal in their last
    bits and tails, and their generator is made for speed. It costs what noise in other libraries costs, which is what
    it is for.

    >>> release = FloatRelease([(3,)], deviation=1e-6, steps=1)
    >>> release.add([torch.ones(3)])
    >>> release.release(0)[0].numpy().round(3), release.exact
    (array([1., 1., 1.], dtype=float32), False)
    """

    exact = False

    def __init__(self, shapes: Sequence[Sequence[int]], *, deviation: float, steps: int, device: Any = None) -> None:
        if not 0 < deviation < float("inf"):
            raise ParameterError("deviation must be a positive number", parameter="deviation")
        self.noise_scale, self.steps = float(deviation), steps
        self._shapes = [tuple(shape) for shape in shapes]
        self._device, self._owner = device, Process.here()
        self._sizes = [math.prod(shape) for shape in self._shapes]
        self._noisy: list[Tensor] | None = None
        self._next = 0

    def start(self) -> None:
        """Do nothing: this noise is drawn when it is asked for."""

    def add(self, sums: Sequence[Tensor]) -> None:
        """Add the clipped sums of one physical batch."""
        self._refuse_fork()
        if [tuple(one.shape) for one in sums] != self._shapes:
            raise ParameterError("sums must have the shapes of the trainable parameters, in order", parameter="sums")
        if self._noisy is None:
            self._noisy = self._noise()
        with torch.no_grad():
            torch._foreach_add_(self._noisy, list(sums))

    def clear(self) -> None:
        """Forget what was added since the last release."""
        self._noisy = None

    def release(self, step: int) -> list[Tensor]:
        """Return the noisy sum of what was added since the last release, a float32 tensor a parameter; once a step."""
        self._refuse_fork()
        if not self._next <= step < self.steps:
            raise StreamSpent(f"step must be from {self._next} to {self.steps - 1}: a step is released once")
        self._next = step + 1
        noisy, self._noisy = self._noisy, None
        return self._noise() if noisy is None else noisy

    def _noise(self) -> list[Tensor]:
        """Return normal draws of the shapes of the parameters, to which sums are added."""
        drawn = torch.empty(sum(self._sizes), device=self._device).normal_(0, self.noise_scale).split(self._sizes)
        return [one.view(shape) for one, shape in zip(drawn, self._shapes, strict=True)]

    def _refuse_fork(self) -> None:
        if self._owner != Process.here():
            raise NotCopyable("this release began in another process, which may go on with it; train anew here")

    def __reduce__(self) -> NoReturn:
        raise NotCopyable("a release in the middle of a training cannot be copied or pickled; resume from a checkpoint")

"""One noisy sum of clipped gradients a step: exact integers plus exact Gaussian noise on a public grid."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, NoReturn

import torch

from discreet.errors import NotCopyable, ParameterError, StreamSpent
from discreet.laws import RoundedGaussian
from discreet.learning.deep.noise.ahead import DrawnAhead
from discreet.learning.deep.noise.device import DeviceNoise
from discreet.learning.deep.noise.grid import GradientGrid
from discreet.learning.deep.noise.integer_sums import IntegerSums, Tensor
from discreet.randomness.process import Process

_LONG = 1 << 13  # a thread draws eight such vectors at once, which is cheaper than to wait for a graphics card


class IntegerRelease:
    """Sum the physical batches of each step in integers, add integer Gaussian noise, and release the result.

    Privacy. Each release is no easier to tell from a neighbor's than N(0, 1) from N(1 / scale, 1), `scale` being the
        grid's: a Gaussian mechanism of that noise multiplier, in any dimension, adaptively, also under sampling. The
        price depends on neither the model nor the grid.
        Proof: neighbors' integer sums y and y' are at most `grid.distance` apart in L2 (`GradientGrid`). The noise is a
        rounded normal vector of standard deviation scale * distance, exactly drawn, and y + round(Z) = round(y + Z):
        the release is post-processing of a normal mechanism whose sensitivity is at most 1 / scale of its deviation
        (`RoundedGaussian`). Each vector of noise is drawn without regard to the data and used once: it leaves the
        stock before it is used, a step is released once, and neither a fork nor a copy shares the stock or this
        object. Multiplying by the grid's step is post-processing, and so is a sum that left the range of 64 bits: it
        would wrap, by the same map for both neighbors.
    Accuracy. The noise has standard deviation `noise_scale` a coordinate, in units of the gradient.
    Cost. A multiplication, a rounding and an integer addition a coordinate and batch; one exact draw a coordinate and
        step, made by a thread while the step is computed, or on the graphics card where there are many (`DeviceNoise`).

    >>> from fractions import Fraction
    >>> grid = GradientGrid(
    ...     norm=Fraction(1),
    ...     dimension=2,
    ...     physical=8,
    ...     batches=1,
    ...     summation_error=Fraction(0),
    ...     scale=Fraction(1, 2**20),
    ...     fixed_slots=True,
    ... )
    >>> release = IntegerRelease(grid, [(2,)], steps=1)
    >>> release.add([torch.tensor([0.25, -0.5], dtype=torch.float64)])
    >>> release.release(0)[0].numpy().round(3)
    array([ 0.25, -0.5 ])
    """

    def __init__(self, grid: GradientGrid, shapes: Sequence[Sequence[int]], *, steps: int, device: Any = None) -> None:
        if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
            raise ParameterError(f"steps must be an int of at least 1; got {steps!r}", parameter="steps")
        self.grid, self.steps = grid, steps
        self._device = device
        self._sums = IntegerSums(grid, shapes, device)
        self._noise = _noises(grid, device)
        self._next = 0
        self._owner, self._lock = Process.here(), threading.RLock()

    @property
    def noise_scale(self) -> float:
        """The standard deviation of the noise in units of the gradient, before rounding to the grid."""
        return float(self.grid.noise_scale * self.grid.step)

    def start(self) -> None:
        """Begin to draw the first step's noise now; otherwise it is drawn when it is first asked for."""
        self._refuse_fork()
        self._noise.start()

    def add(self, sums: Sequence[Tensor]) -> None:
        """Add the clipped sums of one physical batch, in float64; batches beyond the grid's number add nothing."""
        self._refuse_fork()
        with self._lock:
            self._sums.add(sums)

    def clear(self) -> None:
        """Forget what was added since the last release, as after a step that failed in the middle."""
        self._refuse_fork()
        with self._lock:
            self._sums.clear()

    def release(self, step: int) -> list[Tensor]:
        """Return the noisy sum of what was added since the last release, a float64 tensor a parameter; once a step.

        Steps that a crash lost may be left out, none may come twice. Nothing added is a release of noise alone.
        """
        self._refuse_fork()
        with self._lock:
            self._begin(step)
            try:
                noisy = self._noisy(step)
            finally:
                self._sums.clear()  # an interruption leaves nothing that the next step would release once more
        self._refuse_fork()  # a signal handler may have forked meanwhile: then both hold the same noise
        return self._sums.as_floats(noisy)

    def _begin(self, step: int) -> None:
        """Mark a step as used before anything is drawn for it."""
        if isinstance(step, bool) or not isinstance(step, int) or not 0 <= step < self.steps:
            raise ParameterError(
                f"step must be an int from 0 to {self.steps - 1}, as the plan has {self.steps} steps; got {step!r}",
                parameter="step",
            )
        if step < self._next:
            raise StreamSpent(f"step {step} was released or passed over; a step is released once, write {self._next}")
        self._next = step + 1

    def _noisy(self, step: int) -> Tensor:
        """Return the noisy sum in steps of the grid: the noise with the exact sum added to it."""
        noise = self._fresh(step)
        self._sums.add_to(noise)
        return noise

    def _fresh(self, step: int) -> Tensor:
        """Return noise that was never used, on the device."""
        return torch.as_tensor(self._noise.take(more=step + 1 < self.steps), device=self._device)

    def _refuse_fork(self) -> None:
        """Two processes that go on from one sum would release it twice."""
        if self._owner != Process.here():
            raise NotCopyable("this release began in another process, which may go on with it; train anew here")

    def __reduce__(self) -> NoReturn:
        raise NotCopyable("a release in the middle of a training cannot be copied or pickled; resume from a checkpoint")


def _noises(grid: GradientGrid, device: Any) -> DrawnAhead | DeviceNoise:
    """Return where noise comes from: a thread on the processor, or the device itself, which pays for long vectors."""
    here = device is None or torch.device(device).type == "cpu" or grid.dimension < _LONG
    if here or not DeviceNoise.serves(grid.noise_scale):
        return DrawnAhead(RoundedGaussian(grid.noise_scale), grid.dimension)
    return DeviceNoise(grid.noise_scale, grid.dimension, device)

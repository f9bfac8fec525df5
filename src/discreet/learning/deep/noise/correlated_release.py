"""Noise that later steps cancel in part: each release mixes the sums of recent steps before the noise is added."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NoReturn

import torch

from discreet.errors import LedgerMismatch, NotCopyable, ParameterError
from discreet.learning.deep.noise.grid import GradientGrid, root_above
from discreet.learning.deep.noise.integer_release import IntegerRelease
from discreet.learning.deep.noise.integer_sums import Tensor, pieces


class SecretSums:
    """The exact sums of recent steps, before any noise: as private as the rows they come from.

    They are needed to go on with correlated noise after an interruption. Its text shows nothing of them, and it can be
    neither copied nor pickled by accident: `disclose` hands the numbers out to who will keep them like the rows.
    """

    __slots__ = ("_steps", "_sums")

    def __init__(self, steps: Sequence[int], sums: Sequence[Tensor]) -> None:
        self._steps, self._sums = tuple(steps), tuple(sums)

    def disclose(self) -> dict[str, Any]:
        """Return the numbers of the steps and their exact sums, for a file that only the owner of the rows can read."""
        return {"steps": list(self._steps), "sums": [one.clone() for one in self._sums]}

    @classmethod
    def disclosed(cls, state: dict[str, Any]) -> SecretSums:
        """Return the sums that `disclose` handed out."""
        return cls(state["steps"], [one.clone() for one in state["sums"]])

    def __repr__(self) -> str:
        return "SecretSums(as private as the rows)"

    def __reduce__(self) -> NoReturn:
        raise NotCopyable(
            "exact sums are as private as the rows, so they are not copied or pickled by themselves; write "
            "secret_sums().disclose(), and keep what it returns where the rows are kept"
        )


class CorrelatedRelease(IntegerRelease):
    """Release u_t = k_0 y_t + k_1 y_(t-1) + ... + noise, and recover from the u alone what each step added.

    y_t is the integer sum of step t and k_0 >= k_1 >= ... >= 0 are public integers; the noise is rounded normal of
    deviation scale |k| D, where D = `grid.distance` and |k| is the root of the sum of the squares, rounded up. What is
    returned for step t is x_t = (u_t - k_1 x_(t-1) - k_2 x_(t-2) - ...) / k_0 times the step of the grid: y_t plus
    noise of which later steps take a part back, so that sums over many steps have less of it.

    Privacy. One participation moves the whole sequence of u by at most 1 / scale of the noise's deviation in L2;
        participations at least as many steps apart as there are coefficients move disjoint releases. The sequence is no
        easier to tell from a neighbor's than a normal vector of the same deviation moved as far, adaptively.
        Proof: a participation in step t moves y_t by at most D, hence u_(t+j) by at most k_j D, and |k| D in all. The
        noise is a rounded normal vector added to integers, so the sequence is post-processing of the normal mechanism
        on the mixed sums (`RoundedGaussian`); that y_t may depend on earlier u changes nothing for a normal mechanism
        whose mixing matrix is lower triangular (Denisov et al. 2022). x_t is computed from the u only. A step that was
        lost counts as zero afterwards, in u and in x: entries of the mixing matrix become 0, and as none is negative,
        every pattern of participations moves the u less, not more. So a new object that goes on at a later step without
        the secret sums costs no privacy; only its noise begins anew.
    Accuracy. x_t = y_t + the t-th entry of the inverse of the mixing matrix applied to the noise, up to rounding of
        float64.
    Cost. Two multiplications and additions a coordinate and coefficient each step; as many vectors of 64-bit integers
        and of floats in memory as there are coefficients after the first. The integers are secret (`SecretSums`).
    Reference. Denisov, McMahan, Rush, Smith, Thakurta 2022; Choquette-Choo et al. 2023 (bands).

    >>> grid = GradientGrid(
    ...     norm=Fraction(1),
    ...     dimension=2,
    ...     physical=8,
    ...     batches=1,
    ...     summation_error=Fraction(0),
    ...     scale=Fraction(1, 2**20),
    ...     fixed_slots=True,
    ... )
    >>> release = CorrelatedRelease(grid, [(2,)], steps=2, coefficients=(4, 2))
    >>> release.add([torch.tensor([0.25, -0.5], dtype=torch.float64)])
    >>> (
    ...     release.release(0)[0].numpy().round(3),
    ...     release.release(1)[0].numpy().round(3) + 0,
    ... )
    (array([ 0.25, -0.5 ]), array([0., 0.]))
    """

    def __init__(
        self,
        grid: GradientGrid,
        shapes: Sequence[Sequence[int]],
        *,
        steps: int,
        coefficients: Sequence[int],
        device: Any = None,
    ) -> None:
        self.coefficients = _checked(coefficients)
        super().__init__(mixed(grid, self.coefficients), shapes, steps=steps, device=device)
        self._exact: deque[tuple[int, Tensor]] = deque()
        self._recovered: deque[tuple[int, Tensor]] = deque()

    @property
    def noise_scale(self) -> float:
        """The standard deviation of the noise of the first step in units of the gradient; later steps have more."""
        return super().noise_scale / self.coefficients[0]

    def recovered(self) -> dict[str, Any]:
        """Return what was released of recent steps, which a checkpoint needs to go on; nothing of it is secret."""
        self._refuse_fork()
        with self._lock:
            return {
                "steps": [step for step, _ in self._recovered],
                "released": [one.clone() for _, one in self._recovered],
            }

    def secret_sums(self) -> SecretSums:
        """Return the exact sums of recent steps, which are as private as the rows."""
        self._refuse_fork()
        with self._lock:
            return SecretSums([step for step, _ in self._exact], [one.clone() for _, one in self._exact])

    def resume(self, recovered: dict[str, Any], secret: SecretSums, *, step: int) -> None:
        """Go on at a step with what `recovered` and `secret_sums` returned earlier; steps in between are lost."""
        self._refuse_fork()
        exact = secret.disclose()
        found = [*exact["sums"], *recovered["released"]]
        if exact["steps"] != recovered["steps"] or any(one.numel() != self.grid.dimension for one in found):
            raise LedgerMismatch(
                "the two halves of a state must be of the same steps and model; write those of one run"
            )
        if self._next or any(one >= step for one in exact["steps"]):
            raise ParameterError(
                "a state must be of steps before the one to go on with, on a new release; write the next step",
                parameter="step",
            )
        with self._lock:
            self._next = step
            self._exact = deque(zip(exact["steps"], (one.to(self._device) for one in exact["sums"]), strict=True))
            released = (one.to(self._device) for one in recovered["released"])
            self._recovered = deque(zip(recovered["steps"], released, strict=True))

    def _noisy(self, step: int) -> Tensor:
        """Return the recovered sum of a step in steps of the grid."""
        exact, released = self._sums.take(), self._fresh(step)
        recovered = torch.empty_like(released, dtype=torch.float64)
        for piece in pieces(released):
            self._mix_in(released[piece], [*self._exact, (step, exact)], step, piece, 1)
            recovered[piece].copy_(released[piece])
            self._mix_in(recovered[piece], self._recovered, step, piece, -1)
            recovered[piece].div_(self.coefficients[0])
        self._remember(step, exact, recovered)
        return recovered

    def _mix_in(self, total: Tensor, history: Iterable[tuple[int, Tensor]], step: int, piece: slice, sign: int) -> None:
        """Add sign k_j times what was j steps ago, where that is at hand."""
        for earlier, one in history:
            if step - earlier < len(self.coefficients):
                total.add_(one[piece], alpha=sign * self.coefficients[step - earlier])

    def _remember(self, step: int, exact: Tensor, released: Tensor) -> None:
        """Keep a step for those that mix it in, and forget what no later step does."""
        for history, one in (self._exact, exact), (self._recovered, released):
            history.append((step, one))
            while history and step + 1 - history[0][0] >= len(self.coefficients):
                history.popleft()


def mixed(grid: GradientGrid, coefficients: Sequence[int]) -> GradientGrid:
    """Return the grid whose noise is |k| times as wide, and which leaves room for sums weighted by k.

    >>> grid = GradientGrid(
    ...     norm=Fraction(1),
    ...     dimension=2,
    ...     physical=8,
    ...     batches=1,
    ...     summation_error=Fraction(0),
    ...     scale=Fraction(1),
    ...     fixed_slots=True,
    ... )
    >>> round(float(mixed(grid, (3, 4)).scale), 9), mixed(grid, (3, 4)).weight
    (5.0, 7)
    """
    length = root_above(Fraction(sum(one * one for one in coefficients)))
    return replace(grid, scale=grid.scale * length, weight=grid.weight * sum(coefficients))


def _checked(coefficients: Sequence[int]) -> tuple[int, ...]:
    """Return the coefficients; raise ParameterError unless they are integers k_0 >= k_1 >= ... >= 0 with k_0 > 0."""
    found = tuple(coefficients)
    whole = all(isinstance(one, int) and not isinstance(one, bool) for one in found)
    if not found or not whole or found[0] < 1 or list(found) != sorted(found, reverse=True) or found[-1] < 0:
        raise ParameterError(
            "coefficients must be integers that do not grow, the first at least 1, none negative; write those of a "
            "plan's noise",
            parameter="coefficients",
        )
    return found

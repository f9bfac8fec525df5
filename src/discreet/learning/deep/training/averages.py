"""Averages of the weights along a training: post-processing of what was released, so they cost nothing."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import torch

from discreet.display import as_stated
from discreet.errors import ParameterError


class WeightAverage(ABC):
    """A rule that says how much the newest weights count in the average; the steps are numbered from 1."""

    @abstractmethod
    def share(self, step: int, steps: int) -> float:
        """Return the part of the new average that the weights after this step make up, 1 to begin anew."""

    def words(self) -> str:
        """Return the rule as text, which a checkpoint compares."""
        stated: Any = self
        given = ", ".join(f"{one.name}={getattr(self, one.name)!r}" for one in fields(stated))
        return f"{type(self).__name__}({given})"


@dataclass(frozen=True)
class ExponentialAverage(WeightAverage):
    """The exponential moving average of the weights.

    Early on the memory is short: after t steps at most (1 + t) / (10 + t), so that the weights of the beginning do not
    stay.

    Privacy. Any function of released weights keeps their guarantee.
        Proof: post-processing.

    >>> (
    ...     ExponentialAverage(decay=0.99).share(1, 1000),
    ...     round(ExponentialAverage(decay=0.99).share(1000, 1000), 3),
    ... )
    (1.0, 0.01)
    """

    decay: float

    def __post_init__(self) -> None:
        _between(self.decay, name="decay")

    def share(self, step: int, steps: int) -> float:  # noqa: ARG002  the rule knows no end
        """Return what the newest weights count."""
        return 1.0 if step == 1 else 1.0 - min(self.decay, (1 + step) / (10 + step))


@dataclass(frozen=True)
class TailAverage(WeightAverage):
    """The mean of the weights after each of the last steps.

    Privacy. Any function of released weights keeps their guarantee.
        Proof: post-processing.

    >>> [TailAverage(frequency=0.5).share(step, 4) for step in (1, 2, 3, 4)]
    [1.0, 1.0, 1.0, 0.5]
    """

    frequency: float

    def __post_init__(self) -> None:
        _between(self.frequency, name="frequency")

    def share(self, step: int, steps: int) -> float:
        """Return what the newest weights count."""
        before = steps - max(1, round(self.frequency * steps))
        return 1.0 / max(1, step - before)


class AveragedWeights:
    """The average of some tensors, kept beside them."""

    def __init__(self, rule: WeightAverage, tensors: Sequence[Any]) -> None:
        self._rule = rule
        self._tensors = list(tensors)
        self.values = [tensor.detach().clone() for tensor in tensors]

    def take(self, step: int, steps: int) -> None:
        """Let the tensors, as they are after this step, into the average."""
        share = self._rule.share(step, steps)
        with torch.no_grad():
            for value, tensor in zip(self.values, self._tensors, strict=True):
                value.lerp_(tensor.detach(), share)

    def restore(self, values: Sequence[Any]) -> None:
        """Go on with the values of a checkpoint."""
        with torch.no_grad():
            for value, kept in zip(self.values, values, strict=True):
                value.copy_(kept)

    def give(self) -> None:
        """Write the average into the tensors."""
        with torch.no_grad():
            for value, tensor in zip(self.values, self._tensors, strict=True):
                tensor.copy_(value)


def stated_average(average: Any) -> WeightAverage | None:
    """Return the rule that was stated, or raise an error for anything else."""
    if average is None or isinstance(average, WeightAverage):
        return average
    raise ParameterError(
        f"average must be a rule for averaging weights; got {type(average).__name__}, write "
        "average=ExponentialAverage(decay=0.99) or TailAverage(frequency=0.5). Nothing was spent.",
        parameter="average",
    )


def _between(value: Any, *, name: str) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1:
        raise ParameterError(
            f"{name} must be a number between 0 and 1; got {as_stated(value)}, write {name}=0.5, for example",
            parameter=name,
        )

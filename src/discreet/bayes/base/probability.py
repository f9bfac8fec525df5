"""Probabilities of statements about people, given what was released: exact for one number, else counted in draws."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.base.diagnostics import bulk
from discreet.bayes.base.intervals import Parameter
from discreet.bayes.base.marginal import Draws
from discreet.display import format_number
from discreet.errors import ParameterError

Statement = Callable[["FlatDraws"], Any]


@dataclass(frozen=True, slots=True)
class Probability:
    """The posterior probability of a statement, and its standard error where it was counted in draws.

    Accuracy. An exact one has error 0. Otherwise `value` is the share of the draws in which the statement holds, and
        `error` is sqrt(p (1 - p) / N) with N the effective draws of that very statement and p drawn to 1/2 by one
        draw, so that a statement that held always, or never, is not taken for certain.

    >>> print(Probability(0.951, 0.003))
    0.951 (Monte Carlo error 0.003)
    >>> float(Probability(0.5))
    0.5
    """

    value: float
    error: float = 0.0

    def __float__(self) -> float:
        return self.value

    def __str__(self) -> str:
        made = f"Monte Carlo error {format_number(self.error, digits=2)}" if self.error else "exact"
        return f"{format_number(self.value)} ({made})"

    def to_dict(self) -> dict[str, float]:
        """Return both numbers by name."""
        return {"value": self.value, "error": self.error}


class FlatDraws(Mapping[Any, NDArray[Any]]):
    """Draws of all chains behind each other: `draws["share"]`, or `draws["share", "north"]` for one group.

    >>> from discreet.privacy import Target
    >>> share = Parameter("share", "", Target.POPULATION, (("north",), ("south",)))
    >>> draws = FlatDraws({"share": np.zeros((4, 10, 2))}, (share,))
    >>> draws["share"].shape, draws["share", "south"].shape
    ((40, 2), (40,))
    """

    def __init__(self, drawn: Draws, parameters: tuple[Parameter, ...]) -> None:
        self._drawn, self._parameters = drawn, {one.name: one for one in parameters}

    def __getitem__(self, name: Any) -> NDArray[Any]:
        parameter, *label = name if isinstance(name, tuple) and name else (name,)
        if not isinstance(parameter, str) or parameter not in self._drawn:
            names = ", ".join(self._drawn)
            raise ParameterError(f"name must be one of {names}; got another, write one of them", parameter="name")
        array = np.asarray(self._drawn[parameter])
        flat = array.reshape(-1, *array.shape[2:])
        return flat[:, self._parameters[parameter].place(tuple(label))] if label else flat

    def __iter__(self) -> Iterator[str]:
        return iter(self._drawn)

    def __len__(self) -> int:
        return len(self._drawn)


def counted(of: Statement, draws: Draws, parameters: tuple[Parameter, ...], *, independent: bool) -> Probability:
    """Return the share of the draws in which a statement holds.

    >>> always = counted(
    ...     lambda draws: draws["x"] > 0, {"x": np.ones((4, 250))}, (), independent=True
    ... )
    >>> always.value, round(always.error, 4)
    (1.0, 0.0007)
    """
    chains, length = next(iter(draws.values())).shape[:2]
    held = np.asarray(of(FlatDraws(draws, parameters)))
    if held.shape != (chains * length,) or held.dtype != np.bool_:
        raise ParameterError(
            "of must return one True or False for every draw; got something else, write for example "
            'lambda draws: draws["share", "north"] > draws["share", "south"]',
            parameter="of",
        )
    count = held.size
    effective = count if independent else float(bulk(held.reshape(chains, length).astype(float)))
    value = float(held.mean())
    drawn_to_half = (value * effective + 0.5) / (effective + 1.0)
    return Probability(value, math.sqrt(drawn_to_half * (1.0 - drawn_to_half) / effective))


def stated_seed(seed: Any) -> int | None:
    """Return a seed, or None for one from the operating system.

    >>> stated_seed(-1)
    Traceback (most recent call last):
    ...
    discreet.errors.ParameterError: seed must be a whole number of at least 0, or None;
        got another, write seed=1
    """
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0):
        raise ParameterError(
            "seed must be a whole number of at least 0, or None; got another, write seed=1", parameter="seed"
        )
    return None if seed is None else int(seed)


def stated_flag(value: Any, name: str) -> bool:
    """Return True or False; a text or a number in its place would say what nobody meant.

    >>> stated_flag("no", "exhaustive")
    Traceback (most recent call last):
    ...
    discreet.errors.ParameterError: exhaustive must be True or False; got str, write
        exhaustive=False
    """
    if not isinstance(value, bool | np.bool_):
        raise ParameterError(
            f"{name} must be True or False; got {type(value).__name__}, write {name}=False", parameter=name
        )
    return bool(value)


def stated_end(stated: Any, name: str, otherwise: float) -> float:
    """Return an end of a range of numbers, or what stands for none."""
    if stated is None:
        return otherwise
    number = isinstance(stated, int | float | np.number) and not isinstance(stated, bool)
    if not number or not -math.inf <= stated <= math.inf:
        raise ParameterError(f"{name} must be a number; got another, write {name}=0.5", parameter=name)
    return (
        float(min(max(stated, -sys.float_info.max), sys.float_info.max)) if isinstance(stated, int) else float(stated)
    )

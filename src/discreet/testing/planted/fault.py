"""A planted fault: one of discreet's own mechanisms with one thing wrong, and the level that must see it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

from discreet.audit import Level, audit
from discreet.mechanisms import Mechanism
from discreet.privacy import Guarantee, PrivacyLoss
from discreet.testing.conformance import ConformanceFailure, Subject, conformance_checks

LAW = "the sampler has the stated law"
INDEPENDENT = "releases are independent"
LOSS = "the loss covers the divergence at every epsilon"
ERROR = "the error quantile is exact"
ERRORS = "errors do not depend on the data"
COPIES = "copies and pickles carry no noise"
REPR = "repr shows no private value"
HOSTILE = "hostile input gets one clear error"
UNITS = "one person counts once, however the id is written"
WORK = "the work does not depend on the values"

_CONFIDENCE = 1 - 1e-9
_WIRE_PAIRS = 4


class Overstated(Mechanism):
    """Keeps the guarantee that was made before the fault went in, whatever became of the noise."""

    _said: Guarantee | None = None

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee; while the mechanism is being made, that of the right one."""
        return super().guarantee if self._said is None else self._said  # type: ignore[safe-super]  # the other base's

    @property
    def loss(self) -> PrivacyLoss:
        """The price of the guarantee."""
        return PrivacyLoss.from_guarantee(self.guarantee)


@dataclass(frozen=True)
class Planted:
    """A fault, the level of audit or the duty of the conformance kit that guarantees it, and how to see it there.

    `make` builds the faulty mechanism and `right` the same without the fault; `neighbors` are inputs one person apart
    where the fault shows, the mechanism's own if left out, and `inputs` are what the conformance kit runs on.

    >>> from discreet.testing import PLANTED
    >>> fault = PLANTED["Laplace: half the noise"]
    >>> fault.caught(), fault.false_alarm()
    (True, False)
    """

    name: str
    story: str
    level: Level | str
    make: Callable[[], Mechanism]
    right: Callable[[], Mechanism]
    neighbors: Sequence[tuple[Any, Any]] | None = None
    inputs: Sequence[Any] = ()
    draws: int = 4000

    @property
    def claimed_by(self) -> str:
        """The level or the duty, in a few words."""
        return self.level.name.lower() if isinstance(self.level, Level) else self.level

    def caught(self) -> bool:
        """Say whether the level that guarantees the fault sees it."""
        return self._convicts(self.make)

    def false_alarm(self) -> bool:
        """Say whether the same level convicts the mechanism without the fault."""
        return self._convicts(self.right)

    def _convicts(self, make: Callable[[], Mechanism]) -> bool:
        """Run the level."""
        if isinstance(self.level, str):
            (check,) = [one for one in conformance_checks() if one.name == self.level]
            try:
                check(Subject(make, self.inputs, draws=self.draws))
            except ConformanceFailure:
                return True
            return False
        mechanism = make()
        pairs = list(islice(mechanism.neighbors(), _WIRE_PAIRS)) if self.neighbors is None else self.neighbors
        match self.level:
            case Level.EXACT:
                return audit(mechanism, neighbors=self.neighbors, search=0).refuted
            case Level.WIRE:
                return audit(mechanism, neighbors=pairs, level=self.level, draws=self.draws).refuted
        return audit(mechanism, neighbors=pairs, level=self.level, draws=self.draws, confidence=_CONFIDENCE).refuted


def planted(
    right: type[Mechanism],
    wrong: type[Mechanism],
    name: str,
    story: str,
    level: Level | str,
    *,
    neighbors: Sequence[tuple[Any, Any]] | None = None,
    inputs: Sequence[Any] = (),
    draws: int = 4000,
    **stated: Any,
) -> Planted:
    """Return the fault of a wrong class in place of the right one, both made of what is stated; named after the right.

    >>> from discreet.mechanisms import Laplace
    >>> from discreet.testing.planted.additive import NeverNegative
    >>> planted(
    ...     Laplace,
    ...     NeverNegative,
    ...     "sign lost",
    ...     "never negative",
    ...     Level.EXACT,
    ...     epsilon=1,
    ...     sensitivity=1,
    ... ).name
    'Laplace: sign lost'
    """
    make, correct = partial(wrong, **stated), partial(right, **stated)
    return Planted(f"{right.__name__}: {name}", story, level, make, correct, neighbors, inputs, draws)

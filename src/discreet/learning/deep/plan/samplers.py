"""Who is in the batch of a step: public descriptions of secret samples, each with its own price."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from enum import StrEnum
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet.errors import MissingParameter, ParameterError, RelationMismatch
from discreet.laws.number import Number
from discreet.learning.deep.plan.drawing import BatchState, Indices, Places, SecretBatches
from discreet.learning.deep.plan.most_rows import least_cap
from discreet.privacy import Relation
from discreet.privacy.numbers import decimals, plain, whole
from discreet.randomness import bernoulli_array

MOST_PEOPLE = 1 << 28
OVERFLOW_CHANCE = Fraction(1, 1 << 60)  # that in any step of a training a batch is cut
_CHUNK = 1 << 20  # people whose coins are in memory at a time


class Overflow(StrEnum):
    """What happens where a batch has more rows than a physical batch.

    `extend` cuts it into as many physical batches as it takes: exactly the law of the sampler, and only the time of a
    step tells how many rows there were. `drop` always works through the same number of slots, so that time tells
    nothing.
    """

    EXTEND = "extend"
    DROP = "drop"


@dataclass(frozen=True, kw_only=True, repr=False)
class BatchSampler(ABC):
    """The public description of how batches are drawn; the draws themselves are secret.

    `most_people` is the named assumption that every table, and so each of two neighbors, has fewer people than this,
    rounded up to `below`; a larger table is refused. Rounding leaves two such numbers from a power of 2 to the next, so
    that nobody finds the number of people by the refusals of many plans. `physical` is the number of rows that are
    worked on at once, where the trainer is not to choose it. Neither changes the law of a batch.

    Privacy. Batches that would have more than `most_rows` rows are cut. If r(e) bounds delta(e) of the training whose
        batches are never cut, then (1 - tau) r(e) + tau bounds that of the training as it is, tau = `overflow_chance`:
        the loss is composed with that of ApproxDP(0, tau).
        Proof: let O be the event that in some step at least `most_rows` people other than the one in question are
        drawn. O has nothing to do with the person: it has the same chance t <= tau on both neighbors, and given O or
        not O the coins of the person are what they are. Without O no batch is cut on either neighbor, and the laws
        given that the others are drawn in one way or another are priced by r, whatever the way; given O delta is at
        most 1. Delta of a mixture with the same weights on both sides is at most the mixture of deltas (joint
        convexity), and (1 - t) r + t grows with t.
    """

    most_people: int | None = None
    physical: int | None = None

    name: ClassVar[str]
    relations: ClassVar[tuple[Relation, ...]] = (Relation.ADD_REMOVE,)

    def __post_init__(self) -> None:
        for name in ("most_people", "physical"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, whole(getattr(self, name), name=name))
        if self.below > MOST_PEOPLE:
            raise ParameterError(
                f"most_people must be at most {MOST_PEOPLE:,}; got more, write a number that no table of yours "
                "reaches, or leave it out",
                parameter="most_people",
            )

    @property
    def below(self) -> int:
        """The number of people that no table reaches: 2, 3, 4, 6, 8, 12, ..., up to 2^28."""
        if self.most_people is None:
            return MOST_PEOPLE
        power = 1 << max(self.most_people - 1, 1).bit_length()  # the least power of 2 from there on, 2 at least
        middle = 3 * power >> 2
        return middle if middle >= self.most_people > 2 else power

    @property
    @abstractmethod
    def share(self) -> Fraction:
        """The chance of a person to be in the batch of a step."""

    @property
    def renewed_every(self) -> int | None:
        """After how many steps places are drawn anew; None if there are none, or they stay."""
        return None

    def places(self, people: int) -> Places | None:  # noqa: ARG002  batches that need no places
        """Draw where each person belongs; None where batches are independent."""
        return None

    @abstractmethod
    def batch(self, step: int, people: int, places: Places | None) -> Indices:
        """Draw the batch of a step: row numbers in order, before any cut."""

    def batches(self, people: int, steps: int, *, state: BatchState | None = None) -> SecretBatches:
        """Return the secret batches of a training, from the first step or from a stored state on.

        `people` is the private number of rows, which no message shows.
        """
        return SecretBatches(self, people, steps, state)

    def epochs(self, steps: int) -> float:
        """Return how often a person takes part on average."""
        return float(self.share * steps)

    def most_rows(self, steps: int) -> int:
        """Return how many rows a batch has at most: beyond, it is cut, with chance `overflow_chance` in any step."""
        return min(self._cap(whole(steps, name="steps")), self.below - 1)

    def overflow_chance(self, steps: int) -> Fraction:
        """Return a bound on the chance that a batch of the training is cut: 0, or 2^-60."""
        return OVERFLOW_CHANCE if self._cap(whole(steps, name="steps")) < self.below else Fraction(0)

    def physical_batches(self, steps: int, physical: int) -> int:
        """Return the public number of physical batches that a batch is cut into at most."""
        return -(-self.most_rows(steps) // whole(physical, name="physical"))

    def refuse_relation(self, relation: Relation) -> None:
        """Raise an error where no price is proven for the neighbors."""
        if relation not in self.relations:
            known = self.relations[0]
            raise RelationMismatch(
                f"relation must be {known.value!r} for {self.name}, because samples of two tables that differ in one "
                f"changed row have no price here; got {relation.value!r}, write relation=Relation.{known.name}, or "
                "sampler=FullBatch()"
            )

    def __repr__(self) -> str:
        stated = ((one.name, getattr(self, one.name)) for one in fields(self))
        told = (f"{name}={_shown(value)}" for name, value in stated if value is not None)
        return f"{type(self).__name__}({', '.join(told)})"

    def _cap(self, steps: int) -> int:
        """Return the cut before it is compared with the number of people."""
        return least_cap(self.below - 1, self.share, OVERFLOW_CHANCE / steps)


@dataclass(frozen=True, kw_only=True, repr=False)
class SampledBatches(BatchSampler):
    """What samplers of a part of the people share: what is done where a batch outgrows its physical size."""

    overflow: Overflow = Overflow.EXTEND

    def __post_init__(self) -> None:
        super().__post_init__()
        found = {one.value: one for one in Overflow}.get(str(self.overflow))
        if found is None:
            raise ParameterError(
                "overflow must be 'extend' or 'drop'; got something else, write overflow='extend'", parameter="overflow"
            )
        object.__setattr__(self, "overflow", found)
        if found is Overflow.DROP and self.most_people is None:
            raise MissingParameter(
                "most_people must be given with overflow='drop', because the number of slots follows from it; got "
                "none, write most_people= of a number that no table of yours reaches",
                parameter="most_people",
            )


@dataclass(frozen=True, kw_only=True, repr=False)
class FullBatch(BatchSampler):
    """Everyone is in every batch.

    Privacy. A step is a Gaussian release to every person; add/remove and change-one both have a price, and under
        change-one a person moves twice as much.
        Proof: no batch is cut, and nobody is sampled; the rest is `price_of`.

    >>> FullBatch().most_rows(steps=10)
    268435455
    """

    name: ClassVar[str] = "full batches"
    relations: ClassVar[tuple[Relation, ...]] = (Relation.ADD_REMOVE, Relation.CHANGE_ONE)

    @property
    def share(self) -> Fraction:
        """Everyone."""
        return Fraction(1)

    @property
    def overflow(self) -> Overflow:
        """A full batch is cut into as many physical batches as it takes."""
        return Overflow.EXTEND

    def batch(self, step: int, people: int, places: Places | None) -> Indices:  # noqa: ARG002  every step has everyone
        """Return all row numbers."""
        return np.arange(people, dtype=np.int64)

    def _cap(self, steps: int) -> int:  # noqa: ARG002  nobody is ever cut
        return self.below


@dataclass(frozen=True, kw_only=True, repr=False)
class PoissonBatches(SampledBatches):
    """Each person is in the batch of a step with probability `rate`, independently of everyone and of other steps.

    The rate is read by its decimals, 0.01 as one hundredth, and drawn and priced as exactly that.

    Privacy. A step with noise of s times what one person moves is dominated by the pair of a Poisson sample at `rate`
        of Gaussian noise of scale s; steps compose. Add/remove only.
        Proof: the coins are exact (`bernoulli_array`), so a person's coin is heads with chance `rate` whatever the
        others'; given their coins, the two laws are those of `PoissonPair`. What a step computes may depend on earlier
        steps' releases, which composition allows.

    >>> sampler = PoissonBatches(rate=0.01, overflow="drop", most_people=70_000)
    >>> sampler.most_rows(steps=1000)  # 600 are expected of 60,000 people
    1295
    >>> PoissonBatches(rate=2)
    Traceback (most recent call last):
    ...
    discreet.errors.ParameterError: rate must be a chance above 0 and at most 1; got
        2, write rate=0.01, for example
    """

    rate: Number
    name: ClassVar[str] = "Poisson batches"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "rate", checked_rate(self.rate))

    @property
    def share(self) -> Fraction:
        """The rate, exactly."""
        return Fraction(self.rate)

    def batch(self, step: int, people: int, places: Places | None) -> Indices:  # noqa: ARG002  steps are independent
        """Return the rows whose coins are heads."""
        return heads(self.share, people)


def checked_rate(value: object) -> Fraction:
    """Return a sampling rate exactly, 0.01 as one hundredth; raise an error where it is none."""
    rate = plain(value, name="rate")
    if not 0 < rate <= 1:
        raise ParameterError(
            f"rate must be a chance above 0 and at most 1; got {rate}, write rate=0.01, for example", parameter="rate"
        )
    return decimals(rate)


def heads(rate: Fraction, count: int) -> Indices:
    """Return which of `count` exact coins of a rational probability are heads, in memory of a part at a time."""
    parts = [
        start + np.flatnonzero(bernoulli_array(rate, min(_CHUNK, count - start))) for start in range(0, count, _CHUNK)
    ]
    return np.concatenate(parts) if parts else np.empty(0, dtype=np.int64)


def _shown(value: object) -> str:
    """Return a field as people would write it."""
    if isinstance(value, Overflow):
        return repr(value.value)
    short = isinstance(value, Fraction) and decimals(float(value)) == value
    return repr(float(value)) if short and isinstance(value, Fraction) else repr(value)

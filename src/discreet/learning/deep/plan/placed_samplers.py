"""Samplers that give each person a secret place for several steps: a bin of an epoch, or a group of a cycle."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet.errors import MissingParameter, ParameterError
from discreet.laws.number import Number
from discreet.learning.deep.plan.drawing import Indices, Places
from discreet.learning.deep.plan.samplers import SampledBatches, checked_rate, heads
from discreet.privacy.numbers import whole
from discreet.randomness import uniform_below_array

_MOST_PLACES = 1 << 31


@dataclass(frozen=True, kw_only=True, repr=False)
class BallsInBins(SampledBatches):
    """In each epoch every person is in the batch of one step, uniform among the steps of the epoch.

    Everyone takes part as often, as with a shuffled table, but the sizes of batches are random: that is what has a
    price. Places are drawn for each person independently, at the start of every epoch, and are secret.

    Privacy. An epoch is dominated by the pair of a normal vector with one uniformly chosen coordinate moved, and one
        without; epochs compose. An epoch of which only the first steps are made costs as a whole one. Add/remove only.
        Proof: given the places of the others, the person's place is uniform; a step in which the person is not has the
        same law on both neighbors given the past, and the one in which he is moves by at most D. The steps that are
        left out are dropped from the whole epoch, which is post-processing.
    Reference. Chua et al. 2025; Feldman, Shenfeld 2026.

    >>> BallsInBins(steps_per_epoch=100).epochs(steps=250)
    2.5
    """

    steps_per_epoch: int
    name: ClassVar[str] = "balls in bins"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "steps_per_epoch", _places(self.steps_per_epoch, "steps_per_epoch"))

    @property
    def share(self) -> Fraction:
        """One step of the epoch."""
        return Fraction(1, self.steps_per_epoch)

    @property
    def renewed_every(self) -> int | None:
        """Bins are drawn for each epoch."""
        return self.steps_per_epoch

    def begun_epochs(self, steps: int) -> int:
        """Return how many epochs are begun, each of which is paid for."""
        return -(-steps // self.steps_per_epoch)

    def places(self, people: int) -> Places | None:
        """Draw the bin of each person."""
        return uniform_below_array(self.steps_per_epoch, people).astype(np.int32)

    def batch(self, step: int, people: int, places: Places | None) -> Indices:
        """Return the rows in the bin of a step."""
        return np.flatnonzero(_drawn(places, people) == step % self.steps_per_epoch)


@dataclass(frozen=True, kw_only=True, repr=False)
class CyclicPoisson(SampledBatches):
    """Every person has a secret group, drawn once; step t draws from group t mod `groups`, `rate` of all on average.

    Within its group a person is drawn with probability rate x groups, afresh in each of the group's steps. So a person
    takes part in steps at least `groups` apart, which is what correlated noise needs (`Banded`). One group is exactly
    `PoissonBatches`. Left out, `groups` is chosen by `Plan.for_target`.

    Privacy. With noise of at most `groups` bands, a training of T steps costs what ceil(T / groups) steps of Poisson
        sampling at rate x groups cost. Add/remove only.
        Proof: let the person be in group g, whose steps are g, g + b, ..., b = `groups`, at most ceil(T/b) of them. By
        its coin in step t the person moves x_t by a vector v of length at most D, fixed by what was released before t;
        that moves the releases u_t, ..., u_(t+b-1) by k_0 v, k_1 v, ..., and no other of its steps moves these (bands
        <= b). Given the past and the coins of the others, each of the b releases is normal about something that both
        neighbors know, so the ratio of likelihoods of the block is 1 - p + p exp(<w, k v>/s^2 - |k v|^2/(2 s^2)) with
        p = rate b and w the noise of the block, which is independent of the past: that of a Poisson sample at p of a
        Gaussian release of sensitivity |k| D, or of a lesser one. Blocks follow each other, so they compose
        adaptively. At last, the group itself: without the person the law Q is the same for every g, so the pair is
        (mean of P_g, Q) or its reverse, whose delta is at most the mean of the deltas of (P_g, Q), by joint convexity.
        Groups are drawn independently for each person, so those of the others have nothing to do with the person.
    Reference. Choquette-Choo et al. 2023, for the idea; the proof above is complete.

    >>> CyclicPoisson(rate=0.01, groups=10).group_rate
    Fraction(1, 10)
    """

    rate: Number
    groups: int | None = None
    name: ClassVar[str] = "cyclic Poisson batches"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "rate", checked_rate(self.rate))
        if self.groups is None:
            return
        object.__setattr__(self, "groups", _places(self.groups, "groups"))
        if self.share * self.cycle > 1:
            raise ParameterError(
                f"groups must be at most one over the rate, because a group holds that part of the people; got "
                f"{self.groups}, write groups={int(1 / self.share)}, or fewer",
                parameter="groups",
            )

    @property
    def share(self) -> Fraction:
        """The rate, exactly."""
        return Fraction(self.rate)

    @property
    def cycle(self) -> int:
        """The number of groups, which must be known by now."""
        if self.groups is None:
            raise MissingParameter(
                "groups must be given for a plan; got none, write CyclicPoisson(rate=..., groups=8), for example, or "
                "let Plan.for_target choose",
                parameter="groups",
            )
        return self.groups

    @property
    def group_rate(self) -> Fraction:
        """The chance of a person to be drawn in a step of its group."""
        return self.share * self.cycle

    def turns(self, steps: int) -> int:
        """Return in how many steps a person can take part at most."""
        return -(-steps // self.cycle)

    def places(self, people: int) -> Places | None:
        """Draw the group of each person."""
        return uniform_below_array(self.cycle, people).astype(np.int32)

    def batch(self, step: int, people: int, places: Places | None) -> Indices:
        """Return the rows of the group whose coins are heads."""
        members = np.flatnonzero(_drawn(places, people) == step % self.cycle)
        return members[heads(self.group_rate, len(members))]


def _places(value: object, name: str) -> int:
    """Return a number of places, which fits into 32 bits."""
    count = whole(value, name=name)
    if count > _MOST_PLACES:
        raise ParameterError(f"{name} must be at most 2^31; got more, write fewer", parameter=name)
    return count


def _drawn(places: Places | None, people: int) -> Places:
    """Return places that were drawn for the table."""
    if places is None or len(places) != people:
        raise AssertionError("places are drawn before batches are")
    return places

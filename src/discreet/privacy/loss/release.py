"""One release as the accountant sees it: its pairs in each direction, its guarantee, and how its rows were sampled.

Which rows a release was run on: part of its price, because the price is only true for that way of sampling.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from discreet.errors import ParameterError
from discreet.laws import Pair
from discreet.privacy.guarantees import Guarantee
from discreet.privacy.pairs import Side


class Sampler(Enum):
    """How the rows of a release were chosen, secretly and afresh for each release.

    `EVERYONE`: no sampling. `POISSON`: each person independently with one probability. `FIXED_SIZE`: a uniformly random
    subset of a fixed number of rows. Batches cut from a shuffled table are different, and have no price here.

    >>> Sampler.named("poisson")
    <Sampler.POISSON: 'poisson'>
    >>> Sampler.named("shuffled")
    Traceback (most recent call last):
    ...
    discreet.errors.ParameterError: batches cut from a shuffled table are not independent samples: ...
    """

    EVERYONE = "everyone"
    POISSON = "poisson"
    FIXED_SIZE = "fixed size"

    @classmethod
    def named(cls, name: str | Sampler) -> Sampler:
        """Return the sampler of a name; shuffled batches are refused with the reason."""
        if isinstance(name, Sampler):
            return name
        found = {member.value: member for member in cls}.get(name.replace("_", " ") if isinstance(name, str) else "")
        if found is not None:
            return found
        if isinstance(name, str) and "shuffl" in name:
            raise ParameterError(
                "batches cut from a shuffled table are not independent samples: every person is in exactly one batch "
                "of an epoch, so the batches together leak more than Poisson sampling at the same rate, and pricing "
                "them as Poisson understates the loss (Chua et al. 2024). Sample each batch afresh with "
                "sampler='poisson', or price an epoch as one release to each person without sampling.",
                parameter="sampler",
            )
        names = ", ".join(repr(member.value) for member in cls)
        raise ParameterError(f"sampler must be one of {names}, got {name!r}", parameter="sampler")


@dataclass(frozen=True, slots=True)
class Release:
    """The output laws on neighboring tables: `remove` with the person in P's table, `add` with the person in Q's.

    Each direction lists every pair that can occur. `guarantee` is proven for the same release. `attained`
    says whether the pairs are laws of the release itself, or the worst that keep its guarantee.
    """

    remove: tuple[Pair, ...]
    add: tuple[Pair, ...]
    guarantee: Guarantee | None = None
    attained: bool = True
    sampler: Sampler = Sampler.EVERYONE

    def __post_init__(self) -> None:
        if bool(self.remove) != bool(self.add):
            raise ParameterError("pairs are needed for both directions", parameter="pairs")
        if not self.remove and self.guarantee is None:
            raise ParameterError("a price needs at least one pair of laws or a guarantee", parameter="pairs")

    def towards(self, side: Side) -> tuple[Pair, ...]:
        """Return the pairs of one direction."""
        return self.remove if side is Side.REMOVE else self.add

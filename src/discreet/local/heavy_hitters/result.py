"""The keys that were found, with shares that the held-out people vouch for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.display import Table, format_number
from discreet.errors import InputError, ParameterError
from discreet.local.estimates import Frequencies, Intervals, allowed_error, stated_target
from discreet.local.heavy_hitters.addresses import address_of, as_bytes
from discreet.local.heavy_hitters.search import Found, possible, search
from discreet.local.protocol import Aggregator
from discreet.privacy import Target
from discreet.privacy.numbers import plain, whole

if TYPE_CHECKING:
    from discreet.display.plots import Plot
    from discreet.local.heavy_hitters.protocol import HeavyHitters
    from discreet.local.keys import Sketch

Floats = NDArray[np.float64]
_REAL = 0.5
_MOST_PEELED = 1024
_LARGEST_LIST = 1 << 10


@dataclass(frozen=True, eq=False, repr=False)
class Hitters:
    """Heavy hitters, the one with the most evidence first.

    `keys` were found by the people of the levels; `probabilities` say how sure we are that each is a real key, by the
    model of the search. `values` are the shares of the keys, with `standard_errors`, as estimated from the held-out
    people alone: unbiased, because these had no part in choosing the keys, and so not in the order of the list.
    `detectable` is about the least share that is found every other time: what is rarer goes unseen.
    """

    spec: HeavyHitters
    people: int
    held_out: int
    keys: tuple[Any, ...]
    probabilities: Floats
    estimates: tuple[Frequencies, ...]

    def __len__(self) -> int:
        """The number of keys found."""
        return len(self.keys)

    def __iter__(self) -> Iterator[Any]:
        """Yield the keys."""
        return iter(self.keys)

    @property
    def values(self) -> Floats:
        """The estimated shares among all people."""
        return np.array([float(one.values[0]) for one in self.estimates])

    @property
    def standard_errors(self) -> Floats:
        """The standard errors of the shares; the sampling of the held-out people included."""
        errors = np.array([float(one.standard_errors[0]) for one in self.estimates])
        held = np.clip(self.values, 0.0, 1.0)
        return np.sqrt(errors**2 + held * (1 - held) / max(self.held_out, 1))

    @property
    def detectable(self) -> float:
        """The share from which on a key is found about every other time."""
        return self.spec.detectable(max(self.people, 1))

    def intervals(
        self, *, confidence: float = 0.95, simultaneous: bool = False, target: Target = Target.POPULATION
    ) -> Intervals:
        """Return an interval for the share of every key; with `simultaneous=True` they hold all at once (Bonferroni).

        They are for the population of which the held-out people are a sample: everybody who reports has the same
        chance to be one. With `Target.TABLE` they are for the share among the held-out people themselves.
        """
        stated_target(target)
        rest = allowed_error(confidence)
        each = 1 - (rest / max(len(self), 1) if simultaneous else rest)
        ends = [one.intervals(confidence=each, target=target) for one in self.estimates]
        low = np.array([float(one.low[0]) for one in ends])
        high = np.array([float(one.high[0]) for one in ends])
        return Intervals(low, high, float(confidence), target, bool(simultaneous))

    def table(self, *, confidence: float = 0.95) -> Table:
        """Return one row a key, with intervals that hold together."""
        ends = self.intervals(confidence=confidence, simultaneous=True)
        columns = zip(
            self.keys, self.values, self.standard_errors, ends.low, ends.high, self.probabilities, strict=True
        )
        rows = [[str(key), *(float(number) for number in numbers)] for key, *numbers in columns]
        names = ["key", "share", "standard error", "low", "high", "probability"]
        return Table(names, rows, self._caption(confidence))

    def plot(self, *, confidence: float = 0.95, title: str = "") -> Plot:
        """Draw the shares with intervals that hold together; needs the extra `plot`."""
        from discreet.display.plots import plot_interval

        if not self.keys:
            raise InputError("no key was found, so there is nothing to draw; certainty=0 lists the best guesses")
        ends = self.intervals(confidence=confidence, simultaneous=True)
        middle = np.clip(self.values, ends.low, ends.high)
        words = title or f"Most frequent keys, {100 * confidence:.6g} % intervals that hold together"
        names = [str(key) for key in self.keys]
        return plot_interval(names, middle, ends.low, ends.high, title=words, x_label="share of people")

    def _caption(self, confidence: float) -> str:
        """Say who reported, under which promise, what goes unseen, and what one hostile report can do."""
        share, gain = (format_number(number, digits=3) for number in (self.detectable, self.spec.poisoning_gain))
        return (
            f"{self.people:,} people, epsilon {format_number(self.spec.epsilon)} each; shares from {self.held_out:,} "
            f"held out, {100 * confidence:.6g} % intervals that hold together; keys rarer than about {share} go "
            f"unseen; one hostile report moves a count by up to {gain}"
        )

    def __repr__(self) -> str:
        """Say how many there are and what goes unseen."""
        least = format_number(self.detectable, digits=3)
        return f"Hitters({len(self)} keys, {self.people:,} people, keys rarer than about {least} go unseen)"

    def __str__(self) -> str:
        """Print the table."""
        return str(self.table())

    def _repr_html_(self) -> str:
        """Return the table for a notebook."""
        return self.table()._repr_html_()


def find(
    spec: HeavyHitters,
    aggregator: Aggregator,
    *,
    k: int,
    certainty: float,
    alphabet: str | bytes | None,
    progress: Callable[[float], None] | None,
) -> Hitters:
    """Search the levels, cut the list, and ask the held-out people about it."""
    if not isinstance(aggregator, Aggregator) or aggregator.spec.digest != spec.digest:
        raise InputError("this aggregator holds reports of another spec")
    most = whole(k, name="k")
    sure = float(plain(certainty, name="certainty"))
    if not 1 <= most <= _LARGEST_LIST or not 0 <= sure <= 1:
        raise ParameterError(f"k is an int from 1 to {_LARGEST_LIST}, certainty a probability", parameter="k")
    address = address_of(spec.kind, spec.seed, alphabet)
    *levels, held_out = spec.sketches(aggregator.counts)
    found = search(address, spec.levels, tuple(levels), progress)
    listed = np.flatnonzero(found.probabilities >= sure)[:most]
    estimates = tuple(_confirmed(held_out, found, int(place)) for place in listed)
    keys = spec.kind.decode(address.keys(found.addresses[listed]))
    plain_keys = tuple(keys.tolist() if isinstance(keys, np.ndarray) else keys)
    return Hitters(spec, aggregator.people, held_out.people, plain_keys, found.probabilities[listed], estimates)


def _confirmed(held_out: Sketch, found: Found, place: int) -> Frequencies:
    """Estimate one key from the held-out people, cleared of collisions with all the other keys found.

    Their shares come from the search, so that they are independent of the held-out reports.
    """
    others = np.flatnonzero(found.probabilities >= _REAL)[:_MOST_PEELED]
    others = others[others != place]
    cleared = held_out.without_words(found.addresses[others], possible(found.shares[others]))
    length = held_out.spec.kind.size
    return cleared.estimate([as_bytes(found.addresses[place : place + 1])[0, :length].tobytes()])

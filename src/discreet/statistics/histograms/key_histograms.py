"""How many rows hold each of a public list of keys, or of private keys, of which only frequent ones are named."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import repeat
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from discreet.errors import ConflictingParameters, InputError, MissingParameter, ParameterError
from discreet.frames import held_by_numpy, is_large, key_form
from discreet.laws import TruncatedLaplace
from discreet.laws.number import Number
from discreet.mechanisms import KeyCounts, KeyNoise, ThresholdedHistogram
from discreet.privacy import Relation
from discreet.statistics.columns import (
    bounded_keys,
    distinct_table,
    key_codes,
    row_weights,
    split,
)
from discreet.statistics.histograms.estimate_table import EstimateTable
from discreet.statistics.measurement import ROWS, Counts, Group
from discreet.statistics.options import GroupOptions, NoiseOptions, TableOptions, named_after
from discreet.statistics.pricing import NoisyVector, epsilon_of, priced_noise
from discreet.statistics.statistic import Statistic, Tables

_LARGE_KEYS = (
    "public keys must be below 2^53 in size in a column of numpy or of a plain pandas type; got a larger one, write "
    "texts, a list, or a type that keeps integers, such as pandas' Int64: once a cell is empty, large integers are "
    "rounded to the same float"
)


class Histogram(Statistic):
    """The number of rows with each key of a public list; rows with other keys, or with a missing key, are not counted.

    Every key of the list is answered, held or not. Keys are compared as Python compares them: 1 and 1.0 are the same.
    Keys of 2^53 and more raise InputError for a numpy or plain pandas column: see `frames.numeric`.

    Privacy. Under add/remove one row moves one count by 1: L1 and L2 distance 1, whatever the number of keys. Under
        change-one it may move two: L1 distance 2, L2 the root of 2. Persons with several rows, weighing c together: c
        times that.
        Proof: a row is in one cell or in none. A person adds a vector of weights at or above 0 that total at most c, so
        at most c in L1 and in L2; the difference of two such vectors is at most 2 c in L1, and its squared L2 norm is
        at most the sum of theirs, 2 c^2, since the product of weights is not negative.
    Accuracy. Each interval is the exact quantile of the noise for one count; `half_width_together` is the half-width
        that all counts keep at once.
    Cost. One pass; one draw a key.
    Figure. histogram-error.svg
    Reference. Dwork, McSherry, Nissim, Smith 2006.

    >>> counts = Histogram(
    ...     keys=["north", "south"], relation=Relation.ADD_REMOVE, epsilon=1
    ... )(["north"] * 90 + ["west"])
    >>> abs(counts["north"].value - 90) < 40, len(counts)
    (True, 2)
    """

    mechanism: NoisyVector

    def __init__(self, *, keys: Any, **options: Unpack[NoiseOptions]) -> None:
        super().__init__(**options)
        self.keys = _public_list(keys)
        self._places = {key_form(key): place for place, key in enumerate(self.keys)}
        self._large = any(is_large(key) for key in self.keys)
        sensitivity = self._unit * (self.rows or 1)
        moved = 1 if self.relation is Relation.ADD_REMOVE else 2
        self.mechanism = priced_noise(
            self.price,
            sensitivity=moved * sensitivity,
            squared=moved * sensitivity * sensitivity,
            relation=self.relation,
            width=lambda noisy: noisy.error(self.confidence) / self._unit,
        )

    def measure(self, value: Any) -> NDArray[np.int64]:
        """Return the exact counts, in units of a row's smallest weight."""
        values, unit = split(value, self.rows)
        if self._large and held_by_numpy(values):
            raise InputError(_LARGE_KEYS)
        codes, named = key_codes(values)
        found = np.fromiter(map(self._places.get, named, repeat(-1)), dtype=np.int64, count=len(named))
        places = np.append(found, -1)[codes]
        kept = places >= 0
        if unit is None:
            return np.bincount(places[kept], minlength=len(self.keys)).astype(np.int64)
        weights = row_weights(unit, kept, self.rows or 1)
        counts = np.zeros(len(self.keys), dtype=np.int64)
        np.add.at(counts, places[kept], weights[kept])
        return counts

    def estimate(self, released: Any, *, public_rows: int | None) -> EstimateTable:  # noqa: ARG002
        """Return the noisy counts with their intervals, which are cut at 0."""
        width = self.mechanism.error(self.confidence)
        together = self.mechanism.error(self.confidence, len(self.keys))
        middle = released.astype(np.float64)
        return EstimateTable(
            self.keys,
            released if self._unit == 1 else middle / self._unit,
            np.maximum((middle - width) / self._unit, 0.0),
            np.maximum((middle + width) / self._unit, 0.0),
            together / self._unit,
            *self._terms("exact quantile of the noise"),
        )

    def _adds_up(self, column: str, people: int | None) -> Counts:  # noqa: ARG002  a count needs neither
        return Counts(ROWS, self._unit, not self._often, self._often)

    def _measured_groups(self, column: str) -> tuple[tuple[Group, ...], tuple[str, ...]]:
        return tuple((key,) for key in self.keys), (column or "key",)

    def _one_row_apart(self, *, added: bool) -> Tables:
        """A row has the last key, or changes to the first."""
        first, last = self.keys[0], self.keys[-1]
        return [([first], [first, last])] if added else [([first, last], [first, first])]


def _public_list(keys: Any) -> tuple[Any, ...]:
    """Return the public keys; raise ParameterError for duplicates and for keys that cannot be looked up."""
    if isinstance(keys, str | bytes) or not hasattr(keys, "__iter__"):
        raise ParameterError(
            "keys must be a list of the public keys; got another type, write keys=[...], or keys=None to find them",
            parameter="keys",
        )
    listed = tuple(keys.tolist() if isinstance(keys, np.ndarray) and keys.dtype.kind not in "mM" else keys)
    try:
        forms = [key_form(key) for key in listed]
    except InputError:
        forms = [None]
    if None in forms:
        raise ParameterError(
            "keys must be texts, numbers, truth values, dates, or tuples of them; got another type or a missing key, "
            "write only keys of these types",
            parameter="keys",
        )
    if len(set(forms)) != len(listed) or not listed:
        raise ParameterError(
            "keys must list every public key once; got an empty list or a key twice, write each key once",
            parameter="keys",
        )
    return listed


@named_after(Histogram)
def histogram(
    values: Any,
    *,
    keys: Any = ...,
    unit: Any = None,
    rows: int | None = None,
    groups: int | None = None,
    **options: Unpack[TableOptions],
) -> EstimateTable:
    """Return private counts of the public `keys` (see `Histogram`), or with keys=None of those found privately.

    Keys that are not public must not be listed: `keys=None` names only keys that enough people hold, and needs a
    `delta=` (see `DiscoveredHistogram`). Of a person with several rows, `rows=` of them count for public keys, and
    `groups=` different keys for private ones.

    >>> towns = ["Ahn"] * 500 + ["Bree"] * 300 + ["Zell"]
    >>> found = histogram(
    ...     towns, keys=None, relation=Relation.ADD_REMOVE, epsilon=1, delta=1e-9
    ... )
    >>> list(found)
    ['Ahn', 'Bree']
    """
    if keys is ...:
        raise ParameterError(
            "keys= must be given; got none, write the list of public keys, or keys=None and delta= where the keys are "
            "private",
            parameter="keys",
        )
    wrong = "rows" if keys is None else "groups"
    if (rows if keys is None else groups) is not None:
        other = "groups= with keys=None" if keys is None else "rows= with public keys"
        raise ConflictingParameters(f"{wrong}= must be left out here; got {wrong}=, write {other}", parameter=wrong)
    counts = (
        DiscoveredHistogram(groups=groups, **options) if keys is None else Histogram(keys=keys, rows=rows, **options)
    )
    answer: EstimateTable = counts.answer(values, unit)
    return answer


_MANY_KEYS = 3  # below that Gaussian noise never has the lowest threshold


class DiscoveredHistogram(Statistic):
    """The keys of a column that enough people hold, with noisy numbers of people.

    A person holds one key, that of the row; with `groups=` the first `groups` distinct keys of their rows, and counts
    once for each.

    Privacy. As `ThresholdedHistogram`, for counts to which a person adds 1 for each of at most `groups` keys.
        Proof: a row is one key of one person; `bounded_keys` keeps at most that many a person and looks at nobody
        else's rows.
    Accuracy. With the confidence asked for, a key fixed beforehand is not named, or named with a count within the
        half-width.
    Cost. One pass, one draw a key that somebody holds.
    Figure. discovered-error.svg
    Reference. Korolova, Kenthapadi, Mishra, Ntoulas 2009; truncated noise: Desfontaines, Voss, Gipson, Mandayam 2022.

    >>> DiscoveredHistogram(
    ...     relation=Relation.ADD_REMOVE, epsilon=1, delta=1e-6
    ... ).threshold
    15
    """

    mechanism: ThresholdedHistogram
    delta_with = ("epsilon", "rho", "mu", "error")

    def __init__(self, *, noise: KeyNoise | None = None, **options: Unpack[GroupOptions]) -> None:
        super().__init__(**options)
        price = self.price
        if price.rho is not None or price.mu is not None:
            self.mechanism = self._made(noise, rho=price.rho, mu=price.mu, delta=price.delta)
            return
        if price.error is not None and price.delta is None:
            raise MissingParameter(
                "delta= must be given to name private keys; got none, write delta= beside error=", parameter="delta"
            )

        def width(epsilon: Fraction) -> float:
            return float(self._made(noise, thorough=False, epsilon=epsilon, delta=price.delta).error(self.confidence))

        thorough = price.error is None
        self.mechanism = self._made(noise, thorough=thorough, epsilon=epsilon_of(price, width), delta=price.delta)

    def _made(self, noise: KeyNoise | None, *, thorough: bool = True, **price: Number | None) -> ThresholdedHistogram:
        """Return the mechanism; where the noise was not stated, the one that names keys from the lowest count on."""
        keys = self.groups or 1
        if noise is None and price.get("epsilon") is not None:
            choices = [KeyNoise.TRUNCATED_GEOMETRIC, KeyNoise.LAPLACE]
            if keys >= _MANY_KEYS and thorough:
                choices.append(KeyNoise.GAUSSIAN)
            made = [ThresholdedHistogram(keys=keys, relation=self.relation, noise=one, **price) for one in choices]
            return min(made, key=lambda mechanism: mechanism.threshold)
        return ThresholdedHistogram(keys=keys, relation=self.relation, noise=noise, **price)

    @property
    def threshold(self) -> int:
        """The least noisy count with which a key is named."""
        return self.mechanism.threshold

    def measure(self, value: Any) -> tuple[Any, Any]:
        """Return the keys that somebody holds, and by how many people each is held."""
        values, unit = split(value, self.groups)
        if unit is None:
            return distinct_table(values)
        return bounded_keys(values, unit, keys=self.groups or 1)

    def outcome(self, value: Any) -> Any:
        """Run once, written as `law` does, for audits on made-up tables."""
        return self.mechanism.outcome(self.measure(value))

    def estimate(self, released: KeyCounts, *, public_rows: int | None) -> EstimateTable:  # noqa: ARG002
        """Return the noisy counts with their intervals; no key is named with a count below 1."""
        width = self.mechanism.error(self.confidence)
        # which keys were named depends on the noise: only noise that has an end bounds them all together
        noise = self.mechanism.noise
        together = float(noise.reach) if isinstance(noise, TruncatedLaplace) else math.inf
        return EstimateTable(
            tuple(released.keys.tolist()),
            released.counts,
            np.maximum(released.counts - width, 1).astype(np.float64),
            np.maximum(released.counts + width, 1).astype(np.float64),
            together,
            *self._terms(f"exact quantile of the noise; keys named from a noisy count of {self.threshold} on"),
        )

    def _one_row_apart(self, *, added: bool) -> Tables:
        """The key of a row is rare, new, or held by many."""
        for count in (0, self.threshold - 1, self.threshold + 3):
            held = ["held"] * count
            yield held if added else [*held, "other"], [*held, "held"]

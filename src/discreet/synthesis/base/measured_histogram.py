"""A noisy histogram that left with a release: attributes, integers, the law of the noise, and what it measures."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.laws.noise import IntegerNoise
from discreet.statistics.measurement import ROWS, Counts, MeasurementPlan, Source
from discreet.synthesis.base.neighbors import Neighbors
from discreet.synthesis.domain import Attribute, Domain


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredHistogram:
    """The noisy numbers of records with each combination of values of some attributes, each with noise of its own.

    `values` has an axis for each attribute. All records are in it: those with a missing value have a code of their own
    where the domain has one, and are no records of it otherwise.
    """

    attributes: tuple[int, ...]
    values: NDArray[np.int64]
    noise: IntegerNoise

    def plan(self, domain: Domain, neighbors: Neighbors, source: Source) -> MeasurementPlan:
        """Return what was measured, in public words; None is the value of a record whose value is missing."""
        asked = [domain.attributes[place] for place in self.attributes]
        rows = neighbors.rows
        often = "" if rows == 1 else f"a unit counts for up to {rows} records"
        bounding = f"{rows} record{'s' if rows > 1 else ''} a unit {source.bounding}".strip()
        names = tuple(one.name for one in asked)
        return MeasurementPlan(
            name=f"histogram of {', '.join(names)}",
            key_names=names,
            keys=tuple(product(*map(_labels, asked))),
            adds_up=Counts(ROWS, 1, not often, often),
            noise=self.noise,
            source=Source(source.lineage, source.version, source.rows, bounding, tuple(map(_text, asked))),
        )


def _labels(attribute: Attribute) -> Iterator[Any]:
    """Yield the values of the codes, None for what is missing."""
    yield from attribute.values
    if attribute.missing:
        yield None


def _text(attribute: Attribute) -> str:
    """Return a text that is equal for attributes of one name whose codes mean the same."""
    return f"{attribute.name} by codes {hashlib.sha256(repr(attribute).encode()).hexdigest()[:16]}"

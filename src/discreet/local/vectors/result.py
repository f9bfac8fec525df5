"""An estimated mean vector from local reports, with intervals for each coordinate and for all at once."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.display import Table, format_number
from discreet.errors import ParameterError
from discreet.local.estimates import Intervals, allowed_error, stated_target, two_sided_normal
from discreet.local.protocol import is_integer
from discreet.privacy import Estimate, Target
from discreet.privacy.numbers import whole

if TYPE_CHECKING:
    from discreet.local.vectors.unit_vectors import UnitVectors

Floats = NDArray[np.float64]
_ENOUGH_PEOPLE = 1000
_SHOWN = 10


@dataclass(frozen=True, eq=False, repr=False)
class VectorMean:
    """The estimated mean of the vectors of `people`: unbiased over the public directions, with standard errors.

    Standard errors come from the spread of the decoded reports: they count the noise and the spread of the vectors, so
    that they are right for the population and on the safe side for the table. They also count the bias that C codebooks
    leave for n people, as if the codebooks were drawn at random: a factor of sqrt(1 + n / C).

    Accuracy. `intervals` are normal approximations from 1000 people on; with fewer they hold for every table, over the
        choice of C codebooks of random directions, by Hoeffding's inequality. `simultaneous=True` makes all of them
        hold at once.
        Proof: a decoded coordinate lies in [-1/m, 1/m]. Given the codebooks the reports are independent, and their mean
        has the conditional mean as its centre, which is itself a mean over C independent codebooks; by Hoeffding's
        lemma both errors together are as concentrated as a normal variable of variance (1/n + 1/C) / m^2. The chance
        that any of d intervals misses is at most d times that of one, each made for the d-th part of the error.
    Reference. Hoeffding 1963; Bonferroni.
    """

    spec: UnitVectors
    people: int
    values: Floats
    standard_errors: Floats

    def __len__(self) -> int:
        """The dimension."""
        return int(self.values.size)

    @property
    def distance(self) -> float:
        """The expected distance from the true mean, at most: the root of 1 / (n m^2)."""
        return math.sqrt(self.spec.variance(self.people))

    def intervals(
        self, *, confidence: float = 0.95, simultaneous: bool = False, target: Target = Target.TABLE
    ) -> Intervals:
        """Return an interval for every coordinate, which holds for the table and for the population.

        Each contains its estimate, be that outside [-1, 1]. With `simultaneous=True` all of them hold at once.
        """
        rest = allowed_error(confidence) / (len(self) if simultaneous else 1)
        if self.people < _ENOUGH_PEOPLE:
            spread = 1 / self.people + 1 / self.spec.codebooks
            half = np.full(len(self), math.sqrt(2 * math.log(2 / rest) * spread) / self.spec.shift)
        else:
            half = two_sided_normal(rest) * self.standard_errors
        low, high = self.values - half, self.values + half
        return Intervals(low, high, float(confidence), stated_target(target), bool(simultaneous))

    def of(self, coordinate: int, *, confidence: float = 0.95, target: Target = Target.TABLE) -> Estimate:
        """Return one coordinate with its interval, which holds for the table and for the population."""
        if not is_integer(coordinate) or not 0 <= coordinate < len(self):
            raise ParameterError(f"a coordinate is an int from 0 to {len(self) - 1}", parameter="coordinate")
        ends = self.intervals(confidence=confidence, target=target)
        method = "normal approximation" if self.people >= _ENOUGH_PEOPLE else "Hoeffding's inequality"
        return Estimate(
            value=float(self.values[coordinate]),
            low=float(ends.low[coordinate]),
            high=float(ends.high[coordinate]),
            confidence=confidence,
            target=target,
            guarantee=self.spec.guarantee,
            method=method,
            loss=self.spec.loss,
        )

    def table(self, k: int = _SHOWN, *, confidence: float = 0.95) -> Table:
        """Return the first k coordinates, with intervals that hold for all of them at once."""
        ends = self.intervals(confidence=confidence, simultaneous=True)
        shown = min(whole(k, name="k"), len(self))
        columns = self.values, self.standard_errors, ends.low, ends.high
        rows = [[str(place), *(column[place] for column in columns)] for place in range(shown)]
        caption = (
            f"{self.people:,} people, epsilon {format_number(self.spec.epsilon)} each: {shown:,} of {len(self):,} "
            f"coordinates, {100 * confidence:.6g} % intervals that hold together; distance about {self.distance:.3g}"
        )
        return Table(["coordinate", "mean", "standard error", "low", "high"], rows, caption)

    def __str__(self) -> str:
        """Print the first coordinates."""
        return str(self.table())

    def _repr_html_(self) -> str:
        """Return the first coordinates for a notebook."""
        return self.table()._repr_html_()

    def __repr__(self) -> str:
        """Show the sizes."""
        return f"VectorMean({len(self)} coordinates, {self.people:,} people, distance about {self.distance:.3g})"

"""All one-way histograms with noise, and the frequencies of values they tell: the first step of independent and tree.

Independent attributes: all one-way histograms with noise, and the product of their frequencies as the model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.display import Progress
from discreet.laws.number import Number
from discreet.privacy.numbers import whole
from discreet.synthesis.base import Allowance, Neighbors, Noisy, Synthesizer, SyntheticRelease
from discreet.synthesis.domain import Domain, Records
from discreet.synthesis.methods.forest.forest import Forest
from discreet.synthesis.workloads import Workload

Floats = NDArray[np.float64]
_WEIGHT_STEPS = 1 << 20


def divided_by_size(total: Fraction, sizes: Sequence[float], *, pure: bool) -> tuple[Fraction, ...]:
    """Divide a share over histograms of these numbers of cells so that the expected L1 error of all is least.

    Accuracy. Of all divisions, shares proportional to size^(2/3) (pure: size^(1/2)) have the least sum of size times
        deviation, up to the rounding of the weights to 2^-20 of the smallest.
        Proof: the deviation is c / share^(1/2) for Gaussian noise and about c / share for Laplace noise; at the least
        sum for a fixed total the derivatives of size c share^(-a) agree, so share^(a + 1) is proportional to size.

    >>> [float(one) for one in divided_by_size(Fraction(1), [1, 8], pure=False)]
    [0.2, 0.8]
    """
    power = 1 / 2 if pure else 2 / 3
    smallest = min(sizes)
    weights = [round(_WEIGHT_STEPS * (size / smallest) ** power) for size in sizes]
    return tuple(total * Fraction(weight, sum(weights)) for weight in weights)


def measured_attributes(domain: Domain) -> tuple[int, ...]:
    """Return the attributes with more than one value: of the others everything is known."""
    return tuple(place for place, size in enumerate(domain.sizes) if size > 1)


@dataclass(frozen=True, eq=False)
class OneWays:
    """Noisy histograms of single attributes, by attribute; nothing is measured where there is one value only."""

    domain: Domain
    noisy: dict[int, Noisy]

    @classmethod
    def measure(cls, records: Records, allowance: Allowance, shares: dict[int, Fraction]) -> OneWays:
        """Release the histogram of every attribute that has a share."""
        sizes, noisy = records.domain.sizes, dict[int, Noisy]()
        for place, share in shares.items():
            histogram = np.bincount(records.codes[place], minlength=sizes[place]).astype(np.int64)
            noisy[place] = allowance.noisy(histogram, share)
        return cls(records.domain, noisy)

    @property
    def measured(self) -> list[tuple[tuple[int, ...], Noisy]]:
        """The histograms with their attributes."""
        return [((place,), one) for place, one in self.noisy.items()]

    @cached_property
    def total(self) -> float:
        """The number of records, at least 1: the sums of all histograms, weighted by the inverse of their variances."""
        weights = [1 / (len(one.values) * variance(one)) for one in self.noisy.values()]
        sums = [float(one.values.sum(dtype=np.float64)) for one in self.noisy.values()]
        return max(1.0, float(np.average(sums, weights=weights))) if sums else 1.0

    def frequencies(self) -> tuple[Floats, ...]:
        """Return the frequencies of values of each attribute: the nearest ones that are at least 0 and sum to 1."""
        found = [np.full(size, 1 / size) for size in self.domain.sizes]
        for place, one in self.noisy.items():
            found[place] = onto_simplex(one.values / self.total)
        return tuple(found)


def variance(noisy: Noisy) -> float:
    """Return the variance of the noise, above 0 also where it is too small for a float."""
    return max(noisy.deviation**2, 1e-12)


def onto_simplex(values: Floats, total: float = 1.0) -> Floats:
    """Return the nearest vector with entries of at least 0 and the given sum.

    >>> onto_simplex(np.array([0.9, 0.5, -0.2])).round(6).tolist()
    [0.7, 0.3, 0.0]
    """
    falling = np.sort(values)[::-1]
    levels = (np.cumsum(falling) - total) / np.arange(1, len(values) + 1)
    kept = int(np.flatnonzero(falling >= levels)[-1])
    shares = np.maximum(values - levels[kept], 0.0)
    held = shares.sum()  # not quite the total, by rounding
    return shares * (total / held) if held > 0 else np.full(len(values), total / len(values))


def default_size(domain: Domain, people: int) -> int:
    """Return a public number of rows for a synthetic table: as many as people, at least 100,000, in bounded memory."""
    most = max(1_000, 50_000_000 // len(domain))
    return min(max(people, 100_000), most, 1_000_000)


@dataclass(frozen=True, kw_only=True)
class Independent(Synthesizer):
    """Measure every attribute alone and take them to be independent: the rival that any other method has to beat.

    Privacy. The release keeps the guarantee of its allowance.
        Proof: it reads the records through one noisy histogram for each attribute with several values; the shares of
        the allowance are fixed by the sizes of the attributes and add up to at most 1. The number of records is
        estimated from the same histograms. Model, answers and table are made from what was released. An approximate
        price is divided as mu^2 of Gaussian DP, with rounded noise (`Allowance.for_noise`).
    Accuracy. The answers are exact for the product of the released one-way frequencies, so their error is that of the
        one-ways and of independence, with no sampling on top. Sizes get shares that make the sum of the expected L1
        errors of the noise least: see `divided_by_size`.
    Cost. One pass for each attribute; answers by one product for each query.

    >>> from discreet.privacy import Relation
    >>> from discreet.synthesis import Domain, Literals, Workload
    >>> import numpy as np
    >>> domain = Domain.of(sex=["f", "m"], rooms=range(1, 6))
    >>> literals = Literals(
    ...     np.array([0, 1], dtype=np.int32),
    ...     np.array([[1, 0, 0, 0, 0], [1, 1, 0, 0, 0]], dtype=bool),
    ... )
    >>> none = np.zeros(1, dtype=bool)
    >>> workload = Workload(
    ...     domain,
    ...     literals,
    ...     np.array([[0, 1]], dtype=np.int32),
    ...     none,
    ...     none,
    ...     "women in small homes",
    ... )
    >>> Independent.of(workload, Neighbors(Relation.CHANGE_ONE, 1000), epsilon=1).plan[
    ...     "noise"
    ... ].keys()
    dict_keys(['sex', 'rooms'])
    """

    name: ClassVar[str] = "independent"
    workload: Workload
    allowance: Allowance
    size: int

    @classmethod
    def of(
        cls,
        workload: Workload,
        neighbors: Neighbors,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
        size: int | None = None,
    ) -> Independent:
        """State the price, and perhaps how many rows the synthetic table has."""
        allowance = Allowance.of(neighbors, epsilon=epsilon, delta=delta, rho=rho, mu=mu).for_noise()
        return cls(workload=workload, allowance=allowance, size=checked_size(size, workload.domain, neighbors))

    @property
    def shares(self) -> dict[int, Fraction]:
        """The share of the allowance that each measured attribute gets."""
        return one_way_shares(self.workload.domain, Fraction(1), pure=self.allowance.pure)

    @property
    def plan(self) -> Mapping[str, Any]:
        """The rows of the table and the deviation of the noise of each histogram."""
        names = self.workload.domain.names
        noise = {names[place]: self.allowance.deviation(share) for place, share in self.shares.items()}
        return {"size": self.size, "noise": noise}

    def _release(self, records: Records, progress: Progress) -> SyntheticRelease:
        """Measure, then answer from the product."""
        one_ways = OneWays.measure(records, self.allowance, self.shares)
        progress(1, 2)
        model = Forest.of(records.domain, one_ways.frequencies())
        evidence = {"records": one_ways.total, "model": model}
        release = self._made(model.table(self.size), model.answers(self.workload), evidence, measured=one_ways.measured)
        progress(2, 2)
        return release


def one_way_shares(domain: Domain, total: Fraction, *, pure: bool) -> dict[int, Fraction]:
    """Divide a share of the allowance over the attributes that have more than one value."""
    places = measured_attributes(domain)
    if not places:
        return {}
    return dict(zip(places, divided_by_size(total, [domain.sizes[place] for place in places], pure=pure), strict=True))


def checked_size(size: int | None, domain: Domain, neighbors: Neighbors) -> int:
    """Return the stated number of rows, or a public default."""
    if size is None:
        return default_size(domain, neighbors.people)
    return whole(size, name="size")

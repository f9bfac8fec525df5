"""Independent attributes: all one-way histograms with noise, and the product of their shares as the model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from discreet.laws.number import Number
from discreet.privacy.numbers.arguments import whole
from discreet.synthesis.base.neighbours import Neighbours
from discreet.synthesis.base.purse import Purse
from discreet.synthesis.base.release import Progress, Release, Synthesizer
from discreet.synthesis.domain.domain import Domain, Records
from discreet.synthesis.methods.forest.forest import Forest
from discreet.synthesis.methods.forest.one_ways import OneWays, default_rows, divided_by_size, measured_attributes
from discreet.synthesis.workloads.workload import Workload


@dataclass(frozen=True, kw_only=True)
class Independent(Synthesizer):
    """Measure every attribute alone and take them to be independent: the rival that any other method has to beat.

    Privacy. The release keeps the promise of its purse.
        Proof: it reads the records through one noisy histogram for each attribute with several values; the shares of
        the purse are fixed by the sizes of the attributes and add up to at most 1. The number of records is estimated
        from the same histograms. Model, answers and table are made from what was released.
    Accuracy. The answers are exact for the product of the released one-way shares, so their error is that of the
        one-ways and of independence, with no sampling on top. Sizes get shares that make the sum of the expected L1
        errors of the noise least: see `divided_by_size`.
    Cost. One pass for each attribute; answers by one product for each query.

    >>> from discreet.privacy import Relation
    >>> from discreet.synthesis import Domain, Literals, Workload
    >>> import numpy as np
    >>> domain = Domain.of(sex=["f", "m"], rooms=range(1, 6))
    >>> literals = Literals(np.array([0, 1], dtype=np.int32), np.array([[1, 0, 0, 0, 0], [1, 1, 0, 0, 0]], dtype=bool))
    >>> none = np.zeros(1, dtype=bool)
    >>> workload = Workload(domain, literals, np.array([[0, 1]], dtype=np.int32), none, none, "women in small homes")
    >>> Independent.of(workload, Neighbours(Relation.CHANGE_ONE, 1000), epsilon=1).plan["noise"].keys()
    dict_keys(['sex', 'rooms'])
    """

    name: ClassVar[str] = "independent"
    workload: Workload
    purse: Purse
    rows: int

    @classmethod
    def of(
        cls,
        workload: Workload,
        neighbours: Neighbours,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        rows: int | None = None,
    ) -> Independent:
        """State the price, and perhaps how many rows the synthetic table has."""
        purse = Purse.of(neighbours, epsilon=epsilon, delta=delta, rho=rho)
        return cls(workload=workload, purse=purse, rows=checked_rows(rows, workload.domain, neighbours))

    @property
    def shares(self) -> dict[int, Fraction]:
        """The share of the purse that each measured attribute gets."""
        return one_way_shares(self.workload.domain, Fraction(1), pure=self.purse.pure)

    @property
    def plan(self) -> Mapping[str, Any]:
        """The rows of the table and the deviation of the noise of each histogram."""
        names = self.workload.domain.names
        noise = {names[place]: self.purse.deviation(share) for place, share in self.shares.items()}
        return {"rows": self.rows, "noise": noise}

    def _release(self, records: Records, progress: Progress) -> Release:
        """Measure, then answer from the product."""
        one_ways = OneWays.measure(records, self.purse, self.shares)
        progress(1, 2)
        model = Forest.of(records.domain, one_ways.shares())
        release = Release(
            method=self.name,
            workload=self.workload,
            neighbours=self.purse.neighbours,
            guarantee=self.guarantee,
            table=model.table(self.rows),
            answers=model.answers(self.workload),
            plan=self.plan,
            evidence={"records": one_ways.total, "model": model},
        )
        progress(2, 2)
        return release


def one_way_shares(domain: Domain, total: Fraction, *, pure: bool) -> dict[int, Fraction]:
    """Divide a share of the purse over the attributes that have more than one value."""
    places = measured_attributes(domain)
    if not places:
        return {}
    return dict(zip(places, divided_by_size(total, [domain.sizes[place] for place in places], pure=pure), strict=True))


def checked_rows(rows: int | None, domain: Domain, neighbours: Neighbours) -> int:
    """Return the stated number of rows, or a public default."""
    if rows is None:
        return default_rows(domain, neighbours.size)
    return whole(rows, name="rows")

"""How much bounding takes from a count or a sum: what it would be under an outer bound, less what it is."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from discreet.privacy import Relation
from discreet.query.measures.measure import OneInteger, Simple
from discreet.query.measures.unit_totals import UnitTotals
from discreet.query.plan import WEIGHT, Bounding, Cell, Groups, RowNorms, RowWeights, Steps, UnitTotal


@dataclass(frozen=True)
class CutRows(OneInteger):
    """The count or sum of rows weighted down to an outer bound, less the same as it is bounded.

    Privacy. Rows weighted down to `outer` add up to an L1 norm of at most outer r, bounded ones to B in L1 and C in L2:
        under add/remove a unit moves the differences by at most outer r + B in L1 and outer s + C in L2. Where both
        are weights of rows, and the outer ones the larger, by at most outer r and outer s.
        Proof: the triangle inequality. Weights floor(c 2^20 / n) rise with c, so their differences lie between 0 and
        the outer weights: a weighting of the rows again, in one group a point of the hull that `Bounding` speaks of.
        Whether anybody has more rows than `outer` plays no part: the outer weights are enforced like all others.
    Accuracy. If nobody has more than `outer` rows, the outer weights are 1, and the interval is the exact quantile of
        the noise for what bounding takes away. That is not below 0 where `only_less`.
        Proof: no form counts a row with more than its whole weight, and a sum of what is not negative, clipped to a
        range that begins at 0 or below, does not grow.
    """

    own: Cell  # what is bounded
    heavier: int  # by how much it is multiplied, to be counted like weighted rows
    outer: int
    only_less: bool  # no row adds less than 0, so that what is bounded is no more than the whole

    def vectors(self, sums: Sequence[Sequence[int]]) -> list[list[int]]:
        """Return the differences, given the sums under the outer bound and those that are bounded."""
        return [[wide - self.heavier * narrow for wide, narrow in zip(*sums, strict=True)]]


def cut_rows(measure: Simple | UnitTotals, outer: int) -> CutRows:
    """Return the measure of what bounding takes from another one."""
    (own,) = measure.cells
    cell = own.cell if isinstance(own, UnitTotal) else own
    bounding, heavier = measure.bounding, WEIGHT // measure.bounding.unit
    row = measure.norms if isinstance(measure, Simple) else _of_row(cell)
    form = bounding.form
    rises = isinstance(measure, Simple) and isinstance(form, RowWeights) and form.rows <= outer
    rises |= isinstance(measure, Simple) and isinstance(form, Groups) and bounding.single and form.rows <= outer
    whole = outer * WEIGHT
    if rises:
        norms = RowNorms(
            whole * row.one, whole**2 * row.squared, whole * row.apart, whole**2 * row.apart_squared, row.nonnegative
        )
    else:
        own_total, own_squared = _alone(bounding).moved(measure.norms)
        total = whole * row.one + heavier * own_total
        length = whole * (math.isqrt(row.squared - 1) + 1) + heavier * (math.isqrt(own_squared - 1) + 1)
        norms = RowNorms(total, length**2, 2 * total, 4 * length**2, nonnegative=False)
    reason = f"rows of a unit are scaled down to {outer:,} in all, as the policy says that nobody has more"
    one = Bounding(RowWeights(outer), bounding.relation, WEIGHT, 1, 1, None, bounding.single, reason)
    name = f"what bounding takes from {measure.asked[0].name}"
    only_less = row.nonnegative and (own.low <= 0 if isinstance(own, UnitTotal) else True)
    return CutRows((), one, norms, (cell,), measure.step / heavier, name, own, heavier, outer, only_less)


def _alone(bounding: Bounding) -> Bounding:
    """Return the bounding for a unit that is added or removed, whatever neighbors are."""
    return replace(bounding, relation=Relation.ADD_REMOVE)


def _of_row(cell: Cell) -> RowNorms:
    """Return how large the integers are that one row adds."""
    low, high = (cell.offset, cell.offset + cell.scale.steps) if isinstance(cell, Steps) else (0, 1)
    most, apart = max(abs(low), abs(high), 1), max(high, 0) - min(low, 0)
    return RowNorms(most, most**2, apart, apart**2, nonnegative=low >= 0)

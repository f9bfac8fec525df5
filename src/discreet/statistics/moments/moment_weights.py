"""How far one row moves the products of its entries: the distances behind second moments.

Let u be a row in the box [-1, 1]^d, or in the unit ball, with squared norm r at most B (d, or 1). The entries u_i u_j
with i <= j are released, and where the number of rows is private what is left, B - r, which gives it back.

Lemma (L1, one row). sum |u_i u_j| over i <= j is ((sum |u_i|)^2 + r) / 2 <= (d + 1) r / 2. With (d + 1) / 2 times B - r
it is at most (d + 1) B / 2: what is left costs nothing.

Lemma (L1, two rows). d (d + 1) / 2 in a box, sqrt(d (d + 3) / 2) in a ball. Proof. Put u = p + q, v = p - q; uu' - vv'
has the entries 2 (p_i q_j + q_i p_j). In a box |p_i| + |q_i| <= 1, so they add up to at most 2 sum |p_i| sum |q_i| + 2
sum |p_i q_i| <= d^2 / 2 + d / 2. In a ball count all d^2 entries, those off the diagonal by 1/2: the sum is at most the
norm of the counts, sqrt(d + d (d - 1) / 4), times Frobenius' norm, whose square is |u|^4 + |v|^4 - 2 (u'v)^2 <= 2.

Lemma (L2, ball). With the entries off the diagonal counted 7/5 < sqrt 2 times the norm is at most Frobenius': squared,
r^2 for a row, r^2 + (1 - r)^2 <= 1 with what is left, and 2 between two rows.

Lemma (L2, box). One row: (r^2 + sum u_i^4) / 2 <= (r^2 + r) / 2 and, what is left counted 7/10 times, 49/100 (d - r)^2:
convex in r, so at most d (d + 1) / 2, the value at r = d. Two rows: with e_i = 1 - 2 |p_i| the square of entry ij is at
most (1 - e_i e_j)^2, and the sum d (d + 1) / 2 - ((sum e_i)^2 + s) + (s^2 + sum e_i^4) / 2, s = sum e_i^2 <= d, is at
most d (d + 1) / 2 + s (s - 1) / 2 <= d^2.

Lemma (change-one where B - r is released). Twice the L1 norm; twice the squared L2 norm, because the inner product of
two rows' vectors is a sum of (u'v)^2, u_i^2 v_i^2 and (B - r) (B - r') with factors at or above 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet.privacy import Relation
from discreet.statistics.moments.gram import Region


@dataclass(frozen=True, slots=True)
class MomentWeights:
    """How often diagonal, other entries and what is left are counted, and how far neighbours then are at most."""

    diagonal: int
    other: int
    left: int
    shift: int
    squared: int


def moment_weights(region: Region, relation: Relation, *, gaussian: bool, size_is_public: bool) -> MomentWeights:
    """Return weights that spend a budget well, with the L1 distance and the squared L2 distance in steps^2."""
    if size_is_public:
        return _entries_alone(region, gaussian=gaussian)
    columns = region.dimension
    twice = 1 if relation is Relation.ADD_REMOVE else 2
    if not gaussian:
        shift = twice * (columns + 1) * region.reach
        return MomentWeights(2, 2, columns + 1, shift, shift**2)
    shift = twice * 12 * columns * (columns + 1)
    if region.ball:
        return MomentWeights(5, 7, 5, shift, twice * 25)
    return MomentWeights(10, 10, 7, shift, twice * 50 * columns * (columns + 1))


def _entries_alone(region: Region, *, gaussian: bool) -> MomentWeights:
    """Return the weights under change-one with a public number of rows."""
    columns = region.dimension
    if gaussian:
        shift = 7 * columns * (columns + 1)
        return MomentWeights(5, 7, 0, shift, 50) if region.ball else MomentWeights(1, 1, 0, shift, columns**2)
    # in units of 1/64, rounded up
    within = math.isqrt(2048 * columns * (columns + 3) - 1) + 1 if region.ball else 32 * columns * (columns + 1)
    return MomentWeights(64, 64, 0, within, within**2)

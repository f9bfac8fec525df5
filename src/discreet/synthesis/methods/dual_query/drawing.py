"""The one step of DualQuery that reads data: drawing signed queries on which the records so far are wrong."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InputError, ParameterError
from discreet.laws import Product, SignedDraws
from discreet.laws.number import Number, positive_rational
from discreet.mechanisms import Mechanism
from discreet.privacy import PrivacyLoss, PureDP, Relation, bounded_range_loss
from discreet.privacy.numbers import whole
from discreet.synthesis.base import Neighbors

Integers = NDArray[np.int64]
Counted = tuple[Any, int]
_FAR = 60
_LARGEST = 1 << 62


class Drawing(Mechanism):
    """Draw queries and signs of one round, independently, with probability proportional to exp(sign * L).

    In round t, with the public sums S of a query over the t - 1 records made so far, with its count c among the N
    private records and with n the public number of people, L = eta ((t - 1) ((2 c - N) / (2 n) + 1/2) - S). Where N = n
    this is the paper's eta ((t - 1) c / n - S); N itself never divides, for it may be private. The input is (counts,
    N).

    Privacy. The losses of one draw lie in an interval of length r = eta (t - 1) swing / n, so it is r-DP and
        (r^2 / 8)-zCDP; the draws are independent, and all of them together are (draws * r)-DP.
        Proof: one unit moves 2 c - N by at most swing (`Neighbors`), so L by at most h = eta (t - 1) swing / (2 n).
        The loss of (query, sign) is sign (L - L') - ln(Z / Z'), with Z the sum of exp(L) + exp(-L) over all queries: a
        constant, give or take h. All losses lie in an interval of length 2 h = r, whatever the sign and the query. As
        the ratios of probabilities average to 1, the interval contains 0. The rest is `bounded_range_loss`. Nothing is
        rounded: L is `integer_scores` times eta / (2 n), and nothing wraps around.
    Cost. One exponential a query, and two words a draw.
    Reference. Gaboardi, Gallego Arias, Hsu, Roth, Wu 2014.

    >>> drawing = Drawing(
    ...     eta=1,
    ...     turn=3,
    ...     sums=[2, 0],
    ...     draws=4,
    ...     neighbors=Neighbors(Relation.CHANGE_ONE, people=100),
    ... )
    >>> drawing.guarantee
    PureDP(epsilon=0.16, relation=Relation.CHANGE_ONE)
    >>> queries, signs = drawing(([50, 50], 100))
    >>> queries.size, set(signs.tolist()) <= {-1, 1}
    (4, True)
    """

    def __init__(self, *, eta: Number, turn: int, sums: Any, draws: int, neighbors: Neighbors) -> None:
        self.eta = positive_rational(eta, name="eta")
        self.turn, self.draws = whole(turn, name="turn"), whole(draws, name="draws")
        if not isinstance(neighbors, Neighbors):
            raise ParameterError("neighbors say who is protected: Neighbors(relation, people)", parameter="neighbors")
        self.protected = neighbors
        self.relation = neighbors.relation
        public = _integers(sums)
        if public is None or np.any(public < 0) or np.any(public >= self.turn):
            raise ParameterError("sums must be whole numbers from 0 to turn - 1, one a query", parameter="sums")
        self.sums: Integers = public

    @property
    def range(self) -> Fraction:
        """The length of the interval in which the losses of one draw lie."""
        return self.eta * (self.turn - 1) * self.protected.range_per_count

    @property
    def guarantee(self) -> PureDP:
        """The pure guarantee of all draws of the round."""
        return PureDP(self.range * self.draws, relation=self.relation)

    @property
    def loss(self) -> PrivacyLoss:
        """The price of bounded range, for every draw."""
        if self.range == 0:
            return PrivacyLoss.from_guarantee(self.guarantee)
        return bounded_range_loss(self.range, relation=self.relation) * self.draws

    def scores(self, value: Counted) -> NDArray[Any]:
        """Return L in units of `slope` for an input (counts, N), as exact integers."""
        counts, records = _counted(value, len(self.sums))
        return integer_scores(counts, records, turn=self.turn, sums=self.sums, people=self.protected.people)

    @property
    def slope(self) -> Fraction:
        """What an integer score is multiplied by."""
        return self.eta / (2 * self.protected.people)

    def law(self, value: Counted) -> Product:
        """Return the law of the positions: the queries with a plus, then the queries with a minus."""
        return Product([self._weighted(value).law] * self.draws)

    def __call__(self, value: Counted) -> tuple[Integers, Integers]:
        """Return the queries drawn, by position, and their signs."""
        return self._weighted(value).draw(self.draws)

    def _weighted(self, value: Counted) -> SignedDraws:
        """Return the weights of all signed queries."""
        return SignedDraws(self.scores(value), self.slope)

    def outcome(self, value: Counted) -> Integers:
        """Return a round's draws as positions of the law."""
        queries, signs = self(value)
        return queries + len(self.sums) * (signs < 0)

    def neighbors(self) -> Iterator[tuple[Counted, Counted]]:
        """Yield tables in which the first query gains what the others lose, among few records and among many.

        Among many records that make all other outcomes certain, the first query's plus comes near the largest loss.
        """
        far = int(_FAR * self.protected.swing / self.range) + 1 if self.range else 1
        rows = self.protected.rows
        for first, others in ((0, 0), (0, far), (far, far)):
            if self.relation is Relation.CHANGE_ONE:
                yield self._table(first, others + rows), self._table(first + rows, others)
            else:
                yield self._table(first, others), self._table(first + rows, others)

    def _table(self, first: int, others: int) -> Counted:
        """Return the counts of a table with records that satisfy the first query only, and all others only."""
        counts = np.full(len(self.sums), others, dtype=np.int64)
        counts[0] = first
        return counts.tolist(), first + others

    def __repr__(self) -> str:
        return (
            f"Drawing(eta={self.eta}, turn={self.turn}, sums=<{len(self.sums)} queries>, draws={self.draws}, "
            f"neighbors={self.protected!r})"
        )


def integer_scores(counts: Integers, records: int, *, turn: int, sums: Integers, people: int) -> NDArray[Any]:
    """Return (t - 1) (2 c - N + n) - 2 n S for every query: L of `Drawing` in units of eta / (2 n), exactly.

    With 0 <= c <= N and 0 <= S < t, no term or partial sum is larger than 4 t (N + n). Where int64 might not hold that,
    Python's integers do: a wrapped score would be another law, whose losses nobody has bounded.
    """
    if 4 * turn * (records + people) >= _LARGEST:
        counts, sums = counts.astype(object), sums.astype(object)
    return np.asarray((turn - 1) * (2 * counts - (records - people)) - 2 * people * sums)


def _counted(value: Any, queries: int) -> tuple[Integers, int]:
    """Return counts and the number of records; refuse anything else without showing it."""
    if not isinstance(value, tuple) or len(value) != 2:
        raise InputError("the input must be a pair: the counts of all queries, and the number of records")
    counts, records = _integers(value[0]), value[1]
    whole_records = isinstance(records, int | np.integer) and not isinstance(records, bool)
    if counts is None or counts.size != queries or not whole_records:
        raise InputError("the input must be a pair: one whole count for each query, and the whole number of records")
    if records < 0 or np.any(counts < 0) or np.any(counts > records):
        raise InputError("counts must lie between 0 and the number of records")
    return counts, int(records)


def _integers(values: Any) -> Integers | None:
    """Return a list or array of integers as int64, None for anything else."""
    if isinstance(values, list | tuple) and all(type(one) is int and abs(one) < _LARGEST for one in values):
        values = np.array(values, dtype=np.int64)
    if not isinstance(values, np.ndarray) or values.ndim != 1 or values.size == 0 or values.dtype.kind != "i":
        return None
    return values.astype(np.int64)

"""Who is protected in a table of records: the relation, the public number of people, and the records of one unit."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.errors import MissingParameter, ParameterError
from discreet.privacy import Relation
from discreet.privacy.numbers import whole


@dataclass(frozen=True, slots=True)
class Neighbors:
    """Tables that differ in one unit, of at most `rows` records; `people` is public, about or exactly the record count.

    Under change-one both tables have the same number of units. `people` scales answers and sets parameters; it is a
    public statement and never the private count. `everyone` says that every unit has at least one record; state False
    where a unit may have none, as people without a visit have in a table of visits. Where every unit has one record and
    one is changed, `people` is taken for the number of records (`stated_count`), and the records are not counted: a
    false statement makes the answers worse, and costs no privacy.

    Privacy. Let c be the count of a query and N the number of records. One unit moves c, and N, by at most `count` =
        rows, and 2c - N by at most `swing`, which is rows under add/remove and 2 rows under change-one; it moves the
        histogram of one set of attributes by at most `l1` in L1 and by at most the root of `squared` in L2. All this
        holds for a unit without a record too, whatever `everyone` says. Where `same_count` says so and every unit has
        one record, N does not move; `stated_count` is a number that was stated, and moves never.
        Proof: a unit's records add between 0 and rows to c and to N, and replacing one such number by another moves
        their sum by at most rows. A record adds +1 or -1 to 2c - N, so a unit's records add at most rows in absolute
        value; change-one takes one unit out and puts another in, with as many records or not. A unit adds a vector of
        non-negative entries with sum at most rows to the histogram: L1 and L2 at most rows. The difference of two such
        vectors a, b has L1 at most 2 rows, and as a, b >= 0, |a - b|^2 <= |a|^2 + |b|^2 <= 2 rows^2. Where every unit
        has at least one record and at most one, replacing a unit replaces one record by one.
    """

    relation: Relation
    people: int
    rows: int = 1
    everyone: bool = True

    def __post_init__(self) -> None:
        if self.relation not in (Relation.ADD_REMOVE, Relation.CHANGE_ONE):
            raise MissingParameter(
                "say who is a neighbor: Relation.ADD_REMOVE or Relation.CHANGE_ONE", parameter="relation"
            )
        if isinstance(self.people, bool) or not isinstance(self.people, int) or self.people < 1:
            raise ParameterError("people must be a public number of records, at least 1", parameter="people")
        object.__setattr__(self, "rows", whole(self.rows, name="rows"))
        if self.rows < 1:
            raise ParameterError("rows must be at least 1", parameter="rows")
        if not isinstance(self.everyone, bool):
            raise ParameterError("everyone must be True or False", parameter="everyone")

    @property
    def same_count(self) -> bool:
        """Whether neighbors are said to have the same number of records: each unit has one, and one is changed."""
        return self.relation is Relation.CHANGE_ONE and self.rows == 1 and self.everyone

    @property
    def stated_count(self) -> int | None:
        """The number of records where it is public: `people`, as stated, whatever the table holds; else None."""
        return self.people if self.same_count else None

    @property
    def _times(self) -> int:
        return 2 if self.relation is Relation.CHANGE_ONE else 1

    @property
    def swing(self) -> int:
        """By how much one unit moves 2c - N, c the count of any query and N the number of records."""
        return self._times * self.rows

    @property
    def count(self) -> int:
        """By how much one unit moves one count: under change-one, one unit's records go and another's come."""
        return self.rows

    @property
    def l1(self) -> int:
        """The L1 distance of one histogram, of any set of attributes, on neighbors."""
        return self._times * self.rows

    @property
    def squared(self) -> int:
        """The square of the L2 distance of one histogram on neighbors."""
        return self._times * self.rows**2

    @property
    def range_per_count(self) -> Fraction:
        """The range of losses for a choice among signed queries by (2c - N)/(2 people), per unit of the rate."""
        return Fraction(self.swing, self.people)

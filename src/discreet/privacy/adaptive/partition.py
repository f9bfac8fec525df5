"""Releases on separate parts of a table: a person pays only for the parts that hold their data.

Budgets for separate parts of a table in a live session.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from discreet.errors import MissingParameter, ParameterError
from discreet.privacy.adaptive.filters import Filter
from discreet.privacy.adaptive.notions import Amounts, books_for
from discreet.privacy.guarantees import Guarantee, basic_composition
from discreet.privacy.numbers import whole
from discreet.privacy.relation import Relation, combine


def parallel(promises: Iterable[Guarantee], *, relation: Relation, parts_per_person: int = 1) -> Guarantee:
    """Return the promise of one release on each part of a table, the parts being fixed beforehand.

    Which part a row belongs to is decided by the row alone (a column, say), by a rule that is public before any of the
    releases: by public keys, or by what an earlier release found. Each promise is about the whole table: it holds for
    its release seen as a function of the table that looks at one part's rows only. Mind change-one: a promise that
    takes the number of rows *of a part* as public is not one, as a changed row may move from part to part.

    Privacy. For a person with data in at most m parts: under add/remove the m largest promises compose; under
        change-one the 2 m largest, as the old data lie in m parts and the new data in m others. Where a promise has two
        numbers, the largest of each are taken.
        Proof: fix two neighbours. They differ in at most m parts (add/remove) or 2 m (change-one), the others hold the
        same rows in both, and a release on one of those has the same law on both tables: it keeps every promise. By
        `basic_composition` all releases together keep the sum of what the parts that differ promise, and no sum over so
        many parts exceeds that of the largest ones. That change-one needs twice as many is sharp: a row that moves
        between two parts changes the likelihood ratio of both.
    Reference. McSherry 2009.

    >>> from discreet.privacy.guarantees.guarantee import PureDP
    >>> counts = [PureDP(0.5), PureDP(0.25), PureDP(0.125)]
    >>> parallel(counts, relation=Relation.ADD_REMOVE)
    PureDP(epsilon=0.5, relation=Relation.ADD_REMOVE)
    >>> parallel(counts, relation=Relation.CHANGE_ONE)
    PureDP(epsilon=0.75, relation=Relation.CHANGE_ONE)
    """
    given = list(promises)
    together = basic_composition(given)  # refuses an empty list, mixed notions and mixed relations
    stated = combine(together.relation, relation)
    books = books_for(together)
    amounts = largest([books.read(one) for one in given], touched_parts(stated, parts_per_person))
    return books.write([books.up(amount, amount) for amount in amounts], stated)


def touched_parts(relation: Relation, parts_per_person: int) -> int:
    """Return in how many parts two neighbours can differ."""
    count = whole(parts_per_person, name="parts_per_person")
    if relation is Relation.UNSTATED:
        raise MissingParameter(
            "what a person can change in separate parts depends on the neighbour relation: state it, "
            "relation=Relation.ADD_REMOVE or relation=Relation.CHANGE_ONE",
            parameter="relation",
        )
    return count if relation is Relation.ADD_REMOVE else 2 * count


def largest(amounts: Sequence[Amounts], count: int) -> Amounts:
    """Return, for each quantity, the sum of its largest values."""
    return tuple(sum(sorted(column, reverse=True)[:count], Fraction(0)) for column in zip(*amounts, strict=True))


class Partition(Mapping[Hashable, Filter]):
    """Budgets for separate parts of a table in a live session, reserved together before the first release on a part.

    Each part is a filter of its own, with the session's notion and relation. Releases on parts and on the whole table
    may be mixed in any order; a release is charged to the smallest part that holds all rows it looks at. What a part
    does not spend stays reserved.

    Privacy. The session keeps its budget.
        Proof: fix two neighbours and a path. Say what each release costs *for these neighbours*: nothing, if it looks
        at a part in which they do not differ, and its promise otherwise. Along the path the releases on a part cost at
        most its budget, and the neighbours differ in at most m parts (add/remove) or 2 m (change-one), so the releases
        on parts cost at most what was reserved, the sum of that many largest budgets. With what the whole table cost
        this is at most the session's budget, and the induction of `Filter`, which is about two fixed neighbours,
        applies.
    Reference. McSherry 2009; Feldman, Zrnic 2021 for costs that depend on the neighbours.

    >>> from discreet.privacy.adaptive import PureFilter
    >>> from discreet.privacy.guarantees.guarantee import PureDP
    >>> from discreet.privacy.relation import Relation
    >>> session = PureFilter(1, relation=Relation.ADD_REMOVE)
    >>> regions = Partition(session, {"north": PureDP(0.5), "south": PureDP(0.25)})
    >>> session.remaining.epsilon
    0.5
    >>> regions["south"].spend(PureDP(0.25))
    >>> regions["south"].remaining.epsilon, regions["north"].remaining.epsilon
    (0, 0.5)
    """

    def __init__(self, session: Filter, budgets: Mapping[Hashable, Guarantee], *, parts_per_person: int = 1) -> None:
        """Reserve a budget for each part; `parts_per_person` bounds in how many parts one person's data can lie."""
        if not isinstance(session, Filter):
            raise ParameterError(f"a filter is needed, not {type(session).__name__}", parameter="session")
        if not isinstance(budgets, Mapping) or not budgets:
            raise ParameterError("budgets is a mapping from each part to its promise, not empty", parameter="budgets")
        touched = touched_parts(session.relation, parts_per_person)
        self._parts = session._reserve(budgets, lambda amounts: largest(amounts, touched))

    def __getitem__(self, part: Hashable) -> Filter:
        """Return the filter of one part."""
        return self._parts[part]

    def __iter__(self) -> Iterator[Hashable]:
        """Iterate over the names of the parts."""
        return iter(self._parts)

    def __len__(self) -> int:
        """Return the number of parts."""
        return len(self._parts)

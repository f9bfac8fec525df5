"""Releases on separate parts of a table: a person pays only for the parts that hold their data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction

from discreet.errors import MissingParameter
from discreet.privacy.adaptive.notions import Amounts, books_for
from discreet.privacy.guarantees.composition import basic_composition
from discreet.privacy.guarantees.guarantee import Guarantee
from discreet.privacy.numbers.arguments import whole
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

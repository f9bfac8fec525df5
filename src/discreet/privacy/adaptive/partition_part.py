"""Budgets for separate parts of a table in a live session."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping

from discreet.errors import ParameterError
from discreet.privacy.adaptive.filters import Filter
from discreet.privacy.adaptive.partition import largest, touched_parts
from discreet.privacy.guarantees.guarantee import Guarantee


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

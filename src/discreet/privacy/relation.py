"""Which tables are neighbors: what one person's presence or data may change."""

from __future__ import annotations

from enum import Enum

from discreet.errors import RelationMismatch


class Relation(Enum):
    """The neighbor relation a sensitivity was computed for and a guarantee holds for.

    `ADD_REMOVE` hides whether a person is in the table at all. `CHANGE_ONE` hides what the person's row says, while the
    number of rows is public. A guarantee that states neither holds for whichever relation its sensitivity was computed
    for; it composes with either, and takes that one on.

    >>> print(Relation.ADD_REMOVE.sentence)
    one person's data is added or removed
    """

    ADD_REMOVE = "add/remove"
    CHANGE_ONE = "change one"
    UNSTATED = "unstated"

    @property
    def sentence(self) -> str:
        """What may change between neighbors, in words."""
        return _SENTENCES[self]

    def __repr__(self) -> str:
        return f"Relation.{self.name}"


_SENTENCES = {
    Relation.ADD_REMOVE: "one person's data is added or removed",
    Relation.CHANGE_ONE: "one person's data is changed for other data, the number of rows is public",
    Relation.UNSTATED: "neighbors as the sensitivity was computed for, not stated here",
}


def combine(first: Relation, second: Relation) -> Relation:
    """Return the relation under which two guarantees hold together; refuse two different stated ones.

    >>> combine(Relation.UNSTATED, Relation.CHANGE_ONE)
    Relation.CHANGE_ONE
    """
    if first is Relation.UNSTATED:
        return second
    if second in (first, Relation.UNSTATED):
        return first
    raise RelationMismatch(
        f"one guarantee is for {first.value!r}, another for {second.value!r}: their numbers mean different things and "
        "cannot be combined. Compute both sensitivities for one relation; or use that changing a row is removing one "
        "and adding one: from an add/remove guarantee follows group_privacy(guarantee, 2).under(Relation.CHANGE_ONE)."
    )


def require_known(source: Relation, wanted: Relation) -> None:
    """Raise RelationMismatch if a guarantee for one relation is concluded from one for another or unstated one."""
    combine(source, wanted)
    if source is Relation.UNSTATED and wanted is not Relation.UNSTATED:
        raise RelationMismatch(
            f"a guarantee for {wanted.value!r} does not follow from one that does not state its relation. State it: "
            f"relation=Relation.{wanted.name} on the sensitivity or on the guarantee at hand."
        )

"""Neighbor relations: stated, combined, never mixed."""

from __future__ import annotations

import pytest

from discreet.errors import RelationMismatch
from discreet.privacy.relation import Relation, combine, require_known

ALL = list(Relation)


@pytest.mark.parametrize("relation", ALL)
def test_unstated_takes_on_the_other_relation(relation):
    assert combine(Relation.UNSTATED, relation) is relation
    assert combine(relation, Relation.UNSTATED) is relation
    assert combine(relation, relation) is relation


def test_two_different_relations_are_refused_with_what_to_do():
    with pytest.raises(
        RelationMismatch, match=r"'add/remove', another for 'change one'.*group_privacy\(guarantee, 2\)"
    ):
        combine(Relation.ADD_REMOVE, Relation.CHANGE_ONE)
    with pytest.raises(RelationMismatch):
        combine(Relation.CHANGE_ONE, Relation.ADD_REMOVE)


@pytest.mark.parametrize("wanted", [Relation.ADD_REMOVE, Relation.CHANGE_ONE])
def test_a_stated_relation_is_never_concluded_from_silence(wanted):
    with pytest.raises(RelationMismatch, match=f"relation=Relation.{wanted.name}"):
        require_known(Relation.UNSTATED, wanted)
    require_known(wanted, Relation.UNSTATED)
    require_known(wanted, wanted)


def test_every_relation_has_its_own_sentence():
    assert len({relation.sentence for relation in ALL}) == len(ALL)
    assert repr(Relation.ADD_REMOVE) == "Relation.ADD_REMOVE"

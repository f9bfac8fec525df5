"""When measurements count the same people: the rules by which they share latent counts, and the refusals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.errors import InputError
from discreet.statistics.measurement import KEYS, ROWS, UNITS, Counts, Measurement


def require_same_counts(
    everything: Sequence[Measurement], counted: Sequence[Measurement], *, one_row_a_person: bool, exhaustive: bool
) -> None:
    """Refuse measurements that do not count the same people, everybody once, or of which that is not provable."""
    if not counted:
        names = ", ".join(one.plan.name for one in everything) or "none"
        raise InputError(
            f"a model of counts needs a noisy count; got sums of values ({names}), ask COUNT(*) or COUNT(DISTINCT "
            "...), or take a model of sums"
        )
    for one in counted:
        _require_once(one, one_row_a_person=one_row_a_person)
    for other in counted[1:]:
        _require_same(counted[0], other, one_row_a_person=one_row_a_person)
    if not one_row_a_person:
        _require_one_bounding(counted)
    _require_selections(counted)
    if exhaustive and not all(one.plan.source.listed for one in counted):
        raise InputError(
            "exhaustive must be left out where keys are private, because groups that were not named may have people; "
            "got exhaustive=True, write exhaustive=False or declare the keys public"
        )


def what(one: Measurement, *, one_row_a_person: bool) -> str:
    """Return what a measurement counts; if nobody has two rows, units are rows."""
    adds_up = one.plan.adds_up
    if not isinstance(adds_up, Counts):
        return ""
    return ROWS if one_row_a_person and adds_up.counted == UNITS else adds_up.counted


def _require_once(one: Measurement, *, one_row_a_person: bool) -> None:
    """Refuse counts to which a person adds more than one, or a part of one."""
    adds_up = one.plan.adds_up
    if not isinstance(adds_up, Counts) or (adds_up.once or (one_row_a_person and adds_up.counted != KEYS)):
        return
    advice = (
        "ask how many people there are instead"
        if adds_up.counted == KEYS
        else "ask COUNT(DISTINCT ...) of the unit with groups = 1, or state one_row_a_person=True if you know that "
        "nobody has two rows"
    )
    raise InputError(
        f"a model of counts needs everybody counted once; got {one.plan.name}, where {adds_up.why}, {advice}"
    )


def _require_same(one: Measurement, other: Measurement, *, one_row_a_person: bool) -> None:
    """Refuse two counts whose overlap is not known; independence is never assumed."""
    first, second = one.plan, other.plan
    if what(one, one_row_a_person=one_row_a_person) != what(other, one_row_a_person=one_row_a_person):
        raise InputError(
            f"measurements must count one thing; got {first.name} and {second.name}, of which one counts "
            f"{_said(one)} and the other {_said(other)}, give the model one of them: [one for one in "
            f'answer.measurements if one.plan.name == "{first.name}"], or ask COUNT(*) in a query that groups by the '
            "condition, where one counts a part of the other"
        )
    if first.source.rows != second.source.rows:
        raise InputError(
            f"measurements must be about the same rows; got {first.name} and {second.name}, whose filters or joins "
            "differ, so that nobody knows how many people are in both, give one of them, or ask one query that groups "
            "by the condition"
        )


def _require_one_bounding(counted: Sequence[Measurement]) -> None:
    """Refuse counts of rows, or of groups that units are in, that were bounded in different ways.

    A total of units is the exception: it counts every unit once, and so do groups of which a unit counts in one.
    """
    units = all(isinstance(one.plan.adds_up, Counts) and one.plan.adds_up.counted == UNITS for one in counted)
    bound = [one.plan for one in counted if one.plan.source.keys or not units]
    for other in bound[1:]:
        if other.source.bounding != bound[0].source.bounding:
            why = (
                "in which a unit with rows in several groups may have been counted in different ones"
                if units
                else "whose rows were bounded in different ways"
            )
            raise InputError(
                f"measurements must count the same people; got {bound[0].name} and {other.name}, {why}, give one of "
                "them, or state one_row_a_person=True if you know that nobody has two rows"
            )


def _said(one: Measurement) -> str:
    """Return what a measurement counts, in words; the text of an argument is too long for a sentence."""
    adds_up = one.plan.adds_up
    counted = adds_up.counted if isinstance(adds_up, Counts) else ""
    return counted if counted in (ROWS, UNITS, KEYS) else "values of a column"


def _require_selections(counted: Sequence[Measurement]) -> None:
    """Refuse groups that were named because of a count which is not there, and groups that one answer did not name.

    A group that was not named has a low noisy count: to leave that out would not be missing at random.
    """
    selecting = {one.release for one in counted if isinstance(one.plan.adds_up, Counts) and one.plan.adds_up.selects}
    for one in counted:
        if one.plan.source.listed:
            continue
        if one.release not in selecting:
            raise InputError(
                f"private keys were named by their noisy number of units, which a model needs; got {one.plan.name} "
                "without it, give the whole answer, with one_row_a_person=True where rows were counted"
            )
        named = {frozenset(zip(one.plan.source.keys, group, strict=True)) for group in one.plan.keys}
        for other in counted:
            if not _within(other, set(one.plan.source.keys), named):
                raise InputError(
                    f"measurements must not be of groups that another one left out because their noisy counts were "
                    f"low; got {other.plan.name} beside {one.plan.name}, whose keys are private, give one of the "
                    "answers alone"
                )


def _within(other: Measurement, keys: set[str], named: set[frozenset[tuple[str, Any]]]) -> bool:
    """Say whether all groups of a measurement lie in groups that were named; a coarser one has a rest anyway."""
    own = other.plan.source.keys
    if not keys <= set(own):
        return True
    return all(
        frozenset(pair for pair in zip(own, group, strict=True) if pair[0] in keys) in named
        for group in other.plan.keys
    )

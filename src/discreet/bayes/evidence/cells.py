"""Latent counts: cells of people who are counted once, and what was released about sums of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from discreet.bayes.evidence.same_counts import require_same_counts
from discreet.errors import InputError
from discreet.laws.noise import IntegerNoise
from discreet.statistics.measurement import Counts, Measurement, MeasurementPlan

OTHER = "(other)"
"""The value of a key in a cell of rows that no group of an answer lists: undeclared values and NULL."""
ALL = "(all)"
"""The value of a key in a cell that holds rows of all its values, because nothing tells them apart there."""

_MOST_PEOPLE = 10**12

Fixed = frozenset[tuple[str, Any]]  # a set of rows: the canonical text of a key, and the value that they have


@dataclass(frozen=True, slots=True)
class Observation:
    """One released integer: `weight` times the sum of some cells, plus noise drawn for it alone."""

    members: tuple[int, ...]  # places of the cells, in order
    released: int
    noise: IntegerNoise
    weight: int = 1


@dataclass(frozen=True, slots=True)
class LatentCounts:
    """Disjoint cells by their keys, and every released integer about sums of them.

    The sets of cells that were observed are nested or disjoint, so that they form a forest; a cell may be observed on
    its own several times, or never. Observations stand in the order of the measurements and their groups. Without
    `listed` there may be further groups, which are not shown because their noisy counts were low: such groups are not
    missing at random, and nothing may be said about what all groups have in common. A group that is shown has at least
    one unit then, which its noisy count says already but for a chance of about delta.
    """

    key_names: tuple[str, ...]
    cells: tuple[tuple[Any, ...], ...]
    observations: tuple[Observation, ...]
    listed: bool = True
    left_out: tuple[str, ...] = field(default=())  # names of measurements that count nothing

    @property
    def notes(self) -> tuple[str, ...]:
        """What the reader of a posterior must know."""
        return (f"left out, because no one is counted there: {', '.join(self.left_out)}",) if self.left_out else ()


def latent_counts(
    measurements: Iterable[Measurement], *, one_row_a_person: bool = False, exhaustive: bool = False
) -> LatentCounts:
    """Return the cells whose numbers of people all these measurements are about, and what was released about them.

    A total, or a coarser GROUP BY, is the sum of the groups within it and of one more cell, `OTHER`: rows whose key is
    NULL or no declared value are in no group. `exhaustive` states that there are none. `one_row_a_person` states, as an
    assumption about the people and not from the policy, that nobody has more than one row in all: then every form of
    bounding counts everybody once.

    Accuracy. The observations are exactly sums of the cells, with independent noise; whatever is not provably so is
        refused.
        Proof: rows of one source that agree with fixed values of some keys are one set; two such sets are disjoint
        where they differ in the value of a key, and one holds the other where its keys are among the other's; any other
        pair is refused. So the sets form a forest. The cells are its leaves and, in every other set, the rows that none
        of the sets within it holds: they are disjoint, and every set is the union of cells within it. Where each row is
        counted once, by the same bounding, sets of rows are sets of counts. A unit that counts in one group, chosen by
        its hash, counts in the total of all groups exactly once, or is in `OTHER` if it has rows in no group; of other
        groupings that is not so, and they are refused. Noise is drawn for every released integer by itself.

    >>> from discreet.bayes.evidence import noisy_counts
    >>> from discreet.laws import DiscreteLaplace
    >>> noise = DiscreteLaplace(2)
    >>> answers = noisy_counts({"yes": 41, "no": 8}, noise=noise, table="survey")
    >>> total = noisy_counts(52, noise=noise, table="survey")
    >>> found = latent_counts([answers, total])
    >>> found.cells
    (('yes',), ('no',), ('(other)',))
    >>> [one.members for one in found.observations]
    [(0,), (1,), (0, 1, 2)]
    """
    everything = tuple(measurements)
    counted = counting(everything)
    require_same_counts(everything, counted, one_row_a_person=one_row_a_person, exhaustive=exhaustive)
    _require_nested(counted)
    for one in counted:
        _require_people(one)
    names = _key_names(counted)
    sets = [[_fixed(one, group) for group in one.plan.keys] for one in counted]
    forest = _Forest.of({fixed: None for listed in sets for fixed in listed}, exhaustive=exhaustive)
    observations = [
        Observation(forest.members[fixed], released, one.plan.noise, _weight(one))
        for one, listed in zip(counted, sets, strict=True)
        for fixed, released in zip(listed, one.released[0], strict=True)
    ]
    _require_own_names(forest, names)
    return LatentCounts(
        key_names=tuple(names.values()),
        cells=tuple(forest.cell(place, names) for place in range(len(forest.cells))),
        observations=tuple(observations),
        listed=all(one.plan.source.listed for one in counted),
        left_out=tuple(one.plan.name for one in everything if not isinstance(one.plan.adds_up, Counts)),
    )


def planned_counts(
    plans: Sequence[MeasurementPlan], *, one_row_a_person: bool = False, exhaustive: bool = False
) -> LatentCounts:
    """Return the cells that plans are about; the integers in it are zeros that nobody reads."""
    empty = [
        plan.measured([[0] * len(plan.keys)] * plan.adds_up.entries, ("not asked", place), None)
        for place, plan in enumerate(plans)
    ]
    return latent_counts(empty, one_row_a_person=one_row_a_person, exhaustive=exhaustive)


def counting(measurements: Iterable[Measurement]) -> tuple[Measurement, ...]:
    """Return the measurements that count: what models of counts read of an answer that has sums of values, too."""
    return tuple(one for one in measurements if isinstance(one.plan.adds_up, Counts))


def _require_people(one: Measurement) -> None:
    """Refuse integers that no number of people comes near: sums over counts would have no end."""
    if any(abs(released) > _weight(one) * _MOST_PEOPLE for released in one.released[0]):
        raise InputError(
            f"released must be noisy counts of at most {_MOST_PEOPLE:,} people; got more in {one.plan.name}, hand over "
            "the integers as they were released, with the law of their noise"
        )


def _require_own_names(forest: _Forest, names: Mapping[str, str]) -> None:
    """Refuse groups that bear the name of the rest where there is a rest: labels would not tell them apart."""
    rest = any(len(fixed) < len(names) for fixed, _ in forest.cells)
    if rest and any(value in (OTHER, ALL) for fixed in forest.members for _, value in fixed):
        raise InputError(
            f"groups must not be named {OTHER!r} or {ALL!r} beside a total, because rows of no listed group are shown "
            "under these names; give the groups without the total, state exhaustive=True if every row is in a listed "
            "group, or name the value differently"
        )


def _weight(one: Measurement) -> int:
    """Return what one person adds."""
    adds_up = one.plan.adds_up
    return adds_up.weight if isinstance(adds_up, Counts) else 1


def _fixed(one: Measurement, group: Sequence[Any]) -> Fixed:
    """Return the rows of a group as the values that they have."""
    return frozenset(zip(one.plan.source.keys, group, strict=True))


def _key_names(counted: Sequence[Measurement]) -> dict[str, str]:
    """Return the keys of all measurements in their order, with the names that the first of the finest gives them."""
    names: dict[str, str] = {}
    for one in sorted(counted, key=lambda one: -len(one.plan.source.keys)):
        for text, name in zip(one.plan.source.keys, one.plan.key_names, strict=True):
            names.setdefault(text, name)
    return {text: names[text] for one in counted for text in one.plan.source.keys}


def _require_nested(counted: Sequence[Measurement]) -> None:
    """Refuse two tables whose groups cross: each holds a part of what the other holds."""
    tables: dict[tuple[str, ...], Measurement] = {}
    for one in counted:
        tables.setdefault(one.plan.source.keys, one)
    groups: dict[tuple[str, ...], set[Fixed]] = {keys: set() for keys in tables}
    for one in counted:
        groups[one.plan.source.keys].update(_fixed(one, group) for group in one.plan.keys)
    for one_keys, other_keys in combinations(tables, 2):
        shared = set(one_keys) & set(other_keys)
        if len(shared) in (len(one_keys), len(other_keys)):
            continue
        sides = [
            {frozenset(pair for pair in fixed if pair[0] in shared) for fixed in groups[keys]}
            for keys in (one_keys, other_keys)
        ]
        if sides[0] & sides[1]:
            named = [", ".join(tables[keys].plan.key_names) for keys in (one_keys, other_keys)]
            raise InputError(
                f"measurements must be of groups that are nested or disjoint; got tables by {named[0]} and by "
                f"{named[1]}, which cross, give one of them, or ask one table by all of these keys"
            )


@dataclass(frozen=True)
class _Forest:
    """Sets of rows, nested or disjoint: the cells as the set that holds them and whether they are its rest, members."""

    cells: list[tuple[Fixed, frozenset[str]]]  # the innermost set, and the keys by which the sets within it differ
    members: Mapping[Fixed, tuple[int, ...]]

    @classmethod
    def of(cls, sets: Iterable[Fixed], *, exhaustive: bool) -> _Forest:
        """Return the forest; a set that others are within has a cell for what is left, unless nothing can be."""
        known = dict.fromkeys(sets)
        keys = sorted({frozenset(key for key, _ in fixed) for fixed in known}, key=len, reverse=True)
        above = {fixed: _above(fixed, keys, known) for fixed in known}
        within: dict[Fixed, set[str]] = {fixed: set() for fixed in known}
        for fixed, parent in above.items():
            if parent is not None:
                within[parent].update({key for key, _ in fixed} - {key for key, _ in parent})
        cells: list[tuple[Fixed, frozenset[str]]] = [(fixed, frozenset()) for fixed in known if not within[fixed]]
        if not exhaustive:
            cells += [(fixed, frozenset(within[fixed])) for fixed in known if within[fixed]]
        members: dict[Fixed, list[int]] = {fixed: [] for fixed in known}
        for place, (fixed, _) in enumerate(cells):
            holder: Fixed | None = fixed
            while holder is not None:
                members[holder].append(place)
                holder = above[holder]
        return cls(cells, {fixed: tuple(places) for fixed, places in members.items()})

    def cell(self, place: int, names: Mapping[str, str]) -> tuple[Any, ...]:
        """Return the values of all keys in a cell."""
        fixed, rest = self.cells[place]
        values = dict(fixed)
        return tuple(values.get(key, OTHER if key in rest else ALL) for key in names)


def _above(fixed: Fixed, keys: Sequence[frozenset[str]], known: Mapping[Fixed, None]) -> Fixed | None:
    """Return the smallest other set that holds a set, None for one that none holds."""
    own = {key for key, _ in fixed}
    for some in keys:
        if some < own:
            wider = frozenset(pair for pair in fixed if pair[0] in some)
            if wider in known:
                return wider
    return None

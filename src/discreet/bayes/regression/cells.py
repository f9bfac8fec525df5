"""Cells of counts: which groups a model is about, and what was released about each of them.

A model takes the finest groups that were released. What was released about coarser ones counts where it stays within
one cell of the model; a total over several of its cells would tie them together and is refused.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.bayes.base import Parameter
from discreet.bayes.evidence import OTHER, LatentCounts, Observation
from discreet.bayes.regression.design import shown
from discreet.bayes.regression.likelihoods import ShareCell
from discreet.display import as_stated
from discreet.errors import InputError, ParameterError
from discreet.privacy import Target
from discreet.statistics.measurement import Counts, MeasurementPlan

Group = tuple[Any, ...]
ByGroup = Mapping[Any, Any]
_MOST, _LEAST = 10**12, 1e-100  # people, exposures


@dataclass(frozen=True)
class ListedCells:
    """The finest groups of some plans, by their keys, in the order in which they are listed.

    Keys are told apart by their canonical `texts`: two answers may show one key under two names. The names are those
    of the first of the finest.
    """

    key_names: tuple[str, ...]
    keys: tuple[Group, ...]
    texts: tuple[str, ...]

    @classmethod
    def of(cls, plans: Sequence[MeasurementPlan]) -> ListedCells:
        """Return the cells of plans; refuse what is no count, and keys that were found in the data.

        >>> from discreet.laws import DiscreteLaplace
        >>> from discreet.statistics.measurement import Counts, MeasurementPlan
        >>> plan = MeasurementPlan(
        ...     "count", ("ward",), (("a",), ("b",)), Counts("people"), DiscreteLaplace(2)
        ... )
        >>> ListedCells.of([plan]).keys
        (('a',), ('b',))
        """
        counted = [plan for plan in plans if isinstance(plan.adds_up, Counts)]
        if not counted:
            names = ", ".join(plan.name for plan in plans) or "none"
            raise ParameterError(
                f"models of cells must be given counts; got sums of values ({names}), ask COUNT(*) with GROUP BY",
                parameter="released",
            )
        if not all(plan.source.listed for plan in counted):
            raise ParameterError(
                "models of many groups must have all groups; got keys that were found in the data, of which the small "
                "ones are missing because they are small, declare the keys in the policy and ask again",
                parameter="released",
            )
        finest = max(counted, key=lambda plan: len(plan.key_names))
        texts = finest.source.keys
        keys: dict[Group, None] = {}
        for plan in counted:
            if set(plan.source.keys) == set(texts):
                order = [plan.source.keys.index(text) for text in texts]
                keys.update((tuple(key[place] for place in order), None) for key in plan.keys)
        return cls(finest.key_names, tuple(keys), texts)

    def observed(self, counts: LatentCounts) -> list[tuple[frozenset[Group], Observation]]:
        """Return every observation with the cells it is about, keys in our order."""
        order = [counts.key_names.index(name) for name in self.key_names]
        cells = [tuple(cell[place] for place in order) for cell in counts.cells]
        return [(frozenset(cells[place] for place in one.members), one) for one in counts.observations]


def summed(listed: ListedCells, plan: MeasurementPlan, counts: Mapping[Group, int]) -> NDArray[Any]:
    """Return what counts of cells add up to in the groups of a plan: (entries, groups), 0 where nobody is counted."""
    if not isinstance(plan.adds_up, Counts):
        return np.zeros((plan.adds_up.entries, len(plan.keys)), dtype=np.int64)
    places = [listed.texts.index(text) for text in plan.source.keys]
    total: dict[Group, int] = defaultdict(int)
    for key, count in counts.items():
        total[tuple(key[place] for place in places)] += int(count)
    sums = [total[key] for key in plan.keys]
    if plan.adds_up.weight * max([1, *sums]) >= 1 << 62:
        return np.array([*(plan.adds_up.weight * one for one in sums), None], dtype=object)[np.newaxis, :-1]
    return plan.adds_up.weight * np.array(sums, dtype=np.int64)[np.newaxis]


def rate_cells(listed: ListedCells, counts: LatentCounts) -> list[list[Observation]]:
    """Return what was released about the count of each cell."""
    found: dict[Group, list[Observation]] = {key: [] for key in listed.keys}
    for cells, one in listed.observed(counts):
        if len(cells) > 1:
            raise _ties()
        (key,) = cells
        if key in found:
            found[key].append(one)
    for key, seen in found.items():
        if not seen:
            raise InputError(f"every cell must have been released on its own; got none for {_shown(key)}")
    return list(found.values())


def require_success(pair: Any) -> None:
    """Refuse what is not the name of a key with a value of it."""
    named = isinstance(pair, tuple) and len(pair) == 2 and isinstance(pair[0], str)
    if not named or not isinstance(pair[1], Hashable):
        raise ParameterError(
            f'success must be the name of a key and a value of it; got {type(pair).__name__}, write ("smoker", "yes")',
            parameter="success",
        )


@dataclass(frozen=True)
class Sides:
    """The two values of a key that a share is about, and the groups by all other keys."""

    place: int
    success: Any
    failure: Any
    predictors: tuple[str, ...]
    groups: tuple[Group, ...]

    @classmethod
    def of(cls, listed: ListedCells, success: tuple[str, Any], failure: Any) -> Sides:
        """Return the sides; refuse a key or values that are not there."""
        name, value = success
        if name not in listed.key_names:
            known = ", ".join(map(repr, listed.key_names)) or "none"
            raise ParameterError(
                f"success must name a key of the answer; got {name!r}, the keys are {known}", parameter="success"
            )
        place = listed.key_names.index(name)
        values = list(dict.fromkeys(key[place] for key in listed.keys))
        for side, given in (("success", value), ("failure", failure)):
            if not isinstance(given, Hashable) or (given not in values and not (side == "failure" and given is None)):
                known = ", ".join(map(repr, values))
                raise ParameterError(
                    f"{side} must be a value of {name!r} that the answer lists; got {shown(given)}, write one of "
                    f"{known}",
                    parameter=side,
                )
        others = [one for one in values if one != value] if failure is None else [failure]
        if len(others) != 1 or others[0] == value:
            raise ParameterError(
                f"failure must name the one other value of {name!r} that shares are about; got {len(others)} values "
                f"beside {value!r}, write failure=...",
                parameter="failure",
            )
        rest = tuple(one for one in listed.key_names if one != name)
        groups = dict.fromkeys(key[:place] + key[place + 1 :] for key in listed.keys)
        return cls(place, value, others[0], rest, tuple(groups))

    def cell(self, group: Group, side: Any) -> Group:
        """Return the key of one side of a group."""
        return (*group[: self.place], side, *group[self.place :])

    def drawn(
        self,
        listed: ListedCells,
        shares: Any,
        people: Any,
        expected: Any,
        plans: Sequence[MeasurementPlan],
        generator: np.random.Generator,
    ) -> list[NDArray[Any]]:
        """Draw the people of every group given the shares; return what they add up to in the groups of the plans."""
        stated = by_group(people, "people", self.groups, whole=True, example="people=50")
        means = by_group(expected, "rows_expected", self.groups, whole=True, example="rows_expected=50")
        if stated is None and means is None:
            raise ParameterError(
                "the number of people of a cell must be stated to simulate answers; got none, write rows_expected=50, "
                "or people= where it is public",
                parameter="rows_expected",
            )
        if {key[self.place] for key in listed.keys} != {self.success, self.failure}:
            raise ParameterError(
                "answers can be simulated where the key of successes has two values; got more, group by the condition",
                parameter="success",
            )
        counts: dict[Group, int] = {}
        for group, share in zip(self.groups, np.ravel(shares), strict=True):
            size = stated[group] if stated is not None else int(generator.poisson(means[group] if means else 0))
            successes = int(generator.binomial(size, float(share)))
            counts |= {self.cell(group, self.success): successes, self.cell(group, self.failure): size - successes}
        return [summed(listed, plan, counts) for plan in plans]

    def share_cells(
        self, listed: ListedCells, counts: LatentCounts, people: Mapping[Group, int] | None
    ) -> list[ShareCell]:
        """Return what was released about each group: successes, failures, and both together."""
        kinds: dict[frozenset[Group], tuple[Group, int]] = {}
        for group in self.groups:
            yes, no = self.cell(group, self.success), self.cell(group, self.failure)
            kinds |= {frozenset([yes]): (group, 0), frozenset([no]): (group, 1), frozenset([yes, no]): (group, 2)}
        found: dict[Group, tuple[list[Observation], ...]] = {group: ([], [], []) for group in self.groups}
        for cells, one in listed.observed(counts):
            if cells in kinds:
                group, kind = kinds[cells]
                found[group][kind].append(one)
            elif len(cells) > 1:
                raise _ties()
        return [self._cell(group, found[group], people) for group in self.groups]

    def _cell(self, group: Group, seen: tuple[list[Observation], ...], people: Mapping[Group, int] | None) -> ShareCell:
        """Return the cell of a group; refuse one that says nothing of its share."""
        successes, failures, together = (tuple(one) for one in seen)
        known = people is not None or bool(together)
        if not (successes and failures) and not (known and (successes or failures)):
            raise InputError(
                f"a share needs counts of both sides, or one and the number of people; got less for {_shown(group)}, "
                f"ask COUNT(*) for {self.success!r} and {self.failure!r}, or write people="
            )
        if people is not None and together:
            raise InputError("people must be left out where a noisy total was released too; give either")
        return ShareCell(successes, failures, together, None if people is None else people[group])


def by_group(given: Any, name: str, groups: Sequence[Group], *, whole: bool, example: str) -> dict[Group, Any] | None:
    """Return a public number for every group, from one number for all or a mapping; None stays None."""
    if given is None:
        return None
    if isinstance(given, Mapping):
        stated = {key if isinstance(key, tuple) else (key,): value for key, value in given.items()}
    else:
        stated = dict.fromkeys(groups, given)
    found = {}
    for group in groups:
        value = stated.get(group)
        kinds = int | np.integer if whole else int | float | np.integer | np.floating
        least, most = (1, _MOST) if whole else (_LEAST, 1 / _LEAST)
        if isinstance(value, bool) or not isinstance(value, kinds) or not least <= value <= most:
            kind = "a whole number above 0" if whole else "a finite number above 0"
            stated_as = (
                as_stated(value) if isinstance(value, int | float) else "none" if value is None else "another kind"
            )
            raise ParameterError(
                f"{name} must be {kind} for every group; got {stated_as} for {_shown(group)}, write for example "
                f"{example}",
                parameter=name,
            )
        found[group] = int(value) if whole else float(value)  # numpy's small integers wrap around
    return found


def of_groups(name: str, meaning: str, groups: tuple[Group, ...], keys: tuple[str, ...]) -> Parameter:
    """Return a parameter of the population that every group has, or one number where there is only the whole table."""
    return Parameter(name, meaning, Target.POPULATION, () if groups == ((),) else groups, keys)


def _shown(group: Group) -> str:
    """Return a group in words."""
    return ", ".join(OTHER if value == OTHER else repr(value) for value in group) or "the whole table"


def _ties() -> InputError:
    """Return the error for totals over several cells of a model."""
    return InputError(
        "models of cells must be given counts of one cell each; got a total over several cells, or one that also holds "
        "rows of no listed group, leave that answer out, or write exhaustive=True where every row is in a listed group"
    )

"""Groups with a yes and a no: which cells they are made of, and how many people each has."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.bayes.counts.people import (
    FlatPeople,
    People,
    PeoplePrior,
    for_groups,
    stated_by_group,
    stated_people,
    written,
)
from discreet.bayes.evidence import ALL, OTHER, LatentCounts
from discreet.display import as_stated
from discreet.errors import InputError, ParameterError

Key = tuple[Any, ...]


@dataclass(frozen=True)
class YesNo:
    """A group: its key, the places of its cells (None: no such cell was listed), and its people where stated."""

    key: Key
    yes: int
    no: int | None
    people: People


def groups_of(latent: LatentCounts, success: tuple[str, Any] | None, people: Any) -> tuple[YesNo, ...]:
    """Return the groups of a model of shares, in the order of the answer."""
    if success is None:
        cells: list[tuple[Key, int, int | None]] = [(cell, place, None) for place, cell in enumerate(latent.cells)]
        _check_only_yes(latent, people)
    else:
        cells = _paired(latent, success)
        _require_both_named(latent, cells)
    stated = _people_by_group([key for key, _, _ in cells], people)
    return tuple(YesNo(key, yes, no, stated[key]) for key, yes, no in cells)


def _check_only_yes(latent: LatentCounts, people: Any) -> None:
    """Refuse cells of which nobody said what they count, where it matters."""
    several = len(latent.cells) > 1
    if any(OTHER in cell for cell in latent.cells) or (several and not isinstance(people, Mapping)):
        named = [one for one in latent.cells if OTHER not in one and ALL not in one] or [*latent.cells]
        example = f'success=("{latent.key_names[-1]}", {named[0][-1]!r})' if latent.key_names else "success="
        raise ParameterError(
            "success must say which groups of the answer are a yes, unless each is one of a public number of people; "
            f"got {len(latent.cells)} groups, write {example} if these are a yes, or people= with a number for each "
            "group",
            parameter="success",
        )


def _require_both_named(latent: LatentCounts, cells: list[tuple[Key, int, int | None]]) -> None:
    """Refuse a yes whose no was not named, where keys are private: a low noisy count of no says that yes is high."""
    if not latent.listed and any(no is None or OTHER in latent.cells[no] for _, _, no in cells):
        raise InputError(
            "a share needs the yes and the no of its group; got private keys of which the no was not named, because "
            "its noisy count is low, which says that there are more of yes: declare the values of the keys, or leave "
            "such groups out, measurement.of_groups(...)"
        )


def _paired(latent: LatentCounts, success: tuple[str, Any]) -> list[tuple[Key, int, int | None]]:
    """Return each group with the places of its yes and its no."""
    pair = isinstance(success, tuple) and len(success) == 2 and isinstance(success[0], str)
    if not pair or not isinstance(success[1], Hashable):
        raise ParameterError(
            'success must be a pair of a key\'s name and its value; write success=("converted", True)',
            parameter="success",
        )
    name, value = success[0], success[1].item() if isinstance(success[1], np.generic) else success[1]
    if name not in latent.key_names:
        names = ", ".join(latent.key_names) or "none"
        raise ParameterError(
            f"success must name a key of the answer ({names}); got {name!r}, write one of them, or GROUP BY {name}",
            parameter="success",
        )
    at = latent.key_names.index(name)
    found: dict[Key, tuple[list[int], list[int]]] = {}
    for place, cell in enumerate(latent.cells):
        yes, no = found.setdefault(cell[:at] + cell[at + 1 :], ([], []))
        (yes if cell[at] == value and type(cell[at]) is type(value) else no).append(place)
    if not any(yes for yes, _ in found.values()):
        values = dict.fromkeys(cell[at] for cell in latent.cells if cell[at] not in (OTHER, ALL))
        listed = ", ".join(map(repr, [*values][:12]))
        shown = repr(value) if isinstance(value, str) else as_stated(value)
        raise ParameterError(
            f"success must name a value of {name!r} that the answer lists; got {shown}, write one of {listed}",
            parameter="success",
        )
    mixed = any(cell[at] == ALL for cell in latent.cells)
    rest = any(OTHER in cell for cell in latent.cells)
    return [(key, *_one_yes_one_no(yes, no, name, mixed=mixed, rest=rest)) for key, (yes, no) in found.items()]


def _one_yes_one_no(yes: list[int], no: list[int], name: str, *, mixed: bool, rest: bool) -> tuple[int, int | None]:
    """Return the place of the yes and of the no of a group."""
    if len(yes) == 1 and len(no) <= 1 and not mixed:
        return yes[0], no[0] if no else None
    if rest:
        raise ParameterError(
            f"every group must have one yes and at most one no by {name!r}; got a total, which also counts rows "
            "that are NULL or not declared and in no listed group, leave the total out, write DirichletMultinomial, or "
            "exhaustive=True if you know that there are no such rows",
            parameter="success",
        )
    raise ParameterError(
        f"every group must have one yes and at most one no by {name!r}; got a group with {len(yes)} and {len(no)}, "
        "write DirichletMultinomial for more than two values, or exhaustive=True where undeclared values cannot occur",
        parameter="success",
    )


def _people_by_group(keys: list[Key], people: Any) -> dict[Key, People]:
    """Return what is stated of the people of each group; flat is None."""
    stated = stated_by_group(people, "people")
    if stated is None:
        one = stated_people(people)
        if isinstance(one, int) and len(keys) > 1:
            raise ParameterError(
                f"people must say how many there are in each group; got one number for {len(keys)} groups, write "
                f"people={{{written(keys[0])}: {one}, ...}}",
                parameter="people",
            )
        return dict.fromkeys(keys, _flat_is_none(one))
    own = for_groups(stated, keys, "people", "write None for it where it is unknown")
    return {key: _flat_is_none(stated_people(one)) for key, one in zip(keys, own, strict=True)}


def _flat_is_none(people: People) -> int | PeoplePrior | None:
    """Return None for a flat prior."""
    return None if isinstance(people, FlatPeople) else people

"""Posteriors as trees of labelled arrays, the form that ArviZ reads on every Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from discreet._optional import optional
from discreet._version import __version__
from discreet.bayes.base.intervals import Label, Parameter, in_words
from discreet.bayes.base.marginal import Draws
from discreet.privacy import Guarantee
from discreet.privacy.guarantees import with_notion
from discreet.statistics.measurement import Measurement

_TAKEN = ("chain", "draw", "entry")
Attributes = Mapping[str, str | float | int]


def data_tree(
    draws: Draws, parameters: Sequence[Parameter], measurements: Sequence[Measurement], attributes: Attributes
) -> Any:
    """Return an xarray DataTree: posterior, observed data, and what else the sampler drew as sample_stats.

    It is made by arviz-base, whose form is one for all Pythons. ArviZ before 1.0 has a function of the same name that
    takes other arguments and misreads these without a word, and is never called.
    """
    arviz_base = optional("arviz_base", extra="bayes", purpose="to_arviz()")
    places = _Dimensions({*_TAKEN, *draws})
    known = {one.name: one for one in parameters}
    dims = {
        name: [places.of(one.groups, "_".join(one.keys) or "group", name)] for name, one in known.items() if one.groups
    }
    observed: dict[str, Any] = {}
    for one in measurements:
        name = _identifier(one.plan.name)
        name = _other(f"{name}_released" if name in draws else name, {**observed, **draws})
        observed[name] = _integers(one)
        dims[name] = ["entry", places.of(one.plan.keys, "_".join(one.plan.key_names) or "group", name)]
    groups = {
        "posterior": {name: np.asarray(array) for name, array in draws.items() if name in known},
        "sample_stats": {name: np.asarray(array) for name, array in draws.items() if name not in known},
        "observed_data": observed,
    }
    return arviz_base.from_dict(
        {name: group for name, group in groups.items() if group},
        coords=places.coords,
        dims=dims,
        attrs={"/": dict(attributes), "posterior": dict(attributes)},
    )


class _Dimensions:
    """Names of dimensions: one for every list of groups, different from the names of variables."""

    def __init__(self, taken: set[str]) -> None:
        self.taken, self.found = taken, dict[tuple[Label, ...], str]()
        self.coords: dict[str, list[Any]] = {}

    def of(self, groups: tuple[Label, ...], wanted: str, owner: str) -> str:
        """Return the dimension of these groups, named by their keys where that name is free."""
        if groups not in self.found:
            name = wanted if wanted not in self.taken else f"{owner}_{wanted}"
            while name in self.taken:
                name += "_"
            self.taken.add(name)
            self.found[groups] = name
            self.coords[name] = [_coordinate(label) for label in groups]
            if len({type(one) for one in self.coords[name]}) > 1:
                self.coords[name] = [in_words(label) for label in groups]
        return self.found[groups]


def _coordinate(label: Label) -> Any:
    """Return the only entry of a label where a file can hold it, else words."""
    (only,) = label if len(label) == 1 else (None,)
    return only if isinstance(only, str | int | float) and not isinstance(only, bool) else in_words(label)


def _integers(one: Measurement) -> Any:
    """Return the released integers, as floats where they are beyond 64 bits."""
    exact = np.array(one.released, dtype=object)
    return exact.astype(np.int64 if all(abs(value) < 1 << 63 for value in exact.ravel()) else np.float64)


def _identifier(name: str) -> str:
    """Return a name of letters, digits and underscores."""
    return "".join(letter if letter.isalnum() else "_" for letter in name).strip("_") or "released"


def _other(name: str, taken: Mapping[str, Any]) -> str:
    """Return a name that is not taken."""
    count, made = 1, name
    while made in taken:
        count += 1
        made = f"{name}_{count}"
    return made


def recorded(spent: Guarantee | None, words: Mapping[str, str], numbers: Mapping[str, float | None]) -> Attributes:
    """Return what is kept beside the draws: words about the posterior, numbers that are known, and what was charged.

    >>> from discreet.privacy import PureDP
    >>> recorded(PureDP(0.5), {"method": "exact"}, {"k_hat": None})["epsilon"]
    0.5
    """
    record: dict[str, str | float | int] = {**words}
    record["guarantee"] = "unknown" if spent is None else with_notion(spent)
    record["inference_library"], record["inference_library_version"] = "discreet", __version__
    charged = {name: getattr(spent, name, None) for name in ("epsilon", "rho", "mu", "delta")}
    return record | {name: float(value) for name, value in {**charged, **numbers}.items() if value is not None}

"""The parameters that a statistic and the function named after it share, typed once for both.

A class takes `**options: Unpack[...]`, and so does its function, beside the values. The defaults are those of the class
and its bases; `signature_of` puts names and defaults together for `inspect.signature` and `help`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from inspect import Parameter, Signature, signature
from typing import Any, TypedDict, TypeVar

from discreet.laws.number import Number
from discreet.privacy import Relation, Target
from discreet.statistics.columns import Missing

Function = TypeVar("Function", bound=Callable[..., Any])


class CommonOptions(TypedDict, total=False):
    """What every statistic takes."""

    relation: Relation | None
    epsilon: Number | None
    confidence: float
    rows: int | None


class RankOptions(CommonOptions, total=False):
    """What a choice by rank takes: its price has no delta."""

    rho: Number | None
    error: Number | None


class NoiseOptions(RankOptions, total=False):
    """What integers with noise take."""

    delta: Number | None
    mu: Number | None


class ColumnOptions(TypedDict, total=False):
    """What a column of numbers takes: the range to clip to, what to do with missing values, and the grid."""

    bounds: Any
    missing: Missing | Number
    grid: Number | None


class SumOptions(NoiseOptions, ColumnOptions, total=False):
    """The parameters of `Sum` and `sum`."""


class MomentOptions(SumOptions, total=False):
    """What a mean or a variance takes."""

    rows_expected: int | None
    target: Target


class MeanOptions(MomentOptions, total=False):
    """The parameters of `mean`."""

    approximate: bool


class VarianceOptions(MomentOptions, total=False):
    """The parameters of `variance` and `standard_deviation`."""

    sample: bool


class QuantilesOptions(RankOptions, ColumnOptions, total=False):
    """The parameters of `quantiles`, and of `Quantiles` beside its own."""

    rows_expected: int | None


class SeveralQuantilesOptions(QuantilesOptions, total=False):
    """The parameters of `quantiles`."""

    interval: bool


class QuantileTerms(QuantilesOptions, total=False):
    """The parameters of `Quantile` beside its own."""

    target: Target


class QuantileOptions(QuantileTerms, total=False):
    """The parameters of `quantile`."""

    interval: bool
    midrank: bool


class TableOptions(TypedDict, total=False):
    """What a statistic takes that does not count rows of one person."""

    relation: Relation | None
    epsilon: Number | None
    delta: Number | None
    rho: Number | None
    mu: Number | None
    error: Number | None
    confidence: float


class GroupOptions(TableOptions, total=False):
    """The parameters of `CountDistinct`, `count_distinct` and `DiscoveredHistogram`: keys of one person that count."""

    groups: int | None


class CovarianceOptions(TableOptions, total=False):
    """The parameters of `covariance`."""

    center: Sequence[Number] | None
    radius: Number | None
    bounds: Any
    rows_expected: int | None
    missing: Missing | Number | Sequence[Number]
    steps: int


class ClippingOptions(CommonOptions, total=False):
    """The parameters of `clipping_bounds`."""

    symmetric: bool
    center: Number
    smallest: Number
    largest: Number
    per_doubling: int


def signature_of(statistic: type) -> Signature:
    """Return the parameters of a class: its own, and those that it passes on to its bases, each with its default."""
    makers = [kind for kind in statistic.__mro__ if "__init__" in vars(kind)]
    return Signature(list(_parameters(makers).values()))


def _parameters(makers: Sequence[type]) -> dict[str, Parameter]:
    """Return the parameters of the first class; the others are the bases to which it passes options on."""
    listed = list(signature(vars(makers[0])["__init__"]).parameters.values())[1:]
    own = {one.name: one for one in listed if one.kind is not Parameter.VAR_KEYWORD}
    rest = [one for one in listed if one.kind is Parameter.VAR_KEYWORD]
    if not rest:
        return own
    passed = _parameters(makers[1:])
    typed = re.fullmatch(r"Unpack\[(\w+)\]", str(rest[0].annotation))
    module = vars(sys.modules[makers[0].__module__])
    names = passed if typed is None else module[typed.group(1)].__annotations__
    switches = {name: one for name, one in own.items() if isinstance(one.default, bool)}  # last, behind what is needed
    first = {name: one for name, one in own.items() if name not in switches}
    return first | {name: passed[name] for name in sorted(names, key=list(passed).index)} | switches


def named_after(statistic: Callable[..., Any], *, without: str = "") -> Callable[[Function], Function]:
    """Return a decorator that shows a function with the parameters of the statistic that it is named after.

    `without` is a parameter of the statistic that the function does not take.
    """

    def shown(function: Function) -> Function:
        own = signature(function)
        kept = [one for one in own.parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
        taken = {*own.parameters, without}
        more = [one for name, one in signature(statistic).parameters.items() if name not in taken]
        function.__signature__ = own.replace(parameters=[*kept, *more])  # type: ignore[attr-defined]
        return function

    return shown

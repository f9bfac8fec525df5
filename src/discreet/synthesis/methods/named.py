"""The methods by their names, all made in one way: from a workload, who is protected, and a price."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import TypedDict

from discreet.errors import UnknownName
from discreet.synthesis.base import Neighbours, Synthesizer
from discreet.synthesis.methods.answers import NoisyAnswers
from discreet.synthesis.methods.best import Best
from discreet.synthesis.methods.dual_query import DualQuery
from discreet.synthesis.methods.forest import Independent, Tree
from discreet.synthesis.methods.residual import Residual
from discreet.synthesis.methods.weights import Mwem, Reweighted
from discreet.synthesis.workloads import Workload


class Price(TypedDict, total=False):
    """What every synthesizer's `of` takes: epsilon, epsilon and delta, or rho."""

    epsilon: Fraction
    delta: Fraction
    rho: Fraction


Make = Callable[[Workload, Neighbours, Price], Synthesizer]

METHODS: Mapping[str, Make] = MappingProxyType(
    {
        "best": lambda workload, neighbours, price: Best.of(workload, neighbours, **price),
        "dual-query": lambda workload, neighbours, price: DualQuery.of(workload, neighbours, **price),
        "tree": lambda workload, neighbours, price: Tree.of(workload, neighbours, **price),
        "residual": lambda workload, neighbours, price: Residual.of(workload, neighbours, **price),
        "reweighted": lambda workload, neighbours, price: Reweighted.of(workload, neighbours, **price),
        "answers": lambda workload, neighbours, price: NoisyAnswers.of(workload, neighbours, **price),
        "mwem": lambda workload, neighbours, price: Mwem.of(workload, neighbours, **price),
        "independent": lambda workload, neighbours, price: Independent.of(workload, neighbours, **price),
    }
)


def method_named(name: str) -> Make:
    """Return the method of a name; upper and lower case, hyphens, underscores and spaces are alike.

    >>> method_named("Dual_Query") is METHODS["dual-query"]
    True
    >>> method_named("magic")
    Traceback (most recent call last):
    ...
    discreet.errors.UnknownName: there is no method 'magic'; there are best, dual-query, tree, residual, ...
    """
    found = spelled(name)
    if found not in METHODS:
        raise UnknownName(f"there is no method {str(name)[:80]!r}; there are {', '.join(METHODS)}. Nothing was spent.")
    return METHODS[found]


def spelled(name: str) -> str:
    """Return the name of a method as `METHODS` spells it.

    >>> spelled("Dual query")
    'dual-query'
    """
    return str(name).strip().lower().replace("_", "-").replace(" ", "-")

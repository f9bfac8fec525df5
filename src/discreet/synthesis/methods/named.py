"""The methods by their names, all made in one way: from a workload, who is protected, and a price."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from discreet.errors import UnknownName
from discreet.privacy import Price
from discreet.synthesis.base import Neighbors, Synthesizer
from discreet.synthesis.methods.answers import NoisyAnswers
from discreet.synthesis.methods.best import Best
from discreet.synthesis.methods.dual_query import DualQuery
from discreet.synthesis.methods.forest import Independent, Tree
from discreet.synthesis.methods.residual import Residual
from discreet.synthesis.methods.weights import Mwem, Reweighted
from discreet.synthesis.workloads import Workload

Make = Callable[[Workload, Neighbors, Price], Synthesizer]

METHODS: Mapping[str, Make] = MappingProxyType(
    {
        "best": lambda workload, neighbors, price: Best.of(workload, neighbors, **price.amounts()),
        "dual-query": lambda workload, neighbors, price: DualQuery.of(workload, neighbors, **price.amounts()),
        "tree": lambda workload, neighbors, price: Tree.of(workload, neighbors, **price.amounts()),
        "residual": lambda workload, neighbors, price: Residual.of(workload, neighbors, **price.amounts()),
        "reweighted": lambda workload, neighbors, price: Reweighted.of(workload, neighbors, **price.amounts()),
        "answers": lambda workload, neighbors, price: NoisyAnswers.of(workload, neighbors, **price.amounts()),
        "mwem": lambda workload, neighbors, price: Mwem.of(workload, neighbors, **price.amounts()),
        "independent": lambda workload, neighbors, price: Independent.of(workload, neighbors, **price.amounts()),
    }
)


def method_named(name: str) -> Make:
    """Return the method of a name; upper and lower case, hyphens, underscores and spaces are alike.

    >>> method_named("Dual_Query") is METHODS["dual-query"]
    True
    >>> method_named("magic")
    Traceback (most recent call last):
    ...
    discreet.errors.UnknownName: there is no method 'magic'; there are best,
        dual-query, tree, residual, ...
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

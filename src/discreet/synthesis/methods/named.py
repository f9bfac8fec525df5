"""The methods by their names, all made of a workload, neighbors and a price; `best` chooses one by public numbers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType
from typing import Any, ClassVar

from discreet.display import Progress
from discreet.errors import UnknownName
from discreet.laws.number import Number
from discreet.privacy import Price
from discreet.synthesis.base import Allowance, Neighbors, Synthesizer, SyntheticRelease
from discreet.synthesis.domain import Records
from discreet.synthesis.methods.answers import NoisyAnswers
from discreet.synthesis.methods.dual_query import DualQuery
from discreet.synthesis.methods.forest import Independent, Tree, default_size, looks_at_pairs, measured_attributes
from discreet.synthesis.methods.residual import Residual, ResidualFinish
from discreet.synthesis.methods.weights import SUPPORT, Mwem, Reweighted
from discreet.synthesis.workloads import Marginals, Workload

_LISTED_CELLS = 4096  # possible records that are few enough to list
_LISTED_WORK = 2**31  # possible records times queries
_MOST_WEIGHED = 256  # attributes: queries about more share too little for weights on some thousand rows
_PAIR_WORK = 6 * 10**10  # pairs of attributes times records
_TINY = 0.005  # noise of one frequency, measured with the whole price: beyond it single attributes are all that shows
_SMALL = 0.001  # beyond it the price is too small to be divided between a tree and rounds
_RESIDUAL_CELLS = 10**7
_DISTANCE = 1.0  # in L1, of a marginal with unbiased noise: mending negative cells leaves about a fifth of it
_MEASURED = 100
_BASE = Fraction(1, 2)
_WIDE_BASE, _WIDE_REACH = Fraction(9, 10), 0.02  # dependence everywhere would let few of the sampled rows carry all


@dataclass(frozen=True, kw_only=True)
class Best(Synthesizer):
    """The method that the public rule of `Best.of` chose, and the reason.

    Privacy. The release keeps `guarantee`.
        Proof: the rule reads the workload, the stated neighbors and the price, all public; what it chose keeps the
        same guarantee, and nothing is added. A method that adds Gaussian noise alone, and a tree, get the allowance
        `for_noise`.
    """

    name: ClassVar[str] = "best"
    chosen: Synthesizer
    reason: str
    workload: Workload = field(init=False, repr=False)
    allowance: Allowance = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "workload", self.chosen.workload)
        object.__setattr__(self, "allowance", self.chosen.allowance)

    @classmethod
    def of(
        cls,
        workload: Workload,
        neighbors: Neighbors,
        *,
        epsilon: Number | None = None,
        delta: Number | None = None,
        rho: Number | None = None,
        mu: Number | None = None,
    ) -> Best:
        """Choose a method by public numbers: the domain, the workload, the stated number of people, the price.

        Let the noise of the price be the deviation of one frequency when a hundred are measured, over ten. Above 0.005:
        independent attributes. Cells of marginals: residuals where their noise, known beforehand, moves a marginal by
        at most 1 in L1, else a tree. Above 0.001: a tree. Else mwem where at most 4096 records are possible, and
        otherwise a tree with half the price whose rows get weights with the other half, or the tree alone for more than
        256 attributes. Where their pairs are too many to look at, independent attributes take the place of the tree.

        >>> from discreet.privacy import Relation
        >>> from discreet.synthesis import Domain, conjunctions
        >>> domain = Domain.of(sex=["f", "m"], smokes=["no", "yes"], rooms=range(1, 6))
        >>> chosen = Best.of(
        ...     conjunctions(domain, count=100),
        ...     Neighbors(Relation.CHANGE_ONE, 50_000),
        ...     epsilon=1,
        ... )
        >>> print(chosen.plan["method"], "because", chosen.reason)
        mwem because the 20 possible records can all be listed, so no model of them is
            needed
        """
        return _chosen(workload, Allowance.of(neighbors, epsilon=epsilon, delta=delta, rho=rho, mu=mu))

    @property
    def plan(self) -> Mapping[str, Any]:
        """The method, the reason, and the method's own public parameters."""
        return {"method": self.chosen.name, "reason": self.reason, **self.chosen.plan}

    @property
    def foreseen(self) -> str | None:
        """What is known about the errors of the chosen method before data is read."""
        return self.chosen.foreseen

    def _release(self, records: Records, progress: Progress) -> SyntheticRelease:
        """Release by the method chosen."""
        return replace(self.chosen(records, progress=progress), plan=self.plan)


def _chosen(workload: Workload, allowance: Allowance) -> Best:
    """Apply the rule."""
    domain, people = workload.domain, allowance.neighbors.people
    noise = typical_noise(allowance)
    attributes = len(measured_attributes(domain))
    all_pairs = looks_at_pairs(domain) and attributes * (attributes - 1) // 2 * people <= _PAIR_WORK
    size = default_size(domain, people)
    if noise > _TINY or (noise > _SMALL and not all_pairs):
        seen = f"the whole price gives one share noise of {noise:.2g}, and single attributes are all that shows then"
        return Best(chosen=Independent(workload=workload, allowance=allowance.for_noise(), size=size), reason=seen)
    if isinstance(workload, Marginals) and (found := _marginals(workload, allowance, all_pairs=all_pairs)):
        return found
    if noise > _SMALL:
        small = f"the whole price gives one share noise of {noise:.2g}, too much to divide it between pairs and queries"
        return Best(chosen=Tree(workload=workload, allowance=allowance.for_noise(), size=size), reason=small)
    if domain.cells <= _LISTED_CELLS and domain.cells * len(workload) <= _LISTED_WORK:
        listed = f"the {domain.cells:,} possible records can all be listed, so no model of them is needed"
        return Best(chosen=Mwem.from_allowance(workload, allowance), reason=listed)
    return _weighed(workload, allowance, attributes, all_pairs=all_pairs)


def _weighed(workload: Workload, allowance: Allowance, attributes: int, *, all_pairs: bool) -> Best:
    """Return how to use a price that is rich enough for a model of the records and for weights on its rows."""
    if all_pairs and attributes > _MOST_WEIGHED:
        many = f"with {attributes:,} attributes, weights on rows of a tree spoil on average more than they mend"
        return Best(
            chosen=Tree(
                workload=workload,
                allowance=allowance.for_noise(),
                size=default_size(workload.domain, allowance.neighbors.people),
            ),
            reason=many,
        )
    if all_pairs:
        part = allowance.part(_BASE)
        both = "a tree of noisy pairs is right on average, and weights on its rows fit the queries it answers worst"
        return Best(chosen=Reweighted.on(Tree(workload=workload, allowance=part, size=SUPPORT), allowance), reason=both)
    wide = f"the pairs of {attributes:,} attributes are too many to look at, so weights go on rows of independent ones"
    base = Independent(workload=workload, allowance=allowance.part(_WIDE_BASE), size=SUPPORT)
    return Best(chosen=Reweighted.on(base, allowance, reach=_WIDE_REACH), reason=wide)


def _marginals(workload: Marginals, allowance: Allowance, *, all_pairs: bool) -> Best | None:
    """Return how to release cells of marginals: by residuals where their noise is known to be small, else by a tree."""
    if len(workload) > len(workload.sets) and len(workload) <= _RESIDUAL_CELLS:
        residual = Residual(workload, allowance.for_noise(vectors=True), finish=ResidualFinish.NON_NEGATIVE)
        expected = expected_distance(residual)
        if expected <= _DISTANCE:
            exact = f"before negative cells are mended, noise moves a marginal by {expected:.2g} in L1, which is little"
            return Best(chosen=residual, reason=exact)
    if not all_pairs:
        return None
    size = default_size(workload.domain, allowance.neighbors.people)
    reason = (
        "noise on every cell would be large, and a tree of noisy pairs has cells of all orders at the noise of pairs"
    )
    return Best(chosen=Tree(workload=workload, allowance=allowance.for_noise(), size=size), reason=reason)


def expected_distance(residual: Residual) -> float:
    """Return about the L1 distance by which noise moves the frequencies of a marginal, on average; public."""
    sizes = residual.workload.domain.sizes
    moved = sum(
        math.prod(sizes[place] for place in one) * deviation
        for one, deviation in zip(residual.workload.sets, residual.deviations_of_counts, strict=True)
    )
    return moved * math.sqrt(2 / math.pi) / (residual.allowance.neighbors.people * len(residual.workload.sets))


def typical_noise(allowance: Allowance) -> float:
    """Return the noise of one frequency when a hundred are measured, over ten: a public number."""
    deviation = allowance.single_deviation(Fraction(1, _MEASURED), sensitivity=allowance.neighbors.count)
    return deviation / (allowance.neighbors.people * math.sqrt(_MEASURED))


Make = Callable[[Workload, Neighbors, Price], Synthesizer]

_KINDS: tuple[Any, ...] = (Best, DualQuery, Tree, Residual, Reweighted, NoisyAnswers, Mwem, Independent)


def _made(kind: Any) -> Make:
    return lambda workload, neighbors, price: kind.of(workload, neighbors, **price.amounts())


def spelled(name: str) -> str:
    """Return the name of a method as `METHODS` spells it.

    >>> spelled("Dual query")
    'dual-query'
    """
    return str(name).strip().lower().replace("_", "-").replace(" ", "-")


METHODS: Mapping[str, Make] = MappingProxyType({spelled(kind.name): _made(kind) for kind in _KINDS})


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

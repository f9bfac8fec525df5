"""A released table made better: its rows get weights that fit the queries it answered worst."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.display import Progress
from discreet.errors import ParameterError
from discreet.laws.number import Number
from discreet.privacy import ApproxDP
from discreet.synthesis.base import Allowance, Neighbors, Synthesizer, SyntheticRelease
from discreet.synthesis.domain import Records, SyntheticTable
from discreet.synthesis.methods.weights.multiplicative import place_in_domain, whole_domain
from discreet.synthesis.methods.weights.rounds import AdaptiveRounds
from discreet.synthesis.workloads import Workload

SUPPORT = 4096
_DIVERGENCE = 1.0  # nats that the base is thought to be off: a public guess, which privacy does not depend on

_REACH = 0.5  # nats from the base that weights may go where rows are sampled: beyond it too few rows carry them all
_UNIFORM = 1 / 16  # of the prior, where all possible records are listed


@dataclass(frozen=True, kw_only=True)
class Reweighted(Synthesizer):
    """Release a table by another method with a part of the allowance, then weigh its rows by adaptive rounds.

    The answers are the base's own plus what the weights change: so its exact answers are kept where it has them, and
    the sampling error of its rows cancels.

    Privacy. The whole release keeps `guarantee`.
        Proof: the base is paid from `Allowance.part` of a share, so that its guarantee is a pure epsilon, a rho or a
        mu, which add up with those of the rounds (one of epsilon and delta would not, and is refused); the rounds have
        the rest. An approximate price is divided as rho: half of the rounds are choices, see `Mwem`.
        When they begin the base's release is public, so its rows are a public support and its answers a public start;
        `AdaptiveRounds` is then an adaptive release, and the shares add up to at most 1.
    Accuracy. The bound of `AdaptiveRounds` holds against every distribution W on the support: what the weights cannot
        reach, because no row of the base looks like it, they do not guarantee.
        Proof: as there, with the base's rows as support and the offset of its answers taken from each measurement.
    Cost. The base, then one pass over queries and support a round: about 2 seconds for 100 000 queries.
    Reference. Liu, Vietri, Steinke, Ullman, Wu 2021, with a released table in the place of a public one.
    """

    name: ClassVar[str] = "reweighted"
    workload: Workload = field(repr=False)
    allowance: Allowance
    base: Synthesizer
    rounds: AdaptiveRounds
    support: int = SUPPORT

    def __post_init__(self) -> None:
        part = self.base.allowance
        if not isinstance(self.rounds, AdaptiveRounds):
            raise ParameterError("rounds must be an AdaptiveRounds: use Reweighted.of", parameter="rounds")
        if isinstance(part.guarantee, ApproxDP):
            raise ParameterError(
                "the base's guarantee does not add up with that of the rounds: pay it from `Allowance.part`",
                parameter="base",
            )
        counted = (part.pure, part.gaussian) == (self.allowance.pure, self.allowance.gaussian)
        if not counted or part.neighbors != self.allowance.neighbors:
            raise ParameterError("the base protects others, or is priced otherwise, than the whole", parameter="base")
        if part.amount + self.rounds.share * self.allowance.amount > self.allowance.amount:
            raise ParameterError("base and rounds cost more than the whole allowance", parameter="rounds")
        if self.base.workload.digest != self.workload.digest:
            raise ParameterError("the base answers another workload", parameter="base")
        if self.support < 1:
            raise ParameterError("a support must have at least one row", parameter="support")

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
    ) -> Reweighted:
        """State the workload, who is protected and the price: half for a tree of marginals, half for the rounds."""
        from discreet.synthesis.methods.forest import Tree

        allowance = Allowance.of(neighbors, epsilon=epsilon, delta=delta, rho=rho, mu=mu)
        return cls.on(Tree(workload=workload, allowance=allowance.part(Fraction(1, 2)), size=SUPPORT), allowance)

    @classmethod
    def on(cls, base: Synthesizer, allowance: Allowance, *, reach: float = _REACH) -> Reweighted:
        """Spend what a base, paid from a part of the allowance, has left.

        `reach`: how many nats the weights may go from the rows of the base, where not all possible records are listed.
        """
        share = 1 - base.allowance.amount / allowance.amount
        if share <= 0:
            raise ParameterError("the base costs the whole allowance: pay it from `Allowance.part`", parameter="base")
        resolution = 1 / (8 * math.sqrt(SUPPORT))  # a quarter of the sampling error of a share of one half
        listed = base.workload.domain.cells <= SUPPORT
        rounds = AdaptiveRounds.of(
            base.workload, allowance, share, _DIVERGENCE, resolution, math.inf if listed else reach
        )
        return cls(workload=base.workload, allowance=allowance, base=base, rounds=rounds)

    @property
    def plan(self) -> Mapping[str, Any]:
        """The public parameters."""
        return {
            "base": self.base.name,
            "share of the base": self.base.allowance.amount / self.allowance.amount,
            **{f"base: {name}": value for name, value in self.base.plan.items()},
            "rows with weights": self.support,
            **self.rounds.plan,
        }

    def _release(self, records: Records, progress: Progress) -> SyntheticRelease:
        """Release the base, then weigh its rows."""
        steps = self.rounds.rounds + 1
        base = self.base(records)
        progress(1, steps)
        support, prior = support_of(base.table, self.support)
        course = self.rounds(
            records,
            self.workload,
            self.allowance,
            support,
            prior,
            lambda done, _: progress(done + 1, steps),
            anchor=base.answers,
        )
        evidence = {**{f"base: {name}": value for name, value in base.evidence.items()}, **course.evidence}
        made = self._made(SyntheticTable(support, course.weights), course.answers, evidence)
        return replace(made, histograms=base.histograms)


def support_of(table: SyntheticTable, most: int) -> tuple[Records, NDArray[np.float64]]:
    """Return a support and its prior: all possible records where they are few, else rows evenly spaced over the table.

    Where all are listed, each gets the weight it has in the table and a little more, so that no record is impossible.
    """
    weights = np.ones(len(table)) if table.weights is None else table.weights
    if table.domain.cells > most:
        rows = np.linspace(0, len(table), min(len(table), most), endpoint=False).astype(np.intp)
        return Records(table.domain, table.records.codes[:, rows]), weights[rows] / weights[rows].sum()
    support = whole_domain(table.domain)
    places = place_in_domain(table.domain, table.records.codes)
    found = np.bincount(places, weights=weights, minlength=len(support)) / weights.sum()
    return support, (1 - _UNIFORM) * found + _UNIFORM / len(support)

"""MWEM: multiplicative weights over every possible record, for domains small enough to list."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar

import numpy as np

from discreet.display import Progress
from discreet.errors import ParameterError
from discreet.laws.number import Number
from discreet.synthesis.base import Allowance, Neighbors, Synthesizer, SyntheticRelease
from discreet.synthesis.domain import Records, SyntheticTable
from discreet.synthesis.methods.weights.multiplicative import whole_domain
from discreet.synthesis.methods.weights.rounds import AdaptiveRounds
from discreet.synthesis.workloads import Workload

MOST_CELLS = 1_000_000


@dataclass(frozen=True, kw_only=True)
class Mwem(Synthesizer):
    """Start from the uniform distribution on all possible records, and refit it to the queries it answers worst.

    Privacy. The whole release keeps `guarantee`.
        Proof: the support is the whole domain and the prior uniform, both public; `AdaptiveRounds` gets all of the
        allowance. An approximate price is divided as rho: half of the rounds are choices, which cost pi/2 times as much
        in Gaussian DP, and its room is larger by less than that helps at usual prices (1.15 at (1, 1e-6)).
    Accuracy. With k the strength, s the deviation of a measured frequency and v_i its error, T rounds leave sum_t d_t^2
        <= (1 + 4 k s^2)/2 x (ln cells + sum_i v_i^2 / (2 k s^2)), d_t the largest |m_i - q_i(A_{t-1})| of round t.
        Proof: take the private distribution for W in `AdaptiveRounds`: it lies on the support, and no distribution is
        further than ln cells from the uniform one.
    Cost. Work and memory grow with the number of possible records: above a million this method is refused.
    Reference. Hardt, Ligett, McSherry 2012, with all measurements fitted at once instead of replayed in turn.

    >>> from discreet.privacy import Relation
    >>> from discreet.synthesis import Domain, queries
    >>> domain = Domain.of(sex=["f", "m"], smokes=["no", "yes"])
    >>> asked = queries(domain, [{"sex": "m", "smokes": "yes"}])
    >>> people = domain.encode({"sex": ["m"] * 1000, "smokes": ["yes"] * 1000})
    >>> release = Mwem.of(asked, Neighbors(Relation.CHANGE_ONE, 1000), epsilon=1)(
    ...     people
    ... )
    >>> bool(release.answers[0] > 0.9)
    True
    """

    name: ClassVar[str] = "mwem"
    workload: Workload = field(repr=False)
    allowance: Allowance
    rounds: AdaptiveRounds

    def __post_init__(self) -> None:
        if self.workload.domain.cells > MOST_CELLS:
            raise ParameterError(
                f"mwem lists every possible record: at most {MOST_CELLS:,}, and this domain has more. "
                "Use `best`, or drop attributes.",
                parameter="workload",
            )
        if not isinstance(self.rounds, AdaptiveRounds):  # whose shares are each at least 0 and together at most 1
            raise ParameterError("rounds must be an AdaptiveRounds: use Mwem.of", parameter="rounds")

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
    ) -> Mwem:
        """State the workload, who is protected and the price; the rest follows by a public rule."""
        return cls.from_allowance(workload, Allowance.of(neighbors, epsilon=epsilon, delta=delta, rho=rho, mu=mu))

    @classmethod
    def from_allowance(cls, workload: Workload, allowance: Allowance) -> Mwem:
        """Spend all of an allowance."""
        divergence = math.log(max(min(workload.domain.cells, MOST_CELLS), 2))
        rounds = AdaptiveRounds.of(workload, allowance, Fraction(1), divergence)
        return cls(workload=workload, allowance=allowance, rounds=rounds)

    @property
    def plan(self) -> Mapping[str, Any]:
        """The public parameters."""
        return {"possible records": self.workload.domain.cells, **self.rounds.plan}

    def _release(self, records: Records, progress: Progress) -> SyntheticRelease:
        """Run the rounds on all possible records."""
        support = whole_domain(self.workload.domain)
        prior = np.full(len(support), 1 / len(support))
        course = self.rounds(records, self.workload, self.allowance, support, prior, progress)
        return self._made(SyntheticTable(support, course.weights), course.answers, course.evidence)

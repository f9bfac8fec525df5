"""discreet under its own audit: every mechanism at every level, and its sampler against its law."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np

from discreet.audit import Level, Outcome, Verdict, audit, goodness_of_fit
from discreet.display import Table
from discreet.mechanisms.mechanism import Mechanism
from discreet.privacy import ZCDP, ApproxDP, Guarantee, PureDP
from discreet.testing.own_list import OWN, Own

ALARM = 1e-9  # of the column of runs and of the column of fits each; the wire audit has as much for every mechanism
_LEAST = 400
_WIRE_PAIRS, _WIRE_DRAWS = 3, 1000


@dataclass(frozen=True, slots=True)
class OwnVerdict:
    """What the levels found about one mechanism; `fit` is the chance of a worse fit if the sampler is right."""

    name: str
    claim: Guarantee
    exact: Verdict
    wire: Verdict
    statistical: Verdict
    fit: float
    suite: int

    @property
    def refuted(self) -> bool:
        """Whether any level refutes the claim, or the sampler does not follow its law."""
        levels = (self.exact, self.wire, self.statistical)
        return any(one.refuted for one in levels) or self.fit < ALARM / self.suite

    @property
    def outcome(self) -> Outcome:
        """Refuted, kept on all that was searched, or open where the exact level cannot tell."""
        return Outcome.REFUTED if self.refuted else self.exact.outcome


@dataclass(frozen=True, slots=True)
class OwnAudit:
    """The audit of all of them, one line each."""

    verdicts: tuple[OwnVerdict, ...]
    draws: int
    seconds: float

    def __iter__(self) -> Iterator[OwnVerdict]:
        """Walk over the verdicts."""
        return iter(self.verdicts)

    @property
    def refuted(self) -> tuple[str, ...]:
        """The names of those that are refuted."""
        return tuple(one.name for one in self.verdicts if one.refuted)

    def table(self) -> Table:
        """Return the verdicts as a table; losses of concentrated claims are shares of what the claim allows."""
        columns = ["mechanism", "claim", "exact", "wire", "sampled", "fit p", "verdict"]
        rows = [
            [
                one.name,
                in_short(one.claim),
                _enclosed(one.exact),
                one.wire.outcome.name.lower(),
                f"{one.statistical.low:.2f}",
                f"{one.fit:.1g}",
                one.outcome.name.lower(),
            ]
            for one in self.verdicts
        ]
        return Table(columns, rows, digits=3)

    def _repr_html_(self) -> str:
        """Show the table in a notebook."""
        return self.table()._repr_html_()


def audit_own(
    *, draws: int = 5000, subjects: Iterable[Own] = OWN, progress: Callable[[str], None] | None = None
) -> OwnAudit:
    """Audit mechanisms of discreet at every level, and their samplers against their laws.

    `draws` is how often each is run on two neighbours together, and again for its law; slow ones get a quarter. All
    verdicts together raise a false alarm with a probability below 1e-7, however many draws there are: 1e-9 for all
    bounds from runs, about 1e-9 for all fits, and 1e-9 for the form of the outputs of each mechanism. `progress` is
    told the name of each mechanism before its turn.

    >>> from discreet.testing.own_list import OWN
    >>> audit_own(draws=1000, subjects=OWN[:1]).refuted
    ()
    """
    started = time.perf_counter()
    listed = tuple(subjects)
    verdicts = []
    for own in listed:
        if progress is not None:
            progress(own.name)
        verdicts.append(_audited(own, draws, len(listed)))
    return OwnAudit(tuple(verdicts), draws, time.perf_counter() - started)


def _audited(own: Own, draws: int, suite: int) -> OwnVerdict:
    """Run all levels on one mechanism."""
    mechanism = own.make()
    some = max(int(own.share * draws), _LEAST)
    looks = min(some, max(int(own.share * _WIRE_DRAWS), _LEAST))
    pairs = list(islice(mechanism.neighbours(), _WIRE_PAIRS))
    return OwnVerdict(
        name=own.name,
        claim=mechanism.guarantee,
        exact=audit(mechanism, search=0),
        wire=audit(mechanism, level=Level.WIRE, neighbours=pairs, draws=looks),
        statistical=audit(
            mechanism, level=Level.STATISTICAL, neighbours=pairs[:1], draws=some, confidence=1 - ALARM, suite=suite
        ),
        fit=fit_of(mechanism, own.value, some),
        suite=suite,
    )


def fit_of(mechanism: Mechanism, value: Any, draws: int) -> float:
    """Return the chance of a worse fit of real releases to the stated law, coordinate by coordinate, corrected."""
    law = mechanism.law(value)
    outputs = [mechanism.outcome(value) for _ in range(draws)]
    parts = getattr(law, "laws", None)
    if parts is None:
        return goodness_of_fit(law, outputs).p_value
    columns = [[np.ravel(output)[place] for output in outputs] for place in range(len(parts))]
    fits = [goodness_of_fit(part, column).p_value for part, column in zip(parts, columns, strict=True)]
    return min(1.0, len(fits) * min(fits, default=1.0))


def _enclosed(verdict: Verdict) -> str:
    """Write the loss on the inputs searched: one number where both ends agree, else the two."""
    low, high = f"{verdict.low:.4g}", "?" if verdict.high is None else f"{verdict.high:.4g}"
    return low if low == high else f"{low} to {high}"


def in_short(claim: Guarantee) -> str:
    """Write a claim in a few letters."""
    match claim:
        case PureDP():
            return f"{float(claim.epsilon):.4g}-DP"
        case ApproxDP():
            return f"({float(claim.epsilon):.4g}, {float(claim.delta):.1g})-DP"
        case ZCDP() if claim.delta:
            return f"({float(claim.rho):.4g}, {float(claim.delta):.1g})-zCDP"
        case ZCDP():
            return f"{float(claim.rho):.4g}-zCDP"
    return str(claim).partition(":")[0]

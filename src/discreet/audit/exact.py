"""The exact audit: the law on neighbours against the claim, two-sided, with a witness.

For every pair of neighbouring inputs the loss pair of the two laws is enclosed. A lower end above the claim refutes it
for good; upper ends bound the loss on everything that was searched, and no sampling is involved.
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from discreet.audit.search import climb
from discreet.audit.verdict import Level, Outcome, Verdict, Witness
from discreet.errors import ParameterError
from discreet.laws.enclosure import Enclosure
from discreet.laws.pair import Pair
from discreet.mechanisms.mechanism import Mechanism
from discreet.privacy import ApproxDP, Guarantee, PureDP

_DELTAS = (1e-1, 1e-2, 1e-3, 1e-5, 1e-7, 1e-9)
_RELATIVE = 1e-9


def audit_exact(
    mechanism: Mechanism, claim: Guarantee, neighbours: Iterable[tuple[Any, Any]] | None, *, search: int
) -> Verdict:
    """Compare the law with the claim over given neighbours, or over the mechanism's own and a search from there."""
    started = time.perf_counter()
    pairs = list(mechanism.neighbours() if neighbours is None else neighbours)
    if not pairs:
        raise ParameterError("an audit needs at least one pair of neighbouring inputs", parameter="neighbours")
    measured = [(excess(_pair(mechanism, first, second), claim), first, second) for first, second in pairs]
    best, first, second = max(measured, key=lambda entry: entry[0].lower)
    if neighbours is None and search > 0:
        found = climb(mechanism, (first, second), lambda pair: excess(pair, claim).lower, rounds=search)
        pairs += found.tried
        best, first, second = excess(_pair(mechanism, *found.inputs), claim), *found.inputs
    limit = _limit(claim)
    high = max(best.upper, *(entry[0].upper for entry in measured))
    outcome = _outcome(best.lower, high, limit)
    event = _event(_pair(mechanism, first, second))
    return Verdict(
        claim=claim,
        level=Level.EXACT,
        outcome=outcome,
        low=best.lower,
        high=high,
        confidence=None,
        witness=Witness(_shown(first), _shown(second), event),
        findings=(),
        pairs=len(pairs),
        samples=0,
        seconds=time.perf_counter() - started,
    )


def _pair(mechanism: Mechanism, first: Any, second: Any) -> Pair:
    """Return the loss pair of the mechanism on two inputs."""
    return mechanism.law(first).pair(mechanism.law(second))


def excess(pair: Pair, claim: Guarantee) -> Enclosure:
    """Enclose the loss in the claim's own terms: the largest loss if pure, epsilon at its delta if approximate.

    Other notions are measured by the worst ratio of epsilon to what the claim allows, over a range of deltas: 1 is the
    limit.
    """
    if isinstance(claim, PureDP):
        return pair.max_loss()
    if isinstance(claim, ApproxDP):
        return pair.epsilon(float(claim.delta))
    ratios = [_ratio(pair.epsilon(delta), claim.loss.epsilon(delta).upper) for delta in _DELTAS]
    low, high = max(ratio[0] for ratio in ratios), max(ratio[1] for ratio in ratios)
    return Enclosure(low, low + (high - low) / 2, high, "worst ratio of epsilon to the claim over a range of deltas")


def _ratio(measured: Enclosure, allowed: float) -> tuple[float, float]:
    """Return bounds on measured / allowed; nothing measured is within any claim."""
    if measured.upper == 0.0:
        return 0.0, 0.0
    return (measured.lower / allowed, measured.upper / allowed) if allowed > 0.0 else (float("inf"), float("inf"))


def _limit(claim: Guarantee) -> float:
    """Return what the excess may be at most."""
    return float(claim.epsilon) if isinstance(claim, PureDP | ApproxDP) else 1.0


def _outcome(low: float, high: float, limit: float) -> Outcome:
    """Judge certain bounds against the limit; the upper ends carry rounding of a relative 1e-9."""
    if low > limit:
        return Outcome.REFUTED
    return Outcome.KEPT if high <= limit * (1 + _RELATIVE) else Outcome.OPEN


def _event(pair: Pair) -> str:
    """Describe the output on which the loss is largest."""
    witness = getattr(pair, "witness", None)
    return f"output {witness()}" if callable(witness) else "a half-line of outputs"


def _shown(value: Any) -> Any:
    """Return an input of a search as something short to print; it was made up, not taken from anybody."""
    if isinstance(value, list):
        return [float(entry) for entry in value]
    return value.tolist() if hasattr(value, "tolist") else value

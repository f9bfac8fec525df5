"""The exact audit: the law on neighbors against the guarantee, two-sided, with a witness.

For every pair of neighboring inputs, in both directions, the loss pair of the two laws is enclosed. A lower end above
the guarantee refutes it for certain; upper ends bound the loss on everything that was searched, and no sampling is
involved. Concentrated, Renyi and Gaussian guarantees are about whole curves: points of the curve can refute them, and
only a theorem about the pair (its largest loss, its concentration, a normal pair that is worse) certifies them.
What is neither refuted nor certified stays open.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from discreet.audit.exact.compared import Compared, compared
from discreet.audit.exact.search import climb
from discreet.audit.verdict import Level, Outcome, Verdict, Witness
from discreet.errors import ParameterError
from discreet.laws import Enclosure, FinitePair, LocationPair, Pair
from discreet.laws.number import round_down, round_up
from discreet.mechanisms import Mechanism
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, Guarantee, PrivacyLoss, PureDP, Relation

_DELTAS = (1e-1, 1e-2, 1e-3, 1e-5, 1e-7, 1e-9)
_RELATIVE = 1e-9
_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Examined:
    """One pair of inputs in one direction: its loss in the guarantee's terms, and whether that is proven for it."""

    first: Any
    second: Any
    pair: Pair
    excess: Enclosure
    proven: bool


Known = dict[LocationPair, tuple[Enclosure, bool]]


def audit_exact(
    mechanism: Mechanism | Compared,
    guarantee: Guarantee,
    neighbors: Iterable[tuple[Any, Any]],
    *,
    search: int,
    own: bool,
) -> Verdict:
    """Compare the law with the guarantee over neighbors, and on what a search from the worst of them finds.

    Where the neighbors are the mechanism's `own`, statements about the data may have chosen them: what they left out
    is looked at too, and is a condition of the verdict.
    """
    started = time.perf_counter()
    starts = list(neighbors)
    if not starts:
        raise ParameterError("an audit needs at least one pair of neighboring inputs", parameter="neighbors")
    known: Known = {}
    examined = _examined(mechanism, guarantee, starts, known)
    worst = max(examined, key=lambda one: one.excess.lower)
    if search > 0:
        tried = climb(mechanism, (worst.first, worst.second), lambda pair: excess(pair, guarantee).lower, rounds=search)
        examined += _examined(mechanism, guarantee, tried, known)
        worst = max(examined, key=lambda one: one.excess.lower)
    direct = isinstance(guarantee, PureDP | ApproxDP)
    proven = all(one.proven for one in examined)
    high = max(one.excess.upper for one in examined) if direct or proven else None
    outcome = Outcome.REFUTED if _refutes(worst, guarantee) else Outcome.KEPT if proven else Outcome.OPEN
    assumed = dict.fromkeys(name for one in examined for name in one.excess.assumptions)
    return Verdict(
        guarantee=guarantee,
        level=Level.EXACT,
        outcome=outcome,
        low=worst.excess.lower,
        high=high,
        confidence=None,
        witness=Witness(_shown(worst.first), _shown(worst.second), _event(worst.pair, guarantee)),
        findings=tuple(f"rests on {name}" for name in assumed),
        pairs=len(examined),
        samples=0,
        seconds=time.perf_counter() - started,
        conditions=_conditions(mechanism, guarantee, known) if own and outcome is not Outcome.REFUTED else (),
    )


def _conditions(mechanism: Any, guarantee: Guarantee, known: Known) -> tuple[str, ...]:
    """Return the statements that the guarantee takes on trust, with the loss on neighbors that they rule out."""
    told = []
    for statement, pairs in mechanism.left_out().items() if isinstance(mechanism, Mechanism) else ():
        worst = max(one.excess.lower for one in _examined(mechanism, guarantee, pairs, known))
        what = "the loss is" if isinstance(guarantee, PureDP | ApproxDP) else "the share of the guarantee is"
        told.append(
            f"{statement}. No mechanism can check this: where it is false {what} at least {worst:.6g}. Audit the query "
            "with it, audit(OnTables(mechanism, query=..., rows=..., people=...))"
        )
    return tuple(told)


def _examined(
    mechanism: Mechanism | Compared, guarantee: Guarantee, inputs: Iterable[tuple[Any, Any]], known: Known
) -> list[Examined]:
    """Examine pairs of inputs and their reverses: the relation is symmetric, the loss is not.

    Pairs of one noise at one distance are equal wherever they lie, and are judged once.
    """
    examined = []
    for first, second in inputs:
        pair = compared(mechanism, first, second)
        for one, other, way in ((first, second, pair), (second, first, pair.reversed())):
            judged = known.get(way) if isinstance(way, LocationPair) else None
            if judged is None:
                found = excess(way, guarantee)
                judged = found, _proves(way, guarantee, found)
                if isinstance(way, LocationPair):
                    known[way] = judged
            examined.append(Examined(one, other, way, *judged))
    return examined


def excess(pair: Pair, guarantee: Guarantee) -> Enclosure:
    """Enclose the loss in the guarantee's own terms: the largest loss if pure, epsilon at its delta if approximate.

    Other notions are measured by the worst ratio of epsilon to what the guarantee allows, over a range of deltas: 1 is
    the limit.
    """
    if isinstance(guarantee, PureDP):
        return pair.max_loss()
    if isinstance(guarantee, ApproxDP):
        # epsilon(delta) falls: the lower end is taken at a delta not below the guarantee's, the upper at one not above
        low = pair.epsilon(min(round_up(Fraction(guarantee.delta)), 1.0))
        high = pair.epsilon(max(round_down(Fraction(guarantee.delta)), 0.0))
        middle = max(low.lower, min(high.estimate, high.upper))
        return Enclosure(low.lower, middle, high.upper, high.method, assumptions=high.assumptions)
    own = float(guarantee.delta) if isinstance(guarantee, ZCDP | GaussianDP) else 0.0
    points = {delta: pair.epsilon(delta) for delta in _DELTAS if delta > own}
    ratios = [_ratio(point, guarantee.loss.epsilon(delta).upper) for delta, point in points.items()]
    assumptions = tuple(dict.fromkeys(name for point in points.values() for name in point.assumptions))
    low_ratio = max((ratio[0] for ratio in ratios), default=0.0)
    high_ratio = max((ratio[1] for ratio in ratios), default=0.0)
    middle = low_ratio if math.isinf(high_ratio) else low_ratio + (high_ratio - low_ratio) / 2
    method = "worst ratio of epsilon to the guarantee over a range of deltas"
    return Enclosure(low_ratio, middle, high_ratio, method, assumptions=assumptions)


def _ratio(measured: Enclosure, allowed: float) -> tuple[float, float]:
    """Return bounds on measured / allowed; a point at which the guarantee allows everything says nothing."""
    if measured.upper == 0.0 or math.isinf(allowed):
        return 0.0, 0.0
    return (measured.lower / allowed, measured.upper / allowed) if allowed > 0.0 else (math.inf, math.inf)


def _proves(pair: Pair, guarantee: Guarantee, found: Enclosure) -> bool:
    """Say whether the guarantee is certain for a pair, up to a relative 1e-9 of rounding in its enclosures."""
    if isinstance(guarantee, PureDP | ApproxDP):
        return found.upper <= float(guarantee.epsilon) * (1 + _RELATIVE)
    rho = pair.concentration()
    known = None if rho is None else ZCDP(round_up(rho))
    return PrivacyLoss.from_pairs([pair], guarantee=known).satisfies(guarantee.under(Relation.UNSTATED))


def _refutes(worst: Examined, guarantee: Guarantee) -> bool:
    """Say whether the loss is certainly above the guarantee."""
    limit = float(guarantee.epsilon) if isinstance(guarantee, PureDP | ApproxDP) else 1.0
    return worst.excess.lower > limit


def _event(pair: Pair, guarantee: Guarantee) -> str:
    """Describe the outputs on which the guarantee is strained most."""
    if not isinstance(pair, FinitePair):
        shape = "half-line of outputs" if isinstance(pair, LocationPair) else "outputs"
        return f"the {shape} whose loss is largest"
    if isinstance(guarantee, PureDP):
        return f"output {pair.witness()}"
    level = float(guarantee.epsilon) if isinstance(guarantee, ApproxDP) else 0.0
    above = pair.above(level)
    more = "" if len(above) <= _SHOWN else f" and {len(above) - _SHOWN} more"
    return f"any of the outputs {', '.join(str(one) for one in above[:_SHOWN])}{more}"


def _shown(value: Any) -> Any:
    """Return an input of a search as something short to print; it was made up, not taken from anybody."""
    if isinstance(value, list):
        return [float(entry) if isinstance(entry, Fraction) else entry for entry in value]
    if isinstance(value, Fraction):
        return float(value)
    return value.tolist() if hasattr(value, "tolist") else value

"""Does a mechanism keep its claim? Its law, its wire format and its running code against the promise."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from discreet.audit.exact import audit_exact
from discreet.audit.goodness import Goodness, goodness_of_fit
from discreet.audit.verdict import Level, Outcome, Verdict, Witness
from discreet.audit.wire import audit_wire
from discreet.errors import MissingParameter, ParameterError
from discreet.mechanisms.mechanism import Mechanism
from discreet.privacy import Guarantee
from discreet.privacy.relation import combine

__all__ = ["Goodness", "Level", "Outcome", "Verdict", "Witness", "audit", "goodness_of_fit"]


def audit(
    mechanism: Mechanism | Callable[[Any], Any],
    claim: Guarantee | None = None,
    *,
    neighbours: Iterable[tuple[Any, Any]] | None = None,
    level: Level = Level.EXACT,
    search: int = 2,
    draws: int = 2000,
) -> Verdict:
    """Put a mechanism's promise to the test.

    `Level.EXACT` needs a `law(value)`: it is compared with the claim on the neighbours given (the mechanism's own if
    none are), in both directions, and on what `search` rounds of coordinate ascent find from the worst of them.
    `Level.WIRE` runs the code `draws` times on both inputs of each pair and looks at the form of outputs and errors; it
    takes any callable.

    >>> from discreet.mechanisms import Laplace
    >>> from discreet.privacy import PureDP
    >>> audit(Laplace(scale=10, sensitivity=1), PureDP(0.1)).outcome
    <Outcome.KEPT: 'kept on everything that was searched'>
    >>> audit(Laplace(scale=10, sensitivity=1), PureDP(0.05)).refuted
    True
    """
    if claim is None:
        if not isinstance(mechanism, Mechanism):
            raise MissingParameter(
                "a bare callable makes no claim: pass the guarantee to test it against", parameter="claim"
            )
        claim = mechanism.guarantee
    if not isinstance(claim, Guarantee):
        raise ParameterError("a claim is a Guarantee, such as PureDP(0.1)", parameter="claim")
    combine(getattr(mechanism, "relation", claim.relation), claim.relation)
    if level is Level.EXACT:
        if not hasattr(mechanism, "law") or not hasattr(mechanism, "neighbours"):
            raise ParameterError(
                "an exact audit needs a mechanism with law(value) and neighbours()", parameter="mechanism"
            )
        return audit_exact(mechanism, claim, neighbours, search=search)  # type: ignore[arg-type]
    if neighbours is None:
        if not isinstance(mechanism, Mechanism):
            raise MissingParameter(
                "say on which neighbouring inputs to run it: neighbours=[(x, y), ...]", parameter="neighbours"
            )
        neighbours = mechanism.neighbours()
    return audit_wire(mechanism, claim, neighbours, draws=draws)

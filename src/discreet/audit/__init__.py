"""Does a mechanism keep its guarantee? Its law, its wire format and its running code are put to the test."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable
from dataclasses import replace
from importlib import import_module
from types import ModuleType
from typing import TYPE_CHECKING, Any

from discreet._optional import listing, loader
from discreet.audit.canaries import Canaries, OneRun, one_run
from discreet.audit.exact import Compared, Lawful, OnTables
from discreet.audit.goodness import Goodness, goodness_of_fit
from discreet.audit.request import (
    Watched,
    check_kind,
    check_level,
    check_until,
    checked_draws,
    checked_pairs,
    chosen_level,
)
from discreet.audit.verdict import Level, Outcome, Until, Verdict, Witness
from discreet.display import Progress, listener
from discreet.errors import MissingParameter, ParameterError
from discreet.mechanisms import Mechanism
from discreet.privacy import Guarantee, combine

if TYPE_CHECKING:
    from discreet.audit.statistical import best_expected_bound, cap

__all__ = [
    "Canaries",
    "Goodness",
    "Level",
    "OnTables",
    "OneRun",
    "Outcome",
    "Until",
    "Verdict",
    "Witness",
    "audit",
    "best_expected_bound",
    "cap",
    "goodness_of_fit",
    "one_run",
]

_WIRE_DRAWS = 2000
_ARTIFACT = "floating-point artifact: round the output to look past it"


# these need runs of many draws: they are loaded when they are first asked for
__getattr__ = loader("discreet.audit", names=("best_expected_bound", "cap"), of=("statistical",))
__dir__ = listing("discreet.audit")


def audit(  # noqa: PLR0913  each is a public choice, and by keyword only
    mechanism: Mechanism | Lawful | Compared | Callable[[Any], Any],
    guarantee: Guarantee | None = None,
    *,
    neighbors: Iterable[tuple[Any, Any]] | None = None,
    level: Level | str = Level.EXACT,
    search: int = 2,
    draws: int | None = None,
    confidence: float = 0.95,
    suite: int = 1,
    until: Until = Until.SPENT,
    progress: Progress | None = None,
) -> Verdict:
    """Put a mechanism's guarantee to the test.

    `Level.EXACT` needs a `law(value)`, or a `pair(first, second)` of laws: it is compared with the guarantee on the
    neighbors given (the mechanism's own by default), in both directions, and on what `search` rounds of coordinate
    ascent find from the worst of them. What a mechanism takes on trust about the data, such as `monotone=True`, is a
    condition of the verdict; `OnTables` audits the mechanism with the query before it, on neighbors that no such
    statement chooses.
    `Level.WIRE` runs the code `draws` times on both inputs of each pair and looks at the form of outputs and errors; it
    takes any callable. `Level.STATISTICAL` takes any callable too, runs it `draws` times in all (at once where it has
    `runs(value, draws)`, one row a run), and bounds its loss from below with `confidence`; give the number of audits
    that are to be right together as `suite`. `Until.DECIDED` stops as soon as the guarantee is refuted, or can hardly
    be any more. `progress` is called with the runs done and the total.
    `confidence`, `suite`, `until` and `progress` are for `Level.STATISTICAL` alone: an exact audit is certain, a wire
    audit has a confidence of 1 - 1e-9.

    >>> from discreet.mechanisms import Laplace
    >>> from discreet.privacy import PureDP
    >>> audit(Laplace(scale=10, sensitivity=1), PureDP(0.1)).outcome
    <Outcome.KEPT: 'kept on everything that was searched'>
    >>> audit(Laplace(scale=10, sensitivity=1), PureDP(0.05)).refuted
    True
    """
    examined = chosen_level(level)
    check_kind(mechanism)
    tell = listener(progress)
    guarantee = _stated_guarantee(mechanism, guarantee)
    check_level(mechanism, examined)
    if neighbors is None and not hasattr(mechanism, "neighbors"):
        raise MissingParameter(
            "say on which neighboring inputs to audit it: neighbors=[(x, y), ...]", parameter="neighbors"
        )
    own: Any = mechanism
    pairs = checked_pairs(own.neighbors() if neighbors is None else neighbors)
    if examined is Level.EXACT:
        from discreet.audit.exact import audit_exact

        return audit_exact(own, guarantee, pairs, search=search, own=neighbors is None)
    watched = Watched(mechanism)
    if examined is Level.WIRE:
        from discreet.audit.wire import audit_wire

        return _told(audit_wire(watched, guarantee, pairs, draws=checked_draws(draws, _WIRE_DRAWS)), watched)
    from discreet.audit.statistical import DRAWS, audit_statistical

    check_until(until)
    runs = checked_draws(draws, DRAWS)
    found = audit_statistical(
        watched, guarantee, pairs, draws=runs, confidence=confidence, suite=suite, until=until, progress=tell
    )
    return _told(found, watched)


def _stated_guarantee(mechanism: object, guarantee: object) -> Guarantee:
    """Return the guarantee to test, the mechanism's own by default, and check that it is about its neighbors."""
    if guarantee is None:
        guarantee = mechanism.guarantee if isinstance(mechanism, Mechanism) else getattr(mechanism, "guarantee", None)
        if guarantee is None:
            raise MissingParameter(
                "a bare callable makes no guarantee: pass the guarantee to test it against", parameter="guarantee"
            )
    if not isinstance(guarantee, Guarantee):
        raise ParameterError("guarantee must be a Guarantee, such as PureDP(0.1)", parameter="guarantee")
    combine(getattr(mechanism, "relation", guarantee.relation), guarantee.relation)
    return guarantee


def _told(verdict: Verdict, watched: Watched) -> Verdict:
    """Add what a reader of a sampled verdict must know: that hardly a run ended well, that only its digits told."""
    findings, outcome = verdict.findings, verdict.outcome
    failed = watched.finding()
    if failed is not None:
        findings = (*findings, failed)
        outcome = Outcome.OPEN if outcome is Outcome.KEPT else outcome
    if verdict.refuted and verdict.witness is not None and "lowest binary digit" in verdict.witness.event:
        findings = (*findings, _ARTIFACT)
    return replace(verdict, findings=findings, outcome=outcome)


class AuditRoom(ModuleType):
    """The room `discreet.audit`, which is called as its function `audit` is: `discreet.audit(mechanism)`."""

    __call__ = staticmethod(audit)
    if TYPE_CHECKING:
        one_run = staticmethod(one_run)
        goodness_of_fit = staticmethod(goodness_of_fit)

    def __reduce__(self) -> tuple[Callable[[str], ModuleType], tuple[str]]:
        return import_module, (self.__name__,)  # so that a pool of processes can be handed the function

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(audit)


sys.modules[__name__].__class__ = AuditRoom

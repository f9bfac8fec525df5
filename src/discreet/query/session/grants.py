"""Grants: rows of a private table for a mechanism that keeps a guarantee, charged first and recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from discreet.errors import ParameterError, RelationMismatch, UnknownName
from discreet.ledger import Charge
from discreet.ledger.contract import GRANTED, Parts, taking_up
from discreet.privacy import Guarantee, Relation
from discreet.privacy.numbers import as_written
from discreet.query.answer import Record
from discreet.query.plan import Scan, SumRequest, Sums
from discreet.query.policy import Policy
from discreet.query.session.charging import Charging, private_table

if TYPE_CHECKING:
    from discreet.query.session.session import Session


def check_session(session: object) -> None:
    """Raise unless this is a session; people give the frame itself."""
    from discreet.query.session.session import Session

    if not isinstance(session, Session):
        raise ParameterError(
            f"the first argument must be a Session, not {type(session).__name__}: open one with "
            "Session.open(policy_file, analyst=...) or Session.from_frames(table=frame, ...). Nothing was spent.",
            parameter="session",
        )


def grant(
    charging: Charging, table: str, columns: Sequence[str], guarantee: Guarantee, purpose: str
) -> Mapping[str, Any]:
    """Return rows for a mechanism, charged and recorded as `Session.grant` says."""
    charging.refuse_after_failure()
    rows = _reader(charging, table, columns)
    if not isinstance(guarantee, Guarantee):
        raise ParameterError("guarantee must be a guarantee, such as PureDP(0.5)", parameter="guarantee")
    cost = _for_policy(charging.policy, as_written(guarantee))
    charge = charging.charge(cost, f"{purpose}: {table} ({', '.join(columns)})", ())
    found: Mapping[str, Any] = charging.guarded(rows, charge)
    charging.ledger.note(charge, GRANTED)
    return found


def grant_once(
    session: Session,
    table: str,
    columns: Sequence[str],
    guarantee: Guarantee,
    *,
    digest: str,
    description: str,
    releases: tuple[str, ...],
    work: Callable[[dict[str, Any], Charge], tuple[Any, str | None]],
    charged: Callable[[Charge], None] | None = None,
) -> tuple[Any, str | None, Record]:
    """Hand rows to a mechanism as `Session.grant` does, or return the text that was stored for the same digest.

    `work` and `charged` are as for `Charging.once`. The caller owes `guarantee`, as for a grant.
    """
    charging = session._charging
    charging.refuse_after_failure()
    rows = _reader(charging, table, columns)
    request = charging.request(_for_policy(charging.policy, guarantee), digest, description, releases)
    return charging.once(request, lambda charge: work(rows(), charge), charged=charged)


def sum_once(
    session: Session,
    table: str,
    guarantee: Guarantee,
    *,
    digest: str,
    description: str,
    releases: tuple[str, ...],
    request: SumRequest,
    rows: int | None,
    work: Callable[[Sums], tuple[Any, str | None]],
) -> tuple[Any, str | None, Record]:
    """Hand exact sums to a mechanism, computed by the engine, as `grant_once` hands rows.

    `request` adds up every row alike; with `rows` it is run on the bounded table, in which a unit has at most as many.
    """
    charging = session._charging
    charging.refuse_after_failure()
    known = private_table(charging.policy, table)

    def summed() -> tuple[Any, str | None]:
        bounded = None if rows is None else charging.engine.bound(known.name, rows)
        return work(charging.engine.run(replace(request, bounded=bounded)))

    asked = charging.request(_for_policy(charging.policy, guarantee), digest, description, releases)
    return charging.once(asked, lambda _: summed())


def grant_again(
    session: Session,
    table: str,
    columns: Sequence[str],
    cost: Guarantee,
    *,
    charge: Charge,
    start: int,
    seen: Parts,
    description: str,
    work: Callable[[dict[str, Any], Charge], tuple[Any, str | None]],
) -> tuple[Any, Record]:
    """Hand rows once more to a mechanism that a crash interrupted, for an additional cost; see `grant_once`.

    `charge` is that of the release, which has no outcome yet; `cost` what taking it up again at part `start` adds
    to it, for a release that has come as far as `seen`. `work` is told the additional charge.
    """
    charging = session._charging
    charging.refuse_after_failure()
    rows = _reader(charging, table, columns)
    request = taking_up(charge, cost=_for_policy(charging.policy, cost), description=description)
    more = charging.ledger.take_up(charge, request, start=start, seen=seen)
    charging.last = charge.cost  # another release costs that, not what this one lacks
    made, text = charging.guarded(lambda: work(rows(), more), more)
    charging.ledger.note(more, GRANTED)
    return made, charging.ended(charge, text)


def _for_policy(policy: Policy, guarantee: Guarantee) -> Guarantee:
    """Return a guarantee for the policy's neighbors; one for other neighbors is worth something else."""
    if guarantee.relation is Relation.UNSTATED:
        return guarantee.under(policy.relation)
    if guarantee.relation is not policy.relation:
        raise RelationMismatch(
            f"the guarantee is stated for other neighbors than the policy's ({policy.relation.value}): state "
            "it for these. Nothing was spent."
        )
    return guarantee


def _reader(charging: Charging, table: str, columns: Sequence[str]) -> Callable[[], dict[str, Any]]:
    """Return what reads columns of a private table."""
    known = private_table(charging.policy, table)
    if not all(isinstance(name, str) for name in columns):
        raise ParameterError("columns must be a list of names of columns", parameter="columns")
    if any(name.lower() == "unit" for name in columns):
        raise ParameterError('columns must not contain "unit": the units are handed over under that name')
    missing = [name for name in columns if name not in known.columns]
    if missing:
        raise UnknownName(f"{known.name} has no column {missing[0][:80]!r}")
    return lambda: charging.engine.rows(Scan(known.name), list(columns))

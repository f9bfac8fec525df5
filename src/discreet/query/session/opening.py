"""A policy meets its source: the columns and types of the tables, read without a row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from discreet.query.engines import engine_for
from discreet.query.expression.types import Type
from discreet.query.plan.request import Engine
from discreet.query.policy.check import with_schema
from discreet.query.policy.declarations import Policy
from discreet.query.policy.units import Unfit


def with_source(policy: Policy, frames: Mapping[str, Any] | None = None) -> tuple[Policy, Engine]:
    """Return the policy with every column of its tables, and an engine over its source."""
    first = engine_for(policy, frames, header_only=True)
    try:
        complete = fitted(policy, first)
    finally:
        first.close()
    return complete, engine_for(complete, frames)


def fitted(policy: Policy, engine: Engine) -> Policy:
    """Return the policy with every column of its tables; refuse what does not agree with the source."""
    return with_schema(policy, schemas(policy, engine), unfit(policy, engine))


def unfit(policy: Policy, engine: Engine) -> Unfit:
    """Return the columns of every table of the source that cannot name a unit, with the names of their types."""
    return {name: engine.unfit(name) for name in policy.tables if engine.has(name)}


def schemas(policy: Policy, engine: Engine) -> dict[str, Mapping[str, Type]]:
    """Return the columns of every table of the source that the policy names."""
    found = {}
    for name in (*policy.tables, *policy.public):
        columns = engine.schema(name) if engine.has(name) else None
        if columns is not None:
            found[name] = columns
    return found

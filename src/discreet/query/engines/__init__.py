"""Engines: leaves that run a plan's integer sums on one kind of database each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from discreet.query.expression import Expression, Type, Value
from discreet.query.plan import Engine
from discreet.query.policy import Policy


def engine_for(policy: Policy, frames: Mapping[str, Any] | None = None, *, header_only: bool = False) -> Engine:
    """Open the engine that a policy's source needs; with `header_only` one that knows columns, and may know no row."""
    from discreet.query.engines.duckdb import DuckDBEngine

    return DuckDBEngine(policy, frames, header_only=header_only)


def engine_and_policy(
    policy: Policy, frames: Mapping[str, Any] | None, fit: Callable[[Policy, Engine], Policy]
) -> tuple[Policy, Engine]:
    """Open the engine that a policy's source needs, once, and return the policy as `fit` completes it in between."""
    from discreet.query.engines.duckdb import DuckDBEngine

    engine = DuckDBEngine(policy, frames, fit=fit)
    return engine.policy, engine


def check_written(expressions: Sequence[Expression]) -> None:
    """Refuse expressions that `evaluate` could not compute, whatever the values."""
    from discreet.query.engines import duckdb

    duckdb.check_written(expressions)


def evaluate(
    expressions: Sequence[Expression], columns: Mapping[str, list[Value]], types: Mapping[str, Type]
) -> list[list[Value]]:
    """Compute expressions over public columns, row by row, in an empty database that can reach nothing."""
    from discreet.query.engines.duckdb import evaluated

    return evaluated(expressions, columns, types)

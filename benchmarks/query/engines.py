"""The engines that the query benchmark compares with, each asked once in a process of its own, within a limit."""

from __future__ import annotations

from threading import Timer

from benchmarks.common.peers import Peer
from benchmarks.query.data import CATEGORIES, category, table

LIMIT_SECONDS = 120


class QueryEngine(Peer):
    """Ask an engine for counts and sums by category, and how long it took."""

    bound: str

    def seconds(self, rows: int, rounds: int = 1) -> dict[str, float] | None:
        """Return CPU and wall seconds and the peak memory, or None where there is no answer within the limit."""
        request = {"path": str(table(rows)), "rows": rows, "keys": [category(number) for number in range(CATEGORIES)]}
        clock = Timer(LIMIT_SECONDS, self._process.kill)
        clock.start()
        try:
            answer: dict[str, float] = self._ask(task="count_and_sum", rounds=rounds, **request)
        except (RuntimeError, BrokenPipeError):
            return None
        finally:
            clock.cancel()
        return answer


class OpenDPPolars(QueryEngine):
    """Groups and rows of a person bounded by Polars expressions; it pins the version of Polars."""

    name, module, bound = "opendp-polars", "benchmarks.peers.opendp.query", "5 groups of 3 rows"
    requirements = ("opendp[polars]==0.16.0", "polars==1.36.1")


class Qrlew(QueryEngine):
    """SQL rewritten to SQL with noise, run by the same DuckDB; psycopg2 comes as a source alone."""

    name, module, bound = "qrlew", "benchmarks.peers.qrlew.query", "5 groups, norms"
    requirements, sources = ("pyqrlew==0.9.27", "duckdb==2.0.0"), ("psycopg2",)


class SmartNoise(QueryEngine):
    """SQL over pandas frames; its parser comes as a source alone."""

    name, module, bound = "smartnoise", "benchmarks.peers.smartnoise.query", "15 rows"
    requirements, sources = ("smartnoise-sql==1.0.10", "pyarrow"), ("antlr4-python3-runtime",)


ENGINES = (OpenDPPolars, Qrlew, SmartNoise)

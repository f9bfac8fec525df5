"""DuckDB as an engine: private tables in, exact integer sums of bounded rows out."""

from discreet.query.engines.duckdb.engine import DuckDBEngine
from discreet.query.engines.duckdb.evaluate import check_written, evaluated
from discreet.query.engines.duckdb.made_up_tables import rehearsal
from discreet.query.engines.duckdb.source import Resources, connect

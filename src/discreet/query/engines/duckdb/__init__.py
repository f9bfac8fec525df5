"""DuckDB as an engine: private tables in, exact integer sums of bounded rows out."""

"""Exact audits: a law on neighbors, or on all small tables, against its claim."""

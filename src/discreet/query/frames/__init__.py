"""Frames as tables: what pandas, Polars and Arrow hold, read by declared types and kinds of columns."""

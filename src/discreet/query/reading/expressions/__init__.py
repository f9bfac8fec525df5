"""Expressions of SQL as ours: one rule for every kind of node and every function."""

from discreet.query.reading.expressions import dates, functions  # their rules join those of the reader
from discreet.query.reading.expressions.reader import LARGEST_EXPRESSION, Reader, number, refused

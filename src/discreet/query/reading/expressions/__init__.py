"""Expressions of SQL as ours: one rule for every kind of node and every function."""

from discreet.query.reading.expressions.functions import RULES
from discreet.query.reading.expressions.reader import LARGEST_EXPRESSION, Reader, number, refused

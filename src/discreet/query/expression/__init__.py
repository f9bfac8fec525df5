"""Expressions over the columns of a row: their types, literals and ranges, apart from any SQL text."""

from discreet.query.expression.expression import Apply, Column, Expression, Interval, Literal, Operation, Value
from discreet.query.expression.literals import DATE_FORM, TIMESTAMP_FORM, plain_value
from discreet.query.expression.types import Type
from discreet.query.expression.undeclared import TYPE, advice, declared_otherwise

"""Expressions over the columns of a row: their types, literals and ranges, apart from any SQL text."""

from discreet.frames import Type
from discreet.query.expression.expression import (
    PARTS_OF_DAYS,
    TRUNCATED_DAYS,
    TYPE,
    Apply,
    Column,
    Expression,
    Interval,
    Literal,
    Operation,
    Value,
    advice,
    declared_otherwise,
)
from discreet.query.expression.literals import DATE_FORM, TIMESTAMP_FORM, plain_value

"""Expressions over the columns of a row: their types, literals and ranges, apart from any SQL text."""

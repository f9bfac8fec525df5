"""Columns of data on a public grid: keys with their people, and how much of each person counts."""

from discreet.statistics.columns.even_sort import in_order, order, with_random_bits
from discreet.statistics.columns.fixed_point import FixedPoint, Totals, stated_bounds
from discreet.statistics.columns.keys import bounded_keys, distinct_table, key_codes
from discreet.statistics.columns.missing import Missing, replacement
from discreet.statistics.columns.person_rows import WEIGHT_UNIT, Rows, bounded, paired, row_weights, split

"""Columns of data: numbers, keys, units and how much of each person counts."""

from discreet.statistics.columns.contribution import WEIGHT_UNIT, Rows, bounded, paired, row_weights, split
from discreet.statistics.columns.even_sort import in_order, order, with_random_bits
from discreet.statistics.columns.fixed_point import FixedPoint, Totals, stated_bounds
from discreet.statistics.columns.key_form import Typed, key_form
from discreet.statistics.columns.keys import bounded_keys, distinct_table, key_codes
from discreet.statistics.columns.numbers import (
    Missing,
    frame_library,
    held_by_numpy,
    is_large,
    numbers,
    replacement,
    truths,
    unmasked,
)
from discreet.statistics.columns.unit_form import named
from discreet.statistics.columns.units import joint_codes, person_codes, unit_array

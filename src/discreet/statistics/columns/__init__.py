"""Columns of data: numbers, keys, units and how much of each person counts."""

from __future__ import annotations

from discreet.statistics.columns.contribution import WEIGHT_UNIT, Rows, paired, row_weights, split, stated_contribution
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

__all__ = [
    "WEIGHT_UNIT",
    "FixedPoint",
    "Missing",
    "Rows",
    "Totals",
    "Typed",
    "bounded_keys",
    "distinct_table",
    "frame_library",
    "held_by_numpy",
    "in_order",
    "is_large",
    "joint_codes",
    "key_codes",
    "key_form",
    "named",
    "numbers",
    "order",
    "paired",
    "person_codes",
    "replacement",
    "row_weights",
    "split",
    "stated_bounds",
    "stated_contribution",
    "truths",
    "unit_array",
    "unmasked",
    "with_random_bits",
]

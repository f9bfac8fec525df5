"""Where rows come from: tables, joins with public tables and along the unit, unions, rows for each unit, cohorts."""

from discreet.query.reading.sources.cohort_conditions import cohorts
from discreet.query.reading.sources.context import Context, Known
from discreet.query.reading.sources.from_list import ANSWERS, rows_of
from discreet.query.reading.sources.rows_of_units import groups_units, per_unit
from discreet.query.reading.sources.unions import union_all

"""Where rows come from: tables, joins with public tables and along the unit, unions, rows for each unit, cohorts."""

from discreet.query.reading.sources.cohorts import cohorts
from discreet.query.reading.sources.context import Context, Known
from discreet.query.reading.sources.from_list import ANSWERS, rows_of
from discreet.query.reading.sources.per_unit import groups_units, per_unit
from discreet.query.reading.sources.union_all import union_all

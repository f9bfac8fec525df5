"""What is made of an answer after the noise: a SELECT around it, windows, sums of its rows, order and number."""

from discreet.query.reading.answers.select_around import Released, around, numbered, orders, released
from discreet.query.reading.answers.sets_of_keys import check_totals, grouping_sets
from discreet.query.reading.answers.sums_of_rows import added_up
from discreet.query.reading.answers.unions import selects_of, together
from discreet.query.reading.answers.windows import Windows

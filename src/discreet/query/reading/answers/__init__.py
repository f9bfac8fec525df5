"""What is made of an answer after the noise: a SELECT around it, windows, sums of its rows, order and number."""

from discreet.query.reading.answers.added_up import added_up
from discreet.query.reading.answers.grouping_sets import check_totals, grouping_sets
from discreet.query.reading.answers.released import Released, around, numbered, orders, released
from discreet.query.reading.answers.together import selects_of, together
from discreet.query.reading.answers.windows import Windows

"""Reading SQL: from the text of a question to a plan, or to a refusal that says what to change."""

from discreet.query.reading.parse import LONGEST_TEXT  # first, because it says in words that sqlglot is missing
from discreet.query.reading.query import read_answers, read_query, views_of

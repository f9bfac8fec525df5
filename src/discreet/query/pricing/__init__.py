"""Pricing: what a query will cost and how far off it may be, before anything is charged."""

from discreet.query.pricing.explanation import Explanation, explain, explained_together
from discreet.query.pricing.measured import measurement_plans
from discreet.query.pricing.omissions import clipped, in_one_line, included, left_out
from discreet.query.pricing.price import cost_under, noise_of, nothing_spent, one_of, read_price, word_of
from discreet.query.pricing.priced_query import PricedQuery, as_released, fresh_digest, shown_unchanged
from discreet.query.pricing.release_price import price_under
from discreet.query.pricing.released_table import ReleasedTable, public_keys
from discreet.query.pricing.settling import priced

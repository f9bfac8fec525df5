"""The protocol: what a specification says, what a client sends, what an aggregator counts."""

from discreet.local.protocol.aggregator import Aggregator, sealed, unsealed
from discreet.local.protocol.client import Client, Randomizer, ReportBatch, listed_batches
from discreet.local.protocol.inputs import (
    Floats,
    Integers,
    array_or_none,
    checked_categories,
    checked_items,
    counted,
    frequency_of_people,
    is_integer,
    number_of_categories,
    number_of_people,
    one_entry_each,
    whole_within,
)
from discreet.local.protocol.rational_coin import COIN_TOTAL, Preference, local_epsilon, toss
from discreet.local.protocol.report_histogram import (
    LARGEST_TOTAL,
    check_room,
    checked_histogram,
    whole_or_none,
)
from discreet.local.protocol.spec import Spec, checked_spec

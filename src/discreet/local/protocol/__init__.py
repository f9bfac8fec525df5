"""The protocol: what a specification says, what a client sends, what an aggregator counts."""

from discreet.local.protocol.aggregator import Aggregator, Connection, sealed, unsealed
from discreet.local.protocol.client import Client, ReportBatch, listed_batches
from discreet.local.protocol.inputs import (
    Floats,
    Integers,
    array_or_none,
    checked_items,
    counted,
    domain_size,
    frequency_of_people,
    is_integer,
    listed_labels,
    number_of_people,
    one_entry_each,
    public_labels,
    whole_within,
)
from discreet.local.protocol.rational_coin import COIN_TOTAL, coin, local_epsilon, toss
from discreet.local.protocol.report_counts import (
    LARGEST_TOTAL,
    checked_histogram,
    counted_rows,
    counting_sql,
    whole_or_none,
)
from discreet.local.protocol.spec import Spec, checked_spec

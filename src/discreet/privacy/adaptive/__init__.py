"""Live sessions: budgets that hold when every release may depend on all earlier answers, its price included."""

from __future__ import annotations

from discreet.privacy.adaptive.filters import (
    ApproxFilter,
    Filter,
    GaussianFilter,
    Partition,
    PureFilter,
    RenyiFilter,
    ZCDPFilter,
    parallel,
    privacy_filter,
)
from discreet.privacy.adaptive.notions import Amounts, Books, books_for, root_down
from discreet.privacy.adaptive.odometer import Odometer
from discreet.privacy.adaptive.pricing import Batch
from discreet.privacy.adaptive.tally import Tally

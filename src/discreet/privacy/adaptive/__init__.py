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
from discreet.privacy.adaptive.pricing import Batch, charge_for
from discreet.privacy.adaptive.reserved import gaussian_beside, gaussian_with_delta
from discreet.privacy.adaptive.tally import Tally

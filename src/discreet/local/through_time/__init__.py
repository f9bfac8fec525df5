"""Reports through time: memoised answers and schedules, priced over a lifetime."""

from __future__ import annotations

from discreet.local.through_time.memoised import Beyond, MemoisedClient
from discreet.local.through_time.schedule import Lifetime, Schedule, lifetime

__all__ = ["Beyond", "Lifetime", "MemoisedClient", "Schedule", "lifetime"]

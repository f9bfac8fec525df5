"""Reports through time: memoised answers and schedules, priced over a lifetime."""

from discreet.local.through_time.memoised import Beyond, MemoisedClient
from discreet.local.through_time.schedule import Lifetime, Schedule, lifetime

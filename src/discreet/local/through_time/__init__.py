"""Reports through time: memoised answers and schedules, priced over a lifetime."""

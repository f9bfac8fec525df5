"""Shuffled reports: what the crowd adds to the privacy of each."""

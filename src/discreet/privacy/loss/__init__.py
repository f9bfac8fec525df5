"""Privacy losses: exact objects that compose, are sampled, and answer for epsilon and delta."""

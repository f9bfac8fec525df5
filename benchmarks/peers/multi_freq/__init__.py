"""multi_freq as a peer."""

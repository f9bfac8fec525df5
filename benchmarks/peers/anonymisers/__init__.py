"""anonymizers as a peer."""

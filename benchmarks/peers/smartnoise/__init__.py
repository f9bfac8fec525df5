"""smartnoise as a peer."""

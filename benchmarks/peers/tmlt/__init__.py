"""tmlt as a peer."""

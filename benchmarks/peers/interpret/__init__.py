"""interpret as a peer."""

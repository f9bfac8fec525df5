"""qrlew as a peer."""

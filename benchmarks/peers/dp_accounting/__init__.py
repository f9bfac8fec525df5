"""dp_accounting as a peer."""

"""opendp as a peer."""

"""pure_ldp as a peer."""

"""ortools as a peer."""

"""diffprivlib as a peer."""

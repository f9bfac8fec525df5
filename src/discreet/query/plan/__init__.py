"""The plan of a query: what is summed over which rows and keys, in one canonical form with one digest."""

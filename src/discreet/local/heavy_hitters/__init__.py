"""Heavy hitters: frequent values of a domain that is too large to list."""

"""Records of releases: a loss as plain text that can be stored, read and replayed."""

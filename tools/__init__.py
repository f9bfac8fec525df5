"""What keeps the repository consistent: generated pages, executed examples, evidence, the lock."""

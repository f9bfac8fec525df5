"""Engines: leaves that run a plan's integer sums on one kind of database each."""

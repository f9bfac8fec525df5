"""Peers, each run by its own interpreter in a process of its own."""

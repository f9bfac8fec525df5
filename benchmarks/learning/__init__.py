"""Benchmarks of private learning."""

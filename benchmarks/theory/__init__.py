"""Benchmarks of the theory of learning: PAC, generalization, holdouts, search, attacks on models."""

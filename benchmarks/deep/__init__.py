"""Benchmarks of private deep learning: models, speed, memory."""

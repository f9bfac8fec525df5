"""Noisy answers to the workload itself, made consistent afterwards."""

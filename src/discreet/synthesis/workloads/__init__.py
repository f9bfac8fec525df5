"""Workloads: families of counting queries over a domain, and how fast they are evaluated."""

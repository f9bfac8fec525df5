"""Exhibits of sparse vector: verdicts, values, and two algorithms side by side."""

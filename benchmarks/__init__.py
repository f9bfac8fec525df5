"""Benchmarks: each room beside its peers, in the same run; `python -m benchmarks.ROOM.run`."""

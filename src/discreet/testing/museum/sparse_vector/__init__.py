"""Exhibits of sparse vector: verdicts, values, and two algorithms side by side."""

from __future__ import annotations

from discreet.testing.museum.sparse_vector.combined import NumericalSparseVector, SparseVectorParallel
from discreet.testing.museum.sparse_vector.values import SparseVectorValues
from discreet.testing.museum.sparse_vector.verdicts import (
    SparseVector,
    SparseVectorMisscaled,
    SparseVectorNoiseless,
    SparseVectorRedrawn,
    SparseVectorUnlimited,
)

__all__ = [
    "NumericalSparseVector",
    "SparseVector",
    "SparseVectorMisscaled",
    "SparseVectorNoiseless",
    "SparseVectorParallel",
    "SparseVectorRedrawn",
    "SparseVectorUnlimited",
    "SparseVectorValues",
]

"""Exhibits of sparse vector: verdicts, values, and two algorithms side by side."""

from discreet.testing.museum.sparse_vector.combined import NumericalSparseVector, SparseVectorParallel
from discreet.testing.museum.sparse_vector.values import SparseVectorValues
from discreet.testing.museum.sparse_vector.verdicts import (
    SparseVector,
    SparseVectorMisscaled,
    SparseVectorNoiseless,
    SparseVectorRedrawn,
    SparseVectorUnlimited,
)

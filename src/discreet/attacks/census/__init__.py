"""Reconstruction of census blocks from published tables."""

from __future__ import annotations

from discreet.attacks.census.census import BlockReconstruction, reconstruct_block
from discreet.attacks.census.tables import COUNTED_IN, Statement, block_tables, counted, noised_block_tables

__all__ = [
    "COUNTED_IN",
    "BlockReconstruction",
    "Statement",
    "block_tables",
    "counted",
    "noised_block_tables",
    "reconstruct_block",
]

"""Reconstruction of census blocks from published tables."""

from discreet.attacks.census.census import BlockReconstruction, reconstruct_block
from discreet.attacks.census.tables import COUNTED_IN, PublishedFact, block_tables, counted, noised_block_tables

"""Values that are not numbered: keys, public hashing, sketches."""

from __future__ import annotations

from discreet.local.keys.hashed_geometry import LARGEST_SKETCH, HashedGeometry, KeyOracle
from discreet.local.keys.hashing import PublicHash, Scramble, Words, constant, public_seed
from discreet.local.keys.keys import BytesKeys, IntegerKeys, Keys, TextKeys
from discreet.local.keys.sketch import Sketch

__all__ = [
    "LARGEST_SKETCH",
    "BytesKeys",
    "HashedGeometry",
    "IntegerKeys",
    "KeyOracle",
    "Keys",
    "PublicHash",
    "Scramble",
    "Sketch",
    "TextKeys",
    "Words",
    "constant",
    "public_seed",
]

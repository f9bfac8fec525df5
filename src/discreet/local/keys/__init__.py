"""Values that are not numbered: keys, public hashing, sketches."""

from discreet.local.keys.hashed_geometry import LARGEST_SKETCH, HashedGeometry, KeyOracle
from discreet.local.keys.hashing import PublicHash, Scramble, Words, constant, public_seed
from discreet.local.keys.keys import BytesKeys, IntegerKeys, Keys, TextKeys
from discreet.local.keys.sketch import Sketch

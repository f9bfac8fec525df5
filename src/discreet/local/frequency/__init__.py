"""Frequency protocols over a public list of values."""

from discreet.local.frequency.blocks import HybridGeometry
from discreet.local.frequency.direct_response import DirectResponse
from discreet.local.frequency.geometry import Geometry
from discreet.local.frequency.hadamard import OneBitClient, OneBitHadamard, parity
from discreet.local.frequency.oracle import CategoricalOracle, FrequencyOracle, PureOracle
from discreet.local.frequency.projective import LARGEST_TABLE, ProjectiveGeometry, value_points

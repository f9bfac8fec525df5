"""The local model: each person randomises their own report, and nobody needs to be trusted."""

from __future__ import annotations

from discreet.local.estimates.frequencies import Frequencies
from discreet.local.estimates.intervals import Intervals
from discreet.local.frequency.blocks import HybridGeometry
from discreet.local.frequency.direct_response import DirectResponse
from discreet.local.frequency.geometry import Geometry
from discreet.local.frequency.hadamard import OneBitClient, OneBitHadamard
from discreet.local.frequency.projective import ProjectiveGeometry
from discreet.local.heavy_hitters.protocol import HeavyHitters
from discreet.local.heavy_hitters.result import Hitters
from discreet.local.keys.hashed_geometry import HashedGeometry
from discreet.local.keys.hashing import PublicHash, Scramble
from discreet.local.keys.keys import BytesKeys, IntegerKeys, Keys, TextKeys
from discreet.local.keys.sketch import Sketch
from discreet.local.means.one_bit_and_hybrid import DuchiBit, HybridMean
from discreet.local.means.result import LocalMean
from discreet.local.means.scalar_mean import MeanRandomizer, ScalarMean
from discreet.local.planning.candidate import Candidate
from discreet.local.planning.design import Design, design
from discreet.local.planning.simulation import SimulatedError, Simulation, simulate
from discreet.local.protocol.aggregator import Aggregator
from discreet.local.protocol.batch import Batch
from discreet.local.protocol.client import Client
from discreet.local.protocol.oracle import Oracle, Randomizer
from discreet.local.protocol.spec import Spec
from discreet.local.shuffling.shuffled import Shuffled
from discreet.local.through_time.memoised import Beyond, MemoisedClient
from discreet.local.through_time.schedule import Lifetime, Schedule, lifetime
from discreet.local.vectors.aggregator import VectorAggregator
from discreet.local.vectors.result import VectorMean
from discreet.local.vectors.unit_vectors import UnitVectors

__all__ = [
    "Aggregator",
    "Batch",
    "Beyond",
    "BytesKeys",
    "Candidate",
    "Client",
    "Design",
    "DirectResponse",
    "DuchiBit",
    "Frequencies",
    "Geometry",
    "HashedGeometry",
    "HeavyHitters",
    "Hitters",
    "HybridGeometry",
    "HybridMean",
    "IntegerKeys",
    "Intervals",
    "Keys",
    "Lifetime",
    "LocalMean",
    "MeanRandomizer",
    "MemoisedClient",
    "OneBitClient",
    "OneBitHadamard",
    "Oracle",
    "ProjectiveGeometry",
    "PublicHash",
    "Randomizer",
    "ScalarMean",
    "Schedule",
    "Scramble",
    "Shuffled",
    "SimulatedError",
    "Simulation",
    "Sketch",
    "Spec",
    "TextKeys",
    "UnitVectors",
    "VectorAggregator",
    "VectorMean",
    "design",
    "lifetime",
    "simulate",
]


def __dir__() -> list[str]:
    """Name what is public, for completion."""
    return sorted(__all__)

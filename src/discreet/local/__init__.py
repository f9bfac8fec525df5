"""The local model: each person randomises their own report, and nobody needs to be trusted."""

from __future__ import annotations

from discreet.local.aggregator import Aggregator
from discreet.local.batch import Batch
from discreet.local.candidate import Candidate
from discreet.local.client import Client
from discreet.local.design import Design, design
from discreet.local.duchi_bit import DuchiBit
from discreet.local.frequencies import Frequencies
from discreet.local.geometry import Geometry
from discreet.local.hadamard import OneBitClient, OneBitHadamard
from discreet.local.hashed_geometry import HashedGeometry
from discreet.local.hashing import PublicHash, Scramble
from discreet.local.heavy_hitters import HeavyHitters
from discreet.local.heavy_hitters_result import Hitters
from discreet.local.hybrid_geometry import HybridGeometry
from discreet.local.hybrid_mean import HybridMean
from discreet.local.intervals import Intervals
from discreet.local.keys import BytesKeys, IntegerKeys, Keys, TextKeys
from discreet.local.mean_randomizer import MeanRandomizer
from discreet.local.mean_result import LocalMean
from discreet.local.memoised import Beyond, MemoisedClient
from discreet.local.oracle import Oracle
from discreet.local.projective_geometry import ProjectiveGeometry
from discreet.local.randomized_response import DirectResponse
from discreet.local.randomizer import Randomizer
from discreet.local.scalar_mean import ScalarMean
from discreet.local.schedule import Lifetime, Schedule, lifetime
from discreet.local.shuffle import Shuffled
from discreet.local.simulation import SimulatedError, Simulation, simulate
from discreet.local.sketch import Sketch
from discreet.local.spec import Spec
from discreet.local.unit_vectors import UnitVectors
from discreet.local.vector_aggregator import VectorAggregator
from discreet.local.vector_mean import VectorMean

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

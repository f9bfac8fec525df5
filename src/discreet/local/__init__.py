"""The local model: each person randomizes their own report, and nobody needs to be trusted."""

from discreet._optional import listing
from discreet.local.estimates import Frequencies, Intervals
from discreet.local.frequency import (
    DirectResponse,
    FrequencyOracle,
    Geometry,
    HybridGeometry,
    OneBitClient,
    OneBitHadamard,
    ProjectiveGeometry,
)
from discreet.local.heavy_hitters import HeavyHitters, Hitters
from discreet.local.keys import BytesKeys, HashedGeometry, IntegerKeys, Keys, PublicHash, Scramble, Sketch, TextKeys
from discreet.local.means import (
    DuchiBit,
    HybridMean,
    LocalMean,
    ScalarMean,
    UnitVectors,
    VectorAggregator,
    VectorMean,
)
from discreet.local.planning import Design, DesignChoice, SimulatedError, Simulation, design, simulate
from discreet.local.protocol import Aggregator, Client, Randomizer, ReportBatch, Spec
from discreet.local.shuffling import Shuffled
from discreet.local.through_time import Beyond, Lifetime, MemoizedClient, Schedule, lifetime

__all__ = [
    "Aggregator",
    "Beyond",
    "BytesKeys",
    "Client",
    "Design",
    "DesignChoice",
    "DirectResponse",
    "DuchiBit",
    "Frequencies",
    "FrequencyOracle",
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
    "MemoizedClient",
    "OneBitClient",
    "OneBitHadamard",
    "ProjectiveGeometry",
    "PublicHash",
    "Randomizer",
    "ReportBatch",
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
__dir__ = listing("discreet.local")

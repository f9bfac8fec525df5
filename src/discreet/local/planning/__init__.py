"""Planning a collection: which protocol, how many people, what error, by law and by simulation."""

from __future__ import annotations

from discreet.local.planning.candidate import Candidate
from discreet.local.planning.design import Design, design
from discreet.local.planning.simulation import SimulatedError, Simulation, simulate

__all__ = ["Candidate", "Design", "SimulatedError", "Simulation", "design", "simulate"]

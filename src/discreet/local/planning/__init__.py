"""Planning a collection: which protocol, how many people, what error, by law and by simulation."""

from discreet.local.planning.designs import Design, DesignChoice, design
from discreet.local.planning.simulation import SimulatedError, Simulation, simulate

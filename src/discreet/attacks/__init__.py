"""The adversary: attacks that succeed on plain answers, and the ceiling that a price sets for all of them."""

# ruff: noqa: F403, F405  the package file of each floor lists what the floor offers; `__all__` says what is public

from typing import TYPE_CHECKING

from discreet._optional import listing, loader

if TYPE_CHECKING:
    from discreet.attacks.asking import *
    from discreet.attacks.ceilings import Flip, ceiling
    from discreet.attacks.census import (
        BlockReconstruction,
        PublishedFact,
        block_tables,
        noised_block_tables,
        reconstruct_block,
    )
    from discreet.attacks.isolating import *
    from discreet.attacks.law_map import LawMap, LawRegion, fundamental_law, reconstruction_line, tracing_line
    from discreet.attacks.linking import *
    from discreet.attacks.reconstructing import *
    from discreet.attacks.tracing import *

__all__ = [
    "AllSubsets",
    "Ask",
    "AttackQueries",
    "AttackedRelease",
    "Averaging",
    "BestMatch",
    "BlockReconstruction",
    "Boxes",
    "Characters",
    "Charged",
    "Conjunctions",
    "CountingQueries",
    "Curse",
    "Differencing",
    "Exposure",
    "FitDistance",
    "Flip",
    "Identification",
    "Identified",
    "LawMap",
    "LawRegion",
    "Linkage",
    "MatchRule",
    "Membership",
    "MembershipScore",
    "MinimumSize",
    "NoiseShape",
    "ParityQuestion",
    "PrivateFrequencies",
    "Publish",
    "PublishedFact",
    "RandomSubsets",
    "Reconstruction",
    "Rounded",
    "Run",
    "Scoreboard",
    "Solver",
    "StickyNoise",
    "SubsetQueries",
    "TableLinkage",
    "TableMembership",
    "TracingStatistic",
    "Uniques",
    "Weighing",
    "Wording",
    "advantage_ceiling",
    "area_ceiling",
    "area_ceiling_of",
    "attack_queries",
    "averaging",
    "block_tables",
    "ceiling",
    "certain_fraction",
    "chance_of_one_left",
    "curse",
    "difference",
    "difference_chance",
    "differencing",
    "exact_answers",
    "exactly",
    "exhaustive",
    "expected_candidates",
    "expected_fraction",
    "expected_side",
    "expected_uniques",
    "expected_wrong",
    "fourier",
    "from_marginals",
    "fundamental_law",
    "garbage",
    "gaussian_mu",
    "gaussian_noise",
    "homogeneity",
    "identify",
    "intersection",
    "least_eigenvalue",
    "least_side",
    "least_squares",
    "linear_program",
    "link",
    "link_synthetic",
    "malicious_noise",
    "membership",
    "mondrian",
    "noised_block_tables",
    "noisy_answers",
    "noisy_run",
    "random_least_squares",
    "reconstruct_block",
    "reconstruction_line",
    "recovered_fraction",
    "rephrasings",
    "robust_fourier",
    "session_answers",
    "sign_noise",
    "spellings",
    "splits",
    "sql_answers",
    "table_membership",
    "thresholds",
    "tracing_line",
    "tracker",
    "uniform_noise",
    "uniques",
]

_FLOORS = ("ceilings", "asking", "linking", "isolating", "census", "reconstructing", "tracing", "law_map")

# an attack loads its floor and those before it, the light ones first: linkage does not need the linear programs
__getattr__ = loader("discreet.attacks", rooms=_FLOORS, names=__all__, of=_FLOORS)

__dir__ = listing("discreet.attacks")

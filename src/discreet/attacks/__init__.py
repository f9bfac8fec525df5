"""The adversary: attacks that succeed on plain answers, and the ceiling that a price sets for all of them."""

from __future__ import annotations

from discreet.attacks.asking.counting import CountingQueries
from discreet.attacks.asking.noise import garbage, gaussian_noise, malicious_noise, sign_noise, uniform_noise
from discreet.attacks.asking.targets import (
    Ask,
    Charged,
    Run,
    exact_answers,
    noisy_answers,
    noisy_run,
    session_answers,
    sql_answers,
)
from discreet.attacks.ceiling import Flip, ceiling
from discreet.attacks.census.census import BlockReconstruction, reconstruct_block
from discreet.attacks.census.tables import Statement, block_tables, noised_block_tables
from discreet.attacks.isolating.averaging import (
    Averaging,
    Wording,
    averaging,
    rephrasings,
    spellings,
    splits,
    thresholds,
)
from discreet.attacks.isolating.differencing import Differencing, difference, difference_chance, differencing
from discreet.attacks.isolating.sticky import Shape, StickyNoise
from discreet.attacks.isolating.trackers import MinimumSize, tracker
from discreet.attacks.law_map import LawMap, Region, fundamental_law, reconstruction_line, tracing_line
from discreet.attacks.linking.anonymity import Exposure, Release, chance_of_one_left, homogeneity, intersection
from discreet.attacks.linking.curse import Curse, curse, expected_side, least_side
from discreet.attacks.linking.linkage import Linkage, MatchRule, expected_wrong, link
from discreet.attacks.linking.mondrian import Boxes, mondrian
from discreet.attacks.linking.ratings import (
    Candidate,
    Identification,
    Identified,
    Scoreboard,
    expected_candidates,
    identify,
)
from discreet.attacks.linking.uniques import Uniques, expected_uniques, uniques
from discreet.attacks.reconstructing.certainty import certain_share, least_eigenvalue
from discreet.attacks.reconstructing.characters import Characters
from discreet.attacks.reconstructing.exhaustive import exhaustive
from discreet.attacks.reconstructing.fourier import fourier, recovered_share, robust_fourier
from discreet.attacks.reconstructing.least_squares import Solver, least_squares, random_least_squares
from discreet.attacks.reconstructing.linear_program import linear_program
from discreet.attacks.reconstructing.marginals import Conjunctions, Fit, from_marginals
from discreet.attacks.reconstructing.result import Reconstruction
from discreet.attacks.reconstructing.subsets import AllSubsets, RandomSubsets, SubsetQueries
from discreet.attacks.reconstructing.weighing import (
    AttackQueries,
    Question,
    Weighing,
    attack_queries,
    expected_fraction,
)
from discreet.attacks.tracing.membership import Statistic, area_ceiling, membership
from discreet.attacks.tracing.publishing import PrivateFrequencies, Publish, Rounded, exactly, gaussian_mu
from discreet.attacks.tracing.result import Membership
from discreet.attacks.tracing.synthetic import (
    Score,
    TableLinkage,
    TableMembership,
    advantage_ceiling,
    area_ceiling_of,
    link_synthetic,
    table_membership,
)

__all__ = [
    "AllSubsets",
    "Ask",
    "AttackQueries",
    "Averaging",
    "BlockReconstruction",
    "Boxes",
    "Candidate",
    "Characters",
    "Charged",
    "Conjunctions",
    "CountingQueries",
    "Curse",
    "Differencing",
    "Exposure",
    "Fit",
    "Flip",
    "Identification",
    "Identified",
    "LawMap",
    "Linkage",
    "MatchRule",
    "Membership",
    "MinimumSize",
    "PrivateFrequencies",
    "Publish",
    "Question",
    "RandomSubsets",
    "Reconstruction",
    "Region",
    "Release",
    "Rounded",
    "Run",
    "Score",
    "Scoreboard",
    "Shape",
    "Solver",
    "Statement",
    "Statistic",
    "StickyNoise",
    "SubsetQueries",
    "TableLinkage",
    "TableMembership",
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
    "certain_share",
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
    "recovered_share",
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

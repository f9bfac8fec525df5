"""The adversary: attacks that succeed on plain answers, and the ceiling that a price sets for all of them."""

from __future__ import annotations

from discreet.attacks.anonymity import Exposure, Release, homogeneity, intersection
from discreet.attacks.averaging import Averaging, averaging
from discreet.attacks.candidates import chance_of_one_left
from discreet.attacks.ceiling import Flip, ceiling
from discreet.attacks.census import BlockReconstruction, reconstruct_block
from discreet.attacks.census_tables import Statement, block_tables, noised_block_tables
from discreet.attacks.certainty import certain_share, least_eigenvalue
from discreet.attacks.characters import Characters
from discreet.attacks.counting import CountingQueries
from discreet.attacks.curse import Curse, curse, expected_side, least_side
from discreet.attacks.differencing import Differencing, difference, difference_chance, differencing
from discreet.attacks.exhaustive import exhaustive
from discreet.attacks.fourier import fourier, recovered_share
from discreet.attacks.fundamental_law import LawMap, Region, fundamental_law, reconstruction_line, tracing_line
from discreet.attacks.least_squares import least_squares
from discreet.attacks.linear_program import linear_program
from discreet.attacks.linkage import Linkage, MatchRule, expected_wrong, link
from discreet.attacks.marginals import Conjunctions, Fit, from_marginals
from discreet.attacks.membership import Statistic, area_ceiling, membership
from discreet.attacks.membership_result import Membership
from discreet.attacks.mondrian import Boxes, mondrian
from discreet.attacks.noise import garbage, gaussian_noise, malicious_noise, sign_noise, uniform_noise
from discreet.attacks.publishing import PrivateFrequencies, Publish, Rounded, exactly, gaussian_mu
from discreet.attacks.questions import AttackQueries, attack_queries
from discreet.attacks.random_least_squares import Solver, random_least_squares
from discreet.attacks.ratings import Identification, Identified, expected_candidates, identify
from discreet.attacks.reconstruction import Reconstruction
from discreet.attacks.rephrasing import Wording, rephrasings, spellings, splits, thresholds
from discreet.attacks.robust_fourier import robust_fourier
from discreet.attacks.running import Charged, Run, noisy_run
from discreet.attacks.scoreboard import Candidate, Scoreboard
from discreet.attacks.sticky import Shape, StickyNoise
from discreet.attacks.subsets import AllSubsets, RandomSubsets, SubsetQueries
from discreet.attacks.synthetic import (
    Score,
    TableLinkage,
    TableMembership,
    advantage_ceiling,
    area_ceiling_of,
    link_synthetic,
    table_membership,
)
from discreet.attacks.targets import Ask, exact_answers, noisy_answers, session_answers, sql_answers
from discreet.attacks.trackers import MinimumSize, tracker
from discreet.attacks.uniques import Uniques, expected_uniques, uniques
from discreet.attacks.weighing import Question, Weighing, expected_fraction

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

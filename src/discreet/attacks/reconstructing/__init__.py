"""Reconstruction: a secret column from many answers about it."""

from discreet.attacks.reconstructing.certainty import certain_fraction, least_eigenvalue
from discreet.attacks.reconstructing.exhaustive_search import exhaustive
from discreet.attacks.reconstructing.fourier_attack import Characters, fourier, recovered_fraction, robust_fourier
from discreet.attacks.reconstructing.least_squares_attack import Solver, least_squares, random_least_squares
from discreet.attacks.reconstructing.linear_program_attack import linear_program
from discreet.attacks.reconstructing.marginals import Conjunctions, FitDistance, from_marginals
from discreet.attacks.reconstructing.result import Reconstruction
from discreet.attacks.reconstructing.subsets import AllSubsets, RandomSubsets, SubsetQueries
from discreet.attacks.reconstructing.weighing import (
    AttackQueries,
    ParityQuestion,
    Weighing,
    attack_queries,
    expected_fraction,
)

"""The museum of mechanisms, right and broken: each with its guarantee, its exact law, and the verdict due."""

from __future__ import annotations

from discreet._optional import listing
from discreet.errors import ParameterError
from discreet.testing.museum import (
    answers,
    budgets,
    estimators,
    floating_noise,
    gaussians,
    histograms,
    learners,
    maximum,
    sensitivities,
    sparse_vector,
    trainings,
)
from discreet.testing.museum.exhibit import Exhibit, Label

__all__ = ["MUSEUM", "Exhibit", "Label", "benchmark", "exhibit_named", "faults", "sparse_vectors"]

__dir__ = listing("discreet.testing.museum")


def benchmark() -> tuple[Exhibit, ...]:
    """Return the twenty mechanisms of a published benchmark, in its order.

    Reference. Bichsel, Steffen, Bogunovic, Vechev 2021.

    >>> len(benchmark())
    20
    """
    return (
        histograms.LaplaceNoise(),
        histograms.GeometricFromWeights(),
        histograms.NoisyHistogram(),
        histograms.NoisyHistogramInverted(),
        maximum.NoisyMaximum(),
        maximum.NoisyMaximumExponential(),
        maximum.NoisyMaximumValue(),
        maximum.NoisyMaximumValueExponential(),
        *sparse_vectors(),
        answers.Rappor(),
        answers.OneTimeRappor(),
        histograms.LaplaceParallel(),
        sparse_vector.SparseVectorParallel(),
        histograms.PrefixSum(),
        sparse_vector.NumericalSparseVector(),
    )


def sparse_vectors() -> tuple[Exhibit, ...]:
    """Return the six published sparse-vector algorithms, of which the first two are right.

    Reference. Lyu, Su, Li 2017.
    """
    return (
        sparse_vector.SparseVector(),
        sparse_vector.SparseVectorRedrawn(),
        sparse_vector.SparseVectorValues(),
        sparse_vector.SparseVectorMisscaled(),
        sparse_vector.SparseVectorNoiseless(),
        sparse_vector.SparseVectorUnlimited(),
    )


def faults() -> tuple[Exhibit, ...]:
    """Return the faults that people make, each beside a mechanism that does it right."""
    return (
        floating_noise.FloatingLaplace(),
        floating_noise.InvertedLaplace(),
        maximum.GapByFraction(),
        maximum.GapByIndex(),
        sensitivities.ClampedSum(),
        sensitivities.SumOfCounts(),
        sensitivities.RoundedHalfEven(),
        sensitivities.VarianceOfTheOtherForm(),
        sensitivities.ClampedToData(),
        budgets.SplitBudget(),
        budgets.UnsplitBudget(),
        budgets.NoiseDrawnOnce(),
        budgets.FixedSeed(),
        budgets.UniformNoise(),
        answers.TwoCoins(),
        answers.YesIsNeverFlipped(),
        answers.ExactThreshold(),
        gaussians.IntegerGaussian(),
        gaussians.IntegerGaussianByTheContinuousFormula(),
        gaussians.ShuffledBatches(),
        estimators.TwoMoments(),
        estimators.BoundUsedTwice(),
        estimators.PublicDivisor(),
        estimators.RowsCounted(),
        estimators.DeclaredClasses(),
        estimators.ClassesSeen(),
        estimators.ScoresOfRows(),
        estimators.ScoresByBlocks(),
        learners.ClippedPeople(),
        learners.ClippedRows(),
        learners.HitsCounted(),
        learners.HitsUncounted(),
        learners.ThresholdReused(),
        learners.HiddenRuns(),
        learners.RevealedRuns(),
        learners.Elimination(),
        learners.EliminationTwiceAsFast(),
        trainings.ClippedStep(),
        trainings.HalfNoise(),
        trainings.ClippedAfterSum(),
        trainings.BatchNormalized(),
        trainings.NoiseReused(),
        trainings.BatchCounted(),
    )


MUSEUM: tuple[Exhibit, ...] = (*benchmark(), *faults())
"""Every exhibit: the benchmark's, then the faults."""


def exhibit_named(name: str) -> Exhibit:
    """Return the exhibit of the museum that has this name on its label; capitals do not matter.

    >>> exhibit_named("SVT4")
    <Exhibit SVT4: guarantees 0.1-DP>
    """
    for exhibit in MUSEUM:
        if isinstance(name, str) and exhibit.label.name.casefold() == name.casefold():
            return exhibit
    names = ", ".join(exhibit.label.name for exhibit in MUSEUM)
    raise ParameterError(f"the museum has no exhibit {name!r}; it has {names}", parameter="name")

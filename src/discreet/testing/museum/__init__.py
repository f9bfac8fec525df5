"""The museum of mechanisms, right and broken: each with its guarantee, its exact law, and the verdict due."""

from __future__ import annotations

from discreet._optional import listing
from discreet.errors import ParameterError
from discreet.testing.museum.answers import ExactThreshold, OneTimeRappor, Rappor, TwoCoins, YesIsNeverFlipped
from discreet.testing.museum.budgets import FixedSeed, NoiseDrawnOnce, SplitBudget, UniformNoise, UnsplitBudget
from discreet.testing.museum.exhibit import Exhibit, Label
from discreet.testing.museum.floating_noise import FloatingLaplace, InvertedLaplace
from discreet.testing.museum.gaussians import (
    IntegerGaussian,
    IntegerGaussianByTheContinuousFormula,
    ShuffledBatches,
)
from discreet.testing.museum.histograms import (
    GeometricFromWeights,
    LaplaceNoise,
    LaplaceParallel,
    NoisyHistogram,
    NoisyHistogramInverted,
    PrefixSum,
)
from discreet.testing.museum.maximum import (
    GapByFraction,
    GapByIndex,
    NoisyMaximum,
    NoisyMaximumExponential,
    NoisyMaximumValue,
    NoisyMaximumValueExponential,
)
from discreet.testing.museum.sensitivities import (
    ClampedSum,
    ClampedToData,
    RoundedHalfEven,
    SumOfCounts,
    VarianceOfTheOtherForm,
)
from discreet.testing.museum.sparse_vector import (
    NumericalSparseVector,
    SparseVector,
    SparseVectorMisscaled,
    SparseVectorNoiseless,
    SparseVectorParallel,
    SparseVectorRedrawn,
    SparseVectorUnlimited,
    SparseVectorValues,
)

__all__ = ["MUSEUM", "Exhibit", "Label", "benchmark", "exhibit_named", "faults", "sparse_vectors"]

__dir__ = listing("discreet.testing.museum")


def benchmark() -> tuple[Exhibit, ...]:
    """Return the twenty mechanisms of a published benchmark, in its order.

    Reference. Bichsel, Steffen, Bogunovic, Vechev 2021.

    >>> len(benchmark())
    20
    """
    return (
        LaplaceNoise(),
        GeometricFromWeights(),
        NoisyHistogram(),
        NoisyHistogramInverted(),
        NoisyMaximum(),
        NoisyMaximumExponential(),
        NoisyMaximumValue(),
        NoisyMaximumValueExponential(),
        *sparse_vectors(),
        Rappor(),
        OneTimeRappor(),
        LaplaceParallel(),
        SparseVectorParallel(),
        PrefixSum(),
        NumericalSparseVector(),
    )


def sparse_vectors() -> tuple[Exhibit, ...]:
    """Return the six published sparse-vector algorithms, of which the first two are right.

    Reference. Lyu, Su, Li 2017.
    """
    return (
        SparseVector(),
        SparseVectorRedrawn(),
        SparseVectorValues(),
        SparseVectorMisscaled(),
        SparseVectorNoiseless(),
        SparseVectorUnlimited(),
    )


def faults() -> tuple[Exhibit, ...]:
    """Return the faults that people make, each beside a mechanism that does it right."""
    return (
        FloatingLaplace(),
        InvertedLaplace(),
        GapByFraction(),
        GapByIndex(),
        ClampedSum(),
        SumOfCounts(),
        RoundedHalfEven(),
        VarianceOfTheOtherForm(),
        ClampedToData(),
        SplitBudget(),
        UnsplitBudget(),
        NoiseDrawnOnce(),
        FixedSeed(),
        UniformNoise(),
        TwoCoins(),
        YesIsNeverFlipped(),
        ExactThreshold(),
        IntegerGaussian(),
        IntegerGaussianByTheContinuousFormula(),
        ShuffledBatches(),
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

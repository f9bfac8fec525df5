"""What was released, read for inference: distinct measurements, and which of them share latent counts."""

from discreet.bayes.evidence.by_hand import noisy_counts
from discreet.bayes.evidence.cells import (
    ALL,
    OTHER,
    LatentCounts,
    Observation,
    counting,
    latent_counts,
    planned_counts,
)
from discreet.bayes.evidence.reading import distinct_measurements

"""One-run audits of deep trainings: how often honest ones stay open, and how often less noise is refuted.

Every count is of 100 trainings of one small network, audited each by itself with 1,000 canaries in a test of size 1 %,
against the whole curve of the plan; the numbers of guesses were fixed beforehand. The planted faults of the museum
follow, each with what its audit says. `python -m benchmarks.deep.audit`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

import torch

from benchmarks.common.bars import Bar, run, section
from discreet.attacks import NetworkTraining, audit_network
from discreet.audit import Outcome, audit
from discreet.learning.deep.plan import BatchSampler, Clip, FullBatch, Independent, Plan, PoissonBatches
from discreet.privacy import Relation
from discreet.testing.museum import exhibit_named

RUNS, CANARIES, CONFIDENCE, DELTA, STEPS = 100, 1000, 0.99, 1e-5, 10
_GUESSES = {1: 200, 4: 600}
_PLANTED = ("HalfNoise", "BatchCounted", "ShuffledBatches", "BatchNormalized", "NoiseReused", "ClippedAfterSum")


@dataclass(frozen=True)
class Audited:
    """A training with a part of the noise that it claims, and the least number of verdicts as they should be."""

    epsilon: int
    sampler: BatchSampler
    noise: Fraction
    least: int | None

    def bar(self) -> Bar:
        """Audit as many trainings as there are runs."""
        claim = Plan.for_target(
            epsilon=self.epsilon, delta=DELTA, sampler=self.sampler, clip=Clip(1.0), steps=STEPS, unit="row",
            relation=Relation.ADD_REMOVE, divisor=500, noise=Independent,
        )  # fmt: skip
        training = NetworkTraining(replace(claim, noise=Independent(Fraction(claim.noise.scale) * self.noise)))
        refuted = sum(self._refuted(training, claim) for _ in range(RUNS))
        honest = self.noise == 1
        count, word = (RUNS - refuted, "open") if honest else (refuted, "refuted")
        what = (
            f"{self.sampler.name}, epsilon {self.epsilon}, {self.noise} of the noise, {_GUESSES[self.epsilon]} guesses"
        )
        wanted = None if self.least is None else count >= self.least
        return Bar(what, f"{word} {count} of {RUNS}", "" if self.least is None else f">= {self.least}", wanted)

    def _refuted(self, training: NetworkTraining, claim: Plan) -> bool:
        return audit_network(
            training, canaries=CANARIES, guesses=_GUESSES[self.epsilon], delta=DELTA, confidence=CONFIDENCE,
            guarantee=claim.loss,
        ).refuted  # fmt: skip


def trainings() -> Iterator[Bar]:
    """Audit honest trainings, and those with a quarter or half of their noise."""
    for sampler in (FullBatch(most_people=4096), PoissonBatches(rate=0.5, most_people=4096)):
        for epsilon in _GUESSES:
            for noise, least in ((Fraction(1), 95), (Fraction(1, 4), 90), (Fraction(1, 2), None)):
                yield Audited(epsilon, sampler, noise, least).bar()


def planted() -> Iterator[Bar]:
    """Audit the planted faults of trainings by their exact laws."""
    for name in _PLANTED:
        exhibit = exhibit_named(name)
        found = audit(exhibit, level=exhibit.label.level, search=0)
        measured = f"{found.outcome.name.lower()}: epsilon at least {found.low:.3f}"
        yield Bar(name, measured, "refuted", found.outcome is Outcome.REFUTED)


if __name__ == "__main__":
    torch.set_num_threads(1)
    sections = {name: section(__spec__.name, name) for name in ("trainings", "planted")}
    sys.exit(run(sections, page="bench-deep-audit", title="Audits of deep trainings", document=__doc__ or ""))

"""One-run audits of deep trainings: how often honest ones stay open, and how often less noise is refuted.

Every count is of 100 trainings of one small network, audited each by itself in a test of size 1 % against the whole
curve of the plan. With 1,000 canaries the guesses are those that the notes on deep learning name. With 4,096 they were
picked after looking at three trainings with half their noise at each epsilon, with six numbers of guesses each; those
trainings are not among the ones that are counted. Half the noise is shown with both, as 1,000 canaries hardly ever see
it. The planted faults of the museum follow, each with what its audit says. `python -m benchmarks.deep.audit`.
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

RUNS, CONFIDENCE, DELTA, STEPS = 100, 0.99, 1e-5, 10
_GUESSES = {1000: {1: 200, 4: 600}, 4096: {1: 400, 4: 800}}  # by canaries and epsilon
_PLANTED = ("HalfNoise", "BatchCounted", "ShuffledBatches", "BatchNormalized", "NoiseReused", "ClippedAfterSum")


@dataclass(frozen=True)
class Audited:
    """A training with a part of the noise that it claims, and the least number of verdicts as they should be."""

    epsilon: int
    sampler: BatchSampler
    noise: Fraction
    least: int | None
    canaries: int = 1000

    @property
    def guesses(self) -> int:
        """How many guesses are made."""
        return _GUESSES[self.canaries][self.epsilon]

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
        game = f"{self.guesses} guesses about {self.canaries:,} canaries"
        what = f"{self.sampler.name}, epsilon {self.epsilon}, {self.noise} of the noise, {game}"
        wanted = None if self.least is None else count >= self.least
        return Bar(what, f"{word} {count} of {RUNS}", "" if self.least is None else f">= {self.least}", wanted)

    def _refuted(self, training: NetworkTraining, claim: Plan) -> bool:
        return audit_network(
            training, canaries=self.canaries, guesses=self.guesses, delta=DELTA, confidence=CONFIDENCE,
            guarantee=claim.loss,
        ).refuted  # fmt: skip


def trainings() -> Iterator[Bar]:
    """Audit honest trainings, and those with a quarter of their noise."""
    for sampler in (FullBatch(most_people=8192), PoissonBatches(rate=0.5, most_people=8192)):
        for epsilon in (1, 4):
            yield Audited(epsilon, sampler, Fraction(1), 95).bar()
            yield Audited(epsilon, sampler, Fraction(1, 4), 90).bar()


def half() -> Iterator[Bar]:
    """Audit trainings with half their noise, with few and with many canaries, and honest ones beside the latter."""
    for epsilon in (1, 4):
        for sampler in (FullBatch(most_people=8192), PoissonBatches(rate=0.5, most_people=8192)):
            yield Audited(epsilon, sampler, Fraction(1, 2), None).bar()
        for noise, least in ((Fraction(1), 95), (Fraction(1, 2), None)):
            yield Audited(epsilon, FullBatch(most_people=8192), noise, least, canaries=4096).bar()


def planted() -> Iterator[Bar]:
    """Audit the planted faults of trainings by their exact laws."""
    for name in _PLANTED:
        exhibit = exhibit_named(name)
        found = audit(exhibit, level=exhibit.label.level, search=0)
        measured = f"{found.outcome.name.lower()}: epsilon at least {found.low:.3f}"
        yield Bar(name, measured, "refuted", found.outcome is Outcome.REFUTED)


if __name__ == "__main__":
    torch.set_num_threads(1)
    sections = {name: section(__spec__.name, name) for name in ("trainings", "half", "planted")}
    sys.exit(run(sections, page="bench-deep-audit", title="Audits of deep trainings", document=__doc__ or ""))

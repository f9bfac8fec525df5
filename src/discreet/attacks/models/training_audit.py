"""An audit of a training from one run: canaries put in by coins, and guesses by whoever sees every noisy sum.

Canaries are rows made up for the audit, each in a coordinate of its own, so that nobody else moves what is seen there.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.audit import Canaries, OneRun
from discreet.data.table import check_whole
from discreet.errors import ParameterError
from discreet.laws.number import Number
from discreet.privacy import GaussianDP, Guarantee, Relation
from discreet.privacy.numbers import exactly, probability

if TYPE_CHECKING:
    from discreet.learning.base import Public
    from discreet.learning.exact import FitPrice

Floats = NDArray[np.float64]
Answer = Callable[[Any], Floats]
See = Callable[[Any, Answer], Floats]
Training = Callable[["CanaryTable", See], object]
_OTHERWISE = "a training must release as many sums for the same answers; got another number, write a fixed one"


@dataclass(frozen=True, slots=True)
class CanaryTable:
    """Rows of canaries: the numbers of the coordinates they lie in, out of so many."""

    places: NDArray[np.int64]
    coordinates: int


class DescentTraining:
    """A regression by noisy descent as the estimators run it, on canaries alone: the training that is audited.

    Canary i is the unit vector of coordinate i, and its target is 1: its gradient is as long as clipping allows until
    the weight of its coordinate comes near.

    Privacy. mu-Gaussian-DP under add/remove, where mu is the largest that the price buys: every step is one release of
        `descend`.
        Proof: the canaries are vectors of norm at most 1, and `descend` is run as it is.
    Cost. A millisecond a step for 1,000 canaries.

    >>> training = DescentTraining(epsilon=4, delta=1e-5, people=1000, steps=5)
    >>> round(training.mu, 3)
    0.925
    """

    def __init__(self, *, epsilon: Number, delta: Number, people: int, steps: int = 10) -> None:
        from discreet.learning.exact import FitPrice

        check_whole("people", people, low=1, high=10**9)
        check_whole("steps", steps, low=1, high=1000)
        self.price: FitPrice = FitPrice.read(
            epsilon=epsilon, delta=delta, rho=None, mu=None, relation=Relation.ADD_REMOVE, pure=False
        )
        self.people, self.steps = people, steps

    @property
    def mu(self) -> float:
        """The mu of Gaussian privacy that the price buys."""
        return float(self.price.mu or 0)

    @property
    def guarantee(self) -> GaussianDP:
        """What the training guarantees, with its whole curve."""
        return GaussianDP(exactly(self.price.mu or Fraction(0)), relation=Relation.ADD_REMOVE)

    def _public(self, coordinates: int) -> Public:
        """Return everything that is public about a training with so many coordinates."""
        from discreet.learning.base import Public
        from discreet.learning.exact import FitNeighbors

        neighbors = FitNeighbors(Relation.ADD_REMOVE, self.people)
        return Public(coordinates, neighbors, self.price, np.zeros(coordinates), np.ones(coordinates))

    def __call__(self, table: CanaryTable, see: See) -> Floats:
        """Train on canaries, and return the weights; every noisy sum goes through `see`, with what answers it."""
        from discreet.learning.descent import Descent, descend
        from discreet.learning.exact import STEPS, Chunks, Measurements, squared_errors

        class Seen(Measurements):
            """Measurements, each of which is seen."""

            def release(self, sums: Any, *, share: Fraction, squared: int, l1: int | None = None) -> Floats:
                return see(sums, lambda exact: super(Seen, self).release(exact, share=share, squared=squared, l1=l1))

        def made(rows: Floats, targets: NDArray[Any]) -> tuple[Floats, NDArray[Any]]:
            vectors = np.zeros((table.coordinates, len(rows)))
            vectors[rows[:, 0].astype(np.int64), np.arange(len(rows))] = STEPS
            return vectors, targets

        rows, targets = table.places[:, np.newaxis].astype(np.float64), np.ones(len(table.places))
        chunks = Chunks.of(rows, targets, made, coordinates=table.coordinates)
        plan = Descent(self.steps, 1.0, 0.3, Fraction(1), momentum=0.7)
        shape = (1, table.coordinates)
        return descend(plan, self._public(table.coordinates), chunks, squared_errors, Seen(self.price), shape)


@dataclass(frozen=True)
class RepeatedRows:
    """A training that lets every canary through several times and claims that it came once: it clips rows, not people.

    Each of the rows is clipped by itself, and the sum of a person's rows is as many times too long.
    """

    of: DescentTraining
    times: int = 2

    def __post_init__(self) -> None:
        check_whole("times", self.times, low=1, high=1000)

    @property
    def guarantee(self) -> GaussianDP:
        """What the training claims."""
        return self.of.guarantee

    def __call__(self, table: CanaryTable, see: See) -> object:
        """Train with every canary in several rows."""
        return self.of(CanaryTable(np.repeat(table.places, self.times), table.coordinates), see)


def audit_training(
    training: Training,
    *,
    canaries: int,
    guesses: int,
    delta: Number,
    confidence: Number,
    guarantee: Guarantee | None = None,
) -> OneRun:
    """Audit a training from one run: put canaries in by fair coins, see all noisy sums, guess, and bound the loss.

    `training` takes a `CanaryTable` and `see`, through which every release goes: it calls `see(sums, answer)` with the
    exact sums, one number a coordinate, and the function that adds the noise, and goes on with what comes back. It must
    do the same for the same answers. Whoever guesses sees the noisy answers alone. They train once more with all
    canaries in, giving the answers that were seen: the exact sums of this second training are what each canary would
    have added at the same weights, and their inner product with what was seen, in the coordinate of the canary, is the
    score.

    Accuracy. As for `one_run`: the true epsilon at `delta` is at least `low`, but for a chance of 1 - `confidence`. A
        training that is tight for its canaries has scores of two normal laws mu apart, which is the most that
        mu-Gaussian privacy allows.
        Proof: given what was seen before, the noisy sum at a coordinate is normal about 0 or about the gradient of its
        canary, with one variance; the logarithm of the likelihood ratio is the inner product less half the squared
        gradient, over the variance.
    Cost. Two trainings.
    Reference. Steinke, Nasr, Jagielski 2023; Nasr et al. 2023 (canaries in gradients).

    >>> training = DescentTraining(epsilon=10, delta=1e-5, people=1000)
    >>> found = audit_training(
    ...     training, canaries=1000, guesses=300, delta=1e-5, confidence=0.9999
    ... )
    >>> 1.5 < found.low < 10
    True
    """
    check_whole("canaries", canaries, low=2, high=4096)
    probability(confidence, name="confidence")
    if not callable(training):
        raise ParameterError(
            "training must be a function of a table of canaries and of what sees its releases; got another, write "
            "DescentTraining(...), for example",
            parameter="training",
        )
    drawn = Canaries.drawn(canaries)
    answers: list[Floats] = []

    def seen(sums: Any, answer: Answer) -> Floats:
        answers.append(answer(sums))
        return answers[-1]

    training(CanaryTable(np.flatnonzero(drawn.included), canaries), seen)
    scores = _scores(training, canaries, answers)
    return drawn.audit(
        scores, guesses=guesses, guarantee=guarantee, delta=delta, confidence=confidence, relation=Relation.ADD_REMOVE
    )


def _scores(training: Training, canaries: int, answers: Sequence[Floats]) -> Floats:
    """Return log-likelihood ratios, from a second training with all canaries that is given the answers of the first."""
    rest, scores = list(answers), np.zeros(canaries)

    def replayed(sums: Any, _: Answer) -> Floats:
        if not rest:
            raise ParameterError(_OTHERWISE, parameter="training")
        noisy = rest.pop(0)
        added, held = _by_coordinate(sums, canaries), _by_coordinate(noisy, canaries)
        if added.shape != held.shape:
            raise ParameterError(
                "a training must release sums of one shape for the same answers; got another, write a fixed one",
                parameter="training",
            )
        scores[:] += (added * (held - added / 2)).sum(axis=0)
        return noisy

    training(CanaryTable(np.arange(canaries), canaries), replayed)
    if rest:
        raise ParameterError(_OTHERWISE, parameter="training")
    return scores


def _by_coordinate(sums: Any, coordinates: int) -> Floats:
    """Return sums as lines of one number a coordinate: a sum over anything else would say nothing about a canary."""
    held = np.asarray(sums, dtype=np.float64)
    if not held.ndim or held.shape[-1] != coordinates:
        raise ParameterError(
            "a training must release sums with one number for each coordinate of its table; got another shape, write "
            "np.zeros(table.coordinates), for example",
            parameter="training",
        )
    return held.reshape(-1, coordinates)

"""The least noise for a target, and the kind of noise whose released sums have the least error."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from discreet.errors import ParameterError
from discreet.laws.number import Number
from discreet.learning.deep.plan.noises import Independent, Noise
from discreet.learning.deep.plan.pricing import TrainingPrice, price_of
from discreet.learning.deep.plan.samplers import BatchSampler
from discreet.privacy import PrivacyLoss, Relation, calibrate
from discreet.privacy.numbers import positive, probability

Kind = Callable[[float], Noise]
_MORE = 1 + 1e-7
_MOST_TRIALS = 200


def calibrated(
    sampler: BatchSampler,
    kind: Kind | None,
    steps: int,
    relation: Relation,
    unit: str,
    *,
    epsilon: Number,
    delta: Number,
) -> tuple[BatchSampler, Noise]:
    """Return the sampler and the noise of a plan that is certified to keep (epsilon, delta)."""
    target = positive(epsilon, name="epsilon"), probability(delta, name="delta")
    if not isinstance(sampler, BatchSampler):
        raise ParameterError(
            f"sampler must be a BatchSampler; got a {type(sampler).__name__}, write sampler=PoissonBatches(rate=0.01), "
            "for example",
            parameter="sampler",
        )
    sampler.refuse_relation(relation)
    make = Independent if kind is None else kind

    def price(scale: float) -> TrainingPrice:
        return price_of(sampler, make(scale), steps, relation, unit)

    return sampler, make(least_scale(price, *target))


def least_scale(price: Callable[[float], TrainingPrice], epsilon: Number, delta: Number) -> float:
    """Return the least scale whose price is certified to keep (epsilon, delta), to a relative 1e-7 or a little more."""

    def steps_alone(scale: float) -> PrivacyLoss:
        return price(scale).steps.loss

    left = price(1.0).of_steps(delta)
    if left <= 0:
        raise ParameterError(
            "delta must be more than the chance 2^-60 that a batch is cut; got less, write delta=1e-6, for example",
            parameter="delta",
        )
    scale = float(calibrate(steps_alone, epsilon=epsilon, delta=left))
    for _ in range(_MOST_TRIALS):
        if Fraction(price(scale).epsilon(delta).upper) <= Fraction(epsilon):
            return scale
        scale *= _MORE  # the curve is inverted with a tolerance of its own
    raise ParameterError(
        "epsilon and delta must be a target that noise can keep; got others, write larger ones", parameter="epsilon"
    )

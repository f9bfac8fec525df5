"""The plan of a private training: everything that decides its price, fixed and public before any row is read."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Self

from discreet.display import as_stated
from discreet.errors import MissingParameter, ParameterError
from discreet.laws import Enclosure
from discreet.laws.number import Number
from discreet.learning.deep.plan.calibration import calibrated
from discreet.learning.deep.plan.clipping import Clip
from discreet.learning.deep.plan.explanation import PlanExplanation, explained
from discreet.learning.deep.plan.noises import TrainingNoise
from discreet.learning.deep.plan.plan_text import PARTS, plan_from_dict, plan_to_dict
from discreet.learning.deep.plan.pricing import TrainingPrice, price_of
from discreet.learning.deep.plan.samplers import BatchSampler
from discreet.privacy import ApproxDP, GaussianDP, Guarantee, PrivacyLoss, Relation, ReleaseRecord
from discreet.privacy.numbers import positive, positive_price, probability
from discreet.privacy.records import read, write

_MOST_STEPS = 10**9


@dataclass(frozen=True, kw_only=True)
class Plan:
    """A private training before it begins: sampler, clip, noise, steps, for whom, and the public divisor.

    `divisor` is the public number that the noisy sum of clipped gradients is divided by, such as the rate times a round
    number of people; never the number of rows of a batch or of the table. `unit` is your word for who is protected.
    `delta` is where an account in epsilon and delta is charged; `for_target` sets it.

    Privacy. A training that draws its batches from `sampler`, clips by `clip`, adds `noise` and makes at most `steps`
        steps is dominated by `loss`, whatever the model, the data and the optimizer.
        Proof: in step t one person moves the integer sum x_t by at most D (clipping and rounding, beside their code),
        and the noise has deviation scale |k| D: so given the past, a step is a post-processing of the pair that
        `TrainingPrice` records, for every model and whatever earlier releases led to it. Rate, scale and steps are
        fixed here, before the first step, so the pairs compose. All else (the optimizer, averages, stopping early) is
        computed from what was released.

    >>> from discreet.learning.deep.plan import IndependentNoise, PoissonBatches
    >>> plan = Plan(
    ...     sampler=PoissonBatches(rate=0.01),
    ...     clip=Clip(1.0),
    ...     noise=IndependentNoise(1.0),
    ...     steps=1000,
    ...     unit="patient",
    ...     relation=Relation.ADD_REMOVE,
    ...     divisor=600,
    ... )
    >>> plan.epsilon(1e-6).upper
    2.12...
    """

    sampler: BatchSampler
    clip: Clip
    noise: TrainingNoise
    steps: int
    unit: str
    relation: Relation
    divisor: Number
    delta: Number | None = None

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        for name, kind, example in (
            ("sampler", BatchSampler, "PoissonBatches(rate=0.01)"),
            ("clip", Clip, "Clip(1.0)"),
            ("noise", TrainingNoise, "IndependentNoise(1.0)"),
        ):
            if type(getattr(self, name)) not in PARTS[name]:  # a subclass may draw what nobody has priced
                raise ParameterError(
                    f"{name} must be a {kind.__name__}; got a {type(getattr(self, name)).__name__}, write "
                    f"{name}={example}, for example",
                    parameter=name,
                )
        set_field(self, "steps", checked_steps(self.steps))
        set_field(self, "divisor", positive(self.divisor, name="divisor"))
        set_field(self, "relation", checked_relation(self.relation))
        if self.delta is not None:
            set_field(self, "delta", probability(self.delta, name="delta"))
        _ = self.price  # a plan without a price cannot exist

    @cached_property
    def price(self) -> TrainingPrice:
        """What the training costs."""
        return price_of(self.sampler, self.noise, self.steps, self.relation, self.unit)

    @property
    def exact(self) -> bool:
        """Whether the noise that is drawn has exactly the law that is priced."""
        return self.noise.exact

    @property
    def loss(self) -> PrivacyLoss:
        """The whole curve of the training; that of real numbers where the plan is not `exact`."""
        return self.price.loss

    @property
    def records(self) -> tuple[ReleaseRecord, ...]:
        """The releases as records that `replay` prices again; none where the plan is not `exact`."""
        return self.price.records if self.exact else ()

    def epsilon(self, delta: Number) -> Enclosure:
        """Return epsilon at a delta, certified from both sides."""
        return self.price.epsilon(delta)

    @property
    def guarantee(self) -> Guarantee:
        """What the training guarantees: at the plan's delta; without one, in Gaussian DP where nobody is sampled."""
        notion = GaussianDP(1) if self.delta is None and self.price.mu_squared is not None else ApproxDP(1, 1)
        return self.price.under(notion, self.delta)

    def under(self, budget: Guarantee) -> Guarantee:
        """Return what a ledger with a budget is charged before the first step; raise where nothing is proven.

        A sampled training is charged to a Gaussian or zCDP ledger as a mu or rho beside the plan's delta, which must
        fit into the delta that the budget has in reserve (`gaussian_budget`); see `TrainingPrice.under`.
        """
        if not self.exact:
            raise ParameterError(
                "the noise must be exact for a ledger; got floating-point noise, write noise=IndependentNoise(scale). "
                "Nothing was spent.",
                parameter="noise",
            )
        return self.price.under(budget, self.delta)

    def explain(self) -> PlanExplanation:
        """Return what is known of the training before any row is read."""
        return explained(self)

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical text, in hexadecimal."""
        return hashlib.sha256(self.to_json().encode("ascii")).hexdigest()

    def to_json(self) -> str:
        """Return the one canonical text: sorted keys, no spaces, integers and fractions only, ASCII."""
        return write(plan_to_dict(self))

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read a plan; anything but a plan that this version fully understands is refused."""
        return cls(**plan_from_dict(read(text)))

    @classmethod
    def for_target(
        cls,
        *,
        epsilon: Number,
        delta: Number,
        sampler: BatchSampler,
        clip: Clip,
        steps: int,
        unit: str,
        relation: Relation,
        divisor: Number,
        noise: Callable[[float], TrainingNoise] | None = None,
    ) -> Self:
        """Return the plan with the least noise that is certified to keep (epsilon, delta).

        `noise` makes a noise from its scale: `IndependentNoise`, `Float`, or `lambda scale: Banded(scale, bands=8)`.
        Left out, it is the kind whose released sums have the least error, by a public formula.

        Privacy. The plan's epsilon at delta is at most the target.
            Proof: it was asked of the finished plan.
        Cost. A fraction of a second for most plans, one to one and a half for balls in bins with 1,000 steps an epoch.

        >>> from discreet.learning.deep.plan import PoissonBatches
        >>> plan = Plan.for_target(
        ...     epsilon=3,
        ...     delta=1e-6,
        ...     sampler=PoissonBatches(rate=0.01),
        ...     clip=Clip(1.0),
        ...     steps=1000,
        ...     unit="patient",
        ...     relation=Relation.ADD_REMOVE,
        ...     divisor=600,
        ... )
        >>> plan.noise
        IndependentNoise(scale=0.86...)
        """
        found = calibrated(
            sampler, noise, checked_steps(steps), checked_relation(relation), unit, epsilon=epsilon, delta=delta
        )
        made = cls(
            sampler=found[0], clip=clip, noise=found[1], steps=steps, unit=unit, relation=relation, divisor=divisor,
            delta=delta,
        )  # fmt: skip
        if made.epsilon(delta).upper > positive_price(epsilon, name="epsilon"):
            raise AssertionError("the noise for a target must keep it")
        return made


def checked_steps(value: object) -> int:
    """Return a number of steps."""
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _MOST_STEPS:
        raise ParameterError(
            f"steps must be a whole number from 1 to {_MOST_STEPS:,}; got {as_stated(value)}, write steps=1000, for "
            "example",
            parameter="steps",
        )
    return value


def checked_relation(value: object) -> Relation:
    """Return the stated relation, by itself or by its name."""
    found = {one.value: one for one in Relation}.get(value) if isinstance(value, str) else value
    if found is not Relation.ADD_REMOVE and found is not Relation.CHANGE_ONE:
        raise MissingParameter(
            "relation must say who is a neighbor; got none of the two, write relation=Relation.ADD_REMOVE (a person "
            "more or less) or, with full batches, relation=Relation.CHANGE_ONE",
            parameter="relation",
        )
    return found

"""What is known of a training before any row is read: its price, its noise against its signal, what is assumed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from discreet.display import format_number
from discreet.display.result import told_in_rows
from discreet.learning.deep.plan.mixing import prefix_error, step_error
from discreet.learning.deep.plan.samplers import Overflow

if TYPE_CHECKING:
    from discreet.learning.deep.plan.plan import Plan

_DELTAS = (1e-5, 1e-6, 1e-8)


@told_in_rows
@dataclass(frozen=True, repr=False)
class PlanExplanation:
    """A training that could be made: everything about it is public, nothing is charged and no row is read."""

    epsilons: dict[float, float]
    deviation: float
    deviation_of_sums: float
    weights: float
    expected_batch: float
    steps: int
    epochs: float
    unit: str
    neighbors: str
    sampler: str
    noise: str
    clip: str
    most_rows: int
    assumptions: tuple[str, ...]
    exact: bool

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values."""
        return {**self.__dict__, "epsilons": dict(self.epsilons), "assumptions": list(self.assumptions)}

    def _rows(self) -> list[tuple[str, str | None]]:
        reservation = "" if self.exact else " if floats were real numbers (not exact, no ledger accepts it)"
        return [
            *(
                (f"epsilon at delta = {delta:g}", f"{format_number(value)}{reservation}")
                for delta, value in self.epsilons.items()
            ),
            ("protected", f"{self.unit}: {self.neighbors}"),
            ("batches", self.sampler),
            ("expected batch (the divisor)", format_number(self.expected_batch)),
            ("steps", f"{self.steps:,} ({format_number(self.epochs)} epochs)"),
            ("clip", self.clip),
            ("noise", self.noise),
            ("noise of a mean gradient", f"standard deviation {format_number(self.deviation)} in each coordinate"),
            (
                "noise of sums over steps",
                f"standard deviation {format_number(self.deviation_of_sums)}, root mean square",
            ),
            (
                "noise against signal",
                f"with {format_number(self.weights)} weights the noise of a step is as long as a mean gradient can be",
            ),
            ("rows of a batch", f"at most {self.most_rows:,}"),
            ("assumed", "; ".join(self.assumptions)),
        ]


def explained(plan: Plan) -> PlanExplanation:
    """Return what the numbers of a plan say."""
    stated = () if plan.delta is None else (float(plan.delta),)
    scale, norm, divisor = float(plan.noise.scale), float(plan.clip.norm), float(plan.divisor)
    mixed = plan.noise.coefficients(plan.steps)
    unit = scale * norm / divisor
    deviation = unit * step_error(mixed, plan.steps)
    signal = divisor / (scale * step_error(mixed, plan.steps))
    return PlanExplanation(
        epsilons={delta: plan.epsilon(delta).upper for delta in sorted({*stated, *_DELTAS}, reverse=True)},
        deviation=deviation,
        deviation_of_sums=unit * prefix_error(mixed, plan.steps),
        weights=signal * signal,
        expected_batch=divisor,
        steps=plan.steps,
        epochs=plan.sampler.epochs(plan.steps),
        unit=plan.unit,
        neighbors=plan.relation.sentence,
        sampler=plan.sampler.name,
        noise=f"{plan.noise.name}, scale {format_number(scale)}",
        clip=f"{plan.clip.mode.value}, norm {format_number(norm)}",
        most_rows=plan.sampler.most_rows(plan.steps),
        assumptions=assumptions(plan),
        exact=plan.exact,
    )


def assumptions(plan: Plan) -> tuple[str, ...]:
    """Return by name what the proofs rest on that no code can check for all inputs."""
    found = [
        f"fewer than {plan.sampler.below:,} people",
        "row independence (at a fixed physical size, what is computed of a row does not depend on other rows)",
    ]
    if getattr(plan.sampler, "overflow", Overflow.EXTEND) is Overflow.EXTEND:
        found.append("slot independence (nor on the slot it is in)")
    found.append("standard model of matrix products (each in float64, rounded as IEEE 754 says, summed in any order)")
    return (*found, "float-log-exp") if plan.exact else (*found, "floating-point noise is real: false on any machine")

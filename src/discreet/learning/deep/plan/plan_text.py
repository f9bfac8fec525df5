"""Plans as plain values: exact numbers and names alone, so that a plan in a file is the plan that was made."""

from __future__ import annotations

from dataclasses import fields
from enum import Enum
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from discreet.errors import ParameterError
from discreet.learning.deep.plan.clipping import Clip
from discreet.learning.deep.plan.noises import Banded, Buffered, Float, IndependentNoise
from discreet.learning.deep.plan.placed_samplers import BallsInBins, CyclicPoisson
from discreet.learning.deep.plan.samplers import FullBatch, PoissonBatches
from discreet.privacy.records import plainest, rational_text, read_rational, refuse_fields

if TYPE_CHECKING:
    from discreet.learning.deep.plan.plan import Plan

FORMAT = 1
_FIELDS = ("clip", "delta", "divisor", "format", "noise", "relation", "sampler", "steps", "unit")
PARTS: dict[str, tuple[type[Any], ...]] = {
    "clip": (Clip,),
    "noise": (IndependentNoise, Float, Banded, Buffered),
    "sampler": (FullBatch, PoissonBatches, BallsInBins, CyclicPoisson),
}
_WORDS = ("kind", "mode", "overflow")


def plan_to_dict(plan: Plan) -> dict[str, Any]:
    """Return what the text of a plan holds."""
    return {
        "clip": _written(plan.clip),
        "delta": _number(plan.delta),
        "divisor": _number(plan.divisor),
        "format": FORMAT,
        "noise": _written(plan.noise),
        "relation": plan.relation.value,
        "sampler": _written(plan.sampler),
        "steps": plan.steps,
        "unit": plan.unit,
    }


def plan_from_dict(given: object) -> dict[str, Any]:
    """Return the arguments of a plan from what its text holds; refuse what is not understood."""
    found = refuse_fields(given, _FIELDS, what="a plan")
    if found["format"] != FORMAT:
        raise ParameterError(
            f"format must be {FORMAT}; got another, write the plan with this version of discreet", parameter="format"
        )
    return {
        "clip": _made(found["clip"], "clip"),
        "delta": _as_number(found["delta"], "delta"),
        "divisor": _as_number(found["divisor"], "divisor"),
        "noise": _made(found["noise"], "noise"),
        "relation": found["relation"],
        "sampler": _made(found["sampler"], "sampler"),
        "steps": found["steps"],
        "unit": found["unit"],
    }


def _written(part: Any) -> dict[str, Any]:
    values = {one.name: getattr(part, one.name) for one in fields(part)}
    plain = {name: value.value if isinstance(value, Enum) else _number(value) for name, value in values.items()}
    return {"kind": type(part).__name__, **plain}


def _made(given: object, name: str) -> Any:
    stated = given.get("kind") if isinstance(given, dict) else None
    kind = next((one for one in PARTS[name] if one.__name__ == stated), None)
    if kind is None:
        raise ParameterError(
            f"{name} must be of a kind that this version knows; got another, write the version that made the plan",
            parameter=name,
        )
    found = refuse_fields(given, ("kind", *(one.name for one in fields(kind))), what=f"the {name} of a plan")
    return kind(
        **{
            word: value if word in _WORDS else _as_number(value, word)
            for word, value in found.items()
            if word != "kind"
        }
    )


def _number(value: Any) -> Any:
    return None if value is None else rational_text(Fraction(value))


def _as_number(value: Any, name: str) -> Any:
    return None if value is None else plainest(read_rational(value, name=name))

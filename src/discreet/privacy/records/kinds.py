"""The kinds of release that a record can name: their parameters, and the constructor that prices each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Set
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from functools import lru_cache
from typing import Any

from discreet.errors import ParameterError
from discreet.laws.number import Number, exact_rational
from discreet.privacy.guarantees import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP, RenyiDP
from discreet.privacy.loss import (
    PrivacyLoss,
    Sampler,
    above_threshold_loss,
    balls_in_bins_loss,
    bounded_range_loss,
    discrete_gaussian_loss,
    discrete_laplace_loss,
    gaussian_loss,
    laplace_loss,
    matrix_gaussian_loss,
    randomized_response_loss,
    subsample,
    table_loss,
)
from discreet.privacy.numbers import plain
from discreet.privacy.relation import Relation

_MOST_SHOWN = 40
_MOST_BITS = 6000  # a float has 2100 at most; these have 1810 digits, which `records.text` reads back

Parameter = Fraction | tuple[Fraction, ...]
Parameters = tuple[tuple[str, Parameter], ...]


class ReleaseKind(Enum):
    """What was released: a mechanism by its noise, a table of chances, or only a guarantee.

    >>> ReleaseKind.named("discrete_gaussian")
    <ReleaseKind.DISCRETE_GAUSSIAN: 'discrete gaussian'>
    """

    GAUSSIAN = "gaussian"
    MATRIX_GAUSSIAN = "matrix gaussian"
    LAPLACE = "laplace"
    DISCRETE_GAUSSIAN = "discrete gaussian"
    DISCRETE_LAPLACE = "discrete laplace"
    RANDOMIZED_RESPONSE = "randomized response"
    BOUNDED_RANGE = "bounded range"
    ABOVE_THRESHOLD = "above threshold"
    TABLE = "table"
    PURE = "pure"
    APPROX = "approx"
    ZCDP = "zcdp"
    RENYI = "renyi"
    GAUSSIAN_DP = "gaussian dp"

    @classmethod
    def named(cls, name: object) -> ReleaseKind:
        """Return the kind of a name; an unknown one has no price, and is refused."""
        if isinstance(name, ReleaseKind):
            return name
        found = {kind.value: kind for kind in cls}.get(name.replace("_", " ")) if isinstance(name, str) else None
        if found is not None:
            return found
        names = ", ".join(repr(kind.value) for kind in cls)
        raise ParameterError(
            f"{shortened(name)} is not a kind of release that has a price here; kind must be one of {names}",
            parameter="kind",
        )


@dataclass(frozen=True, slots=True)
class RecordShape:
    """The parameters of a kind, those that may be left out with their values, and the constructor they go to."""

    price: Callable[..., PrivacyLoss]
    required: tuple[str, ...]
    optional: Mapping[str, int] = field(default_factory=dict)
    rows: bool = False

    @property
    def names(self) -> tuple[str, ...]:
        """All parameters, the required ones first."""
        return (*self.required, *self.optional)


def _guaranteed(notion: Callable[..., Guarantee]) -> Callable[..., PrivacyLoss]:
    """Return the constructor of the worst price that keeps a guarantee."""

    def price(**parameters: Any) -> PrivacyLoss:
        return PrivacyLoss.from_guarantee(notion(**parameters))

    return price


SHAPES: Mapping[ReleaseKind, RecordShape] = {
    ReleaseKind.GAUSSIAN: RecordShape(gaussian_loss, ("scale",), {"sensitivity": 1}),
    ReleaseKind.MATRIX_GAUSSIAN: RecordShape(matrix_gaussian_loss, ("scale",), {"sensitivity": 1, "participations": 1}),
    ReleaseKind.LAPLACE: RecordShape(laplace_loss, ("scale",), {"sensitivity": 1}),
    ReleaseKind.DISCRETE_GAUSSIAN: RecordShape(discrete_gaussian_loss, ("scale",), {"sensitivity": 1}),
    ReleaseKind.DISCRETE_LAPLACE: RecordShape(discrete_laplace_loss, ("scale",), {"sensitivity": 1}),
    ReleaseKind.RANDOMIZED_RESPONSE: RecordShape(randomized_response_loss, ("epsilon",), {"categories": 2}),
    ReleaseKind.BOUNDED_RANGE: RecordShape(bounded_range_loss, ("epsilon",)),
    ReleaseKind.ABOVE_THRESHOLD: RecordShape(above_threshold_loss, ("epsilon",)),
    ReleaseKind.TABLE: RecordShape(table_loss, ("with_person", "without_person"), rows=True),
    ReleaseKind.PURE: RecordShape(_guaranteed(PureDP), ("epsilon",)),
    ReleaseKind.APPROX: RecordShape(_guaranteed(ApproxDP), ("epsilon", "delta")),
    ReleaseKind.ZCDP: RecordShape(_guaranteed(ZCDP), ("rho",), {"delta": 0}),
    ReleaseKind.RENYI: RecordShape(_guaranteed(RenyiDP), ("alpha", "epsilon")),
    ReleaseKind.GAUSSIAN_DP: RecordShape(_guaranteed(GaussianDP), ("mu",)),
}


def exact_parameters(kind: ReleaseKind, given: Mapping[str, object]) -> Parameters:
    """Return all parameters of a kind, exact and in the order of their names; refuse strangers and gaps.

    >>> exact_parameters(ReleaseKind.LAPLACE, {"scale": 0.5})
    (('scale', Fraction(1, 2)), ('sensitivity', Fraction(1, 1)))
    """
    shape = SHAPES[kind]
    takes = f"{kind.value!r} takes {' and '.join(shape.names)}"
    for name in given:
        if name not in shape.names:
            raise ParameterError(f"{takes}, and nothing named {shortened(name)}", parameter="parameters")
    for name in shape.required:
        if name not in given:
            raise ParameterError(f"{takes}: {name} is missing", parameter=name)
    full: dict[str, object] = {**shape.optional, **given}
    return tuple((name, _exact(full[name], name=name, row=shape.rows)) for name in sorted(full))


@lru_cache(maxsize=4096)
def priced(
    kind: ReleaseKind, parameters: Parameters, relation: Relation, sampler: Sampler, rate: Fraction | None
) -> PrivacyLoss:
    """Return the price of one release, made by the public constructors from exact parameters alone."""
    arguments: dict[str, Any] = {name: _as_given(value) for name, value in parameters}
    if sampler is Sampler.BALLS_IN_BINS:
        return _epoch(kind, arguments, relation, rate)
    loss = SHAPES[kind].price(**arguments, relation=relation)
    if sampler is Sampler.EVERYONE or rate is None:
        return loss
    return subsample(loss, rate=plainest(rate), sampler=sampler)


def _epoch(kind: ReleaseKind, arguments: Mapping[str, Any], relation: Relation, rate: Fraction | None) -> PrivacyLoss:
    """Return the price of one epoch; the rate is that of one step, 1/steps."""
    if kind is not ReleaseKind.GAUSSIAN:
        raise ParameterError(
            f"sampler 'balls in bins' must be of kind 'gaussian', the noise of every step; got {kind.value!r}, write "
            "kind 'gaussian'",
            parameter="kind",
        )
    if rate is None or rate.numerator != 1:
        raise ParameterError(
            "the rate of balls in bins must be 1/steps exactly; got another number, write Fraction(1, 100) for 100 "
            "steps",
            parameter="rate",
        )
    return balls_in_bins_loss(**arguments, steps=rate.denominator, relation=relation)


def plainest(value: Fraction) -> Number:
    """Return an int or a float of exactly this value where there is one, as people would have written it.

    >>> plainest(Fraction(3)), plainest(Fraction(1, 2)), plainest(Fraction(1, 3))
    (3, 0.5, Fraction(1, 3))
    """
    if value.denominator == 1:
        return value.numerator
    try:
        nearest = float(value)
    except OverflowError:
        return value
    return nearest if Fraction(nearest) == value else value


def shortened(value: object) -> str:
    """Return something for an error message that cannot be long or command a terminal."""
    if not isinstance(value, str):
        return f"a {type(value).__name__}"
    text = ascii(value)
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}... ({len(value)} characters)"


def exact_number(value: object, *, name: str) -> Fraction:
    """Return a number as an exact rational; raise ParameterError if it is too long to be read back."""
    exact = exact_rational(plain(value, name=name), name=name)
    if exact.numerator.bit_length() + exact.denominator.bit_length() > _MOST_BITS:
        raise ParameterError(
            f"{name} is a fraction of more than {_MOST_BITS} bits, too long for a record: round it to the safe side",
            parameter=name,
        )
    return exact


def _exact(value: object, *, name: str, row: bool) -> Parameter:
    """Return a number, or a row of chances, as the rationals they stand for."""
    if not row:
        return exact_number(value, name=name)
    # a set has no order: which chance belongs to which outcome would be arbitrary
    if isinstance(value, str | bytes | Mapping | Set) or not isinstance(value, Iterable):
        raise ParameterError(f"{name} must be a row of chances: a list of numbers", parameter=name)
    return tuple(exact_number(chance, name=name) for chance in value)


def _as_given(value: Parameter) -> Number | tuple[Number, ...]:
    return tuple(map(plainest, value)) if isinstance(value, tuple) else plainest(value)

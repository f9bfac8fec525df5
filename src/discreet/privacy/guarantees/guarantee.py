"""Guarantees about a release: five notions of differential privacy, and warnings for guarantees that make no sense."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, fields, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self, TypeVar

from discreet.display import LastDigit, definition_list, format_number
from discreet.errors import ParameterError, SenselessParameter
from discreet.laws.number import Number
from discreet.privacy.numbers import (
    nonnegative,
    number,
    plainly,
    printed,
    probability,
    renyi_order,
    upward,
    whole,
    written,
)
from discreet.privacy.relation import Relation

if TYPE_CHECKING:
    PrivacyLoss = Any  # prices are a floor above, and know guarantees


Notion = TypeVar("Notion", bound="Guarantee")
_price: list[Callable[[Guarantee], Any]] = []
_LARGEST_FACTOR = 20
_LARGEST_EPSILON = 20
_LARGEST_DELTA = Fraction(1, 100)


class Guarantee(ABC):
    """What a release guarantees about any two neighboring tables, whatever an adversary knows and does with it.

    Guarantees are values: they are compared, converted, composed and weakened, never changed. Numbers are kept as
    given; a float stands for the decimals that it prints as (0.1 is one tenth), and whatever is computed is rounded up.
    """

    __slots__ = ()
    relation: Relation

    @property
    def loss(self) -> PrivacyLoss:
        """The worst price that keeps the guarantee."""
        return _price[0](self)

    def to_approx(self, delta: Number | None = None) -> ApproxDP:
        """Return the best (epsilon, delta) guarantee at this delta that follows from this one; see `convert`."""
        return self._converted(ApproxDP, delta=delta)

    def to_zcdp(self, delta: Number | None = None) -> ZCDP:
        """Return the best concentrated guarantee (delta-approximate with a delta) that follows; see `convert`."""
        return self._converted(ZCDP, delta=delta)

    def to_renyi(self, alpha: Number | None = None) -> RenyiDP:
        """Return the best Renyi guarantee of this order that follows; see `convert`."""
        return self._converted(RenyiDP, alpha=alpha)

    def to_gaussian(self) -> GaussianDP:
        """Return the best Gaussian guarantee that follows; see `convert`."""
        return self._converted(GaussianDP)

    def _converted(self, to: type[Notion], **arguments: Number | None) -> Notion:
        from discreet.privacy.guarantees.conversion import convert

        return convert(self, to, **arguments)

    def implies(self, other: Guarantee) -> bool:
        """Say whether the other guarantee is proven to follow from this one; see `discreet.privacy.implies`."""
        from discreet.privacy.guarantees.conversion import implies

        return implies(self, other)

    def under(self, relation: Relation) -> Self:
        """Return the same numbers guaranteed for another neighbor relation; that they hold for it is the caller's word.

        >>> PureDP(1).under(Relation.CHANGE_ONE)
        PureDP(epsilon=1, relation=Relation.CHANGE_ONE)
        """
        return replace(self, relation=relation)  # type: ignore[type-var]  # every guarantee is a dataclass

    @abstractmethod
    def in_words(self) -> str:
        """Say the guarantee for people, without the neighbor relation."""

    def _check(self, **checks: Callable[..., Number]) -> None:
        """Check the parameters, each by the function of its name, and the relation; raise ParameterError."""
        for name, check in checks.items():
            object.__setattr__(self, name, check(printed(getattr(self, name)), name=name))
        if not isinstance(self.relation, Relation):
            raise ParameterError("relation must be one of Relation's members", parameter="relation")

    def _parameters(self) -> list[tuple[str, Number]]:
        """Return the numbers of the guarantee by name."""
        names = (field.name for field in fields(self) if field.name != "relation")  # type: ignore[arg-type]
        return [(name, getattr(self, name)) for name in names]

    def _meant(self) -> tuple[object, ...]:
        return (type(self), self.relation, *(written(value) for _, value in self._parameters()))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Guarantee) and self._meant() == other._meant()

    def __hash__(self) -> int:
        return hash(self._meant())

    def __repr__(self) -> str:
        numbers = {name: plainly(v) if isinstance(v, Fraction) else v for name, v in self._parameters()}
        arguments = [f"{name}={value!r}" for name, value in numbers.items()]
        if self.relation is not Relation.UNSTATED:
            arguments.append(f"relation={self.relation!r}")
        return f"{type(self).__name__}({', '.join(arguments)})"

    def __str__(self) -> str:
        return f"{self.in_words()} ({self.relation.sentence})"

    def _repr_html_(self) -> str:
        """Return the guarantee as a list of its parts for a notebook."""
        parts = [(name, shown(value)) for name, value in self._parameters()]
        return definition_list([("guarantee", self.in_words()), *parts, ("neighbors", self.relation.sentence)])


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class PureDP(Guarantee):
    """Any outcome is at most e^epsilon times as likely on one table as on its neighbor.

    >>> PureDP(0.5)
    PureDP(epsilon=0.5)
    >>> print(PureDP(0.5, relation=Relation.ADD_REMOVE))
    0.5-differential privacy: no outcome more than 1.64873 times as likely (one
        person's data is added or removed)
    """

    epsilon: Number
    _: KW_ONLY
    relation: Relation = Relation.UNSTATED

    def __post_init__(self) -> None:
        self._check(epsilon=nonnegative)

    def in_words(self) -> str:
        """Say the guarantee for people."""
        factor = _factor(self.epsilon)
        return f"{shown(self.epsilon)}-differential privacy: no outcome more than {factor} times as likely"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ApproxDP(Guarantee):
    """The chance of any event is at most e^epsilon times its chance on the neighboring table, plus delta.

    >>> ApproxDP(1, 1e-6).to_zcdp()
    ZCDP(rho=0.4621171572600098, delta=1e-06)
    """

    epsilon: Number
    delta: Number
    _: KW_ONLY
    relation: Relation = Relation.UNSTATED

    def __post_init__(self) -> None:
        self._check(epsilon=nonnegative, delta=probability)

    def in_words(self) -> str:
        """Say the guarantee for people."""
        return (
            f"({shown(self.epsilon)}, {shown(self.delta)})-differential privacy: no event more than "
            f"{_factor(self.epsilon)} times as likely, up to {shown(self.delta)}"
        )


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class ZCDP(Guarantee):
    """Zero-concentrated differential privacy: the Renyi divergence of every order alpha > 1 is at most alpha rho.

    With a delta it is delta-approximate: for neighbors x, x' the output laws are mixtures M(x) = (1-delta) A + delta B
    and M(x') = (1-delta) A' + delta B', where A and A' keep the bound in both directions and B, B' may be anything.

    >>> ZCDP(0.5).to_approx(delta=1e-6)
    ApproxDP(epsilon=5.22153444453017, delta=1e-06)
    """

    rho: Number
    delta: Number = 0.0
    _: KW_ONLY
    relation: Relation = Relation.UNSTATED

    def __post_init__(self) -> None:
        self._check(rho=nonnegative, delta=probability)

    def in_words(self) -> str:
        """Say the guarantee for people."""
        allowance = f", except with probability {shown(self.delta)}" if self.delta else ""
        rho = shown(self.rho)
        return f"{rho}-zero-concentrated differential privacy: the mean loss is at most {rho}{allowance}"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class RenyiDP(Guarantee):
    """The Renyi divergence of order alpha between the laws of the output on neighbors is at most epsilon.

    >>> RenyiDP(2, 0.25).alpha
    2
    """

    alpha: Number
    epsilon: Number
    _: KW_ONLY
    relation: Relation = Relation.UNSTATED

    def __post_init__(self) -> None:
        self._check(alpha=renyi_order, epsilon=nonnegative)

    def in_words(self) -> str:
        """Say the guarantee for people."""
        return f"Renyi differential privacy of order {shown(self.alpha)} with divergence at most {shown(self.epsilon)}"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class GaussianDP(Guarantee):
    """Telling neighbors apart is at least as hard as telling a normal mean of 0 from one of mu, at variance 1.

    With a delta it is delta-approximate, as for `ZCDP`: the output laws are mixtures M(x) = (1-delta) A + delta B and
    M(x') = (1-delta) A' + delta B', where A and A' are that hard to tell apart and B, B' may be anything.

    >>> GaussianDP(1).to_zcdp()
    ZCDP(rho=0.5, delta=0.0)
    >>> GaussianDP(0.5, delta=1e-7).to_approx(delta=1e-6)
    ApproxDP(epsilon=2.265..., delta=1e-06)
    """

    mu: Number
    delta: Number = 0.0
    _: KW_ONLY
    relation: Relation = Relation.UNSTATED

    def __post_init__(self) -> None:
        self._check(mu=nonnegative, delta=probability)

    def _parameters(self) -> list[tuple[str, Number]]:
        """Return mu, and delta where it is not 0."""
        return [("mu", self.mu), *([("delta", self.delta)] if self.delta else [])]

    def in_words(self) -> str:
        """Say the guarantee for people."""
        allowance = f", except with probability {shown(self.delta)}" if self.delta else ""
        mu = shown(self.mu)
        return f"{mu}-Gaussian differential privacy: as hard as telling N(0, 1) from N({mu}, 1){allowance}"


def price_guarantees_by(price: Callable[[Guarantee], Any]) -> None:
    """Let the floor of prices say what `Guarantee.loss` is."""
    _price[:] = [price]


def shown(value: Number) -> str:
    """Write a parameter for people: as its shortest decimals say, to six digits, rounded up.

    >>> shown(0.1), shown(2 / 3)
    ('0.1', '0.666667')
    """
    if isinstance(value, float):
        # the decimals Python prints are the number people meant: 0.1, not the binary fraction a little above it
        return format_number(Fraction(repr(value)), digits=6, rounding=LastDigit.UP)
    return format_number(value, digits=6, rounding=LastDigit.UP)


def _factor(epsilon: Number) -> str:
    """Write e^epsilon, or say that it is too large to matter."""
    if epsilon > _LARGEST_FACTOR:
        return f"e^{shown(epsilon)}"

    return shown(upward(lambda: number(epsilon).exp()))


def warn_if_senseless(guarantee: Guarantee, people: int | None = None) -> None:
    """Warn, with the reason, when a guarantee makes no sense for a table of this many people.

    Without the number of people only what is senseless for every table is found.

    Privacy. delta >= 1/n allows a release that publishes one row; epsilon >= 20 allows odds to change by 485 million.
        Proof: let a release publish one of the n rows, chosen at random. If one row is changed, or one is removed and
        the choice is among the others, the laws of the output differ by 1/n in total variation: it is (0, 1/n)-DP.
    Accuracy. With epsilon < 1/n, or mu < 1/n, or rho < 1/(2 n^2), an answer says next to nothing about the table.
        Proof: `group_privacy` with all n people compares the table with any other of n rows (change one) or with the
        empty one (add/remove): the laws of the answer are within a factor e^(n epsilon) < e, or n mu < 1, or n^2 rho <
        1/2.

    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_if_senseless(ApproxDP(1, 0.002), people=500)
    >>> print(caught[0].message)
    delta = 0.002 is not below 1/500: publishing one of 500 rows at random would keep
        this guarantee. Choose ...
    """
    count = None if people is None else whole(people, name="people")
    for reason in (*_too_weak(guarantee, count), *_too_strong(guarantee, count)):
        warnings.warn(reason, SenselessParameter, stacklevel=2)


def _too_weak(guarantee: Guarantee, people: int | None) -> list[str]:
    """Return what makes the guarantee protect nobody."""
    reasons = []
    given = getattr(guarantee, "delta", 0)
    delta = Fraction(given)
    if people is not None and delta * people >= 1:
        reasons.append(
            f"delta = {shown(given)} is not below 1/{people}: publishing one of {people} rows at "
            f"random would keep this guarantee. Choose a delta far below 1/{people}."
        )
    elif delta >= _LARGEST_DELTA:
        reasons.append(
            f"delta = {shown(given)} allows a complete disclosure that often. Choose a delta far "
            "below one over the number of people."
        )
    name, typical = _typical_loss(guarantee)
    if typical >= _LARGEST_EPSILON:
        reasons.append(
            f"{name} this large guarantees nothing: an adversary's odds may change by a factor e^{_LARGEST_EPSILON}, "
            "485 million, or more. Choose a smaller one, of the order of 1."
        )
    return reasons


def _too_strong(guarantee: Guarantee, people: int | None) -> list[str]:
    """Return what makes every answer useless."""
    if people is None:
        return []
    bound = f"1/{people}"
    match guarantee:
        case PureDP() | ApproxDP():
            name, useless = "epsilon", Fraction(guarantee.epsilon) * people < 1
        case GaussianDP():
            name, useless = "mu", Fraction(guarantee.mu) * people < 1
        case ZCDP():
            name, useless = "rho", Fraction(guarantee.rho) * people**2 * 2 < 1
            bound = f"1/(2 * {people}^2)"
        case _:
            return []
    reason = (
        f"{name} is below {bound}: even all {people} people together hardly change the answer, so it says nothing "
        f"about them. Choose {name} well above {bound}."
    )
    return [reason] if useless else []


def _typical_loss(guarantee: Guarantee) -> tuple[str, Fraction]:
    """Return the parameter's name and the loss it lets through: the largest, or for moments the mean."""
    match guarantee:
        case PureDP() | ApproxDP() | RenyiDP():
            return "epsilon", Fraction(guarantee.epsilon)
        case ZCDP():
            return "rho", Fraction(guarantee.rho)
        case GaussianDP():
            return "mu", Fraction(guarantee.mu) ** 2 / 2
    return "", Fraction(0)

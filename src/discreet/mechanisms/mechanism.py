"""What every mechanism has: a guarantee, a price, a law, and the neighbors on which it is put to the test."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from typing import Any

from discreet.errors import ConflictingParameters, MissingParameter, ParameterError
from discreet.laws import Law
from discreet.laws.number import Number, positive_rational
from discreet.privacy import Guarantee, Norm, PrivacyLoss, PureDP, Relation, Sensitivity
from discreet.privacy.numbers import positive_price, written_up


class Mechanism(ABC):
    """A randomized map whose output law we know: the one object that is sampled, priced, predicted and audited."""

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee:
        """The guarantee in its simplest form."""

    @property
    @abstractmethod
    def loss(self) -> PrivacyLoss:
        """The price of one release."""

    @abstractmethod
    def law(self, value: Any) -> Law[Any]:
        """Return the exact law of the output on an input."""

    @abstractmethod
    def neighbors(self) -> Iterator[tuple[Any, Any]]:
        """Yield pairs of inputs at distance one that come close to the worst case; audits start their search here."""

    def left_out(self) -> Mapping[str, Iterable[tuple[Any, Any]]]:
        """Return what the guarantee assumes beside the sensitivity, with pairs of inputs that the assumption excludes.

        Nothing in a mechanism can check such a statement about the data: an audit looks at the pairs too, and says that
        the guarantee is conditional and what it would lose on them.
        """
        return {}

    @abstractmethod
    def __call__(self, value: Any) -> Any:
        """Release one answer."""

    def release(self, value: Any) -> Any:
        """Run once from the start on an input of `law`: the same as a call, except for streams, which open afresh."""
        return self(value)

    def outcome(self, value: Any) -> Any:
        """Run once and write the release as `law` writes outcomes, for audits: `release`, where that is the form."""
        return self.release(value)

    def wire(self, value: Any) -> Any:
        """Run once and return what leaves, for an audit of its form: `release`, where that is what leaves."""
        return self.release(value)


class PurelyPrivate(Mechanism):
    """A mechanism whose price is its pure guarantee: nothing tighter is known of its losses."""

    relation: Relation

    @property
    @abstractmethod
    def _guaranteed(self) -> Fraction:
        """The guaranteed epsilon, exactly."""

    @property
    def guarantee(self) -> PureDP:
        """Pure differential privacy."""
        return PureDP(written_up(self._guaranteed), relation=self.relation)

    @property
    def loss(self) -> PrivacyLoss:
        """The worst loss of the pure guarantee."""
        return PrivacyLoss.from_guarantee(self.guarantee)


def stated_sensitivity(value: Number | Sensitivity | None, norms: tuple[Norm, ...]) -> Sensitivity:
    """Return a sensitivity in an accepted norm; a bare number is for a scalar, its relation unstated."""
    if value is None:
        raise MissingParameter(
            "sensitivity= says how far one person can move the answer; it is never guessed. For a count "
            "write sensitivity=1",
            parameter="sensitivity",
        )
    if not isinstance(value, Sensitivity):
        positive_rational(value, name="sensitivity")
        return Sensitivity(value, norm=norms[0], relation=Relation.UNSTATED)
    if value.norm not in norms:
        accepted = " or ".join(norm.name for norm in norms)
        raise ParameterError(
            f"this mechanism is priced in {accepted}; convert with sensitivity.to_norm(Norm.{norms[0].name}, "
            "coordinates=...)",
            parameter="sensitivity",
        )
    return value


def one_of(**choices: Number | None) -> str:
    """Return the name of the one parameter that was given."""
    given = [name for name, value in choices.items() if value is not None]
    names = " or ".join(f"{name}=" for name in choices)
    if not given:
        raise MissingParameter(f"give {names}: privacy parameters are never defaulted", parameter=next(iter(choices)))
    if len(given) > 1:
        raise ConflictingParameters(f"give {names}, not both: one follows from the other", parameter=given[1])
    return given[0]


def positive_epsilon(epsilon: Number | None) -> Fraction:
    """Return epsilon exactly as it is written; zero would need infinite noise."""
    if epsilon is None:
        raise MissingParameter("epsilon= is the price of a release and is never defaulted", parameter="epsilon")
    return positive_price(epsilon, name="epsilon")

"""What a person pays over many rounds: fresh reports every round, or one permanent report for each value."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from discreet.display import Rounding, definition_list, format_number
from discreet.errors import MissingParameter
from discreet.laws.number import Number, round_up
from discreet.local.protocol import Spec, checked_spec
from discreet.local.through_time.memoised import distinct_values
from discreet.privacy import ApproxDP, PrivacyLoss, PureDP, Relation
from discreet.privacy.numbers import whole, written_up


@dataclass(frozen=True)
class Schedule:
    """How often one person reports under a spec: `rounds`, with at most `distinct` permanent reports if memoised.

    Privacy. The rounds together cost at most `reports` times the loss of one report: for changing all values of a
        person if the reports are fresh, for changing them within the same pattern if they are memoised.
        Proof: fresh reports are independent, one a round; for memoised ones see `MemoisedClient`. A value needs a round
        to be seen, so no more than `rounds` are drawn.

    >>> from discreet.local.frequency.direct_response import DirectResponse
    >>> spec = DirectResponse(epsilon=1, values=4)
    >>> Schedule(rounds=30).guarantee(spec).epsilon, Schedule(rounds=30, distinct=3).guarantee(spec).epsilon
    (30.0, 3.0)
    """

    rounds: int
    distinct: int | None = None

    def __post_init__(self) -> None:
        """Check both counts."""
        object.__setattr__(self, "rounds", whole(self.rounds, name="rounds"))
        if self.distinct is not None:
            object.__setattr__(self, "distinct", distinct_values(self.distinct))

    @property
    def reports(self) -> int:
        """How many independent reports are drawn at most."""
        return self.rounds if self.distinct is None else min(self.rounds, self.distinct)

    def guarantee(self, spec: Spec) -> PureDP:
        """Return the pure promise for all rounds."""
        return PureDP(written_up(self.reports * checked_spec(spec).epsilon), relation=Relation.CHANGE_ONE)

    def loss(self, spec: Spec) -> PrivacyLoss:
        """Return the price of all rounds, for the accountant."""
        return checked_spec(spec).loss * self.reports

    def at_delta(self, spec: Spec, delta: Number) -> ApproxDP:
        """Return the best promise for all rounds at a delta, never worse than the pure one."""
        epsilon = min(written_up(Fraction(self.loss(spec).epsilon(delta).upper)), self.guarantee(spec).epsilon)
        return ApproxDP(epsilon, delta, relation=Relation.CHANGE_ONE)


@dataclass(frozen=True)
class Lifetime:
    """The price of the same rounds with fresh and with memoised reports, side by side."""

    spec: Spec
    fresh: Schedule
    memoised: Schedule
    delta: Number

    def _rows(self) -> list[tuple[str, str]]:
        rows = [("one report", f"epsilon {_shown(round_up(self.spec.epsilon))}")]
        kinds = (
            ("fresh reports, values changing at will", self.fresh),
            ("memoised, pattern of change public", self.memoised),
        )
        for name, schedule in kinds:
            pure, approximate = schedule.guarantee(self.spec), schedule.at_delta(self.spec, self.delta)
            drawn = f"{schedule.reports} of {schedule.rounds} rounds drawn"
            at = f"{_shown(approximate.epsilon)} at delta {format_number(float(self.delta))}"
            rows.append((name, f"epsilon {_shown(pure.epsilon)}, or {at} ({drawn})"))
        return rows

    def __str__(self) -> str:
        """Print both prices."""
        return "\n".join(f"{name}: {text}" for name, text in self._rows())

    def _repr_html_(self) -> str:
        """Return both prices as a list for a notebook."""
        return definition_list(self._rows())


def lifetime(
    spec: Spec, *, rounds: int | None = None, distinct: int | None = None, delta: Number | None = None
) -> Lifetime:
    """Compare fresh and memoised reports over the same rounds; nothing is defaulted.

    >>> from discreet.local.frequency.direct_response import DirectResponse
    >>> print(lifetime(DirectResponse(epsilon=1, values=4), rounds=30, distinct=3, delta=1e-6))
    one report: epsilon 1
    fresh reports, values changing at will: epsilon 30, or ... at delta 1e-06 (30 of 30 rounds drawn)
    memoised, pattern of change public: epsilon 3, or ... at delta 1e-06 (3 of 30 rounds drawn)
    """
    if rounds is None:
        raise MissingParameter("rounds= is the number of rounds of a life, never guessed", parameter="rounds")
    if delta is None:
        raise MissingParameter("delta= belongs to the promise and is never defaulted", parameter="delta")
    return Lifetime(checked_spec(spec), Schedule(rounds), Schedule(rounds, distinct_values(distinct)), delta)


def _shown(value: Number) -> str:
    return format_number(value, rounding=Rounding.UP)

"""An estimated mean from local reports, with its standard error and intervals that say what they are for."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING

from discreet.display import paragraph
from discreet.errors import ParameterError
from discreet.laws.clopper_pearson import chance_at_least, chance_at_most
from discreet.local.estimates import two_sided_normal
from discreet.local.protocol import Integers
from discreet.privacy import Estimate, Target
from discreet.privacy.numbers import plain

if TYPE_CHECKING:
    from discreet.local.means.scalar_mean import ScalarMean

_ENOUGH_PEOPLE = 1000
_SLACK = 1e-9
_ROUNDINGS = 4


@dataclass(frozen=True, eq=False)
class LocalMean:
    """The estimated mean of the values of `people`: unbiased, with its standard error.

    The standard error comes from the spread of the decoded reports: it counts the noise and the spread of the values,
    so it is right for the population and on the safe side for the table. It is never less than that of the least noise
    that any value has: at large epsilon all reports may happen to be equal, and still the mean is not known exactly.

    Accuracy. `estimate` holds at its confidence for every table and every number of people where all reports are one
        bit, and for fewer than 1000 people; beyond, for longer reports, it is the normal approximation.
        Proof: one bit: the number S of ones is a sum of independent coins whose mean chance is q + (p - q) times the
        mean share. A sum of independent coins has P(S >= s) at most that of a binomial of the same mean n c for s >=
        n c + 1, and likewise below (Hoeffding). So the chances c that are not refuted by s, those with s < n c + 1 or
        a binomial tail above (1 - confidence) / 2, and likewise below, form an interval that misses the true one with
        at most the stated probability; the coins of a population are the binomial itself. Few people: Bernstein's
        inequality with the largest variance and the largest distance of a decoded report from its mean. The ends are
        moved out by what floats may have rounded.
    Reference. Hoeffding 1956; Clopper, Pearson 1934; Bernstein 1946.

    >>> from discreet.local.means.one_bit_and_hybrid import DuchiBit
    >>> spec = DuchiBit(epsilon=Fraction(1), lower=Fraction(0), upper=Fraction(10))
    >>> print(spec.aggregator().add([1] * 600 + [0] * 400).estimate())
    7.16 [6.49, 7.83] (95 %, table)
    """

    spec: ScalarMean
    people: int
    value: float
    standard_error: float
    ones: int | None = field(default=None, repr=False)

    @classmethod
    def from_histogram(cls, spec: ScalarMean, counts: Integers, people: int) -> LocalMean:
        """Decode a histogram exactly: the mean and the spread of the decoded reports."""
        tallies = counts.tolist()
        mean = sum((n * d for n, d in zip(tallies, spec.decoded, strict=True) if n), Fraction(0)) / people
        square = sum((n * d * d for n, d in zip(tallies, spec.decoded, strict=True) if n), Fraction(0)) / people
        spread = (square - mean**2) * people / (people - 1) if people > 1 else spec.worst_in_population
        return cls(
            spec=spec,
            people=people,
            value=float(spec.lower + spec.width * mean),
            standard_error=float(spec.width) * math.sqrt(max(spread, spec.least) / people),
            ones=int(tallies[1]) if spec.cells == 2 else None,
        )

    def estimate(self, confidence: float = 0.95, *, target: Target = Target.TABLE) -> Estimate:
        """Return the mean with an interval for the people who reported, or for the population they come from.

        The interval contains the value, be that outside the public range. Cutting its ends to the range loses no
        coverage.
        """
        level = float(plain(confidence, name="confidence"))
        if not 0.0 < level < 1.0:
            raise ParameterError("confidence must lie strictly between 0 and 1, such as 0.95", parameter="confidence")
        low, high, method = self._ends((1.0 - level) * (1.0 - _SLACK), target)
        rounding = _ROUNDINGS * math.ulp(max(map(abs, (low, high, float(self.spec.lower), float(self.spec.upper)))))
        return Estimate(
            value=self.value,
            low=min(low - rounding, self.value),
            high=max(high + rounding, self.value),
            confidence=level,
            target=target,
            guarantee=self.spec.guarantee,
            method=method,
            loss=self.spec.loss,
        )

    def __float__(self) -> float:
        """Return the value alone."""
        return self.value

    def _repr_html_(self) -> str:
        """Show the value with its interval, the promise and the number of people in a notebook."""
        return self.estimate()._repr_html_() + paragraph(f"{self.people:,} people")

    def __str__(self) -> str:
        """Print the value with its 95 % interval for the people who reported."""
        return str(self.estimate())

    def _ends(self, rest: float, target: Target) -> tuple[float, float, str]:
        """Return the ends before they are moved out, and how they were found."""
        if self.ones is not None:
            return *self._binomial(rest, self.ones), "Clopper-Pearson, widened for unequal coins"
        if self.people < _ENOUGH_PEOPLE:
            half = self._bernstein(rest, target)
            return self.value - half, self.value + half, "Bernstein's inequality"
        half = two_sided_normal(rest) * self.standard_error
        return self.value - half, self.value + half, "normal approximation"

    def _binomial(self, rest: float, ones: int) -> tuple[float, float]:
        """Return the values whose coin is not refuted by the number of ones."""
        low = min(float(chance_at_least(ones, self.people, rest / 2)), (ones - 1) / self.people)
        high = max(float(chance_at_most(ones, self.people, rest / 2)), (ones + 1) / self.people)
        law = self.spec.branches[0].law
        ends = ((chance - float(law.unlikely)) / float(law.slope) for chance in (low, high))
        first, second = (float(self.spec.lower) + float(self.spec.width) * share for share in ends)
        return first, second

    def _bernstein(self, rest: float, target: Target) -> float:
        """Return the half-width that holds whatever the values are."""
        variance = self.spec.worst if target is Target.TABLE else self.spec.worst_in_population
        reach = float(max(*self.spec.decoded, 1 - min(self.spec.decoded)))
        log = math.log(2 / rest)
        linear = reach * log / (3 * self.people)
        return float(self.spec.width) * (linear + math.sqrt(linear**2 + 2 * float(variance) * log / self.people))

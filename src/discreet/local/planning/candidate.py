"""One protocol that could do the work, with everything that a choice between protocols looks at."""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet.display import format_number
from discreet.local.estimates import allowed_error, two_sided_normal
from discreet.local.frequency import HybridGeometry, OneBitHadamard, ProjectiveGeometry
from discreet.local.heavy_hitters import HeavyHitters
from discreet.local.keys import HashedGeometry
from discreet.local.protocol import Oracle

_HALF = 0.5  # beyond it at most one value can stand out


@dataclass(frozen=True)
class Candidate:
    """A spec with its predicted error for so many people, and why it was chosen or not.

    `looked_at` is the number of values that are looked at together.

    >>> from discreet.local.frequency.direct_response import DirectResponse
    >>> one = Candidate(DirectResponse(epsilon=1, values=4), people=10_000, looked_at=4)
    >>> round(one.standard_error, 4), round(one.ratio, 2), one.report_bits
    (0.0126, 0.43, 2)
    """

    spec: Oracle
    people: int
    looked_at: int
    confidence: float = 0.95
    reason: str = ""

    def __post_init__(self) -> None:
        """Check the confidence."""
        allowed_error(self.confidence)

    @property
    def protocol(self) -> str:
        """The name of the protocol."""
        return self.spec.protocol

    @property
    def variance(self) -> float:
        """The exact variance of the estimated share of a value that nobody holds.

        For keys it includes collisions, if the squared shares of all keys sum to 0.2.
        """
        return self.spec.variance(self.people, 0.0)

    @property
    def worst_variance(self) -> float:
        """The largest variance over everything that the others can hold; only that of blocks depends on it."""
        if isinstance(self.spec, HybridGeometry):
            return self.spec.worst_variance(self.people, 0.0)
        return self.variance

    @property
    def standard_error(self) -> float:
        """The root of the variance."""
        return math.sqrt(self.variance)

    @property
    def ratio(self) -> float:
        """The variance over 4 e^epsilon / (n (e^epsilon - 1)^2), the least one for a rare value in a large domain."""
        return self.variance / self.spec.optimum(self.people)

    @property
    def report_bits(self) -> int:
        """What a person sends; the row of a one-bit report is public and not sent."""
        return 1 if isinstance(self.spec, OneBitHadamard) else self.spec.report_bits

    def calls_in_words(self) -> str:
        """Return the calls that send a bit without its row and complete it, as a sentence; else nothing."""
        if not isinstance(self.spec, OneBitHadamard):
            return ""
        return (
            "The bit is client().bit(value, person=...); the collector completes it by spec.with_rows(bits, people). "
            f"With client().report(value) the row is sent along, {self.spec.report_bits} bits."
        )

    @property
    def cells(self) -> int:
        """The number of counters that the collector keeps."""
        return self.spec.cells

    @property
    def additions(self) -> int:
        """About how many additions decoding takes: some 2^31 a second."""
        match self.spec:
            case ProjectiveGeometry() | HybridGeometry() | HashedGeometry() | HeavyHitters():
                return max(self.spec.dimension - 2, 1) * self.spec.prime * self.cells
            case OneBitHadamard():
                return self.cells * self.cells.bit_length()
        return self.cells

    @property
    def poisoning_gain(self) -> float:
        """What one hostile report can add to an estimated number of people."""
        return self.spec.poisoning_gain

    @property
    def detectable(self) -> float:
        """The share that stands out from nothing half of the time, if so many values are looked at together.

        It is the least estimate whose interval, Bonferroni over all of them, lies above zero, as in `Frequencies.top`;
        for heavy hitters the share from which on a key is found.
        """
        if isinstance(self.spec, HeavyHitters):
            return self.spec.detectable(self.people)
        return two_sided_normal(allowed_error(self.confidence) / self.looked_at) * self.standard_error

    def error_in_words(self) -> str:
        """Return error, distance from the optimum and what stands out, as sentences."""
        error = format_number(100 * self.standard_error, digits=3)
        return (
            f"The standard error of a rare value is {error} %, its variance {format_number(self.ratio, digits=4)} "
            f"times the least that any protocol has in a large domain. {self._seen()} One hostile report moves an "
            f"estimated count by up to {format_number(self.poisoning_gain, digits=3)} people."
        )

    def _seen(self) -> str:
        """Say from which share on a value stands out."""
        share = format_number(100 * self.detectable, digits=3)
        if self.detectable > _HALF:
            which = "share" if self.detectable >= 1 else f"share below {share} %"
            return f"No {which} stands out: there are too few people for this epsilon."
        if isinstance(self.spec, HeavyHitters):
            return f"A key is found every other time from a share of about {share} % on."
        together = f"With {self.looked_at:,} values looked at together" if self.looked_at > 1 else "Looked at alone"
        return f"{together} ({100 * self.confidence:.6g} %), a value stands out from a share of about {share} % on."

"""From the number of people, the categories and epsilon to a protocol: the error of each is known beforehand.

A candidate is one protocol that could do the work, with everything that a choice between protocols looks at.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

from discreet.display import Table, format_number, paragraph
from discreet.errors import ConflictingParameters, MissingParameter, ParameterError
from discreet.laws.number import Number
from discreet.local.estimates import allowed_error, two_sided_normal
from discreet.local.frequency import (
    LARGEST_TABLE,
    CategoricalOracle,
    DirectResponse,
    FrequencyOracle,
    HybridGeometry,
    OneBitHadamard,
    ProjectiveGeometry,
)
from discreet.local.heavy_hitters import HeavyHitters
from discreet.local.keys import LARGEST_SKETCH, HashedGeometry, Keys
from discreet.local.protocol import (
    LARGEST_TOTAL,
    checked_categories,
    local_epsilon,
    number_of_categories,
    number_of_people,
)
from discreet.privacy.numbers import whole

_NEGLIGIBLE = 1.005
_PATIENCE = 1 << 34
_HOPELESS = 100.0  # times the least variance


@dataclass(frozen=True)
class Design:
    """The protocol that was chosen, the others that could do it, and the reasons.

    `spec` is all that clients and collector need; `explain` says why, `table` compares.
    """

    chosen: DesignChoice
    others: tuple[DesignChoice, ...]

    @property
    def spec(self) -> FrequencyOracle:
        """The public spec to give to clients and collector."""
        return self.chosen.spec

    @property
    def candidates(self) -> tuple[DesignChoice, ...]:
        """All of them, the chosen one first."""
        return (self.chosen, *self.others)

    def table(self) -> Table:
        """Return one row a protocol: errors and the detectable frequency, as parts of all people."""
        columns = ["protocol", "standard error", "variance / least", "detectable", "bits", "counters", "poisoning", ""]
        rows = [
            [
                one.protocol,
                one.standard_error,
                one.ratio,
                one.detectable if one.detectable < 1 else None,
                one.report_bits,
                one.cells,
                one.poisoning_gain,
                one.reason,
            ]
            for one in self.candidates
        ]
        return Table(columns, rows, self._caption, digits=3)

    def explain(self) -> str:
        """Return the choice, what it gives, and why not the others, in sentences."""
        bits, counters = self.chosen.report_bits, self.chosen.cells
        sent = f"{bits} bit{'s' if bits > 1 else ''}"
        head = (
            f"{self.spec.protocol}: a report of {sent}, {counters:,} counters at the collector ({self.chosen.reason}). "
            f"{self.chosen.calls_in_words()}"
        ).rstrip()
        rest = [f"{one.protocol}: {one.reason}." for one in self.others]
        return "\n".join([self._caption, head, self.chosen.error_in_words(), *rest])

    @property
    def _caption(self) -> str:
        """What was asked for."""
        epsilon = format_number(float(self.spec.epsilon), digits=6)
        keys = getattr(self.spec, "keys", None)
        domain = f"keys {keys}" if keys else f"{self.chosen.looked_at:,} categories"
        people = "1 person" if self.chosen.people == 1 else f"{self.chosen.people:,} people"
        return f"{people}, {domain}, epsilon {epsilon} each"

    def __repr__(self) -> str:
        return f"Design({self._caption}: {self.spec.protocol})"

    def __str__(self) -> str:
        return self.explain()

    def _repr_html_(self) -> str:
        """Show sentences and table in a notebook."""
        lines = "".join(paragraph(line) for line in self.explain().split("\n")[1:3])
        return lines + self.table()._repr_html_()


def design(
    *,
    people: int | None = None,
    categories: int | Sequence[str] | None = None,
    epsilon: Number | None = None,
    keys: Keys | str | None = None,
    asked: int | None = None,
    find: bool = False,
    seed: int | None = None,
    bits: int | None = None,
    largest: int | None = None,
    confidence: float = 0.95,
) -> Design:
    """Choose a frequency protocol by its exact variance.

    Of the protocols whose collector keeps at most `largest` counters (2^26 unless said), and whose clients send at most
    `bits` bits if that is said, the one with the least variance for a rare value, whatever the others hold, is taken;
    among those within half a percent of it, the one with the shortest report, then the smallest table. Where one
    projective space would be too large, or take longer than seconds to decode, it is split into blocks. Where only
    randomized response is left, at a hundred times the least variance or more, and neither `largest` nor `bits` was
    given, the call raises ParameterError: raise `largest`, or treat the values as keys. `categories` is their number,
    or their names in a list or a column.

    Keys that nobody can list, such as `keys=TextKeys(32)`, are hashed under a public `seed`, drawn if none is given;
    `asked` is how many of them will be asked for, 1 if left out. With `find=True` nobody has to name them: the
    frequent ones are searched for (`HeavyHitters`). All of this is public: nothing is computed from data.

    >>> chosen = design(people=1_000_000, categories=65_536, epsilon=1)
    >>> chosen
    Design(1,000,000 people, 65,536 categories, epsilon 1 each: projective-geometry)
    >>> (
    ...     chosen.spec.report_bits,
    ...     round(chosen.chosen.ratio, 2),
    ...     round(chosen.chosen.detectable, 4),
    ... )
    (17, 1.02, 0.0096)
    """
    exact, count = local_epsilon(epsilon), _people(people)
    width = None if bits is None else whole(bits, name="bits")
    if keys is not None:
        if width is not None or categories is not None:
            raise ConflictingParameters("keys= cannot be combined with categories= or bits=", parameter="keys")
        spec, why = _for_keys(exact, count, keys, seed, largest, find=find)
        looked_at = 1 if asked is None else whole(asked, name="asked")
        return Design(DesignChoice(spec, count, looked_at, confidence, why), ())
    for name, given in (("seed", seed), ("asked", asked)):
        if given is not None:
            raise ConflictingParameters(f"{name}= is for keys=; categories have no use for it", parameter=name)
    if find:
        raise MissingParameter("find= searches for keys: say what a key is, as in keys=TextKeys(32)", parameter="keys")
    listed, most = checked_categories(categories), whole(LARGEST_TABLE if largest is None else largest, name="largest")
    size = number_of_categories(listed)
    found = [DesignChoice(spec, count, size, confidence) for spec in _specs(exact, listed, most)]
    return _decided(found, most, width, patient=largest is not None or width is not None)


def _for_keys(
    epsilon: Fraction, people: int, keys: Keys | str, seed: int | None, largest: int | None, *, find: bool
) -> tuple[FrequencyOracle, str]:
    """Return the one protocol for keys that cannot be listed, and why."""
    limit = LARGEST_SKETCH if largest is None else whole(largest, name="largest")
    if not find:
        spec = HashedGeometry.best(epsilon=epsilon, people=people, keys=keys, seed=seed, largest=limit)
        return spec, "keys that cannot be listed are hashed"
    plan = HeavyHitters.plan(epsilon=epsilon, people=people, keys=keys, seed=seed)
    if largest is not None and plan.cells > limit:
        raise ParameterError(
            f"searching for these keys takes {plan.cells:,} counters: raise largest=", parameter="largest"
        )
    return plan, "frequent keys that nobody can name are searched for"


def _specs(epsilon: Fraction, categories: int | Sequence[str], largest: int) -> Iterator[CategoricalOracle]:
    """Yield the protocols that are not dominated by another, each with its best parameters."""
    yield DirectResponse(epsilon=epsilon, categories=categories)
    for kind in (ProjectiveGeometry, HybridGeometry):
        with suppress(ParameterError):  # no space holds the categories in this number of counters
            spec = kind.best(epsilon=epsilon, categories=categories, largest=largest)
            yield spec
            if DesignChoice(spec, people=1, looked_at=1).additions <= _PATIENCE:
                break  # blocks have more variance, and are for spaces that cannot be decoded at once
    yield OneBitHadamard(epsilon=epsilon, categories=categories)


def _decided(found: list[DesignChoice], most: int, width: int | None, *, patient: bool) -> Design:
    """Take the protocol of least variance within the limits, and say why not the others.

    Where nobody asked for limits, one that is a hundred times worse than a larger table is not taken.
    """
    fitting = [one for one in found if not _excluded(one, found, most, width)]
    if not fitting or not (patient or any(one.ratio <= _HOPELESS for one in fitting)):
        useful = "" if not fitting else f" and less than {_HOPELESS:g} times the least variance"
        raise ParameterError(
            f"no protocol for {found[0].looked_at:,} categories has at most {most:,} counters{useful}: raise largest=, "
            "or treat the values as keys: keys=IntegerKeys(40)",
            parameter="largest",
        )
    least = min(one.worst_variance for one in fitting)
    near = [one for one in fitting if one.worst_variance <= _NEGLIGIBLE * least]
    chosen = min(near, key=lambda one: (one.report_bits, one.cells))
    others = sorted((one for one in found if one is not chosen), key=lambda one: one.worst_variance)
    told = [replace(one, reason=_excluded(one, found, most, width) or _compared(one, chosen)) for one in others]
    return Design(replace(chosen, reason=_praise(chosen, fitting, found)), tuple(told))


def _excluded(one: DesignChoice, found: list[DesignChoice], most: int, width: int | None) -> str:
    """Say which limit a protocol does not keep, or nothing."""
    if one.cells > most:
        return f"needs {one.cells:,} counters, more than {most:,}"
    if width is not None and one.report_bits > width:
        return f"sends {one.report_bits} bits, more than {width}"
    if isinstance(one.spec, ProjectiveGeometry) and any(isinstance(other.spec, HybridGeometry) for other in found):
        return f"decoding takes {format_number(float(one.additions), digits=2)} additions, blocks take less"
    spaces = any(isinstance(other.spec, ProjectiveGeometry | HybridGeometry) for other in found)
    if isinstance(one.spec, OneBitHadamard) and width is None and spaces:
        return "never less variance; for clients that can send one bit: ask for bits=1"
    return ""


def _praise(chosen: DesignChoice, fitting: list[DesignChoice], found: list[DesignChoice]) -> str:
    """Say why one was chosen."""
    if len(fitting) == 1:
        return "the only one within the limits"
    best = min(fitting, key=lambda one: one.worst_variance)
    if best.worst_variance < chosen.worst_variance:
        gain = "a shorter report" if chosen.report_bits < best.report_bits else "a smaller table"
        return f"within half a percent of the least variance, with {gain}"
    limited = any(one.worst_variance < chosen.worst_variance for one in found)
    least = "least variance within the limits" if limited else "least variance"
    return f"{least}, whatever people hold" if any(_less_on_average(one, chosen) for one in fitting) else least


def _compared(one: DesignChoice, chosen: DesignChoice) -> str:
    """Compare a protocol that could be taken with the chosen one."""
    times = one.variance / chosen.variance
    if abs(times - 1) < _NEGLIGIBLE - 1:
        return "about the same variance"
    words = f"{format_number(times, digits=3)} times the variance"
    if not _less_on_average(one, chosen):
        return words
    most = format_number(one.worst_variance / chosen.worst_variance, digits=3)
    return f"{words} on average, {most} times in a block that most people fall into"


def _less_on_average(one: DesignChoice, chosen: DesignChoice) -> bool:
    """Say whether one that was not taken has less variance if people are spread evenly over its blocks."""
    return one.variance * _NEGLIGIBLE < chosen.variance


def _people(people: object) -> int:
    """Return the expected number of people, which is never guessed."""
    if people is None:
        raise MissingParameter(
            "people= is how many are expected to report; the error depends on it", parameter="people"
        )
    count = number_of_people(people)
    if count > LARGEST_TOTAL:
        raise ParameterError("people must be at most 2^62, the most that an aggregator counts", parameter="people")
    return count


_HALF = 0.5  # beyond it at most one value can stand out


@dataclass(frozen=True)
class DesignChoice:
    """A spec with its predicted error for `people`, and why it was chosen or not.

    `looked_at` is the number of values that are looked at together.

    >>> from discreet.local.frequency.direct_response import DirectResponse
    >>> one = DesignChoice(
    ...     DirectResponse(epsilon=1, categories=4), people=10_000, looked_at=4
    ... )
    >>> round(one.standard_error, 4), round(one.ratio, 2), one.report_bits
    (0.0126, 0.43, 2)
    """

    spec: FrequencyOracle
    people: int
    looked_at: int
    confidence: float = 0.95
    reason: str = ""

    def __post_init__(self) -> None:
        allowed_error(self.confidence)

    @property
    def protocol(self) -> str:
        """The name of the protocol."""
        return self.spec.protocol

    @property
    def variance(self) -> float:
        """The exact variance of the estimated frequency of a value that nobody holds.

        For keys it includes collisions, if the squared frequencies of all keys sum to 0.2.
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
        """The frequency that stands out from nothing half of the time, if `looked_at` values are looked at together.

        It is the least estimate whose interval, Bonferroni over all of them, lies above zero, as in `Frequencies.top`;
        for heavy hitters the frequency from which on a key is found.
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
        """Say from which frequency on a value stands out."""
        frequency = format_number(100 * self.detectable, digits=3)
        if self.detectable > _HALF:
            which = "frequency" if self.detectable >= 1 else f"frequency below {frequency} %"
            return f"No {which} stands out: there are too few people for this epsilon."
        if isinstance(self.spec, HeavyHitters):
            return f"A key is found every other time from a frequency of about {frequency} % on."
        many = "categories" if isinstance(self.spec, CategoricalOracle) else "keys"
        together = f"With {self.looked_at:,} {many} looked at together" if self.looked_at > 1 else "Looked at alone"
        how = f"{together} ({100 * self.confidence:.6g} %)"
        return f"{how}, a value stands out from a frequency of about {frequency} % on."

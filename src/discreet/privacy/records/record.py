"""Records of releases: what was released, in exact public numbers, so that the total can be computed again."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Self, TypeVar

from discreet._version import __version__
from discreet.errors import ConflictingParameters, MissingParameter, ParameterError
from discreet.laws.number import Number, exact_rational
from discreet.privacy.loss import PrivacyLoss, Sampler, compose
from discreet.privacy.numbers import probability, whole
from discreet.privacy.records.kinds import (
    SHAPES,
    Parameter,
    Parameters,
    ReleaseKind,
    exact_number,
    exact_parameters,
    plainest,
    priced,
    shortened,
)
from discreet.privacy.records.text import Text, rational_text, read, read_rational, refuse_fields, write
from discreet.privacy.relation import Relation

Plain = TypeVar("Plain", int, str)
FORMAT = 2
_FIELDS = ("count", "format", "kind", "library", "parameters", "rate", "relation", "sampler", "unit")
_LONGEST_WORDS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleaseRecord:
    """One release, or many with the same parameters, as frozen data from which its price is made again.

    `parameters` are exact rationals, for whom (`relation`, `unit`), on which rows (`sampler`, `rate`), how often
    (`count`). `loss` hands them to the public constructors, so a record cannot disagree with the library about a price.
    Nothing in a record comes from the data: there is no place for an answer, a query, a value or a row count, and every
    field is known before the release is made. `unit` is your own word for who is protected; do not write a name there.

    Of balls in bins a release is one epoch, `count` the number of epochs and `rate` one over the steps of an epoch. Of
    noise correlated over steps ("matrix gaussian") a release is the whole run; on cyclic Poisson samples it is one turn
    through the groups, with sampler "poisson" and the rate within a group (`cyclic_poisson_loss`). Batches that drop
    people beyond a cap are two records, the sampled one and an "approx" one with epsilon 0 and the chance of a drop
    (`truncated_loss`).

    `library` is the version that wrote the record; a later version may know a tighter price for the same release.

    Privacy. `replay` of records is the price of the releases together, and parsing what `to_json` wrote changes no bit.
        Proof: numbers are kept as rationals, written in digits and read back without rounding; equal records give equal
        arguments to the same constructors, and these, `compose` and the engines are deterministic. So the same version
        on the same kind of machine gives the same epsilon(delta) and delta(epsilon), to the bit, in whatever process
        and whatever was asked before; elsewhere bounds may differ in their last digits, and hold.

    >>> people = {"relation": "add/remove", "unit": "patient"}
    >>> step = ReleaseRecord.of(
    ...     "gaussian", scale=1, sampler="poisson", rate=0.01, count=10_000, **people
    ... )
    >>> step.loss.epsilon(1e-5).upper
    6.18771...
    >>> ReleaseRecord.from_json(step.to_json()) == step
    True
    """

    kind: ReleaseKind
    parameters: Parameters
    relation: Relation
    unit: str
    sampler: Sampler = Sampler.EVERYONE
    rate: Fraction | None = None
    count: int = 1
    library: str = __version__
    format: int = FORMAT

    def __post_init__(self) -> None:
        set_field = object.__setattr__
        set_field(self, "kind", ReleaseKind.named(self.kind))
        set_field(self, "parameters", exact_parameters(self.kind, _pairs(self.parameters)))
        set_field(self, "relation", _relation(self.relation))
        set_field(self, "unit", _words(self.unit, name="unit", example="'patient'"))
        set_field(self, "library", _words(self.library, name="library", example=repr(__version__)))
        set_field(self, "sampler", _sampler(self.sampler))
        set_field(self, "rate", _rate(self.sampler, self.rate))
        set_field(self, "count", whole(self.count, name="count"))
        if type(self.format) is not int or self.format != FORMAT:
            raise ParameterError(
                f"this version of discreet reads records of format {FORMAT}; a record of another format needs the "
                "version that wrote it, or a newer one",
                parameter="format",
            )
        _ = self.loss  # made once here, so that a record without a price cannot exist

    @classmethod
    def of(
        cls,
        kind: ReleaseKind | str,
        *,
        relation: Relation | str,
        unit: str,
        sampler: Sampler | str = Sampler.EVERYONE,
        rate: Number | None = None,
        count: int = 1,
        **parameters: object,
    ) -> Self:
        """Return a record from plain numbers and names; a float is taken as the rational it stands for."""
        named = ReleaseKind.named(kind)
        return cls(
            kind=named, parameters=exact_parameters(named, parameters), relation=_relation(relation), unit=unit,
            sampler=_sampler(sampler), rate=None if rate is None else exact_rational(rate, name="rate"), count=count,
        )  # fmt: skip

    @property
    def loss(self) -> PrivacyLoss:
        """The price of all `count` releases, made by the public constructors."""
        return priced(self.kind, self.parameters, self.relation, self.sampler, self.rate) * self.count

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical bytes, in hexadecimal."""
        return hashlib.sha256(self.to_json().encode("ascii")).hexdigest()

    def to_json(self) -> str:
        """Return the one canonical text: sorted keys, no spaces, integers and fractions only, ASCII."""
        return write(self.to_dict())

    def to_dict(self) -> dict[str, object]:
        """Return what `to_json` writes, as plain values."""
        return {
            "count": self.count,
            "format": self.format,
            "kind": self.kind.value,
            "library": self.library,
            "parameters": {name: _written(value) for name, value in self.parameters},
            "rate": None if self.rate is None else rational_text(self.rate),
            "relation": self.relation.value,
            "sampler": self.sampler.value,
            "unit": self.unit,
        }

    @classmethod
    def from_json(cls, text: Text) -> Self:
        """Read one record; anything but a record that this version fully understands is refused."""
        return cls.from_dict(read(text))

    @classmethod
    def from_dict(cls, given: object) -> Self:
        """Read one record from plain values."""
        fields = refuse_fields(given, _FIELDS, what="a record")
        kind = ReleaseKind.named(fields["kind"])
        parameters = refuse_fields(fields["parameters"], SHAPES[kind].names, what=f"parameters of {kind.value!r}")
        rate, count = fields["rate"], _plain(fields["count"], int, name="count")
        return cls(
            kind=kind,
            parameters=tuple((name, _read(value, name=name)) for name, value in parameters.items()),
            relation=_relation(fields["relation"]), unit=_plain(fields["unit"], str, name="unit"),
            sampler=_sampler(fields["sampler"]), rate=None if rate is None else read_rational(rate, name="rate"),
            count=count, library=_plain(fields["library"], str, name="library"),
            format=_plain(fields["format"], int, name="format"),
        )  # fmt: skip

    def __repr__(self) -> str:
        numbers = [f"{name}={_shown(value)}" for name, value in self.parameters]
        sampled = [] if self.rate is None else [f"sampler={self.sampler.value!r}", f"rate={_shown(self.rate)}"]
        often = [] if self.count == 1 else [f"count={self.count}"]
        who = [f"relation={self.relation.value!r}", f"unit={self.unit!r}"]
        return f"ReleaseRecord.of({', '.join([repr(self.kind.value), *numbers, *who, *sampled, *often])})"


def replay(records: Iterable[ReleaseRecord]) -> PrivacyLoss:
    """Return the price of all recorded releases together, for one unit of protection and one relation.

    >>> first = ReleaseRecord.of(
    ...     "pure", epsilon=0.5, relation="add/remove", unit="patient"
    ... )
    >>> second = ReleaseRecord.of(
    ...     "laplace", scale=4, relation="add/remove", unit="patient", count=2
    ... )
    >>> replay([first, second]).max_loss().upper
    1.0
    """
    given = list(records)
    if not given:
        raise ParameterError("nothing to replay: pass at least one record", parameter="records")
    if not all(isinstance(one, ReleaseRecord) for one in given):
        raise ParameterError("replay takes records; read them with records_from_json", parameter="records")
    units = sorted({one.unit for one in given})
    if len(units) > 1:
        raise ParameterError(
            f"these records protect different units, {' and '.join(map(shortened, units[:2]))} among them, and their "
            "prices do not add up to a guarantee for one of them. Replay the records of each unit on their own.",
            parameter="records",
        )
    return compose(one.loss for one in given)


def records_to_json(records: Iterable[ReleaseRecord]) -> str:
    """Return a list of records as canonical text, in order."""
    return write([one.to_dict() for one in records])


def records_from_json(text: Text) -> tuple[ReleaseRecord, ...]:
    """Read a list of records; one that is not understood makes the whole list unreadable, for its total is unknown.

    >>> records_from_json("[]")
    ()
    """
    found = read(text)
    if not isinstance(found, list):
        raise ParameterError("records must be a JSON list: [ {...}, {...} ]", parameter="records")
    records = []
    for place, one in enumerate(found):
        try:
            records.append(ReleaseRecord.from_dict(one))
        except ParameterError as problem:
            raise ParameterError(
                f"record {place + 1} of {len(found)}: {problem}", parameter=problem.parameter
            ) from None
    return tuple(records)


def _pairs(parameters: object) -> dict[str, object]:
    """Return parameters by name, from a mapping or from pairs of a name and a value."""
    if isinstance(parameters, Mapping):
        return dict(parameters)
    pairs = parameters if isinstance(parameters, tuple) else ()
    made = {one[0]: one[1] for one in pairs if isinstance(one, tuple) and len(one) == 2 and isinstance(one[0], str)}
    if not isinstance(parameters, tuple) or len(made) < len(parameters):
        raise ParameterError("parameters must be pairs of a name and a value, each name once", parameter="parameters")
    return made


def _relation(value: object) -> Relation:
    """Return the relation of a name."""
    found = {one.value: one for one in Relation}.get(value) if isinstance(value, str) else value
    if not isinstance(found, Relation):
        names = ", ".join(repr(one.value) for one in Relation)
        raise ParameterError(f"relation must be one of {names}, not {shortened(value)}", parameter="relation")
    return found


def _sampler(value: object) -> Sampler:
    """Return the sampler of a name, short enough to be shown in an error."""
    if isinstance(value, Sampler) or (isinstance(value, str) and len(value) <= _LONGEST_WORDS):
        return Sampler.named(value)
    raise ParameterError(f"sampler must be the name of a sampler, not {shortened(value)}", parameter="sampler")


def _rate(sampler: Sampler, rate: Fraction | None) -> Fraction | None:
    """Refuse a sample without a rate and a rate without a sample."""
    if sampler is Sampler.EVERYONE:
        if rate is not None:
            raise ConflictingParameters(
                "a rate belongs to a sample: state sampler='poisson', 'fixed size' or 'balls in bins', or leave the "
                "rate out",
                parameter="rate",
            )
        return None
    if rate is None:
        example = "Fraction(1, 100)" if sampler is Sampler.BALLS_IN_BINS else "0.01"
        raise MissingParameter(f"{sampler.value} sampling needs its rate: rate={example}, say", parameter="rate")
    return exact_number(probability(rate, name="rate"), name="rate")


def _words(value: object, *, name: str, example: str) -> str:
    """Refuse words that are empty, long, or not plain text on one line."""
    if not isinstance(value, str) or not value.strip():
        raise ParameterError(f"{name} is required, as a word or a few: {name}={example}", parameter=name)
    if len(value) > _LONGEST_WORDS or not value.isprintable():
        raise ParameterError(
            f"{name} must be at most {_LONGEST_WORDS} printable characters on one line", parameter=name
        )
    return value


def _plain(value: object, kind: type[Plain], *, name: str) -> Plain:
    """Raise ParameterError for a JSON value that is not a whole number, or not a string."""
    if not isinstance(value, kind) or isinstance(value, bool):
        words = "a whole number" if kind is int else "a string"
        raise ParameterError(f"{name} must be {words}, not {shortened(value)}", parameter=name)
    return value


def _read(value: object, *, name: str) -> Parameter:
    """Read one parameter: a number, or a row of numbers."""
    if isinstance(value, list):
        return tuple(read_rational(one, name=name) for one in value)
    return read_rational(value, name=name)


def _written(value: Parameter) -> object:
    return [rational_text(one) for one in value] if isinstance(value, tuple) else rational_text(value)


def _shown(value: Parameter) -> str:
    """Print a number as people would write it."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(_shown, value))}]"
    return repr(plainest(value))

"""What client and aggregator agree on before a report exists: one frozen, public, hashable text."""

from __future__ import annotations

import hashlib
import json
import re
from abc import ABC, abstractmethod
from dataclasses import MISSING, dataclass, fields
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from discreet.errors import MissingParameter, ParameterError
from discreet.laws import Finite
from discreet.laws.number import Number
from discreet.local.protocol.rational_coin import local_epsilon
from discreet.local.protocol.sql_counts import counting_sql
from discreet.privacy import PrivacyLoss, PureDP, Relation
from discreet.privacy.numbers import written_up

if TYPE_CHECKING:
    from discreet.local.protocol.aggregator import Aggregator
    from discreet.local.protocol.client import Client, Randomizer

Kind = TypeVar("Kind")

FORMAT = "discreet.local"
VERSION = 2
_PROTOCOLS: dict[str, type[Spec]] = {}
_LONGEST = 1 << 25
_MOST_BRACKETS = 1000
_MOST_SHOWN = 8
_CHOOSERS = ("best", "plan")
_EPSILON = re.compile(r"[1-9][0-9]{0,319}(/[1-9][0-9]{0,319})?")
_SLICE = 1 << 16


@dataclass(frozen=True, kw_only=True)
class Spec(ABC):
    """A local protocol with all its public parameters.

    Reports are integers from 0 to cells - 1. A subclass is a frozen dataclass of JSON values (ints, texts, Fractions,
    tuples of them); `derived` says what else a client in another language needs, and is checked on reading.
    Equal specs have equal digests; a digest travels with every batch of reports and every aggregate.
    """

    epsilon: Number  # held as a Fraction
    protocol: ClassVar[str]

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        # a dataclass writes its own repr unless the class has one itself
        cls.__repr__ = cls.__repr__  # type: ignore[method-assign]
        if "protocol" in cls.__dict__:
            known = _PROTOCOLS.setdefault(cls.protocol, cls)
            if (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
                raise ParameterError(f"{cls.protocol!r} is already the name of the protocol {known.__qualname__}")
            _PROTOCOLS[cls.protocol] = cls

    def __new__(cls, *_: Any, **given: Any) -> Self:
        """Name all the required parameters that were left out, whatever the protocol."""
        missing = [name for name in _required(cls) if name not in given]
        if missing == ["epsilon"]:
            raise MissingParameter("epsilon= is the price of a report and is never defaulted", parameter="epsilon")
        if missing:
            *first, last = (f"{name}=" for name in missing)
            named = f"{', '.join(first)} and {last}" if first else last
            chooser = next((f"; {cls.__name__}.{name}() chooses" for name in _CHOOSERS if hasattr(cls, name)), "")
            raise MissingParameter(f"{cls.__name__} needs {named}, by keyword{chooser}", parameter=missing[0])
        return super().__new__(cls)

    def __getnewargs_ex__(self) -> tuple[tuple[()], dict[str, Any]]:
        return (), {name: getattr(self, name) for name in _required(type(self))}

    def __post_init__(self) -> None:
        self._take(epsilon=local_epsilon(self.epsilon))

    @property
    def exact_epsilon(self) -> Fraction:
        """Epsilon as the Fraction that it is held as."""
        return Fraction(self.epsilon)

    def _take(self, **checked: Any) -> None:
        """Put checked parameters in the place of those that were given."""
        for name, value in checked.items():
            object.__setattr__(self, name, value)

    @property
    @abstractmethod
    def cells(self) -> int:
        """The number of possible reports."""

    @abstractmethod
    def derived(self) -> dict[str, Any]:
        """Return what follows from the parameters and a small client should not have to compute, as JSON values."""

    @abstractmethod
    def items(self, values: Any) -> Any:
        """Return private values, checked; raise InputError on anything else, without showing it."""

    @abstractmethod
    def randomize(self, items: Any, /) -> NDArray[np.int64]:
        """Draw a report for each value, exactly; the values were checked."""

    @abstractmethod
    def law(self, value: Any) -> Finite:
        """Return the exact law of the report of one value, for at most 2^16 outputs."""

    @abstractmethod
    def corners(self) -> tuple[Any, ...]:
        """Return a few values, where audits start."""

    def several(self, value: Any) -> bool:
        """Say whether this is a column of values, of several people."""
        return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim > 0)

    def client(self) -> Client:
        """Return one person's client."""
        from discreet.local.protocol.client import Client

        return Client(self)

    def mechanism(self) -> Randomizer:
        """Return the sampler as a mechanism without memory, for audits and tests."""
        from discreet.local.protocol.client import Randomizer

        return Randomizer(self)

    def aggregator(self) -> Aggregator:
        """Return an empty aggregator of reports."""
        from discreet.local.protocol.aggregator import Aggregator

        return Aggregator(self)

    def aggregator_from(self, data: bytes) -> Aggregator:
        """Read what the `to_bytes` of an aggregator of this spec wrote, whatever the kind of aggregator."""
        return type(self.aggregator()).from_bytes(self, data)

    @property
    def report_bits(self) -> int:
        """The size of a report in bits."""
        return (self.cells - 1).bit_length()

    @property
    def report_bytes(self) -> int:
        """The size of a report in whole bytes, as it is packed."""
        return max(1, -(-self.report_bits // 8))

    def counting_sql(self, table: str | tuple[str, ...], column: str) -> str:
        """Return the statement by which any engine counts its reports; see `counting_sql` of `sql_counts`."""
        return counting_sql(table, column)

    @property
    def guarantee(self) -> PureDP:
        """What each person is guaranteed, whoever collects: pure local privacy for changing their value."""
        return PureDP(written_up(self.exact_epsilon), relation=Relation.CHANGE_ONE)

    @property
    @abstractmethod
    def loss(self) -> PrivacyLoss:
        """The price of one report."""

    def to_json(self) -> str:
        """Return the canonical text: sorted keys, no spaces, fractions as 'a/b', integers beyond 2^53 as text."""
        own = {field.name: _plain(getattr(self, field.name)) for field in fields(self)}
        whole = {"format": FORMAT, "version": VERSION, "protocol": self.protocol, **own}
        whole["derived"] = {name: _plain(value) for name, value in self.derived().items()}
        return json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=True)

    @cached_property
    def digest(self) -> bytes:
        """SHA-256 of the canonical text."""
        return hashlib.sha256(self.to_json().encode("ascii")).digest()

    @staticmethod
    def from_json(text: str) -> Spec:
        """Read a spec from hostile text; anything unknown, missing, doubled or inconsistent is a `ParameterError`."""
        whole = _object(text)
        canonical = json.dumps(whole, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
        name = whole.pop("protocol", None)
        kind = _PROTOCOLS.get(name) if isinstance(name, str) else None
        if whole.pop("format", None) != FORMAT or whole.pop("version", None) != VERSION or kind is None:
            known = ", ".join(sorted(_PROTOCOLS))
            raise ParameterError(f"this is not a spec of {FORMAT}, version {VERSION}, protocols {known}")
        whole.pop("derived", None)
        spec = _made(kind, whole)
        if spec is None:
            raise ParameterError(f"a field of this spec of {kind.protocol} has a wrong type")
        if spec.to_json() != canonical:
            raise ParameterError("this spec is not consistent: its derived values do not follow from its parameters")
        return spec

    @classmethod
    def _read(cls, values: dict[str, Any]) -> Self:
        """Build from the JSON values of the fields; a subclass with other than plain fields converts them first."""
        names = {field.name for field in fields(cls)}
        if set(values) != names:
            raise ParameterError(f"a spec of {cls.protocol} must have the fields {', '.join(sorted(names))}")
        read: dict[str, Any] = {name: _frozen(value) for name, value in values.items()}
        read["epsilon"] = _written_fraction(read["epsilon"])
        return cls(**read)

    def __repr__(self) -> str:
        shown = [f"{field.name}={_shown(getattr(self, field.name))}" for field in fields(self) if field.repr]
        return f"{type(self).__name__}({', '.join(shown)})"

    def __hash__(self) -> int:
        return hash(self.digest)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Spec) and self.digest == other.digest


def checked_spec(spec: Kind) -> Kind:
    """Return a spec; raise ParameterError on anything else, most often the text of one."""
    if not isinstance(spec, Spec):
        text = "; Spec.from_json reads a text into one" if isinstance(spec, str | bytes) else ""
        raise ParameterError(
            f"this takes a spec, such as DirectResponse(epsilon=1, categories=3){text}", parameter="spec"
        )
    return spec


def _required(kind: type[Spec]) -> list[str]:
    """Return the parameters without a default."""
    made = (field for field in fields(kind) if field.init)
    return [field.name for field in made if field.default is MISSING and field.default_factory is MISSING]


def _shown(value: Any) -> str:
    """Return a parameter as a reader needs it."""
    if isinstance(value, Fraction) and value.denominator == 1:
        return str(value)
    if isinstance(value, tuple) and len(value) > _MOST_SHOWN:
        return f"({value[0]!r}, {value[1]!r}, ..., {value[-1]!r})"
    return repr(value)


def _plain(value: Any) -> Any:
    """Return a parameter as a JSON value."""
    if isinstance(value, Fraction):
        return str(value)
    if isinstance(value, tuple | list):
        return [_plain(entry) for entry in value]
    if isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 1 << 53:
        return str(value)
    return value


def _frozen(value: Any) -> Any:
    """Return lists as tuples, which can be hashed."""
    return tuple(_frozen(entry) for entry in value) if isinstance(value, list) else value


def _written_fraction(text: object) -> Fraction:
    """Read 'a/b' or 'a'; exponents, which could stand for numbers of any length, are not allowed."""
    if not isinstance(text, str) or _EPSILON.fullmatch(text) is None:
        raise ParameterError("the epsilon of a spec must be written as 'a/b' or 'a'", parameter="epsilon")
    return Fraction(text)


def _made(kind: type[Spec], values: dict[str, Any]) -> Spec | None:
    """Build a spec; None where a constructor stumbled over a value of a kind it never meets in code."""
    try:
        spec = kind._read(values)
        spec.to_json()
    except ParameterError:
        raise
    except Exception:
        return None
    return spec


def _object(text: str) -> dict[str, Any]:
    """Read one JSON object of bounded size, without doubled names, floats or long integers."""
    read = None
    if isinstance(text, str) and _short_enough(text) and not _too_deep(text):
        try:
            read = json.loads(
                text, object_pairs_hook=_distinct, parse_int=_short, parse_float=_none, parse_constant=_none
            )
        except (ValueError, RecursionError):
            read = None
    if not isinstance(read, dict):
        raise ParameterError("a spec must be one JSON object as written by to_json(), of at most 32 MiB")
    return read


def _short_enough(text: str) -> bool:
    """Say whether a text has at most 32 MiB in UTF-8; a lone surrogate cannot be written there."""
    if text.isascii() or len(text) > _LONGEST:
        return len(text) <= _LONGEST
    try:
        return len(text.encode()) <= _LONGEST
    except UnicodeEncodeError:
        return False


def _too_deep(text: str) -> bool:
    """Say whether there are more lists than a spec has; brackets inside labels do not count.

    Every other part between quotes is outside of labels, once escaped quotes are gone; cut into slices, so that a
    hostile text takes little memory.
    """
    if text.count("[") + text.count("{") <= _MOST_BRACKETS:
        return False
    bare, brackets, outside = text.replace("\\\\", "").replace('\\"', ""), 0, True
    for start in range(0, len(bare), _SLICE):
        parts = bare[start : start + _SLICE].split('"')
        seen = "".join(parts[0 if outside else 1 :: 2])
        brackets += seen.count("[") + seen.count("{")
        outside ^= len(parts) % 2 == 0
    return brackets > _MOST_BRACKETS


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object; raise ValueError if a name occurs twice."""
    read = dict(pairs)
    if len(read) != len(pairs):
        raise ValueError("a name occurs twice")
    return read


def _short(digits: str) -> int:
    """Read an integer that JSON readers everywhere keep; longer ones are written as text."""
    if len(digits) > 17 or abs(int(digits)) >= 1 << 53:
        raise ValueError("an integer is too long")
    return int(digits)


def _none(_: str) -> Any:
    """Raise ValueError: a spec has no floats, NaN or infinity."""
    raise ValueError("a spec has no floats")

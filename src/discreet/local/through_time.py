"""Reports through time: a value's report is drawn once and repeated in every round, up to a declared number of values.

A schedule says what a person pays over many rounds: fresh reports every round, or one permanent report for each value.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np

from discreet.display import LastDigit, definition_list, format_number
from discreet.errors import InputError, MissingParameter, NotCopyable, ParameterError, StreamSpent
from discreet.laws.number import Number, round_up
from discreet.local.protocol import Spec, checked_spec, counted
from discreet.privacy import ApproxDP, PrivacyLoss, PureDP, Relation
from discreet.privacy.numbers import whole, written_up
from discreet.randomness.process import Process

_FORMAT, _VERSION = "discreet.local.memoized", 1
_DIGEST_BYTES = 32
_MOST_DISTINCT = 1 << 20


class Beyond(Enum):
    """What a memoized client does about a value beyond its cap: refuse it, or repeat the report of the round before."""

    REFUSE = "refuse"
    REPEAT = "repeat"

    def __repr__(self) -> str:
        return f"Beyond.{self.name}"


class MemoizedClient:
    """One person's client for many rounds: the same value always gives the same report.

    Averaging the rounds of a person tells no more than their first one. What the rounds do tell is when a value changed
    and when it came back: the times of change are not protected.

    Privacy. Fix the pattern of a person's life: which rounds have the same value. Whatever the number of rounds, the
        reports on two lives of the same pattern are (distinct * epsilon)-indistinguishable: `guarantee` is pure. Lives
        of different patterns may be told apart with certainty.
        Proof: number the values in the order of their first use. The client draws one report for each of the first
        `distinct` values, independently, each epsilon-private (`Spec`), and nothing else at random. Which of them
        a round repeats, and whether a round is refused or repeats what was said last, follows from the pattern and from
        the times of restarts. So all rounds together are a post-processing of `distinct` independent reports on values
        that may all change, and pure losses add.
    Cost. A dictionary of the values seen. `save` is for the device alone: it holds the values themselves.
    Reference. Erlingsson, Pihur, Korolova 2014, for the permanent report; Ding, Kulkarni, Yekhanin 2017.

    >>> from discreet.local.frequency.direct_response import DirectResponse
    >>> client = MemoizedClient(DirectResponse(epsilon=1, categories=4), distinct=2)
    >>> client.report(3) == client.report(3), client.guarantee.epsilon
    (True, 2.0)
    >>> again = [client.report(0), client.report(3), client.report(0)]
    >>> client.report(1)
    Traceback (most recent call last):
    discreet.errors.StreamSpent: this client has drawn its 2 permanent reports, ...
    """

    def __init__(
        self,
        spec: Spec,
        *,
        distinct: int | None = None,
        beyond: Beyond = Beyond.REFUSE,
        keep: Callable[[bytes], object] | None = None,
    ) -> None:
        self.spec, self.distinct = checked_spec(spec), distinct_values(distinct)
        if not isinstance(beyond, Beyond):
            raise ParameterError("beyond must be Beyond.REFUSE or Beyond.REPEAT", parameter="beyond")
        if keep is not None and not callable(keep):
            raise ParameterError("keep must be a function that stores bytes on the device", parameter="keep")
        self.beyond, self._keep = beyond, keep
        self._reports: dict[bytes, int] = {}
        self._last: int | None = None
        self._process, self._lock = Process.here(), threading.RLock()  # `keep` may ask for the state again

    @property
    def guarantee(self) -> PureDP:
        """The guarantee for life: distinct * epsilon for changing all values, the pattern being fixed."""
        return PureDP(written_up(self.distinct * self.spec.exact_epsilon), relation=Relation.CHANGE_ONE)

    @property
    def loss(self) -> PrivacyLoss:
        """The price of a whole life, for the accountant."""
        return self.spec.loss * self.distinct

    def report(self, value: Any) -> int:
        """Return the permanent report of a value; a refused value costs nothing."""
        items = self.spec.items([value])  # two names of one value are the same item
        key = _key(items)
        self._refuse_other_process()
        with self._lock:
            report = self._reports.get(key)
            if report is None:
                report = (
                    self._new(key, int(self.spec.randomize(items)[0]))
                    if len(self._reports) < self.distinct
                    else self._beyond_cap()
                )
            self._last = report
            return report

    def _new(self, key: bytes, report: int) -> int:
        """Store a permanent report that was just drawn; it is returned only after it was stored."""
        before = self._last
        try:
            self._reports[key], self._last = report, report
            if self._keep is not None:
                self._keep(self._state())
        except BaseException:
            # never sent, so it may be forgotten; kept, it would be repeated without being stored
            self._reports.pop(key, None)
            self._last = before
            raise
        return report

    def _beyond_cap(self) -> int:
        """Refuse, or repeat the round before: both follow from the pattern of the values alone."""
        if self.beyond is Beyond.REPEAT and self._last is not None:
            return self._last
        raise StreamSpent(
            f"this client has drawn its {counted(self.distinct, 'permanent report', 'permanent reports')}, and this is "
            "another value; declare a larger distinct= before the first round, or beyond=Beyond.REPEAT"
        )

    def save(self) -> bytes:
        """Return the state for the device alone, never to be sent: it holds the values and their reports."""
        self._refuse_other_process()
        with self._lock:
            return self._state()

    def _state(self) -> bytes:
        memory = [[key.hex(), str(report)] for key, report in self._reports.items()]
        whole_state = {
            "format": _FORMAT,
            "version": _VERSION,
            "spec": self.spec.digest.hex(),
            "distinct": self.distinct,
            "beyond": self.beyond.value,
            "memory": memory,
            "last": None if self._last is None else str(self._last),
        }
        text = json.dumps(whole_state, sort_keys=True, separators=(",", ":")).encode("ascii")
        return hashlib.sha256(text).digest() + text

    @classmethod
    def load(cls, spec: Spec, state: bytes, *, keep: Callable[[bytes], object] | None = None) -> MemoizedClient:
        """Go on after a restart, from the newest state, once: an older one, or two at a time, would draw again.

        >>> from discreet.local.frequency.direct_response import DirectResponse
        >>> spec = DirectResponse(epsilon=1, categories=4)
        >>> before = MemoizedClient(spec, distinct=2)
        >>> said = before.report(3)
        >>> MemoizedClient.load(spec, before.save()).report(3) == said
        True
        """
        read = _read(state)
        if read.get("spec") != checked_spec(spec).digest.hex():
            raise InputError("this state belongs to another spec; nothing was loaded")
        client = cls._from(spec, read, keep)
        if client is None or client._state() != bytes(state):  # raised outside any handler: nothing is chained
            raise InputError("this state is not one that save() returns; nothing was loaded")
        return client

    @classmethod
    def _from(cls, spec: Spec, read: dict[str, Any], keep: Callable[[bytes], object] | None) -> MemoizedClient | None:
        """Build a client from what was read; return None if it is not a state."""
        try:
            client = cls(spec, distinct=read["distinct"], beyond=Beyond(read["beyond"]), keep=keep)
            client._reports = {bytes.fromhex(key): int(report) for key, report in read["memory"]}
            client._last = None if read["last"] is None else int(read["last"])
        except (ValueError, TypeError, KeyError):
            return None
        reports = {*client._reports.values(), *(() if client._last is None else (client._last,))}
        sound = len(client._reports) <= client.distinct and all(0 <= report < spec.cells for report in reports)
        return client if sound else None

    def _refuse_other_process(self) -> None:
        if Process.here() != self._process:  # before the lock, which a thread of the parent may hold for ever
            raise StreamSpent("this client belongs to another process, which goes on using it; a state is loaded once")

    def __repr__(self) -> str:
        return f"MemoizedClient({self.spec.protocol}, distinct={self.distinct})"

    def _refuse_copy(self) -> NoReturn:
        raise NotCopyable("a copy would draw other permanent reports; save() and load() move a client over a restart")

    def __copy__(self) -> NoReturn:
        self._refuse_copy()

    def __deepcopy__(self, _: Any) -> NoReturn:
        self._refuse_copy()

    def __reduce__(self) -> NoReturn:
        self._refuse_copy()


def _key(items: Any) -> bytes:
    """Return the bytes of a value, the same for all ways to write it: 37, 37.0 and Fraction(37), -0.0 and 0.0."""
    if items.dtype.kind == "O":  # an exact number; the array holds no more than the address of it
        exact = Fraction(items[0])
        if Fraction(float(exact)) != exact:
            # in hex, which has no longest number; never the eight bytes of a float
            return f"fraction {exact.numerator:x}/{exact.denominator:x}".encode("ascii")
        items = np.array([float(exact)])
    return bytes((items + 0.0 if items.dtype.kind == "f" else items).tobytes())


def distinct_values(distinct: object) -> int:
    """Return the declared cap on the number of values with a report of their own."""
    if distinct is None:
        raise MissingParameter(
            "distinct= is the number of values that may ever get a report: the price of a life is distinct * epsilon",
            parameter="distinct",
        )
    count = whole(distinct, name="distinct")
    if count > _MOST_DISTINCT:
        raise ParameterError("distinct must be at most 2^20", parameter="distinct")
    return count


def _read(state: bytes) -> dict[str, Any]:
    """Read what save() wrote; raise InputError on anything else, without showing it."""
    text = bytes(state[_DIGEST_BYTES:]) if isinstance(state, bytes | bytearray | memoryview) else b""
    if not text or hashlib.sha256(text).digest() != bytes(state[:_DIGEST_BYTES]):
        raise InputError("this is not a state of a memoized client, or it was cut short; nothing was loaded")
    read = _object(text)
    if read.get("format") != _FORMAT or read.get("version") != _VERSION:
        raise InputError("this state was written by another version; nothing was loaded")
    return read


def _object(text: bytes) -> dict[str, Any]:
    """Read a JSON object; return an empty one where the text has none."""
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return read if isinstance(read, dict) else {}


@dataclass(frozen=True)
class Schedule:
    """How often one person reports under a spec: `rounds`, with at most `distinct` permanent reports if memoized.

    Privacy. The rounds together cost at most `reports` times the loss of one report: for changing all values of a
        person if the reports are fresh, for changing them within the same pattern if they are memoized.
        Proof: fresh reports are independent, one a round; for memoized ones see `MemoizedClient`. A value needs a round
        to be seen, so no more than `rounds` are drawn.

    >>> from discreet.local.frequency.direct_response import DirectResponse
    >>> spec = DirectResponse(epsilon=1, categories=4)
    >>> (
    ...     Schedule(rounds=30).guarantee(spec).epsilon,
    ...     Schedule(rounds=30, distinct=3).guarantee(spec).epsilon,
    ... )
    (30.0, 3.0)
    """

    rounds: int
    distinct: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "rounds", whole(self.rounds, name="rounds"))
        if self.distinct is not None:
            object.__setattr__(self, "distinct", distinct_values(self.distinct))

    @property
    def reports(self) -> int:
        """How many independent reports are drawn at most."""
        return self.rounds if self.distinct is None else min(self.rounds, self.distinct)

    def guarantee(self, spec: Spec) -> PureDP:
        """Return the pure guarantee for all rounds."""
        return PureDP(written_up(self.reports * checked_spec(spec).exact_epsilon), relation=Relation.CHANGE_ONE)

    def loss(self, spec: Spec) -> PrivacyLoss:
        """Return the price of all rounds, for the accountant."""
        return checked_spec(spec).loss * self.reports

    def at_delta(self, spec: Spec, delta: Number) -> ApproxDP:
        """Return the best guarantee for all rounds at a delta, never worse than the pure one."""
        epsilon = min(written_up(Fraction(self.loss(spec).epsilon(delta).upper)), self.guarantee(spec).epsilon)
        return ApproxDP(epsilon, delta, relation=Relation.CHANGE_ONE)


@dataclass(frozen=True)
class Lifetime:
    """The price of the same rounds with fresh and with memoized reports, side by side."""

    spec: Spec
    fresh: Schedule
    memoized: Schedule
    delta: Number

    def _rows(self) -> list[tuple[str, str]]:
        rows = [("one report", f"epsilon {_shown(round_up(self.spec.exact_epsilon))}")]
        kinds = (
            ("fresh reports, values changing at will", self.fresh),
            ("memoized, pattern of change public", self.memoized),
        )
        for name, schedule in kinds:
            pure, approximate = schedule.guarantee(self.spec), schedule.at_delta(self.spec, self.delta)
            drawn = f"{schedule.reports} of {schedule.rounds} rounds drawn"
            at = f"{_shown(approximate.epsilon)} at delta {format_number(float(self.delta))}"
            rows.append((name, f"epsilon {_shown(pure.epsilon)}, or {at} ({drawn})"))
        return rows

    def __str__(self) -> str:
        return "\n".join(f"{name}: {text}" for name, text in self._rows())

    def _repr_html_(self) -> str:
        """Return both prices as a list for a notebook."""
        return definition_list(self._rows())


def lifetime(
    spec: Spec, *, rounds: int | None = None, distinct: int | None = None, delta: Number | None = None
) -> Lifetime:
    """Compare fresh and memoized reports over the same rounds; nothing is defaulted.

    >>> from discreet.local.frequency.direct_response import DirectResponse
    >>> print(
    ...     lifetime(
    ...         DirectResponse(epsilon=1, categories=4),
    ...         rounds=30,
    ...         distinct=3,
    ...         delta=1e-6,
    ...     )
    ... )
    one report: epsilon 1
    fresh reports, values changing at will: epsilon 30, or ... at delta 1e-06 (30 of
        30 rounds drawn)
    memoized, pattern of change public: epsilon 3, or ... at delta 1e-06 (3 of 30
        rounds drawn)
    """
    if rounds is None:
        raise MissingParameter("rounds= must be stated: the number of rounds of a life", parameter="rounds")
    if delta is None:
        raise MissingParameter("delta= belongs to the guarantee and is never defaulted", parameter="delta")
    return Lifetime(checked_spec(spec), Schedule(rounds), Schedule(rounds, distinct_values(distinct)), delta)


def _shown(value: Number) -> str:
    return format_number(value, rounding=LastDigit.UP)

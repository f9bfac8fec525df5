"""What an audit can be asked: a mechanism that fits the level, pairs of different inputs, a number of runs.

The runs of the mechanism are counted, so that an audit of code that hardly ever runs does not look harmless.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any

import numpy as np

from discreet.audit.verdict import Level, Until
from discreet.errors import ParameterError
from discreet.laws import Law
from discreet.privacy.numbers import whole

Pairs = list[tuple[Any, Any]]
_PAIRS = "neighbors must be a list of pairs, each a tuple of two inputs: neighbors=[(x, y), ...]"


def chosen_level(level: object) -> Level:
    """Return the level meant by a member of Level or by its name.

    >>> chosen_level("statistical").name
    'STATISTICAL'
    """
    if isinstance(level, Level):
        return level
    if isinstance(level, str) and level.upper() in Level.__members__:
        return Level[level.upper()]
    levels = ", ".join(f"Level.{name}" for name in Level.__members__)
    raise ParameterError(f"level must be one of {levels}, or the name of one as a text", parameter="level")


def check_kind(mechanism: object) -> None:
    """Refuse what is often taken for a mechanism: its name, its class, a law."""
    if isinstance(mechanism, str | bytes):
        raise ParameterError(
            "a mechanism is an object or a function, not its name; exhibits of the museum are in "
            "discreet.testing.museum.MUSEUM, each with a label.name",
            parameter="mechanism",
        )
    if isinstance(mechanism, type):
        name = mechanism.__name__
        raise ParameterError(
            f"{name} is a class: pass an instance, such as {name}(...); a call of the class itself is audited as "
            f"lambda value: {name}(value)",
            parameter="mechanism",
        )
    if isinstance(mechanism, Law):
        raise ParameterError(
            "this is a law, one distribution; a mechanism has one for each input: law(value)", parameter="mechanism"
        )


def check_level(mechanism: object, level: Level) -> None:
    """Refuse a mechanism that cannot be audited at a level, and say at which it can."""
    kind = type(mechanism).__name__
    known, runs = _has(mechanism, "law", "pair"), callable(mechanism) or _has(mechanism, "runs", "wire")
    if level is Level.EXACT and not known:
        remedy = (
            "To audit it by running it, pass level=Level.STATISTICAL (what many runs tell) or level=Level.WIRE (what "
            "the form of its outputs tells)"
            if runs
            else f"This {kind} has neither, and cannot be called"
        )
        raise ParameterError(
            f"an exact audit needs a mechanism with law(value) or pair(first, second). {remedy}", parameter="mechanism"
        )
    if level is not Level.EXACT and not runs:
        remedy = "it has a law: use level=Level.EXACT" if known else "pass a function of one input, or a mechanism"
        raise ParameterError(f"this {kind} cannot be called, so it cannot be run; {remedy}", parameter="mechanism")


def _has(mechanism: object, *names: str) -> bool:
    """Say whether something has one of these methods."""
    return any(callable(getattr(mechanism, name, None)) for name in names)


def checked_pairs(neighbors: object) -> Pairs:
    """Return pairs of inputs as a list; raise if they are not pairs, or if every input is paired with itself."""
    if isinstance(neighbors, str | bytes | dict) or not isinstance(neighbors, Iterable):
        raise ParameterError(_PAIRS, parameter="neighbors")
    pairs: Pairs = []
    for pair in neighbors:
        if not isinstance(pair, tuple) or len(pair) != 2:
            raise ParameterError(_PAIRS, parameter="neighbors")
        pairs.append(pair)
    if not pairs:
        raise ParameterError("an audit needs at least one pair of neighboring inputs", parameter="neighbors")
    # some of many tables may well come down to the same counts, and such a pair does no harm beside others
    if all(is_same(*pair) for pair in pairs):
        raise ParameterError(
            "neighbors must differ: an audit of an input and itself says nothing", parameter="neighbors"
        )
    return pairs


def is_same(first: Any, second: Any) -> bool:  # noqa: PLR0911  one a kind
    """Say whether two inputs are the same in type and content; objects of unknown kinds only if they are one.

    >>> (
    ...     is_same([1, 2.0], [1, 2.0]),
    ...     is_same(0, 0.0),
    ...     is_same({"a": 1, "b": 2}, {"b": 2, "a": 1}),
    ... )
    (True, False, False)
    """
    if first is second:
        return True
    if type(first) is not type(second):
        return False
    if isinstance(first, np.ndarray):
        if first.dtype != second.dtype or first.shape != second.shape:
            return False
        if first.dtype.kind == "O":
            return is_same(first.ravel().tolist(), second.ravel().tolist())
        return bool(first.tobytes() == second.tobytes())
    if isinstance(first, dict):  # an order of keys can tell
        return is_same(list(first.items()), list(second.items()))
    if isinstance(first, list | tuple):
        return len(first) == len(second) and all(is_same(*both) for both in zip(first, second, strict=True))
    if isinstance(first, float | complex):  # minus zero is not zero
        return repr(first) == repr(second)
    return isinstance(first, int | str | bytes | Fraction | set | frozenset | np.generic) and bool(first == second)


def checked_draws(draws: object, default: int) -> int:
    """Return a number of runs."""
    if draws is None:
        return default
    if isinstance(draws, bool | np.bool_) or not isinstance(draws, int | np.integer):
        raise ParameterError("draws must be a whole number of runs, such as draws=20_000", parameter="draws")
    return whole(draws, name="draws")


def check_until(until: object) -> None:
    """Raise unless this is a member of Until."""
    if not isinstance(until, Until):
        raise ParameterError("until= must be Until.SPENT or Until.DECIDED", parameter="until")


_NEARLY = 0.9
_SHOWN = 80


class Watched:
    """A mechanism that is passed on as it is, while runs, and errors by their type, are counted.

    >>> watched = Watched(lambda value: 1 / value)
    >>> for _ in range(20):
    ...     try:
    ...         watched(0)
    ...     except ZeroDivisionError:
    ...         pass
    >>> watched.finding()
    'all 20 runs ended in an error of type ZeroDivisionError (division by zero)'
    """

    def __init__(self, mechanism: Any) -> None:
        self._mechanism = mechanism
        self._once: Callable[[Any], Any] = getattr(mechanism, "wire", mechanism)
        self._single, self._batch = _Count(), _Count()
        many = getattr(mechanism, "runs", None)
        if callable(many):
            self._many = many
            self.runs = self._run_many
            if not callable(self._once):
                self._once = lambda value: many(value, 1)[0]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._mechanism, name)

    def __call__(self, value: Any) -> Any:
        """Run once."""
        return self._single.counted(1, self._once, value)

    def wire(self, value: Any) -> Any:
        """Run once, in the form in which outputs leave."""
        return self(value)

    def _run_many(self, value: Any, draws: int) -> Any:
        """Run many times at once."""
        return self._batch.counted(draws, self._many, value, draws)

    def finding(self) -> str | None:
        """Say that all runs, or nearly all, ended in an error; None where they did not."""
        # after an error of a batch, the runs that count are made one by one
        return (self._single if self._single.runs else self._batch).finding()


class _Count:
    """Runs, and those that ended in an error, by its type."""

    def __init__(self) -> None:
        self.runs = 0
        self.errors: Counter[str] = Counter()
        self.texts: dict[str, str] = {}

    def counted(self, draws: int, call: Callable[..., Any], *arguments: Any) -> Any:
        """Call, count, and let errors pass."""
        self.runs += draws
        try:
            return call(*arguments)
        except Exception as error:
            kind = type(error).__name__
            self.errors[kind] += draws
            if kind not in self.texts:
                self.texts[kind] = _text(error)
            raise

    def finding(self) -> str | None:
        """Put it in words."""
        failed = self.errors.total()
        if not failed or failed < _NEARLY * self.runs:
            return None
        (kind, _), *others = self.errors.most_common()
        which = f"all {self.runs:,} runs" if failed == self.runs else f"{failed:,} of {self.runs:,} runs"
        text = f" ({self.texts[kind]})" if self.texts[kind] else ""
        return f"{which} ended in an error{', most' if others else ''} of type {kind}{text}"


def _text(error: Exception) -> str:
    """Return the beginning of what an error says; inputs of an audit are made up, not taken from anybody."""
    try:
        text = str(error)
    except Exception:
        return ""
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."

"""A mechanism whose runs are counted, so that an audit of code that hardly ever runs does not look harmless."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

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
        """Take on what the mechanism can do: run once, and run many times at once."""
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
        """Pass on whatever else the mechanism has."""
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

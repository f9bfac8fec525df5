"""Everything discreet raises or warns with, in one tree.

::

    DiscreetError
    ├── ParameterError (ValueError)      a public parameter cannot be used as given
    │   ├── MissingParameter             one that is never defaulted was left out
    │   └── ConflictingParameters        two that exclude each other were both given
    ├── PolicyError (ValueError)         a policy file does not say what it must, line by line
    ├── QueryRefused (ValueError)        a query cannot be answered as it is written; nothing was read or spent
    │   ├── UnsupportedSQL               it uses something that has no private meaning here
    │   ├── UnknownName                  a table, column or function that the policy does not know
    │   ├── MissingBound                 an aggregate needs a range that nobody has stated
    │   └── PrivateKeys                  it groups by keys that are not public, without what that takes
    ├── QueryFailed (RuntimeError)       the engine gave no answer after the charge; the price is spent
    ├── InputError (ValueError)          a value is outside the declared domain (the value is never shown)
    ├── RelationMismatch (ValueError)    guarantees for different neighbor relations were mixed
    ├── NoSoundConversion (ValueError)   the guarantee asked for does not follow from the one at hand
    ├── BudgetExceeded (RuntimeError)    a release does not fit into what is left of a budget; nothing was spent
    ├── LedgerError (RuntimeError)       the ledger of spending cannot do what was asked; nothing was released
    │   ├── WaitedTooLong                the same question is still being answered elsewhere; nothing was spent
    │   ├── LedgerTampered               its file was changed, or an older copy was put back
    │   ├── LedgerMismatch               it is of other data, other terms or another request than the one given
    │   └── ReleaseSuperseded            another attempt has taken the release up: this one draws nothing more
    ├── StreamSpent (RuntimeError)       a stream has used up its hits, or belongs to another process
    ├── NotCopyable (TypeError)          a stateful mechanism or a budget was copied or pickled
    ├── AssumptionFailed (RuntimeError)  this machine breaks an assumption a proof rests on
    ├── NotConverged (RuntimeError)      draws from a posterior failed their diagnostics; none of them is handed out
    └── MissingExtra (ImportError)       an optional package is not installed

    SenselessParameter (UserWarning)     legal, but it protects nobody or answers nothing

Rules: a message says what to change; it may name parameters, types and shapes, never a private value; nothing is
chained to an exception that could carry one.
"""

from __future__ import annotations

from collections.abc import Sequence


class DiscreetError(Exception):
    """The root of everything discreet raises on purpose."""


class ParameterError(DiscreetError, ValueError):
    """A public parameter (an epsilon, a scale, a grid) cannot be used as given."""

    def __init__(self, message: str, *, parameter: str | None = None) -> None:
        super().__init__(message)
        self.parameter = parameter


class MissingParameter(ParameterError):
    """A parameter that is never defaulted was left out."""


class ConflictingParameters(ParameterError):
    """Two parameters that exclude each other were both given."""


class PolicyError(DiscreetError, ValueError):
    """A policy file cannot be used; `problems` lists every mistake as (line or None, what is wrong and the remedy)."""

    def __init__(self, problems: Sequence[tuple[int | None, str]], *, file: str = "policy.toml") -> None:
        self.problems = tuple(problems)
        self.file = file
        super().__init__(self.problems)  # what a copy and a pickle are made from

    def __str__(self) -> str:
        lines = [f"{self.file}{f', line {line}' if line else ''}: {words}" for line, words in self.problems]
        return "\n".join(lines)


class QueryRefused(DiscreetError, ValueError):
    """A query cannot be answered as it is written; no data was read and nothing was spent."""


class UnsupportedSQL(QueryRefused):
    """A query uses a construct that has no private meaning here; the message says what to write instead."""


class UnknownName(QueryRefused):
    """A query names a table, a column or a function that the policy does not know."""


class MissingBound(QueryRefused):
    """An aggregate needs a public range of its argument, from the policy or in the query."""


class PrivateKeys(QueryRefused):
    """A query groups by keys that are not public, and lacks the delta or the bound that selecting them takes."""


class QueryFailed(DiscreetError, RuntimeError):
    """The engine gave no answer after the charge; whether it does may depend on the data, so the price is spent."""


class InputError(DiscreetError, ValueError):
    """A value lies outside the mechanism's declared domain; the message never shows the value."""


class RelationMismatch(DiscreetError, ValueError):
    """Guarantees or sensitivities stated for different neighbor relations were mixed."""


class NoSoundConversion(DiscreetError, ValueError):
    """The guarantee asked for does not follow from the one at hand."""


class BudgetExceeded(DiscreetError, RuntimeError):
    """A release does not fit into what is left of a session's budget; nothing was spent and nothing released."""


class LedgerError(DiscreetError, RuntimeError):
    """The ledger of spending cannot do what was asked; nothing was released."""


class WaitedTooLong(LedgerError):
    """The same question is still being answered elsewhere after the time to wait; nothing was spent."""


class LedgerTampered(LedgerError):
    """The ledger's file was changed by other hands, or an older copy of it was put back."""


class LedgerMismatch(LedgerError):
    """The ledger belongs to other data or other terms, or an entry to another request, than what was given."""


class ReleaseSuperseded(LedgerError):
    """Another attempt at a release has taken it up, or has ended it: this one draws nothing more."""


class StreamSpent(DiscreetError, RuntimeError):
    """A stream mechanism has used up its hits, or was opened by another process."""


class NotCopyable(DiscreetError, TypeError):
    """Something that may exist once, a secret state or a budget, was copied, pickled or used in a forked process."""


class AssumptionFailed(DiscreetError, RuntimeError):
    """This machine breaks an assumption that an exactness proof rests on; nothing was sampled."""


class NotConverged(DiscreetError, RuntimeError):
    """Draws from a posterior failed their diagnostics, and so did every other way; the message says what to change."""


class MissingExtra(DiscreetError, ImportError):
    """An optional package is not installed; the message names the extra that brings it."""


class SenselessParameter(UserWarning):
    """A legal parameter that protects nobody, or whose answers would be useless."""

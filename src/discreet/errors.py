"""Everything discreet raises or warns with, in one tree.

::

    DiscreetError
    ├── ParameterError (ValueError)      a public parameter cannot be used as given
    │   ├── MissingParameter             one that is never defaulted was left out
    │   └── ConflictingParameters        two that exclude each other were both given
    ├── InputError (ValueError)          a value is outside the declared domain (the value is never shown)
    ├── RelationMismatch (ValueError)    promises for different neighbour relations were mixed
    ├── NoSoundConversion (ValueError)   the promise asked for does not follow from the one at hand
    ├── BudgetExceeded (RuntimeError)    a release does not fit into what is left of a budget; nothing was spent
    ├── StreamSpent (RuntimeError)       a stream has used up its hits, or belongs to another process
    ├── NotCopyable (TypeError)          a stateful mechanism or a budget was copied or pickled
    ├── AssumptionFailed (RuntimeError)  this machine breaks an assumption a proof rests on
    └── MissingExtra (ImportError)       an optional package is not installed

    SenselessParameter (UserWarning)     legal, but it protects nobody or answers nothing

Rules: a message says what to change; it may name parameters, types and shapes, never a private value; nothing is
chained to an exception that could carry one.
"""

from __future__ import annotations


class DiscreetError(Exception):
    """The root of everything discreet raises on purpose."""


class ParameterError(DiscreetError, ValueError):
    """A public parameter (an epsilon, a scale, a grid) cannot be used as given."""

    def __init__(self, message: str, *, parameter: str | None = None) -> None:
        """Keep the name of the offending parameter beside the message."""
        super().__init__(message)
        self.parameter = parameter


class MissingParameter(ParameterError):
    """A parameter that is never defaulted was left out."""


class ConflictingParameters(ParameterError):
    """Two parameters that exclude each other were both given."""


class InputError(DiscreetError, ValueError):
    """A value lies outside the mechanism's declared domain; the message never shows the value."""


class RelationMismatch(DiscreetError, ValueError):
    """Promises or sensitivities stated for different neighbour relations were mixed."""


class NoSoundConversion(DiscreetError, ValueError):
    """The promise asked for does not follow from the one at hand."""


class BudgetExceeded(DiscreetError, RuntimeError):
    """A release does not fit into what is left of a session's budget; nothing was spent and nothing released."""


class StreamSpent(DiscreetError, RuntimeError):
    """A stream mechanism has used up its hits, or was opened by another process."""


class NotCopyable(DiscreetError, TypeError):
    """Something that may exist once, a secret state or a budget, was copied, pickled or used in a forked process."""


class AssumptionFailed(DiscreetError, RuntimeError):
    """This machine breaks an assumption that an exactness proof rests on; nothing was sampled."""


class MissingExtra(DiscreetError, ImportError):
    """An optional package is not installed; the message names the extra that brings it."""


class SenselessParameter(UserWarning):
    """A legal parameter that protects nobody, or whose answers would be useless."""

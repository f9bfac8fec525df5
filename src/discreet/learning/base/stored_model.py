"""A fitted model as public text, and back bit for bit: what a ledger keeps, and what a file of a model holds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

from discreet.errors import DiscreetError, LedgerMismatch
from discreet.ledger.contract import MOST_BYTES, UNREADABLE, TextForms

if TYPE_CHECKING:
    from discreet.learning.base.estimator import PrivateEstimator

_FORMAT = 1
_FROM_PRICE = ("guarantee_", "loss_", "charge_")  # made again from the price and the ledger
FORMS = TextForms(
    time=(datetime, datetime.isoformat, datetime.fromisoformat),
    date=(date, date.isoformat, date.fromisoformat),
)


def fitted(model: PrivateEstimator) -> dict[str, Any]:
    """Return all that a fit has left in a model, by name, but the price and the charge."""
    stated = model.get_params(deep=False)
    return {name: one for name, one in vars(model).items() if name not in stated and name not in _FROM_PRICE}


def to_text(model: PrivateEstimator) -> str | None:
    """Return a fitted model as JSON text, or None if that is longer than `MOST_BYTES`."""
    content = {
        "format": _FORMAT,
        "estimator": type(model).__name__,
        "fitted": {name: FORMS.plain(value) for name, value in fitted(model).items()},
    }
    text = json.dumps(content, separators=(",", ":"), sort_keys=True)
    return text if len(text) <= MOST_BYTES else None


def from_text(text: str, estimator: str) -> Mapping[str, Any]:
    """Return the fitted attributes that were stored for an estimator; raise for any other text."""
    try:
        content = json.loads(text)
        if (content["format"], content["estimator"]) != (_FORMAT, estimator):
            raise ValueError("another model")
        return {str(name): FORMS.value(value) for name, value in content["fitted"].items()}
    except (DiscreetError, *UNREADABLE):
        raise LedgerMismatch(
            "the ledger holds something else for this request than a model of this estimator, perhaps by another "
            "version of discreet. Nothing was spent."
        ) from None

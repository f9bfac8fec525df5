"""A fitted model as public text, and back bit for bit: what a ledger keeps, and what a file of a model holds."""

from __future__ import annotations

import json
import math
import sys
import warnings
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from typing import Any

import numpy as np

from discreet.errors import DiscreetError, InputError, LedgerMismatch
from discreet.learning.exact import FitPrice, stated_classes
from discreet.ledger.contract import MOST_BYTES, UNREADABLE, TextForms, fraction_of
from discreet.privacy import Relation

_FORMAT = 1
_FROM_PRICE = ("guarantee_", "loss_", "charge_")  # made again from the price and the ledger
_ROOM = "discreet.learning"
_MOST_FEATURES = 1 << 11


class _OfTheRoom(type):
    def __instancecheck__(cls, value: object) -> bool:
        return is_dataclass(type(value)) and type(value).__module__.startswith(f"{_ROOM}.")


class _Record(metaclass=_OfTheRoom):
    """Any dataclass of this room, such as the splits of a tree: written by its name and its fields."""


def _record_words(value: Any) -> list[Any]:
    return [type(value).__name__, *([one.name, FORMS.plain(getattr(value, one.name))] for one in fields(value))]


def _record(words: list[Any]) -> Any:
    name, *given = words
    return class_named(name)(**{str(one): FORMS.value(value) for one, value in given})


def class_named(name: str) -> Any:
    """Return the dataclass of this room with a name; no two have the same one."""
    for module, held in sorted(sys.modules.items()):
        found = getattr(held, name, None) if module.startswith(f"{_ROOM}.") else None
        if isinstance(found, type) and is_dataclass(found) and found.__module__ == module:
            return found
    raise LookupError("there is no such class")


def _price(content: list[Any]) -> FitPrice:
    given = dict.fromkeys(("epsilon", "delta", "rho", "mu"), None) | {
        name: fraction_of(one) for name, one in content[0]
    }
    return FitPrice.read(**given, relation=Relation[content[1]], pure=True)


FORMS = TextForms(
    time=(datetime, datetime.isoformat, datetime.fromisoformat),
    date=(date, date.isoformat, date.fromisoformat),
    relation=(Relation, lambda value: value.name, Relation.__getitem__),
    price=(
        FitPrice,
        lambda value: [[[name, str(one)] for name, one in value.stated.amounts().items()], value.relation.name],
        _price,
    ),
    record=(_Record, _record_words, _record),
)


def fitted(model: Any) -> dict[str, Any]:
    """Return all that a fit has left in a model, by name, but what follows from the price, and the charge."""
    stated = model.get_params(deep=False)
    return {name: one for name, one in vars(model).items() if name not in stated and name not in _FROM_PRICE}


def restore(model: Any, content: Mapping[str, Any], charge: int | None) -> None:
    """Put what a fit has left into a model."""
    model.__dict__.update(content)
    price = model._price
    model.guarantee_, model.loss_, model.charge_ = price.guarantee, price.loss, charge


def check_model(model: Any) -> None:
    """Raise an error for attributes that no fit has left: what does not fit together, is not finite, or says nothing.

    A file of a model may come from anybody. What it holds is looked at, and a few public rows are tried, before
    anything is charged for it.
    """
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            _check_parts(model)
            _check_words(model, int(model.n_features_in_))
    except (DiscreetError, *UNREADABLE):
        raise InputError(
            "a model must hold what a fit has left; got one that was changed: fit it again. Nothing was spent."
        ) from None


def _check_parts(model: Any) -> None:
    """Raise an error where the columns, the classes or the numbers of a model cannot be those of a fit."""
    features, columns = model.n_features_in_, vars(model).get("columns_")
    if type(features) is not int or not 1 <= features <= _MOST_FEATURES or not isinstance(model._price, FitPrice):
        raise ValueError("no features, or no price")
    if columns is not None:
        values = [one for given in columns.values() if given is not None for one in given]
        named = len(columns) == features and all(type(name) is str for name in [*columns, model.target_ or ""])
        if not named or not all(isinstance(one, bool | int | float | str | date) for one in values):
            raise ValueError("no columns")
    if hasattr(model, "classes_") and stated_classes(model.classes_).array().tolist() != model.classes_.tolist():
        raise ValueError("no classes")
    for one in fitted(model).values():
        _check_finite(one)


def _check_finite(value: Any) -> None:
    """Raise an error where there is a number that is not finite, however deep."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and not np.isfinite(value).all():
        raise ValueError("no finite numbers")
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError("no finite number")
    if isinstance(value, _Record):
        value = [getattr(value, one.name) for one in fields(value)]  # type: ignore[arg-type]  # a record is one
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for one in value:
            _check_finite(one)


def _check_words(model: Any, features: int) -> None:
    """Raise an error where a model does not say one finite thing of every row: of low, high and missing cells."""
    rows = np.repeat(np.array([[0.0], [np.nan], [1e300], [-1e300]]), features, axis=1)
    width: tuple[int, ...] = ()
    if hasattr(model, "_scores"):
        said, width = model._scores(rows), (len(model.classes_),)
    elif hasattr(model, "predict"):
        said = model.predict(rows)
    else:
        rows = rows[:1]  # missing cells stay missing
        said, width = model.transform(rows), np.shape(model.get_feature_names_out())
    if np.shape(said) != (len(rows), *width) or not np.isfinite(np.asarray(said, dtype=np.float64)).all():
        raise ValueError("no answer")


def to_text(model: Any, *, parameters: bool = False) -> str:
    """Return a fitted model as JSON text, with the constructor's parameters where they are wanted."""
    content = {
        "format": _FORMAT,
        "estimator": type(model).__name__,
        "fitted": {name: FORMS.plain(value) for name, value in fitted(model).items()},
    }
    if parameters:
        content["parameters"] = {name: FORMS.plain(one) for name, one in model.get_params(deep=False).items()}
        content["charge"] = getattr(model, "charge_", None)
    return json.dumps(content, separators=(",", ":"), sort_keys=True)


def storable(model: Any) -> str | None:
    """Return the text of a model for a ledger, or None if that is longer than a ledger keeps."""
    text = to_text(model)
    return text if len(text) <= MOST_BYTES else None


def from_ledger(text: str, model: Any) -> Mapping[str, Any]:
    """Return the fitted attributes that a ledger keeps for a model; raise for any other text."""
    try:
        return content_of(json.loads(text), type(model).__name__)
    except (DiscreetError, *UNREADABLE):
        raise LedgerMismatch(
            "the ledger holds something else for this request than a model of this estimator, perhaps by another "
            "version of discreet. Nothing was spent."
        ) from None


def content_of(plain: Mapping[str, Any], estimator: str) -> dict[str, Any]:
    """Return the fitted attributes in what JSON has read, if they are those of an estimator of this name."""
    if (plain["format"], plain["estimator"]) != (_FORMAT, estimator):
        raise ValueError("another model")
    return {str(name): FORMS.value(value) for name, value in plain["fitted"].items()}

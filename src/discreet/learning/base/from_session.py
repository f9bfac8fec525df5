"""A fit on a table of a session: refused or priced first, charged, read, fitted, stored, handed out; in this order."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError, MissingParameter, ParameterError, RelationMismatch
from discreet.laws.number import Number
from discreet.learning.base.charging import refuse_books
from discreet.learning.base.declared_columns import (
    BINS,
    FeatureColumn,
    column_named,
    declared_bounds,
    declared_classes,
    declared_target,
    feature_columns,
)
from discreet.learning.base.estimator import PrivateClassifier, PrivateEstimator, PrivateRegressor, Public
from discreet.learning.base.explanation import FitExplanation
from discreet.learning.base.pushed_down import PushedCounts, pushed_counts
from discreet.learning.base.stored_model import fitted, from_ledger, restore, storable
from discreet.learning.exact import FitRows, judged
from discreet.ledger.contract import guarantee_to_plain, in_full
from discreet.privacy import Guarantee
from discreet.query.plan import bounded, entries_of, rows_of_one_unit, table_named
from discreet.query.policy import ColumnPolicy, TablePolicy, UnitIsRow
from discreet.query.pricing import nothing_spent, price_under, read_price

if TYPE_CHECKING:
    from discreet.query import Record, Session

Floats = NDArray[np.float64]
_FORMAT = "discreet learning 1"
_PRICE = ("epsilon", "delta", "rho", "mu")
_READ = (*_PRICE, "relation", "people", "bounds", "classes", "target_bounds")  # `Public` says them


@dataclass(frozen=True, eq=False, repr=False)
class PreparedFit:
    """A fit that could be made: everything about it is public, nothing is charged and no row is read."""

    session: Session
    table: TablePolicy
    model: PrivateEstimator
    public: Public
    features: tuple[FeatureColumn, ...]
    target: ColumnPolicy | None

    @property
    def cost(self) -> Guarantee:
        """What the ledger will be charged."""
        return self.public.price.under(self.session.policy.budget)

    @property
    def fits(self) -> int:
        """How many such fits there is room for in what is left of the budget."""
        return self.session.ledger.fits(self.session.analyst, self.cost)

    def explain(self) -> FitExplanation:
        """Return plan, price, noise and what to expect."""
        return self.model._explanation(self.public)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        names = tuple(feature.name for feature in self.features)
        return names if self.target is None else (*names, self.target.name)

    @property
    def digest(self) -> str:
        """SHA-256 of the estimator with all parameters, the columns, the unit, the guarantee and the stated version."""
        others = {name: one for name, one in self.model.get_params(deep=False).items() if name not in _READ}
        parts = [
            _FORMAT,
            type(self.model).__name__,
            in_full(others),
            in_full(self.public),
            self.table.name,
            repr(self.table.unit),
            in_full(self.features),
            None if self.target is None else [self.target.name, self.target.type.value],
            guarantee_to_plain(self.cost),
            self.session.policy.version,
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()

    @property
    def description(self) -> str:
        """What the ledger writes down."""
        beside = "" if self.target is None else f", {self.target.name} to be predicted"
        names = ", ".join(feature.name for feature in self.features)
        return f"fit of {type(self.model).__name__}: {self.table.name} ({names}{beside})"

    def fit(self) -> Record:
        """Charge, read and fit `model`, or restore what was stored for the same request.

        Privacy. The model keeps the guarantee that the ledger was charged, for one unit of the policy.
            Proof: everything in `PreparedFit` follows from the policy and the call. The charge is durable before rows
            are read. The rows that are kept are a random function of the table under which neighbors stay neighbors in
            the sense of `FitNeighbors` (see `bounded`), and a mixture of releases that keep a guarantee keeps it; cells
            become numbers one by one, and none is an error. `PrivateEstimator` keeps the guarantee on these rows. A
            failure is one constant message and leaves the charge. A stored model that is handed out again is
            post-processing of the one that was paid for.
        """
        from discreet.query.session import grant_once, sum_once

        stated: dict[str, Any] = {
            "digest": self.digest,
            "description": self.description,
            "releases": (f"a model: {type(self.model).__name__}",),
        }
        pushed = self.pushed
        if pushed is not None:
            _, text, record = sum_once(
                self.session, self.table.name, self.cost, **stated, request=pushed.request,
                rows=None if isinstance(self.table.unit, UnitIsRow) else self.public.neighbors.rows,
                work=lambda sums: self._work(FitRows(np.empty((0, len(self.features))), sums=pushed.counts(sums))),
            )  # fmt: skip
        else:
            _, text, record = grant_once(
                self.session, self.table.name, self.columns, self.cost, **stated,
                work=lambda rows, _: self._work(self._rows(rows)),
            )  # fmt: skip
        # the text also where it was fitted just now, so that both are alike to the last bit
        restore(self.model, fitted(self.model) if text is None else from_ledger(text, self.model), record.number)
        return record

    @property
    def pushed(self) -> PushedCounts | None:
        """The counts that the engine adds up, where they are all that the model reads; else None."""
        boxes = self.model._boxes(self.public)
        engine, classes = self.session.engine, self.public.classes
        return pushed_counts(engine, self.table, self.features, self.target, classes, boxes)

    def _work(self, rows: FitRows) -> tuple[PrivateEstimator, str | None]:
        model = self.model
        model._fit(self.public, rows)
        model.n_features_in_ = len(self.features)
        model.feature_names_in_ = np.array([feature.name for feature in self.features], dtype=object)
        model.columns_ = {feature.name: feature.values for feature in self.features}
        model.target_ = None if self.target is None else self.target.name
        told = self.explain()
        model.expected_ = {"plan": dict(told.plan), "regime": told.regime, "noise": dict(told.noise)}
        return model, storable(model)

    def _rows(self, rows: dict[str, Any]) -> FitRows:
        """Return the rows that count; each column is let go of as soon as it is copied. Private."""
        units = rows.pop("unit")
        kept = slice(None) if isinstance(self.table.unit, UnitIsRow) else bounded(units, self.public.neighbors.rows)
        beside = None
        if self.target is not None:
            beside = entries_of(rows.pop(self.target.name), self.target.type)[kept]
        lines = np.empty((len(self.features), len(units[kept])))
        for line, feature in zip(lines, self.features, strict=True):
            kind = self.table.columns[feature.name].type
            line[:] = feature.cells(entries_of(rows.pop(feature.name), kind)[kept])
        return self.model._rows(self.public, lines.T, beside)


def prepared_fit(
    model: PrivateEstimator,
    session: Session,
    table: str,
    features: Sequence[str],
    target: str | None,
    *,
    people: int | None = None,
    share: Number | None = None,
    **price: Number | None,
) -> PreparedFit:
    """Return a fit that could be made, of a copy of the model; or refuse it. Nothing is charged and no row is read."""
    from sklearn.base import clone

    from discreet.query.session import check_session

    check_session(session)
    refuse_books(model.get_params(deep=False))
    stated_table = table_named(session.policy, table)
    columns = feature_columns(stated_table, features)
    aimed = _target(model, stated_table, columns, target)
    rows = rows_of_one_unit(stated_table)
    copy: PrivateEstimator = clone(model)
    _take_price(copy, session, price, share)
    _take_relation(copy, session)
    if getattr(copy, "unit", "") is None:
        copy.set_params(unit=session.ledger.terms.unit)  # of a network, whose plan names it
    copy.people = (
        people if people is not None else copy.people if copy.people is not None else _people(stated_table, rows)
    )
    _take_declarations(copy, stated_table, columns, aimed)
    try:
        public = copy._public(len(columns), rows=rows)
        copy._plan(public)
        _check_labels(public)
        judged(public.price, public.neighbors.people)
        prepared = PreparedFit(session, stated_table, copy, public, columns, aimed)
        prepared.cost  # noqa: B018  a price that the budget does not know is refused here
    except DiscreetError as problem:
        raise nothing_spent(problem) from None
    return prepared


def _check_labels(public: Public) -> None:
    """Refuse classes that the ledger could not keep as text, while refusing is still free."""
    for label in public.classes.labels if public.classes is not None else ():
        written = str(label).encode("utf-8", errors="replace").decode("utf-8") if isinstance(label, str) else None
        if not isinstance(label, bool | int | float | str | date) or written not in (None, label):
            raise ParameterError(
                f"classes must be numbers, texts in Unicode, days or times, because the model is kept as text; got "
                f"a {type(label).__name__}, write classes=[0, 1], for example",
                parameter="classes",
            )


def _target(
    model: PrivateEstimator, table: TablePolicy, features: Sequence[FeatureColumn], target: str | None
) -> ColumnPolicy | None:
    """Return the column to be predicted, if the estimator predicts."""
    supervised = isinstance(model, PrivateClassifier | PrivateRegressor)
    if target is None:
        if supervised:
            raise MissingParameter(
                'target must name the column to be predicted; got none, write target="income", for example. Nothing '
                "was spent.",
                parameter="target",
            )
        return None
    found = column_named(table, target)
    if not supervised or found.name in [feature.name for feature in features]:
        why = "must be left out, because this estimator predicts no column" if not supervised else "must be no feature"
        raise ParameterError(
            f"target {why}; got {found.name}, write it elsewhere or leave it out. Nothing was spent.",
            parameter="target",
        )
    return found


def _take_price(
    copy: PrivateEstimator, session: Session, price: Mapping[str, Number | None], share: Number | None
) -> None:
    """Take the price of the call where one is stated, else that of the constructor."""
    if share is None and all(one is None for one in price.values()):
        if all(getattr(copy, name) is None for name in _PRICE):
            read_price(accepts=("epsilon", "rho", "mu", "share"))  # says which prices there are
        return
    read = read_price(**price, share=share, accepts=("epsilon", "rho", "mu", "share"))
    bought = price_under(session.policy.budget, read) if share is not None else read
    copy.set_params(**{name: getattr(bought, name) for name in _PRICE})


def _take_relation(copy: PrivateEstimator, session: Session) -> None:
    """Take the policy's relation; another one in the constructor is refused."""
    relation = session.policy.relation
    if copy.relation is not None and copy.relation is not relation:
        raise RelationMismatch(
            f"relation must be that of the policy ({relation.value}); got another, write relation=Relation."
            f"{relation.name} or leave it out. Nothing was spent."
        )
    copy.relation = relation


def _people(table: TablePolicy, rows: int) -> int:
    """Return the number of rows that the policy declares: that of its people, where each has one row."""
    if table.people is not None and rows == 1:
        return table.people
    more = f" (a unit may have {rows} of them)" if rows > 1 else ", or let the curator add people = ... to the policy"
    raise MissingParameter(
        f"people must be given: about how many rows of {table.name} count{more}, a public number and never one that "
        "was counted in the private table; got none, write people=1000, for example. Nothing was spent.",
        parameter="people",
    )


def _take_declarations(
    copy: PrivateEstimator, table: TablePolicy, features: Sequence[FeatureColumn], target: ColumnPolicy | None
) -> None:
    """Take from the policy what the constructor does not state: ranges and classes."""
    if copy.bounds is None:
        copy.bounds = declared_bounds(table, features)
    if getattr(copy, "bins", 0) is None:
        copy.set_params(bins=[feature.size or BINS for feature in features])  # every declared value has its own
    if isinstance(copy, PrivateClassifier) and copy.classes is None and target is not None:
        copy.classes = declared_classes(table, target)
    if isinstance(copy, PrivateRegressor) and copy.target_bounds is None and target is not None:
        copy.target_bounds = declared_target(table, target)

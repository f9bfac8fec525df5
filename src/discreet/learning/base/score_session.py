"""The score of a model on rows that it has not seen, at a price: a noisy mean of what it gets wrong."""

from __future__ import annotations

import hashlib
import json
import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DiscreetError, InputError, LedgerMismatch, MissingParameter
from discreet.laws.number import Number
from discreet.learning.base.declared_columns import FeatureColumn, column_named, declared_target
from discreet.learning.base.estimator import PrivateClassifier, PrivateEstimator, PrivateRegressor
from discreet.learning.base.parameters import stated_bounds
from discreet.learning.base.stored_model import check_model, to_text
from discreet.learning.exact import STEPS, FitNeighbors, FitPrice, Measurements, stated_classes
from discreet.ledger.contract import UNREADABLE, guarantee_to_plain
from discreet.privacy import Estimate, Guarantee, Target
from discreet.query.plan import bounded, entries_of, rows_of_one_unit, table_named
from discreet.query.policy import ColumnPolicy, TablePolicy, UnitIsRow
from discreet.query.pricing import nothing_spent, price_under, read_price

if TYPE_CHECKING:
    from discreet.query import Record, Session

Floats = NDArray[np.float64]
_FORMAT = "discreet score 1"
_ACCEPTS = ("epsilon", "rho", "mu", "share")


@dataclass(frozen=True, eq=False, repr=False)
class PreparedScore:
    """A score that could be computed: everything about it is public, nothing is charged and no row is read."""

    session: Session
    table: TablePolicy
    model: PrivateEstimator
    target: ColumnPolicy
    price: FitPrice
    neighbors: FitNeighbors
    ends: tuple[float, float]  # of the numbers to be predicted; of an error of a class 0 and 1

    @property
    def name(self) -> str:
        """What the score is."""
        return "accuracy" if isinstance(self.model, PrivateClassifier) else "mean absolute error"

    @property
    def cost(self) -> Guarantee:
        """What the ledger will be charged."""
        return self.price.under(self.session.policy.budget)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return (*self.model.columns_, self.target.name)

    def compute(self, confidence: float = 0.95) -> tuple[Estimate, Record]:
        """Charge, read and score, or return what was stored for the same request.

        Privacy. The score keeps the guarantee that the ledger was charged, for one unit of the policy.
            Proof: a row has a loss of e in 0 ... 2^19 and adds (2^19 - e, e) to a pair of sums: L1 norm 2^19, norm at
            most 2^19, and no entry below 0. The loss follows from that row and the public model alone, since every row
            is predicted by itself, in the same place of memory, and where the model says nothing of it the loss is
            2^19: no row can end the work, warn, or be left out for what the model makes of it. The pair is released
            once, with noise for the rows of one unit (`FitNeighbors`, `bounded`); the mean loss is the second over the
            sum of both.
        Accuracy. The interval holds for the mean over the rows that were kept, at the stated confidence: both sums are
            within the noise's quantile at once, and the mean falls in the one and rises in the other.
        Cost. One prediction a row, about 0.1 ms each.
        """
        from discreet.query.session import grant_once

        names = ", ".join(self.columns)
        model = hashlib.sha256(to_text(self.model, parameters=True).encode()).hexdigest()
        parts = [
            _FORMAT, model, self.table.name, repr(self.table.unit), self.target.name, list(self.ends),
            self.neighbors.rows, guarantee_to_plain(self.cost), self.session.policy.version,
        ]  # fmt: skip
        _, text, record = grant_once(
            self.session, self.table.name, self.columns, self.cost,
            digest=hashlib.sha256(json.dumps(parts).encode()).hexdigest(),
            description=f"score of {type(self.model).__name__}: {self.table.name} ({names})",
            releases=(self.name,),
            work=lambda rows, _: self._work(rows),
        )  # fmt: skip
        try:
            right, wrong = (float(one) for one in json.loads(text or ""))
        except UNREADABLE:
            raise LedgerMismatch("the ledger holds no score for this request. Nothing was spent.") from None
        return self._estimate(right, wrong, confidence), record

    def _work(self, rows: dict[str, Any]) -> tuple[str, str]:
        losses = self._losses(rows)
        sums = np.array([(STEPS - losses).sum(), losses.sum()], dtype=object)
        squared, l1 = self.neighbors.squared(STEPS**2, acute=True), self.neighbors.l1(STEPS)
        noisy = Measurements(self.price).release(sums, share=Fraction(1), squared=squared, l1=l1)
        text = json.dumps([float(one) for one in noisy])
        return text, text

    def _losses(self, rows: dict[str, Any]) -> NDArray[Any]:
        """Return the loss of every row that has a target, in whole steps. Private."""
        kept = slice(None) if isinstance(self.table.unit, UnitIsRow) else bounded(rows["unit"], self.neighbors.rows)
        cells = [
            FeatureColumn(name, values).cells(entries_of(rows[name], self.table.columns[name].type)[kept])
            for name, values in self.model.columns_.items()
        ]
        lines, truth = np.array(cells), entries_of(rows[self.target.name], self.target.type)[kept]
        loss = (
            _classes_missed(self.model, truth)
            if isinstance(self.model, PrivateClassifier)
            else self._numbers_off(truth)
        )
        row, found = np.empty((1, len(lines))), []
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")  # a row has no names of columns, and a warning could tell of its cells
            for place in range(lines.shape[1]):
                row[0] = lines[:, place]
                found.append(loss(row, place))
        return np.array([one for one in found if one is not None], dtype=object)

    def _numbers_off(self, truth: Any) -> Callable[[Floats, int], int | None]:
        low, high = self.ends
        true = np.clip(FeatureColumn(self.target.name).cells(truth), low, high)

        def loss(row: Floats, place: int) -> int | None:
            if np.isnan(true[place]):
                return None
            off = abs(said(lambda: self.model.predict(row)[0]) - float(true[place])) / (high - low)
            return STEPS if math.isnan(off) else round(min(off, 1.0) * STEPS)

        return loss

    def _estimate(self, right: float, wrong: float, confidence: float) -> Estimate:
        squared, l1 = self.neighbors.squared(STEPS**2, acute=True), self.neighbors.l1(STEPS)
        width = Measurements(self.price).noise(Fraction(1), squared=squared, l1=l1).error(confidence, 2)
        mean = _frequency(wrong, right)
        least, most = _frequency(wrong - width, right + width), _frequency(wrong + width, right - width)
        value, low, high = mean, least, most
        if isinstance(self.model, PrivateClassifier):
            value, low, high = 1.0 - mean, 1.0 - most, 1.0 - least
        else:
            value, low, high = (one * (self.ends[1] - self.ends[0]) for one in (value, low, high))
        method = "quantiles of the noise of two sums"
        return Estimate(value, low, high, confidence, Target.TABLE, self.price.guarantee, method, self.price.loss)


def _frequency(part: float, rest: float) -> float:
    """Return part / (part + rest) for numbers that noise may have made negative; a half where there is nothing."""
    part, rest = max(part, 0.0), max(rest, 0.0)
    return part / (part + rest) if part + rest > 0 else 0.5


def _classes_missed(model: PrivateClassifier, truth: Any) -> Callable[[Floats, int], int | None]:
    classes = stated_classes(model.classes_)
    codes = classes.codes(truth)

    def loss(row: Floats, place: int) -> int | None:
        if codes[place] >= len(classes):
            return None
        return 0 if said(lambda: chosen(model, row)) == codes[place] else STEPS

    return loss


def said(predicted: Callable[[], Any]) -> float:
    """Return what a model says of one row, and NaN where it says nothing: a model may be anybody's, and edited.

    Whether a prediction fails follows from a private row; so it never shows but in what the row adds to a sum.
    """
    try:
        return float(predicted())
    except Exception:
        return math.nan


def chosen(model: PrivateClassifier, row: Floats) -> float:
    """Return the place of the class that a model chooses for one row, NaN where a score is missing."""
    (scores,) = model._scores(row)
    return math.nan if len(scores) != len(model.classes_) or np.isnan(scores).any() else int(scores.argmax())


def prepared_score(
    model: Any,
    session: Session,
    table: str,
    *,
    share: Number | None = None,
    **price: Number | None,
) -> PreparedScore:
    """Return a score that could be computed, or refuse it; nothing is charged and no row is read."""
    from sklearn.utils.validation import check_is_fitted

    from discreet.query.session import check_session

    check_session(session)
    if not isinstance(model, PrivateClassifier | PrivateRegressor):
        raise InputError("model must be a classifier or a regression of discreet.learning; got another")
    check_is_fitted(model)
    if getattr(model, "columns_", None) is None or getattr(model, "target_", None) is None:
        raise MissingParameter(
            "model must know its columns; got one that was fitted on a matrix, write fit_session(...). Nothing was "
            "spent.",
            parameter="model",
        )
    check_model(model)
    stated = table_named(session.policy, table)
    target, _ = column_named(stated, model.target_), [column_named(stated, name) for name in model.columns_]
    rows = rows_of_one_unit(stated)
    read = read_price(**price, share=share, accepts=_ACCEPTS)
    bought = price_under(session.policy.budget, read) if share is not None else read
    amounts: Mapping[str, Any] = {name: getattr(bought, name) for name in ("epsilon", "delta", "rho", "mu")}
    try:
        found = FitPrice.read(**amounts, relation=session.policy.relation, pure=True)
        neighbors = FitNeighbors(session.policy.relation, 1, rows)
        ends = (0.0, 1.0)
        if isinstance(model, PrivateRegressor):
            given = declared_target(stated, target) if model.target_bounds is None else model.target_bounds
            low, high = stated_bounds(given, 1, name="target_bounds")
            ends = float(low[0]), float(high[0])
        prepared = PreparedScore(session, stated, model, target, found, neighbors, ends)
        prepared.cost  # noqa: B018  a price that the budget does not know is refused here
    except DiscreetError as problem:
        raise nothing_spent(problem) from None
    return prepared

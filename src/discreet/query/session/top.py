"""The keys with the largest counts: report noisy max, the keys and nothing else."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from discreet.display import Table, definition_list
from discreet.errors import ParameterError, UnsupportedSQL
from discreet.frames import to_arrow, to_pandas, to_polars
from discreet.mechanisms import Top as TopMechanism
from discreet.privacy import Guarantee, Norm, PrivacyLoss, Relation, Sensitivity
from discreet.privacy.guarantees import with_notion
from discreet.query.answer import Record, plain
from discreet.query.expression import Value
from discreet.query.measures import Simple, UnitTotals, choice_price
from discreet.query.plan import Engine, key_from_text, key_to_text, written
from discreet.query.pricing import PricedQuery, as_released, public_keys
from discreet.query.session.charging import Charging


@dataclass(frozen=True)
class TopAnswer:
    """The keys chosen, the first choice first; how many rows each has was not released."""

    names: tuple[str, ...]
    keys: tuple[tuple[Value, ...], ...]
    guarantee: Guarantee
    record: Record

    @property
    def cost(self) -> PrivacyLoss:
        """What the release costs, as a loss that adds up with others."""
        return PrivacyLoss.from_guarantee(self.guarantee)

    def __iter__(self) -> Any:
        return iter(key[0] if len(self.names) == 1 else key for key in self.keys)

    def __len__(self) -> int:
        return len(self.keys)

    def table(self) -> Table:
        """Return the keys in order."""
        rows = [[place + 1, *(plain(value) for value in key)] for place, key in enumerate(self.keys)]
        return Table(["place", *self.names], rows)

    def to_dict(self) -> dict[str, list[Value]]:
        """Return the columns of the key by name, the first choice first."""
        return {name: [key[place] for key in self.keys] for place, name in enumerate(self.names)}

    def to_pandas(self) -> Any:
        """Return a pandas frame."""
        return to_pandas(self.to_dict())

    def to_polars(self) -> Any:
        """Return a Polars frame."""
        return to_polars(self.to_dict(), strict=False)

    def to_arrow(self) -> Any:
        """Return an Arrow table."""
        return to_arrow(self.to_dict())

    def __str__(self) -> str:
        return f"{self.table()}\n\nguarantee: {with_notion(self.guarantee)}"

    def _repr_html_(self) -> str:
        """Return the keys for a notebook."""
        return self.table()._repr_html_() + definition_list([("guarantee", with_notion(self.guarantee))])


@dataclass(frozen=True)
class TopKeys:
    """A choice of k public keys by their noisy counts or sums.

    Privacy. As `mechanisms.Top` for scores that one unit moves by at most D each, D the largest change of one sum: the
        weight a unit can have in one group times the largest row, or the largest distance of two under change-one.
        Under add/remove counts and sums of nonnegative values are monotone: adding a unit lowers none.
        Proof: the rows of a unit in a group add a point of the weight times the hull of single rows and 0 to its sum;
        where a unit is clipped as a whole, one number of the range that is stated, or 0.
    """

    made: PricedQuery
    places: int

    @property
    def mechanism(self) -> TopMechanism:
        """The choice."""
        measure = self.made.measures[0]
        if not isinstance(measure, Simple | UnitTotals):
            raise AssertionError("checked when made")
        bounding, norms = measure.bounding, measure.norms
        each = bounding.largest * (norms.apart if bounding.relation is Relation.CHANGE_ONE else norms.one)
        sensitivity = Sensitivity(each, norm=Norm.LINF, relation=bounding.relation)
        monotone = norms.nonnegative and bounding.relation is Relation.ADD_REMOVE
        cost = choice_price(self.made.cost.part(self.made.cost.amount))
        price = {"rho": cost.rho} if cost.epsilon is None else {"epsilon": cost.epsilon}
        return TopMechanism(k=self.places, sensitivity=sensitivity, monotone=monotone, **price)

    def release(self, engine: Engine) -> list[str]:
        """Choose; the sums are private."""
        sums = engine.run(self.made.request())
        found = dict(zip(sums.keys, sums.cells[0], strict=True))
        keys = public_keys(self.made.query)
        return [key_to_text(keys[place]) for place in self.mechanism([found.get(key, 0) for key in keys])]


def top(charging: Charging, made: PricedQuery, k: int, timeout: float | None = None) -> TopAnswer:
    """Charge and choose, or return the stored choice."""
    aggregation = made.query.aggregation
    plain = len(made.measures) == 1 and isinstance(made.measures[0], Simple | UnitTotals) and as_released(made.query)
    if not plain or not aggregation.keys:
        raise UnsupportedSQL("top takes SELECT key, COUNT(*) or SUM(x) ... GROUP BY key. Nothing was spent.")
    if not aggregation.public:
        raise UnsupportedSQL("top chooses among public keys: give the values of the key with keys=. Nothing was spent.")
    candidates = 1
    for key in aggregation.keys:
        candidates *= len(key.domain or ())
    if isinstance(k, bool) or not isinstance(k, int) or not 1 <= k <= candidates:
        raise ParameterError(
            f"k must be between 1 and {candidates}, the number of public keys. Nothing was spent.", parameter="k"
        )
    choice = TopKeys(made, k)
    _ = choice.mechanism  # a price that buys nothing is refused before it is charged
    digest = hashlib.sha256(json.dumps(["top", k, made.digest]).encode()).hexdigest()
    words = f"top {k} of {written(made.query)}"
    request = charging.request(made.guarantee, digest, words, (repr(choice.mechanism),))
    work = lambda _: (None, json.dumps(choice.release(charging.engine)))  # noqa: E731
    _, texts, record = charging.once(request, work, timeout=timeout)
    types = [key.expression.type for key in aggregation.keys]
    chosen = tuple(key_from_text(text, types) for text in json.loads(texts or ""))
    return TopAnswer(tuple(key.name for key in aggregation.keys), chosen, made.guarantee, record)

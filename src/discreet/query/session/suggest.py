"""Bounds found at a price: how many rows and groups people have, and what their sums come to, by private quantiles.

Everybody counts once: rows are first made into numbers of each unit, of which a count and quantiles are released.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from discreet.errors import DiscreetError, ParameterError
from discreet.privacy import Price
from discreet.query.measures import QuantilesOfGroups
from discreet.query.plan import (
    LARGEST_BOUND,
    Aggregate,
    Aggregation,
    Engine,
    MeasureKind,
    QueryPlan,
    canonical,
)
from discreet.query.policy import header, key_in_toml
from discreet.query.pricing import PricedQuery, cost_under, priced
from discreet.query.pricing.price import Cost
from discreet.query.session.charging import Charging
from discreet.query.session.numbers_of_units import (
    COUNTS,
    STEPS,
    WHOLE,
    LookedAt,
    NumberOfUnit,
    called,
    of_query,
    of_table,
)
from discreet.query.session.suggestion import SuggestedBound, Suggestion

_MOST_TIMES = 1e9
_GROUPS_LEVEL = Fraction(95, 100)
_HELD = 0.95
_SAFE = 0.99  # so sure the rank error is kept: so rarely a quantile lies beyond all people, where all are alike too


def suggest(
    charging: Charging,
    of: str,
    price: Price,
    *,
    columns: Sequence[str] | None,
    bounds: Mapping[str, Any] | None,
    keys: Mapping[str, Any] | None,
    multiple: float,
    timeout: float | None,
) -> Suggestion:
    """Charge, look and suggest, or return what was stored for the same question.

    Privacy. The whole keeps the guarantee of the price: a count of units and quantiles of one number of each unit, with
        parts of the price that add up to it; the levels of the second part follow from what the first released.
        Proof: every part is a `PricedQuery` over one row a unit, and keeps its part; adaptive composition adds.
    """
    number = isinstance(multiple, int | float) and not isinstance(multiple, bool)
    if not number or not 1 / _MOST_TIMES <= multiple <= _MOST_TIMES:
        raise ParameterError(
            "multiple must be a number from 1e-9 to 1e9: the answer may cost so many times the price of the "
            "suggestion. Nothing was spent.",
            parameter="multiple",
        )
    name = str(of).strip()
    table = name.casefold() in {one.casefold() for one in charging.policy.tables} or len(name.split()) < 2
    beside = {"bounds": bounds, "keys": keys} if table else {"columns": columns}
    for parameter, given in beside.items():
        if given:
            kind, other = ("table", "query") if table else ("query", "table")
            raise ParameterError(
                f"{parameter}= goes with a {other}, and here bounds of a {kind} are asked for. Leave it out. Nothing "
                "was spent.",
                parameter=parameter,
            )
    looked = of_table(charging, name, columns) if table else of_query(charging, name, bounds, keys)
    work = _Work(charging, looked, price, Fraction(multiple))
    work.check()
    request = charging.request(
        work.cost.guarantee, work.digest, f"bounds suggested for {looked.said}", work.first.words()
    )
    _, text, record = charging.once(
        request, lambda _: (None, json.dumps(work.release(charging.engine))), timeout=timeout
    )
    found = json.loads(text or "")
    bounds_, arguments = work.bounds(found)
    return Suggestion(
        of=looked.said,
        unit=charging.policy.unit,
        people=found["people"],
        bounds=bounds_,
        arguments=arguments,
        noise=work.noise(of, arguments, bounds, keys),
        later=_in_words(work.later),
        guarantee=work.cost.guarantee,
        record=record,
    )


@dataclass(frozen=True)
class _Work:
    """One suggestion: its price in two parts, the queries that are asked, and what is made of their answers."""

    charging: Charging
    looked: LookedAt
    price: Price
    multiple: Fraction

    @property
    def cost(self) -> Cost:
        """What all of it costs."""
        return cost_under(
            self.charging.policy.budget, self.price, private_keys=False, relation=self.charging.policy.relation
        )

    @property
    def later(self) -> Cost:
        """The price that the bounds are chosen for."""
        cost = self.cost
        more = Fraction(math.sqrt(self.multiple)) if cost.word == "mu" else self.multiple
        return replace(cost, amount=cost.amount * more)

    @property
    def _parts(self) -> tuple[Price, Price]:
        """The prices of the two steps: every number that is released has the same part."""
        first = 1 + len(self.looked.first)
        share = Fraction(first, first + len(self.looked.then))
        cost = self.cost
        if cost.word != "mu":
            return cost.part(cost.amount * share), cost.part(cost.amount * (1 - share))
        whole, own = float(cost.amount), float(share)
        down = 1.0 - 1e-12  # squares of rounded roots must not add up to more
        return (
            cost.part(Fraction(whole * math.sqrt(own) * down)),
            cost.part(Fraction(whole * math.sqrt(1.0 - own) * down)),
        )

    @property
    def first(self) -> PricedQuery:
        """The number of units, and the numbers of groups."""
        count = Aggregate("people", MeasureKind.COUNT_ROWS, None, None)
        return self._priced([count, *(one.aggregate(_GROUPS_LEVEL) for one in self.looked.first)], self._parts[0])

    def second(self, people: float, groups: int) -> PricedQuery:
        """Return the quantiles that bound rows and sums, at the level that weighs noise against what is cut.

        Raising a cap by one adds the standard deviation s of the noise of a cap of one to the error of a group, and
        takes away as many as are above the cap there, N(1 - level) of N people in G groups: so N(1 - level) is G s. It
        is no less than what the quantile may be off in rank, since nobody is above a cap that is far too high.
        """
        off = max(
            measure.rank_error(part, _SAFE) or 0.0
            for made in [self._asked_at(Fraction(9, 10))]
            for measure, part in zip(made.measures, made.parts, strict=True)
            if isinstance(measure, QuantilesOfGroups)
        )
        above = max(self.looked.groups * self._noise_of_one(groups), off)
        level = 1.0 - above / max(people, 1.0)
        return self._asked_at(Fraction(round(1000 * min(max(level, 0.5), 0.999)), 1000))

    def _noise_of_one(self, groups: int) -> float:
        """Return the standard deviation of a sum to which a unit adds at most 1 in each of so many groups."""
        later, measures = self.later, self.looked.measures
        amount = float(later.amount)
        if later.word == "epsilon":
            return math.sqrt(2.0) * measures * groups / amount
        variance = measures * groups / (2.0 * amount) if later.word == "rho" else measures * groups / amount**2
        return math.sqrt(variance)

    def _asked_at(self, level: Fraction) -> PricedQuery:
        return self._priced([one.aggregate(level) for one in self.looked.then], self._parts[1])

    def _priced(self, asked: list[Aggregate], part: Price) -> PricedQuery:
        plan = QueryPlan(Aggregation(self.looked.units, (), tuple(asked)), ())
        return priced(plan, self.charging.policy, part)

    def check(self) -> None:
        """Refuse what the engine cannot say, and a price that buys nothing, before the charge."""
        for made in [self.first, *([self._asked_at(Fraction(9, 10))] if self.looked.then else [])]:
            self.charging.check(made)
            made.words()  # a mechanism is made of each part

    @property
    def digest(self) -> str:
        """What tells one suggestion from another: what is asked of whom, at which price."""
        then = [canonical(self._asked_at(Fraction(1, 2)).query)] if self.looked.then else []
        said = [
            "suggest",
            self.first.digest,
            then,
            str(self.cost.amount),
            self.looked.groups,
            self.looked.measures,
            str(self.multiple),
        ]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()

    def release(self, engine: Engine) -> dict[str, Any]:
        """Read the data; what is returned is released."""
        first = self.first
        found = _released(first, engine)
        people = float(found.pop("people")[0])
        ends = {one.label: _one_end(one, found) for one in self.looked.first}
        groups = [max(round(one[0] or 0.0), 1) for one in ends.values()]
        level = float(_GROUPS_LEVEL)
        known = {name: [*one, level] for name, one in ends.items()}
        if self.looked.then:
            second = self.second(people, min([self.looked.groups, *groups]))
            more = _released(second, engine)
            level = float(second.query.aggregation.asked[0].level or 0)
            for one in self.looked.then:
                known[one.label] = [*_one_end(one, more), level]
        return {"people": people, "found": known}

    def bounds(self, stored: Mapping[str, Any]) -> tuple[tuple[SuggestedBound, ...], dict[str, Any]]:
        """Return the bounds, and the arguments of `sql` that they are."""
        found, made = stored["found"], list[SuggestedBound]()
        arguments: dict[str, Any] = {}
        sums: dict[str, tuple[float, float]] = {}
        for one in (*self.looked.first, *(one for one in self.looked.then if one.side > 0)):
            value, low, high, level = found[one.label]
            bound: int | tuple[float, float]
            if one.kind in ("sum", "values"):
                least = found.get(replace(one, side=-1).label)
                ends = 0.0 if least is None else 0.0 - _nice(-least[0]), _nice(value)
                bound = ends if ends[0] < ends[1] else (ends[0], ends[0] + _nice(one.scale))
                if one.kind == "sum":
                    sums[one.name] = bound
            else:
                whole = math.floor(value * 1.001)  # between two whole numbers as many are cut as at the lower one
                bound = max(min(whole, self._every(one)), 1)
                arguments[one.kind] = bound
            cut = 0.0 if one.kind == "groups" and bound == self._every(one) else 1 - level
            made.append(SuggestedBound(one.name, bound, self._line(one.kind, bound, one.name), cut, low, high))
        if self.looked.query is None and "rows" in arguments:
            lines = (one.line.replace("  #", f", rows_per_group = {arguments['rows']}  #") for one in made)
            made = [replace(one, line=line) for one, line in zip(made, lines, strict=True)]
        return tuple(made), self._arguments(arguments, sums)

    @staticmethod
    def _every(one: NumberOfUnit) -> int:
        """Return the largest number that a target can be, as the range of its logarithm says."""
        return min(round(math.expm1(one.range)), LARGEST_BOUND)

    def _arguments(self, limits: dict[str, Any], sums: dict[str, tuple[float, float]]) -> dict[str, Any]:
        """Return arguments of `sql`: sums and counts are clipped for each unit, and rows bound what is left."""
        if self.looked.query is None:
            return {}
        asked = [one for one in self.looked.query.aggregation.asked if one.kind not in WHOLE]
        each = limits.get("rows_per_group") or limits.get("rows")
        sums |= {called(one): (0, each) for one in asked if one.kind in COUNTS and each is not None}
        kept = {name: one for name, one in limits.items() if self._weighed or name == "groups"}
        return kept | ({"sums": sums} if sums else {})

    @property
    def _weighed(self) -> bool:
        """Whether something is asked that rows of a unit weigh in: no sum, no count, no number of units or values."""
        asked = self.looked.query.aggregation.asked if self.looked.query is not None else ()
        return any(one.kind not in (*COUNTS, *WHOLE, MeasureKind.SUM) for one in asked)

    def _line(self, kind: str, bound: Any, name: str) -> str:
        """Return what is written for a bound: an argument, or a line of the policy."""
        if self.looked.query is not None:
            asked = self.looked.query.aggregation.asked
            counts = [f"{json.dumps(called(one))}: (0, {bound})" for one in asked if one.kind in COUNTS]
            lines = [f"{kind}={bound}"] if kind == "groups" or self._weighed else []
            if kind == "sum":
                lines = [f"sums={{{json.dumps(name)}: ({bound[0]:g}, {bound[1]:g})}}"]
            elif kind != "groups" and counts:
                lines.append(f"sums={{{', '.join(counts)}}}")
            return ", ".join(lines)
        place = header(("tables", self.looked.table))
        if kind == "values":
            column = header(("tables", self.looked.table, "columns"))
            return f"{column} {key_in_toml(name)} = {{min = {bound[0]:g}, max = {bound[1]:g}}}"
        if kind == "sum":
            return f'sums={{"SUM({name})": ({bound[0]:g}, {bound[1]:g})}}'
        return f"{place} {kind} = {bound}" + (f"  # by {name}" if kind == "groups" else "")

    def noise(
        self, sql: str, arguments: Mapping[str, Any], bounds: Mapping[str, Any] | None, keys: Mapping[str, Any] | None
    ) -> dict[str, tuple[float | None, float | None]]:
        """Return the noise of the answer with the policy's bounds and with these; no data is read."""
        if self.looked.query is None:
            return {}
        later = self.later
        before = self._spreads(sql, later, {"bounds": bounds, "keys": keys})
        limits = {name: arguments[name] for name in ("rows", "groups", "rows_per_group") if name in arguments}
        own = {"bounds": bounds, "keys": keys, "sums": arguments.get("sums"), "limits": limits}
        after = self._spreads(sql, later, own)
        names = [one.name for one in self.looked.query.aggregation.asked if not one.name.startswith("#")]
        return {name: (before.get(name), after.get(name)) for name in names}

    def _spreads(self, sql: str, later: Cost, options: Mapping[str, Any]) -> dict[str, float | None]:
        """Return the standard deviation of the noise of every aggregate; nothing where the bounds do not fit."""
        try:
            made = self.charging.priced(sql, later.part(later.amount), **options)
        except DiscreetError:
            return {}
        found = {}
        for asked in made.query.aggregation.asked:
            index, inner = made.places[asked.name]
            found[asked.name] = made.measures[index].spread(made.parts[index])[inner]
        return found


def _released(made: PricedQuery, engine: Engine) -> dict[str, tuple[float, float | None, float | None]]:
    """Release a query without keys, and return every aggregate with its interval."""
    released = made.release(engine)
    found = {}
    for asked in made.query.aggregation.asked:
        index, inner = made.places[asked.name]
        ((value, low, high),) = made.measures[index].estimates(released.released[index], made.parts[index], _HELD)[
            inner
        ]
        found[asked.name] = float(value), low, high
    return found


def _one_end(one: NumberOfUnit, found: Mapping[str, tuple[float, float | None, float | None]]) -> list[float | None]:
    """Return a quantile with its interval as numbers of the target."""
    value, low, high = found[one.label]
    if low is None or high is None:
        return [one.decoded(value), None, None]
    least = max(low - 1, float(-1 if one.kind == "values" else 0) * one.range * STEPS)  # steps were rounded up
    return [one.decoded(value), *sorted([one.decoded(least), one.decoded(high)])]


def _nice(value: float) -> float:
    """Return a number of two digits at least as far from 0, for ends above 0; what is below is rounded towards 0.

    >>> _nice(12_345.0), _nice(0.0), _nice(-1234.0)
    (13000.0, 0.0, -1200.0)
    """
    if not value:
        return 0.0
    step = 10.0 ** (math.floor(math.log10(abs(value))) - 1)
    return float(f"{math.ceil(value / step - 1e-9) * step:.6g}")


def _in_words(cost: Cost) -> str:
    return f"{cost.word} {float(cost.amount):.4g}"

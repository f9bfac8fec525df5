"""What a query would cost and how exact it would be, told before anything is read or spent."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from discreet.display import Table, definition_list, escape
from discreet.errors import PrivateKeys
from discreet.privacy import ApproxDP, Guarantee, Price, PrivacyLoss, PureDP, Relation, convert
from discreet.privacy.guarantees import in_words, with_notion
from discreet.query.expression import Expression
from discreet.query.measures import AssociationOfGroups, QuantilesOfGroups
from discreet.query.plan import Engine
from discreet.query.policy import Policy, undeclared_texts
from discreet.query.pricing.measured import measurement_plans
from discreet.query.pricing.omissions import in_one_line, left_out
from discreet.query.pricing.other_budgets import other_budgets
from discreet.query.pricing.priced_query import PricedQuery
from discreet.query.pricing.released_table import public_keys
from discreet.statistics.measurement import MeasurementPlan
from discreet.statistics.pricing import stated_confidence


@dataclass(frozen=True)
class Explanation:
    """Cost, noise, expected width, bounding, the statement that will run, and how many more like it fit."""

    guarantee: Guarantee
    unit: str
    aggregates: Table
    groups: str
    bounding: str
    bias: str
    statements: tuple[str, ...]
    fits: int
    confidence: float
    digest: str
    cost_in_budget: str = ""  # in the budget's notion, where that is another
    undeclared: tuple[str, ...] = ()  # columns that are read as texts because no type is declared
    other_budgets: str = ""  # how noisy the same question would be under budgets of other notions
    division: str = ""  # how the price is divided over several SELECTs
    priced: PricedQuery | None = field(default=None, repr=False, compare=False)
    lineage: str = field(default="", repr=False, compare=False)

    @property
    def relation(self) -> Relation:
        """What neighbors are."""
        return self.guarantee.relation

    @property
    def cost(self) -> PrivacyLoss:
        """What the release would cost, as a loss that adds up with others."""
        return PrivacyLoss.from_guarantee(self.guarantee)

    @property
    def sql(self) -> str:
        """What the engine would run."""
        return ";\n\n".join(self.statements)

    @property
    def plans(self) -> tuple[MeasurementPlan, ...]:
        """What the answer would measure, group by group, for inference before anything is spent.

        Quantiles add nothing up and are left out. Private keys have no groups before they are selected: PrivateKeys is
        raised.
        """
        if self.priced is None:
            return ()
        if not self.priced.query.aggregation.public:
            raise PrivateKeys(
                "which groups there will be is not known before private keys are selected: declare the keys public, or "
                "give their values with keys=. Nothing was spent."
            )
        found = measurement_plans(self.priced, public_keys(self.priced.query), self.lineage)
        return tuple(plan for _, plan in found)

    def facts(self) -> list[tuple[str, str]]:
        """Return everything but the table and the statements, as pairs."""
        return [
            ("cost", with_notion(self.guarantee)),
            *([("charged as", self.cost_in_budget)] if self.cost_in_budget else []),
            *([("price", self.division)] if self.division else []),
            ("unit of protection", self.unit),
            ("neighbors", self.relation.sentence),
            ("groups", self.groups),
            ("bounding", self.bounding),
            ("left out", self.bias),
            *([("undeclared columns", "; ".join(self.undeclared))] if self.undeclared else []),
            ("how many like it still fit", f"{self.fits:,}"),
            *([("other budgets", self.other_budgets)] if self.other_budgets else []),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for machines."""
        rows = [dict(zip(self.aggregates.columns, row, strict=True)) for row in self.aggregates.rows]
        return {**dict(self.facts()), "fits": self.fits, "aggregates": rows, "sql": self.sql, "digest": self.digest}

    def __str__(self) -> str:
        lines = [f"{name}: {words}" for name, words in self.facts()]
        return "\n".join([*lines, "", str(self.aggregates), "", self.sql])

    def _repr_html_(self) -> str:
        """Return the explanation for a notebook."""
        statement = f"<pre>{escape(self.sql)}</pre>"
        return definition_list(self.facts()) + self.aggregates._repr_html_() + statement


def explained_together(parts: Sequence[Explanation], guarantee: Guarantee, fits: int) -> Explanation:
    """Describe several queries with UNION between them: each is a release of its own, at an equal part of the price."""
    first = parts[0]
    rows = [[f"{place}: {row[0]}", *row[1:]] for place, one in enumerate(parts, 1) for row in one.aggregates.rows]
    return replace(
        first,
        guarantee=guarantee,
        aggregates=Table(first.aggregates.columns, rows, digits=first.aggregates.digits),
        groups="; ".join(f"SELECT {place}: {one.groups}" for place, one in enumerate(parts, 1)),
        bounding="; ".join(dict.fromkeys(one.bounding for one in parts)),
        bias="; ".join(dict.fromkeys(one.bias for one in parts)),
        statements=tuple(text for one in parts for text in one.statements),
        fits=fits,
        digest=" ".join(one.digest for one in parts),
        cost_in_budget="; ".join(dict.fromkeys(one.cost_in_budget for one in parts if one.cost_in_budget)),
        undeclared=tuple(dict.fromkeys(words for one in parts for words in one.undeclared)),
        other_budgets="",
        division=f"divided evenly: each of the {len(parts)} SELECTs is a release of its own",
        priced=None,
    )


def explain(
    made: PricedQuery, engine: Engine, *, policy: Policy, rows_expected: int | None, confidence: float, fits: int
) -> Explanation:
    """Describe a priced query; the engine is asked for its statement only."""
    held = stated_confidence(confidence)
    return Explanation(
        guarantee=made.guarantee,
        unit=policy.unit,
        aggregates=_aggregates(made, rows_expected, held),
        groups=_groups(made),
        bounding="; ".join(dict.fromkeys([made.bounding.reason, *(one.bounding.reason for one in made.measures)])),
        bias=in_one_line(left_out(made, policy.unit), made),
        statements=tuple(engine.text(one) for one in made.requests),
        fits=fits,
        confidence=held,
        digest=made.digest,
        cost_in_budget=_cost_in_budget(made, policy),
        undeclared=tuple(
            words
            for table in made.query.aggregation.source.tables
            for words in undeclared_texts(policy, table, _read(made))
        ),
        other_budgets=other_budgets(made, policy, rows_expected),
        priced=made,
        lineage=policy.lineage,
    )


def _read(made: PricedQuery) -> set[str]:
    """Return the names of all columns that a query reads."""
    aggregation = made.query.aggregation
    expressions: list[Expression] = [key.expression for key in aggregation.keys]
    arguments = [one for asked in aggregation.asked for one in (asked.argument, asked.second)]
    expressions += [one for one in arguments if one is not None]
    expressions += [expression for step in aggregation.source.steps() for expression in step.read]
    return {column.name for expression in expressions for column in expression.columns()}


def _cost_in_budget(made: PricedQuery, policy: Policy) -> str:
    """Return the cost in the notion of the budget, where the release keeps another one."""
    notion = type(policy.budget)
    if isinstance(made.guarantee, notion) or (notion is ApproxDP and isinstance(made.guarantee, PureDP)):
        return ""
    return in_words(convert(made.guarantee, notion, delta=made.cost.delta or None))


def _aggregates(made: PricedQuery, rows_expected: int | None, confidence: float) -> Table:
    """List the aggregates with their part of the cost, their noise and their expected half-width."""
    rows: list[list[object]] = []
    for asked in made.query.aggregation.asked:
        index, inner = made.places[asked.name]
        measure, part = made.measures[index], made.parts[index]
        widths = measure.width(part, confidence, rows_expected)
        half = _width(measure, part, widths[inner] if inner < len(widths) else None, confidence)
        rows.append([asked.name, _part(part), measure.spread(part)[inner], half, measure.words(part)])
    for name, place in made.cuts.items():
        cut, part = made.measures[place], made.parts[place]
        half = _width(cut, part, cut.width(part, confidence, rows_expected)[0], confidence)
        rows.append([f"(cut of {name})", _part(part), cut.spread(part)[0], half, cut.words(part)])
    if made.selection is not None and made.selection_part is not None and not made.selection.asked:
        rows.append(["(keys)", _part(made.selection_part), None, "", made.selection.words(made.selection_part)])
    unit = made.cost.word
    title = f"half-width at {100 * confidence:.12g} %" + (
        f" for {rows_expected:,} rows a group" if rows_expected else ""
    )
    return Table(["aggregate", unit, "noise (st. dev.)", title, "released"], rows, digits=5)


def _part(part: Price) -> float:
    return float(next(amount for amount in (part.epsilon, part.rho, part.mu) if amount is not None))


def _width(measure: Any, part: Any, width: float | None, confidence: float) -> object:
    if width is not None:
        return f"{width:,.0f}" if 1e5 <= width < 1e15 else f"{width:.5g}"  # 104,000 and not 1.04e+05
    if isinstance(measure, QuantilesOfGroups):
        rank = measure.rank_error(part, confidence)
        return f"{rank:.4g} rows in rank" if rank is not None else "in rank, each with an interval"
    if isinstance(measure, AssociationOfGroups):
        return "depends on the data; the answer has an interval"
    return "depends on the rows of a group: state rows_expected="


def _groups(made: PricedQuery) -> str:
    aggregation = made.query.aggregation
    if not aggregation.keys:
        return "one, the whole table"
    if made.selection is not None and made.selection_part is not None:
        return made.selection.words(made.selection_part)
    count = 1
    for key in aggregation.keys:
        count *= len(key.domain or ())
    return (
        f"{count:,}, all of them public and all in the answer, empty ones too; COALESCE(key, 'none') gives rows with "
        "NULL in a key a group"
    )

"""Global sensitivity: how far the answer of a query can be between any two neighboring tables of a public domain."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Required, TypedDict, Unpack

from discreet.display import definition_list
from discreet.errors import MissingParameter, ParameterError
from discreet.laws.number import Number, round_up
from discreet.privacy import Norm, Relation, Sensitivity
from discreet.privacy.numbers import whole
from discreet.statistics.options import named_after
from discreet.statistics.sensitivities import of_order as order
from discreet.statistics.sensitivities import of_spread as spread
from discreet.statistics.sensitivities import of_sums as sums
from discreet.statistics.sensitivities.known_tables import (
    AtLeast,
    KnownTables,
    stated_bounds,
    stated_level,
    stated_radius,
    stated_rows,
)
from discreet.statistics.sensitivities.rule import ExampleTable, Finding, Rule, written

_LINE = 100  # letters in a line of a printed fact


class Query(Enum):
    """A question about a table whose sensitivity is known.

    In the formulas L and U are the bounds, n is the public number of rows, m the least one, c the number of rows a
    person has at most, a the level of a quantile, R the largest length of a row.

    >>> Query.MEAN.formula(Relation.CHANGE_ONE)
    'c (U - L) / n'
    """

    COUNT = sums.COUNT
    COUNT_DISTINCT = sums.COUNT_DISTINCT
    SUM = sums.SUM
    MEAN = sums.MEAN
    VARIANCE = spread.VARIANCE
    SAMPLE_VARIANCE = spread.SAMPLE_VARIANCE
    STANDARD_DEVIATION = spread.STANDARD_DEVIATION
    SAMPLE_STANDARD_DEVIATION = spread.SAMPLE_STANDARD_DEVIATION
    MINIMUM = order.MINIMUM
    MAXIMUM = order.MAXIMUM
    MEDIAN = order.MEDIAN
    MIDDLE_MEDIAN = order.MIDDLE_MEDIAN
    QUANTILE = order.QUANTILE
    RANGE = order.RANGE
    RANK_SCORE = order.RANK_SCORE
    HISTOGRAM = sums.HISTOGRAM
    PEOPLE_PER_CELL = sums.PEOPLE_PER_CELL
    VECTOR_SUM = sums.VECTOR_SUM
    SECOND_MOMENT = sums.SECOND_MOMENT

    @property
    def description(self) -> str:
        """What is asked, in words."""
        return self._rule.description

    def formula(self, relation: Relation) -> str:
        """Return the sensitivity as a formula, in one line."""
        return self._rule.case(_stated_relation(relation)).formula

    @property
    def _rule(self) -> Rule:
        return self.value

    def __repr__(self) -> str:
        return f"Query.{self.name}"


@dataclass(frozen=True, slots=True, repr=False)
class SensitivityFact:
    """A global sensitivity with its formula, its proof and two neighboring tables whose answers are that far apart.

    `tight` says that the pair attains the value exactly; where it does not, nothing but the rounding of the value up to
    a float lies between. `scope` says of which tables all this speaks.
    """

    query: Query
    sensitivity: Sensitivity
    formula: str
    proof: str
    scope: str
    attained_by: tuple[ExampleTable, ExampleTable]
    tight: bool
    remark: str

    @property
    def value(self) -> Number:
        """The sensitivity as a number."""
        return self.sensitivity.value

    def __repr__(self) -> str:
        rows = self._rows()
        width = max(len(name) for name, _ in rows)
        lines = (f"{name:<{width}}  {text}" for name, text in rows)
        return "\n".join(textwrap.fill(line, _LINE, subsequent_indent=" " * (width + 2)) for line in lines)

    def _repr_html_(self) -> str:
        """Show the same in a notebook."""
        return definition_list(self._rows())

    def _rows(self) -> list[tuple[str, str]]:
        """Return what people want to read, in order."""
        first, second = self.attained_by
        rows = [
            ("query", self.query.description),
            ("neighbors", f"{self.sensitivity.relation.sentence}; {self.scope}"),
            ("sensitivity", f"{written(self.value)} ({self.sensitivity.norm.name})"),
            ("formula", self.formula),
            ("because", self.proof),
            ("attained by" if self.tight else "but for rounding", f"{first}; {second}"),
        ]
        return [*rows, ("remark", self.remark)] if self.remark else rows


class SensitivityOptions(TypedDict, total=False):
    """The parameters of `sensitivity` and `explain_sensitivity` beside the query."""

    relation: Required[Relation]
    bounds: tuple[Number, Number] | None
    people: int | AtLeast | None
    level: Number | None
    radius: Number | None
    norm: Norm | None
    rows: int


def explain_sensitivity(
    query: Query,
    *,
    relation: Relation,
    bounds: tuple[Number, Number] | None = None,
    people: int | AtLeast | None = None,
    level: Number | None = None,
    radius: Number | None = None,
    norm: Norm | None = None,
    rows: int = 1,
) -> SensitivityFact:
    """Return the same sensitivity with its formula, its proof, and a pair of neighboring tables that attains it.

    >>> explain_sensitivity(
    ...     Query.MEAN, relation=Relation.CHANGE_ONE, bounds=(0, 1), people=500
    ... )
    query        sum of the rows, each clipped to [L, U], divided by their number
    neighbors   one person's data is changed for other data, the number of rows is
        public; tables of exactly 500 rows
    sensitivity  1/500 (L1)
    formula      c (U - L) / n
    because      the sum moves by c (U - L) at most, and n stays
    attained by  500 rows of 0; 499 rows of 0 and 1 row of 1
    remark       Under add/remove sum and count together are the better release:
        statistics.mean.
    """
    if not isinstance(query, Query):
        raise ParameterError("query must be one of Query's members, such as Query.MEAN", parameter="query")
    given = {"bounds": bounds, "people": people, "level": level, "radius": radius}
    domain = _domain(query, _stated_relation(relation), given, norm, rows)
    rule, case = query.value, query.value.case(relation)
    finding = case.find(domain)
    value = _typed(finding, domain, rule)
    return SensitivityFact(
        query=query,
        sensitivity=Sensitivity(value, norm=domain.norm, relation=relation),
        formula=case.formula,
        proof=case.proof,
        scope=_scope(domain),
        attained_by=(finding.first, finding.second),
        tight=isinstance(finding.value, Fraction) and Fraction(value) == finding.value,
        remark=rule.remark,
    )


@named_after(explain_sensitivity)
def sensitivity(query: Query, **options: Unpack[SensitivityOptions]) -> Sensitivity:
    """Return the global sensitivity of a query on a public domain: what noise must hide, for any two neighbors.

    `rows` is the number of rows a person has at most: under add/remove up to `rows` rows come or go, under change-one
    up to `rows` are exchanged for as many others. An infinite sensitivity raises an error, and so does a
    sensitivity of 0. Integers give an integer where the answers of the query are integers and otherwise a Fraction;
    floats give a float, rounded up.

    Privacy. No two neighboring tables of the domain have answers further apart than the value, in its norm.
        Proof: one for each query and relation, in `explain_sensitivity`.
    Accuracy. Nothing smaller would do: two neighboring tables have answers exactly so far apart, but for the rounding
        of the value up to a float where it is irrational or the bounds are floats. `explain_sensitivity` shows them.
    Cost. A formula; no data is read.
    Figure. sensitivity.svg
    Reference. Dwork, McSherry, Nissim, Smith 2006; for second moments Dwork, Talwar, Thakurta, Zhang 2014.

    >>> sensitivity(Query.SUM, relation=Relation.ADD_REMOVE, bounds=(-5, 100))
    Sensitivity(value=100, norm=Norm.L1, relation=Relation.ADD_REMOVE)
    >>> sensitivity(
    ...     Query.MEAN, relation=Relation.CHANGE_ONE, bounds=(0, 1), people=500
    ... ).value
    Fraction(1, 500)
    """
    return explain_sensitivity(query, **options).sensitivity


def _stated_relation(relation: Relation) -> Relation:
    if relation not in (Relation.ADD_REMOVE, Relation.CHANGE_ONE):
        raise ParameterError(
            "relation must be Relation.ADD_REMOVE or Relation.CHANGE_ONE; got another, write one of them",
            parameter="relation",
        )
    return relation


def _domain(
    query: Query, relation: Relation, given: Mapping[str, object], norm: Norm | None, rows_of_one: int
) -> KnownTables:
    """Check everything that was given, and that nothing was given which plays no part."""
    rule: Rule = query.value
    for name, value in given.items():
        if value is not None and name not in rule.needs:
            raise ParameterError(
                f"{name}= must be left out: it plays no part in the sensitivity of {query!r}", parameter=name
            )
    rows_of_one = whole(rows_of_one, name="rows")
    lower, upper = stated_bounds(given["bounds"], rule.name) if "bounds" in rule.needs else (0, 0)
    least = rule.case(relation).least_rows
    rows = stated_rows(given["people"], relation, rule.name, least) if "people" in rule.needs else 0
    if rows and relation is Relation.CHANGE_ONE and rows_of_one > rows:
        raise ParameterError(
            f"rows must be at most people={rows}: a person cannot have more than all {rows} rows; got more, write "
            f"rows={rows}",
            parameter="rows",
        )
    return KnownTables(
        relation=relation,
        norm=_stated_norm(query, norm),
        rows_of_one=rows_of_one,
        lower=lower,
        upper=upper,
        rows=rows,
        level=stated_level(given["level"]) if "level" in rule.needs else 0,
        radius=stated_radius(given["radius"], rule.name) if "radius" in rule.needs else 0,
    )


def _stated_norm(query: Query, norm: Norm | None) -> Norm:
    """Return the norm: the only one that matters, or the one the caller chose."""
    rule: Rule = query.value
    if norm is None and rule.norm_is_stated:
        raise MissingParameter(
            "norm must be given for a histogram, which has many answers; got none, write norm=Norm.L1 for Laplace "
            "noise, norm=Norm.L2 for Gaussian noise, or norm=Norm.LINF for choosing the largest",
            parameter="norm",
        )
    if norm is not None and norm not in rule.norms:
        known = " or ".join(f"Norm.{one.name}" for one in rule.norms)
        raise ParameterError(
            f"norm must be {known} for {query!r}; got another, write one of these and convert it with "
            ".to_norm(..., coordinates=...)",
            parameter="norm",
        )
    return rule.norms[0] if norm is None else norm


def _typed(finding: Finding, domain: KnownTables, rule: Rule) -> Number:
    """Return an int for integer answers, a float where a float came in or a root is irrational, else a Fraction."""
    exact = finding.value
    value: Number = exact
    if isinstance(exact, Fraction):
        if float in domain.kinds:
            value = round_up(exact)
        elif rule.integral and Fraction not in domain.kinds and exact.denominator == 1:
            value = int(exact)
    if value > sys.float_info.max:
        raise ParameterError(
            "the sensitivity must be below the largest float, about 1.8e308; got more, write smaller bounds"
        )
    return value


def _scope(domain: KnownTables) -> str:
    """Say of which tables the sensitivity speaks."""
    rows = f"{domain.rows:,} row{'' if domain.rows == 1 else 's'}"
    if not domain.rows:
        return "tables of any number of rows"
    if domain.relation is Relation.CHANGE_ONE:
        return f"tables of exactly {rows}"
    return f"tables of at least {rows}, with and without the person"

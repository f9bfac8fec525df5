"""Keys of one query: values from the call, from declarations and from public tables, and one group of all others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from discreet.errors import ParameterError
from discreet.query.expression import Expression, Operation, Type, Value, typing_rules
from discreet.query.plan import Key
from discreet.query.reading.key_domains import (
    Evaluate,
    PublicRows,
    joined_values,
    named_values,
    narrowed,
    public_domain,
    stated_keys,
)
from discreet.query.reading.parse import fold, look_up
from discreet.query.reading.rows import ReadableRows, Visible

OTHER = "other"
MOST_BESIDE_OTHERS = 1000


@dataclass(frozen=True, slots=True)
class KeyValues:
    """Where values of keys come from: `given` in the call, by name, computed by `evaluate`, listed in public tables."""

    given: Mapping[str, Sequence[object]]
    evaluate: Evaluate | None
    public_rows: PublicRows | None

    def key(self, source: ReadableRows, expression: Expression, name: str, column: str | None, used: set[str]) -> Key:
        """Return a key with its public domain; `column` is the one that it is, `used` takes the name in the call."""
        for label in (name, column) if self.given else ():
            given = look_up(label, self.given) if label is not None else None
            if given is not None and label is not None:
                used.add(f"key {fold(label)}")
                if isinstance(given, list | tuple) and any(one is ... for one in given):
                    return self._with_others(source, expression, name, label, given)
                return Key(name, expression, stated_keys(label, given, expression.type))
        return Key(name, expression, self._domain(source, expression))

    def _domain(self, source: ReadableRows, expression: Expression) -> tuple[Value, ...] | None:
        """Return the public values of a key that follow from the query, from declarations and from public tables."""
        definition, _ = source.scope.definition(expression)
        if definition is None:
            return None
        true = source.scope.true
        named = named_values(definition, true)
        if named is not None:
            return named
        known = narrowed(definition, self._known(definition, source.scope.base, true), true, self.evaluate)
        return public_domain(definition, known, self.evaluate)

    def _known(
        self, definition: Expression, base: Mapping[str, Visible], true: Sequence[Expression]
    ) -> Mapping[str, Visible]:
        """Return what is known of columns, with the values of those of public tables that a definition reads.

        A public table tells its own values: nobody's row is looked at. Of reals no list of values is made.
        """
        found = dict(base)
        met = joined_values(definition, base, true, self.evaluate, self.public_rows)
        for column in definition.columns():
            known = base.get(column.name)
            if known is None or not known.public or known.declared is None or column.type is Type.REAL:
                continue
            declared, listed = known.declared.domain, met.get(column.name)
            if listed is None and declared is None and self.public_rows is not None:
                rows = self.public_rows(known.public, (known.name,))
                listed = None if rows is None else tuple(row[0] for row in rows if row[0] is not None)
            if listed and declared is not None:
                listed = tuple(one for one in declared if one in set(listed))
            if listed:
                found[column.name] = replace(known, declared=replace(known.declared, values=listed))
        return found

    def _with_others(
        self, source: ReadableRows, expression: Expression, name: str, label: str, given: Sequence[object]
    ) -> Key:
        """Return a key with one more group, of all rows with another value, or NULL.

        Privacy. The key is CASE WHEN x IN (values) THEN x ELSE 'other' END, an expression like any other: its group is
            one of the groups of the release.
        """
        values = self._listed(source, expression, label, given)
        reader, other = source.reader(), typing_rules.literal(OTHER)
        among = reader.apply(Operation.IN, expression, *(typing_rules.literal(one) for one in values))
        return Key(name, reader.apply(Operation.CASE, among, expression, other), (*values, OTHER))

    def _listed(
        self, source: ReadableRows, expression: Expression, label: str, given: Sequence[object]
    ) -> tuple[Value, ...]:
        """Return the values beside which ... asks for a group of all others; without any, those declared."""
        if expression.type is not Type.TEXT:
            raise ParameterError(
                f"keys= asks for a group {OTHER!r} of {label!r}, which is {expression.type.value}: group by CAST(x AS "
                f"TEXT), or by CASE WHEN x IN (...) THEN 'a' ELSE '{OTHER}' END",
                parameter="keys",
            )
        plain = [one for one in given if one is not ...]
        values = stated_keys(label, plain, expression.type) if plain else self._domain(source, expression)
        if values is None:
            raise ParameterError(
                f"keys= asks for the groups of {label!r} and one of all others, and no values are declared: write them "
                f'before the dots, keys={{"{label}": ["a", "b", ...]}}',
                parameter="keys",
            )
        if OTHER in values or len(values) > MOST_BESIDE_OTHERS:
            raise ParameterError(
                f"keys= asks for a group {OTHER!r} of {label!r} beside at most {MOST_BESIDE_OTHERS} values, none of "
                "which has that name: leave the dots out, or write CASE WHEN x IN ('a', 'b') THEN x ELSE 'rest' END",
                parameter="keys",
            )
        return values

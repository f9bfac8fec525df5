"""One section of a policy file: typed reading of its keys, every mistake noted with its line and what to write."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, time
from decimal import Decimal
from difflib import get_close_matches
from fractions import Fraction
from typing import TypeVar

from discreet.query.policy.toml_lines import Place, header, key_in_toml, text_in_toml

_BELONGS = {
    key: section
    for section, keys in {
        "data": ("source", "lineage", "version"),
        "data.csv": ("delimiter", "quote", "decimal", "encoding"),
        "budget": ("notion", "epsilon", "delta", "rho", "ledger", "anchor", "shared_answers"),
        "analysts": ("share",),
        "tables.NAME": ("rows", "groups", "rows_per_group", "people"),
        "tables.NAME.columns": ("min", "max", "values"),
        "public.NAME": ("unique",),
    }.items()
    for key in keys
}
_LARGEST_EXPONENT = 300
_MOST_DIGITS = 600
_LONGEST_NAME = 1000
_Nothing = TypeVar("_Nothing")


class Problems:
    """Every mistake found so far."""

    def __init__(self, lines: Mapping[Place, int]) -> None:
        self._lines = lines
        self._found: list[tuple[int | None, str]] = []

    def add(self, place: Place, words: str) -> None:
        """Note a mistake at a place, or at the nearest place around it that is in the file."""
        ended = words if words.endswith((".", "?")) else f"{words}."
        self._found.append((line_of(self._lines, place), ended))

    def listed(self) -> list[tuple[int | None, str]]:
        """Return all of them in the order of the file; what has no line comes last."""
        return sorted(self._found, key=lambda problem: (problem[0] is None, problem[0] or 0))


def line_of(lines: Mapping[Place, int], place: Place) -> int | None:
    """Return the line of a place, or of the nearest place around it that is in the file."""
    for length in range(len(place), 0, -1):
        if place[:length] in lines:
            return lines[place[:length]]
    return None


class Section:
    """The keys of one table of the file, at a place; an inline table is named by its key, not by a header."""

    def __init__(
        self, place: Place, entries: Mapping[str, object], problems: Problems, *, inline: bool = False
    ) -> None:
        self.place, self.entries, self.problems = place, entries, problems
        self.title = f"{header(place[:-1])} {key_in_toml(place[-1])}" if inline else header(place)

    def __contains__(self, key: str) -> bool:
        return key in self.entries

    def complain(self, words: str, *at: str | int) -> _Nothing | None:
        """Note a mistake at a key of this section, or at the section itself; return nothing, as what was read there."""
        self.problems.add((*self.place, *at), f"{self.title}{f' {key_in_toml(at[0])}' if at else ''}: {words}")
        return None

    def missing(self, key: str, line: str, why: str) -> _Nothing | None:
        """Note that something that is never defaulted was left out, and print the line to add."""
        return self.complain(f"{key} is missing. Add the line `{line}` ({why}).")

    def only(self, known: Sequence[str]) -> None:
        """Note every key that has no meaning here."""
        for key in self.entries:
            if key not in known:
                self.complain(f"unknown key. {meant(key, known)}{_belongs(key)}Known here: {', '.join(known)}.", key)

    def text(self, key: str, *, line: str, why: str) -> str | None:
        """Return a text that must be there and must not be empty."""
        if key not in self:
            return self.missing(key, line, why)
        value = self.entries[key]
        if not isinstance(value, str):
            return self.complain(f"must be a text in quotes, not {kind(value)}. Write, for example, `{line}`", key)
        words = unusable(value)
        if words:
            return self.complain(f"{words}. Write, for example, `{line}`", key)
        return value

    def flag(self, key: str) -> bool | None:
        """Return true or false where it is written."""
        value = self.entries.get(key)
        if key in self and not isinstance(value, bool):
            self.complain(f"must be true or false, not {kind(value)}. Write `{key} = true` or `{key} = false`", key)
        return value if isinstance(value, bool) else None

    def number(self, key: str) -> Fraction | None:
        """Return a number where it is written, exactly as its decimals say."""
        if key not in self:
            return None
        found = exact(self.entries[key])
        if isinstance(found, str):
            return self.complain(found, key)
        return found

    def whole(self, key: str, *, most: int) -> int | None:
        """Return a whole number from 1 to `most` where it is written."""
        if key not in self:
            return None
        value = self.entries[key]
        if isinstance(value, bool) or not isinstance(value, int):
            self.complain(f"must be a whole number, not {kind(value)}. Write, for example, `{key} = 20`", key)
        elif value < 1:
            self.complain(f"must be at least 1. Write, for example, `{key} = 20`", key)
        elif value > most:
            self.complain(f"must be at most {most}. Write a smaller number.", key)
        else:
            return value
        return None

    def sections(self, *, inline: bool, example: str) -> list[Section]:
        """Return the named tables beneath; anything else beneath is a mistake."""
        found = []
        for name, entries in self.entries.items():
            words = unusable(name)
            if words:
                self.complain(f"the name {words}. Write another one, or rename it at its source", name)
            elif isinstance(entries, dict):
                found.append(Section((*self.place, name), entries, self.problems, inline=inline))
            else:
                self.complain(f"must be a table, not {kind(entries)}. Write, for example, `{example}`", name)
        self._refuse_twins([section.place for section in found])
        return found

    def beneath(self, key: str) -> Section:
        """Return the section of a key; empty if it is not there, a mistake if it is not a table."""
        entries = self.entries.get(key, {})
        if not isinstance(entries, dict):
            words = f"must be a section, not {kind(entries)}. Write `{header((*self.place, key))}` on a line of its own"
            self.problems.add((*self.place, key), f"{header((*self.place, key))}: {words}")
            entries = {}
        return Section((*self.place, key), entries, self.problems)

    def _refuse_twins(self, places: list[Place]) -> None:
        first: dict[str, str] = {}
        for place in places:
            name = str(place[-1])
            twin = first.setdefault(name.casefold(), name)
            if twin != name:
                words = f"differs from {key_in_toml(twin)} only in case, and SQL takes both for the same name"
                self.complain(f"{words}. Keep one, or rename the other at its source.", name)


def exact(value: object) -> Fraction | str:
    """Return a number of the file as the fraction its decimals say, or words for why it is not a number.

    >>> exact(Decimal("0.1"))
    Fraction(1, 10)
    """
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return f"must be a number, not {kind(value)}. Write it in digits, without quotes."
    if isinstance(value, Decimal) and not value.is_finite():
        return "must be finite. Write a number in digits."
    if isinstance(value, Decimal):
        if len(value.as_tuple().digits) > _MOST_DIGITS or (value and abs(value.adjusted()) > _LARGEST_EXPONENT):
            return (
                f"is beyond 1e{_LARGEST_EXPONENT} or below 1e-{_LARGEST_EXPONENT}. Write a number of a sensible size."
            )
    elif abs(value) > 10**_LARGEST_EXPONENT:
        return f"is beyond 1e{_LARGEST_EXPONENT}. Write a number of a sensible size."
    return Fraction(value)


def kind(value: object) -> str:
    """Say in words what a value of a TOML file is.

    >>> kind(True), kind(["a"])
    ('a truth value', 'a list')
    """
    kinds = {bool: "a truth value", int: "a whole number", Decimal: "a number", str: "a text", list: "a list"}
    kinds |= {dict: "a table", float: "a number that is not finite"}
    return kinds.get(type(value), "a date or a time" if isinstance(value, date | time) else "something else")


def unusable(text: str) -> str:
    """Say why a text cannot be a name or a value shown to people; nothing if it can."""
    if not text.strip():
        return "is empty"
    if len(text) > _LONGEST_NAME:
        return f"is longer than {_LONGEST_NAME} characters"
    if text != text.strip():
        return "begins or ends with a space"
    if not text.isprintable():
        return "contains a character that cannot be printed"
    return ""


def meant(word: str, known: Sequence[str]) -> str:
    """Ask whether a known word was meant, if one is near.

    >>> meant("epsilom", ["epsilon", "delta"])
    'Did you mean epsilon? '
    """
    folded = {one.casefold(): one for one in known}
    near = get_close_matches(word[:_LONGEST_NAME].casefold(), list(folded), n=1, cutoff=0.65)
    return f"Did you mean {key_in_toml(folded[near[0]])}? " if near else ""


def _belongs(key: str) -> str:
    return f"It belongs into [{_BELONGS[key]}]. " if key in _BELONGS else ""


def shown(value: object) -> str:
    """Write a key or a value of the file for a message."""
    return text_in_toml(str(value))

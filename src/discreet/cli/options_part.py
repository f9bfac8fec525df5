"""What the local commands share: numbers taken as they are written."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING

import click

from discreet.cli import console

if TYPE_CHECKING:
    Exact = click.ParamType[Fraction]
else:
    Exact = click.ParamType  # generic in newer versions only

_WRITTEN = re.compile(r"\d{1,18}(\.\d{0,18}|/\d{1,18})?|\.\d{1,18}", re.ASCII)

_KIND = re.compile(r"\bkeys=(Text|Integer|Bytes)Keys\((\d+)\)")
_OPTIONS = ("people", "values", "labels", "keys", "find", "seed", "bits", "largest")


class Written(Exact):
    """A positive number as it is written: 0.1 is one tenth, and 1/3 is a third."""

    name = "number"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Fraction:
        """Read a decimal or a fraction."""
        number = _number(str(value))
        if number is None or number <= 0:
            self.fail(f"{str(value)!r} is no positive number such as 0.5, 2 or 1/3", param, ctx)
        return number


class Bound(Exact):
    """An end of a public range as it is written, of either sign."""

    name = "number"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Fraction:
        """Read a decimal or a fraction with its sign."""
        text = str(value)
        number = _number(text.removeprefix("-"))
        if number is None:
            self.fail(f"{text!r} is no number such as 0, -2.5 or 1/3", param, ctx)
        return -number if text.startswith("-") else number


def _number(text: str) -> Fraction | None:
    """Read a decimal or a fraction without a sign, None if it is neither."""
    return Fraction(text) if _WRITTEN.fullmatch(text) and not re.fullmatch(r".*/0+", text) else None


def as_options(words: str) -> str:
    """Return a sentence that names parameters of the library with the options of the command instead.

    >>> as_options("ask for bits=1, or name them in labels=; as in keys=TextKeys(32)")
    'ask for --bits 1, or name them in --labels; as in --keys text:32'
    """
    words = _KIND.sub(lambda found: f"--keys {found[1].lower()}:{found[2]}", words)
    return console.as_options(words, _OPTIONS)


def labels(_: click.Context, __: click.Parameter, text: str | None) -> tuple[str, ...]:
    """Split a list of labels at its commas."""
    return () if text is None else tuple(label.strip() for label in text.split(","))

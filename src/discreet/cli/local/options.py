"""What the local commands share: numbers taken as they are written."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    Exact = click.ParamType[Fraction]
else:
    Exact = click.ParamType  # generic in newer versions only

_WRITTEN = re.compile(r"\d{1,18}(\.\d{0,18}|/\d{1,18})?|\.\d{1,18}", re.ASCII)


class Written(Exact):
    """A positive number as it is written: 0.1 is one tenth, and 1/3 is a third."""

    name = "number"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Fraction:
        """Read a decimal or a fraction."""
        text = str(value)
        number = Fraction(text) if _WRITTEN.fullmatch(text) and not re.fullmatch(r".*/0+", text) else Fraction(0)
        if number <= 0:
            self.fail(f"{text!r} is no positive number such as 0.5, 2 or 1/3", param, ctx)
        return number


def labels(_: click.Context, __: click.Parameter, text: str | None) -> tuple[str, ...]:
    """Split a list of labels at its commas."""
    return () if text is None else tuple(label.strip() for label in text.split(","))

"""Options that commands share: numbers as they are written, who asks under which policy, where to draw."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from discreet.cli import console
from discreet.cli.program import SETTINGS
from discreet.errors import ParameterError

if TYPE_CHECKING:
    from discreet.laws.number import Number

    Exact = click.ParamType[Fraction]
else:
    Exact = click.ParamType  # generic in newer versions only

Decorator = Callable[[Callable[..., None]], Callable[..., None]]
FILE = click.Path(dir_okay=False, path_type=Path)
DRAWINGS = (".svg", ".png", ".pdf")
_WHOLE, _RATIO = re.compile(r"[+-]?[0-9][0-9_]*"), re.compile(r"[+-]?[0-9]+/[0-9]+")
_LONGEST = 400
_WRITTEN = re.compile(r"\d{1,18}(\.\d{0,18}|/\d{1,18})?|\.\d{1,18}", re.ASCII)
_KIND = re.compile(r"\bkeys=(Text|Integer|Bytes)Keys\((\d+)\)")
_OPTIONS = ("people", "categories", "keys", "asked", "find", "seed", "bits", "largest")


def command(name: str | None = None) -> Callable[[Callable[..., None]], click.Command]:
    """Return what makes a command of a function; it explains itself with -h and --help."""
    return click.command(name, context_settings=SETTINGS)


def decorated(options: Sequence[Decorator]) -> Decorator:
    """Put several options on one command, in the order given."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def stated(
    name: str, kind: click.ParamType[Any], default: object, words: str, *, into: str = "", many: bool = False
) -> Decorator:
    """Return an option with a default, which its help shows; `into` names the argument where it has another name."""
    names = (name, into) if into else (name,)
    return click.option(*names, type=kind, default=default, show_default=True, help=words, multiple=many)


def policy_option() -> Decorator:
    """Return the option that names the policy."""
    return stated("--policy", FILE, Path("policy.toml"), "The policy file.")


def analyst_option() -> Decorator:
    """Return the option that says who asks."""
    words = "Who asks; not needed where the policy names one analyst."
    return click.option("--analyst", envvar="DISCREET_ANALYST", show_envvar=True, help=words)


def json_option() -> Decorator:
    """Return the option for plain values."""
    return click.option("--json", "as_json", is_flag=True, help="Print plain values for machines instead of tables.")


def confidence_option(words: str) -> Decorator:
    """Return the option that states a confidence."""
    return stated("--confidence", click.FloatRange(0, 1, min_open=True, max_open=True), 0.95, words)


def plot_to(what: str = "the result") -> Decorator:
    """Return the option that says where to draw the result; a file that cannot be drawn is refused before the work."""
    words = f"Draw {what} into this file (.svg, .png, .pdf)."
    return click.option("--plot", "plot_file", type=FILE, callback=_drawable, help=words)


def _drawable(context: click.Context, option: click.Parameter, target: Path | None) -> Path | None:
    """Refuse a file of another suffix, or where nothing can be written."""
    if target is not None and target.suffix not in DRAWINGS:
        raise click.BadParameter(f"the file name must end in .svg, .png or .pdf, got {target.name!r}")
    return writable(context, option, target)


def writable(_: click.Context, __: click.Parameter, target: Path | None) -> Path | None:
    """Refuse a file that cannot be written, before the work is done."""
    if target is None:
        return None
    if not target.name:
        raise click.BadParameter("must be the name of a file")
    if not target.parent.is_dir():
        raise click.BadParameter(f"there is no folder {str(target.parent)!r}; make it first")
    if not os.access(target if target.exists() else target.parent, os.W_OK):
        raise click.BadParameter(f"{str(target)!r} cannot be written")
    return target


def read_number(text: str) -> Number:
    """Return what somebody typed: an integer, a fraction 1/3, or decimals, taken as the float they name.

    >>> read_number("10_000"), read_number("1/3"), read_number("1e-5")
    (10000, Fraction(1, 3), 1e-05)
    """
    plain = text.strip()
    if not plain or len(plain) > _LONGEST:
        raise ParameterError("must be a number")
    try:
        if _WHOLE.fullmatch(plain):
            return int(plain)
        if _RATIO.fullmatch(plain):
            return Fraction(plain)
        value = float(plain)
    except (ValueError, ZeroDivisionError):
        raise ParameterError(f"{plain[:40]!r} is not a number") from None
    if not math.isfinite(value):
        raise ParameterError(f"{plain[:40]!r} is not a finite number that a float can hold")
    return value


def exact(text: str) -> Number:
    """Return what somebody typed, exactly: 0.1 is one tenth, so that ten of them make 1.

    >>> exact("0.1"), exact("1/3"), exact("2")
    (Fraction(1, 10), Fraction(1, 3), 2)
    """
    found = read_number(text)
    return Fraction(text.strip()) if isinstance(found, float) else found


def number_option(
    *names: str,
    words: str,
    metavar: str = "NUMBER",
    default: int | None = None,
    reader: Callable[[str], Number] = exact,
) -> Decorator:
    """Return an option that takes a number; anything else is refused in one line."""

    def number(value: Any) -> Any:
        try:
            return reader(value) if isinstance(value, str) else value
        except (ParameterError, ValueError) as error:
            raise console.Refusal(f"{names[0]}: {error}") from None

    return click.option(*names, type=number, metavar=metavar, default=default, show_default=True, help=words)


class Written(Exact):
    """A positive number as it is written: 0.1 is one tenth, and 1/3 is a third."""

    name = "number"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Fraction:
        """Read a decimal or a fraction."""
        number = _number(str(value))
        if number is None or number <= 0:
            self.fail(f"must be a positive number such as 0.5, 2 or 1/3; got {str(value)!r}", param, ctx)
        return number


class Bound(Exact):
    """An end of a public range as it is written, of either sign."""

    name = "number"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> Fraction:
        """Read a decimal or a fraction with its sign."""
        text = str(value)
        number = _number(text.removeprefix("-"))
        if number is None:
            self.fail(f"must be a number such as 0, -2.5 or 1/3; got {text!r}", param, ctx)
        return -number if text.startswith("-") else number


def _number(text: str) -> Fraction | None:
    """Read a decimal or a fraction without a sign, None if it is neither."""
    return Fraction(text) if _WRITTEN.fullmatch(text) and not re.fullmatch(r".*/0+", text) else None


def as_options(words: str) -> str:
    """Return a sentence that names parameters of the library with the options of the command instead.

    >>> as_options("ask for bits=1, or state categories=; as in keys=TextKeys(32)")
    'ask for --bits 1, or state --categories; as in --keys text:32'
    """
    words = _KIND.sub(lambda found: f"--keys {found[1].lower()}:{found[2]}", words)
    return console.as_options(words, _OPTIONS)


def categories(_: click.Context, __: click.Parameter, text: str | None) -> int | tuple[str, ...] | None:
    """Read a number of categories, or split their names at the commas."""
    if text is None or re.fullmatch("[0-9]{1,18}", text):
        return None if text is None else int(text)
    return tuple(name.strip() for name in text.split(","))

"""`discreet account`: what a plan of releases costs, or how much noise a target needs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypedDict, Unpack, cast

import click
from click.core import ParameterSource

from discreet.cli.account.facts import AccountQuestion, CertifiedLoss, certify
from discreet.cli.account.plan import FAMILIES, Family, ReleasePlan, sampling
from discreet.cli.account.plot import CAPTION, price_plot
from discreet.cli.account.wording import bill, machine
from discreet.cli.console import ReadableConsole, Refusal, chapter_html, refusing, say_json, spinner
from discreet.cli.options import DRAWINGS, FILE, Decorator, decorated, json_option, number_option, read_number
from discreet.cli.program import SETTINGS
from discreet.display import figure, page
from discreet.errors import ConflictingParameters, MissingParameter, ParameterError
from discreet.laws.number import Number
from discreet.privacy import ReleaseRecord, records_from_json, records_to_json

_HELP = {
    "scale": "Noise: the standard deviation of Gaussian noise, the scale of Laplace noise.",
    "sensitivity": "How far one person moves the answer (L2 for Gaussian, L1 for Laplace noise).",
    "epsilon": "Epsilon of each release.",
    "categories": "Number of categories of the report.",
    "each-delta": "Delta of each release (--delta is that of the question).",
    "rho": "Rho of each release.",
    "alpha": "Renyi order, greater than 1.",
    "mu": "Mu of each release.",
}


# a number is taken as the float that its decimals name
_numeric = partial(number_option, reader=read_number)


class AccountOptions(TypedDict):
    """The options that every form of the command shares."""

    delta: Number | None
    at_epsilon: Number | None
    unit: str | None
    plot: Path | None
    html: Path | None
    save: Path | None
    as_json: bool


def _questions(*epsilon_names: str) -> list[Decorator]:
    """Return the options that ask, and those that say where the answer goes."""
    return [
        _numeric("--delta", words="Ask for epsilon at this delta; never guessed."),
        _numeric("--at-epsilon", *epsilon_names, "at_epsilon", words="Ask for delta at this epsilon instead."),
        click.option("--unit", help="Who is protected: patient, visit, household. Needed by --save."),
        click.option("--plot", type=FILE, help="Draw both curves into a .svg, .png or .pdf file."),
        click.option("--html", type=FILE, help="Write the whole answer as a page that loads nothing."),
        click.option("--save", type=FILE, help="Write the records of the releases as JSON."),
        json_option(),
    ]


@click.group(invoke_without_command=True, context_settings=SETTINGS)
@click.option("--records", type=FILE, help="Price the releases of a file of records (see --save of the commands).")
@decorated(_questions("--epsilon"))
@click.pass_context
def account(context: click.Context, records: Path | None, **asked: Unpack[AccountOptions]) -> None:
    """Say what a plan of releases costs: the certified epsilon at a delta, odds, a test, and other theorems.

    Name what is released and how often, for example

        discreet account gaussian --scale 1 --rate 0.01 --steps 10000 --delta 1e-5

    or give a file of records: discreet account --records ledger.json --delta 1e-5
    """
    if context.invoked_subcommand is not None:
        given = [name for name in context.params if context.get_parameter_source(name) is not ParameterSource.DEFAULT]
        if given:
            raise Refusal(f"write the options after the name: discreet account {context.invoked_subcommand} ...")
        return
    if records is None:
        raise Refusal(f"name what is released ({', '.join(FAMILIES)}), or give --records FILE")
    with refusing():
        ledger = records_from_json(_read(records))
        _answer(ledger, asked, unit_stated=True)


def _command(name: str, family: Family) -> click.Command:
    """Return the command of one family, with the options that state a release of it."""

    def run(rate: Number | None, steps: Number, calibrate: Number | None, **options: Any) -> None:
        stated = {word: options.pop(word.replace("-", "_")) for word in family.options}
        how, fixed, relation = (options.pop(word) for word in ("sampler", "fixed_size", "relation"))
        asked = cast("AccountOptions", options)
        with refusing():
            plan = ReleasePlan(
                family,
                {word: value for word, value in stated.items() if value is not None},
                sampling(rate, _sampler(how, fixed=fixed), relation),
                cast("int", steps),
                asked["unit"],
            )
            if calibrate is not None:
                plan = _calibrated(plan, calibrate, asked)
            _answer(
                [plan.record()],
                asked,
                unit_stated=plan.unit is not None,
                found=plan.noise if calibrate is not None else "",
            )

    own = [_own_option(family, word) for word in family.options]
    names = ("--epsilon",) if family.asks_by_epsilon else ()
    made = decorated([*own, *_releases(family), *_questions(*names)])(run)
    return click.command(name, help=f"Price {family.words}.", context_settings=SETTINGS)(made)


def _own_option(family: Family, word: str) -> Decorator:
    """Return the option of one parameter; only a size that everybody takes as 1, or 2 categories, has a default."""
    default = (family.defaults or {}).get(word)
    return _numeric(f"--{word}", words=_HELP[word], default=default)


def _releases(family: Family) -> list[Decorator]:
    """Return the options that say how often, on which rows, and for which neighbors."""
    least = f"Find the {'largest' if family.inverse else 'least'} {family.noise} for this epsilon at --delta."
    return [
        _numeric("--steps", words="How many releases.", default=1),
        _numeric("--rate", words="Run each release on a secret sample of this rate."),
        click.option("--sampler", help="How the sample is drawn: poisson (the default of --rate) or fixed-size."),
        click.option("--fixed-size", is_flag=True, help="The same as --sampler fixed-size."),
        click.option(
            "--relation",
            type=click.Choice(["add-remove", "change-one"]),
            help="Neighbors: Poisson samples imply add-remove, samples of a fixed size change-one.",
        ),
        _numeric("--calibrate", metavar="EPSILON", words=least),
    ]


def _sampler(name: str | None, *, fixed: bool) -> str | None:
    if fixed and name not in (None, "fixed-size"):
        raise ConflictingParameters("--fixed-size and --sampler contradict each other: keep one", parameter="sampler")
    return "fixed-size" if fixed else name


def _calibrated(plan: ReleasePlan, epsilon: Number, asked: AccountOptions) -> ReleasePlan:
    """Find the noise for a target, which needs a delta and leaves nothing else to ask."""
    if asked["delta"] is None or asked["at_epsilon"] is not None:
        raise MissingParameter("--calibrate EPSILON needs --delta, and no --at-epsilon", parameter="delta")
    return plan.calibrated(epsilon, asked["delta"])


def _answer(records: Sequence[ReleaseRecord], asked: AccountOptions, *, unit_stated: bool, found: str = "") -> None:
    """Price the records, print the answer and write the files asked for."""
    console = ReadableConsole()
    question = AccountQuestion(asked["delta"], asked["at_epsilon"])
    if asked["save"] is not None and not unit_stated:
        raise MissingParameter(
            "--save writes records, and a record needs --unit, for example --unit patient", parameter="unit"
        )
    _check_suffix(asked["plot"])
    with spinner(console, "Pricing"):
        answer = certify(records, question)
        written = _files(answer, asked, unit_stated=unit_stated)
    if asked["as_json"]:
        say_json(machine(answer))
        return
    for part in bill(answer, unit_stated=unit_stated, found=found):
        console.show(part)
    console.print()
    for path in written:
        console.say_written(path)


def _files(answer: CertifiedLoss, asked: AccountOptions, *, unit_stated: bool) -> list[Path]:
    """Write what was asked for; return the paths."""
    written = []
    drawing = price_plot(answer) if asked["plot"] is not None or asked["html"] is not None else None
    try:
        if drawing is not None and asked["plot"] is not None:
            written.append(drawing.save(asked["plot"]))
        if drawing is not None and asked["html"] is not None:
            parts = "\n".join(chapter_html(part) for part in bill(answer, unit_stated=unit_stated))
            text = page("discreet: a price", parts + figure(drawing.svg(), description=CAPTION))
            asked["html"].write_text(text, encoding="utf-8")
            written.append(asked["html"])
        if asked["save"] is not None:
            asked["save"].write_text(records_to_json(answer.records) + "\n", encoding="ascii")
            written.append(asked["save"])
    except OSError as error:
        raise click.ClickException(f"cannot write {error.filename}: {error.strerror}") from None
    return written


def _check_suffix(path: Path | None) -> None:
    """Refuse a format before anything is computed."""
    if path is not None and path.suffix not in DRAWINGS:
        raise ParameterError("--plot: the file name must end in .svg, .png or .pdf", parameter="plot")


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise Refusal(f"cannot read {path}: {error.strerror}") from None


for _name, _family in FAMILIES.items():
    account.add_command(_command(_name, _family))

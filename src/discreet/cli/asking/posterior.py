"""`discreet posterior`: what an answer says about people and population, by a model that knows about the noise."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click

from discreet import bayes
from discreet.bayes.inference import require_readable
from discreet.cli import options
from discreet.cli.asking.options import check_place, check_target, finite, opened, prices, query_options, query_text
from discreet.cli.console import (
    ReadableConsole,
    Refusal,
    Spent,
    answering,
    as_options,
    say_json,
    showing_what_is_paid,
    spinner,
)
from discreet.display import visible
from discreet.errors import DiscreetError, ParameterError, PrivateKeys
from discreet.privacy.guarantees import in_words, plain
from discreet.query import Answer
from discreet.query.answer import plain as plain_value
from discreet.statistics.measurement import MeasurementPlan

Plans = Sequence[MeasurementPlan]
_REPETITIONS = 100
_STATED_FREE = ("one_row_a_person", "exhaustive")


@dataclass(frozen=True)
class _Kind:
    """A model by its name: what makes it, the options that it needs, and those that it takes beside them."""

    made: Callable[..., bayes.Model]
    needs: tuple[str, ...]
    takes: tuple[str, ...] = ()


def _area_rates(median: float, deviation: float, **stated: Any) -> bayes.Model:
    return bayes.SmallAreaRates(mean=bayes.LogNormal(median, deviation), **stated)


_MODELS = {
    "beta-binomial": _Kind(bayes.BetaBinomial, ("a", "b"), ("success", "people")),
    "dirichlet": _Kind(bayes.DirichletMultinomial, ("concentration",), ("people",)),
    "poisson": _Kind(bayes.PoissonGamma, ("shape", "rate"), ("exposures",)),
    "logistic": _Kind(bayes.LogisticCells, ("success",), ("people",)),
    "area-shares": _Kind(bayes.SmallAreaShares, ("success",), ("people",)),
    "area-rates": _Kind(_area_rates, ("median", "deviation", "exposures")),
}
_OPTIONS = {  # the name of an option where it is not that of the argument
    "exposures": "exposure"
}
_number = partial(options.number_option, reader=lambda text: float(options.read_number(text)))


@options.command()
@query_options
@click.option("--model", required=True, type=click.Choice(list(_MODELS)), help="The model of the people.")
@click.option("--success", metavar="KEY=VALUE", help="The group that is a yes, such as smoker=yes.")
@_number("--a", words="Beta prior: worth as many people who say yes.")
@_number("--b", words="Beta prior: worth as many people who say no.")
@_number("--concentration", words="Dirichlet prior of the shares of cells; 1 is flat.")
@_number("--shape", words="Gamma prior of a rate: worth as many events.")
@_number("--rate", words="Gamma prior of a rate: worth as much exposure.")
@_number("--median", words="Prior of the areas' mean rate: its median.")
@_number("--deviation", words="Prior of the areas' mean rate: the deviation of its logarithm.")
@click.option("--exposure", "exposures", multiple=True, metavar="[GROUP=]NUMBER", help="Public exposure; repeat it.")
@click.option("--people", multiple=True, metavar="[GROUP=]NUMBER", help="Public number of people; repeat it.")
@click.option("--one-row-a-person", is_flag=True, help="You know that nobody has two rows.")
@click.option("--exhaustive", is_flag=True, help="You know that every row is in a listed group.")
@click.option("--parameter", help="What --plot draws and --explain plans; the first of the model if left out.")
@click.option("--together", is_flag=True, help="With --plot: intervals that hold in all groups at once.")
@click.option("--seed", type=click.IntRange(min=0), help="Repeat the draws; nothing private is drawn.")
@click.option("--plot", type=options.FILE, help="Draw a parameter with its intervals: .svg, .png or .pdf.")
@click.option("--explain", "only_explain", is_flag=True, help="Say how wide the intervals would be; nothing is spent.")
@options.json_option()
def posterior(
    sql: str | None, file: Path | None, policy: Path, analyst: str | None, confidence: float, **asked: Any
) -> None:
    """Say what a query tells about people and population, under a model of them.

    The query is charged as by `discreet ask`; an answer that was paid for is read again for nothing, by any model.
    For example: discreet posterior "SELECT smoker, COUNT(*) FROM patients GROUP BY smoker" --epsilon 0.1
    --model beta-binomial --a 1 --b 1 --success smoker=yes
    """
    as_json, plot, only_explain, seed = (asked.pop(name) for name in ("as_json", "plot", "only_explain", "seed"))
    parameter, together = asked.pop("parameter"), asked.pop("together")
    with answering():
        if only_explain and plot is not None:
            raise Refusal("--explain and --plot exclude each other: keep one")
        # what cannot be written or computed is refused before anything is charged
        check_target("--plot", plot, options.DRAWINGS)
        text, price = query_text(sql, file), prices(asked)
        _check_plotted(parameter, plot, together=together, only_explain=only_explain)
        made = _stated(asked)
        with opened(policy, analyst) as session, spinner(ReadableConsole(stderr=True), "Asking"):
            check_place("--plot", plot, session.policy, policy)
            explained = session.explain(text, **price)
            plans = _known_plans(lambda: explained.plans)
            model = None if plans is None else require_readable(made(plans), plans, parameter=parameter)
            if only_explain:
                _explain(model, plans, parameter, confidence, seed, as_json=as_json)
                return
            answer = session.sql(text, **price)
        with showing_what_is_paid(answer.record.number), _keeping(answer):
            measured = answer.measurements
            found = bayes.posterior(measured, model or made([one.plan for one in measured]), seed=seed)
            if as_json:
                say_json(_machine(found, answer, confidence))
            else:
                _show(found, answer, confidence)
            if plot is not None:
                drawn = found.plot(parameter, confidence=confidence, together=together)
                ReadableConsole(stderr=as_json).say_written(drawn.save(plot))


def _check_plotted(parameter: str | None, plot: Path | None, *, together: bool, only_explain: bool) -> None:
    """Refuse words about a picture where none is drawn."""
    if parameter is not None and plot is None and not only_explain:
        raise Refusal("--parameter says what --plot draws and --explain plans: add one of them, or leave it out")
    if together and plot is None:
        raise Refusal("--together goes with --plot: add it, or leave --together out")


def _stated(asked: dict[str, Any]) -> Callable[[Plans], bayes.Model]:
    """Return what makes the model once the groups are known; refuse options that are missing or go with another."""
    name = asked.pop("model")
    kind, flags = _MODELS[name], {flag: asked.pop(flag) for flag in _STATED_FREE}
    given = {option: value for option, value in asked.items() if value not in (None, ())}
    missing = [option for option in kind.needs if option not in given]
    if missing:
        written = " ".join(_written(option) for option in kind.needs)
        raise Refusal(f"--model {name} needs {written}; {_written(missing[0])} is missing")
    others = [option for option in given if option not in kind.needs + kind.takes]
    if others:
        fits = ", ".join(model for model, one in _MODELS.items() if others[0] in one.needs + one.takes)
        raise Refusal(f"{_written(others[0])} goes with --model {fits}; leave it out")

    def made(plans: Plans) -> bayes.Model:
        stated = dict(given)
        if "success" in stated:
            stated["success"] = _pair(stated["success"], plans)
        for option in {"people", "exposures"} & stated.keys():
            stated[option] = _by_group(option, stated[option], plans, stated.get("success"))
        return kind.made(**stated, **flags)

    return made


def _written(option: str) -> str:
    """Return an argument as the option is written."""
    return f"--{_OPTIONS.get(option, option)}"


def _pair(text: str, plans: Plans) -> tuple[str, Any]:
    """Return a key and one of its values, of the type that the answer has."""
    name, equals, wanted = text.partition("=")
    values = {key[plan.key_names.index(name)] for plan in plans if name in plan.key_names for key in plan.keys}
    if not equals or not values:
        names = ", ".join(dict.fromkeys(name for plan in plans for name in plan.key_names)) or "none: ask with GROUP BY"
        raise Refusal(f"--success must be KEY=VALUE with a key of the query ({visible(names)}); got {text!r}")
    for value in values:
        if str(value) == wanted or (isinstance(value, bool) and str(value).lower() == wanted.lower()):
            return name, value
    listed = ", ".join(sorted(map(str, values))[:12])
    raise Refusal(f"--success must name a value of {name} that the answer lists ({visible(listed)}); got {text!r}")


def _by_group(
    option: str, texts: Sequence[str], plans: Plans, success: tuple[str, Any] | None
) -> float | Mapping[Any, float]:
    """Return one number for all, or one for each group that is named; groups are without the key of success."""
    if len(texts) == 1 and "=" not in texts[0]:
        return _amount(option, texts[0])
    groups: dict[str, Any] = {}
    for plan in plans:
        kept = [place for place, name in enumerate(plan.key_names) if success is None or name != success[0]]
        for key in plan.keys:
            label = tuple(key[place] for place in kept)
            groups[",".join(map(str, label))] = label
    found: dict[Any, float] = {}
    for text in texts:
        words, equals, amount = text.rpartition("=")
        if not equals or words not in groups or groups[words] in found:
            listed = ", ".join([one for one in groups if one][:12]) or "none: write one number"
            raise Refusal(f"{_written(option)} must be GROUP=NUMBER, each group once ({visible(listed)}); got {text!r}")
        found[groups[words]] = _amount(option, amount)
    return found


def _amount(option: str, text: str) -> float:
    """Return a number; people are whole."""
    try:
        number = options.read_number(text)
    except ParameterError as error:
        raise Refusal(f"{_written(option)}: {error}") from None
    return number if isinstance(number, int) else float(number)


def _known_plans(plans: Callable[[], Plans]) -> Plans | None:
    """Return what the query would measure, or None where private keys are not known before they are paid for."""
    try:
        return plans()
    except PrivateKeys:
        return None


def _explain(
    model: bayes.Model | None, plans: Plans | None, parameter: str | None, confidence: float, seed: int | None, *,
    as_json: bool,
) -> None:  # fmt: skip
    """Say how wide the intervals of one parameter would be on the average over releases that the model makes."""
    if model is None or plans is None:
        raise Refusal("--explain needs public keys, so that the groups are known before: declare their values")
    found = bayes.expected_width(
        model, list(plans), name=parameter, confidence=confidence, reps=_REPETITIONS, seed=seed
    )
    if as_json:
        say_json({name: finite(value) for name, value in found.to_dict().items()})
        return
    console = ReadableConsole()
    console.say(str(found))
    console.say("No data was read and nothing was spent.")


@contextmanager
def _keeping(answer: Answer) -> Iterator[None]:
    """Say, where a model cannot read an answer, that the charge stands and that other models may try for nothing."""
    try:
        yield
    except DiscreetError as error:
        if answer.record.replayed:
            raise
        words = (
            f"{as_options(str(error))} The charge stands as record {answer.record.number}, and the answer is in the "
            "ledger: the same question at the same price, with another model, is free."
        )
        raise Spent(words) from None


def _show(found: bayes.Posterior, answer: Answer, confidence: float) -> None:
    """Print the table and what goes with it."""
    console = ReadableConsole()
    console.say_table(found.table(confidence))
    facts = [fact for fact in found.facts() if fact[0] != "charged before"]
    again = ", handed out again at no cost" if answer.record.replayed else ""
    console.say_facts([*facts, ("guarantee", in_words(answer.guarantee)), ("record", f"{answer.record.number}{again}")])
    console.print()


def _machine(found: bayes.Posterior, answer: Answer, confidence: float) -> dict[str, Any]:
    """Return plain values."""
    columns = found.to_dict(confidence)
    return {
        "posterior": {name: [finite(plain_value(value)) for value in column] for name, column in columns.items()},
        "confidence": confidence,
        "model": str(found.model),
        "method": found.method,
        "notes": list(found.notes),
        "log evidence": finite(found.log_evidence),
        "guarantee": plain(answer.guarantee),
        "record": answer.record.number,
        "entry": answer.record.entry_hash,
        "replayed": answer.record.replayed,
    }

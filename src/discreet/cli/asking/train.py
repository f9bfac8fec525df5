"""`discreet train`: a network trained on a private table by a plan that is shown first, then charged, then run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn

from discreet._optional import optional
from discreet.cli import options
from discreet.cli.asking.options import check_place, opened
from discreet.cli.asking.synthesize import check_file
from discreet.cli.console import ReadableConsole, answering, progressing, say_json, showing_what_is_paid
from discreet.privacy.guarantees import in_words, plain
from discreet.query import Session

optional("sklearn", extra="learn", purpose="discreet train")
optional("torch", extra="deep", purpose="discreet train")

from discreet.learning import save_model  # noqa: E402  the lines above say what to install where it is missing
from discreet.learning.base import PreparedFit, prepared_fit  # noqa: E402
from discreet.learning.deep.plan import Plan  # noqa: E402
from discreet.learning.deep.training import DeepClassifier, DeepRegressor, RecipeClassifier  # noqa: E402

_NETWORKS = {"classes": DeepClassifier, "number": DeepRegressor}
_COLUMNS = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
_MOST_PEOPLE = 1 << 28


@options.command()
@click.option("--table", required=True, help="The table to learn from, in which a unit has one row.")
@options.policy_option()
@options.analyst_option()
@click.option("--feature", "features", multiple=True, required=True, help="A column to learn from; repeat it.")
@click.option("--target", required=True, help="The column to be predicted.")
@options.stated("--predict", click.Choice(list(_NETWORKS)), "classes", "What the target is: classes, or a number.")
@click.option("--hidden", type=click.IntRange(1, 1 << 14), multiple=True, help="Width of a hidden layer; repeat it.")
@click.option("--linear", is_flag=True, help="No hidden layer; one of 64 units if neither is given.")
@click.option(
    "--recipe", is_flag=True, help="No network: a linear model on declared values and bins, by a public rule."
)
@click.option("--steps", type=click.IntRange(1, 10**6), help="The number of steps; 40 if left out.")
@click.option("--batch", type=click.IntRange(1, _MOST_PEOPLE), help="People expected in a step, drawn at random.")
@click.option("--learning-rate", type=click.FloatRange(min=0, min_open=True), help="By a public rule if left out.")
@options.number_option("--norm", words="The length that one person's gradient is clipped to; 1 if left out.")
@options.number_option("--epsilon", words="Price: epsilon, with --delta.")
@options.number_option("--delta", words="Price: delta, far below one over the people.")
@options.number_option("--share", words="Price: a part of the budget, such as 0.5.")
@click.option("--people", type=click.IntRange(1, _MOST_PEOPLE), help="About how many rows; public, never counted.")
@click.option("--out", type=options.FILE, help="Where to write the model: .json.")
@click.option("--explain", "only_explain", is_flag=True, help="Show the plan and its cost; nothing is spent.")
@options.json_option()
def train(policy: Path, analyst: str | None, out: Path | None, only_explain: bool, as_json: bool, **asked: Any) -> None:
    """Train a network on a table. The plan is shown and the cost is charged first; the same request again is free.

    For example, where a patient has one row in patients:
    discreet train --table patients --feature age --target sex --people 5000 --epsilon 1 --delta 1e-7 --out model.json
    """
    with answering():
        if out is None and not only_explain:
            raise click.UsageError("say where to write the model: --out model.json; or --explain, which spends nothing")
        check_file(out, (".json",))  # what cannot be written is refused before anything is charged
        with opened(policy, analyst) as session:
            check_place("--out", out, session.policy, policy)
            found = _prepared(session, asked)
            if not as_json:
                _show_plan(found)
            if only_explain or out is None:
                if as_json:
                    say_json({**_planned(found), "fits": found.fits})
                else:
                    ReadableConsole().say("No data was read and nothing was spent.")
                return
            network: Any = found.model
            with progressing(ReadableConsole(stderr=True), _COLUMNS, "Training", total=_plan(found).steps) as update:
                network.telling(lambda done, total: update(completed=done, total=total))
                record = found.fit()
                network.telling(None)  # a model that was stored was not trained again
        with showing_what_is_paid(record.number):
            written = save_model(found.model, out)
            if as_json:
                paid = {"record": record.number, "replayed": record.replayed, "file": str(written)}
                say_json({**_planned(found), **paid})
                return
            console = ReadableConsole()
            again = ", handed out again at no cost" if record.replayed else ""
            console.say_facts([("charged", in_words(found.cost)), ("record", f"{record.number}{again}")])
            console.say_written(written)


def _prepared(session: Session, asked: dict[str, Any]) -> PreparedFit:
    """Return the training that the options ask for; nothing is charged."""
    if asked["recipe"]:
        _refuse_beside_recipe(asked)
    if asked["linear"] and asked["hidden"]:
        raise click.UsageError("--linear and --hidden say two things: leave one of them out")
    if asked["share"] is None and (asked["epsilon"] is None or asked["delta"] is None):
        raise click.UsageError("say what it may cost: --epsilon 1 --delta 1e-7, or --share 0.5 of the budget")
    stated = {name: asked[name] for name in ("steps", "batch", "learning_rate", "norm") if asked[name] is not None}
    if asked["linear"] or asked["hidden"]:
        stated["hidden"] = tuple(asked["hidden"])
    network = RecipeClassifier() if asked["recipe"] else _NETWORKS[asked["predict"]](**stated)
    price = {name: asked[name] for name in ("epsilon", "delta", "share")}
    return prepared_fit(
        network, session, asked["table"], list(asked["features"]), asked["target"], people=asked["people"], **price
    )


def _refuse_beside_recipe(asked: dict[str, Any]) -> None:
    """Refuse what a recipe decides by itself, and what it cannot predict."""
    if asked["predict"] != "classes":
        raise click.UsageError("--recipe predicts classes; leave it out for --predict number")
    for name in ("linear", "hidden", "steps", "batch", "learning_rate", "norm"):
        if asked[name]:
            option = name.replace("_", "-")
            raise click.UsageError(f"--recipe decides this by its public rule: leave --{option} out, or --recipe")


def _show_plan(found: PreparedFit) -> None:
    """Show what is known before any row is read: the network, the plan, the cost."""
    told = found.explain()
    facts = [
        ("model", f"{type(found.model).__name__}, {told.plan['weights']:,} weights"),
        ("table", f"{found.table.name} ({', '.join(found.columns)})"),
        *_plan(found).explain()._rows(),
        ("learning rate", f"{told.plan['learning rate']:.4g}"),
        ("expect", told.regime),
        ("cost", in_words(found.cost)),
        ("fits", f"{found.fits:,} times into what is left of the budget"),
    ]
    ReadableConsole().say_facts([(name, words) for name, words in facts if words is not None])


def _planned(found: PreparedFit) -> dict[str, Any]:
    """Return the same as plain values."""
    return {**found.explain().to_dict(), "training": _plan(found).explain().to_dict(), "cost": plain(found.cost)}


def _plan(found: PreparedFit) -> Plan:
    """Return the plan, which is the price of a network."""
    price: Any = found.public.price
    plan: Plan = price.plan
    return plan

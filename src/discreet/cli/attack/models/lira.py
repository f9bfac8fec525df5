"""`discreet attack lira`: who is in a training set, by shadow models, of plain classifiers and a private one."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Any

import click

from discreet import attacks
from discreet.cli import options
from discreet.cli.attack import telling
from discreet.cli.attack.models import targets
from discreet.cli.attack.telling import percent
from discreet.cli.console import Chapter, ReadableConsole, answering, spinner
from discreet.display import Table, format_number


@options.command()
@telling.people(400, least=40, most=10_000)
@telling.seed()
@options.stated("--columns", click.IntRange(1, 2000), 40, "Numbers known of a person.")
@options.stated("--models", click.IntRange(8, 2000), 64, "Models trained, each with about half of the people.")
@telling.epsilon(0.01, 20, "Price of a private model.")
@targets.delta()
@options.plot_to()
def lira(
    *, people: int, seed: int, columns: int, models: int, epsilon: float, delta: float, plot_file: Path | None
) -> None:
    """Tell who is in the training set of a model by what shadow models say of people.

    Takes about five seconds.
    """
    with answering():
        with spinner(ReadableConsole(), "Training shadow models") as doing:
            invented = attacks.invented_labels(people=people, columns=columns, seed=seed)
            private = targets.labels(epsilon, delta, people // 2)
            mu = private.explain(columns).mu
            found: list[tuple[str, attacks.ShadowMembership]] = []
            for words, train, price in (
                ("forest of 10 trees", targets.forest, None),
                ("logistic, no penalty", targets.unregularized, None),
                (f"private, epsilon {format_number(epsilon)}", partial(_fitted, epsilon, delta, people // 2), mu),
            ):
                doing(f"Training shadow models: {words}")
                made = attacks.shadow_membership(train, *invented, models=models, seed=seed, mu=price)
                found.append((words, made))
        telling.tell([_chapter(found, people, models)], plot=found[0][1].plot, plot_file=plot_file)


def _fitted(epsilon: float, delta: float, people: int, rows: Any, labels: Any) -> Any:
    return targets.labels(epsilon, delta, people).fit(rows, labels)


def _chapter(found: list[tuple[str, attacks.ShadowMembership]], people: int, models: int) -> Chapter:
    """Tell what the attack found."""
    rows: list[list[object]] = [
        [
            words,
            f"{one.area:.3f}",
            f"{one.area_error:.3f}",
            percent(one.found()),
            "1" if one.ceiling is None else f"{math.ceil(1000 * one.ceiling.upper) / 1000:.3f}",
        ]
        for words, one in found
    ]
    return Chapter(
        "Who is in the training set?",
        (
            f"{models:,} classifiers are trained, each on about half of {people:,} invented people, by coins. The "
            "attacker knows a person in full, and asks how sure a model is of the person's own label: as sure as the "
            "other models that were trained with the person, or as those that were trained without?",
        ),
        Table(["model", "area", "error", "found at 1 %", "ceiling"], rows),
        (
            "The area under the ROC curve is the chance that a member looks more like one than an outsider does; a "
            "coin has 0.5. Found at 1 %: members found where one outsider in a hundred is accused. The ceiling of the "
            "area holds for any attack, and follows from the price of a training alone.",
        ),
    )

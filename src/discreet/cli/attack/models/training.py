"""`discreet attack training`: one noisy descent audited by canaries, and a broken twin of it."""

from __future__ import annotations

from pathlib import Path

import click

from discreet import attacks
from discreet.audit import OneRun
from discreet.cli import options
from discreet.cli.attack import telling
from discreet.cli.attack.models import targets
from discreet.cli.console import Chapter, ReadableConsole, answering, spinner
from discreet.display import Table, format_number


@options.command()
@options.stated("--canaries", click.IntRange(20, 4096), 1000, "Rows made up for the audit.")
@options.stated("--guesses", click.IntRange(10, 4096), 300, "Canaries about which somebody guesses.")
@telling.epsilon(0.01, 20, "Price of the training.", default=4.0)
@targets.delta()
@options.stated("--times", click.IntRange(2, 20), 3, "How often the broken twin lets a canary through.")
@options.confidence_option("Confidence of the bounds.")
@options.plot_to()
def training(
    *, canaries: int, guesses: int, epsilon: float, delta: float, times: int, confidence: float, plot_file: Path | None
) -> None:
    """Audit a training from one run, and one that is broken.

    Takes about a second.
    """
    with answering():
        with spinner(ReadableConsole(), "Training with canaries and guessing"):
            honest = attacks.DescentTraining(epsilon=epsilon, delta=delta, people=canaries)
            audits = [
                attacks.audit_training(
                    one, canaries=canaries, guesses=guesses, delta=delta, confidence=confidence,
                    guarantee=honest.guarantee,
                )
                for one in (honest, attacks.RepeatedRows(honest, times=times))
            ]  # fmt: skip
        words = ["descent, as it is", f"each canary {times} times"]
        chapter = _chapter(list(zip(words, audits, strict=True)), epsilon, honest.mu, confidence)
        telling.tell([chapter], plot=audits[0].plot, plot_file=plot_file)


def _chapter(found: list[tuple[str, OneRun]], epsilon: float, mu: float, confidence: float) -> Chapter:
    """Tell what the guesses refute."""
    rows: list[list[object]] = [
        [words, f"{one.right} of {one.guesses}", _cut(one.low), _cut(one.mu), one.outcome.name.lower()]
        for words, one in found
    ]
    return Chapter(
        "A training audited while it runs once",
        (
            f"{found[0][1].canaries:,} canaries go into a noisy descent or stay out, by fair coins. Whoever sees every "
            "noisy sum of gradients guesses which ones are in. The more guesses are right, the larger the loss must "
            "be.",
        ),
        Table(["training", "right", "epsilon at least", "mu at least", "verdict"], rows),
        (
            f"The claim is epsilon {format_number(epsilon)}, in Gaussian privacy mu {mu:.3f}, and the confidence "
            f"{100 * confidence:.6g} %. One run never certifies: a claim that is not refuted stays open. The twin "
            "clips rows and claims to clip people.",
        ),
    )


def _cut(bound: float) -> str:
    return f"{bound - 0.5e-3:.3f}" if bound > 0.5e-3 else "0"

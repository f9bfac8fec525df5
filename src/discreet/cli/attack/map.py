"""`discreet attack map`: where answers are reconstructed, traced, or safe, drawn by the attacks themselves."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from discreet import attacks
from discreet.cli import options
from discreet.cli.attack import telling
from discreet.cli.console import Chapter, ReadableConsole, answering, spinner

_FEWEST_QUERIES, _ERRORS = 16, 21
_BEFORE = (
    "A curator answers counting queries about invented people with noise of one size. The Fourier attack asks "
    "questions of its own choice, the membership test takes published counts as they come; both were run for every "
    "number of queries and every size of the noise. Numbers are standard deviations, in people.",
)


@options.command()
@telling.people(1023, least=63, most=16_383)
@options.stated("--queries", click.IntRange(64, 2**16), 2**15, "The most queries to ask.")
@telling.epsilon(0.01, 20, "Of the line from which on answers are safe, all together; nothing is released.")
@options.stated("--delta", click.FloatRange(1e-12, 0.01), 1e-6, "The delta that goes with it.")
@telling.seed()
@options.plot_to()
def map(people: int, queries: int, epsilon: float, delta: float, seed: int, plot_file: Path | None) -> None:
    """Draw the map of the fundamental law: queries, people, error.

    Takes some seconds, ten or more for the most people and queries.
    """
    asked = [1 << bits for bits in range(_FEWEST_QUERIES.bit_length() - 1, queries.bit_length())]
    errors = np.logspace(-1, 4, _ERRORS).tolist()
    with answering(), spinner(ReadableConsole(), "Attacking"):
        found = attacks.fundamental_law(people, queries=asked, errors=errors, epsilon=epsilon, delta=delta, seed=seed)
    after = (
        f"Safe means (epsilon, delta) = ({epsilon:g}, {delta:g}) for all answers together, whatever the attacker does. "
        "Between the attacks and that line neither of the two succeeds and nothing is guaranteed.",
    )
    chapter = Chapter(f"The fundamental law, {people:,} people", _BEFORE, found.table(), after)
    with answering():
        telling.tell([chapter], plot=found.plot, plot_file=plot_file)

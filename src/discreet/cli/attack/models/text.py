"""`discreet attack text`: a secret number from the counts of n-grams, exact and private."""

from __future__ import annotations

import click

from discreet import attacks
from discreet.cli import options
from discreet.cli.attack import telling
from discreet.cli.attack.telling import percent
from discreet.cli.console import Chapter, ReadableConsole, answering, spinner
from discreet.display import Table, format_number


@options.command()
@telling.people(2000, least=1, most=100_000)
@telling.seed()
@options.stated("--digits", click.IntRange(1, 7), 6, "Digits of the secret.")
@options.stated("--order", click.IntRange(2, 4), 4, "Words in an n-gram.")
@telling.epsilon(0.01, 20, "Price of a private model.")
def text(people: int, seed: int, digits: int, order: int, epsilon: float) -> None:
    """Extract a number that one person wrote from a model of everybody's messages."""
    with answering():
        with spinner(ReadableConsole(), "Counting words and looking for the number"):
            messages, secret = attacks.invented_messages(people=2 * people, digits=digits, seed=seed)
            rows = []
            for words, price in (("plain", None), (f"private, epsilon {format_number(epsilon)}", epsilon)):
                model = attacks.ngrams(messages[:people], order=order, epsilon=price)
                found = attacks.extraction(model, secret=secret)
                rows.append([words, *_told(found), percent(model.right(messages[people:]))])
        ReadableConsole().show(_chapter(rows, people, digits, order))


def _told(found: attacks.TextExtraction) -> list[object]:
    highest = "1" if found.ceiling is None else format_number(found.ceiling, digits=3)
    return ["yes" if found.extracted else "no", f"{found.rank:,}", f"{found.exposure:.1f} bits", highest]


def _chapter(rows: list[list[object]], people: int, digits: int, order: int) -> Chapter:
    """Tell what the model gives away."""
    return Chapter(
        "A secret in a model of text",
        (
            f"{people:,} invented people write a message each; one of them ends with 'my code is' and a number of "
            f"{digits} digits. A model counts all sequences of {order} words. The attacker asks which number the "
            "counts make most likely after these words.",
        ),
        Table(["model", "extracted", "rank", "exposure", "ceiling", "next word right"], rows),
        (
            "The rank is that of the true number among all numbers, the exposure by how much the search got shorter. "
            "The ceiling is the chance of naming it that no attack exceeds. The last column, of messages that neither "
            "model has seen, is what the model is for.",
        ),
    )

"""`discreet attack marginals`: a secret column from published tables of counts, exact, noisy and private."""

from __future__ import annotations

from pathlib import Path

import click

from discreet import attacks
from discreet.cli import options
from discreet.cli.attack import telling
from discreet.cli.attack.people import Bits, invented_attributes, invented_bits, private_counts
from discreet.cli.console import Chapter, ReadableConsole, answering, spinner
from discreet.display import format_number
from discreet.errors import ParameterError

_MANY, _FEW = (2000, 60), (100, 16)  # people and attributes, through arrays and through SQL
_MOST_IN_SQL = 2000


@options.command()
@telling.against()
@click.option("--people", type=click.IntRange(2, 5000), help="Invented people. [default: 2,000; 100 for discreet]")
@click.option("--attributes", type=click.IntRange(1, 150), help="Public attributes. [default: 60; 16 for discreet]")
@options.stated("--ways", click.IntRange(1, 4), 2, "Attributes of a table.")
@options.stated("--noise", click.FloatRange(0, 1e6), 2.0, "Largest error of a noisy curator's counts.", into="error")
@telling.rho(1e3)
@telling.seed()
@options.plot_to()
def marginals(
    against: str, ways: int, error: float, rho: float, seed: int, plot_file: Path | None, **size: int
) -> None:
    """Recover a secret column from tables of a few public attributes by the secret one.

    Takes some seconds; thousands of people, or of counts from a session, take a minute or more.
    """
    with answering():
        default = _FEW if against == "discreet" else _MANY
        people, columns = size["people"] or default[0], size["attributes"] or default[1]
        attributes, secret = invented_attributes(people, columns, seed=seed), invented_bits(people, seed=seed)
        with spinner(ReadableConsole(), "Reading tables and solving"):
            found = attacks.from_marginals(attacks.exact_answers(secret), attributes, ways=ways, error=0, truth=secret)
            rows = [("exact tables", found)]
            if against == "noisy":
                ask = attacks.noisy_answers(secret, attacks.uniform_noise(error, seed=seed + 1))
                noisy = attacks.from_marginals(ask, attributes, ways=ways, error=error, truth=secret)
                rows.append((f"noise up to {format_number(error, digits=3)}", noisy))
            if against == "discreet":
                private = _private(attributes, secret, ways=ways, rho=rho)
                rows.append((f"a session, rho {format_number(rho)} in all", private))
        telling.tell([_chapter(columns, ways, rows)], plot=rows[-1][1].plot, plot_file=plot_file)


def _private(attributes: Bits, secret: Bits, *, ways: int, rho: float) -> attacks.Reconstruction:
    """Ask a session for every count, and split its budget between them."""
    queries = len(attacks.Conjunctions(attributes, ways=ways))
    if queries > _MOST_IN_SQL:
        raise ParameterError(
            f"a session is asked in SQL, count by count; take tables of at most {_MOST_IN_SQL:,} counts"
        )
    with private_counts(
        secret, rho=rho, queries=queries, purpose="discreet attack marginals", attributes=attributes
    ) as counts:
        fit = attacks.FitDistance.SQUARES
        return attacks.from_marginals(counts.ask, attributes, ways=ways, fit=fit, truth=secret, loss=counts.loss)


def _chapter(attributes: int, ways: int, rows: list[tuple[str, attacks.Reconstruction]]) -> Chapter:
    """Tell what came of it, theory beside it."""
    found = rows[0][1]
    return Chapter(
        "Reconstruction from published tables",
        (
            f"{found.people:,} invented people have {attributes} public attributes and a secret bit each. Nobody asks "
            f"anything: all tables of {ways} attributes by the secret bit are published, {found.queries:,} independent "
            "counts. Least squares finds the numbers between 0 and 1 that fit them best.",
        ),
        telling.compact(
            ["what is published", "recovered", "expected", "certain", "ceiling", "s"],
            [[words, *telling.shares(one)] for words, one in rows],
        ),
        (
            f"There are {found.queries / found.people:.2f} counts a person; exact ones give everybody away above about "
            "a half. Certain: for any errors within their bound. Ceiling: for any attacker, from the price alone. "
            "Guessing gets half of all bits right.",
        ),
    )

"""`discreet attack reconstruction`: a secret column by one of several decoders, from three kinds of curators."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import click

from discreet import attacks
from discreet.cli import options
from discreet.cli.attack import telling
from discreet.cli.attack.people import Bits, invented_bits, private_counts
from discreet.cli.console import Chapter, ReadableConsole, answering, spinner
from discreet.display import format_number
from discreet.errors import ParameterError
from discreet.privacy import PrivacyLoss

_HOW = (
    "How bits are found: least squares as they come or within [0, 1] (iterative), a linear program with a bound "
    "on every error (lp) or the least sum of errors (l1), or trying all columns."
)
_SURELY = 1 - 1e-9
_FEWEST_IN_SQL, _FEW_IN_SQL = 8, 64  # people, if their number is not given
_MOST_IN_SQL = 4096  # questions to a session: more take minutes


@dataclass(frozen=True)
class _Answers:
    """Who answers, and what is known about the errors."""

    ask: attacks.Ask
    error: float | None
    variance: float | None
    loss: PrivacyLoss | None


@dataclass(frozen=True)
class _Decoder:
    """How a column is found, how many people it is shown on, and how it works in words."""

    people: int
    most: int
    words: str
    run: Callable[[_Answers, Bits, int, int], attacks.Reconstruction]
    sets: str = "a set of about half of the people"


def _exhaustive(answers: _Answers, secret: Bits, _: int, __: int) -> attacks.Reconstruction:
    error = 0.0 if answers.error is None else answers.error
    return attacks.exhaustive(answers.ask, len(secret), error=error, truth=secret, loss=answers.loss)


def _feasible(answers: _Answers, secret: Bits, queries: int, seed: int) -> attacks.Reconstruction:
    error = 0.0 if answers.error is None else answers.error
    return attacks.linear_program(
        answers.ask, len(secret), queries=queries, seed=seed, error=error, truth=secret, loss=answers.loss
    )


def _absolute(answers: _Answers, secret: Bits, queries: int, seed: int) -> attacks.Reconstruction:
    return attacks.linear_program(
        answers.ask, len(secret), queries=queries, seed=seed, truth=secret, loss=answers.loss
    )  # fmt: skip


def _squares(solver: attacks.Solver) -> Callable[[_Answers, Bits, int, int], attacks.Reconstruction]:
    def run(answers: _Answers, secret: Bits, queries: int, seed: int) -> attacks.Reconstruction:
        try:
            return attacks.random_least_squares(
                answers.ask, len(secret), queries=queries, seed=seed, solver=solver, error=answers.error,
                noise_variance=answers.variance, truth=secret, loss=answers.loss,
            )  # fmt: skip
        except ParameterError as error:
            # who types options has no Solver
            words = str(error).replace("solver=Solver.ITERATIVE", "--decoder iterative")
            raise ParameterError(words, parameter=error.parameter) from None

    return run


_DECODERS = {
    "least-squares": _Decoder(
        512, 5000, "Least squares finds the column that fits the counts best, by the normal equations.",
        _squares(attacks.Solver.DENSE),
    ),
    "iterative": _Decoder(
        2000, 10_000, "Projected gradients find the numbers between 0 and 1 that fit the counts best in squares.",
        _squares(attacks.Solver.ITERATIVE),
    ),
    "lp": _Decoder(
        256, 1000, "A linear program finds numbers between 0 and 1 that fit every count within its error.", _feasible
    ),
    "l1": _Decoder(
        256, 1000, "A linear program finds the numbers between 0 and 1 with the least sum of absolute errors.",
        _absolute,
    ),
    "exhaustive": _Decoder(
        12, 16, "Of all columns of bits, the one whose worst count is least wrong is taken.", _exhaustive,
        "one of all sets of people",
    ),
}  # fmt: skip


@options.command()
@options.stated("--decoder", click.Choice(list(_DECODERS)), "least-squares", _HOW)
@telling.against()
@click.option(
    "--people", type=click.IntRange(2, 10_000), help="Invented people; as many as suit the decoder if left out."
)
@click.option(
    "--queries", type=click.IntRange(1, 40_000), help="Random halves to ask about. [default: twice the people]"
)
@options.stated(
    "--noise",
    click.FloatRange(0, 100),
    0.25,
    "Largest error of a noisy curator, in square roots of the people.",
    into="level",
)
@telling.rho(1e3)
@telling.seed()
@options.plot_to()
def reconstruction(
    decoder: str, against: str, people: int | None, queries: int | None, level: float, rho: float, seed: int,
    plot_file: Path | None,
) -> None:  # fmt: skip
    """Recover a secret column from counts of halves of the people, or of all sets of a few people.

    Takes a second or a few; with the most people that a decoder takes, or thousands of queries to a session, minutes.
    """
    with answering():
        chosen = _DECODERS[decoder]
        few = _FEWEST_IN_SQL if decoder == "exhaustive" else _FEW_IN_SQL
        count = people or (few if against == "discreet" else chosen.people)
        if count > chosen.most:
            raise ParameterError(f"--decoder {decoder} takes at most {chosen.most:,} people; name another decoder")
        asked = 2**count if decoder == "exhaustive" else queries or 2 * count
        secret = invented_bits(count, seed=seed)
        with spinner(ReadableConsole(), "Asking and decoding"):
            rows = _attacked(chosen, secret, against=against, level=level, rho=rho, queries=asked, seed=seed)
        telling.tell([_chapter(chosen, rows)], plot=rows[-1][1].plot, plot_file=plot_file)


def _attacked(
    decoder: _Decoder, secret: Bits, *, against: str, level: float, rho: float, queries: int, seed: int
) -> list[tuple[str, attacks.Reconstruction]]:
    """Attack exact answers, and noisy or private ones if asked for."""
    if against == "discreet" and queries > _MOST_IN_SQL:
        raise ParameterError(f"a session is asked in SQL, query by query; take at most {_MOST_IN_SQL:,} queries")
    exact = _Answers(attacks.exact_answers(secret), 0.0, None, None)
    rows = [("exact answers", decoder.run(exact, secret, queries, seed))]
    if against == "noisy":
        error = level * math.sqrt(len(secret))
        ask = attacks.noisy_answers(secret, attacks.uniform_noise(error, seed=seed + 1))
        noisy = _Answers(ask, error, error**2 / 3, None)
        rows.append((f"noise up to {format_number(error, digits=3)}", decoder.run(noisy, secret, queries, seed)))
    if against == "discreet":
        rows.append((f"a session, rho {format_number(rho)} in all", _private(decoder, secret, rho, queries, seed)))
    return rows


def _private(decoder: _Decoder, secret: Bits, rho: float, queries: int, seed: int) -> attacks.Reconstruction:
    """Attack a session, between whose counts the budget is split evenly."""
    with private_counts(secret, rho=rho, queries=queries, purpose="discreet attack reconstruction") as counts:
        error, variance = _reach(counts.each, queries), float(1 / (2 * counts.each))
        return decoder.run(_Answers(counts.ask, error, variance, counts.loss), secret, queries, seed)


def _reach(rho: Fraction, queries: int) -> float:
    """Return a bound that no error of the counts at this price exceeds, except with a chance of 1e-9."""
    # the tail of a normal law, which that of the discrete one does not exceed, and the steps of 2^-20
    return math.sqrt(2 * math.log(2 * queries / (1 - _SURELY)) / (2 * float(rho))) + 2**-20


def _chapter(decoder: _Decoder, rows: list[tuple[str, attacks.Reconstruction]]) -> Chapter:
    """Tell what came of it, theory beside it."""
    found = rows[0][1]
    return Chapter(
        f"Reconstruction by {found.decoder}",
        (
            f"{found.people:,} invented people have a secret bit each. {found.queries:,} counts are asked for, each of "
            f"those with the bit 1 in {decoder.sets}. {decoder.words}",
        ),
        telling.compact(
            ["who answers", "recovered", "expected", "certain", "ceiling", "s"],
            [[words, *telling.shares(one)] for words, one in rows],
        ),
        (
            "Expected: by theory, for independent errors. Certain: for any errors within their bound. Ceiling: for "
            "any attacker, from the price alone. Guessing gets half of all bits right.",
        ),
    )

"""`discreet attack fourier`: a secret column by Fourier's transform, from a plain, a noisy and a private curator."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from pathlib import Path

import click

from discreet import attacks
from discreet.attacks.asking import Noise
from discreet.cli import options
from discreet.cli.attack import telling
from discreet.cli.attack.people import Bits, invented_bits, private_counts
from discreet.cli.console import Chapter, ReadableConsole, answering, spinner
from discreet.display import format_number
from discreet.errors import ParameterError

Line = tuple[str, attacks.Reconstruction]
_MANY, _FEW, _MOST_IN_SQL, _MOST_QUERIES = 2**20 - 1, 255, 4095, 2**26
# the noise of each kind, and its variance as a part of the square of the error
_KINDS: dict[str, tuple[Callable[..., Noise], float | None]] = {
    "uniform": (attacks.uniform_noise, 1 / 3),
    "signs": (attacks.sign_noise, 1.0),
    "normal": (attacks.gaussian_noise, 1.0),
    "malicious": (attacks.malicious_noise, None),
}


@options.command()
@click.option(
    "--people", type=click.IntRange(1, 2**22 - 1), help=f"Invented people. [default: {_MANY:,}; {_FEW} for discreet]"
)
@telling.seed()
@telling.against()
@options.stated(
    "--noise",
    click.FloatRange(0, 100),
    0.25,
    "Error of a noisy curator, in square roots of the queries of one labeling.",
    into="level",
)
@options.stated("--kind", click.Choice(list(_KINDS)), "uniform", "Law of a noisy curator's errors.")
@options.stated(
    "--garbage", click.FloatRange(0, 0.5), 0.0, "Rate of garbage among a noisy curator's answers.", into="rate"
)
@options.stated(
    "--relabelings", click.IntRange(1, 64), 1, "How often to ask all queries, people numbered anew each time."
)
@telling.rho(100)
@options.plot_to()
def fourier(  # noqa: PLR0913  one argument an option
    *, people: int | None, seed: int, against: str, level: float, kind: str, rate: float, relabelings: int,
    rho: float, plot_file: Path | None,
) -> None:  # fmt: skip
    """Recover a secret column from as many counts as there are people, by one transform.

    Takes about a second, and some seconds against a session, which is asked in SQL query by query: 4,095 people take
    minutes.
    """
    with answering():
        secret = invented_bits(people or (_FEW if against == "discreet" else _MANY), seed=seed)
        queries = relabelings * attacks.Characters(people=len(secret)).length
        if queries > _MOST_QUERIES:
            raise ParameterError(f"{queries:,} queries are too many to hold; take fewer people or relabelings")
        with spinner(ReadableConsole(), "Asking and decoding"):
            if against == "discreet":
                rows = _of_a_session(secret, rho, relabelings, seed)
            elif against == "noisy":
                rows = _of_noise(secret, seed, level=level, kind=kind, rate=rate, relabelings=relabelings)
            else:
                rows = [_exact(secret, relabelings, seed)]
        telling.tell([_chapter(rows)], plot=rows[-1][1].plot, plot_file=plot_file)


def _exact(secret: Bits, relabelings: int, seed: int) -> Line:
    """Attack a plain table."""
    ask = attacks.exact_answers(secret)
    found = attacks.fourier(ask, len(secret), relabelings=relabelings, seed=seed, error=0, truth=secret)
    return "exact answers", found


def _of_noise(secret: Bits, seed: int, *, level: float, kind: str, rate: float, relabelings: int) -> list[Line]:
    """Attack a curator who adds noise; with garbage among the answers by both decoders, from the same answers."""
    people, many = len(secret), max(relabelings, 4 if rate > 0 else 1)
    if kind == "malicious" and many > 1:
        raise ParameterError("malicious noise is made for one labeling without garbage; leave out the other options")
    error = level * math.sqrt(attacks.Characters(people=people).length)
    make, part = _KINDS[kind]
    noise, words = make(error, seed=seed + 1), f"{kind} noise of {format_number(error, digits=4)}"
    bounded, variance = None if kind == "normal" else error, None if part is None else error**2 * part
    if rate > 0:
        noise, words = attacks.garbage(rate, seed=seed + 2, of=noise), f"{words}, {rate:.0%} garbage"
        bounded = variance = None
    ask = cache(attacks.noisy_answers(secret, noise))
    found = attacks.fourier(
        ask, people, relabelings=many, seed=seed, error=bounded, noise_variance=variance, truth=secret
    )
    if rate == 0:
        return [(words, found)]
    return [(words, found), (words, attacks.robust_fourier(ask, people, relabelings=many, seed=seed, truth=secret))]


def _of_a_session(secret: Bits, rho: float, relabelings: int, seed: int) -> list[Line]:
    """Attack the people without protection, and behind a session."""
    people = len(secret)
    if people > _MOST_IN_SQL:
        raise ParameterError(f"a session is asked in SQL, one query a place; take at most {_MOST_IN_SQL:,} people")
    queries = len(attacks.Characters(people=people, relabelings=relabelings, seed=seed))
    with private_counts(secret, rho=rho, queries=queries, purpose="discreet attack fourier") as counts:
        private = attacks.fourier(
            counts.ask, people, relabelings=relabelings, seed=seed, noise_variance=1 / (2 * counts.each),
            truth=secret, loss=counts.loss,
        )  # fmt: skip
    return [_exact(secret, relabelings, seed), (f"a session, rho {format_number(rho)} in all", private)]


def _chapter(rows: list[Line]) -> Chapter:
    """Tell what came of it, theory beside it."""
    found, several = rows[0][1], len({one.decoder for _, one in rows}) > 1
    return Chapter(
        "The Fourier attack",
        (
            f"{found.people:,} invented people have a secret bit each. Query a counts those with the bit 1 whose place "
            "x has an even number of ones in a AND x: half of all people, whoever they are. One Walsh-Hadamard "
            "transform of all answers gives everybody's bit back.",
        ),
        telling.compact(
            ["who answers", "decoder", "queries", "recovered", "expected", "certain", "ceiling", "s"],
            [
                [
                    words,
                    one.decoder if several else "",
                    f"{one.queries:,}",
                    *telling.shares(one),
                ]
                for words, one in rows
            ],
        ),
        (
            "Expected: by theory. Certain: for any errors within their bound. Ceiling: for any attacker, from the "
            "price alone. Guessing gets half of all bits right. The noise has no seed where a session answers.",
        ),
    )

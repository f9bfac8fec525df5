"""`discreet attack differencing`: one secret from two counts, around a minimum size, and through a session."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path

import click

from discreet import attacks
from discreet.cli import options
from discreet.cli.attack import telling
from discreet.cli.attack.people import Hospital, attacked_hospital
from discreet.cli.console import Chapter, answering
from discreet.data.databases.hospital import PRACTICE_SIZE
from discreet.display import Table
from discreet.errors import QueryRefused
from discreet.laws import DiscreteLaplace
from discreet.laws.number import positive_rational
from discreet.mechanisms import Laplace

_FEWEST, _MOST = 630, 100_000
_MARKER = "marker = 1"
GRID = Fraction(1, 1 << 20)  # of the noise of a session's counts
_COLUMNS = ["who answers", "asked by", "queries", "refused", "guess", "chance"]


@options.command()
@telling.people(5040, least=_FEWEST, most=_MOST)
@telling.seed()
@options.stated("--patient", click.IntRange(min=0), 452, "Who is attacked.")
@options.stated("--least", click.IntRange(2, 100), 20, "Smaller sets are refused.")
@telling.epsilon(0.001, 0.3, "Price of a private count.", default=0.1)
@options.plot_to()
def differencing(people: int, seed: int, patient: int, least: int, epsilon: float, plot_file: Path | None) -> None:
    """Subtract two counts to learn one patient's secret; pad the question where small sets are refused."""
    with answering():
        if patient >= people:
            raise click.UsageError(f"--patient must be below {people}, the number of people")
        with attacked_hospital(people=people, seed=seed, purpose="discreet attack differencing") as hospital:
            story = _attacked(hospital, patient, least, epsilon)
        telling.tell(_chapters(story, people, least), plot=story.private[0].plot, plot_file=plot_file)


@dataclass(frozen=True)
class _DifferencingStory:
    """What came of asking everybody about one patient."""

    target: str
    exact: attacks.Differencing
    direct_refused: bool
    padded: tuple[attacks.Differencing, ...]
    noisy: attacks.Differencing
    private: tuple[attacks.Differencing, ...]


def _attacked(hospital: Hospital, patient: int, least: int, epsilon: float) -> _DifferencingStory:
    """Ask a plain database, one that refuses small sets, a curator with noise, and a session."""
    patients = hospital.tables.patients
    practice = patient // PRACTICE_SIZE
    target = f"practice = {practice} AND card = {patient % PRACTICE_SIZE + 1}"
    truth = bool(patients.marker[patient])
    subtract = partial(attacks.differencing, table="patients", secret=_MARKER, target=target, truth=truth)
    track = partial(attacks.tracker, table="patients", secret=_MARKER, target=target, truth=truth)
    crowd, women = f"practice % 2 = {practice % 2}", "sex = 'female'"
    strict = attacks.MinimumSize(hospital.plain, least=least, people=len(patients))
    scale = 1 / positive_rational(epsilon, name="epsilon")
    noise, fine = DiscreteLaplace(scale), DiscreteLaplace(scale / GRID)
    sessions = (attacks.Charged(hospital.session, epsilon=epsilon) for _ in range(3))
    return _DifferencingStory(
        target=target,
        exact=subtract(hospital.plain, exact=True),
        direct_refused=_refused(strict, f"SELECT COUNT(*) FROM patients WHERE {_MARKER} AND {target}"),  # noqa: S608
        padded=(
            subtract(strict, exact=True),
            track(strict, within=crowd, exact=True),
            track(strict, pad=women, exact=True),
        ),
        noisy=subtract(attacks.noisy_run(hospital.plain, Laplace(scale=scale, sensitivity=1)), noise=noise),
        private=(
            subtract(next(sessions), noise=fine, grid=GRID),
            track(next(sessions), within=crowd, noise=fine, grid=GRID),
            track(next(sessions), pad=women, noise=fine, grid=GRID),
        ),
    )


def _refused(run: attacks.MinimumSize, text: str) -> bool:
    """Tell whether a question about the patient alone is refused."""
    try:
        run(text)
    except QueryRefused:
        return True
    return False


def _chapters(story: _DifferencingStory, people: int, least: int) -> list[Chapter]:
    """Tell the attack on plain answers, around a rule, and through a session."""
    return [
        Chapter(
            "Two counts, one secret",
            (
                f"Of {people:,} invented patients one is attacked: {story.target}. The attacker asks how many patients "
                "have the marker, asks the same about everybody but this one, and subtracts.",
            ),
            Table(_COLUMNS, [_row("a plain database", story.exact)]),
        ),
        Chapter(
            f"Sets of fewer than {least} people are refused",
            (
                f"So are sets of more than {people - least:,}. The question about the patient alone is "
                f"{'refused' if story.direct_refused else 'answered'}; padded with a crowd it is not.",
            ),
            Table(_COLUMNS, [_row("a minimum size", one) for one in story.padded]),
        ),
        Chapter(
            "Noise, and a budget",
            (
                "The chance of a right guess is that of this attack; the ceiling is that of any attacker who gets "
                "these answers, from their price alone.",
            ),
            Table(
                [*_COLUMNS, "ceiling"],
                [
                    [*_row("a curator with noise", story.noisy), ""],
                    *(
                        [*_row("a session", one), telling.at_most(1.0 if one.ceiling is None else one.ceiling.upper)]
                        for one in story.private
                    ),
                ],
            ),
            (
                "A session charges every question, and the ceiling holds whatever else the attacker knows and whatever "
                "is made of the answers. A guess may still be right, as a coin may be.",
            ),
        ),
    ]


def _row(who: str, found: attacks.Differencing) -> list[object]:
    """Return one line of a table."""
    guess = "none" if found.right is None else "right" if found.right else "wrong"
    return [who, found.method, found.queries, found.refused, guess, telling.at_most(found.expected)]

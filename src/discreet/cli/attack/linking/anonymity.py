"""`discreet attack anonymity`: what k-anonymous releases tell, alone, together, and with many columns."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np

from discreet import attacks
from discreet.cli import options
from discreet.cli.attack import telling
from discreet.cli.attack.telling import percent
from discreet.cli.console import Chapter, ReadableConsole, answering, spinner
from discreet.data import Discharges, register
from discreet.display import Table

_ONE = ("zip_code", "birth_date", "sex")
_ANOTHER = ("education", "occupation", "children", "vehicle", "height")
_SIZES = (2, 5, 10, 20)
_COLUMNS = (1, 2, 3, 5, 8, 12, 20, 40)


@options.command()
@telling.people(200_000, least=2000, most=1_000_000)
@telling.seed()
@options.stated("--k", click.IntRange(2, 50), 10, "Group size in the second part, about many columns.")
@options.stated("--cube", click.IntRange(100, 100_000), 10_000, "People in the second part.")
@options.plot_to()
def anonymity(people: int, seed: int, k: int, cube: int, plot_file: Path | None) -> None:
    """Learn secrets from tables in which every row has twins: alone, from two of them, and with many columns.

    Takes some seconds, in proportion to the people: a million take up to a minute.
    """
    with answering():
        if cube < k:
            raise click.UsageError("--cube must be at least --k")
        with spinner(ReadableConsole(), "Putting people into boxes"):
            patients = register(people=people, seed=seed).discharges
            found = [_exposed(patients, size) for size in _SIZES]
            cursed = attacks.curse(people=cube, k=k, columns=_COLUMNS, seed=seed)
        telling.tell([_releases(patients, found), _columns(cursed)], plot=cursed.plot, plot_file=plot_file)


@dataclass(frozen=True)
class _Exposed:
    """What two releases of one k tell alone, and together."""

    k: int
    alone: tuple[attacks.Exposure, attacks.Exposure]
    together: attacks.Exposure


def _exposed(patients: Discharges, k: int) -> _Exposed:
    """Publish the patients twice, by different facts, and intersect."""
    everybody = np.arange(len(patients))
    boxes = (attacks.mondrian(patients, k=k, columns=facts) for facts in (_ONE, _ANOTHER))
    one, two = (attacks.AttackedRelease(one, patients.code, everybody) for one in boxes)
    return _Exposed(k, (attacks.homogeneity(one), attacks.homogeneity(two)), attacks.intersection(one, two))


def _releases(patients: Discharges, found: list[_Exposed]) -> Chapter:
    """Tell whose diagnosis is known from either table, and from both."""
    rows = [
        [
            case.k,
            *(percent(one.frequency) for one in case.alone),
            percent(case.together.frequency),
            percent(case.together.expected),
        ]
        for case in found
    ]
    return Chapter(
        "Two tables with twins for everybody",
        (
            f"A hospital publishes {len(patients):,} patients with the exact code of their diagnosis, twice: once with "
            "zip code, birth date and sex, once with education, occupation, children, vehicle and height. In either "
            "table these are coarsened by Mondrian until every patient has k - 1 twins. Somebody who knows a patient's "
            "facts looks up both groups: which codes occur in both?",
        ),
        Table(["k", "known from one", "from the other", "from both", "if independent"], rows),
        ("k-anonymity says nothing about two releases, and differential privacy adds up their prices instead.",),
    )


def _columns(cursed: attacks.Curse) -> Chapter:
    """Tell what many columns do to the boxes."""
    return Chapter(
        "Many columns",
        (
            "People spread evenly over a cube: the mean side of a box says how much of the range of a column is left "
            "for a person. At 1 the column says nothing any more.",
        ),
        cursed.table(),
        ("Unique are those who share the tenth of the range in every column with nobody.",),
    )

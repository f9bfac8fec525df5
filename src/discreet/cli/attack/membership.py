"""`discreet attack membership`: who was in the case group, from exact, rounded and private frequencies."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import click

from discreet import attacks
from discreet.cli import options
from discreet.cli.attack import telling
from discreet.cli.attack.telling import percent
from discreet.cli.console import Chapter, ReadableConsole, answering, spinner
from discreet.data import Genomes, genomes
from discreet.display import Table, format_number

_DECIMALS = 2


@options.command()
@telling.people(1000, least=20, most=5000)
@telling.seed()
@options.stated("--positions", click.IntRange(10, 30_000), 10_000, "How many frequencies are published.")
@options.stated("--level", click.FloatRange(0.001, 0.5), 0.01, "Frequency of outsiders who may be accused.")
@telling.epsilon(0.01, 20, "Price of the private frequencies, all together.")
@options.stated("--delta", click.FloatRange(1e-9, 0.01), 1e-5, "The delta that goes with it.")
@options.plot_to()
def membership(
    people: int, seed: int, positions: int, level: float, epsilon: float, delta: float, plot_file: Path | None
) -> None:
    """Tell who is in a case group from the frequencies published about it."""
    with answering():
        with spinner(ReadableConsole(), "Inventing genomes and testing them"):
            private = attacks.PrivateFrequencies(people=people, positions=positions, epsilon=epsilon, delta=delta)
            invented = genomes(people=people, positions=positions, seed=seed, reference=5000)
            found = _found(invented, private, level)
        chapter = _chapter(found, people, positions, f"({format_number(epsilon)}, {format_number(delta)})")
        telling.tell([chapter], plot=found[0].result.plot, plot_file=plot_file)


@dataclass(frozen=True)
class _Published:
    """One way to publish, and what the attack made of it."""

    words: str
    result: attacks.Membership


def _found(invented: Genomes, private: attacks.PrivateFrequencies, level: float) -> list[_Published]:
    """Publish the same frequencies in three ways and attack each."""
    rounded = attacks.Rounded(_DECIMALS)
    ways: tuple[tuple[str, attacks.Publish, float, float | None], ...] = (
        ("exact", attacks.exactly, 0.0, None),
        (f"{_DECIMALS} decimals", rounded, rounded.deviation, None),
        ("private", private, private.deviation, private.mu),
    )
    exact = invented.cases.frequencies
    return [
        _Published(
            words,
            attacks.membership(
                publish(exact), invented.frequencies, invented.candidates, reference=invented.reference,
                people=private.people, level=level, deviation=deviation, members=invented.members, mu=mu,
            ),
        )
        for words, publish, deviation, mu in ways
    ]  # fmt: skip


def _chapter(found: list[_Published], people: int, positions: int, price: str) -> Chapter:
    """Tell what the attack found."""
    rows: list[list[object]] = [
        [
            case.words,
            percent(case.result.true_rate),
            percent(case.result.expected_rate),
            percent(case.result.false_rate),
            _area(case.result.area),
            _area(case.result.expected_area),
            "1" if case.result.area_ceiling is None else _area(-(-1000 * case.result.area_ceiling.upper // 1) / 1000),
        ]
        for case in found
    ]
    columns = [
        "published", "members found", "expected", "outsiders accused", "area", "expected", "ceiling",
    ]  # fmt: skip
    return Chapter(
        "Is this genome in the case group?",
        (
            f"A study of {people:,} invented people publishes, for {positions:,} positions, the share that carries the "
            "rarer variant. The attacker has the genome of a candidate, the frequencies in the population, and people "
            "to compare with who were not in the study.",
        ),
        Table(columns, rows),
        (
            f"Rounding hides little. The private frequencies are {price}-differentially private all together, for one "
            "member replaced by another person, and the ceiling of the area under the ROC curve, for any test, follows "
            "from that alone. An area of 0.5 is a coin.",
        ),
    )


def _area(area: float | None) -> str:
    return "" if area is None else f"{area:.3f}"

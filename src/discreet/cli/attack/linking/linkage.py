"""`discreet attack linkage`: name patients by joining two tables, and what a private release leaves to join."""

from __future__ import annotations

from pathlib import Path

from discreet import attacks
from discreet.cli import options
from discreet.cli.attack import telling
from discreet.cli.attack.telling import percent
from discreet.cli.console import Chapter, ReadableConsole, answering, spinner
from discreet.data import City, register
from discreet.data.invented_city import QUASI_IDENTIFIERS
from discreet.data.invented_hospital import DIAGNOSES
from discreet.display import Table, format_number
from discreet.privacy import Relation
from discreet.statistics import histogram

_SHOWN = (1, 2, 3, 4, 6, 8, 12)


@options.command()
@telling.people(200_000, least=1000, most=1_000_000)
@telling.seed()
@telling.epsilon(0.01, 10, "Price of the private table.")
@options.plot_to()
def linkage(people: int, seed: int, epsilon: float, plot_file: Path | None) -> None:
    """Join an 'anonymous' hospital table with a named register on what both know about a person."""
    with answering():
        with spinner(ReadableConsole(), "Inventing a city and joining its tables"):
            city = register(people=people, seed=seed)
            alone = attacks.uniques(city.register, QUASI_IDENTIFIERS)
            found = [_linked(city, count, rule) for count in _SHOWN for rule in attacks.MatchRule]
        chapters = [_uniques(city, alone.table()), _links(found), _private(city, epsilon)]
        telling.tell(chapters, plot=alone.plot, plot_file=plot_file)


def _linked(city: City, count: int, rule: attacks.MatchRule) -> attacks.Linkage:
    """Join on the first `count` columns."""
    return attacks.link(city.register, city.discharges, on=QUASI_IDENTIFIERS[:count], rule=rule, truth=city.match)


def _uniques(city: City, table: Table) -> Chapter:
    """Tell how alone people are."""
    return Chapter(
        "Harmless facts, taken together",
        (
            f"A city that does not exist has a register of {len(city.register):,} people with their names, and a "
            f"hospital that published {len(city.discharges):,} patients with their diagnosis but without names. Half "
            "of the patients are in the register. Both tables hold the same twelve harmless facts.",
        ),
        table,
        ("A person who is unique in the register needs no name to be found.",),
    )


def _links(found: list[attacks.Linkage]) -> Chapter:
    """Tell what the join names, and how often it is wrong."""
    words = {attacks.MatchRule.UNIQUE_IN_BOTH: "both", attacks.MatchRule.UNIQUE_IN_REGISTER: "register"}
    rows = [
        [
            len(one.columns), words[one.rule], one.claimed, percent(one.precision), percent(one.expected_precision),
            percent(one.recall), f"{one.seconds:.2f} s",
        ]
        for one in found
    ]  # fmt: skip
    return Chapter(
        "The join",
        (
            "A patient is given a name where the values of the first columns are unique in both tables, or in "
            "the register.",
        ),
        Table(["columns", "unique in", "named", "right", "expected", "of those in both", "in"], rows),
        (
            "The expected share needs no truth: the attacker computes it from the two tables, and so knows how far to "
            "trust a name.",
        ),
    )


def _private(city: City, epsilon: float) -> Chapter:
    """Tell what is left to join when counts with noise are published instead of rows."""
    counts = histogram(city.discharges.diagnosis, keys=DIAGNOSES, relation=Relation.ADD_REMOVE, epsilon=epsilon)
    highest = attacks.ceiling(counts.cost, flip=attacks.Flip.ONE_ROW).upper
    return Chapter(
        "The same table, released privately",
        (
            f"Instead of rows the hospital publishes how many patients have each diagnosis, at epsilon "
            f"{format_number(epsilon)} for all of them together. There is no row to join.",
        ),
        Table(["diagnosis", "patients", "from", "to"], [
            [name, counts[name].value, counts[name].low, counts[name].high] for name in counts
        ]),
        (
            "Whether a given person is among the patients at all, if that was as likely as not before, nobody guesses "
            f"right from this with a chance above {telling.at_most(highest)}, even knowing all other "
            "patients; a coin has 50 %.",
        ),
    )  # fmt: skip

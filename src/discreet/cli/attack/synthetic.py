"""`discreet attack synthetic`: look for people in a table without names, and in synthetic ones made of it."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from discreet import attacks
from discreet.cli import options
from discreet.cli.attack import telling
from discreet.cli.console import Chapter, ReadableConsole, answering, spinner
from discreet.data import population, population_values
from discreet.display import Table, format_number
from discreet.privacy import Guarantee, Price, Relation
from discreet.synthesis import Domain, Neighbors, Records, SyntheticTable, conjunctions
from discreet.synthesis.methods import METHODS

FACTS = ("age", "education", "marital_status", "race", "sex", "hours")
HIDDEN = "occupation"
_METHODS = ("independent", "tree", "dual-query")
_QUERIES, _TRIED = 3000, 300


@options.command()
@telling.people(2000, least=400, most=20_000)
@telling.seed()
@telling.epsilon(0.01, 10, "Price of each synthetic table.")
def synthetic(people: int, seed: int, epsilon: float) -> None:
    """Look for people in a table without names, and in synthetic tables made of it."""
    console = ReadableConsole()
    with answering():
        with spinner(console, "Inventing people") as doing:
            rows = _rows(people, seed, epsilon, doing)
        console.show(_chapter(rows, people, format_number(epsilon)))


def _rows(people: int, seed: int, epsilon: float, doing: Callable[[str], None]) -> list[list[object]]:
    """Attack the private rows themselves, then a synthetic table by each method; `doing` is told each step."""
    domain = Domain.of(population_values())
    everybody = domain.encode(population(3 * people, seed=seed).binned())
    members, outsiders, others = (
        Records(domain, everybody.codes[:, part * people : (part + 1) * people]) for part in range(3)
    )
    workload = conjunctions(domain, count=_QUERIES, seed=seed)
    tables: list[tuple[str, SyntheticTable | Records, Guarantee | None]] = [("the rows, without names", members, None)]
    neighbors = Neighbors(Relation.CHANGE_ONE, people)
    for method in _METHODS:
        doing(f"Making a table: {method}")
        release = METHODS[method](workload, neighbors, Price(epsilon=Fraction(str(epsilon)), delta=_delta(people)))(
            members
        )
        tables.append((method, release.table, release.guarantee))
    few = [Records(domain, group.codes[:, :_TRIED]) for group in (members, outsiders)]
    found = []
    for name, table, guarantee in tables:
        doing(f"Looking for people: {name}")
        linked = attacks.link_synthetic(table, members, outsiders, on=FACTS, hidden=HIDDEN, guarantee=guarantee)
        judged = attacks.table_membership(
            table,
            *few,
            population=others,
            workload=workload,
            score=attacks.MembershipScore.NEAREST,
            guarantee=guarantee,
        )
        found.append(_row(name, linked, judged))
    return found


def _delta(people: int) -> Fraction:
    return Fraction(1, people**2)


def _row(name: str, linked: attacks.TableLinkage, found: attacks.TableMembership) -> list[object]:
    rates = [f"{100 * right / linked.members:.1f} %" for right in linked.right]
    return [name, *rates, telling.at_most(linked.ceiling), f"{found.area:.3f}", _area(found.ceiling)]


def _area(area: float | None) -> str:
    return "1" if area is None else f"{-(-1000 * area // 1) / 1000:.3f}"


def _chapter(rows: list[list[object]], people: int, price: str) -> Chapter:
    """Tell what the attacks found."""
    columns = ["table", "members", "outsiders", "gap at most", "area", "ceiling"]
    return Chapter(
        "Who is in a synthetic table?",
        (
            f"{people:,} invented people are in a private table, {people:,} others of the same kind are not. The "
            f"attacker knows {len(FACTS)} facts about each of them ({', '.join(FACTS)}), and reads the {HIDDEN} off "
            "the rows with these facts. Then the attacker, who knows a candidate in full, says who is a member by "
            "the most similar row.",
        ),
        Table(columns, rows),
        (
            f"Columns two and three: of how many the {HIDDEN} was claimed rightly. What is right about outsiders is "
            "known from the population, and no protection hides that. The gap between the two, and the area under the "
            f"ROC curve (a coin has 0.5), are limited by the price: epsilon {price} and delta "
            f"{format_number(float(_delta(people)))}.",
        ),
    )

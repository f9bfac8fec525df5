"""Attacks on synthetic tables: link its rows to people, or tell who was in the private table; and their ceilings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.asking import distinct
from discreet.display.result import Row, percent, told_by_name, told_in_rows
from discreet.errors import InputError, ParameterError
from discreet.laws.number import round_up
from discreet.privacy import Guarantee, Relation
from discreet.privacy.guarantees import delta_of, tradeoff_of
from discreet.synthesis import Records, SyntheticTable, Workload

Floats = NDArray[np.float64]
_STEPS = 400  # of the false-alarm rate; the ceiling of an area is too high by at most one step


@told_by_name
class MembershipScore(Enum):
    """How much a candidate looks like somebody in the table.

    `ANSWERS`: the sum over queries of (a - p)(q - p)/(p(1 - p)), for the table's answers a, the population's
    frequencies p and what is true of the candidate, q: a member pulls every answer a little to their own side.
    `NEAREST`: on how many attributes the most similar row of the table agrees with the candidate: a table that copies
    people has them.
    """

    ANSWERS = "answers"
    NEAREST = "nearest row"


@told_in_rows
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TableMembership:
    """Scores of people who were in the private table and of people who were not, and the ceiling of any attack.

    `area` is the chance that a member scores higher than an outsider (ties count half); a coin has 1/2. `ceiling`, if
    the guarantee was given, is one that no attack on any release with it exceeds in expectation.
    """

    score: MembershipScore
    members: Floats
    outsiders: Floats
    ceiling: float | None

    @property
    def area(self) -> float:
        """The area under the ROC curve."""
        ordered = np.sort(self.outsiders)
        below = np.searchsorted(ordered, self.members, side="left")
        not_above = np.searchsorted(ordered, self.members, side="right")
        return float(np.mean((below + not_above) / 2) / len(ordered))

    def found(self, level: float = 0.01) -> float:
        """Return the frequency of members who score above all but that frequency of the outsiders."""
        return float(np.mean(self.members > np.quantile(self.outsiders, 1 - level, method="higher")))

    def _rows(self) -> list[Row]:
        return [
            ("score", self.score.value),
            ("people", f"{len(self.members):,} members, {len(self.outsiders):,} outsiders"),
            ("area", f"{self.area:.3f}"),
            ("ceiling", None if self.ceiling is None else f"{self.ceiling:.3f}"),
        ]


@told_in_rows
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TableLinkage:
    """Secrets that were read off the synthetic row that some facts single out, for members and for outsiders.

    `claims` and `right` count people for whom a secret is claimed, and those for whom it is the true one; outsiders
    were never in the private table, so what is right about them is known from the population. `ceiling`, if the
    guarantee was given, is by how much the frequency of members rightly claimed about can exceed that of outsiders, in
    expectation.
    """

    on: tuple[str, ...]
    hidden: str
    members: int
    outsiders: int
    claims: tuple[int, int]
    right: tuple[int, int]
    ceiling: float | None

    @property
    def precision(self) -> tuple[float | None, float | None]:
        """The share of claims that are right, about members and about outsiders; None where nothing is claimed."""
        first, second = (
            right / claims if claims else None for right, claims in zip(self.right, self.claims, strict=True)
        )
        return first, second

    @property
    def advantage(self) -> float:
        """The frequency of members rightly claimed about, less that of outsiders."""
        return self.right[0] / self.members - self.right[1] / self.outsiders

    def _rows(self) -> list[Row]:
        told = [
            f"{claims:,} of {count:,} claimed about, {right:,} rightly"
            for count, claims, right in zip((self.members, self.outsiders), self.claims, self.right, strict=True)
        ]
        return [
            ("facts", ", ".join(self.on)),
            ("hidden", self.hidden),
            ("members", told[0]),
            ("outsiders", told[1]),
            ("advantage", percent(self.advantage)),
            ("ceiling", percent(self.ceiling)),
        ]


def link_synthetic(
    table: SyntheticTable | Records,
    members: Records,
    outsiders: Records,
    *,
    on: Sequence[str],
    hidden: str,
    guarantee: Guarantee | None = None,
) -> TableLinkage:
    """Link people to the rows of a table by some facts, and claim the `hidden` value that all rows with these share.

    `members` were in the private table, `outsiders` are people of the same population who were not; the attacker knows
    the facts `on` of all of them. Given the private records themselves as `table`, it is the linkage of a table without
    names.

    Privacy. Where the release keeps `guarantee`, and members and outsiders are drawn alike, the frequency of members of
        whom the attack claims the right secret exceeds that of outsiders by at most `advantage_ceiling(guarantee)`, in
        expectation.
        Proof: let p and q be the chances that the claim about a member a, and about an outsider b, is right; what is
        claimed about a person depends on the release and on that person alone. Let 1 - f(x) be the highest chance that
        an event can have under the guarantee if it has the chance x on a neighboring table. Under change-one the table
        with b instead of a is a neighbor, in which a is an outsider: as both are drawn alike, the claim about a is
        right with the chance q there, and p <= 1 - f(q). Under add/remove take a out: the claims about a and b are then
        right with the same chance r, p <= 1 - f(r), and r <= 1 - f(q). As 1 - f is concave, this holds on average over
        people.
    """
    facts = distinct(on)
    records = table.records if isinstance(table, SyntheticTable) else table
    _same_domain(records, members, outsiders)
    domain = records.domain
    if hidden in facts:
        raise ParameterError("the secret is among the facts that the attacker knows", parameter="hidden")
    places, place = [domain.place(name) for name in facts], domain.place(hidden)
    known = _claims(records, places, place)
    claims, right = [], []
    for people in (members, outsiders):
        guessed = np.array([known.get(facts.tobytes(), -1) for facts in _facts(people, places)])
        claims.append(int(np.count_nonzero(guessed >= 0)))
        right.append(int(np.count_nonzero(guessed == people.codes[place])))
    highest = None if guarantee is None else advantage_ceiling(guarantee)
    sizes = len(members), len(outsiders)
    return TableLinkage(facts, hidden, *sizes, (claims[0], claims[1]), (right[0], right[1]), highest)


def table_membership(
    table: SyntheticTable | Records,
    members: Records,
    outsiders: Records,
    *,
    population: Records,
    workload: Workload,
    score: MembershipScore = MembershipScore.ANSWERS,
    guarantee: Guarantee | None = None,
) -> TableMembership:
    """Score people by how much they look like members of the private table behind a synthetic one.

    The attacker knows the candidates in full, and other people of the `population` to compare with.

    Privacy. Where the release keeps `guarantee`, and members and outsiders are drawn alike, the expected area under the
        ROC curve is at most `area_ceiling_of` the guarantee, whatever the score.
        Proof: the area is the average over pairs of the chance p that a member a scores above an outsider b; let a coin
        decide ties. Let g(x) = 1 - `tradeoff_of(guarantee, x)`: an event with the chance x has at most the chance g(x)
        on a neighboring table; g is concave with g(1) = 1. Under change-one exchange a and b: a neighbor, in which a
        scores above b with the chance 1 - p, as both are drawn alike. So p <= g(1 - p), and g lies above the chords
        from (0, 0) over (1 - p, p) to (1, 1), the area under which is p: the integral of g is at least p. Under
        add/remove take a out: neither of the two is in the table, and the chance is 1/2; so p <= g(1/2).
    """
    records = table.records if isinstance(table, SyntheticTable) else table
    _same_domain(records, members, outsiders, population)
    highest = None if guarantee is None else area_ceiling_of(guarantee)
    if score is MembershipScore.NEAREST:
        found = [_nearest(people, records) for people in (members, outsiders)]
    else:
        weights = table.weights if isinstance(table, SyntheticTable) else None
        answers, known = workload.frequencies(records, weights), workload.frequencies(population)
        found = _pulls(workload, answers, known, members, outsiders)
    return TableMembership(score, found[0], found[1], highest)


def area_ceiling_of(guarantee: Guarantee) -> float:
    """Return an area under the ROC curve that no membership test exceeds in expectation, for a guarantee; rounded up.

    A guarantee for changing one person is worth more here than the same for adding or removing one: an outsider is
    another person, and two steps away.

    >>> from discreet.privacy import PureDP, Relation
    >>> [
    ...     round(area_ceiling_of(PureDP(1, relation=one)), 2)
    ...     for one in (Relation.CHANGE_ONE, Relation.ADD_REMOVE)
    ... ]
    [0.73, 0.82]
    """
    if guarantee.relation is not Relation.CHANGE_ONE:
        return min(1.0, round_up(_highest(guarantee, Fraction(1, 2))))
    rates = [_highest(guarantee, Fraction(step, _STEPS)) for step in range(1, _STEPS + 1)]
    return min(1.0, round_up(sum(rates, Fraction(0)) / _STEPS))  # each step at its higher end: the rate never falls


def advantage_ceiling(guarantee: Guarantee) -> float:
    """Return by how much the chance of an event can differ where one person takes another's place; rounded up.

    That is one step under change-one, and two, out and in, under add/remove.

    >>> from discreet.privacy import PureDP, Relation
    >>> [
    ...     round(advantage_ceiling(PureDP(1, relation=one)), 2)
    ...     for one in (Relation.CHANGE_ONE, Relation.ADD_REMOVE)
    ... ]
    [0.46, 0.63]
    """
    steps = 1 if guarantee.relation is Relation.CHANGE_ONE else 2
    highest, gaps = min(1.0, steps * delta_of(guarantee, Fraction(0))), []
    for place in range(1, _STEPS + 1):
        chance = Fraction(place, _STEPS)
        for _ in range(steps):
            chance = _highest(guarantee, chance)
        gaps.append(chance - Fraction(place - 1, _STEPS))  # within a step: higher end less lower end
    return min(highest, round_up(max(gaps)))


def _highest(guarantee: Guarantee, chance: Fraction) -> Fraction:
    """Return the highest chance of an event on a table that has this chance on a neighboring one."""
    return 1 - Fraction(tradeoff_of(guarantee, min(1.0, round_up(chance))))


def _claims(records: Records, places: list[int], hidden: int) -> dict[bytes, int]:
    """Return, for every combination of facts in a table, the secret that all its rows have, or nothing."""
    known: dict[bytes, int] = {}
    for facts, secret in zip(_facts(records, places), records.codes[hidden].tolist(), strict=True):
        key = facts.tobytes()
        known[key] = secret if known.get(key, secret) == secret else -1
    return known


def _facts(people: Records, places: list[int]) -> NDArray[np.uint16]:
    """Return what is known of everybody, a row a person."""
    return np.ascontiguousarray(people.codes[places].T)


def _nearest(people: Records, records: Records) -> Floats:
    """Return on how many attributes the most similar row agrees with each person."""
    rows = np.unique(records.codes, axis=1)
    found = np.empty(len(people))
    for place, one in enumerate(people.codes.T):
        agreeing = np.zeros(rows.shape[1], dtype=np.uint16)
        for row, code in zip(rows, one, strict=True):  # column after column is ten times as fast as all at once
            agreeing += row == code
        found[place] = agreeing.max()
    return found


def _pulls(workload: Workload, answers: Floats, known: Floats, *groups: Records) -> list[Floats]:
    """Return how far the answers are pulled towards each person, in units of what a person of the population pulls."""
    spread = np.maximum(known * (1 - known), 1 / len(known) ** 2)
    pulls = (answers - known) / spread
    return [
        np.array([float(pulls @ (workload.truths(one) - known)) for one in people.codes.T], float) for people in groups
    ]


def _same_domain(*tables: Records) -> None:
    if any(one.domain != tables[0].domain for one in tables):
        raise InputError("all tables must be of one domain")
    if not all(len(one) for one in tables):
        raise InputError("the table must have at least one row")

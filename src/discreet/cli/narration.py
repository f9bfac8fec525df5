"""The words of the demo: chapters of plain sentences and small tables, for the terminal and the report alike."""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet.cli.demo import CONFIDENCE, DELTA, EPSILON, Story, posterior
from discreet.data.hospital import NIGHTS_RANGE
from discreet.display import Rounding, Table, format_number

_PERCENT = f"{100 * CONFIDENCE:g} %"


@dataclass(frozen=True)
class Chapter:
    """A title, some sentences, a table, some sentences after it, and whether the plot belongs here."""

    title: str
    before: tuple[str, ...]
    table: Table
    after: tuple[str, ...] = ()
    illustrated: bool = False


def chapters(story: Story) -> list[Chapter]:
    """Return the whole story, in the order in which it is told."""
    return [_people(story), _attack(story), _private(story), _wards(story), _treated(story), _price(story)]


def _people(story: Story) -> Chapter:
    """Introduce the table and say that it is invented."""
    return Chapter(
        "A hospital that does not exist",
        (
            f"We generated {story.people:,} patients with seed {story.seed}. They are synthetic: nobody here is real.",
            f"There are no names in the table, yet zip code, age and sex together single out {story.alone:,} of the "
            f"{story.people:,}: nobody else in the table shares all three.",
        ),
        Table(
            ["column", "what it holds"],
            [
                ["zip_code, age, sex", "what a neighbour may know"],
                ["ward, nights, day", "where, for how long and when"],
                ["diagnosis, cost", "what the hospital must not tell"],
            ],
            "The table, one row a person",
        ),
    )


def _attack(story: Story) -> Chapter:
    """Tell the differencing attack on exact answers."""
    exact, diagnosis = story.exact, story.target.diagnosis
    verdict = f"has the diagnosis {diagnosis}" if exact.difference else f"does not have the diagnosis {diagnosis}"
    return Chapter(
        "An attack on exact answers",
        (f"Somebody knows {story.target} who was a patient, and may ask for totals only. Two totals are enough:",),
        Table(
            ["question", "exact answer"],
            [
                [f"how many patients have {diagnosis}?", exact.everyone],
                ["the same, without whoever fits the description", exact.others],
            ],
        ),
        (
            f"The totals differ by {exact.difference}, so this person {verdict}. No name was needed, and neither "
            "question was about one person.",
        ),
    )


def _private(story: Story) -> Chapter:
    """Tell the same two questions answered privately, and what can be learned from them."""
    pair = story.pair
    low, high = pair.difference_interval
    return Chapter(
        "The same questions, answered privately",
        (
            f"Each total now carries whole-number Laplace noise at epsilon {EPSILON:g}. One person added or removed "
            "changes a total by at most 1 (sensitivity 1 under add/remove), and the noise is made to hide that.",
        ),
        Table(
            ["question", "private answer", f"{_PERCENT} interval"],
            [
                [
                    f"how many patients have {story.target.diagnosis}?",
                    pair.everyone,
                    _around(pair.everyone, pair.error),
                ],
                ["the same, without whoever fits the description", pair.others, _around(pair.others, pair.error)],
                ["the difference", pair.difference, f"{low:,} to {high:,}"],
            ],
            f"With at least {_PERCENT} confidence all three intervals hold together",
        ),
        (*_below_zero(story), _verdict(story), *_odds(story)),
    )


def _below_zero(story: Story) -> tuple[str, ...]:
    """Explain a count below zero, if there is one."""
    if min(story.pair.everyone, story.pair.others) >= 0:
        return ()
    return ("A noisy count may fall below zero. Reading it as zero is free: it uses nothing but the answer.",)


def _verdict(story: Story) -> str:
    """Say what the private difference tells."""
    low, high = story.pair.difference_interval
    if story.pair.hides_the_target:
        return (
            f"The true difference is 0 or 1, and the interval from {low:,} to {high:,} allows both: "
            "subtracting no longer settles the matter."
        )
    return (
        f"The true difference is 0 or 1, and this time the interval from {low:,} to {high:,} leaves one of them out. "
        "The noise was unusually large: what is promised is the odds below, not a wide interval in every run."
    )


def _odds(story: Story) -> tuple[str, str]:
    """Say in words how far anyone's belief can move."""
    both, one = float(story.pair_price.epsilon), EPSILON
    return (
        f"The price so far: {EPSILON:g} + {EPSILON:g} = {_up(both)} (basic composition: epsilons add). In odds: "
        f"whoever thought it 50 % likely that this person's row is in the table at all can be at most "
        f"{_belief(both)} sure of it after both answers, whatever they know about everyone else.",
        f"The diagnosis moves only the first total, by 1, so these two answers turn a 50 % suspicion about it into at "
        f"most {_belief(one)}. The exact answers turned it into certainty.",
    )


def _wards(story: Story) -> Chapter:
    """Tell the counts of all wards, released at once."""
    wards = story.wards
    rows = [
        [ward, answer, answer - wards.error, answer + wards.error]
        for ward, answer in zip(wards.wards, wards.answers, strict=True)
    ]
    return Chapter(
        "Useful answers: people per ward",
        (
            f"A person lies in one ward, so adding or removing a person changes one of the {len(wards.wards)} counts, "
            f"by 1. The whole list has L1 sensitivity 1 and costs epsilon {EPSILON:g} once, not once a ward.",
        ),
        Table(
            ["ward", "private answer", "from", "to"],
            rows,
            f"People per ward; with at least {_PERCENT} confidence all {len(wards.wards)} intervals hold together",
        ),
        ("Totals over many people survive the noise. What one person adds to them does not.",),
        illustrated=True,
    )


def _treated(story: Story) -> Chapter:
    """Tell a mean, and the diagnoses that many people have, which nobody listed beforehand."""
    stay, found = story.stay, story.diagnoses
    rows: list[list[object]] = [["nights a stay, on average", round(float(stay), 1), _outwards(stay.low, stay.high)]]
    rows += [
        [f"patients with {diagnosis}", count.value, f"{count.low:,.0f} to {count.high:,.0f}"]
        for diagnosis, count in found.counts.items()
    ]
    low, high = NIGHTS_RANGE
    return Chapter(
        "Useful answers: how long they stay, and what for",
        (
            f"The mean is made of two sums, of the nights and of the nights short of {high}. One person adds "
            f"{high - low} to both together, however long the stay, so they cost epsilon {EPSILON:g} once.",
            f"Which diagnoses there are is not taken from a list: they are found. A diagnosis is named where its noisy "
            f"count reaches {found.threshold}; one that a single patient has is named with a chance of at most delta, "
            f"{DELTA:f}.",
        ),
        Table(
            ["question", "private answer", f"{_PERCENT} interval"],
            rows,
            f"Each interval holds with at least {_PERCENT} confidence for a question fixed beforehand",
        ),
        (_how_many(story),),
    )


def _how_many(story: Story) -> str:
    """Say how many diagnoses were named and how many are shown."""
    found = story.diagnoses
    named, shown = found.named, len(found.counts)
    if not named:
        return "No diagnosis was frequent enough to be named."
    first = f"These are the {shown} most frequent of the {named} diagnoses that were named."
    if shown == named:
        first = f"{'One diagnosis was' if named == 1 else f'{named} diagnoses were'} frequent enough to be named."
    return f"{first} The noise on the counts has an end: none is off by more than {found.most}."


def _price(story: Story) -> Chapter:
    """Tell what was spent."""
    total, relation = float(story.price.epsilon), story.price.relation.value
    rows: list[list[object]] = [
        ["both totals about the diagnosis", float(story.pair_price.epsilon), None],
        ["the list of ward counts", EPSILON, None],
        ["the mean stay", EPSILON, None],
        ["the diagnoses that were found", EPSILON, f"{DELTA:f}"],
        ["everything above", total, f"{float(story.price.delta):f}"],
    ]
    return Chapter(
        "What it cost",
        (),
        Table(["release", "epsilon", "delta"], rows, f"Differential privacy; unit: one person; relation: {relation}"),
        (
            f"All in all a belief of 50 % about whether somebody's row is in the table becomes at most "
            f"{_belief(total)}, leaving aside a chance of one in a million, delta. Nothing computed from these answers "
            "later can change that.",
        ),
    )


def _outwards(low: float, high: float) -> str:
    """Write an interval with one decimal, rounded outwards."""
    return f"{max(math.floor(10 * low) / 10, 0):.1f} to {math.ceil(10 * high) / 10:.1f}"


def _around(value: int, error: int) -> str:
    """Write an interval around a value."""
    return f"{value - error:,} to {value + error:,}"


def _up(epsilon: float) -> str:
    """Write a price, rounded up."""
    return format_number(epsilon, digits=4, rounding=Rounding.UP)


def _belief(epsilon: float) -> str:
    """Write how sure a 50 % belief can become, rounded up."""
    return f"{format_number(100 * posterior(0.5, epsilon), digits=3, rounding=Rounding.UP)} %"

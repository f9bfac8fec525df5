"""`discreet attack averaging`: one count in many words, of a toy engine with sticky noise and of a session."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import click

from discreet import attacks
from discreet.attacks.asking import counted
from discreet.cli import options
from discreet.cli.attack import telling
from discreet.cli.attack.people import Hospital, attacked_hospital
from discreet.cli.console import Chapter, answering
from discreet.display import format_number
from discreet.laws.number import positive_rational
from discreet.privacy import PrivacyLoss

_FEWEST, _MOST = 630, 100_000
_CONDITIONS = ("marker = 1", "sex = 'female'", "age >= 18")
_DUMMIES = ("card >= 0", "practice >= 0", "age >= 0")
_LEVELS = range(19, 99)
_COLUMNS = ["who answers", "asked in", "queries", "stored", "expected", "error"]


@options.command()
@telling.people(5040, least=_FEWEST, most=_MOST)
@telling.seed()
@options.stated("--deviation", click.FloatRange(0.1, 1000), 10.0, "Standard deviation of the sticky noise.")
@options.stated("--wordings", click.IntRange(2, 1000), 100, "Ways to ask a count.")
@telling.epsilon(0.001, 2, "Price of a private count.", default=0.05)
@options.plot_to()
def averaging(people: int, seed: int, deviation: float, wordings: int, epsilon: float, plot_file: Path | None) -> None:
    """Ask one count in many words and average: sticky noise vanishes, a session replays, charges and refuses.

    Takes some seconds; a thousand wordings take half a minute.
    """
    with answering():
        with attacked_hospital(people=people, seed=seed, purpose="discreet attack averaging") as hospital:
            story = _attacked(hospital, seed, deviation, wordings, epsilon)
        telling.tell(_chapters(story, epsilon), plot=story.by_text.plot, plot_file=plot_file)


@dataclass(frozen=True)
class _AveragingStory:
    """What came of every way to ask."""

    by_text: attacks.Averaging
    by_rows: attacks.Averaging
    split: attacks.Averaging
    spelled: attacks.Averaging
    private: attacks.Averaging


def _attacked(hospital: Hospital, seed: int, deviation: float, count: int, epsilon: float) -> _AveragingStory:
    """Ask the toy engine in both of its forms, and a session."""
    ((text,),) = attacks.rephrasings("patients", _CONDITIONS, count=1)
    truth = counted(hospital.plain, text)
    by_text = attacks.StickyNoise(hospital.plain, deviation=deviation, seed=seed)
    by_rows = attacks.StickyNoise(hospital.plain, deviation=deviation, seed=seed, key="patient_id")
    words = attacks.rephrasings("patients", _CONDITIONS, count=count, dummies=_DUMMIES)
    parts = attacks.splits("patients", _CONDITIONS, attacks.thresholds("age", _LEVELS))
    price = math.sqrt(2) / positive_rational(epsilon, name="epsilon")  # the deviation of Laplace noise of this price
    # the attacker's cap decides how many wordings are answered
    spelled, padded = (attacks.Charged(hospital.session, epsilon=epsilon) for _ in range(2))
    return _AveragingStory(
        attacks.averaging(by_text, words, deviation=deviation, truth=truth),
        attacks.averaging(by_rows, words, truth=truth),
        attacks.averaging(by_rows, parts, deviation=deviation, truth=truth),
        attacks.averaging(spelled, attacks.spellings("patients", _CONDITIONS, count=count), truth=truth),
        attacks.averaging(padded, _padded(count), deviation=price, truth=truth),
    )


def _padded(count: int) -> list[attacks.Wording]:
    """Return the count with other conditions that everybody meets, which are other questions to a session."""
    dummies = [[], *([f"card >= -{level}"] for level in range(count - 1))]
    return [wording for more in dummies for wording in attacks.rephrasings("patients", [*_CONDITIONS, *more], count=1)]


def _chapters(story: _AveragingStory, epsilon: float) -> list[Chapter]:
    """Tell both engines."""
    many = len(story.private.estimates)
    ended = f"Wordings answered before the budget was spent: {many}. " if story.private.refused else ""
    loses = ": averaging loses" if many > 1 else ""
    return [
        Chapter(
            "Sticky noise",
            (
                f"A toy engine answers counts with noise that belongs to the question, so that asking again tells "
                f"nothing. The attacker asks for {' AND '.join(_CONDITIONS)} in other words and averages.",
                "Noise that belongs to the set of rows survives other words, but not sums: those below an age and the "
                "others, for many ages.",
            ),
            telling.compact(
                _COLUMNS,
                [
                    _row("noise by text", "other words", story.by_text),
                    _row("noise by rows", "other words", story.by_rows),
                    _row("noise by rows", "sums of two counts", story.split),
                ],
            ),
            ("Expected: the standard error of the average by theory.",),
        ),
        Chapter(
            "The same through a session",
            (
                f"Every new question costs epsilon {format_number(epsilon)}. What means the same to the planner (other "
                "spellings, orders, doubled conditions) is one question, and its stored answer is handed out again, "
                "free; other conditions are other questions, even if everybody meets them, and each is charged.",
            ),
            telling.compact(
                [*_COLUMNS, "epsilon"],
                [
                    [*_row("a session", "other spellings", story.spelled), _spent(story.spelled.loss)],
                    [*_row("a session", "other dummies", story.private), _spent(story.private.loss)],
                ],
            ),
            (
                "Stored: answers handed out again. Expected: the standard error by theory. "
                f"{ended}For the same price in one question the standard error would have been "
                f"{format_number(_at_once(story.private.loss), digits=3)}{loses}.",
            ),
        ),
    ]


def _row(who: str, words: str, found: attacks.Averaging) -> list[object]:
    """Return one line of a table."""
    expected = "" if found.standard_error is None else format_number(found.standard_error, digits=3)
    error = "" if found.error is None else format_number(found.error, digits=3)
    return [who, f"{len(found.estimates)} {words}", found.queries, found.replayed, expected, error]


def _spent(loss: PrivacyLoss | None) -> str:
    """Write the epsilon of everything charged."""
    return "" if loss is None else format_number(loss.max_loss().upper, digits=4)


def _at_once(loss: PrivacyLoss | None) -> float:
    """Return the standard error of a single count at the whole price."""
    return math.inf if loss is None else math.sqrt(2) / loss.max_loss().upper

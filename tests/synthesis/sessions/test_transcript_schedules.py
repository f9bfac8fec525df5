"""Kill, copy, put back, in every order: a round is charged for at least as often as the sampler draws it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest

from discreet.privacy import Guarantee
from discreet.synthesis import DualQuery
from discreet.synthesis.sessions import transcript as session_transcript
from discreet.synthesis.sessions.transcript import rounds_again
from tests.conftest import Rounds
from tests.synthesis.sessions.transcript_schedules import Drawn, Schedule, Setting, hooked

MEMORY = Path("/dev/shm")  # noqa: S108 (nobody loses power in these schedules: a disk would only be slower)
ACTIONS = 60


def played(setting: Setting, seed: int, drawn: Drawn) -> Counter[str]:
    """Play one schedule; what the ledger charged is compared with what was drawn whenever a process ends."""
    drawn.clear()
    with TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        random = Random(seed)  # noqa: S311 (of what happens, not of noise)
        schedule = Schedule(setting, Path(folder), random, drawn)
        schedule.run(ACTIONS)
        return schedule.tried


@pytest.mark.theorem("released_with.privacy", "Parts.privacy", "Transcript.privacy")
def test_in_random_schedules_charges_cover_draws(rounds: Rounds, monkeypatch: pytest.MonkeyPatch) -> None:
    setting, tried, again = Setting.made(), Counter[str](), 0
    count = rounds(sample=12, full=2_000)
    with hooked(monkeypatch) as drawn:
        for seed in range(count):
            tried += played(setting, seed, drawn)
            again += any(times > 1 for times in drawn.values())
    assert {"start", "step", "copy", "put_back", "shorten"} <= set(tried)
    assert again >= count // 4  # schedules in which a round was drawn more than once


def only_the_lost_round(made: DualQuery, first: int, last: int) -> Guarantee:
    """Price a taking up as if a file could not be a copy."""
    return rounds_again(made, first, min(first, last))


def test_the_schedules_see_a_price_that_believes_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    setting = Setting.made()
    monkeypatch.setattr(session_transcript, "rounds_again", only_the_lost_round)
    with hooked(monkeypatch) as drawn:

        def some() -> None:
            for seed in range(100):  # about one in five fails
                played(setting, seed, drawn)

        with pytest.raises(AssertionError):
            some()

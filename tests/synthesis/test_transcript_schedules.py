"""Kill, copy, put back, in every order: a round is charged for at least as often as the sampler draws it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pytest

from tests.conftest import Rounds
from tests.synthesis.transcript_schedules import Schedule, Setting, hooked

MEMORY = Path("/dev/shm")  # noqa: S108 (nobody loses power in these schedules: a disk would only be slower)


@pytest.mark.theorem("released_with.privacy", "Parts.privacy", "Transcript.privacy")
def test_in_random_schedules_charges_cover_draws(rounds: Rounds, monkeypatch: pytest.MonkeyPatch) -> None:
    setting, tried, again = Setting.made(), Counter[str](), 0
    with hooked(monkeypatch) as drawn:
        for seed in range(rounds(sample=12, full=2_000)):
            drawn.clear()
            with TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
                random = Random(seed)  # noqa: S311 (of what happens, not of noise)
                schedule = Schedule(setting, Path(folder), random, drawn)
                schedule.run(actions=60)
            tried += schedule.tried
            again += any(count > 1 for count in drawn.values())
    assert min(tried.values()) > 0
    assert again > 0
    print(dict(tried), again)

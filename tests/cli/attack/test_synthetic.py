"""`attack synthetic`: every step is told before it begins, and the table has a row for each table attacked."""

from __future__ import annotations

import pytest

from discreet.cli.attack import synthetic


def test_every_step_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(synthetic, "_METHODS", ("independent",))
    told: list[str] = []
    rows = synthetic._rows(400, 1, 1.0, told.append)
    assert [row[0] for row in rows] == ["the rows, without names", "independent"]
    assert told == [
        "Making a table: independent",
        "Looking for people: the rows, without names",
        "Looking for people: independent",
    ]

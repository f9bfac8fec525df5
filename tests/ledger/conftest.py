"""Where the ledgers of the tests are."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest

from discreet.ledger import MemoryLedger, SqliteLedger
from tests.ledger.ledgers import IN_MEMORY, terms


@pytest.fixture
def folder(tmp_path):
    """A place for files in memory where there is one: a killed process loses nothing there either, and it is fast."""
    if IN_MEMORY is None:
        yield tmp_path
        return
    place = Path(tempfile.mkdtemp(prefix="discreet-", dir=IN_MEMORY))
    yield place
    shutil.rmtree(place)


@pytest.fixture(params=["memory", "sqlite"])
def opened(request, folder):
    """Open ledgers of one kind after the other; they are closed when the test ends."""
    made = []

    def begin(**changes):
        if request.param == "memory":
            return MemoryLedger(terms(**changes))
        made.append(SqliteLedger.open(folder / f"ledger{len(made)}.db", terms(**changes)))
        return made[-1]

    yield begin
    for ledger in made:
        ledger.close()


@pytest.fixture
def durable(folder):
    """A ledger in a file."""
    with SqliteLedger.open(folder / "ledger.db", terms()) as ledger:
        yield ledger

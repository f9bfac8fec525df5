"""What a ledger writes is for its owner only, from the first byte and whatever the umask says."""

from __future__ import annotations

import os
import stat
import subprocess
import sys

import pytest

from discreet.ledger import SqliteLedger
from discreet.ledger.files import crash_points
from discreet.ledger.files.private_file import make_private, open_private
from tests.ledger.ledgers import request, terms


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(params=[0o000, 0o022, 0o077, 0o777])
def umask(request):
    before = os.umask(request.param)
    yield
    os.umask(before)


@pytest.mark.usefixtures("umask")
def test_every_file_of_a_ledger_is_for_its_owner_only_at_every_point(folder, monkeypatch):
    place = folder / "kept"
    place.mkdir()
    place.chmod(0o755)
    seen = {}

    def look(_):
        seen.update({path.name: seen.get(path.name, set()) | {mode(path)} for path in place.iterdir()})

    monkeypatch.setattr(crash_points, "_point", look)
    with SqliteLedger.open(place / "ledger.db", terms()) as ledger:
        asked = request()
        with ledger.turn_at(asked, timeout=1):
            ledger.store(ledger.obtain(asked), "1")
        look("")
    assert set(seen) >= {f"ledger.db{end}" for end in ("", "-wal", "-shm", ".anchor", ".anchor.lock", ".asking")}
    assert all(modes == {0o600} for modes in seen.values()), seen


def test_a_file_is_private_before_its_first_byte(folder, monkeypatch):
    made = []

    def watched(path, ways, rights=0o777):
        found = opened(path, ways, rights)
        if ways & os.O_CREAT:
            made.append(stat.S_IMODE(os.fstat(found).st_mode))
        return found

    opened = os.open
    before = os.umask(0)
    try:
        monkeypatch.setattr(os, "open", watched)
        os.close(open_private(folder / "new"))
    finally:
        os.umask(before)
    assert made == [0o600]


def test_a_ledger_that_its_curator_shares_stays_shared(folder):
    path = folder / "ledger.db"
    with SqliteLedger.open(path, terms()) as ledger:
        files = [path, folder / "ledger.db.anchor", folder / "ledger.db.anchor.lock"]
        for file in files:
            file.chmod(0o660)
        ledger.obtain(request())
        assert [mode(file) for file in files] == [0o660] * 3
    assert mode(folder / "ledger.db.anchor") == 0o660


def test_what_a_crash_left_of_an_anchor_does_not_widen_it(folder):
    path = folder / "ledger.db"
    with SqliteLedger.open(path, terms()) as ledger:
        left = folder / "ledger.db.anchor.new"
        left.write_text("half")
        left.chmod(0o644)
        ledger.obtain(request())
    assert mode(folder / "ledger.db.anchor") == 0o600


def test_opening_a_ledger_again_does_not_free_the_locks_of_another_connection(folder):
    path = folder / "ledger.db"
    with SqliteLedger.open(path, terms()) as one, one._transaction():
        make_private(path)
        assert in_another_process_it_is_busy(path)


def in_another_process_it_is_busy(path):
    script = (
        "import sqlite3, sys\n"
        "try: sqlite3.connect(sys.argv[1], timeout=0).execute('BEGIN IMMEDIATE')\n"
        "except sqlite3.OperationalError: print('busy')\n"
    )
    done = subprocess.run([sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True)  # noqa: S603
    return done.stdout.strip() == "busy"

"""What the tests of the ledger share: terms, requests, and a way to run a spender of its own."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

from discreet.ledger import Request, Terms
from discreet.privacy import GaussianDP, PureDP, Relation

ROOT = Path(__file__).resolve().parent.parent.parent
PEOPLE = Relation.ADD_REMOVE
_SHARED = Path("/dev/shm")  # noqa: S108  folders of a random name are made in it
IN_MEMORY = _SHARED if _SHARED.is_dir() and os.access(_SHARED, os.W_OK) else None  # where files are fast


def epsilon(value, relation=PEOPLE):
    return PureDP(value, relation=relation)


def mu(value, delta=0, relation=PEOPLE):
    return GaussianDP(value, delta, relation=relation)


def terms(**changes):
    given = {"lineage": "hospital", "unit": "patient", "budget": epsilon(1), "caps": {"ana": None, "bo": epsilon(0.5)}}
    return Terms(**{**given, **changes})


def digest(name):
    return hashlib.sha256(str(name).encode()).hexdigest()


def request(name="q", *, analyst="ana", cost=0.125, **more):
    guarantee = epsilon(cost) if isinstance(cost, int | float) else cost
    return Request(analyst=analyst, cost=guarantee, digest=digest(name), description=f"SELECT {name}", **more)


def in_a_process_of_its_own(task, path, **arguments):
    """Run a function of `spenders` in a fresh interpreter and return what it found."""
    text = json.dumps({"task": task, "path": str(path), **arguments})
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-m", "tests.ledger.spenders", text]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False, timeout=1800)  # noqa: S603  our own script
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)

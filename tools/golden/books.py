"""The lines that a ledger writes: charges, replays, stored answers and amendments, without the time of day."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path

from discreet.errors import DiscreetError
from discreet.ledger import Charge, Ledger, MemoryLedger, Request, SqliteLedger, Terms
from discreet.privacy import ZCDP, ApproxDP, Guarantee, PureDP, Relation
from tools.golden.fixed import fixed_words
from tools.golden.written import Lines, prefixed, written

PEOPLE = Relation.ADD_REMOVE
_CHANGING = ("time",)  # the hashes of the lines depend on it, and are not kept either


def book_lines() -> Lines:
    """Return the entries of a ledger in memory, of one in a file, and of one under another notion."""
    pure = Terms(
        lineage="hospital",
        unit="patient",
        budget=PureDP(1, relation=PEOPLE),
        caps={"ana": None, "bo": PureDP(0.5, relation=PEOPLE)},
    )
    with fixed_words("memory"):
        yield from prefixed("memory", _history(MemoryLedger(pure)))
    concentrated = Terms(
        lineage="hospital", unit="patient", budget=ZCDP(1, delta=1e-6, relation=PEOPLE), caps={"ana": None, "bo": None}
    )
    with fixed_words("zcdp"):
        yield from prefixed("zcdp", _history(MemoryLedger(concentrated)))
    with tempfile.TemporaryDirectory() as folder, fixed_words("file"):
        ledger = SqliteLedger.open(Path(folder) / "ledger.sqlite", pure)
        yield from prefixed("file", _history(ledger))
        ledger.close()


def _history(ledger: Ledger) -> Lines:
    """Spend, store, ask again, fail, go over the budget and amend; then list what was written."""
    for place, (analyst, name, cost) in enumerate(_requests()):
        yield f"asked {place}", _asked(ledger, _request(analyst, name, cost))
    ledger.amend(caps={"ana": None, "bo": None}, reason="bo has more to do", by="the curator")
    for entry in ledger.entries():
        fields = {name: value for name, value in entry.fields.items() if name not in _CHANGING}
        yield f"entry {entry.number}", json.dumps(fields, sort_keys=True, default=written)
    yield "fits", str(ledger.fits("ana", PureDP(0.0625, relation=PEOPLE)))
    balance = ledger.balance("ana")
    yield "balance", f"spent {balance.spent!r}, remaining {balance.remaining!r}"


def _requests() -> Iterator[tuple[str, str, Guarantee]]:
    """Return who asks what at which price."""
    yield "ana", "count", PureDP(0.125, relation=PEOPLE)
    yield "bo", "sum", PureDP(0.25, relation=PEOPLE)
    yield "ana", "count", PureDP(0.125, relation=PEOPLE)
    yield "bo", "too much", PureDP(40, relation=PEOPLE)
    yield "ana", "another notion", ApproxDP(0.125, 1e-9, relation=PEOPLE)
    yield "eve", "not in the terms", PureDP(0.125, relation=PEOPLE)
    yield "ana", "failed", PureDP(0.03125, relation=PEOPLE)


def _request(analyst: str, name: str, cost: Guarantee) -> Request:
    """Return a request whose digest follows from its name."""
    return Request(
        analyst=analyst,
        cost=cost,
        digest=hashlib.sha256(name.encode()).hexdigest(),
        description=f"SELECT {name}",
        releases=("discrete Laplace noise of scale 8",),
    )


def _asked(ledger: Ledger, request: Request) -> str:
    """Ask for a charge; store an answer for it, or note that there is none."""
    try:
        found = ledger.obtain(request)
    except DiscreetError as refused:
        return f"{type(refused).__name__}: {refused}"
    if not isinstance(found, Charge):
        return f"stored answer {found.answer} of charge {found.number}"
    if "failed" in request.description:
        ledger.note(found, "failed")
    else:
        ledger.store(found, json.dumps({"answer": 41}))
    return f"charge {found.number} at {written(found.cost)}"

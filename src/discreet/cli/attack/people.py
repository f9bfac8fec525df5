"""Whom the attacks through SQL attack: people with a secret bit behind a session, and a hospital, plain and private."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet import attacks
from discreet._optional import optional
from discreet.cli.demo import ATTACKER, build
from discreet.data import HospitalDatabase
from discreet.data.invention import coins as invented_coins
from discreet.errors import ParameterError
from discreet.ledger import MemoryLedger
from discreet.privacy import ZCDP, PrivacyLoss, Relation
from discreet.privacy.numbers import positive
from discreet.query import Session, read_policy
from discreet.query.policy import terms_of
from discreet.query.session import with_source
from discreet.statistics.pricing import NoisyVector

TABLE, SECRET, PERSON = "people", "marker", "person"
_STEPS = 2**20  # in which a session counts to 1

Bits = NDArray[np.int64]


def invented_bits(people: int, *, seed: int) -> Bits:
    """Return a fair coin for every person: nothing public tells anything about it."""
    return invented_coins(seed).integers(0, 2, people)


@contextmanager
def secret_session(
    secret: ArrayLike, *, rho: float, purpose: str, attributes: Mapping[str, Bits] | None = None
) -> Iterator[Session]:
    """Write a column of bits, and of public attributes if there are any, into a database; open a session with rho.

    The ledger is kept in memory: it and the database end with the block.
    """
    duckdb = optional("duckdb", extra="sql", purpose=purpose)
    optional("sqlglot", extra="sql", purpose=purpose)
    budget = float(positive(rho, name="rho"))
    bits = np.asarray(secret).astype(np.int64)
    columns = {PERSON: np.arange(len(bits)), SECRET: bits, **(attributes or {})}
    with tempfile.TemporaryDirectory() as folder:
        with duckdb.connect(str(Path(folder, "people.duckdb"))) as connection:
            connection.register("arrays", columns)
            connection.execute(f"CREATE TABLE {TABLE} AS SELECT * FROM arrays")  # noqa: S608  a name of this file
        text = _policy(len(bits), [SECRET, *(attributes or {})], budget)
        Path(folder, "policy.toml").write_text(text, encoding="utf-8")
        policy, engine = with_source(read_policy(Path(folder, "policy.toml")))
        with Session(policy, analyst=ATTACKER, engine=engine, ledger=MemoryLedger(terms_of(policy))) as session:
            yield session


def split(session: Session, *, queries: int) -> Fraction:
    """Return the price of each query, so that together the queries spend what is left of the budget."""
    remaining = session.balance.remaining
    if not isinstance(remaining, ZCDP):
        raise ParameterError("only a budget of zCDP is split here; state the budget as rho")
    return Fraction(remaining.rho) / queries


def counts_loss(rho: Fraction, *, queries: int) -> PrivacyLoss:
    """Return the price of a number of counts of a session at rho each, from the law of their noise.

    Privacy. One person's row moves every count by at most 1; the price holds for all counts together.
        Proof: a session counts in steps of 2^-20 and adds, to each count anew, the noise of this `NoisyVector`. Added
        or removed, a row with the bit 1 moves a count by 2^20 steps or by none; the price of a count is that of a move
        by all of them, which is no less, and prices of independent noise add up.

    >>> counts_loss(Fraction(1, 2048), queries=1024).delta(0).upper
    0.38292492...
    """
    count = NoisyVector.gaussian(
        rho=rho, sensitivity=_STEPS, squared=_STEPS**2, relation=Relation.ADD_REMOVE, scalar=True
    )
    return count.loss * queries


def _policy(people: int, bits: list[str], rho: float) -> str:
    """Return what a curator would write for it."""
    bounds = "\n".join(f"{name} = {{min = 0, max = 1}}" for name in bits)
    return f"""\
[data]
source = "people.duckdb"
lineage = "invented-people"
version = "1"

[protect]
unit = "person"

[budget]
notion = "zcdp"
rho = {rho!r}
delta = 0
ledger = "ledger.sqlite"

[analysts]
{ATTACKER} = {{}}

[tables.{TABLE}]
unit = "{PERSON}"
rows = 1

[tables.{TABLE}.columns]
{PERSON} = {{min = 0, max = {max(people - 1, 1)}}}
{bounds}
"""


def invented_attributes(people: int, attributes: int, *, seed: int) -> Bits:
    """Return fair coins for every person and attribute."""
    return invented_coins(seed, 1).integers(0, 2, (people, attributes))


@dataclass(frozen=True)
class PrivateCounts:
    """Somebody who answers counts privately, the price of each, and of all of them together."""

    ask: attacks.Ask
    each: Fraction
    loss: PrivacyLoss


@contextmanager
def private_counts(
    secret: Bits, *, rho: float, queries: int, purpose: str, attributes: Bits | None = None
) -> Iterator[PrivateCounts]:
    """Open a session over such people, and split its whole budget, rho, evenly over the counts."""
    columns = None if attributes is None else {f"a{place}": one.copy() for place, one in enumerate(attributes.T)}
    with secret_session(secret, rho=rho, purpose=purpose, attributes=columns) as session:
        each = split(session, queries=queries)
        answers = partial(attacks.session_answers, session, rho=each, table=TABLE, secret=SECRET)
        ask = answers(person=PERSON) if attributes is None else answers(attribute="a")
        yield PrivateCounts(ask, each, counts_loss(each, queries=queries))


@dataclass(frozen=True)
class Hospital:
    """Invented patients, somebody who answers SQL about them exactly, and a session that charges."""

    tables: HospitalDatabase
    plain: attacks.Run
    session: Session


@contextmanager
def attacked_hospital(*, people: int, seed: int, purpose: str) -> Iterator[Hospital]:
    """Build a hospital in a folder that is removed again, and open it both ways."""
    duckdb = optional("duckdb", extra="sql", purpose=purpose)
    optional("sqlglot", extra="sql", purpose=purpose)
    with tempfile.TemporaryDirectory() as folder:
        stage = build(Path(folder), people=people, seed=seed)
        with Session.open(stage.policy, analyst=ATTACKER) as session, duckdb.connect() as connection:
            written = str(stage.database).replace("'", "''")
            connection.execute(f"ATTACH '{written}' AS base (READ_ONLY)")
            connection.execute("USE base")
            yield Hospital(stage.hospital, lambda text: connection.execute(text).fetchall(), session)

"""The facts of the demo: an attack on plain answers, the same through a session, useful answers, the books."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from discreet import attacks
from discreet._optional import optional
from discreet.cli.demo.stage import ANALYST, ATTACKER, Stage
from discreet.data.databases.hospital import DEPARTMENTS, PRACTICE_SIZE
from discreet.errors import BudgetExceeded, DiscreetError, QueryRefused
from discreet.ledger import Balance, Verification
from discreet.privacy import PrivacyLoss, compose
from discreet.query import Answer, Explanation, Session

# The bar is the ceiling + 3 points. At 63 answers of epsilon 1/32 about 5040 people the attack expects 51.8 % and the
# bar lies at 58.0 %, 8.8 standard deviations above; Chernoff's bound over the 80 independent practices, with the law of
# one practice simulated, puts a false alarm at about 2e-17 (tests/cli/demo/test_story.py).
QUERIES = PRACTICE_SIZE
EACH = Fraction(1, 32)
LEAST_RECOVERED = 0.95
POINTS = 0.03
FIRST, LATER, DELTA = Fraction(1), Fraction(1, 2), Fraction(1, 10**7)
ABOUT = 600  # visits a department: what a researcher would guess
_WHERE = {"table": "patients", "secret": "marker", "block": "practice", "place": "card"}

BY_DEPARTMENT = "SELECT department, COUNT(*) AS visits, AVG(cost) AS mean_cost FROM visits GROUP BY department"
TOTALS = "SELECT SUM(cost) AS total_cost, COUNT(DISTINCT patient_id) AS patients FROM visits"
MEDIANS = "SELECT sex, COUNT(*) AS patients, MEDIAN(age) AS median_age FROM patients GROUP BY sex"
DIAGNOSES = (
    "SELECT diagnosis, COUNT(DISTINCT patient_id) AS patients FROM visits GROUP BY diagnosis ORDER BY patients DESC"
)
_REFUSED = (
    "SELECT * FROM patients",
    "SELECT MIN(age) FROM patients",
    "SELECT marker FROM patients WHERE practice = 7 AND card = 12",
    "SELECT SUM(visit_id) FROM visits",
    "SELECT COUNT(*) FROM read_csv('/etc/passwd')",
)
_UNAFFORDABLE = "SELECT COUNT(*) AS carriers FROM patients WHERE marker = 1"


@dataclass(frozen=True)
class Refused:
    """A question, at which price if that mattered, and the words with which it was refused."""

    sql: str
    words: str


@dataclass(frozen=True)
class Claim:
    """Something the demo says holds, and whether it did."""

    words: str
    held: bool


@dataclass(frozen=True)
class Story:
    """Everything the demo tells."""

    people: int
    seed: int
    visits: int
    plain: attacks.Reconstruction
    private: attacks.Reconstruction
    expected: float
    question: str
    explained: Explanation
    departments: Answer
    truth: tuple[int, ...]
    totals: Answer
    medians: Answer
    diagnoses: Answer
    again: Answer
    unchanged: bool
    refusals: tuple[Refused, ...]
    spent: Refused
    balance: Balance
    own: Balance
    verification: Verification
    seconds: float

    @property
    def claims(self) -> tuple[Claim, ...]:
        """What the demo shows, each with whether it held this time."""
        found, hidden, top = self.plain.recovered or 0.0, self.private.recovered or 1.0, self.private.ceiling
        bar = 1.0 if top is None else top.upper + POINTS
        return (
            Claim(
                f"plain answers give away at least {LEAST_RECOVERED:.0%} of the secret bits", found >= LEAST_RECOVERED
            ),
            Claim(f"private answers give away at most the ceiling and {100 * POINTS:.0f} points", hidden <= bar),
            Claim("the same question again is the stored answer, free", self.unchanged),
            Claim("what cannot be answered privately is refused, free", len(self.refusals) == len(_REFUSED)),
            Claim("a spent budget is spent", bool(self.spent.words)),
            Claim("the ledger is as it was written", self.verification.head_at is not None),
        )


def tell(stage: Stage, *, seed: int) -> Story:
    """Attack plain answers, attack private ones, and ask what a researcher would ask."""
    started = time.perf_counter()
    plain = attack_plain(stage)
    with Session.open(stage.policy, analyst=ATTACKER) as session:
        private = attack_private(stage, session)
        spent = over_budget(session)
        own = session.balance
    with Session.open(stage.policy, analyst=ANALYST) as session:
        explained = session.explain(BY_DEPARTMENT, epsilon=FIRST, rows_expected=ABOUT)
        departments = session.sql(BY_DEPARTMENT, epsilon=FIRST)
        totals = session.sql(TOTALS, epsilon=LATER)
        medians = session.sql(MEDIANS, epsilon=LATER)
        diagnoses = session.sql(DIAGNOSES, epsilon=LATER, delta=DELTA)
        before = session.balance
        again = session.sql(BY_DEPARTMENT, epsilon=FIRST)
        refusals = refused(session)
        balance, head = session.balance, session.ledger.head
        verification = session.ledger.verify(head=head)
    same = again.record.replayed and again.rows == departments.rows and balance.spent == before.spent
    return Story(
        people=stage.people,
        seed=seed,
        visits=len(stage.hospital.visits),
        plain=plain,
        private=private,
        expected=expected_share(),
        question=attacks.attack_queries(stage.people, queries=QUERIES, **_WHERE).texts[36],
        explained=explained,
        departments=departments,
        truth=true_counts(stage),
        totals=totals,
        medians=medians,
        diagnoses=diagnoses,
        again=again,
        unchanged=same,
        refusals=refusals,
        spent=spent,
        balance=balance,
        own=own,
        verification=verification,
        seconds=time.perf_counter() - started,
    )


def attack_plain(stage: Stage) -> attacks.Reconstruction:
    """Ask a plain database, which answers exactly."""
    duckdb = optional("duckdb", extra="sql", purpose="the demo")
    with duckdb.connect(str(stage.database), read_only=True) as connection:
        return reconstruct(stage, lambda text: connection.execute(text).fetchall())


def attack_private(stage: Stage, session: Session) -> attacks.Reconstruction:
    """Ask a session the same questions, at a small price each."""
    charged: list[PrivacyLoss] = []

    def run(text: str) -> list[tuple[Any, ...]]:
        answer = session.sql(text, epsilon=EACH)
        charged.append(answer.cost)
        return answer.rows

    found = reconstruct(stage, run)
    # the attack knows no price; the ceiling is that of what the ledger charged, all answers together
    top = attacks.ceiling(compose(charged), flip=attacks.Flip.ONE_ROW)
    return replace(found, ceiling=top)


def reconstruct(stage: Stage, run: Callable[[str], Sequence[Sequence[Any]]]) -> attacks.Reconstruction:
    """Run the attack against anything that answers SQL, and compare its guesses with the truth."""
    ask = attacks.sql_answers(run, **_WHERE)
    truth = np.array(stage.hospital.patients.marker)
    return attacks.least_squares(ask, stage.people, queries=QUERIES, truth=truth)


def expected_share() -> float:
    """Return the frequency of right bits that this attack can expect from answers with the noise of its price."""
    from discreet.laws import DiscreteLaplace

    return attacks.expected_fraction(DiscreteLaplace(1 / EACH), queries=QUERIES)


def over_budget(session: Session) -> Refused:
    """Ask for more than the attacker's cap leaves; the words are empty if that was not refused."""
    try:
        session.sql(_UNAFFORDABLE, epsilon=1)
    except BudgetExceeded as refusal:
        return Refused(_UNAFFORDABLE, str(refusal))
    return Refused(_UNAFFORDABLE, "")


def refused(session: Session) -> tuple[Refused, ...]:
    """Ask what must not be answered; return what was refused."""
    found = []
    for text in _REFUSED:
        try:
            session.sql(text, epsilon=Fraction(1, 10))
        except QueryRefused as refusal:
            found.append(Refused(text, str(refusal)))
        except DiscreetError:
            continue
    return tuple(found)


def true_counts(stage: Stage) -> tuple[int, ...]:
    """Return the true number of visits of every department: shown only because these people do not exist."""
    return tuple(int(stage.hospital.visits.matches(department=name).sum()) for name in DEPARTMENTS)

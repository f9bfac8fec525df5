"""DualQuery on a session's table with its draws in a file: after a crash it goes on, and pays for what was lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.display import Progress
from discreet.errors import LedgerMismatch, LedgerTampered
from discreet.ledger import Charge, Entry, EntryKind
from discreet.ledger.contract import Parts, charge_of
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, Guarantee, PureDP
from discreet.privacy.numbers import number, upward, written, written_up
from discreet.synthesis.base import SyntheticRelease
from discreet.synthesis.domain import Records
from discreet.synthesis.methods.dual_query import DualQuery
from discreet.synthesis.sessions.file_transcript import FileTranscript
from discreet.synthesis.sessions.release import Prepared, noted, told
from discreet.synthesis.sessions.stored import to_text

if TYPE_CHECKING:
    from discreet.query import Record, Session


def released_with(prepared: Prepared, path: str | Path, progress: Progress | None) -> SyntheticRelease:
    """Release by DualQuery with every round in a file before it is used; go on with a file that a crash left.

    The ledger is told of every round before it is drawn. A release is taken up for the price of the rounds that the
    file lacks and the ledger knows to have been begun: after a crash the one that was lost, if one was. A second
    taking up at the same round, or at an earlier one, is charged for all rounds from there to the last.

    Privacy. Together with all that was interrupted, and whatever was done to the file or to copies of it in between,
        the release keeps the sum of what the ledger was charged for it: each round was charged for at least as often as
        it was drawn.
        Proof: the charge of the release pays for every round once. A taking up at round r is charged before rows are
        read, in the step that makes it the only attempt which may go on, for the rounds r to `most` or to the last, and
        `most` is at most the last. Every round is announced to the ledger before it is drawn, and drawn once for each
        announcement (`Transcript`). So `Parts` says that charges cover draws, round by round, and `rounds_again` prices
        them. Which rounds a file says are kept decides where an attempt begins and what its records answer; rounds are
        priced for every such choice, so the file may say anything. The records of a unit with more rows than count are
        chosen anew; each choice keeps neighbors neighbors, and rounds are released adaptively: their prices add up.
    """
    made = prepared.made
    if not isinstance(made, DualQuery):
        raise AssertionError("only draws are kept in a transcript")
    tell = told(progress)
    with FileTranscript(path) as transcript:
        if transcript.terms is None:

            def charged(charge: Charge) -> None:
                transcript.label(**_labels(prepared, charge))
                transcript.begin(made.terms)
                transcript.count_with(_counter(prepared.session, charge, charge.number))

            def run(records: Records, _: Charge) -> SyntheticRelease:
                return made.continued(records, transcript, progress=tell)

            return prepared.release(run=run, charged=charged)
        charge, closed = _paid(prepared, transcript.terms)
        if closed is not None and closed.kind is EntryKind.ANSWER:
            return prepared.release()
        if closed is not None:
            raise LedgerMismatch(
                "the release of this transcript has ended without a table to hand out again, as the ledger says: name "
                "another file for another release. Nothing was spent."
            )
        transcript.label(**_labels(prepared, charge))
        transcript.begin(made.terms)
        return _taken_up(prepared, made, transcript, charge, tell)


def rounds_again(made: DualQuery, first: int, last: int) -> Guarantee:
    """Return the price of the rounds from one to another once more, in the notion of the release's own guarantee.

    Privacy. The draws of these rounds keep it, whatever rounds came before: s draws of range e are (s e)-DP and
        (s e^2/8)-zCDP, which add up, and the sum of the second implies (epsilon, delta)-DP for the delta of the
        release, and mu-Gaussian DP with mu^2 = pi times the sum. Nor do they cost more than the whole release.
        Proof: see `DualQueryPrice`, in which any rounds may have no draws, and `rho_of_choices`; every accounting grows
        with the draws.
    """
    relation = made.allowance.neighbors.relation
    ranges = made.price.ranges[max(first - 2, 0) : max(last - 1, 0)]
    epsilon = sum((draws * width for width, draws in ranges), Fraction(0))
    rho = ZCDP(sum((draws * width**2 for width, draws in ranges), Fraction(0)) / 8, relation=relation)
    if epsilon == 0:
        return PureDP(0, relation=relation)
    match made.guarantee:
        case PureDP():
            return PureDP(epsilon, relation=relation)
        case ApproxDP(epsilon=whole, delta=delta):
            level = min(Fraction(rho.to_approx(delta).epsilon), Fraction(whole))
            if epsilon <= level:
                return PureDP(epsilon, relation=relation)
            return ApproxDP(level, delta, relation=relation)
        case GaussianDP(mu=whole):
            again = Fraction(upward(lambda: 2 * number(1).atan().sqrt() * number(Fraction(rho.rho)).sqrt()))
            return GaussianDP(min(written_up(again), whole, key=written), relation=relation)
    return rho


def _taken_up(
    prepared: Prepared, made: DualQuery, transcript: FileTranscript, charge: Charge, tell: Progress
) -> SyntheticRelease:
    """Go on where the file ends, for the price of the rounds that may be lost; where it is complete, read no data."""
    session, done = prepared.session, len(transcript.rounds)
    seen = session.ledger.parts(charge)
    _require_own_rounds(made, transcript, seen)
    if done == len(made.draws):
        domain = made.workload.domain
        nobody = Records(domain, np.zeros((len(domain), 0), dtype=np.uint16))
        release = made.continued(nobody, transcript, progress=tell)
        return noted(release, _stored(session, charge, to_text(release)))
    from discreet.query.session import grant_again

    start = done + 1
    # a second attempt from here: the file does not show how far the first one came, so it counts as having come far
    last = len(made.draws) if seen.taken_up >= start else seen.most

    def run(records: Records, more: Charge) -> SyntheticRelease:
        transcript.count_with(_counter(session, charge, more.number))
        return made.continued(records, transcript, progress=tell)

    release, record = grant_again(
        session, prepared.table.name, prepared.columns, rounds_again(made, start, last),
        charge=charge, start=start, seen=seen,
        description=f"{_once_more(start, last, charge)}: {prepared.description}", work=prepared.work(run),
    )  # fmt: skip
    return noted(release, record)


def _counter(session: Session, charge: Charge, attempt: int) -> Callable[[int], None]:
    """Return what tells the ledger that a round is about to be drawn."""
    return lambda number: session.ledger.begin_part(charge, number, attempt=attempt)


def _once_more(start: int, last: int, charge: Charge) -> str:
    """Return how the ledger's entry for a release that is taken up begins."""
    where = f"charge {charge.number} taken up at round {start}"
    if last < start:
        return f"{where}, no round once more"
    return f"{where}, round {start} once more" if last == start else f"{where}, rounds {start} to {last} once more"


def _require_own_rounds(made: DualQuery, transcript: FileTranscript, seen: Parts) -> None:
    """Refuse rounds that this release cannot have drawn, or has not drawn as the ledger says."""
    rounds, queries = transcript.rounds, len(made.workload)
    drawn = zip(rounds, made.draws, strict=False)
    if len(rounds) > seen.most or any(
        len(one) != count or (count > 0 and one.queries.max() >= queries) for one, count in drawn
    ):
        raise LedgerTampered("the transcript holds rounds that this release has not drawn. Nothing was spent.")


def _stored(session: Session, charge: Charge, text: str | None) -> Record:
    """Keep the text of a release beside the charge that paid for it."""
    from discreet.query import Record

    if text is None:
        session.ledger.note(charge, "granted")
        return Record(charge.number, charge.entry_hash, charge.analyst, replayed=False)
    kept = session.ledger.store(charge, text)
    return Record(kept.number, kept.entry_hash, kept.analyst, replayed=False)


def _labels(prepared: Prepared, charge: Charge) -> dict[str, Any]:
    lineage = prepared.session.policy.lineage
    return {"lineage": lineage, "digest": prepared.digest, "charge": charge.number, "entry": charge.entry_hash}


def _paid(prepared: Prepared, terms: Mapping[str, Any]) -> tuple[Charge, Entry | None]:
    """Return the charge that a transcript names and the entry that closed it, if any; refuse a foreign transcript."""
    session, paid, closed = prepared.session, None, None
    for entry in session.ledger.entries():
        if entry.number == terms.get("charge") and entry.kind is EntryKind.CHARGE:
            paid = charge_of(entry)
        if entry.kind in (EntryKind.ANSWER, EntryKind.OUTCOME) and entry.fields["charge"] == terms.get("charge"):
            closed = entry
    own = paid is not None and (paid.digest, paid.analyst) == (prepared.digest, session.analyst)
    if paid is None or not own or terms.get("entry") != paid.entry_hash:
        raise _foreign()
    return paid, closed


def _foreign() -> LedgerMismatch:
    return LedgerMismatch(
        "this transcript belongs to another request, analyst or ledger. Name another file. Nothing was spent."
    )

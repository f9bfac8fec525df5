"""DualQuery on a session's table with its draws in a file: after a crash it goes on, and pays for one lost round."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import LedgerMismatch, LedgerTampered
from discreet.ledger import Charge
from discreet.ledger.decisions import charge_of
from discreet.ledger.entry import Entry, Kind
from discreet.privacy import ZCDP, ApproxDP, Guarantee, PureDP
from discreet.query.answer import Record
from discreet.synthesis.domain import Records
from discreet.synthesis.dual_query import DualQuery
from discreet.synthesis.release import Progress, Release
from discreet.synthesis.session_release import Prepared, noted, told
from discreet.synthesis.stored_release import to_text
from discreet.synthesis.transcript import FileTranscript

if TYPE_CHECKING:
    from discreet.query.session import Session


def released_with(prepared: Prepared, path: str | Path, progress: Progress | None) -> Release:
    """Release by DualQuery with every round in a file before it is used; go on with a file that a crash left.

    Privacy. Together with all that a crash interrupted, the release keeps the sum of what the ledger was charged.
        Proof: the file names the charge of the release, and one that does not is refused, so every round that it holds
        was paid for in this ledger. Kept rounds are read, never drawn again; where all are kept no data is read. Else
        the first round that is not kept may have been drawn and lost: `lost_round` of it is charged before rows are
        read again, which is what `Transcript` asks for. So every attempt draws rounds that were never kept before, of
        which the first charge pays for one copy each, and at most one round that it does not keep, for which the next
        attempt pays. The records of a unit with more rows than count are chosen anew; each choice keeps neighbours
        neighbours, and the rounds are released adaptively, so their prices add up. A file with fewer rounds than it had
        when it was taken up before, as the ledger remembers, is refused.
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

            def run(records: Records, _: Charge) -> Release:
                return made.continued(records, transcript, progress=tell)

            return prepared.release(run=run, charged=charged)
        charge, closed = _paid(prepared, transcript.terms)
        if closed is not None and closed.kind is Kind.ANSWER:
            return prepared.release()
        if closed is not None:
            raise LedgerMismatch(
                "the release of this transcript has ended without a table to hand out again, as the ledger says: name "
                "another file for another release. Nothing was spent."
            )
        transcript.label(**_labels(prepared, charge))
        transcript.begin(made.terms)
        _require_own_rounds(session=prepared.session, made=made, transcript=transcript, charge=charge)
        return _taken_up(prepared, made, transcript, charge, tell)


def lost_round(made: DualQuery, number: int) -> Guarantee:
    """Return the price of one round once more, in the notion of the release's own promise.

    Privacy. The draws of round t keep it: s draws of range e are (s e)-DP and (s e^2/8)-zCDP, and the second implies
        (epsilon, delta)-DP for the delta of the release.
        Proof: see `DualQueryPrice`, for one round.
    """
    relation = made.purse.neighbours.relation
    if number == 1:
        return PureDP(0, relation=relation)
    width, draws = made.price.ranges[number - 2]
    pure, rho = PureDP(draws * width, relation=relation), ZCDP(draws * width**2 / 8, relation=relation)
    match made.guarantee:
        case PureDP():
            return pure
        case ApproxDP(delta=delta):
            level = Fraction(rho.to_approx(delta).epsilon)
            return pure if Fraction(pure.epsilon) <= level else ApproxDP(level, delta, relation=relation)
    return rho


def _taken_up(
    prepared: Prepared, made: DualQuery, transcript: FileTranscript, charge: Charge, tell: Progress
) -> Release:
    """Go on where the file ends, for the price of the round that may be lost; where it is complete, read no data."""
    session, done = prepared.session, len(transcript.rounds)
    if done == len(made.draws):
        domain = made.workload.domain
        nobody = Records(domain, np.zeros((len(domain), 0), dtype=np.uint16))
        release = made.continued(nobody, transcript, progress=tell)
        return noted(release, _stored(session, charge, to_text(release)))
    release, record = session.grant_again(
        prepared.table.name, prepared.columns, lost_round(made, done + 1), charge=charge,
        description=f"{_once_more(done + 1, charge)} {prepared.description}",
        work=prepared.work(lambda records, _: made.continued(records, transcript, progress=tell)),
    )  # fmt: skip
    return noted(release, record)


def _once_more(number: int, charge: Charge) -> str:
    """Return how the ledger's entry for a round that is drawn once more begins."""
    return f"round {number} once more of charge {charge.number}:"


def _require_own_rounds(*, session: Session, made: DualQuery, transcript: FileTranscript, charge: Charge) -> None:
    """Refuse rounds that this release cannot have drawn, and a file that has lost rounds which it had before."""
    rounds, queries = transcript.rounds, len(made.workload)
    drawn = zip(rounds, made.draws, strict=False)
    if len(rounds) > len(made.draws) or any(
        len(one) != count or (count > 0 and one.queries.max() >= queries) for one, count in drawn
    ):
        raise LedgerTampered("the transcript holds rounds that this release cannot have drawn. Nothing was spent.")
    # a round beyond the next one was paid for once more before, so the rounds up to it were kept then
    later = tuple(_once_more(number, charge) for number in range(len(rounds) + 2, len(made.draws) + 1))
    for entry in session.ledger.entries():
        own = entry.kind is Kind.CHARGE and entry.fields["analyst"] == charge.analyst
        if own and entry.fields["description"].startswith(later):
            raise LedgerTampered(
                "the transcript had more rounds when it was taken up before, so it was put back to an earlier state; "
                "to go on would draw rounds again that were paid for once. Nothing was spent."
            )


def _stored(session: Session, charge: Charge, text: str | None) -> Record:
    """Keep the text of a release beside the charge that paid for it."""
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
        if entry.number == terms.get("charge") and entry.kind is Kind.CHARGE:
            paid = charge_of(entry)
        if entry.kind in (Kind.ANSWER, Kind.OUTCOME) and entry.fields["charge"] == terms.get("charge"):
            closed = entry
    own = paid is not None and (paid.digest, paid.analyst) == (prepared.digest, session.analyst)
    if paid is None or not own or terms.get("entry") != paid.entry_hash:
        raise _foreign()
    return paid, closed


def _foreign() -> LedgerMismatch:
    return LedgerMismatch(
        "this transcript belongs to another request, analyst or ledger. Name another file. Nothing was spent."
    )

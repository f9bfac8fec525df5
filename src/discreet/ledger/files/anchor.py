"""The anchor: a small file beside a ledger that remembers its newest entry, so that an older copy is recognized."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from discreet.errors import DiscreetError, LedgerError, LedgerTampered
from discreet.ledger.contract import START, checked_digest
from discreet.ledger.files.crash_points import reach
from discreet.ledger.files.private_file import open_instead, open_private
from discreet.privacy.records import read, refuse_fields, write

_REMEDY = (
    "Put the newest copy of the ledger back. If this one is the newest, say so with the newest head that was exported: "
    "SqliteLedger.reanchor(path, head=..., reason=..., by=...), or `discreet ledger reanchor`. Nothing was spent."
)


@dataclass(frozen=True, slots=True)
class Anchor:
    """The number and the hash of the newest entry that a ledger is known to have had."""

    number: int = 0
    head: str = START


class AnchorFile:
    """The file of an anchor: replaced as a whole, durable when a write returns, never replaced by an older one.

    Two processes that write in turn hold `exclusively`; the file is written under another name, synchronized, renamed,
    and the directory is synchronized too, so that a crash leaves the old one or the new one.
    """

    __slots__ = ("_lock", "_path")

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = path.with_name(path.name + ".lock")

    def read(self) -> Anchor | None:
        """Return what the file says, None if there is no file."""
        try:
            text = self._path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as problem:
            raise unusable("the anchor cannot be read", problem) from None
        try:
            fields = refuse_fields(read(text), ["head", "number"], what="an anchor")
            number, head = fields["number"], checked_digest(fields["head"], name="head")
        except DiscreetError:
            raise _unreadable() from None
        if type(number) is not int or number < 0:
            raise _unreadable()
        return Anchor(number, head)

    def remembered(self) -> int | None:
        """Return the number of the entry that the file remembers, None if it cannot be read."""
        try:
            known = self.read()
        except LedgerTampered:
            return None
        return None if known is None else known.number

    def write(self, anchor: Anchor) -> None:
        """Replace the file and return when that cannot be undone by a crash; the caller holds `exclusively`."""
        text = write({"head": anchor.head, "number": anchor.number})
        fresh = self._path.with_name(self._path.name + ".new")
        try:
            with os.fdopen(open_instead(fresh, of=self._path), "wb") as file:
                file.write(text.encode())
                file.flush()
                synchronize(file.fileno())
            reach("anchor written")
            fresh.replace(self._path)
            reach("anchor renamed")
            synchronize_directory(self._path.parent)
        except OSError as problem:
            raise unusable("the anchor cannot be written", problem) from None

    @contextmanager
    def exclusively(self) -> Iterator[None]:
        """Wait for, and hold, the lock that all processes with this anchor take."""
        try:
            place = open_private(self._lock)
        except OSError as problem:
            raise unusable("the lock file cannot be opened", problem) from None
        try:
            _wait_for(place)
            yield
        finally:
            os.close(place)  # which lets the lock go


def put_back() -> LedgerTampered:
    """Say that entries are missing."""
    return LedgerTampered(
        "an older copy of the ledger was put back, or its end was cut off: the anchor knows an entry that the ledger "
        f"does not have. {_REMEDY}"
    )


def missing() -> LedgerTampered:
    """Say that there is nothing to compare with."""
    return LedgerTampered(
        f"the ledger has entries but its anchor file is gone, so its age cannot be checked. {_REMEDY}"
    )


def outdated() -> LedgerTampered:
    """Say that the anchor is too far behind to be explained by a crash."""
    return LedgerTampered(f"the anchor is older than a crash can leave it: an older copy of it was put back. {_REMEDY}")


def unusable(what: str, problem: OSError) -> LedgerError:
    """Say what the operating system refused."""
    return LedgerError(f"{what}: {problem.strerror}. Nothing was released; make the place writable and try again.")


def synchronize(descriptor: int) -> None:
    """Return when the bytes of a file are on the disk itself."""
    full = getattr(fcntl, "F_FULLFSYNC", None)  # elsewhere fsync stops at the drive's own memory
    if full is None:
        os.fsync(descriptor)
    else:
        fcntl.fcntl(descriptor, full)


def synchronize_directory(directory: Path) -> None:
    """Return when the names in a directory are on the disk."""
    try:
        place = os.open(directory, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(place)
        finally:
            os.close(place)
    except OSError as problem:
        raise unusable("the directory cannot be synchronized", problem) from None


def _wait_for(place: int) -> None:
    try:
        fcntl.flock(place, fcntl.LOCK_EX)
    except OSError as problem:
        raise unusable("the lock file cannot be locked", problem) from None


def _unreadable() -> LedgerTampered:
    return LedgerTampered(f"the anchor file is not what discreet wrote. {_REMEDY}")

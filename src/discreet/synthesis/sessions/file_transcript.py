"""A transcript in a file that only grows: what a crash leaves of it can be read, and nothing else that was changed."""

from __future__ import annotations

import base64
import binascii
import fcntl
import hashlib
import json
import os
import re
import stat
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np

from discreet.errors import LedgerError, LedgerMismatch, LedgerTampered
from discreet.ledger.files import synchronize, synchronize_directory
from discreet.synthesis.methods.dual_query import Round, Transcript, other_terms, terms_words

_TITLE = "discreet transcript 1"
_SUM = 64
_BLOCK = 1 << 20


class FileTranscript(Transcript):
    """Rounds kept in a file that only grows: one line a round, each with a checksum over all before it.

    A line is on the disk itself when `append` returns. A last line that a crash cut off is recognized, counted as lost
    and taken away when the file is opened; any other line that does not fit is refused, and so is a file that is no
    transcript. While the object lives, no other process can open the file, and a fork of this one cannot write to it.
    A file says which rounds are kept, never which were drawn: it may be a copy, or put back to an earlier state. So a
    file that another object began is read, and drawn into only where a ledger counts the draws (`count_with`).
    """

    __slots__ = ("_counter", "_file", "_fresh", "_header", "_labels", "_path", "_rounds", "_sum", "torn")

    def __init__(self, path: str | Path) -> None:
        super().__init__()
        self._counter: Callable[[int], None] | None = None
        self._fresh = False
        self._path = Path(path)
        self._rounds: list[Round] = []
        self._header: str | None = None
        self._labels: dict[str, Any] = {}
        self._sum = hashlib.sha256(_TITLE.encode()).hexdigest()
        self.torn = False
        self._file = -1
        # a pipe would wait for a writer here, and is refused below
        ways = os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NONBLOCK
        try:
            self._file = os.open(self._path, ways, 0o600)
        except (OSError, ValueError) as problem:
            raise _unusable("opened", problem) from None
        try:
            self._lock()
            self._load()
        except BaseException:
            self.close()
            raise

    def label(self, **labels: Any) -> None:
        """Say what else names the release, such as the charge that pays for it, before it is begun or taken up."""
        self._labels |= labels

    def count_with(self, counter: Callable[[int], None]) -> None:
        """Tell a ledger of every round before it is drawn: `counter` returns when the ledger has it, or refuses."""
        self._counter = counter

    def _count(self, number: int) -> None:
        if self._counter is not None:
            self._counter(number)
        elif not self._fresh:
            raise LedgerError(
                "a file that another process began is not drawn into without a ledger: it may be a copy, and the "
                "same rounds would be drawn twice for one price. Use dual_query(session, ..., transcript=...), whose "
                "ledger counts the draws, or begin another file, at the full price. Nothing was drawn."
            )

    def begin(self, terms: Mapping[str, Any]) -> None:
        """Say which release this is; refused where the file was begun in other terms or with other labels."""
        words = terms_words({**terms, **self._labels})
        if self._header is None:
            self._write(words)
            synchronize_directory(self._path.resolve().parent)
            self._header, self._fresh = words, True
        elif self._header != words:
            raise other_terms()

    @property
    def terms(self) -> Mapping[str, Any] | None:
        """The terms in which the file was begun, as JSON keeps them; None before."""
        return None if self._header is None else _terms(self._header)

    @property
    def rounds(self) -> tuple[Round, ...]:
        """The rounds that are kept, from the first on."""
        return tuple(self._rounds)

    def append(self, one: Round) -> None:
        """Keep the next round; when this returns, no crash can undo it."""
        if self._header is None:
            raise LedgerError("a transcript must be begun before its first round")
        self._require_next(one)
        self._write(_line(one))
        self._rounds.append(one)

    def close(self) -> None:
        """Let the file go, for others to open; twice is once."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        if getattr(self, "_file", -1) >= 0:
            self.close()

    def _lock(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise LedgerError(
                "another process has this transcript open: a round is drawn by one of them only"
            ) from None

    def _load(self) -> None:
        """Read what is kept; take a torn end away."""
        try:
            if not stat.S_ISREG(os.fstat(self._file).st_mode):
                raise _no_transcript()
            content = self._content()
            if content and not _began(content):
                raise _no_transcript()
            whole, sound = content.split(b"\n"), 0
            for place, line in enumerate(whole):
                last = place == len(whole) - 1
                if last and not line:
                    break
                words = None if last else self._checked(line)
                if words is None:
                    # what a crash leaves has no end, or has holes where blocks never reached the disk
                    if not last and (b"\0" not in line or b"\n".join(whole[place + 1 :])):
                        raise LedgerTampered("the transcript was changed: a line does not fit the lines before it")
                    self.torn = True
                    os.ftruncate(self._file, sound)
                    synchronize(self._file)
                    break
                self._keep(words, line)
                sound += len(line) + 1
        except OSError as problem:
            raise _unusable("read", problem) from None

    def _content(self) -> bytes:
        """Return what the locked file holds; its name may lead to another one by now."""
        parts, place = [], 0
        while part := os.pread(self._file, _BLOCK, place):
            parts.append(part)
            place += len(part)
        return b"".join(parts)

    def _checked(self, line: bytes) -> str | None:
        """Return the words of a line, None where its checksum is not that of the words and all lines before."""
        found, words = line[: _SUM + 1], line[_SUM + 1 :]
        if found != f"{self._next_sum(words)} ".encode() or not words.isascii():
            return None
        return words.decode("ascii")

    def _keep(self, words: str, line: bytes) -> None:
        self._sum = line[:_SUM].decode()
        if self._header is None:
            if _terms(words) is None:
                raise _no_transcript()
            self._header = words
            return
        one = _round(words)
        self._require_next(one)
        self._rounds.append(one)

    def _next_sum(self, words: bytes) -> str:
        return hashlib.sha256(self._sum.encode() + b" " + words).hexdigest()

    def _write(self, words: str) -> None:
        """Add one line; the caller goes on when it is on the disk."""
        if self._file < 0:
            raise LedgerError("the transcript is closed")
        self._require_own_process()
        total = self._next_sum(words.encode())
        line = f"{total} {words}\n".encode()
        try:
            while line:
                line = line[os.write(self._file, line) :]
            synchronize(self._file)
        except OSError as problem:
            self.close()  # what reached the disk is unknown: the next opening finds out
            raise _unusable("written", problem) from None
        self._sum = total


def _terms(words: str) -> Mapping[str, Any] | None:
    """Return the terms that a first line states, None where it states none."""
    try:
        found = json.loads(words)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _began(content: bytes) -> bool:
    """Say whether content can be the beginning of a transcript, perhaps cut off, and not another kind of file."""
    first = content[: _SUM + 2]
    return re.fullmatch(rb"[0-9a-f]{64} \{|[0-9a-f]{64} ?|[0-9a-f]{1,63}", first) is not None


def _line(one: Round) -> str:
    queries = base64.b64encode(one.queries.astype("<i8").tobytes()).decode()
    signs = base64.b64encode(one.signs.tobytes()).decode()
    return f"{one.number} {queries} {signs}"


def _round(words: str) -> Round:
    """Read a line whose checksum is right."""
    try:
        number, queries, signs = words.split(" ")
        return Round(
            int(number),
            np.frombuffer(base64.b64decode(queries, validate=True), dtype="<i8").astype(np.int64),
            np.frombuffer(base64.b64decode(signs, validate=True), dtype=np.int8),
        )
    except (ValueError, binascii.Error):
        raise LedgerTampered("the transcript holds a line that discreet did not write") from None


def _no_transcript() -> LedgerMismatch:
    return LedgerMismatch("this file is no transcript, and was left as it is. Name another file. Nothing was drawn.")


def _unusable(what: str, problem: OSError | ValueError) -> LedgerError:
    words = getattr(problem, "strerror", None) or "it has no such name"
    return LedgerError(f"the transcript cannot be {what}: {words}. Nothing more was drawn.")

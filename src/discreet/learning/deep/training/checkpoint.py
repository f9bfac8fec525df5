"""The file of a training that may be interrupted: replaced as a whole, for its owner only, of one plan and one model.

The file says what the weights are and which steps they come from. It never says what may be drawn next: that is what
the ledger counts, so a file that is lost, copied or put back can cost steps and never repeats one.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import io
import json
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from discreet.display import as_stated
from discreet.errors import LedgerError, LedgerMismatch, LedgerTampered, ParameterError
from discreet.ledger.files import open_instead, open_private, synchronize, synchronize_directory

_TITLE = b"discreet checkpoint 1\n"
_SUM = 64
_MOST_HEADER = 1 << 20
_PRIVATE = "private: as secret as the rows"
_OPEN = "released: may be shown"


@dataclass(frozen=True)
class Checkpoint:
    """Where a training that may be interrupted is kept, how often, and whether secrets may be in it.

    Everything in the file was released, and may be shown, unless `secrets` are kept: who is in which step (balls in
    bins, cyclic groups), and the sums of recent steps before their noise (correlated noise). Those are as private as
    the rows; the first lines of the file name them. Without them a training that is taken up begins its noise anew,
    and skips, at full price, to the step where its sampler draws anew.

    Args:
        path: the file; it and its lock are made with mode 600.
        every: the number of steps between two savings, all of which an interruption may lose.
        secrets: whether secrets may be in the file.
    """

    path: str | os.PathLike[str]
    every: int = 10
    secrets: bool = False

    def __post_init__(self) -> None:
        if not isinstance(self.path, str | os.PathLike) or not _names_a_file(str(self.path)):
            raise ParameterError(
                "path must name a file; got another, write Checkpoint('training.checkpoint')", parameter="path"
            )
        if type(self.every) is not int or self.every < 1:
            raise ParameterError(
                f"every must be a whole number of steps, at least 1; got {as_stated(self.every)}, write every=10",
                parameter="every",
            )
        if type(self.secrets) is not bool:
            raise ParameterError(
                f"secrets must be True or False; got {as_stated(self.secrets)}, write secrets=False",
                parameter="secrets",
            )

    @property
    def place(self) -> Path:
        """The file."""
        return Path(self.path).absolute()


def stated_checkpoint(checkpoint: Any) -> Checkpoint | None:
    """Return a checkpoint as it was stated: None, a path, or the whole."""
    if checkpoint is None or isinstance(checkpoint, Checkpoint):
        return checkpoint
    if isinstance(checkpoint, str | os.PathLike):
        return Checkpoint(checkpoint)
    raise ParameterError(
        f"checkpoint must be a path or a Checkpoint; got {type(checkpoint).__name__}, write "
        "checkpoint='training.checkpoint'. Nothing was spent.",
        parameter="checkpoint",
    )


@dataclass(frozen=True)
class Saved:
    """What a file holds: the name of the run, what it is a run of, how many blocks of steps it knows, and the state."""

    run: str
    subject: Mapping[str, str]
    blocks: int
    secrets: tuple[str, ...]
    state: Mapping[str, Any]

    def require(self, subject: Mapping[str, str]) -> None:
        """Raise an error where the file is of another plan, model or way of training."""
        for name, digest in subject.items():
            if self.subject.get(name) != digest:
                raise LedgerMismatch(
                    f"the checkpoint must be of this {name}; got that of another, write another checkpoint=..., or the "
                    f"{name} with which it was begun. Nothing was spent."
                )


class CheckpointFile:
    """The file, held by one process at a time."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._process = os.getpid()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Hold the lock of the file; the operating system lets it go when the process ends, however it ends."""
        try:
            place = open_private(self._path.with_name(self._path.name + ".lock"))
        except OSError as problem:
            raise _unusable("its lock cannot be opened", problem) from None
        try:
            try:
                fcntl.flock(place, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise LedgerError(
                    "the checkpoint is in use: another training holds it. Wait for its end, or name another file. "
                    "Nothing was spent."
                ) from None
            except OSError as problem:
                raise _unusable("its lock cannot be taken", problem) from None
            yield
        finally:
            os.close(place)

    def read(self) -> Saved | None:
        """Return what the file holds, None where there is no file."""
        try:
            with os.fdopen(os.open(self._path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):  # a pipe or a device may have no end
                    raise OSError(errno.EINVAL, "not a regular file")
                content = file.read()
        except FileNotFoundError:
            return None
        except OSError as problem:
            raise _unusable("it cannot be read", problem) from None
        try:
            return _parsed(content)
        except Exception:  # whatever a foreign file makes torch raise
            raise LedgerTampered(
                "the checkpoint must be a file that discreet has written; got another, or one that was changed: name "
                "another file, or put the newest copy back. Nothing was spent."
            ) from None

    def write(self, saved: Saved) -> None:
        """Replace the file, and return when no crash can undo that."""
        fresh = self._path.with_name(self._path.name + ".new")
        try:
            with os.fdopen(open_instead(fresh, of=fresh), "wb") as file:
                os.fchmod(file.fileno(), 0o600)
                file.write(_written(saved))
                file.flush()
                synchronize(file.fileno())
            fresh.replace(self._path)
            synchronize_directory(self._path.parent)
        except OSError as problem:
            raise _unusable("it cannot be written", problem) from None


def _written(saved: Saved) -> bytes:
    """Return the bytes of a file: a title, a header that people can read, a checksum, the state."""
    held = io.BytesIO()
    torch.save(dict(saved.state), held)
    header = {
        "content": _PRIVATE if saved.secrets else _OPEN,
        "secrets": list(saved.secrets),
        "run": saved.run,
        "blocks": saved.blocks,
        **{f"digest of the {name}": digest for name, digest in saved.subject.items()},
    }
    top = _TITLE + json.dumps(header).encode("ascii") + b"\n"
    payload = held.getvalue()
    return top + hashlib.sha256(top + payload).hexdigest().encode("ascii") + b"\n" + payload


def _parsed(content: bytes) -> Saved:
    """Return what the bytes of a file say, or raise any error; nothing in the file is run."""
    if not content.startswith(_TITLE):
        raise ValueError("another file")
    end = content.index(b"\n", len(_TITLE), len(_TITLE) + _MOST_HEADER) + 1
    top, stated, payload = content[:end], content[end : end + _SUM], content[end + _SUM + 1 :]
    if hashlib.sha256(top + payload).hexdigest().encode("ascii") != stated:
        raise ValueError("changed")
    header = json.loads(top[len(_TITLE) :])
    prefix = "digest of the "
    subject = {name.removeprefix(prefix): one for name, one in header.items() if name.startswith(prefix)}
    state = torch.load(io.BytesIO(payload), map_location="cpu", weights_only=True)
    return Saved(str(header["run"]), subject, int(header["blocks"]), tuple(header["secrets"]), state)


def _names_a_file(path: str) -> bool:
    try:
        return bool(path) and b"\0" not in os.fsencode(path) and bool(Path(path).absolute().name)
    except UnicodeEncodeError:
        return False


def _unusable(why: str, problem: OSError) -> LedgerError:
    return LedgerError(
        f"the checkpoint cannot be used: {why} ({problem.strerror}). Make the place writable, or name another. Steps "
        "that were begun stay spent, and nothing more was drawn."
    )

"""Files for their owner only: made with mode 0600 from the first byte, whatever the umask says."""

from __future__ import annotations

import os
from pathlib import Path

OWNER_ONLY = 0o600


def open_private(path: Path) -> int:
    """Open a file for reading and writing and return its descriptor; one that is not there is made for its owner only.

    A file that is there keeps the mode that it has: the curator may have shared it on purpose.
    """
    ways = os.O_RDWR | os.O_CLOEXEC
    try:
        return os.open(path, ways)
    except FileNotFoundError:
        pass
    try:
        return _made(path, ways, OWNER_ONLY)
    except FileExistsError:
        return os.open(path, ways)  # somebody made it in between


def open_instead(path: Path, *, of: Path) -> int:
    """Make an empty file that will take the place of another, with the mode of that one; return its descriptor."""
    try:
        mode = of.stat().st_mode & 0o777
    except FileNotFoundError:
        mode = OWNER_ONLY
    path.unlink(missing_ok=True)  # what a crash left may have another mode
    return _made(path, os.O_WRONLY | os.O_CLOEXEC, mode)


def make_private(path: Path) -> None:
    """Make an empty file for its owner only, unless there is one.

    One that is there is not opened, not even to be closed: that would free the locks that SQLite has on it.
    """
    try:
        os.close(_made(path, os.O_RDWR | os.O_CLOEXEC, OWNER_ONLY))
    except FileExistsError:
        return


def _made(path: Path, ways: int, mode: int) -> int:
    place = os.open(path, ways | os.O_CREAT | os.O_EXCL, OWNER_ONLY)
    try:
        os.fchmod(place, mode)  # what the umask took away
    except BaseException:
        os.close(place)
        raise
    return place

"""Files that are written as a whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: str | Path, content: bytes) -> Path:
    """Write a file and return its path; what was there before stays where there is no room for the new one.

    Args:
        path: the file; what is no regular file, such as a pipe, is written to as it is.
        content: what it holds.
    """
    place = Path(path)
    if place.exists() and not place.is_file():
        place.write_bytes(content)
        return place
    target = place.resolve()
    fresh = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with fresh.open("xb") as opened:
            opened.write(content)
            opened.flush()
            os.fsync(opened.fileno())
        os.replace(fresh, target)
    finally:
        fresh.unlink(missing_ok=True)
    return place

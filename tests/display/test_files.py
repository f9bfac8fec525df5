"""Files are written as a whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from discreet.display import write_whole


def test_where_there_is_no_room_the_file_of_before_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = write_whole(tmp_path / "page.html", b"before")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    for name in ("page.html", "other.html"):
        with pytest.raises(OSError, match="No space left"):
            write_whole(tmp_path / name, b"after")
    assert place.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [place]


def test_what_is_no_regular_file_is_written_to_as_it_is(tmp_path: Path) -> None:
    assert write_whole(os.devnull, b"gone") == Path(os.devnull)
    link = tmp_path / "link.html"
    link.symlink_to(tmp_path / "page.html")
    write_whole(link, b"through")
    assert link.is_symlink()
    assert (tmp_path / "page.html").read_bytes() == b"through"

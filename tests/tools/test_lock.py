"""The lock covers what pyproject.toml states, pins everything, and says nothing about where it was made."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.lock import requirements

ROOT = Path(__file__).resolve().parent.parent.parent
LOCK = (ROOT / "requirements" / "dev.txt").read_text(encoding="utf-8")
PINNED = dict(re.findall(r"^([a-z0-9.-]+)==(\S+)", LOCK, re.MULTILINE))


@pytest.mark.parametrize("stated", requirements(ROOT))
def test_everything_stated_is_locked(stated):
    assert re.match(r"[A-Za-z0-9-]+", stated)[0].lower() in PINNED


def test_every_line_is_a_pin_a_hash_or_the_header():
    allowed = re.compile(r"#.*|[a-z0-9.-]+==\S+ \\|    --hash=sha256:[0-9a-f]{64}( \\)?")
    assert [line for line in LOCK.splitlines() if not allowed.fullmatch(line)] == []


def test_no_host_and_no_path_is_named():
    assert re.findall(r"https?:|file:|@|index-url|find-links|trusted-host|\s/", LOCK) == []


@pytest.mark.parametrize("heavy", ["torch", "pyspark"])
def test_what_is_heavy_stays_out(heavy):
    assert heavy not in PINNED

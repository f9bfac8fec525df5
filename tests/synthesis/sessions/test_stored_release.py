"""A release as text: everything comes back, and a text that is no release is refused in words."""

from __future__ import annotations

import base64
import json
import tracemalloc
import zlib
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from discreet.errors import LedgerMismatch
from discreet.synthesis.sessions.release import prepare
from discreet.synthesis.sessions.stored import from_text, to_text
from tests.synthesis.sessions.test_sessions import counting, open_session, workload_of


def test_everything_in_a_release_survives_being_stored() -> None:
    with open_session() as session:
        made = prepare(session, "visits", workload_of(session), counting([]), people=60, epsilon=1)
        release = made.release()
        again = from_text(to_text(release) or "", made.made)
        third, infinite, nothing, deep = again.evidence["odd"]
        assert (third, infinite, nothing) == (Fraction(1, 3), float("inf"), None)
        assert deep["deep"][0] == 4
        assert deep["deep"][1].tolist() == [0, 1, 2]
        assert np.array_equal(again.answers, release.answers)
        assert again.table.weights is None
        assert again.deviations is None


def altered(text: str, **changes: Any) -> str:
    return json.dumps({**json.loads(text), **changes})


def array(kind: str, shape: list[int], content: bytes) -> dict[str, Any]:
    return {"array": [kind, shape, base64.b64encode(zlib.compress(content)).decode()]}


def test_a_stored_text_that_is_no_release_is_refused_in_words() -> None:
    with open_session() as session:
        prepared = prepare(session, "visits", workload_of(session), counting([]), people=60, epsilon=1)
        text = to_text(prepared.release()) or ""
        assert from_text(text, prepared.made).method == "counted"
        wrong = [
            "", "null", "7", "[]", "{}", "NaN", "[" * 100_000, text[:-1],
            altered(text, format=1), altered(text, workload="0" * 64), altered(text, method=3),
            altered(text, plan=[]), altered(text, evidence=None), altered(text, codes=None),
            altered(text, codes={"pickle": "x"}), altered(text, codes={"array": 3, "list": []}),
            altered(text, answers=array("<f8", [3], b"\0" * 24)),
            altered(text, answers=array("|O", [12], b"\0" * 96)),
            altered(text, answers=array("<f8", [1 << 62], b"\0")),
            altered(text, answers=array("<f8", [-12], b"\0" * 96)),
            altered(text, answers=array("<f8", [12], b"\0" * 97)),
            altered(text, answers={"array": ["<f8", [12], "!"]}),
            altered(text, answers={"array": ["<f8", [12], "AAAA"]}),
            altered(text, deviations=array("<f8", [1], b"\0" * 8)),
            altered(text, weights=array("<f8", [60], np.full(60, np.nan).tobytes())),
            altered(text, codes=array("<u2", [2, 60], b"\xff" * 240)),
            altered(text, plan={"fraction": "1/0"}),
        ]  # fmt: skip
        for one in wrong:
            with pytest.raises(LedgerMismatch, match="Nothing was spent") as caught:
                from_text(one, prepared.made)
            assert caught.value.__cause__ is None


def test_what_a_stored_array_unpacks_to_is_no_longer_than_it_says() -> None:
    with open_session() as session:
        prepared = prepare(session, "visits", workload_of(session), counting([]), people=60, epsilon=1)
        text = to_text(prepared.release()) or ""
        bomb = altered(text, answers=array("<f8", [12], b"\0" * (64 << 20)))
        tracemalloc.start()
        with pytest.raises(LedgerMismatch):
            from_text(bomb, prepared.made)
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
        tracemalloc.stop()

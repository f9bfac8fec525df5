"""The published vectors: current, small, complete, and true by themselves."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from discreet.errors import ParameterError
from discreet.local import Keys, ReportBatch, Spec
from discreet.local.protocol.spec import _PROTOCOLS
from discreet.randomness.rigor import ball, precision
from tools.clients.vectors import FOLDER, ROOT, main, text_of, vectors

FILES = sorted((ROOT / FOLDER).glob("*.json"))
READ: dict[str, Any] = {path.stem: json.loads(path.read_text(encoding="ascii")) for path in FILES}
ENTRIES = [
    pytest.param(entry, id=f"{name} {place}")
    for name, file in READ.items()
    for place, entry in enumerate(file.get("specs", []))
]


def test_the_files_are_what_the_protocols_say_today():
    made = vectors()
    assert sorted(made) == [path.stem for path in FILES]
    for path in FILES:
        assert path.read_text(encoding="ascii") == text_of(made[path.stem]), path.name


def test_the_tool_writes_the_same_files_again(tmp_path):
    assert main(["--folder", str(tmp_path)]) == 0
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        path.name: path.read_bytes() for path in FILES
    }


def test_there_are_vectors_for_every_protocol_that_has_a_small_client():
    listed = {name for name, file in READ.items() if "specs" in file}
    assert {name for name, kind in _PROTOCOLS.items() if kind.__module__.startswith("discreet.")} - listed == {
        "unit-vectors"
    }


def test_all_files_together_are_small():
    assert sum(path.stat().st_size for path in FILES) < 300_000


@pytest.mark.parametrize("entry", ENTRIES)
def test_a_digest_is_the_hash_of_the_text_that_is_printed(entry):
    assert hashlib.sha256(entry["spec"].encode("ascii")).hexdigest() == entry["digest"]
    assert Spec.from_json(entry["spec"]).digest.hex() == entry["digest"]


@pytest.mark.parametrize("entry", ENTRIES)
def test_published_probabilities_add_up_and_keep_the_guarantee(entry):
    masses = [Fraction(mass) for mass in entry["probabilities"]]
    laws = [[masses[number] for number in law["law"]] for law in entry["laws"]]
    assert all(sum(law) == 1 for law in laws)
    largest = max(max(a / b, b / a) for one, two in combinations(laws, 2) for a, b in zip(one, two, strict=True))
    epsilon = Fraction(json.loads(entry["spec"])["epsilon"])
    with precision(256):
        assert ball(largest) <= ball(epsilon).exp()
        assert ball(largest).log() >= ball(Fraction(99, 100) * epsilon)


@pytest.mark.parametrize("bad", [pytest.param(bad["spec"], id=bad["why"]) for bad in READ["refused"]["refused"]])
def test_every_spec_that_a_client_must_refuse_is_refused_here(bad):
    with pytest.raises(ParameterError):
        Spec.from_json(bad)


def test_published_batches_are_read_back():
    for entry in READ["batches"]["batches"]:
        read = ReportBatch.from_bytes(bytes.fromhex(entry["bytes"]))
        assert read.digest.hex() == entry["digest"]
        assert read.reports.tolist() == entry["reports"]


def test_published_keys_decode_to_themselves():

    for entry in READ["hashing"]["keys"]:
        kind = Keys.from_text(entry["keys"])
        (value,) = kind.decode(np.array([entry["words"]], dtype=np.uint32))
        assert (value.hex() if isinstance(value, bytes) else str(value)) == entry["value"]

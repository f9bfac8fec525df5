"""Three readers of hostile specs agree: the library, the one-file client, and its port to JavaScript."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tracemalloc
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from clients.python import standalone
from discreet.data.invention import coins
from discreet.errors import ParameterError
from discreet.local import DirectResponse, HybridGeometry, OneBitHadamard, ProjectiveGeometry, Spec
from tests.conftest import Rounds
from tools.clients.vectors import ROOT

CLIENT = ROOT / "clients/javascript/client.mjs"
READ = Path(__file__).parent / "read_specs.mjs"
BASES = [
    DirectResponse(epsilon=1, categories=("tea", 'süd\x7f"\\\n', "\U0001f375")),
    DirectResponse(epsilon=Fraction(7, 3), categories=1 << 40),
    OneBitHadamard(epsilon=Fraction(1, 2), categories=("a", "b", "[{", "0", "\u2028")),
    ProjectiveGeometry(epsilon=2, categories=13, prime=3, dimension=3),
    HybridGeometry(epsilon=6, categories=20, blocks=3, prime=2, dimension=3),
]
ODD: list[Any] = [
    *(0, 1, 2, 3, 4, 5, -1, -0, 1 << 30, 1 << 40, (1 << 40) + 1, (1 << 53) - 1, 1 << 53, 10**20, 1.0, 1.5, 1e300),
    *(
        "",
        "1",
        "2",
        "1/2",
        "2/2",
        "4/2",
        "1/1024",
        "20",
        "21",
        "+1",
        "1e1",
        " 1",
        "1\n",
        "\u0661",
        "9" * 400,
        str(1 << 53),
    ),
    *(None, True, False, [], {}, [1], [[]], ["a"], ["a", "b", "c"], ["a", "a", "b"], ["", "a", "b"], {"a": 1}),
    *(["x" * 1024, "a", "b"], ["x" * 1025, "a", "b"], ["\U0001f375" * 1024, "a", "b"], ["\ud800", "a", "b"]),
    *("discreet.local", "randomized-response", ["randomized-response"], ["one-bit-hadamard"], "hashed-geometry"),
    *("__proto__", "constructor", "toString", {"coin": "1"}, [["randomized-response"]]),
]
PIECES = ['"', "\\", "[", "{", "]", "}", ",", ":", " ", "\t", "\r\n", "0", "1", "-", ".", "e9", "null", "NaN", "\u00a0"]
PIECES += [
    "\ufeff",
    "\\u0000",
    "\\ud800",
    "\\udc00",
    "\\u00FC",
    "\\/",
    "\x00",
    "\x1f",
    "é",
    "\U0001f375",
    "\ud800",
    "\v",
]
PIECES += [
    "Infinity",
    "-Infinity",
    '"epsilon":"1",',
    '"categories":3,',
    '"__proto__":1,',
    "true",
    "/**/",
    "'",
    "1e999999",
]


def accepts(read: Callable[[str], Any], text: str, refusal: type[Exception]) -> bool:
    try:
        read(text)
    except refusal:
        return False
    return True


def written(fields: dict[str, Any]) -> str:
    return json.dumps(fields, sort_keys=True, separators=(",", ":"))


def by_fields() -> list[str]:
    """Every field of every spec in turn is set to something odd, left out, or joined by a new one."""
    found = []
    for spec in BASES:
        fields = json.loads(spec.to_json())
        derived = fields["derived"]
        for odd in ODD:
            found += [written({**fields, name: odd}) for name in (*fields, "new", "__proto__")]
            found += [written({**fields, "derived": {**derived, name: odd}}) for name in (*derived, "new")]
        found += [written({key: value for key, value in fields.items() if key != name}) for name in fields]
    return found


def by_letters(count: int) -> list[str]:
    """Texts of specs with one to three pieces put in, taken out or put in place of others."""
    source, found = coins(15), []
    for number in range(count):
        spec = BASES[number % len(BASES)]
        spaced = number % 3 == 0
        text = (
            json.dumps(json.loads(spec.to_json()), indent=1, ensure_ascii=number % 2 == 0) if spaced else spec.to_json()
        )
        for _ in range(int(source.integers(0, 4))):
            place, width = int(source.integers(0, len(text) + 1)), int(source.integers(0, 4))
            piece = PIECES[int(source.integers(0, len(PIECES)))] if source.random() < 0.7 else ""
            text = text[:place] + piece + text[place + width :]
        found.append(text)
    return found


def by_hand() -> list[str]:
    """What readers of JSON are known to disagree about."""
    good, numbered = BASES[0].to_json(), DirectResponse(epsilon=1, categories=3).to_json()
    deep = [good.replace('"categories":[', f'"categories":{"[" * depth}') for depth in (2, 999, 1_000, 5_000, 100_000)]
    numbers = ["1" * 1_000_000, "1e999999", "-0", "01", "1.", ".5", "+1", "0x1", "1_0", "NaN", "Infinity", "9" * 17]
    brackets = [written({**json.loads(good), "new": [[]] * count}) for count in (900, 1_200)]
    inside = DirectResponse(epsilon=1, categories=("[" * 1_024, "{" * 1_000 + '"\\')).to_json()
    ends = [good + end for end in ("\n", " \t\r\n", "\u00a0", "\x00", "x", "{}", ",", "\ufeff")]
    starts = [start + good for start in ("\ufeff", "\n", "\u00a0", "[", "/**/")]
    sides = [*ends, *starts, "", " ", "null", "1", "[]", "{}", '"', '{"', '{"a', "{" * 2_000, '[{"a":' * 5_000]
    return [
        *sides,
        *deep,
        *brackets,
        inside,
        *(good.replace('"version":2', f'"version":{number}') for number in numbers),
        *(numbered.replace('"categories":3', f'"categories":{number}') for number in numbers),
        numbered.replace('"categories":3', '"categories":3,"categories":3'),
        good.replace('"epsilon"', '"\\u0065psilon"'),
        good.replace("\\u00fc", "\\u00FC"),
        good.replace("\\u00fc", "ü"),
        good.replace("\\ud83c\\udf75", "\\ud83c"),
        good.replace("\\ud83c\\udf75", "\\udf75\\ud83c"),
        good.replace("\\ud83c\\udf75", "\U0001f375"),
    ]


def by_size() -> list[str]:
    """Texts and labels around the limits."""
    good = BASES[0].to_json()
    many = written({**json.loads(good), "categories": ["x" * 1_000 + f"{place:05}" for place in range(4_300)]})
    return [good + " " * ((1 << 25) - len(good) + more) for more in (0, 1)] + [many]


def as_node_reads(texts: list[str]) -> list[bool]:
    """Say which texts the port accepts, in one run."""
    command = [shutil.which("node") or "node", str(READ), str(CLIENT)]
    ran = subprocess.run(  # noqa: S603
        command, input=json.dumps(texts), capture_output=True, text=True, timeout=600, check=True
    )
    return list(json.loads(ran.stdout))


@pytest.mark.needs("node")
def test_three_readers_accept_and_refuse_the_same_texts(rounds: Rounds) -> None:
    texts = [*by_hand(), *by_fields(), *by_letters(rounds(sample=2_000, full=60_000))]
    library = [accepts(Spec.from_json, text, ParameterError) for text in texts]
    spoken = [library[place] and json.loads(text)["protocol"] in SPOKEN for place, text in enumerate(texts)]
    assert [accepts(standalone.Client, text, standalone.SpecRefused) for text in texts] == library
    found = as_node_reads(texts)
    assert [text for place, text in enumerate(texts) if found[place] != spoken[place]] == []
    assert 500 < sum(spoken) < len(texts) - 2_000


SPOKEN = {"randomized-response", "one-bit-hadamard", "projective-geometry", "hybrid-geometry"}


@pytest.mark.needs("node")
def test_three_readers_agree_about_sizes() -> None:
    texts = by_size()
    library = [accepts(Spec.from_json, text, ParameterError) for text in texts]
    assert library == [True, False, False]
    assert [accepts(standalone.Client, text, standalone.SpecRefused) for text in texts] == library
    assert as_node_reads(texts) == library


SHAPES = {
    "a long text": lambda size: '{"a":"' + "x" * size + '","b":' + "[" * 2_000,
    "backslashes": lambda size: '{"a":"' + "\\\\" * (size // 2) + '","b":' + "[" * 2_000,
    "an open text": lambda size: '{"a":"' + "[" * size,
    "an open escape": lambda size: '{"a":"' + "[" * size + "\\",
    "short texts": lambda size: "[" * 1_001 + '"",' * (size // 3),
    "lists": lambda size: '{"a":[' + "[]," * (size // 3),
    "objects": lambda size: '{"a":[' + "{}," * (size // 3),
    "depth": lambda size: "[" * size,
    "digits": lambda size: '{"version":' + "1" * size + "}",
    "an exponent": lambda size: '{"version":1e' + "9" * size + "}",
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("reader", ["file", "library"])
def test_a_hostile_text_takes_a_small_multiple_of_its_own_size(reader: str, shape: str) -> None:
    text = SHAPES[shape](1 << 20)
    read, refusal = {
        "file": (standalone.Client, standalone.SpecRefused),
        "library": (Spec.from_json, ParameterError),
    }[reader]
    tracemalloc.start()
    try:
        assert not accepts(read, text, refusal)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 8 * len(text)  # the regular expression of old took 40 times as much and more


@pytest.mark.parametrize("text", ["x" * ((1 << 25) + 1), "é" * ((1 << 24) + 1)])
def test_a_text_that_is_too_long_is_refused_before_it_is_parsed(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(json, "loads", lambda *_, **__: pytest.fail("it was parsed"))
    monkeypatch.setattr(standalone, "shallow", lambda _: pytest.fail("it was searched"))
    assert not accepts(standalone.Client, text, standalone.SpecRefused)
    assert not accepts(Spec.from_json, text, ParameterError)


class Counted(str):
    """A label that counts how often it is compared."""

    __slots__ = ()
    compared = 0

    def __eq__(self, other: object) -> bool:
        Counted.compared += 1
        return str.__eq__(self, other)

    __hash__ = str.__hash__


@pytest.mark.parametrize("held", [0, 500, 999])
def test_a_label_is_looked_up_with_the_same_work_wherever_it_stands(held: int) -> None:
    names = tuple(f"label {place}" for place in range(1_000))
    spec = DirectResponse(epsilon=1, categories=names)
    own = standalone.Client(spec.to_json()).protocol
    for find in (own.item, own.parse, lambda value: spec.items([value])):
        Counted.compared = 0
        find(Counted(f"label {held}"))
        assert Counted.compared <= 2  # one for the entry that the hash points to, one if another shares its place


def test_the_port_looks_labels_up_by_a_table() -> None:
    text = CLIENT.read_text(encoding="utf-8")
    assert "names.indexOf" not in text
    assert "names.includes" not in text
    assert "places.get(value)" in text


ENVIRONMENTS = [
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"PYTHONIOENCODING": "latin-1"},
    {"LC_ALL": "C.UTF-8"},
]


def run_file(spec: Path, value: str | bytes, given: bytes, environment: dict[str, str]) -> tuple[int, bytes, bytes]:
    """Run the one-file client as a program."""
    command = [sys.executable, "-I" if not environment else "-B", standalone.__file__, str(spec), value]
    ran = subprocess.run(  # noqa: S603
        command, input=given, capture_output=True, timeout=600, check=False, env={**os.environ, **environment}
    )
    return ran.returncode, ran.stdout, ran.stderr


@pytest.mark.parametrize("environment", ENVIRONMENTS)
def test_a_value_is_read_as_utf_8_whatever_the_locale(tmp_path: Path, environment: dict[str, str]) -> None:
    spec = tmp_path / "spec.json"
    spec.write_text(DirectResponse(epsilon=20, categories=("süd", "\U0001f375")).to_json(), encoding="ascii")
    for label in ("süd", "\U0001f375"):
        for value, given in (("-", label.encode() + b"\r\nmore"), (label.encode(), b"")):
            status, out, err = run_file(spec, value, given, environment)
            assert (status, err) == (0, b"")
            assert int(out) in (0, 1)
    for value, given in (("-", b"s\xfcd\n"), (b"s\xfcd", b""), ("-", b"s\xc3\xbcd" * 4_000)):
        status, out, err = run_file(spec, value, given, environment)
        assert (status, out) == (1, b"")
        assert len(err.splitlines()) == 1
        assert err.endswith(b"nothing was reported\n") or err.endswith(b"nothing was reported\r\n")
        assert b"xfc" not in err


@pytest.mark.needs("node")
def test_the_port_reads_a_value_and_a_spec_as_utf_8_and_nothing_else(tmp_path: Path) -> None:
    text = DirectResponse(epsilon=20, categories=("süd", "\ufffd")).to_json()
    spec, mark, bad = tmp_path / "spec.json", tmp_path / "mark.json", tmp_path / "bad.json"
    spec.write_text(text, encoding="ascii")
    mark.write_text(text, encoding="utf-8-sig")
    bad.write_bytes(text.encode("ascii").replace(b"s\\u00fcd", b"s\xfcd"))
    node = shutil.which("node") or "node"
    for path, given, status in ((spec, b"s\xc3\xbcd\n", 0), (spec, b"s\xfcd\n", 1), (mark, b"0", 1), (bad, b"0", 1)):
        ran = subprocess.run(  # noqa: S603
            [node, str(CLIENT), str(path), "-"], input=given, capture_output=True, timeout=600, check=False
        )
        assert ran.returncode == status
        assert bool(ran.stdout) == (status == 0)
        assert len(ran.stderr.splitlines()) == status

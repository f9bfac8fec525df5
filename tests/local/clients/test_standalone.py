"""The single-file client: it needs nothing, trusts nobody, and reports by the published law exactly."""

from __future__ import annotations

import ast
import copy
import json
import math
import os
import pickle
import re
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from fractions import Fraction
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import pytest

from clients.python import standalone
from discreet.errors import ParameterError
from discreet.local import (
    DirectResponse,
    DuchiBit,
    HashedGeometry,
    HybridGeometry,
    HybridMean,
    OneBitHadamard,
    ProjectiveGeometry,
    Spec,
    UnitVectors,
)
from discreet.local.heavy_hitters.protocol import HeavyHitters
from discreet.local.protocol.client import ReportBatch
from discreet.randomness.rigor import ball, precision
from tests.local.clients.test_vectors import ENTRIES, READ

FILE = Path(standalone.__file__)
ONE = Fraction(1)
FALSE_ALARM = 1e-10
PEOPLE = 2000


def client(spec: Spec) -> standalone.Client:
    return standalone.Client(spec.to_json())


def value_of(entry: dict[str, Any], written: Any) -> Any:
    """The value that a vector means."""
    fields = json.loads(entry["spec"])
    if "bounds" in fields:
        return Fraction(written)
    kind = fields.get("keys", "").partition(":")[0]
    return {"integer": int, "text": str, "bytes": bytes.fromhex}.get(kind, int)(written)


def published(entry: dict[str, Any]) -> Iterator[tuple[Any, list[Fraction]]]:
    """Every value of an entry with its law."""
    masses = [Fraction(mass) for mass in entry["probabilities"]]
    for law in entry["laws"]:
        yield value_of(entry, law["value"]), [masses[number] for number in law["law"]]


class Script:
    """Answers every draw by the options chosen so far, then by the first, and writes down the others."""

    def __init__(self, chosen: tuple[int, ...]) -> None:
        self.chosen, self.mass, self.others = chosen, Fraction(1), []
        self.taken: tuple[int, ...] = ()

    def answer(self, options: list[tuple[Any, Fraction]]) -> Any:
        options = [option for option in options if option[1] > 0]
        place = len(self.taken)
        number = self.chosen[place] if place < len(self.chosen) else 0
        if place >= len(self.chosen):
            self.others += [(*self.taken, other) for other in range(1, len(options))]
        self.taken = (*self.taken, number)
        self.mass *= options[number][1]
        return options[number][0]

    def toss(self, coin: int) -> bool:
        heads = Fraction(coin, standalone.COIN_TOTAL)
        return bool(self.answer([(True, heads), (False, 1 - heads)]))

    def uniform_below(self, bound: int) -> int:
        return int(self.answer([(number, Fraction(1, bound)) for number in range(bound)]))


@contextmanager
def scripted(script: Script) -> Iterator[None]:
    """Replace the randomness of the file; anything else that is drawn fails."""

    def unscripted(count: int) -> int:
        raise AssertionError(f"{count} bits were drawn past the coin and the uniform integers")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(standalone, "toss", script.toss)
        patch.setattr(standalone, "uniform_below", script.uniform_below)
        patch.setattr(standalone, "random_bits", unscripted)
        yield


def enumerated(draw: Callable[[], int]) -> dict[int, Fraction]:
    """The exact law of what is drawn, by walking all choices."""
    law: dict[int, Fraction] = defaultdict(Fraction)
    waiting: list[tuple[int, ...]] = [()]
    while waiting:
        script = Script(waiting.pop())
        with scripted(script):
            law[draw()] += script.mass
        waiting += script.others
    return law


def fed(monkeypatch: pytest.MonkeyPatch, words: list[int]) -> list[int]:
    """Let the random bits be these; return how many bits were asked for, as they are."""
    asked: list[int] = []

    def bits(count: int) -> int:
        asked.append(count)
        return words.pop(0)

    monkeypatch.setattr(standalone, "random_bits", bits)
    return asked


def test_the_file_imports_the_standard_library_only():
    tree = ast.parse(FILE.read_text(encoding="utf-8"), feature_version=(3, 9))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    roots = {name.partition(".")[0] for name in names}
    assert roots <= sys.stdlib_module_names
    assert "random" not in roots, "its reports are drawn from the operating system alone"
    assert not any(isinstance(node, ast.ImportFrom) and node.level for node in ast.walk(tree))


def alone(folder: Path, *arguments: str, given: str = "") -> subprocess.CompletedProcess[str]:
    """Run a copy of the file in a folder of its own, without site packages."""
    shutil.copy(FILE, folder / "client.py")
    command = [sys.executable, "-I", "-S", "client.py", *arguments]
    return subprocess.run(  # noqa: S603 - our own file, run by our own interpreter
        command, cwd=folder, input=given, capture_output=True, text=True, timeout=600, check=False
    )


def test_a_copy_of_the_file_reports_where_nothing_is_installed(tmp_path):
    spec = ProjectiveGeometry.best(epsilon=1, categories=1000)
    (tmp_path / "spec.json").write_text(spec.to_json(), encoding="ascii")
    ran = alone(tmp_path, "spec.json", "17")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert int(ran.stdout) in range(spec.cells)


def test_a_value_may_come_from_the_input_where_no_list_of_processes_shows_it(tmp_path):
    spec = HashedGeometry(epsilon=ONE, keys="text:24", prime=3, dimension=7, rows=4, seed=1)
    (tmp_path / "spec.json").write_text(spec.to_json(), encoding="ascii")
    ran = alone(tmp_path, "spec.json", "-", given="tea house\n")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert int(ran.stdout) in range(spec.cells)


@pytest.mark.parametrize("given", ["4711", "-4711", "secret", ""])
def test_the_command_refuses_a_value_without_showing_it(tmp_path, given):
    (tmp_path / "spec.json").write_text(DirectResponse(epsilon=ONE, categories=4).to_json(), encoding="ascii")
    ran = alone(tmp_path, "spec.json", given)
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr == "refused: a value must be an int from 0 to 3, or a name; nothing was reported\n"


def test_the_command_refuses_a_spec_that_is_not_there_or_not_private(tmp_path):
    good = DirectResponse(epsilon=ONE, categories=4).to_json()
    (tmp_path / "spec.json").write_text(good.replace('"epsilon":"1"', '"epsilon":"1/2"'), encoding="ascii")
    assert "breaks its guarantee" in alone(tmp_path, "spec.json", "3").stderr
    assert alone(tmp_path, "none.json", "3").stderr == "refused: the spec cannot be read\n"
    assert alone(tmp_path).returncode == 2


@pytest.mark.parametrize("entry", ENTRIES)
def test_the_sampler_has_the_published_law_exactly(entry):
    one = standalone.Client(entry["spec"])
    for value, law in published(entry):
        found = enumerated(lambda value=value: one.protocol.draw(one.protocol.item(value)))
        assert [found[report] for report in range(one.cells)] == law
        assert set(found) <= set(range(one.cells))


@pytest.mark.parametrize("entry", ENTRIES)
def test_the_stated_law_is_the_published_one_and_that_of_the_library(entry):
    one, spec = standalone.Client(entry["spec"]), Spec.from_json(entry["spec"])
    for value, law in published(entry):
        assert one.law(value) == law == list(spec.law(value).probabilities)


@pytest.mark.parametrize("entry", ENTRIES)
def test_digest_and_size_of_a_report_are_the_published_ones(entry):
    one = standalone.Client(entry["spec"])
    assert (one.digest.hex(), one.report_bytes) == (entry["digest"], entry["report_bytes"])


@pytest.mark.parametrize("bound", [*range(1, 40), 255, 256, 257])
def test_a_uniform_integer_is_each_number_below_its_bound_once(monkeypatch, bound):
    bits = (bound - 1).bit_length()
    for word in range(1 << bits):
        asked = fed(monkeypatch, [word, bound - 1])
        assert standalone.uniform_below(bound) == (word if word < bound else bound - 1)
        assert asked == [bits] * (1 if word < bound else 2)


@pytest.mark.parametrize("coin", [0, 1, 2**63, 2**64 - 1, 2**64])
def test_a_coin_is_one_word_below_its_numerator(monkeypatch, coin):
    words = [word for word in (0, coin - 1, coin, 2**64 - 1) if 0 <= word < 2**64]
    for word in words:
        asked = fed(monkeypatch, [word])
        assert standalone.toss(coin) == (word < coin)
        assert asked == [64]


def test_random_bits_come_from_the_operating_system():
    drawn = {standalone.random_bits(256) for _ in range(4)}
    assert len(drawn) == 4
    assert all(0 <= number < 1 << 256 for number in drawn)
    assert re.search(r"def random_bits\(.*?return secrets\.randbits\(count\)", FILE.read_text(), re.DOTALL)
    assert FILE.read_text().count("secrets.") == 1


@pytest.mark.parametrize("entry", READ["coins"]["coins"], ids=lambda entry: f"{entry['epsilon'][:9]} {entry['inside']}")
def test_the_coin_is_the_largest_that_keeps_the_guarantee(entry):
    epsilon, inside, outside = Fraction(entry["epsilon"]), entry["inside"], entry["outside"]
    coin, exp = int(entry["coin"]), standalone.exp_below(epsilon)
    assert standalone.largest_coin(epsilon, inside, outside) == coin
    assert standalone.keeps_guarantee(coin, inside, outside, exp)
    assert not standalone.keeps_guarantee(coin + 1, inside, outside, exp)


@pytest.mark.parametrize(
    "epsilon", [Fraction(1, 1024), Fraction(1, 3), ONE, Fraction(7, 3), Fraction(0.1), Fraction(20)]
)
def test_the_bound_on_the_exponential_is_below_it_and_near(epsilon):
    bound = standalone.exp_below(epsilon)
    with precision(512):
        exact = ball(epsilon).exp() * ball(1 << standalone.EXP_BITS)
        assert ball(bound) <= exact
        assert exact <= ball(bound + (1 << 40))


@pytest.mark.parametrize("bad", [pytest.param(bad["spec"], id=bad["why"]) for bad in READ["refused"]["refused"]])
def test_a_spec_that_is_wrong_anywhere_is_refused(bad):
    with pytest.raises(standalone.SpecRefused) as refusal:
        standalone.Client(bad)
    assert refusal.value.__cause__ is None
    assert refusal.value.__context__ is None


@pytest.mark.parametrize("why", ["randomized response", "projective geometry", "keys"])
def test_a_coin_one_too_large_is_said_to_break_the_guarantee(why):
    (bad,) = (bad["spec"] for bad in READ["refused"]["refused"] if bad["why"] == f"{why}: the coin is one too large")
    with pytest.raises(standalone.SpecRefused, match="breaks its guarantee"):
        standalone.Client(bad)


def test_a_coin_that_prefers_the_other_outputs_keeps_no_guarantee():
    exp = standalone.exp_below(ONE)
    assert not standalone.keeps_guarantee(0, 1, 1, exp)
    assert not standalone.keeps_guarantee(standalone.COIN_TOTAL // 2, 1, 1, exp)
    assert standalone.keeps_guarantee(standalone.COIN_TOTAL // 2 + 1, 1, 1, exp)
    assert not standalone.keeps_guarantee(standalone.COIN_TOTAL, 1, 1, exp)


ODD: list[Any] = [
    *(0, 1, 2, 3, 4, 5, 7, 9, -1, 1 << 15, 1 << 16, (1 << 16) + 1, 1 << 30, 1 << 40, (1 << 40) + 1, (1 << 53) - 1),
    *("", "0", "1", "2", "1/2", "-1/2", "1/1024", "20", "tea", "9" * 400, str(1 << 53), str(1 << 64), 1.5, None),
    *("text:7", "text:1024", "bytes:65", "integer:7", "integer:257", True, False, [], {}, [1], ["a"], ["a", "b"]),
]


def accepts(read: Callable[[str], Any], text: str, refusal: type[Exception]) -> bool:
    try:
        read(text)
    except refusal:
        return False
    return True


@pytest.mark.parametrize("name", sorted(standalone.PROTOCOLS))
def test_the_file_and_the_library_accept_the_same_texts(name):
    """Every field in turn is set to something odd; the library decides by other code."""
    both: list[bool] = []
    for entry in READ[name]["specs"][::4]:
        fields = json.loads(entry["spec"])
        changed = [{**fields, field: odd} for field in (*fields, "new") for odd in ODD]
        derived = fields["derived"]
        changed += [{**fields, "derived": {**derived, field: odd}} for field in (*derived, "new") for odd in ODD]
        for text in (json.dumps(one, sort_keys=True, separators=(",", ":")) for one in changed):
            both.append(accepts(Spec.from_json, text, ParameterError))
            assert accepts(standalone.Client, text, standalone.SpecRefused) == both[-1], text
    assert {True, False} == set(both)


def test_planes_of_a_composite_number_differ_in_size_so_that_the_check_is_needed():
    sizes = {
        sum((x * u + y * v + z * w) % 4 == 0 for u in range(4) for v in range(4) for w in range(4))
        for x, y, z in ((1, 0, 0), (2, 0, 0))
    }
    assert len(sizes) == 2


def test_a_protocol_that_the_file_does_not_speak_is_named_as_such():
    spec = UnitVectors(epsilon=ONE, dimension=2, codewords=5, cap=2, codebooks=2)
    with pytest.raises(standalone.SpecRefused, match=r"this client speaks .* heavy-hitters"):
        client(spec)


@pytest.mark.parametrize("text", ["", "null", "[" * 5000, '{"a":' * 5000, "{}", '{"protocol":[]}', None, b"{}"])
def test_hostile_text_is_refused_without_a_chain(text):
    with pytest.raises(standalone.SpecRefused) as refusal:
        standalone.Client(text)
    assert refusal.value.__context__ is None


def test_spaces_in_a_text_change_nothing_but_the_text():
    spec = DirectResponse(epsilon=ONE, categories=("tea", "süd", "[{"))
    spaced = json.dumps(json.loads(spec.to_json()), indent=3, ensure_ascii=False)
    assert standalone.Client(spaced).digest == spec.digest


def test_labels_and_numbers_mean_the_same_value():
    spec = DirectResponse(epsilon=ONE, categories=("tea", "coffee", "2"))
    one = client(spec)
    assert [one.protocol.item(value) for value in ("tea", "coffee", "2", 0, 1, 2)] == [0, 1, 2, 0, 1, 2]
    assert [one.protocol.parse(text) for text in ("tea", "2", "1", "x")] == ["tea", "2", 1, None]


@pytest.mark.parametrize(
    ("spec", "values"),
    [
        (DirectResponse(epsilon=ONE, categories=4), [4, -1, True, 1.0, "1", None, [1], 2**70]),
        (HashedGeometry(epsilon=ONE, keys="text:3", prime=2, dimension=3, rows=2, seed=1), ["four", "\0", "\ud800", 7]),
        (DuchiBit(epsilon=ONE, bounds=(0, ONE)), [-0.1, 2, math.nan, math.inf, True, "1", None]),
    ],
)
def test_a_refused_value_is_not_shown_and_spends_nothing(spec, values):
    one = client(spec)
    for value in values:
        with pytest.raises(standalone.ValueRefused) as refusal:
            one.report(value)
        assert refusal.value.__context__ is None
        assert str(refusal.value).endswith("nothing was reported")
    good = {"categories": 3, "keys": "tea", "bounds": 0.25}
    assert one.report(next(good[name] for name in good if hasattr(spec, name))) in range(spec.cells)


@pytest.mark.parametrize("entry", READ["hashing"]["refused_keys"])
def test_what_is_no_key_is_refused(entry):
    value = {"integer": int, "text": str, "bytes": bytes.fromhex}[entry["keys"].partition(":")[0]](entry["value"])
    with pytest.raises(standalone.ValueRefused):
        standalone.Keys(entry["keys"]).encode(value)


def test_keys_hashes_and_scrambles_are_the_published_ones():
    hashing = READ["hashing"]
    for entry in hashing["keys"]:
        kind = standalone.Keys(entry["keys"])
        value = {"integer": int, "text": str, "bytes": bytes.fromhex}[kind.name](entry["value"])
        assert kind.encode(value) == entry["words"]
    for entry in hashing["constants"]:
        numbers = [int(entry[name]) for name in ("seed", "purpose", "row", "index")]
        assert f"{standalone.constant(*numbers):064x}" == entry["hex"]
    for entry in hashing["buckets"]:
        for row, found in enumerate(entry["rows"]):
            hashed = standalone.bucket(int(entry["seed"]), entry["purpose"], row, entry["words"], entry["range"])
            assert hashed == found
    for entry in hashing["scrambles"]:
        assert standalone.scramble(int(entry["seed"]), entry["bits"], int(entry["number"])) == int(entry["sent"])


@pytest.mark.parametrize("name", ["hashed-geometry", "heavy-hitters"])
def test_a_key_has_its_published_point_in_every_row(name):
    for entry in READ[name]["specs"]:
        protocol = standalone.Client(entry["spec"]).protocol
        for point in entry["points"]:
            words = protocol.item(value_of(entry, point["value"]))
            assert words == point["words"]
            assert [protocol.point(words, row) for row in range(protocol.rows)] == point["rows"]
            if "address" in point:
                assert protocol.address(words) == point["address"]


@pytest.mark.parametrize("keys", ["integer:8", "integer:48", "integer:64", "integer:200", "text:20", "bytes:6"])
def test_addresses_and_points_of_planned_specs_are_those_of_the_library(keys):
    spec = HeavyHitters.plan(people=100_000, epsilon=2, keys=keys, seed=2**200 + 5)
    key = {"i": 200, "t": "süd", "b": b"abc\0ef"}[keys[0]]
    protocol = client(spec).protocol
    words, address = protocol.item(key), spec.address.of(spec.kind.encode([key]))
    assert protocol.address(words) == address[0].tolist()
    lengths = (*spec.levels, spec.levels[-1])
    points = [
        group.hash.buckets(spec.address.prefix(address, length))[0].tolist()
        for group, length in zip(spec.groups, lengths, strict=True)
    ]
    assert [protocol.point(words, row) for row in range(protocol.rows)] == [point for rows in points for point in rows]


def test_planes_and_places_are_the_published_ones():
    for entry in READ["geometry"]["spaces"]:
        space = standalone.Geometry(entry["prime"], entry["dimension"])
        assert (space.points, space.on_plane) == (entry["points"], entry["on_plane"])
        for x in range(space.points):
            assert space.number(space.vector(x)) == x
            assert [y for y in range(space.points) if space.meet(x, y)] == entry["planes"][x]
            free = range(space.off_plane)
            assert [space.place(x, False, number) for number in free] == entry["place_off"][x]
            assert [space.place(x, True, number) for number in free[1:]] == entry["place_on"][x]


def test_public_rows_are_the_published_ones_and_a_bit_has_the_law_of_its_row():
    for entry in READ["one-bit-hadamard"]["specs"]:
        rows = {int(row["person"]): row["row"] for row in entry["rows"]}
        assert {person: standalone.Client(entry["spec"]).row(person) for person in rows} == rows
    spec = OneBitHadamard(epsilon=ONE, categories=5)
    for value in range(5):
        found = enumerated(lambda value=value: client(spec).bit(value, person=7))
        assert found[standalone.parity(spec.row(7), value)] == spec.preference
    bare = [client(spec).bit(3, person=person) for person in range(9)]
    assert spec.aggregator().add(bare).people == 0  # without their rows they are no reports
    assert spec.aggregator().add(spec.with_rows(bare, people=range(9))).people == 9


def test_only_one_bit_protocols_have_bits_and_only_numbers_have_rows():
    with pytest.raises(standalone.SpecRefused):
        client(DirectResponse(epsilon=ONE, categories=2)).bit(1, person=3)
    with pytest.raises(standalone.SpecRefused):
        client(OneBitHadamard(epsilon=ONE, categories=2)).row(-1)


def test_batches_are_the_published_bytes():
    for entry in READ["batches"]["batches"]:
        one = standalone.Client(entry["spec"])
        assert one.batch(entry["reports"]).hex() == entry["bytes"]


def test_a_second_report_is_refused():
    one = client(DirectResponse(epsilon=ONE, categories=2))
    one.report(1)
    with pytest.raises(standalone.AlreadyReported):
        one.report(1)


def test_of_many_threads_one_gets_the_report():
    one, got = client(DirectResponse(epsilon=ONE, categories=2)), []

    def ask() -> None:
        with suppress(standalone.AlreadyReported):
            got.append(one.report(1))

    threads = [Thread(target=ask) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(got) == 1


def test_a_forked_child_gets_no_report(monkeypatch):
    one = client(DirectResponse(epsilon=ONE, categories=2))
    monkeypatch.setattr(os, "getpid", lambda: -1)
    with pytest.raises(standalone.AlreadyReported, match="another process"):
        one.report(1)


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickle.dumps])
def test_a_client_cannot_be_copied(copied):
    with pytest.raises(standalone.AlreadyReported):
        copied(client(DirectResponse(epsilon=ONE, categories=2)))


def test_the_law_of_a_large_spec_is_not_listed():
    with pytest.raises(standalone.SpecRefused):
        client(DirectResponse(epsilon=ONE, categories=1 << 17)).law(0)


def test_a_float_is_the_fraction_that_it_is():
    one = client(HybridMean(epsilon=2, bounds=(-1, 1)))
    assert one.protocol.item(0.1) == (Fraction(0.1) + 1) / 2
    assert one.protocol.parse("0.1") == Fraction(1, 10)
    assert one.protocol.parse("1e400") is None


REPORTING = {
    "few answers": (DirectResponse(epsilon=2, categories=5), (3, 1)),
    "one bit": (OneBitHadamard(epsilon=2, categories=9), (8, 1)),
    "a space": (ProjectiveGeometry.best(epsilon=2, categories=100), (99, 0)),
    "blocks": (HybridGeometry(epsilon=2, categories=20, blocks=3, prime=2, dimension=3), (19, 3)),
}


def reports_of(spec: Spec, values: list[Any]) -> ReportBatch:
    """One report of each person by the single file, packed by it, read by the library."""
    text = spec.to_json()
    reports = [standalone.Client(text).report(value) for value in values]
    return ReportBatch.from_bytes(standalone.Client(text).batch(reports))


@pytest.mark.parametrize("name", REPORTING)
def test_reports_of_the_file_are_estimated_by_the_library(name):
    spec, (often, seldom) = REPORTING[name]
    aggregator = spec.aggregator().add(reports_of(spec, [often] * 1200 + [seldom] * 800))
    assert (aggregator.people, aggregator.refused) == (PEOPLE, 0)
    frequencies = aggregator.estimate().value
    weights = np.array([spec.estimate(counts, 1).value for counts in np.eye(spec.cells, dtype=np.int64)])
    width = np.ptp(weights, axis=0).max()  # the estimate is a mean of weights in an interval of this width
    reach = width * math.sqrt(math.log(2 / FALSE_ALARM) / (2 * PEOPLE))
    assert reach < 0.4
    assert abs(frequencies[often] - 0.6) < reach
    assert abs(frequencies[seldom] - 0.4) < reach


@pytest.mark.parametrize(
    ("spec", "key"),
    [
        (HashedGeometry(epsilon=4, keys="text:24", prime=31, dimension=3, rows=4, seed=1), "süd"),
        (HeavyHitters.plan(people=PEOPLE, epsilon=4, keys="integer:32", seed=1), 12345),
        (HeavyHitters.plan(people=PEOPLE, epsilon=4, keys="text:8", seed=1), "süd"),
    ],
)
def test_reports_of_a_key_fall_among_its_preferred_outputs(spec, key):
    aggregator = spec.aggregator().add(reports_of(spec, [key] * PEOPLE))
    inside = int(aggregator.counts[spec.preferred(key)].sum())
    assert (aggregator.people, aggregator.refused) == (PEOPLE, 0)
    reach = math.sqrt(math.log(2 / FALSE_ALARM) / (2 * PEOPLE))
    assert abs(inside / PEOPLE - float(spec.preference)) < reach < float(spec.preference - spec.inside * spec.unlikely)


@pytest.mark.parametrize("kind", [DuchiBit, HybridMean])
def test_means_of_reports_of_the_file_are_estimated_by_the_library(kind):
    spec = kind(epsilon=Fraction(2), bounds=(-3, 5))
    values = np.linspace(-3, 5, PEOPLE).tolist()
    aggregator = spec.aggregator().add(reports_of(spec, values))
    reach = spec.poisoning_gain * float(spec.width) * math.sqrt(math.log(2 / FALSE_ALARM) / (2 * PEOPLE))
    assert abs(aggregator.estimate().value - 1.0) < reach

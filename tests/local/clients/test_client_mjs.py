"""The example port to JavaScript: the published laws, walked through its own code, and its refusals."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from discreet.local import DirectResponse, OneBitHadamard, ProjectiveGeometry
from tests.local.clients.test_vectors import READ
from tools.clients.vectors import ROOT

CLIENT = ROOT / "clients/javascript/client.mjs"
WALK = Path(__file__).parent / "walk_client.mjs"
SPOKEN = ("randomized-response", "one-bit-hadamard", "projective-geometry", "hybrid-geometry")
ENTRIES = [entry for name in SPOKEN for entry in READ[name]["specs"]]
LABELED = DirectResponse(epsilon=1, categories=("tea", 'süd\x7f"\\\n', "\U0001f375"))
GOOD = [LABELED, OneBitHadamard(epsilon=1, categories=1 << 20), ProjectiveGeometry.best(epsilon=1, categories=65536)]

pytestmark = pytest.mark.needs("node")


@cache
def walked() -> dict[str, Any]:
    """What the port does with all vectors, in one run."""
    specs = [{"spec": e["spec"], "values": [law["value"] for law in e["laws"]]} for e in ENTRIES]
    refused = [bad["spec"] for bad in READ["refused"]["refused"]] + [spec.to_json() for spec in GOOD]
    command = [shutil.which("node") or "node", str(WALK), str(CLIENT)]
    given = json.dumps({"specs": specs, "refused": refused})
    ran = subprocess.run(command, input=given, capture_output=True, text=True, timeout=600, check=True)  # noqa: S603
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def test_the_port_has_the_published_laws_exactly():
    for entry, laws in zip(ENTRIES, walked()["laws"], strict=True):
        masses = [Fraction(mass) for mass in entry["probabilities"]]
        for law, found in zip(entry["laws"], laws, strict=True):
            added = {int(report): sum(map(Fraction, parts)) for report, parts in found.items()}
            assert added == {report: masses[number] for report, number in enumerate(law["law"])}


def test_the_port_refuses_what_a_client_must_refuse_and_reads_the_rest():
    bad = len(READ["refused"]["refused"])
    assert walked()["refused"] == [True] * bad + [False] * len(GOOD)


def run(*arguments: object, given: str = "") -> subprocess.CompletedProcess[str]:
    """Run the port as a program."""
    command = [shutil.which("node") or "node", *map(str, arguments)]
    return subprocess.run(command, input=given, capture_output=True, text=True, timeout=600, check=False)  # noqa: S603


def test_the_port_is_a_program(tmp_path: Path):
    spec = tmp_path / "spec.json"
    spec.write_text(LABELED.to_json() + "\n", encoding="ascii")
    for value, given in (("tea", ""), ("2", ""), ("-", "tea\n")):
        ran = run(CLIENT, spec, value, given=given)
        assert (ran.returncode, ran.stderr) == (0, "")
        assert int(ran.stdout) in range(3)
    for arguments in ((spec, "secret"), (spec, "3"), (spec,), (tmp_path / "none.json", "tea"), (CLIENT, "tea")):
        ran = run(CLIENT, *arguments)
        assert (ran.returncode, ran.stdout) == (1, "")
        assert len(ran.stderr.splitlines()) == 1
        assert "secret" not in ran.stderr


def test_the_script_on_the_page_calls_the_port(tmp_path: Path):
    page = (ROOT / "docs/local/clients-elsewhere.md").read_text(encoding="utf-8")
    (script,) = re.findall(r"```js\n(.*?)```", page, flags=re.DOTALL)
    shutil.copy(CLIENT, tmp_path)
    (tmp_path / "report.mjs").write_text(script, encoding="utf-8")
    spec = ProjectiveGeometry.best(epsilon=1, categories=1000)
    (tmp_path / "spec.json").write_text(spec.to_json(), encoding="ascii")
    command = [shutil.which("node") or "node", "report.mjs"]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=600, check=True)  # noqa: S603
    assert spec.aggregator().add([int(ran.stdout)]).people == 1


def test_the_port_reports_once_and_only_values():
    found = walked()
    assert found["report"] in (0, 1)
    assert found["twice"]
    assert found["none"]
    assert all(0 <= number < bound for number, bound in zip(found["integers"], (1, 2, 3, 1000), strict=True))

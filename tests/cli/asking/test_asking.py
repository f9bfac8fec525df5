"""`explain`, `rehearse`, `ask`, `budget`: what they print, what they charge, how they fail, what they never show."""

from __future__ import annotations

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from discreet.cli.asking.options import query_text
from discreet.cli.console import Refusal
from discreet.query import Session
from tests.cli.program import POLICY, clinic, leaks, run

COUNT = "SELECT ward, COUNT(*) AS visits FROM visits GROUP BY ward"


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    return clinic(tmp_path)


def spent(policy: Path) -> float:
    return json.loads(run("budget", "--policy", policy, "--json").stdout)["spent"]["epsilon"]


def test_ask_prints_a_table_with_intervals_and_charges_its_price(policy: Path) -> None:
    result = run("ask", COUNT, "--policy", policy, "--epsilon", "0.5")
    assert result.exit_code == 0, result.output
    for words in ("north", "south", "visits_low", "epsilon 0.5", "patient", "record"):
        assert words in result.stdout
    assert spent(policy) == 0.5


def test_the_same_question_again_is_the_same_answer_and_free(policy: Path) -> None:
    first, again = (json.loads(run("ask", COUNT, "--policy", policy, "--epsilon", 1, "--json").stdout) for _ in "ab")
    assert (first["replayed"], again["replayed"]) == (False, True)
    assert first["answer"] == again["answer"]
    assert spent(policy) == 1


def test_json_holds_the_whole_answer(policy: Path) -> None:
    found = json.loads(run("ask", COUNT, "--policy", policy, "--epsilon", "1/2", "--json").stdout)
    assert found["answer"]["ward"] == ["north", "south"]
    assert all(low <= value <= high for value, low, high in zip(
        *(found["answer"][name] for name in ("visits", "visits_low", "visits_high")), strict=True))  # fmt: skip
    assert found["guarantee"] == {"notion": "PureDP", "relation": "add/remove", "epsilon": 0.5}
    assert found["confidence"] == 0.95
    assert len(found["entry"]) == 64


def test_csv_holds_the_rows(policy: Path) -> None:
    result = run("ask", COUNT, "--policy", policy, "--epsilon", 1, "--csv")
    rows = list(csv.DictReader(io.StringIO(result.stdout)))
    assert [row["ward"] for row in rows] == ["north", "south"]
    assert list(rows[0]) == ["ward", "visits", "visits_low", "visits_high"]
    assert run("ask", COUNT, "--policy", policy, "--epsilon", 1, "--csv", "--json").exit_code == 2


def test_decimals_on_the_command_line_are_exact(policy: Path) -> None:
    # as floats ten of them would be a little more than the budget of 4
    for place in range(10):
        text = "SELECT COUNT(*) AS n FROM visits WHERE cost > PLACE".replace("PLACE", str(place))
        assert run("ask", text, "--policy", policy, "--epsilon", "0.4").exit_code == 0
    assert spent(policy) == 4


def test_the_query_comes_from_a_file_or_from_standard_input(policy: Path, tmp_path: Path) -> None:
    (tmp_path / "query.sql").write_text(COUNT, encoding="utf-8")
    asked = [
        run("ask", "-", "--policy", policy, "--epsilon", 1, "--json", stdin=COUNT),
        run("ask", "--file", tmp_path / "query.sql", "--policy", policy, "--epsilon", 1, "--json"),
    ]
    assert [json.loads(one.stdout)["replayed"] for one in asked] == [False, True]
    assert run("ask", "--policy", policy, "--epsilon", 1).exit_code == 2
    assert run("ask", COUNT, "--file", tmp_path / "query.sql", "--policy", policy, "--epsilon", 1).exit_code == 2
    assert run("ask", "--file", tmp_path / "none.sql", "--policy", policy, "--epsilon", 1).exit_code == 2


def test_certificate_and_plot_are_written_beside_the_answer(policy: Path, tmp_path: Path) -> None:
    names = [tmp_path / name for name in ("release.html", "release.json", "bars.svg")]
    result = run("ask", COUNT, "--policy", policy, "--epsilon", 1, "--certificate", names[0], "--plot", names[2])
    assert result.exit_code == 0, result.output
    assert run("ask", COUNT, "--policy", policy, "--epsilon", 1, "--certificate", names[1]).exit_code == 0
    assert json.loads(names[1].read_text(encoding="utf-8"))["unit of protection"] == "patient"
    assert "<svg" in names[2].read_text(encoding="utf-8")
    assert all(f"Wrote {path}" in result.output for path in (names[0], names[2]))


@pytest.mark.parametrize(
    "options", [("--certificate", "x.txt"), ("--plot", "x.gif"), ("--plot", "no/such/folder/x.svg")]
)
def test_a_file_that_cannot_be_written_is_refused_before_the_charge(policy: Path, options: tuple[str, str]) -> None:
    result = run("ask", COUNT, "--policy", policy, "--epsilon", 1, *options)
    assert result.exit_code == 2
    assert spent(policy) == 0


REFUSALS = [
    (("SELECT * FROM visits", "--epsilon", "1"), 1, "never shown"),
    (("SELECT MAX(cost) FROM visits", "--epsilon", "1"), 1, "QUANTILE"),
    (("SELECT COUNT(*) FROM nowhere", "--epsilon", "1"), 1, "nowhere"),
    (("SELECT SUM(patient_id) FROM visits", "--epsilon", "1"), 1, "range"),
    (("SELECT illness, COUNT(*) FROM visits GROUP BY illness", "--epsilon", "1"), 1, "delta"),
    (("SELECT COUNT(*) FROM visits; DROP TABLE visits", "--epsilon", "1"), 1, ""),
    (("COPY visits TO 'x.csv'", "--epsilon", "1"), 1, ""),
    (("not sql at all (", "--epsilon", "1"), 1, ""),
    (("", "--epsilon", "1"), 1, ""),
    ((COUNT,), 2, "epsilon"),
    ((COUNT, "--epsilon", "1", "--share", "0.5"), 2, "write one of them"),
    ((COUNT, "--rho", "0.1"), 2, "epsilon"),
    ((COUNT, "--epsilon", "much"), 2, "not a number"),
    ((COUNT, "--epsilon", "-1"), 2, ""),
    ((COUNT, "--epsilon", "1", "--rows-expected", "0"), 2, ""),
    ((COUNT, "--epsilon", "1", "--confidence", "1"), 2, ""),
    ((COUNT, "--epsilon", "1", "--analyst", "mallory"), 1, "mallory"),
    ((COUNT, "--epsilon", "5"), 3, "left"),
]


@pytest.mark.parametrize(
    ("command", "arguments", "code", "words"),
    [
        *(("ask", *refusal) for refusal in REFUSALS),
        # an explanation spends nothing, so that no price is too high for it
        *(("explain", *refusal) for refusal in REFUSALS if refusal[1] != 3),
    ],
)
def test_a_refusal_is_one_message_on_stderr_with_its_code_and_costs_nothing(
    policy: Path, command: str, arguments: tuple[str, ...], code: int, words: str
) -> None:
    result = run(command, *arguments, "--policy", policy)
    assert result.exit_code == code, result.output
    assert result.stdout == ""
    assert "Error: " in result.stderr
    assert words in result.stderr
    assert "Traceback" not in result.stderr
    assert leaks(result.output) == []
    assert spent(policy) == 0


def test_a_failure_after_the_charge_has_its_own_code_and_stays_charged(
    policy: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from discreet.query.engines.duckdb.engine import DuckDBEngine

    def fail(*_: object) -> None:
        raise ValueError("kuru-canary")

    monkeypatch.setattr(DuckDBEngine, "run", fail)
    result = run("ask", COUNT, "--policy", policy, "--epsilon", 1)
    assert result.exit_code == 5
    assert leaks(result.output) == []
    assert spent(policy) == 1


def test_an_unforeseen_error_shows_its_type_and_nothing_else(policy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError("kuru-canary")

    monkeypatch.setattr(Session, "explain", fail)
    result = run("explain", COUNT, "--policy", policy, "--epsilon", 1)
    assert result.exit_code == 1
    assert "KeyError" in result.stderr
    assert leaks(result.output) == []


def test_explain_speaks_of_options_in_its_table_too(policy: Path) -> None:
    result = run("explain", "SELECT AVG(cost) AS m FROM visits", "--policy", policy, "--epsilon", 1)
    words = " ".join(result.stdout.split())
    assert "rows_expected=" not in words
    assert "--rows-expected" in words


def test_explain_tells_price_noise_and_statement_and_touches_nothing(policy: Path) -> None:
    result = run("explain", COUNT, "--policy", policy, "--epsilon", "0.5")
    assert result.exit_code == 0, result.output
    for words in ("epsilon 0.5", "half-width", "bounding", "SELECT", "how many like it still fit", "nothing was spent"):
        assert words in result.stdout
    found = json.loads(run("explain", COUNT, "--policy", policy, "--epsilon", "0.5", "--json").stdout)
    assert found["fits"] == 8
    assert found["cost"]["epsilon"] == 0.5
    assert found["aggregates"][0]["aggregate"] == "visits"
    assert spent(policy) == 0


def test_an_error_is_a_price(policy: Path) -> None:
    found = json.loads(run("explain", COUNT, "--policy", policy, "--error", 50, "--json").stdout)
    asked = json.loads(run("ask", COUNT, "--policy", policy, "--error", 50, "--json").stdout)
    assert asked["guarantee"] == found["cost"]
    low, high = (asked["answer"][f"visits_{end}"][0] for end in ("low", "high"))
    assert 49 < (high - low) / 2 <= 50


def test_rehearse_runs_on_made_up_rows_and_spends_nothing(policy: Path) -> None:
    result = run("rehearse", COUNT, "--policy", policy, "--epsilon", 1, "--size", 500)
    assert result.exit_code == 0, result.output
    assert "made-up rows" in result.stdout
    found = json.loads(run("rehearse", COUNT, "--policy", policy, "--epsilon", 1, "--json").stdout)
    assert found["answer"]["ward"] == ["north", "south"]
    assert spent(policy) == 0
    assert run("rehearse", COUNT, "--policy", policy, "--epsilon", 1, "--size", 0).exit_code == 2


def test_who_asks_is_an_option_a_variable_or_the_only_one(tmp_path: Path) -> None:
    policy = clinic(tmp_path, POLICY.replace("ana = {}", "ana = {}\nben = {share = 0.25}"))
    unnamed = run("ask", COUNT, "--policy", policy, "--epsilon", 1)
    assert (unnamed.exit_code, "ana, ben" in unnamed.stderr) == (2, True)
    assert run("ask", COUNT, "--policy", policy, "--epsilon", 1, DISCREET_ANALYST="ben").exit_code == 0
    over = run("ask", COUNT, "--policy", policy, "--epsilon", 2, "--analyst", "ben", DISCREET_ANALYST="ana")
    assert over.exit_code == 3
    found = json.loads(run("budget", "--policy", policy, "--analyst", "ben", "--json").stdout)
    assert found["own_spent"]["epsilon"] == 1
    assert found["own_remaining"]["epsilon"] == 0
    assert run("budget", "--policy", policy, "--analyst", "mallory").exit_code == 2
    everybody = run("budget", "--policy", policy)
    assert everybody.exit_code == 0
    assert "epsilon 3, delta 1e-06" in everybody.stdout


def test_a_rare_key_and_the_values_of_one_person_never_show(policy: Path, tmp_path: Path) -> None:
    # one unit alone is named with a chance of at most 1e-10
    listed = ("SELECT illness, COUNT(DISTINCT patient_id) AS n FROM visits GROUP BY illness", "--epsilon", "1")
    outputs = [
        run("ask", *listed, "--delta", "1e-10", "--policy", policy).output,
        run("ask", *listed, "--delta", "1e-10", "--policy", policy, "--json").output,
        run("ask", "SELECT SUM(cost), AVG(cost) FROM visits", "--epsilon", 1, "--policy", policy).output,
        run("explain", *listed, "--delta", "1e-10", "--policy", policy).output,
        run("rehearse", *listed, "--delta", "1e-10", "--policy", policy).output,
        run("check", policy).output,
        run("budget", "--policy", policy).output,
        run("ledger", "--policy", policy, "--json").output,
        run("ledger", "verify", "--policy", policy).output,
    ]
    assert "flu" in outputs[0]
    assert leaks(*outputs) == []
    assert leaks((tmp_path / "ledger.sqlite").read_bytes().decode("latin-1")) == []


def test_the_installed_program_keeps_stdout_clean_and_stderr_without_a_traceback(policy: Path) -> None:
    command = [sys.executable, "-m", "discreet", "ask", COUNT, "--epsilon", "1", "--json"]
    good = subprocess.run(  # noqa: S603 (our own program)
        command, capture_output=True, text=True, check=False, cwd=policy.parent
    )
    assert good.returncode == 0, good.stderr
    assert json.loads(good.stdout)["replayed"] is False
    assert good.stderr == ""
    bad = subprocess.run(  # noqa: S603 (our own program)
        [*command[:4], "SELECT *", *command[5:]], capture_output=True, text=True, check=False, cwd=policy.parent
    )
    assert bad.returncode == 1
    assert bad.stdout == ""
    assert bad.stderr.startswith("Error: ")


@pytest.mark.parametrize("command", ["ask", "explain", "rehearse"])
def test_refusals_name_the_options_of_the_shell(command: str, policy: Path) -> None:
    none = run(command, COUNT, "--policy", policy)
    two = run(command, COUNT, "--policy", policy, "--epsilon", 1, "--share", "0.5")
    rho = run(command, COUNT, "--policy", policy, "--rho", 1)
    for refused, named in ((none, ("--epsilon", "--error")), (two, ("--epsilon and --share",)), (rho, ("--rho",))):
        assert refused.exit_code == 2
        assert all(one in refused.output for one in named)
        assert not re.search(r"\b(epsilon|delta|rho|share|error)=", refused.output)


@pytest.mark.parametrize("encoding", ["latin-1", "ascii", "utf-16", "cp1252"])
def test_a_query_is_read_as_utf_8_whatever_the_locale(monkeypatch: pytest.MonkeyPatch, encoding: str) -> None:
    for data in ("SELECT 'süd'".encode(), b"SELECT 's\xfcd'", b" " * 1_000_001):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding=encoding))
        if data.startswith("SELECT 'süd".encode()):
            assert query_text("-", None) == "SELECT 'süd'"
        else:
            with pytest.raises(Refusal, match="standard input"):
                query_text("-", None)


def test_bytes_that_the_locale_could_not_read_are_read_as_utf_8_or_refused(tmp_path: Path) -> None:
    assert query_text("SELECT 's\udcc3\udcbcd'", None) == "SELECT 'süd'"
    for bad in ("SELECT 's\udcfcd'", "SELECT '\ud800'"):
        with pytest.raises(Refusal, match="the query is not UTF-8"):
            query_text(bad, None)
    (tmp_path / "long.sql").write_bytes(b" " * 1_000_001)
    with pytest.raises(Refusal, match="at most 1,000,000 bytes"):
        query_text(None, tmp_path / "long.sql")

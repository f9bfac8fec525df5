"""`discreet audit self` from outside: a table, a sentence, and exit code 1 when something is refuted."""

from __future__ import annotations

from io import StringIO
from typing import Any

import pytest
from click.testing import CliRunner, Result
from rich.console import Console

import discreet as dp
from discreet import testing
from discreet.cli.audit.own import _COLUMNS
from discreet.cli.console import progressing
from discreet.cli.program import program
from discreet.testing.own import OWN, Own


class Quiet(dp.Laplace):
    """Half the noise behind the law and the price of all of it."""

    def __call__(self, value: Any) -> Any:
        return value + self.noise.draw_one() // 2


def run(*arguments: object) -> Result:
    plain = {"COLUMNS": "100", "FORCE_COLOR": None, "TTY_COMPATIBLE": None, "TTY_INTERACTIVE": None}
    return CliRunner(env=plain).invoke(program, ["audit", "self", *map(str, arguments)], prog_name="discreet")


def limit_to(monkeypatch: pytest.MonkeyPatch, *subjects: Own) -> None:
    whole = testing.audit_own
    monkeypatch.setattr(testing, "audit_own", lambda **stated: whole(**stated, subjects=subjects))


def test_a_few_of_our_mechanisms_pass_with_a_line_each(monkeypatch: pytest.MonkeyPatch) -> None:
    limit_to(monkeypatch, OWN[0], OWN[6], OWN[8])
    result = run("--draws", 800)
    assert result.exit_code == 0, result.output
    for own in (OWN[0], OWN[6], OWN[8]):
        assert own.name in result.output
    assert "3 mechanisms, none refuted." in result.output


def test_a_refuted_mechanism_ends_with_exit_code_one(monkeypatch: pytest.MonkeyPatch) -> None:
    limit_to(monkeypatch, Own("quiet", lambda: Quiet(epsilon=0.5, sensitivity=1), 3))
    result = run("--draws", 4000)
    assert result.exit_code == 1
    assert "Error: refuted: quiet" in result.output


def test_a_failure_inside_is_one_line_and_no_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> dp.Laplace:
        raise RuntimeError("the value was 12345")

    limit_to(monkeypatch, Own("failing", fail, 3))
    result = run("--draws", 400)
    assert result.exit_code == 1
    assert isinstance(result.exception, SystemExit)
    assert "RuntimeError" in result.output
    assert "12345" not in result.output


def test_a_terminal_is_told_whose_turn_it_is_and_a_pipe_is_not() -> None:
    shown = {}
    for terminal in (True, False):
        written = StringIO()
        console = Console(file=written, force_terminal=terminal, width=80)
        with progressing(console, _COLUMNS, "", total=len(OWN)) as update:
            update(completed=1, description="NoisyMax")
        shown[terminal] = written.getvalue()
    assert f"1 of {len(OWN)} NoisyMax" in shown[True]
    assert shown[False] == ""


def test_nonsense_is_one_line_and_exit_code_two() -> None:
    for wrong in (("--draws", 0), ("--draws", "many"), ("--noise",)):
        result = run(*wrong)
        assert result.exit_code == 2
        assert "Traceback" not in result.output


def test_the_help_says_what_is_audited() -> None:
    result = run("--help")
    assert result.exit_code == 0
    assert "exit code 1 if a guarantee is refuted" in " ".join(result.output.split())

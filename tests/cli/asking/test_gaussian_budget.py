"""The commands under a Gaussian budget: check, explain, ask, budget and the ledger, in mu."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.program import POLICY, clinic, leaks, run

COUNT = "SELECT ward, COUNT(*) AS n FROM visits GROUP BY ward"
ILLNESS = "SELECT illness, COUNT(*) AS n FROM visits GROUP BY illness"


def gaussian(folder: Path, budget: str) -> Path:
    return clinic(
        folder, POLICY.replace('notion = "approx"\nepsilon = 4\ndelta = 1e-6', f'notion = "gaussian"\n{budget}')
    )


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    return gaussian(tmp_path, "mu = 0.5\nreserve = 1e-7")


def test_check_says_what_mu_and_the_reserve_come_to(policy: Path, tmp_path: Path) -> None:
    told = run("check", policy)
    assert told.exit_code == 0, told.output
    words = " ".join(told.output.split())
    assert "mu 0.5, delta 1e-07" in words
    assert "no more than epsilon 2.2" in words
    assert "besides its own" in words
    policy.unlink()
    for_none = " ".join(run("check", gaussian(tmp_path, "epsilon = 1\ndelta = 1e-6")).output.split())
    assert "mu 0.23" in for_none
    assert "the budget has no reserve of delta" in for_none


def test_check_finds_what_a_gaussian_budget_does_not_have(tmp_path: Path) -> None:
    refused = run("check", gaussian(tmp_path, "mu = 1\ndelta = 1e-6"))
    assert refused.exit_code == 1
    assert "reserve = 1e-7" in refused.output


def test_an_answer_is_bought_in_mu_and_stands_in_the_ledger(policy: Path) -> None:
    told = run("explain", COUNT, "--policy", policy, "--mu", "0.1")
    assert told.exit_code == 0, told.output
    assert "mu 0.1\n" in told.output
    assert "other budgets" in told.output
    asked = run("ask", COUNT, "--policy", policy, "--mu", "0.1", "--json")
    assert asked.exit_code == 0, asked.output
    assert leaks(asked.output) == []
    balance = json.loads(run("budget", "--policy", policy, "--json").output)
    assert (balance["budget"]["notion"], balance["budget"]["mu"]) == ("GaussianDP", 0.5)
    assert balance["budget"]["delta"] == pytest.approx(1e-7, rel=1e-12)
    assert balance["spent"]["mu"] == 0.1
    assert balance["remaining"]["mu"] <= (0.25 - 0.01) ** 0.5
    verified = run("ledger", "verify", "--policy", policy)
    assert verified.exit_code == 0, verified.output
    assert "mu 0.1" in verified.output


def test_private_keys_are_bought_from_the_reserve(policy: Path, tmp_path: Path) -> None:
    asked = run("ask", ILLNESS, "--policy", policy, "--mu", "0.3", "--delta", "1e-8")
    assert asked.exit_code == 0, asked.output
    assert leaks(asked.output) == []
    assert "1e-08" in run("budget", "--policy", policy).output
    (tmp_path / "other").mkdir()
    refused = run(
        "ask", ILLNESS, "--policy", gaussian(tmp_path / "other", "mu = 0.5"), "--mu", "0.3", "--delta", "1e-8"
    )
    assert refused.exit_code == 1
    assert "reserve = 1e-7" in " ".join(refused.output.split())
    assert "Nothing was spent" in refused.output


def test_more_than_the_budget_is_refused(policy: Path) -> None:
    refused = run("ask", COUNT, "--policy", policy, "--mu", "0.6")
    assert refused.exit_code == 3
    assert "mu squared" in refused.output


def test_the_account_knows_gaussian_releases() -> None:
    told = run("account", "gdp", "--mu", "0.1", "--steps", "100", "--delta", "1e-6")
    assert told.exit_code == 0, told.output

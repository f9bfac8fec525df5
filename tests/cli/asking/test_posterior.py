"""`posterior`: what it prints, what it charges, that other models are free, and what it refuses before a charge."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from discreet import bayes
from discreet.query import Session
from tests.cli.program import POLICY, clinic, leaks, run

SINGLE = POLICY.replace("rows = 4\ngroups = 2\nrows_per_group = 2\n", "rows = 1\n")
GROUPS = "groups = 1\nrows_per_group = 1\n"
COUNT = "SELECT ward, COUNT(*) AS people FROM visits GROUP BY ward"
PRIVATE = "SELECT illness, COUNT(*) AS people FROM visits GROUP BY illness"
ASKED = (COUNT, "--epsilon", "1", "--one-row-a-person", "--seed", "1")
SHARES = ("--model", "beta-binomial", "--a", "1", "--b", "1", "--success", "ward=north")
CELLS = ("--model", "dirichlet", "--concentration", "1")


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    return clinic(tmp_path, SINGLE)


def spent(policy: Path) -> float:
    return json.loads(run("budget", "--policy", policy, "--json").stdout)["spent"]["epsilon"]


def test_it_charges_as_ask_does_and_prints_shares_and_counts(policy: Path) -> None:
    result = run("posterior", *ASKED, *SHARES, "--policy", policy)
    assert result.exit_code == 0, result.output
    for words in ("share", "count", "exact to", "epsilon 1", "record", "nothing: it is computed"):
        assert words in result.stdout
    assert spent(policy) == 1


def test_an_answer_that_was_paid_for_is_read_again_for_nothing_by_any_model(policy: Path) -> None:
    assert run("ask", COUNT, "--epsilon", "1", "--policy", policy).exit_code == 0
    for model in (
        SHARES,
        CELLS,
        ("--model", "poisson", "--shape", "1", "--rate", "0.01", "--exposure", "north=3", "--exposure", "south=9"),
        ("--model", "logistic", "--success", "ward=north"),
        ("--model", "area-shares", "--success", "ward=north"),
        ("--model", "area-rates", "--median", "100", "--deviation", "1", "--exposure", "1"),
    ):
        result = run("posterior", *ASKED, *model, "--policy", policy, "--json")
        assert result.exit_code == 0, result.output
        assert json.loads(result.stdout)["replayed"]
    assert spent(policy) == 1


def test_json_holds_what_the_library_computes(policy: Path) -> None:
    found = json.loads(run("posterior", *ASKED, *CELLS, "--people", "1001", "--policy", policy, "--json").stdout)
    with Session.open(policy, analyst="ana") as session:
        answer = session.sql(COUNT, epsilon=1)
        model = bayes.DirichletMultinomial(1, people=1001, one_row_a_person=True)
        expected = bayes.posterior(answer, model, seed=1).to_dict()
    assert found["posterior"] == expected
    assert found["guarantee"]["epsilon"] == 1
    assert (found["confidence"], found["replayed"]) == (0.95, False)


def test_explain_says_the_width_and_spends_nothing(policy: Path) -> None:
    asked = ("posterior", *ASKED, *CELLS, "--people", "1001", "--explain", "--policy", policy)
    shown, plain = run(*asked), run(*asked, "--json", "--parameter", "count")
    assert "wide on the average" in shown.stdout
    assert "nothing was spent" in shown.stdout
    assert json.loads(plain.stdout)["parameter"] == "count"
    assert spent(policy) == 0


def test_a_plot_is_written(policy: Path, tmp_path: Path) -> None:
    drawn = tmp_path / "known.svg"
    result = run("posterior", *ASKED, *CELLS, "--plot", drawn, "--parameter", "count", "--together", "--policy", policy)
    assert result.exit_code == 0, result.output
    assert "<svg" in drawn.read_text(encoding="utf-8")


def test_private_keys_are_read_once_they_are_known(tmp_path: Path) -> None:
    policy = clinic(tmp_path, POLICY.replace("rows = 4\ngroups = 2\nrows_per_group = 2\n", GROUPS))
    asked = ("posterior", PRIVATE, "--epsilon", "2", "--delta", "1e-7", "--one-row-a-person", "--policy", policy)
    result = run(*asked, "--model", "beta-binomial", "--a", "1", "--b", "1", "--success", "illness=flu")
    assert result.exit_code == 0, result.output
    assert leaks(result.output) == []
    # a choice of groups by their noisy counts says nothing of what all groups have in common
    areas = run(*asked, "--model", "area-rates", "--median", "9", "--deviation", "1", "--exposure", "1")
    assert areas.exit_code == 2, areas.output  # after a replay, which cost nothing
    assert run(*asked, *CELLS, "--explain").exit_code == 2


def test_a_model_that_cannot_read_a_paid_answer_says_that_the_charge_stands_and_others_are_free(policy: Path) -> None:
    asked = ("posterior", *ASKED, *CELLS, "--people", "5", "--policy", policy)  # 1001 people cannot be 5
    first, again = run(*asked), run(*asked)
    assert first.exit_code == 5
    assert "The charge stands as record" in " ".join(first.stderr.split())
    assert first.stdout == ""
    assert again.exit_code == 1
    assert spent(policy) == 1
    assert json.loads(run("posterior", *ASKED, *CELLS, "--policy", policy, "--json").stdout)["replayed"]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ((COUNT, *SHARES, "--one-row-a-person"), 2, "epsilon"),  # never defaulted
        ((*ASKED,), 2, "--model"),
        ((*ASKED, "--model", "best"), 2, "beta-binomial"),
        ((*ASKED, "--model", "beta-binomial"), 2, "needs --a --b"),
        ((*ASKED, *CELLS, "--a", "1"), 2, "--a goes with --model beta-binomial"),
        ((*ASKED, *CELLS, "--people", "1e3"), 2, "people must be an int"),
        ((*ASKED, *CELLS, "--people", "many"), 2, "not a number"),
        ((*ASKED, *CELLS, "--seed", "-1"), 2, "--seed"),
        ((*ASKED, *CELLS, "--plot", "x.gif"), 2, "--plot"),
        ((*ASKED, *CELLS, "--plot", "x.svg", "--explain"), 2, "exclude each other"),
        ((*ASKED, *CELLS, "--parameter", "nosuch", "--plot", "x.svg"), 2, "must be one of share, count, people"),
        ((*ASKED, *CELLS, "--parameter", "share"), 2, "--parameter says what --plot draws"),
        ((*ASKED, *CELLS, "--together"), 2, "--together goes with --plot"),
        ((*ASKED, "--model", "dirichlet", "--concentration", "0"), 2, "greater than 0"),
        ((*ASKED, "--model", "logistic", "--success", "ward=west"), 2, "north, south"),
        ((*ASKED, "--model", "logistic", "--success", "ward"), 2, "KEY=VALUE"),
        ((*ASKED, "--model", "logistic", "--success", "sex=f"), 2, "KEY=VALUE"),
        ((*ASKED, "--model", "poisson", "--shape", "1", "--rate", "1", "--exposure", "east=3"), 2, "GROUP=NUMBER"),
        ((*ASKED, "--model", "beta-binomial", "--a", "1", "--b", "1"), 2, "--success"),
        ((COUNT, "--epsilon", "1", *SHARES), 1, "--one-row-a-person"),
        (("SELECT AVG(cost) AS cost FROM visits", "--epsilon", "1", *CELLS), 1, "needs a noisy count"),
        (("SELECT MEDIAN(cost) AS cost FROM visits", "--epsilon", "1", *CELLS), 1, "COUNT(*)"),
        (("SELECT * FROM visits", "--epsilon", "1", *CELLS), 1, "never shown"),
        ((COUNT, "--epsilon", "5", "--one-row-a-person", *CELLS), 3, "left"),
    ],
)
def test_a_refusal_is_one_message_and_costs_nothing(
    policy: Path, arguments: tuple[str, ...], code: int, words: str
) -> None:
    result = run("posterior", *arguments, "--policy", policy)
    assert result.exit_code == code, result.output
    assert words in " ".join(result.stderr.split()), result.stderr
    assert result.stdout == ""
    assert spent(policy) == 0
    assert leaks(result.output) == []


def test_an_exposure_beyond_all_people_is_read_or_refused_in_a_sentence(policy: Path) -> None:
    rates = ("--model", "poisson", "--shape", "1", "--rate", "1", "--exposure", "9" * 20)
    result = run("posterior", *ASKED, *rates, "--policy", policy)
    assert "something went wrong" not in result.output


def test_it_is_told_by_its_help_which_options_there_are() -> None:
    text = " ".join(run("posterior", "--help").output.split())
    assert "charged as by `discreet ask`" in text
    assert all(f"--{name}" in text for name in ("success", "people", "exposure", "one-row-a-person", "explain", "seed"))

"""`discreet account` from outside: certified prices, honest comparisons, odds, files, and one line for nonsense."""

from __future__ import annotations

import contextlib
import json
import math
import subprocess
import sys
from fractions import Fraction
from functools import cache
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st

from discreet.cli.account import account
from discreet.cli.account.facts import (
    AccountQuestion,
    advanced,
    basic,
    certify,
    curve,
    least_misses,
    misses_from,
    renyi,
)
from discreet.cli.account.plan import FAMILIES
from discreet.cli.account.wording import belief, odds
from discreet.cli.options import read_number
from discreet.cli.program import program
from discreet.errors import ParameterError
from discreet.privacy import (
    GaussianDP,
    PureDP,
    Relation,
    ReleaseRecord,
    gaussian_loss,
    laplace_loss,
    randomized_response_loss,
    records_from_json,
    replay,
)

SGD = ("gaussian", "--scale", 1, "--rate", 0.01, "--steps", 10_000, "--delta", 1e-5)
QUICK = ("pure", "--epsilon", 0.1, "--steps", 50, "--delta", 1e-5)


def run(*arguments: object) -> Result:
    plain = {"COLUMNS": "100", "FORCE_COLOR": None, "TTY_COMPATIBLE": None, "TTY_INTERACTIVE": None}
    given_ = [str(argument) for argument in ("account", *arguments)]
    return CliRunner(env=plain).invoke(program, given_, prog_name="discreet")


@cache
def training() -> Result:
    return run(*SGD)


def words(result: Result) -> str:
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


def plain_values(*arguments: object) -> dict[str, object]:
    result = run(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.output)


def test_a_plan_of_training_gets_its_certified_price_and_everything_it_rests_on() -> None:
    text = words(training())
    assert "What it costs: epsilon = 6.1877124" in text
    assert "6.1877123 to 6.1877124" in text
    assert "a person removed" in text
    assert "a person added 5.6115086 to 5.6115087" in text
    for guarantee in ("contour integral", "add/remove", "poisson sample, rate 0.01", "fixed before the first answer"):
        assert guarantee in text
    assert "\x1b" not in text


def test_older_theorems_are_compared_on_the_same_releases() -> None:
    found = plain_values("laplace", "--scale", 50, "--steps", 1000, "--delta", 1e-5)
    tight = found["epsilon"]["upper"]
    others = found["comparisons"]
    assert set(others) == {"basic composition", "advanced composition", "Renyi, best order"}
    assert others["basic composition"] == pytest.approx(20, rel=1e-3)
    assert tight < others["Renyi, best order"] < others["advanced composition"] < others["basic composition"]


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("gaussian", "--scale", 50, "--steps", 1000), gaussian_loss(50) * 1000),
        (("gaussian", "--scale", 150, "--sensitivity", 3, "--steps", 1000), gaussian_loss(150, sensitivity=3) * 1000),
        (("laplace", "--scale", 20, "--steps", 100), laplace_loss(20) * 100),
        (("randomized-response", "--epsilon", 0.5, "--categories", 4, "--steps", 20),
         randomized_response_loss(0.5, categories=4) * 20),
        (("pure", "--epsilon", 0.1, "--steps", 50), PureDP(0.1).loss * 50),
        (("gdp", "--mu", 0.1, "--steps", 50), GaussianDP(0.1).loss * 50),
    ],
)  # fmt: skip
def test_the_command_says_what_the_library_says(arguments, expected) -> None:
    found = plain_values(*arguments, "--delta", 1e-5)["epsilon"]
    direct = expected.epsilon(1e-5)
    assert found["lower"] == pytest.approx(direct.lower, rel=1e-9)
    assert found["upper"] == pytest.approx(direct.upper, rel=1e-9)


@pytest.mark.parametrize(
    "arguments",
    [
        ("discrete-gaussian", "--scale", 10, "--steps", 10),
        ("discrete-laplace", "--scale", 10, "--steps", 10),
        ("exponential", "--epsilon", 0.1, "--steps", 100),
        ("above-threshold", "--epsilon", 0.1, "--steps", 10),
        ("approx", "--epsilon", 0.1, "--each-delta", 1e-9, "--steps", 50),
        ("zcdp", "--rho", 0.01, "--steps", 50),
        ("renyi", "--alpha", 8, "--epsilon", 0.01, "--steps", 50),
        ("gaussian", "--scale", 3),
    ],
)
def test_every_other_family_has_a_price_too(arguments) -> None:
    assert "What it costs: epsilon = " in words(run(*arguments, "--delta", 1e-5))
    found = plain_values(*arguments, "--delta", 1e-5)
    assert 0 <= found["epsilon"]["lower"] <= found["epsilon"]["upper"] < 10


def test_delta_is_asked_at_an_epsilon() -> None:
    found = plain_values("gaussian", "--scale", 1, "--epsilon", 1)
    assert found["question"] == {"asked": "delta", "given": 1.0}
    assert found["delta"]["upper"] == pytest.approx(gaussian_loss(1).delta(1).upper)
    assert "delta, certified" in words(run("pure", "--epsilon", 0.1, "--steps", 9, "--at-epsilon", 0.5))


def test_calibration_finds_noise_that_certainly_meets_the_target_and_hardly_more() -> None:
    arguments = ("gaussian", "--calibrate", 2, "--rate", 0.01, "--steps", 10_000, "--delta", 1e-5)
    found = plain_values(*arguments)
    assert found["epsilon"]["upper"] <= 2
    assert found["epsilon"]["lower"] == pytest.approx(2, abs=1e-5)
    assert "--scale 2.12737" in words(run(*arguments))


def test_calibration_of_a_guarantee_finds_the_largest_epsilon_each() -> None:
    text = words(run("pure", "--calibrate", 2, "--steps", 50, "--delta", 1e-5))
    each = float(text.split("--epsilon ")[1].split()[0])
    assert (PureDP(each).loss * 50).epsilon(1e-5).upper <= 2
    assert (PureDP(each * 1.001).loss * 50).epsilon(1e-5).upper > 2


def test_samples_of_a_fixed_size_are_for_changed_rows() -> None:
    found = plain_values("gaussian", "--scale", 4, "--rate", 0.1, "--fixed-size", "--delta", 1e-5)
    assert found["relation"] == "change one"
    assert found["samplers"] == ["fixed size"]


def test_records_are_saved_and_priced_again_to_the_bit(tmp_path: Path) -> None:
    ledger = tmp_path / "ledger.json"
    direct = plain_values(*SGD, "--unit", "patient", "--save", ledger)
    assert records_from_json(ledger.read_bytes())[0].count == 10_000
    again = plain_values("--records", ledger, "--delta", 1e-5)
    assert again == direct
    assert "unit of protection patient" in words(run("--records", ledger, "--delta", 1e-5))


def test_a_ledger_of_several_records_has_one_price(tmp_path: Path) -> None:
    people = {"relation": "add/remove", "unit": "patient"}
    ledger = [
        ReleaseRecord.of("gaussian", scale=20, count=100, **people),
        ReleaseRecord.of("laplace", scale=30, count=50, **people),
    ]
    path = tmp_path / "ledger.json"
    path.write_text(json.dumps([one.to_dict() for one in ledger]), encoding="utf-8")
    found = plain_values("--records", path, "--delta", 1e-5)
    assert found["epsilon"]["upper"] == pytest.approx(replay(ledger).epsilon(1e-5).upper)
    assert "advanced composition" not in found["comparisons"], "the theorem is about equal releases"


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_both_curves_are_drawn_into_one_file(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"price{suffix}"
    result = run(*QUICK, "--plot", path)
    assert result.exit_code == 0, result.output
    assert path.stat().st_size > 5000
    assert f"Wrote {path}" in result.output


def test_the_plot_has_two_labeled_panels_and_marks_the_answer() -> None:
    from discreet.cli.account.plot import price_plot

    made = certify(
        [ReleaseRecord.of("pure", epsilon=0.1, relation="unstated", unit="patient", count=50)],
        AccountQuestion(1e-5, None),
    )
    left, right = price_plot(made).figure.axes
    assert (left.get_xlabel(), left.get_ylabel(), left.get_yscale()) == ("epsilon", "delta", "log")
    assert (right.get_xlabel(), right.get_ylabel()) == ("chance of a false alarm", "chance of a miss")
    assert [text.get_text() for text in left.texts] == ["epsilon 2.845\nat delta 1e-05"]


class Links(HTMLParser):
    """Collect everything a browser could fetch or run."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.fetched: list[str | None] = []
        self.names: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.fetched += [value for name, value in attributes if name in {"src", "href", "xlink:href", "action"}]


def test_the_page_loads_nothing_and_escapes_the_unit(tmp_path: Path) -> None:
    path = tmp_path / "price.html"
    assert run(*QUICK, "--unit", "<script>patient", "--html", path).exit_code == 0
    text = path.read_text(encoding="utf-8")
    links = Links(text)
    assert all(value is not None and value.startswith("#") for value in links.fetched)
    assert not {"script", "link", "iframe", "img"} & set(links.names)
    assert links.names.count("svg") == 1
    assert "&lt;script&gt;patient" in text


def refused(*arguments: object, code: int = 2) -> str:
    result = run(*arguments)
    assert result.exit_code == code, result.output
    assert result.output.startswith("Error: ")
    assert result.output.count("\n") == 1
    assert "Traceback" not in result.output
    return result.output


@pytest.mark.parametrize("value", ["nan", "-1", "0", "1e400", "", " ", "inf", "-inf", "abc", "1/0", "0x10", "1e-400"])
def test_a_hostile_scale_is_one_line_that_names_the_option(value: str) -> None:
    assert "--scale" in refused("gaussian", "--scale", value, "--delta", 1e-5)


@pytest.mark.parametrize("value", ["nan", "-1", "1e400", "", "2", "9" * 500])
def test_a_hostile_delta_is_one_line(value: str) -> None:
    assert "delta" in refused("gaussian", "--scale", 1, "--delta", value)


@pytest.mark.parametrize("value", ["1.5", "0", "-3", "1e3", "nan", "", "9" * 320])
def test_a_hostile_count_is_one_line(value: str) -> None:
    assert "--steps" in refused("gaussian", "--scale", 1, "--steps", value, "--delta", 1e-5)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("gaussian", "--scale", 1), "--delta 1e-5 asks for epsilon"),
        (("gaussian", "--delta", 1e-5), "--scale is missing"),
        (("approx", "--epsilon", 1, "--delta", 1e-5), "--each-delta is missing"),
        (("pure", "--delta", 1e-5), "--epsilon is missing"),
        (("gaussian", "--scale", 1, "--delta", 1e-5, "--epsilon", 1), "ask one thing"),
        (("gaussian", "--scale", 1, "--sampler", "poisson", "--delta", 1e-5), "needs its rate, for example --rate"),
        (("gaussian", "--scale", 1, "--fixed-size", "--delta", 1e-5), "needs its rate, for example --rate"),
        (("gaussian", "--scale", 1, "--rate", 0.1, "--relation", "change-one", "--delta", 1e-5), "--fixed-size"),
        (("gaussian", "--scale", 1, "--rate", 0.1, "--sampler", "shuffled", "--delta", 1e-5), "not independent"),
        (("gaussian", "--scale", 1, "--rate", 0.1, "--sampler", "dice", "--delta", 1e-5), "'poisson'"),
        (
            ("gaussian", "--scale", 1, "--rate", 0.1, "--sampler", "poisson", "--fixed-size", "--delta", 1e-5),
            "keep one",
        ),
        (("gaussian", "--scale", 1, "--rate", 1.5, "--delta", 1e-5), "--rate"),
        (("zcdp", "--rho", 1, "--rate", 0.1, "--delta", 1e-5), "Start from the noise instead"),
        (("renyi", "--alpha", 1, "--epsilon", 1, "--delta", 1e-5), "--alpha"),
        (("gaussian", "--scale", 1, "--calibrate", 1, "--delta", 1e-5), "leave --scale out"),
        (("gaussian", "--calibrate", 1), "needs --delta"),
        (("gaussian", "--calibrate", -1, "--delta", 1e-5), "epsilon"),
        (("gaussian", "--scale", 1, "--delta", 1e-5, "--save", "x.json"), "--unit"),
        (("gaussian", "--scale", 1, "--delta", 1e-5, "--unit", ""), "unit"),
        (("gaussian", "--scale", 1, "--delta", 1e-5, "--plot", "x.gif"), ".svg, .png or .pdf"),
        ((), "name what is released (gaussian"),
        (("--delta", 1e-5, "gaussian", "--scale", 1), "after the name"),
        (("--records", "no-such-file.json", "--delta", 1e-5), "cannot read"),
    ],
)
def test_what_cannot_be_priced_is_one_line_that_says_what_to_write(arguments, said) -> None:
    assert said in refused(*arguments)


@pytest.mark.parametrize(
    "arguments",
    [
        ("gdp", "--mu", 1e300, "--steps", 10**30, "--delta", 0),
        ("approx", "--epsilon", 10, "--each-delta", 1, "--steps", 10**6, "--at-epsilon", 1),
        ("discrete-laplace", "--scale", 3, "--steps", 10**300, "--delta", 1e-5),
        ("gaussian", "--scale", 1e-300, "--steps", 2, "--delta", 1e-5),
        ("pure", "--epsilon", 1e5, "--steps", 10**30, "--delta", 1e-5),
    ],
)
def test_extreme_numbers_have_a_price_or_one_line(arguments) -> None:
    result = run(*arguments)
    assert result.exit_code in {0, 2}
    assert result.exit_code == 0 or result.output.count("\n") == 1
    assert result.exception is None or isinstance(result.exception, SystemExit)


@pytest.mark.parametrize("text", ["", "{}", "[]", '[{"kind":"cauchy"}]', "[" * 10_000, "\x00"])
def test_a_file_that_is_no_ledger_is_one_line(tmp_path: Path, text: str) -> None:
    path = tmp_path / "ledger.json"
    path.write_text(text, encoding="utf-8")
    refused("--records", path, "--delta", 1e-5)


def test_a_place_that_cannot_be_written_is_one_line_and_exit_code_one(tmp_path: Path) -> None:
    refused("gaussian", "--scale", 1, "--delta", 1e-5, "--plot", tmp_path / "no" / "place.svg", code=1)


def test_without_matplotlib_the_price_needs_no_plot_and_a_plot_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert run("gaussian", "--scale", 1, "--delta", 1e-5).exit_code == 0
    arguments = ("gaussian", "--scale", 1, "--delta", 1e-5, "--plot", tmp_path / "x.svg")
    assert "discreet[plot]" in refused(*arguments, code=1)


def test_every_family_has_a_command_with_help_for_every_option() -> None:
    assert set(account.commands) == set(FAMILIES)
    for command in account.commands.values():
        assert all(option.help for option in command.params)


def test_no_epsilon_and_no_delta_has_a_default() -> None:
    for command in (account, *account.commands.values()):
        for option in command.params:
            if option.name in {"epsilon", "at_epsilon", "delta", "scale", "rho", "mu", "alpha"}:
                assert option.get_default(command.make_context("x", [], resilient_parsing=True)) is None


@pytest.mark.theorem("least_misses.privacy")
@given(st.floats(0.05, 4.0), st.floats(0.01, 0.5))
def test_no_test_misses_less_than_is_said_and_the_best_one_hardly_more(mu: float, alarms: float) -> None:
    loss = GaussianDP(mu).loss
    truth = loss.tradeoff(alarms)
    found = least_misses(loss, alarms)
    assert found <= truth.upper
    assert found >= truth.lower - 2e-3


@pytest.mark.theorem("least_misses.privacy")
def test_the_curve_of_misses_lies_below_the_best_tests() -> None:
    made = certify(
        [ReleaseRecord.of("gaussian dp", mu=1, relation="unstated", unit="patient")], AccountQuestion(1e-5, None)
    )
    alarms = np.linspace(0.0, 1.0, 21)
    found = misses_from(curve(made), alarms)
    truth = np.array([made.loss.tradeoff(float(one)).upper for one in alarms])
    assert np.all(found <= truth)
    assert np.all(found >= truth - 0.01)


def test_comparisons_are_upper_bounds_too() -> None:
    for loss in (gaussian_loss(20) * 100, laplace_loss(20) * 100, PureDP(0.05).loss * 100):
        truth = loss.epsilon(1e-6).lower
        for theorem in (basic, advanced, renyi):
            bound = theorem(loss, Fraction(1e-6))
            assert bound is not None
            assert bound >= truth


def test_beliefs_are_rounded_up_and_add_to_one_hundred() -> None:
    assert belief(2.0) == "88.1:11.9"  # e^2 / (1 + e^2) = 0.88079...
    assert belief(0.0) == "50:50"
    for epsilon in np.linspace(0.01, 11.9, 40):
        sure, doubt = map(Fraction, belief(float(epsilon)).split(":"))
        assert sure + doubt == 100
        assert float(sure) / 100 >= 1 / (1 + math.exp(-epsilon)) - 1e-15
        assert float(sure) / 100 <= 1 / (1 + math.exp(-epsilon)) + 1e-3


def test_the_odds_speak_of_what_the_relation_hides() -> None:
    made = {
        relation: certify(
            [ReleaseRecord.of("gaussian", scale=1, relation=relation, unit="patient")], AccountQuestion(1e-5, None)
        )
        for relation in (Relation.ADD_REMOVE, Relation.CHANGE_ONE)
    }
    assert "whether you are in the data" in odds(made[Relation.ADD_REMOVE])
    assert "which of two rows is yours" in odds(made[Relation.CHANGE_ONE])


def test_a_release_without_a_bound_guarantees_nothing() -> None:
    text = words(run("approx", "--epsilon", 1, "--each-delta", 0.1, "--delta", 1e-5))
    assert "no bound" in text
    assert "nothing is guaranteed" in text
    found = plain_values("approx", "--epsilon", 1, "--each-delta", 0.1, "--delta", 1e-5)
    assert found["epsilon"]["upper"] is None


@pytest.mark.parametrize("text", ["10_000", "1e-5", "1/3", "+2", "0.1"])
def test_numbers_are_read_as_people_write_them(text: str) -> None:
    assert read_number(text) == pytest.approx(float(Fraction(text.replace("_", ""))))


@given(st.text(max_size=12))
def test_any_text_is_a_finite_number_or_refused(text: str) -> None:
    with contextlib.suppress(ParameterError):
        assert math.isfinite(read_number(text))


def test_every_word_survives_a_terminal_that_knows_only_ascii() -> None:
    assert training().output.isascii()


def test_the_installed_program_prices_a_plan() -> None:
    done = subprocess.run(  # noqa: S603 (our own program)
        [sys.executable, "-m", "discreet", "account", *map(str, SGD), "--json"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert json.loads(done.stdout)["epsilon"]["upper"] == pytest.approx(6.18771239)

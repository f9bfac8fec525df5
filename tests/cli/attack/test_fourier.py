"""`discreet attack fourier` tells what it recovered, from whom, and what theory says."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.cli.attack.people import counts_loss, secret_session, split
from discreet.laws import DiscreteGaussian
from discreet.privacy.loss.reference import discrete_gaussian_loss
from tests.cli.program import run


def test_plain_answers_give_everybody_away():
    result = run("attack", "fourier", "--people", 5000)
    assert result.exit_code == 0, result.output
    assert "5,000 invented people" in result.output
    assert "8,192" in result.output
    assert "100.0 %" in result.output


@pytest.mark.parametrize(
    ("kind", "shown"), [("uniform", "95.8 %"), ("signs", "84.1 %"), ("normal", "84.1 %"), ("malicious", "malicious")]
)
def test_a_noisy_curator_is_told_beside_theory(kind, shown):
    result = run("attack", "fourier", "--people", 4095, "--against", "noisy", "--kind", kind)
    assert result.exit_code == 0, result.output
    assert shown in result.output
    assert f"{kind} noise" in result.output


def test_garbage_brings_the_robust_decoder():
    words = ("--people", 4095, "--against", "noisy", "--noise", 0.1, "--garbage", 0.1)
    result = run("attack", "fourier", *words)
    assert result.exit_code == 0, result.output
    assert "robust" in result.output
    assert "100.0 %" in result.output
    assert "16,384" in result.output


def test_a_session_holds_the_attack_below_the_ceiling():
    result = run("attack", "fourier", "--people", 15, "--against", "discreet", "--rho", 0.5)
    assert result.exit_code == 0, result.output
    assert "59.9 %" in result.output  # expected
    assert "69.2 %" in result.output  # the ceiling, rounded up


@pytest.mark.theorem("counts_loss.privacy")
@pytest.mark.parametrize("rho", [0.05, 2])
def test_the_price_of_counts_is_that_of_the_noise_that_a_session_adds(rho):
    with secret_session([1, 0, 1], rho=rho, purpose="a test") as session:
        each = split(session, queries=4)
        answer = session.sql("SELECT COUNT(*) AS n FROM people WHERE marker = 1", rho=each)
    (measure,), (part,) = answer.priced.measures, answer.priced.parts
    law = measure.noise(part).noise
    assert each == Fraction(session.policy.budget.rho) / 4
    assert isinstance(law, DiscreteGaussian)
    assert measure.step == Fraction(1, 2**20)
    # the noise that rho pays for, and hardly more
    assert 1 <= (Fraction(law.scale) / 2**20) ** 2 * 2 * each <= 1 + Fraction(1, 10**9)
    own = discrete_gaussian_loss(law.scale, sensitivity=2**20) * 4
    assert own.delta(0) == counts_loss(each, queries=4).delta(0)


@pytest.mark.parametrize("against", ["plain", "noisy", "discreet"])
def test_one_person_can_be_attacked(against):
    result = run("attack", "fourier", "--people", 1, "--against", against)
    assert result.exit_code == 0, result.output


def test_what_is_certain_is_never_rounded_up():
    result = run("attack", "fourier", "--people", 2**15 - 1, "--against", "noisy", "--noise", 0.004)
    assert result.exit_code == 0, result.output
    assert "99.9 %" in result.output  # all but 8 of 32,767


def test_the_estimates_are_drawn_where_asked(tmp_path):
    result = run("attack", "fourier", "--people", 1000, "--plot", tmp_path / "fourier.svg")
    assert result.exit_code == 0, result.output
    assert (tmp_path / "fourier.svg").read_text(encoding="utf-8").startswith("<?xml")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--people", 5000, "--against", "discreet"), "4,095"),
        (("--people", 100, "--against", "noisy", "--kind", "malicious", "--garbage", 0.1), "malicious"),
        (("--people", 2**22 - 1, "--against", "noisy", "--relabelings", 64), "too many"),
        (("--people", 2**22 - 1, "--relabelings", 64), "too many"),
        (("--people", 1, "--against", "noisy", "--relabelings", 2), "relabelings"),
        (("--people", 7, "--against", "discreet", "--rho", "nan"), "rho must be finite"),
        (("--people", 7, "--against", "noisy", "--noise", "nan"), "finite"),
        (("--people", 0), "--people"),
        (("--against", "nobody"), "--against"),
    ],
)
def test_what_cannot_be_done_is_said_in_one_line(words, said):
    result = run("attack", "fourier", *words)
    assert result.exit_code == 2
    assert said in result.output
    assert "Traceback" not in result.output

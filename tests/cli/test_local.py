"""`discreet local`: a protocol from three numbers, and fleets that do not exist."""

from __future__ import annotations

from fractions import Fraction

import pytest

from discreet.local import Spec
from tests.cli.program import run


def told(result) -> str:
    assert result.exit_code == 0, result.output
    assert "Traceback" not in result.output
    return " ".join(result.stdout.split())


def test_design_says_protocol_error_size_and_what_can_be_seen(tmp_path):
    target = tmp_path / "spec.json"
    text = told(run("local", "design", "--people", 100_000, "--values", 1024, "--epsilon", 1, "--spec", target))
    for words in ("projective-geometry: a report of 11 bits", "standard error", "stands out", "One hostile report"):
        assert words in text
    assert Spec.from_json(target.read_text(encoding="ascii").strip()).protocol == "projective-geometry"


def test_few_values_are_asked_directly_and_one_bit_on_request():
    assert "randomized-response: a report" in told(
        run("local", "design", "--people", 1000, "--values", 3, "--epsilon", 2)
    )
    text = told(run("local", "design", "--people", 1000, "--values", 300, "--epsilon", 0.5, "--bits", 1))
    assert "one-bit-hadamard: a report of 1 bit" in text


def test_epsilon_is_taken_as_it_is_written(tmp_path):
    for text in ("0.1", "1/3", "2", ".25"):
        target = tmp_path / "spec.json"
        told(run("local", "design", "--people", 1000, "--values", 8, "--epsilon", text, "--spec", target))
        assert Spec.from_json(target.read_text(encoding="ascii").strip()).epsilon == Fraction(text)


def test_values_by_name_and_keys_that_nobody_can_list():
    assert "3 values" in told(run("local", "design", "--people", 1000, "--labels", "yes, no,maybe", "--epsilon", 1))
    text = told(run("local", "design", "--people", 100_000, "--keys", "text:24", "--find", "--epsilon", 4))
    assert "heavy-hitters: a report" in text
    assert "A key is found" in text


def test_a_folder_that_is_not_there_is_refused_before_anything_is_printed(tmp_path):
    target = tmp_path / "nowhere" / "spec.json"
    result = run("local", "design", "--people", 1000, "--values", 8, "--epsilon", 1, "--spec", target)
    assert result.exit_code == 2
    assert not result.stdout
    assert "no folder" in result.stderr


def test_simulate_tells_the_error_and_draws_it(tmp_path):
    drawing = tmp_path / "error.svg"
    text = told(
        run("local", "simulate", "--people", 2000, "--values", 32, "--epsilon", 1, "--epsilon", 2, "--plot", drawing)
    )
    assert "Root mean square error of 32 shares" in text
    assert drawing.read_text(encoding="utf-8").startswith("<?xml")


@pytest.mark.parametrize(
    "arguments",
    [
        ("design", "--people", 100, "--values", 4),
        ("design", "--people", 100, "--values", 4, "--epsilon", "nan"),
        ("design", "--people", 100, "--values", 4, "--epsilon", -1),
        ("design", "--people", 0, "--values", 4, "--epsilon", 1),
        ("design", "--people", 100, "--values", 1, "--epsilon", 1),
        ("design", "--people", 100, "--epsilon", 1),
        ("design", "--people", 100, "--values", 4, "--epsilon", "1/0"),
        ("design", "--people", 100, "--values", 4, "--epsilon", "1/\N{ARABIC-INDIC DIGIT ZERO}"),
        ("design", "--people", 100, "--values", 4, "--epsilon", "1e-3"),
        ("design", "--people", 100, "--keys", "nonsense", "--epsilon", 1),
        ("simulate", "--people", 5),
        ("simulate", "--plot", "error.txt"),
    ],
)
def test_senseless_options_are_usage_errors(arguments):
    result = run("local", *arguments)
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output

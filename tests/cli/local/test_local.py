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
    text = told(run("local", "design", "--people", 100_000, "--categories", 1024, "--epsilon", 1, "--spec", target))
    for words in ("projective-geometry: a report of 11 bits", "standard error", "stands out", "One hostile report"):
        assert words in text
    assert Spec.from_json(target.read_text(encoding="ascii").strip()).protocol == "projective-geometry"


def test_few_values_are_asked_directly_and_one_bit_on_request():
    assert "randomized-response: a report" in told(
        run("local", "design", "--people", 1000, "--categories", 3, "--epsilon", 2)
    )
    text = told(run("local", "design", "--people", 1000, "--categories", 300, "--epsilon", 0.5, "--bits", 1))
    assert "one-bit-hadamard: a report of 1 bit" in text


def test_epsilon_is_taken_as_it_is_written(tmp_path):
    for text in ("0.1", "1/3", "2", ".25"):
        target = tmp_path / "spec.json"
        told(run("local", "design", "--people", 1000, "--categories", 8, "--epsilon", text, "--spec", target))
        assert Spec.from_json(target.read_text(encoding="ascii").strip()).epsilon == Fraction(text)


def test_values_by_name_and_keys_that_nobody_can_list():
    assert "3 categories" in told(
        run("local", "design", "--people", 1000, "--categories", "yes, no,maybe", "--epsilon", 1)
    )
    text = told(run("local", "design", "--people", 100_000, "--keys", "text:24", "--find", "--epsilon", 4))
    assert "heavy-hitters: a report" in text
    assert "A key is found" in text


def test_words_name_the_options_of_the_command():
    assert "ask for --bits 1." in told(run("local", "design", "--people", 1000, "--categories", 99, "--epsilon", 1))
    for arguments, words in (
        ((), "--categories is the public number of categories, or the list of their names; it is never guessed"),
        (("--categories", 9, "--find"), "--find searches for keys: say what a key is, as in --keys text:32"),
        (("--categories", 9, "--seed", 1), "--seed is for --keys;"),
        (("--categories", 9, "--asked", 1), "--asked is for --keys;"),
        (("--keys", "text:8", "--bits", 1), "--keys cannot be combined with --categories or --bits"),
        (("--categories", 9, "--largest", 5), "raise --largest, or treat the values as keys: --keys integer:40"),
    ):
        result = run("local", "design", "--people", 1000, "--epsilon", 1, *arguments)
        assert result.exit_code == 2
        assert words in result.stderr


@pytest.mark.parametrize(
    ("epsilon", "limit", "protocol", "bits"),
    [(2, (), "hybrid-mean", 7), (2, ("--bits", 1), "duchi-bit", 1), ("0.5", (), "duchi-bit", 1)],
)
def test_the_mean_of_numbers_has_a_protocol_an_error_and_a_spec(tmp_path, epsilon, limit, protocol, bits):
    target = tmp_path / "spec.json"
    asked = ("--people", 10_000, "--bounds", -20, "100.5", "--epsilon", epsilon, *limit, "--spec", target)
    text = told(run("local", "design", *asked))
    spec = Spec.from_json(target.read_text(encoding="ascii").strip())
    assert (spec.protocol, spec.report_bits, spec.bounds) == (protocol, bits, (-20, Fraction(201, 2)))
    assert f"10,000 people, numbers from -20 to 100.5, epsilon {epsilon} each" in text
    assert f"{protocol}: a report of {bits} bit" in text
    stated = float(text.partition("of the mean is at most ")[2].partition(",")[0])
    assert 1 <= stated / spec.variance(10_000) ** 0.5 < 1.01


def test_the_words_about_a_mean_are_its_numbers():
    asked = ("--people", 10_000, "--bounds", -20, "100.5", "--epsilon", 2, "--confidence", 0.9)
    # a bit stands for a / 2 widths to either side of the middle, a = (e^2 + 1) / (e^2 - 1) = 1.3130: 120.5 a / 200 =
    # 0.7911; the hybrid is not worse than 0.5974 at any of four thousand values; 1.6449 of them make an interval
    text = told(run("local", "design", *asked))
    for words in (
        "hybrid-mean: a report of 7 bits (least variance). The standard error of the mean is at most 0.598, 0.496 % of",
        "An interval (90 %) reaches about 0.983 to either side,",
        "moves the estimated sum by up to 2.23 widths of the range, an honest value by 1.",
        "duchi-bit: 1.75 times the variance, a report of 1 bit.",
        "hybrid-mean 0.597 0.983 7 2.23 duchi-bit 0.791 1.3 1 1.31",
    ):
        assert words in text
    text = told(run("local", "design", *asked, "--bits", 1))
    assert "duchi-bit: a report of 1 bit (the only one within the limits)." in text
    assert "hybrid-mean: 0.57 times the variance, a report of 7 bits." in text


def test_a_file_that_cannot_be_written_is_refused_before_anything_is_printed(tmp_path, monkeypatch):
    monkeypatch.setattr("os.access", lambda *_: False)  # whoever runs the tests may write everywhere
    target = tmp_path / "spec.json"
    result = run("local", "design", "--people", 1000, "--categories", 8, "--epsilon", 1, "--spec", target)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "cannot be written" in result.stderr
    assert not target.exists()


def test_the_mean_of_vectors_has_an_error_and_a_spec(tmp_path):
    target = tmp_path / "spec.json"
    text = told(run("local", "design", "--people", 1, "--dimension", 8, "--epsilon", 4, "--spec", target))
    assert "1 person, vectors of 8 coordinates and length at most 1, epsilon 4 each" in text
    assert "unit-vectors: a report of 41 bits (1.01 times the squared error of PrivUnit with its best cap)." in text
    assert "The estimated mean is about 1.96 away from the mean" in text
    assert "unit-vectors 1.96 41 1.96" in text
    assert Spec.from_json(target.read_text(encoding="ascii").strip()).dimension == 8


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--bounds", 0), "2 arguments"),
        (("--bounds", 1, 1), "low < high"),
        (("--bounds", 0, 1, "--dimension", 2), "leave out --bounds"),
        (("--bounds", 0, 1, "--categories", 4), "--categories is for frequencies"),
        (("--bounds", 0, 1, "--seed", 0), "--seed is for frequencies"),
        (("--bounds", 0, 1, "--keys", "text:8", "--find"), "is for frequencies"),
        (("--bounds", "nan", 1), "must be a number"),
        (("--bounds", "--1", 1), "must be a number"),
        (("--bounds", 0, "1/0"), "must be a number"),
        (("--dimension", 4, "--bits", 8), "takes 40 bits: raise --bits"),
        (("--dimension", 1 << 20), "dimension"),
    ],
)
def test_a_mean_that_cannot_be_planned_is_refused_in_one_line(arguments, words):
    result = run("local", "design", "--people", 100, "--epsilon", 1, *arguments)
    assert result.exit_code == 2, result.output
    assert not result.stdout
    assert words in result.stderr.splitlines()[-1]


def test_a_folder_that_is_not_there_is_refused_before_anything_is_printed(tmp_path):
    target = tmp_path / "nowhere" / "spec.json"
    result = run("local", "design", "--people", 1000, "--categories", 8, "--epsilon", 1, "--spec", target)
    assert result.exit_code == 2
    assert not result.stdout
    assert "no folder" in result.stderr


def test_simulate_tells_the_error_and_draws_it(tmp_path):
    drawing = tmp_path / "error.svg"
    text = told(
        run(
            "local", "simulate", "--people", 2000, "--categories", 32, "--epsilon", 1, "--epsilon", 2, "--plot", drawing
        )
    )
    assert "Root mean square error of 32 frequencies" in text
    assert drawing.read_text(encoding="utf-8").startswith("<?xml")


@pytest.mark.parametrize(
    "arguments",
    [
        ("design", "--people", 100, "--categories", 4),
        ("design", "--people", 100, "--categories", 4, "--epsilon", "nan"),
        ("design", "--people", 100, "--categories", 4, "--epsilon", -1),
        ("design", "--people", 0, "--categories", 4, "--epsilon", 1),
        ("design", "--people", 100, "--categories", 1, "--epsilon", 1),
        ("design", "--people", 100, "--epsilon", 1),
        ("design", "--people", 100, "--categories", 4, "--epsilon", "1/0"),
        ("design", "--people", 100, "--categories", 4, "--epsilon", "1/\N{ARABIC-INDIC DIGIT ZERO}"),
        ("design", "--people", 100, "--categories", 4, "--epsilon", "1e-3"),
        ("design", "--people", 100, "--keys", "nonsense", "--epsilon", 1),
        ("design", "--people", 100, "--categories", 4, "--epsilon", 1, "--spec", ""),
        ("simulate", "--people", 100, "--categories", 4, "--epsilon", 1, "--exponent", "nan"),
        ("simulate", "--people", 5),
        ("simulate", "--plot", "error.txt"),
    ],
)
def test_senseless_options_are_usage_errors(arguments):
    result = run("local", *arguments)
    assert result.exit_code == 2, result.output
    assert "Traceback" not in result.output

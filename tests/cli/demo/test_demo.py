"""The demo from outside: what it prints, what it writes, and how it ends."""

from __future__ import annotations

import dataclasses
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import Result

from discreet.cli import demo
from discreet.cli.demo.story import Story
from tests.cli.program import run


def test_the_demo_tells_the_whole_story_and_ends_well(demo_run: tuple[Path, Result]) -> None:
    out, result = demo_run
    assert result.exit_code == 0, result.output
    text = " ".join(result.stdout.split())
    for words in (
        "nobody here is real", "An attack on exact answers", "100.0 %", "The same attack, through discreet", "55.0 %",
        "mallory", "Before asking", "Useful answers", "median_age", "diagnoses were named", "Asked again, free",
        "What is refused", "Rows are never shown", "The ledger", "entries verified",
    ):  # fmt: skip
        assert words in text
    assert "FAILED" not in text
    assert f"Wrote {out / 'report.html'}" in result.stdout
    assert "\x1b" not in result.output, "a pipe gets no colors and no spinner"


def test_what_the_demo_wrote_can_be_asked_and_verified(demo_run: tuple[Path, Result]) -> None:
    out, result = demo_run
    policy = out / "policy.toml"
    assert run("ledger", "verify", "--policy", policy).exit_code == 0
    query = "SELECT region, COUNT(*) AS patients FROM patients GROUP BY region"
    assert f'discreet ask "{query}" --epsilon 0.25 --analyst ana --policy {policy}' in result.stdout
    assert run("ask", query, "--epsilon", "0.25", "--analyst", "ana", "--policy", policy).exit_code == 0


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


def test_the_report_is_one_page_with_both_drawings_that_loads_nothing(demo_run: tuple[Path, Result]) -> None:
    links = Links((demo_run[0] / "report.html").read_text(encoding="utf-8"))
    assert all(value is not None and value.startswith("#") for value in links.fetched)
    assert not {"script", "link", "iframe", "img"} & set(links.names)
    assert links.names.count("svg") == 2
    assert links.names.count("table") >= 10


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, story: Story) -> pytest.MonkeyPatch:
    """Let the demo tell a story that was made before, and build nothing."""

    class Built:
        policy = Path("policy.toml")

    monkeypatch.setattr(demo, "build", lambda *_, **__: Built())
    monkeypatch.setattr(demo, "tell", lambda *_, **__: story)
    return monkeypatch


def test_without_matplotlib_the_demo_goes_on_and_names_the_extra(told: pytest.MonkeyPatch, tmp_path: Path) -> None:
    told.setitem(sys.modules, "matplotlib.figure", None)
    result = run("demo", "--out", tmp_path)
    assert result.exit_code == 0, result.output
    assert "discreet[plot]" in result.output
    assert "<svg" not in (tmp_path / "report.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("told")
def test_without_plots_nothing_is_said_about_them(tmp_path: Path) -> None:
    result = run("demo", "--no-plot", "--out", tmp_path)
    assert result.exit_code == 0
    assert "Nothing was drawn" not in result.output
    assert "<svg" not in (tmp_path / "report.html").read_text(encoding="utf-8")


def test_a_claim_that_fails_fails_the_demo_after_the_story_is_told(
    told: pytest.MonkeyPatch, story: Story, tmp_path: Path
) -> None:
    told.setattr(demo, "tell", lambda *_, **__: dataclasses.replace(story, unchanged=False))
    result = run("demo", "--no-plot", "--out", tmp_path)
    assert result.exit_code == 1
    assert "this did not hold: the same question again" in result.stderr
    assert "FAILED" in result.stdout


@pytest.mark.parametrize(
    "arguments", [("--people", 5039), ("--people", 10**7), ("--people", "many"), ("--seed", -1), ("--what",)]
)
def test_senseless_options_are_usage_errors(arguments: tuple[object, ...], tmp_path: Path) -> None:
    result = run("demo", "--out", tmp_path, *arguments)
    assert result.exit_code == 2
    assert not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written_is_one_line_and_exit_code_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    result = run("demo", "--no-plot", "--out", tmp_path / "file" / "below")
    assert result.exit_code == 1
    assert result.stderr.startswith("Error: cannot use")
    assert "Traceback" not in result.output


def test_the_demo_never_touches_the_ledger_of_somebody_else(tmp_path: Path) -> None:
    (tmp_path / "ledger.sqlite").write_text("precious", encoding="utf-8")
    result = run("demo", "--out", tmp_path)
    assert result.exit_code == 2
    assert "no demo wrote" in result.stderr
    assert (tmp_path / "ledger.sqlite").read_text(encoding="utf-8") == "precious"

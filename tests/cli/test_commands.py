"""The program from outside: what it prints, what it writes, and how it fails."""

from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from discreet._version import __version__
from discreet.cli.commands import program


def run(*arguments: object) -> Result:
    plain = {"COLUMNS": "100", "FORCE_COLOR": None, "TTY_COMPATIBLE": None, "TTY_INTERACTIVE": None}
    return CliRunner(env=plain).invoke(program, [str(argument) for argument in arguments], prog_name="discreet")


def test_version_is_the_version_of_the_package() -> None:
    result = run("--version")
    assert result.exit_code == 0
    assert result.output == f"discreet {__version__}\n"


def test_help_lists_the_demo_and_every_option_of_it() -> None:
    assert "demo" in run("-h").output
    text = run("demo", "--help").output
    assert all(option in text for option in ("--people", "--seed", "--out", "--no-plot"))


def test_demo_tells_the_story_and_writes_report_and_plot(tmp_path: Path) -> None:
    result = run("demo", "--people", 500, "--out", tmp_path / "new" / "place")
    assert result.exit_code == 0, result.output
    assert "nobody here is real" in " ".join(result.output.split())
    for name in ("report.html", "wards.svg", "wards.png"):
        path = tmp_path / "new" / "place" / name
        assert path.stat().st_size > 1000
        assert f"Wrote {path}" in result.output
    assert "\x1b" not in result.output, "a pipe gets no colours and no spinner"


def test_running_twice_replaces_the_report_and_draws_fresh_noise(tmp_path: Path) -> None:
    pages = []
    for _ in range(2):
        assert run("demo", "--people", 500, "--no-plot", "--out", tmp_path).exit_code == 0
        pages.append((tmp_path / "report.html").read_text(encoding="utf-8"))
    # more than eleven answers at scale 2 are all equal again with chance below 1e-8
    assert pages[0] != pages[1]


def test_without_a_plot_only_the_report_is_written(tmp_path: Path) -> None:
    result = run("demo", "--people", 500, "--no-plot", "--out", tmp_path)
    assert result.exit_code == 0
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]
    assert "<svg" not in (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "No plot was drawn" not in result.output


def test_without_matplotlib_the_demo_goes_on_and_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    result = run("demo", "--people", 500, "--out", tmp_path)
    assert result.exit_code == 0
    assert "No plot was drawn" in result.output
    assert "discreet[plot]" in result.output
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


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


def test_the_report_is_one_page_that_loads_nothing(tmp_path: Path) -> None:
    run("demo", "--people", 500, "--out", tmp_path)
    links = Links((tmp_path / "report.html").read_text(encoding="utf-8"))
    assert all(value is not None and value.startswith("#") for value in links.fetched)
    assert not {"script", "link", "iframe", "img"} & set(links.names)
    assert links.names.count("svg") == 1
    assert links.names.count("caption") >= 3


@pytest.mark.parametrize(
    "arguments", [("--people", 99), ("--people", 10**7), ("--people", "many"), ("--seed", -1), ("--what",)]
)
def test_senseless_options_are_usage_errors(arguments: tuple[object, ...], tmp_path: Path) -> None:
    result = run("demo", "--out", tmp_path, *arguments)
    assert result.exit_code == 2
    assert not list(tmp_path.iterdir())


def test_a_place_that_cannot_be_written_is_one_line_and_exit_code_one(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    result = run("demo", "--people", 500, "--no-plot", "--out", tmp_path / "file" / "below")
    assert result.exit_code == 1
    last = result.output.splitlines()[-1]
    assert last.startswith("Error: cannot write")
    assert "Traceback" not in result.output


@pytest.mark.parametrize("missing", ["click", "rich"])
def test_without_its_extra_the_program_says_so_in_one_line(missing: str) -> None:
    script = f"import sys; sys.modules[{missing!r}] = None; import discreet.cli; discreet.cli.main()"
    done = subprocess.run(  # noqa: S603 (our own program)
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("discreet: the command line needs the package")
    assert done.stderr.count("\n") == 1
    assert "discreet[cli]" in done.stderr
    assert missing in done.stderr


def test_the_module_runs_like_the_program() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "discreet.cli", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"discreet {__version__}\n"

"""The program from outside: its help, its version, and what it says when something is missing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import click
import pytest

from discreet._version import __version__
from discreet.cli.program import LazyGroup, attack, audit, learn, local, program
from tests.cli.program import clinic, run

COMMANDS = ("init", "check", "explain", "rehearse", "ask", "synthesize", "learn", "budget", "ledger", "account", "demo")


def test_version_is_the_version_of_the_package() -> None:
    result = run("--version")
    assert result.exit_code == 0
    assert result.output == f"discreet {__version__}\n"


def test_help_lists_every_command_and_every_exit_code() -> None:
    text = " ".join(run("-h").output.split())
    assert all(name in text for name in COMMANDS)
    assert all(f"{code} " in text.partition("Exit codes:")[2] for code in range(6))


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_explains_itself(name: str) -> None:
    result = run(name, "--help")
    assert result.exit_code == 0
    assert f"discreet {name}" in result.output


def test_an_unknown_command_is_a_usage_error() -> None:
    assert run("anser").exit_code == 2


@pytest.mark.parametrize("missing", ["click", "rich"])
def test_without_its_extra_the_program_says_so_in_one_line(missing: str) -> None:
    script = f"import sys; sys.modules[{missing!r}] = None; import discreet.cli; discreet.cli.main()"
    done = subprocess.run(  # noqa: S603 (our own program)
        [sys.executable, "-c", script], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("discreet: the command line needs the package")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("words", ["--help", "attack --help", "account laplace --scale 2 --delta 0"])
def test_output_that_cannot_be_written_is_one_line_and_status_1(words: str) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(  # noqa: S603 (our own program)
            [sys.executable, "-m", "discreet", *words.split()],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "discreet: the output cannot be written: No space left on device\n"


@pytest.mark.parametrize("form", [[], ["--json"], ["--csv"]])
def test_an_answer_that_cannot_be_written_stays_charged_and_is_free_again(form: list[str], tmp_path: Path) -> None:
    policy = clinic(tmp_path)
    count = ["ask", "SELECT COUNT(*) AS n FROM visits", "--epsilon", "1", "--policy", str(policy)]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(  # noqa: S603 (our own program)
            [sys.executable, "-m", "discreet", *count, *form],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert done.returncode == 1
    again = json.loads(run(*count, "--json").stdout)
    assert again["replayed"]
    assert done.stderr == (
        "Error: the output cannot be written: No space left on device. The charge stands as record "
        f"{again['record']}, and the answer is in the ledger: ask the same question at the same price again, which is "
        "free\n"
    )
    assert json.loads(run("budget", "--policy", policy, "--json").stdout)["spent"]["epsilon"] == 1


@pytest.mark.parametrize("package", ["numpy", "cryptography", "flint"])
@pytest.mark.parametrize("fault", ["raise AttributeError('half an upgrade')", "import no_such_module_at_all"])
def test_a_core_package_that_is_broken_is_named_in_one_line(package: str, fault: str, tmp_path: Path) -> None:
    place = tmp_path / package
    place.mkdir()
    (place / "__init__.py").write_text(fault + "\n", encoding="utf-8")
    script = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import discreet.cli; discreet.cli.main()"
    asked = ["account", "laplace", "--scale", "2", "--delta", "0"]
    done = subprocess.run(  # noqa: S603 (our own program)
        [sys.executable, "-c", script, *asked], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert done.stderr.startswith(f"discreet: the package {package!r} cannot be imported")
    assert len(done.stderr.splitlines()) == 1


def test_a_fault_of_discreet_itself_keeps_its_traceback(tmp_path: Path) -> None:
    script = "import discreet.cli, discreet.cli.program as p; p.program = lambda **_: 1 / 0; discreet.cli.main()"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, cwd=tmp_path)  # noqa: S603 (our own program)
    assert "ZeroDivisionError" in done.stderr


def test_the_package_is_run_as_the_program() -> None:
    done = subprocess.run([sys.executable, "-m", "discreet", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"discreet {__version__}\n"


@pytest.mark.parametrize("package", ["rich", "sqlglot", "click"])
@pytest.mark.parametrize("fault", ["raise AttributeError('half an upgrade')", "import no_such_module_at_all"])
def test_a_package_that_is_installed_and_broken_is_named_in_one_line(package: str, fault: str, tmp_path: Path) -> None:
    place = tmp_path / "broken" / package
    place.mkdir(parents=True)
    (place / "__init__.py").write_text(fault + "\n", encoding="utf-8")
    script = f"import sys; sys.path.insert(0, {str(place.parent)!r}); import discreet.cli; discreet.cli.main()"
    asked = ["ask", "SELECT COUNT(*) AS n FROM visits", "--epsilon", "1", "--policy", str(clinic(tmp_path))]
    done = subprocess.run(  # noqa: S603 (our own program)
        [sys.executable, "-c", script, *asked], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert f"{package!r}, which is installed but cannot be imported" in done.stderr
    assert "discreet[sql]" in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize("missing", ["sqlglot", "duckdb"])
@pytest.mark.parametrize("name", ["ask", "demo", "check"])
def test_without_the_engine_a_command_names_its_extra(name: str, missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, missing, None)
    result = run(name)
    assert result.exit_code == 1
    assert "discreet[sql]" in result.stderr
    assert len(result.stderr.splitlines()) == 1
    assert run("account", "laplace", "--scale", 2, "--delta", 0).exit_code == 0


def loaded_by(*arguments: str) -> set[str]:
    """Return the modules that a command loads in a process of its own."""
    script = (
        "import sys; sys.argv[0] = 'discreet'; import discreet.cli, atexit; "
        "atexit.register(lambda: print(*sys.modules, file=sys.stderr)); discreet.cli.main()"
    )
    done = subprocess.run(  # noqa: S603 (our own program)
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True
    )
    assert done.stdout
    return set(done.stderr.split())


@pytest.mark.parametrize("arguments", [("--help",), ("--version",), ("attack", "--help"), ("local", "-h")])
def test_help_loads_no_command_and_no_room(arguments: tuple[str, ...]) -> None:
    found = loaded_by(*arguments)
    assert "click" in found
    assert not found & {"numpy", "scipy", "rich", "duckdb", "sqlglot", "pandas", "pyarrow", "discreet.privacy"}
    own = {name for name in found if name.startswith("discreet")}
    assert own == {
        "discreet", "discreet._optional", "discreet._version", "discreet.cli", "discreet.cli.program",
        "discreet.errors",
    }  # fmt: skip


def test_a_budget_is_told_without_the_engine_and_what_it_reads(tmp_path: Path) -> None:
    found = loaded_by("budget", "--policy", str(clinic(tmp_path)))
    assert "discreet.ledger" in found
    assert not found & {"duckdb", "sqlglot", "pandas", "polars", "pyarrow", "scipy", "discreet.statistics"}


@pytest.mark.parametrize("group", [program, learn, local, attack, audit], ids=lambda group: group.name)
def test_every_command_is_where_the_table_of_its_group_says(group: LazyGroup) -> None:
    context = click.Context(group)
    for name, (_, words) in group.listed.items():
        command = group.get_command(context, name)
        assert isinstance(command, click.Command)
        assert command.name == name
        assert command.help
        assert words.endswith((".", "?"))
    assert group.list_commands(context) == list(group.listed)
    assert group.get_command(context, "nothing") is None


def test_pricing_a_plan_does_not_load_the_query_engine() -> None:
    script = (
        "import sys; from discreet.cli.program import program; "
        "program(['account', 'laplace', '--scale', '2', '--delta', '0', '--json'], standalone_mode=False); "
        "print('duckdb' in sys.modules, 'sqlglot' in sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(  # noqa: S603 (our own program)
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout)
    assert done.stderr.split() == ["False", "False"]

"""Build the wheel, install it with the extra `sql` in a fresh environment, and use it as somebody who has only that.

    python -m tools.wheel

The commands of the first page run in an empty folder, far from the source: the demo, a check of its policy, a question.
Then the documented calls are checked by their types against what was installed. The packages are those that
requirements/dev.txt pins.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path

from tools.install import pins

ROOT = Path(__file__).resolve().parent.parent
CALLS = ROOT / "tests" / "typing" / "documented_calls.py"
QUESTION = "SELECT region, COUNT(*) AS patients FROM patients GROUP BY region"
POLICY = "discreet-demo/policy.toml"
OURS = ("PYTHON", "MYPY", "VIRTUAL_ENV")  # variables that would show the fresh environment this tree
COMMANDS = (
    ("discreet", "demo"),
    ("discreet", "check", POLICY),
    ("discreet", "ask", QUESTION, "--epsilon", "0.1", "--analyst", "ana", "--policy", POLICY),
    ("python", "-m", "discreet", "--version"),
    ("python", "-m", "pip", "check"),
)


class CommandFailed(RuntimeError):
    """A command ended with another status than 0; the message is what it printed."""


def run(command: Sequence[str], *, folder: Path) -> str:
    """Run a command in a folder, without this environment's paths, and return what it prints; say how long it took."""
    began = time.monotonic()
    clean = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    done = subprocess.run(  # noqa: S603  our own commands
        command, cwd=folder, env=clean, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    words = " ".join([Path(command[0]).name, *command[1:]])
    if done.returncode:
        raise CommandFailed(f"{words}\nended with {done.returncode}:\n{done.stdout}{done.stderr}")
    print(f"{time.monotonic() - began:5.1f} s  {words}", flush=True)
    return done.stdout


def build(folder: Path) -> Path:
    """Build the wheel of this tree into a folder and return it; it must say that it is typed."""
    wheel_of = ["pip", "wheel", "--no-deps", "--no-build-isolation", "-w", str(folder), str(ROOT)]
    run([sys.executable, "-m", *wheel_of], folder=ROOT)
    (wheel,) = folder.glob("discreet-*.whl")
    with zipfile.ZipFile(wheel) as packed:
        names = packed.namelist()
    for needed in ("discreet/py.typed", "discreet/__init__.py"):
        if needed not in names:
            raise CommandFailed(f"{wheel.name} lacks {needed}")
    strange = sorted({name.partition("/")[0] for name in names if not name.startswith("discreet")})
    if strange:
        raise CommandFailed(f"{wheel.name} holds more than the package: {', '.join(strange)}")
    return wheel


def installed(wheel: Path, folder: Path, extras: str) -> Path:
    """Make an environment of its own, install the wheel with its extras, and return the folder of its programs."""
    run([sys.executable, "-m", "venv", "--clear", str(folder)], folder=ROOT)
    limits = folder / "pins.txt"
    pinned = pins((ROOT / "requirements" / "dev.txt").read_text(encoding="utf-8"))
    limits.write_text("\n".join(pinned), encoding="utf-8")
    wanted = f"{wheel}[{extras}]"
    install = ["pip", "install", "--quiet", "--only-binary", ":all:", "-c", str(limits), wanted]
    run([str(folder / "bin" / "python"), "-m", *install], folder=ROOT)
    return folder / "bin"


def main(arguments: Sequence[str] | None = None) -> int:
    """Build, install and use the wheel; print a line a command, and what failed."""
    parser = argparse.ArgumentParser(description="Build the wheel, install it in a fresh environment, and use it.")
    parser.add_argument("--extras", default="sql", help="what to install with it (default: sql)")
    extras = parser.parse_args(arguments).extras
    with tempfile.TemporaryDirectory(prefix="discreet-wheel-") as name:
        folder = Path(name)
        empty = folder / "empty"
        empty.mkdir()
        try:
            programs = installed(build(folder), folder / "environment", extras)
            for first, *rest in COMMANDS:
                run([str(programs / first), *rest], folder=empty)
            seen = ["--python-executable", str(programs / "python"), "--cache-dir", str(folder / "types")]
            run([sys.executable, "-m", "mypy", "--config-file=", "--strict", *seen, str(CALLS)], folder=empty)
        except CommandFailed as failed:
            print(failed, file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())

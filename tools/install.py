"""Install a file of pinned requirements into the Python that runs this, and say how far it is while pip works.

    python -m tools.install requirements/heavy.txt --within requirements/dev.txt

Nothing but the standard library is used: this is the first thing that a new environment runs. A line is printed at the
beginning, every ten seconds and at the end, so that a log without a terminal stays short and never looks dead; what pip
says is shown only where it fails. With `--within`, no package that the other file pins is changed. Other options go to
pip.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path

EVERY = 10.0  # seconds between two lines
SHOWN = 40  # lines of pip's that are worth reading after a failure


def pins(text: str) -> list[str]:
    """Return what a file of requirements pins, as `name==version`, without hashes and without extras."""
    found = re.findall(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^\s;\\]+)", text, re.MULTILINE)
    return [f"{name}=={version}" for name, version in found]


def stage(said: Sequence[str]) -> str:
    """Say what pip is doing, from the lines that it has printed."""
    fetched = sum(line.startswith(("Collecting ", "Processing ")) for line in said)
    for line in reversed(said):
        if line.startswith("Installing collected packages:"):
            return f"unpacking {line.count(',') + 1} packages"
        building = re.match(r" *Building wheel for (\S+)", line)
        if building:
            return f"building {building[1]}"
        if line.startswith("Collecting "):
            break
    return f"{fetched} packages found"


def install(path: Path, *, options: Sequence[str], every: float = EVERY) -> int:
    """Run pip on one file of requirements and return its exit status."""
    print(f"installing {path} ({len(pins(path.read_text(encoding='utf-8')))} packages)", flush=True)
    began = time.monotonic()
    command = [sys.executable, "-m", "pip", "install", "--progress-bar", "off", "-r", str(path), *options]
    said: list[str] = []
    with subprocess.Popen(  # noqa: S603 - this Python's own pip
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as pip:
        reader = threading.Thread(target=lambda: said.extend(pip.stdout or ()), daemon=True)
        reader.start()
        while True:
            reader.join(every)
            if not reader.is_alive():
                break
            print(f"  {time.monotonic() - began:.0f} s: {stage(said)}", flush=True)
    seconds = f"{time.monotonic() - began:.0f} s"
    if pip.returncode:
        print("".join(said[-SHOWN:]) + f"pip could not install {path}, after {seconds}", file=sys.stderr)
    else:
        print(f"  {seconds}: {path} is installed", flush=True)
    return pip.returncode


def main(arguments: Sequence[str]) -> int:
    """Install the file that the arguments name."""
    path, *options = arguments
    if "--within" not in options:
        return install(Path(path), options=options)
    at = options.index("--within")
    kept = pins(Path(options[at + 1]).read_text(encoding="utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        # pip would ask for a hash of everything if the constraints had any
        constraints = Path(folder) / "constraints.txt"
        constraints.write_text("\n".join(kept) + "\n", encoding="utf-8")
        return install(Path(path), options=["-c", str(constraints), *options[:at], *options[at + 2 :]])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

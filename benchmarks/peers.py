"""The peers that the benchmarks compare with, each in an environment of its own, run as another process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, Self

HERE = Path(__file__).resolve().parent
PEERS = HERE.parent / ".peers"
OPENDP = ("opendp==0.16.0", "numpy")
_ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def opendp_python() -> str:
    """Return an interpreter that has opendp: the one named by DISCREET_PEER_OPENDP, or one made here."""
    return os.environ.get("DISCREET_PEER_OPENDP") or str(_environment("opendp", OPENDP))


def _environment(name: str, requirements: tuple[str, ...]) -> Path:
    """Return the interpreter of a peer's environment, made on first use in a folder that git ignores."""
    home = PEERS / name
    python, ready = home / "bin" / "python", home / ".ready"
    if not ready.exists():
        print(f"making {home.relative_to(PEERS.parent)} with {', '.join(requirements)}", file=sys.stderr)
        PEERS.mkdir(exist_ok=True)
        (PEERS / ".gitignore").write_text("*\n", encoding="utf-8")
        _run([sys.executable, "-m", "venv", "--clear", str(home)])
        _run([str(python), "-m", "pip", "install", "--quiet", "--only-binary", ":all:", *requirements])
        ready.touch()
    return python


def _run(command: list[str]) -> None:
    """Run a command to its end, without the search path of this process."""
    subprocess.run(command, check=True, env=_ENVIRONMENT)  # noqa: S603 - commands written above


class OpenDP:
    """The other process: ask it for the CPU time of a call of opendp, or for the correlation of noise with time."""

    def __init__(self) -> None:
        """Start it."""
        command = [opendp_python(), str(HERE / "opendp_noise.py")]
        self._process = subprocess.Popen(  # noqa: S603 - an interpreter that the person running this chose
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=_ENVIRONMENT
        )
        self.version: str = self._ask(task="version")

    def seconds(self, call: str, calls: int = 1, **parameters: Any) -> float:
        """Return the CPU seconds of one call, averaged over `calls`."""
        return float(self._ask(task="seconds", call=call, calls=calls, **parameters))

    def timing(self, call: str, calls: int, **parameters: Any) -> float:
        """Return the rank correlation of the size of the noise with the time of a call."""
        return float(self._ask(task="timing", call=call, calls=calls, **parameters))

    def _ask(self, **request: Any) -> Any:
        """Send one request and wait for its reply."""
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise RuntimeError("the peer was started without pipes")
        stdin.write(json.dumps(request) + "\n")
        stdin.flush()
        reply = stdout.readline()
        if not reply:
            raise RuntimeError(f"opendp stopped with status {self._process.wait()} at {request}")
        return json.loads(reply)

    def __enter__(self) -> Self:
        """Return the running peer."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it by closing its input."""
        if self._process.stdin is not None:
            self._process.stdin.close()
        self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()

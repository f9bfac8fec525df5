"""The peers that the benchmarks compare with, each in an environment of its own, run as another process."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

ROOT = Path(__file__).resolve().parent.parent.parent
PEERS = ROOT / ".peers"
_THREADS = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | _THREADS


def _environment(name: str, requirements: tuple[str, ...], sources: tuple[str, ...], newest: tuple[int, int]) -> Path:
    """Return the interpreter of a peer's environment, made on first use in a folder that git ignores."""
    home = PEERS / name
    python, ready = home / "bin" / "python", home / ".ready"
    if not ready.exists():
        print(f"making {home.relative_to(PEERS.parent)} with {', '.join(requirements)}", file=sys.stderr)
        PEERS.mkdir(exist_ok=True)
        (PEERS / ".gitignore").write_text("*\n", encoding="utf-8")
        _run([_interpreter(newest), "-m", "venv", "--clear", str(home)])
        built = [word for name in sources for word in ("--no-binary", name)]
        _run([str(python), "-m", "pip", "install", "--quiet", "--only-binary", ":all:", *built, *requirements])
        ready.touch()
    return python


def _interpreter(newest: tuple[int, int]) -> str:
    """Return this interpreter, or an older one from the PATH where the peer has none for this."""
    if sys.version_info[:2] <= newest:
        return sys.executable
    return shutil.which(f"python{newest[0]}.{newest[1]}") or sys.executable


def _run(command: list[str]) -> None:
    """Run a command to its end, without the search path of this process."""
    subprocess.run(command, check=True, env=_ENVIRONMENT)  # noqa: S603 - commands written above


class Peer:
    """The other process, on one thread: it answers a line of JSON with a line of JSON."""

    name: str
    requirements: tuple[str, ...]
    module: str
    sources: tuple[str, ...] = ()
    newest_python: tuple[int, int] = (3, 13)

    def __init__(self) -> None:
        """Start it, in the interpreter named by DISCREET_PEER_... or one made here."""
        variable = f"DISCREET_PEER_{self.name.upper().replace('-', '_')}"
        python = os.environ.get(variable) or str(
            _environment(self.name, self.requirements, self.sources, self.newest_python)
        )
        self._process = subprocess.Popen(  # noqa: S603 - an interpreter that the person running this chose
            [python, "-m", self.module],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=_ENVIRONMENT,
            cwd=ROOT,
        )
        self.version: str = self._ask(task="version")

    def _ask(self, **request: Any) -> Any:
        """Send one request and wait for its reply."""
        stdin, stdout = self._process.stdin, self._process.stdout
        if stdin is None or stdout is None:
            raise RuntimeError("the peer was started without pipes")
        stdin.write(json.dumps(request) + "\n")
        stdin.flush()
        reply = stdout.readline()
        if not reply:
            raise RuntimeError(f"{self.name} stopped with status {self._process.wait()} at {request}")
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


class OpenDP(Peer):
    """Ask opendp for the CPU time of a call, or for the correlation of noise with time."""

    name, requirements, module = "opendp", ("opendp==0.16.0", "numpy"), "benchmarks.peers.opendp.noise"

    def seconds(self, call: str, calls: int = 1, **parameters: Any) -> float:
        """Return the CPU seconds of one call, averaged over `calls`."""
        return float(self._ask(task="seconds", call=call, calls=calls, **parameters))

    def timing(self, call: str, calls: int, **parameters: Any) -> float:
        """Return the rank correlation of the size of the noise with the time of a call."""
        return float(self._ask(task="timing", call=call, calls=calls, **parameters))


class Answer(NamedTuple):
    """What an accountant said, and the CPU seconds it took."""

    value: Any
    seconds: float


class Accountant(Peer):
    """Ask an accountant for an epsilon or a calibrated scale, several times, and keep the fastest."""

    def ask(self, task: str, rounds: int = 1, **parameters: Any) -> Answer:
        """Return the answer and the best time."""
        found = [Answer(**self._ask(task=task, **parameters)) for _ in range(rounds)]
        return min(found, key=lambda one: one.seconds)


class DPAccounting(Accountant):
    """Privacy loss distributions on a grid, rounded to the safe side."""

    name, requirements, module = "dp-accounting", ("dp-accounting==0.6.0",), "benchmarks.peers.dp_accounting.accounting"


class PRVAccountant(Accountant):
    """Privacy random variables by Fourier transforms, with an interval."""

    name, requirements, module = (
        "prv-accountant",
        ("prv-accountant==0.2.0",),
        "benchmarks.peers.prv_accountant.accounting",
    )


class Statistician(Peer):
    """Ask a library for the squared errors of its private statistics."""

    def keep(self, name: str, values: list[Any]) -> None:
        """Hand over a column under a name."""
        self._ask(task="column", name=name, values=values)

    def errors(self, request: dict[str, Any]) -> dict[str, dict[str, list[float]]]:
        """Return, for each way the library has, the measures of error of every draw."""
        answer: dict[str, dict[str, list[float]]] = self._ask(task="errors", **request)
        return answer


class OpenDPStatistics(Statistician):
    """Statistics from transformations and measurements, each with a privacy map."""

    name, requirements, module = "opendp", OpenDP.requirements, "benchmarks.peers.opendp.statistics"


class Diffprivlib(Statistician):
    """Statistics in the manner of numpy, the number of rows public; newer scikit-learns break its import."""

    name, module = "diffprivlib", "benchmarks.peers.diffprivlib.statistics"
    requirements = ("diffprivlib==0.6.6", "scikit-learn==1.8.0")


class TumultCore(Statistician):
    """The noise and the formulas of measurements made for Spark; it needs an older pandas, and pyspark from source."""

    name, requirements, module = "tmlt-core", ("tmlt.core==0.20.0",), "benchmarks.peers.tmlt.statistics"
    sources, newest_python = ("pyspark",), (3, 11)


class Learner(Peer):
    """Ask a library to fit a model on splits that it makes itself, for its scores on the held-out rows."""

    def scores(self, **request: Any) -> list[float] | str:
        """Return a score a seed, or the words with which the model failed."""
        answer: list[float] | str = self._ask(task="scores", **request)
        return answer


class DiffprivlibLearning(Learner):
    """Models in the manner of scikit-learn, pure epsilon; its logistic regression needs an older scikit-learn."""

    name, module = "diffprivlib-learning", "benchmarks.peers.diffprivlib.learning"
    requirements = ("diffprivlib==0.6.6", "scikit-learn==1.7.2")


class Interpret(Learner):
    """Boosted additive models with Gaussian composition."""

    name, module = "interpret", "benchmarks.peers.interpret.learning"
    requirements = ("interpret-core==0.7.8", "scikit-learn==1.7.2")

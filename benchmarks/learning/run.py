"""Compare discreet's private learning with diffprivlib and interpret's DP-EBM, in one run: `make bench-learning`.

Every cell is a mean over fresh splits, 70 % of the rows to learn from and the rest to score on, with its standard error
and the number of splits; all sides make the same splits. A slow model gets fewer of them. Bounds are the least and
largest value of the whole table, rounded outward, the same for all: as if they were public, which flatters all alike.
The number of people is a round number near the number of training rows. Ours is (epsilon, 1e-5) under add/remove;
DP-EBM is (epsilon, 1e-5) by its own account; **diffprivlib is pure epsilon**, a stronger guarantee that needs more
noise, and takes the number of rows as public. Every model of a peer is tried, and the best one in a cell is compared,
which flatters it. Each of our estimators has one public rule, whatever the table; its constants were chosen on other
splits of the same tables, and on other draws of the made-up ones. A public map of features is drawn anew for each
split. A ratio says how many times less ours leaves to a perfect score: (1 - peer) / (1 - ours). A bar is for our mean,
without any allowance. R2 is after cutting predictions to the public bounds. Components are scored by the variance of
held-out rows in their span, clusters by the adjusted Rand index of held-out rows. Models of one name are compared with
each other too, without bars.

Prototypes are other ways to fit the same model, with numpy's noise; objective perturbation pays for its linear term
alone there, which flatters it. The cost of exactness is CPU time, the best of seven rounds in turns. Fits through a
session run in a process of their own, on one thread.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import cache, partial
from pathlib import Path
from subprocess import CalledProcessError
from typing import NamedTuple

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import numpy as np

import discreet as dp
from benchmarks.common.peers import DiffprivlibLearning, Interpret, Learner
from benchmarks.common.report import Row, machine, table
from benchmarks.learning import exactness, ours, prototypes, scale
from benchmarks.learning.cells import CELLS, EPSILONS, SEEDS, Cell
from benchmarks.learning.data import TABLES
from benchmarks.learning.side import Model, Request, scores

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "evidence" / "bench-learning.md"
SECONDS = 120.0  # of CPU time for one of our models in one cell
SECONDS_OF_PEER = 8.0
SHORT = {"diffprivlib-learning": "diffprivlib"}


class Measured(NamedTuple):
    """A mean over splits, its standard error, and how many splits there were."""

    mean: float
    error: float
    splits: int

    @classmethod
    def of(cls, found: list[float]) -> Measured:
        """Average scores."""
        spread = float(np.std(found, ddof=1) / np.sqrt(len(found))) if len(found) > 1 else float("nan")
        return cls(float(np.mean(found)), spread, len(found))

    def __str__(self) -> str:
        return f"{self.mean:.3f} ({self.error:.3f}, {self.splits})"


def compared(peers: list[Learner], *, part: str) -> Iterator[Row]:
    """Hold the models of one part against the best of the peers and their bars."""
    for cell in CELLS:
        if cell.part != part:
            continue
        if TABLES[cell.table]() is None:
            yield Row(str(cell), "skipped: the table is not at hand")
            continue
        if cell.model in ours.PLAIN and ours.exists(cell.model):
            plain = Measured.of(_own(cell, cell.model, 1.0, ours.PLAIN))
            yield Row(f"{cell}, without privacy", "", f"scikit-learn {plain}")
        for epsilon, bar in zip(EPSILONS, cell.bars, strict=True):
            row = _row(cell, epsilon, bar, peers)
            print("  " + " | ".join(text for text in row.cells if text), file=sys.stderr, flush=True)
            yield row


def _row(cell: Cell, epsilon: float, bar: float | None, peers: list[Learner]) -> Row:
    """Return one cell at one epsilon."""
    what = f"{cell}, epsilon {epsilon:g}"
    theirs = dict(_of_peers(cell, epsilon, peers))
    found = {name: one for name, one in theirs.items() if isinstance(one, Measured)}
    best = max(found, key=lambda name: found[name].mean, default=None)
    shown = [f"{name} {one}" for name, one in theirs.items()]
    for name in cell.beside:
        if ours.exists(name):
            shown.append(f"own {name} {Measured.of(_own(cell, name, epsilon, ours.MODELS))}")
    first = [] if best is None else [f"best: {best} {found[best]}"]
    listed = "; ".join([*first, *(text for text in shown if best is None or not text.startswith(f"{best} "))])
    if not ours.exists(cell.model):
        return Row(what, "none yet", listed, bar="" if bar is None else f">= {bar:g}")
    mine = Measured.of(_own(cell, cell.model, epsilon, ours.MODELS))
    ratio = "" if best is None else f"{(1 - found[best].mean) / (1 - mine.mean):.3g}"
    wanted, holds = ("", None) if bar is None else (f">= {bar:g}", mine.mean >= bar)
    return Row(what, str(mine), listed, ratio, wanted, holds)


def _of_peers(cell: Cell, epsilon: float, peers: list[Learner]) -> Iterator[tuple[str, Measured | str]]:
    """Return what the models of the peers reach, or how they failed."""
    models = {DiffprivlibLearning.name: cell.diffprivlib, Interpret.name: cell.interpret}
    for peer in peers:
        for name in models[peer.name]:
            yield f"{SHORT.get(peer.name, peer.name)} {name}", _asked(peer, cell.table, cell.score, name, epsilon)


@cache
def _asked(peer: Learner, table: str, score: str, name: str, epsilon: float) -> Measured | str:
    """Ask a peer; a model that several cells are compared with is asked once."""
    found = peer.scores(table=table, score=score, model=name, epsilon=epsilon, seeds=SEEDS, seconds=SECONDS_OF_PEER)
    return f"failed: {found}" if isinstance(found, str) else Measured.of(found)


def _own(cell: Cell, name: str, epsilon: float, models: dict[str, Model]) -> list[float]:
    """Return our own scores."""
    request = Request(cell.table, cell.score, name, epsilon, SEEDS, SECONDS)
    return scores(request, models[name])


def rivals(_: list[Learner]) -> Iterator[Row]:
    """Measure other ways to fit the classifier beside ours, on the same splits."""
    for cell in CELLS:
        if cell.model != "LogisticRegression" or cell.part != "classification":
            continue
        for epsilon in EPSILONS:
            mine = Measured.of(_own(cell, cell.model, epsilon, ours.MODELS))
            others = {name: Measured.of(_own(cell, name, epsilon, prototypes.PROTOTYPES)) for name in RIVALS}
            best = max(others, key=lambda name: others[name].mean)
            apart = others[best].mean - mine.mean
            error = float(np.hypot(others[best].error, mine.error))
            verdict = f"{best} {apart:+.3f} +- {error:.3f}" + (": wins" if apart > 2 * error else "")
            shown = "; ".join(f"{name} {one}" for name, one in others.items())
            yield Row(f"{cell}, epsilon {epsilon:g}", str(mine), shown, verdict)


RIVALS = ("Newton, double noise", "objective perturbation")

PARTS = ("classification", "census", "regression", "components", "clusters", "named")
SECTIONS: dict[str, Callable[[list[Learner]], Iterator[Row]]] = {
    **{part: partial(compared, part=part) for part in PARTS},
    "prototypes": rivals,
    "exactness": lambda _: exactness.rows(),
    "scale": lambda _: scale.rows(),
}


def _started(stack: ExitStack) -> tuple[list[Learner], list[str]]:
    """Start the peers that can be had here, and name those that cannot."""
    peers: list[Learner] = []
    absent: list[str] = []
    for make in (DiffprivlibLearning, Interpret):
        try:
            peers.append(stack.enter_context(make()))
        except (CalledProcessError, OSError, RuntimeError):
            absent.append(f"{make.name} could not be installed or started here, and is left out.")
    return peers, absent


def main(arguments: list[str] | None = None) -> int:
    """Run everything, print the tables, and write the page if asked; falling short of a bar is not a failure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(PAGE.parents[2])} as well")
    parser.add_argument("--only", choices=list(SECTIONS), help="run one part")
    options = parser.parse_args(arguments)
    parts: list[str] = []
    every: list[Row] = []
    with ExitStack() as stack:
        peers, absent = _started(stack)
        names = [f"{SHORT.get(peer.name, peer.name)} {peer.version}" for peer in peers]
        about = machine(*names, f"discreet {dp.__version__}")
        for name, section in SECTIONS.items():
            if options.only in (None, name):
                print(f"{name} ...", file=sys.stderr, flush=True)
                rows = list(section(peers))
                every += rows
                parts.append(f"## {name}\n\n{table(rows)}")
                print(f"\n{parts[-1]}", flush=True)
    bars = [row for row in every if row.holds is not None]
    summary = " ".join([f"{sum(bool(row.holds) for row in bars)} of {len(bars)} bars met.", *absent])
    method = (__doc__ or "").partition("\n\n")[2].strip()
    print(f"\n{method}\n\n{about}\n{summary}")
    if options.write and options.only is None:
        head = f"# What private learning reaches\n\nMade by `make bench-learning`. {summary}\n\n{method}\n\n{about}."
        PAGE.write_text("\n\n".join([head, *parts]) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

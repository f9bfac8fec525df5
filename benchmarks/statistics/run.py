"""Compare discreet's private statistics with opendp, diffprivlib and tmlt.core, in one run: `make bench-statistics`.

Accuracy is the mean squared error of 2000 draws, of the same made-up columns, bounds, relation and epsilon; several
numbers at once count with the mean over them. Each peer answers in every way it has or recommends, and the best is
compared, which flatters it; a way made by hand, or with another guarantee, is shown and not compared. A ratio says how
many times lower our error is, with its standard error; a bar allows three of them, and a geometric mean over columns
and sizes none. Ten quantiles are also compared with the peers' quantiles and trees alone: noisy counts of 32 even bins,
interpolated, do better than those where the bounds are tight and the values spread evenly. Answers are cut to the
public bounds where a peer's user could do so for free. diffprivlib takes the number of rows as public and stands under
change-one alone, but for its counts. tmlt.core's own measurements run on Spark; here are its noise and formulas without
it. The deviation of our Gaussian noise is compared, exactly, with that of the analytic Gaussian after rounding to
integers, and the error that it gives is measured beside Laplace noise. Our own three ways to ten quantiles and the
choice of the public rule are measured on twelve columns, and so are the widths and the coverage of intervals.
Intervals for the mean of a population are compared with the normal interval, which has the true variances of sampling
and of the noise of a mean of the table; the mean is that of the values as cut to the bounds, and 2000 runs count how
often it is inside. Speed is CPU time, the best of three rounds in which the sides take turns.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from subprocess import CalledProcessError
from typing import Any, NamedTuple

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import numpy as np

import discreet as dp
from benchmarks.common.measure import cpu_seconds, in_turns
from benchmarks.common.peers import Diffprivlib, OpenDPStatistics, Statistician, TumultCore
from benchmarks.common.report import Row, duration, machine, table
from benchmarks.statistics.cases import DELTA, DRAWS, TEN, Case, cases, column
from benchmarks.statistics.gaussian import gaussian
from benchmarks.statistics.ours import ours
from benchmarks.statistics.population import population
from benchmarks.statistics.quantiles import intervals, ways
from benchmarks.statistics.side import BY_HAND, OTHER_GUARANTEE, squared_errors

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "evidence" / "bench-statistics.md"
LENGTH, KEYS = 10**7, 10**6
ALLOWANCE = 3
PLAIN_BINS = "histogram, "  # a way to many quantiles that no peer calls one: noisy counts of even bins, interpolated
Errors = dict[str, list[float]]


class Measured(NamedTuple):
    """A mean over draws and its standard error."""

    mean: float
    error: float

    @classmethod
    def of(cls, draws: list[float]) -> Measured:
        """Average draws."""
        return cls(float(np.mean(draws)), float(np.std(draws) / np.sqrt(len(draws))))

    def over(self, other: Measured) -> Measured:
        """Return the ratio; two errors of nothing are equal."""
        if other.mean == 0:
            return Measured(1.0 if self.mean == 0 else np.inf, 0.0)
        ratio = self.mean / other.mean
        relative = self.error / self.mean if self.mean else 0.0
        return Measured(ratio, ratio * float(np.hypot(relative, other.error / other.mean)))


def accuracy(peers: list[Statistician]) -> Iterator[Row]:
    """Compare every case, and say how far it has come; the cases with a bar above 1 together at the end."""
    for name, rows in sorted({(case.column, case.rows) for case in cases()}):
        for peer in peers:
            peer.keep(f"{name} {rows}", column(name, rows).tolist())
    together: dict[tuple[str, float], list[float]] = {}
    for case in cases():
        print(f"  {case}", file=sys.stderr, flush=True)
        with ThreadPoolExecutor() as pool:
            asked = [pool.submit(peer.errors, case.request) for peer in peers]
            drawn = ours(case, DRAWS)
        own = None if drawn is None else squared_errors(drawn, case.truth)
        answers = zip(peers, (answer.result() for answer in asked), strict=True)
        theirs = {f"{peer.name} {way}": errors for peer, ways in answers for way, errors in ways.items()}
        for measure in next(iter(theirs.values()), own or {}):
            row, ratio = _compared(case, measure, own, theirs)
            yield row
            if ratio and case.bar > 1:
                kind = f"{case.kind}, epsilon {case.epsilon:g}"
                together.setdefault((kind, case.bar), []).append(ratio)
                if case.levels == TEN:
                    others = {way: errors for way, errors in theirs.items() if PLAIN_BINS not in way}
                    apart = _compared(case, measure, own, others)[1]
                    together.setdefault((f"{kind}, against quantiles and trees", case.bar), []).append(apart or 0.0)
    for (kind, bar), ratios in together.items():
        mean = float(np.exp(np.mean(np.log(ratios))))
        yield Row(f"{kind}: geometric mean", "", "best of each", f"{mean:.2f}", f">= {bar:g}", mean >= bar)


LABELS = {"missed": ": share of keys missed", "released": ": released counts", "error": ""}


def _compared(case: Case, measure: str, own: Errors | None, theirs: dict[str, Errors]) -> tuple[Row, float | None]:
    """Return a row that holds our error against the best of the peers', and the ratio."""
    found = {way: Measured.of(errors[measure]) for way, errors in theirs.items() if measure in errors}
    what = f"{case}{LABELS[measure]}"
    shown = "; ".join(f"{way} {one.mean:.3g}" for way, one in found.items())
    compared = [one for way, one in found.items() if BY_HAND not in way and OTHER_GUARANTEE not in way]
    if own is None or measure not in own:
        return Row(what, "none yet", shown), None
    mine = Measured.of(own[measure])
    if not compared:
        return Row(what, f"{mine.mean:.3g}", shown), None
    ratio = min(compared).over(mine)
    wanted = "no worse" if case.bar == 1 else f">= {case.bar:g}"
    holds = bool(ratio.mean + ALLOWANCE * ratio.error >= case.bar)
    return Row(what, f"{mine.mean:.3g}", shown, f"{ratio.mean:.2f} +- {ratio.error:.2f}", wanted, holds), ratio.mean


def speed(_: list[Statistician]) -> Iterator[Row]:
    """Time whole calls on ten million values beside numpy's plain answers, and unknown keys."""
    statistics: Any = dp.statistics
    values = np.random.default_rng(1).lognormal(np.log(30_000), 0.6, LENGTH)
    given: dict[str, Any] = {"bounds": (0.0, 200_000.0), "relation": dp.Relation.ADD_REMOVE, "epsilon": 1}
    free: dict[str, Any] = {"relation": dp.Relation.ADD_REMOVE, "epsilon": 1}
    sides: dict[str, Callable[[], object]] = {
        "numpy.sum": partial(np.sum, values),
        "numpy.var": partial(np.var, values),
        "numpy.sort": partial(np.sort, values),
        "count of ten values": lambda: statistics.count(values[:10], **free),
        "count": lambda: statistics.count(values, **free),
        "sum": lambda: statistics.sum(values, **given),
        "mean": lambda: statistics.mean(values, **given),
        "variance": lambda: statistics.variance(values, **given),
        "quantile": lambda: statistics.quantile(values, 0.5, **given),
        "ten quantiles": lambda: statistics.quantiles(values, TEN, **given),
    }
    there = {name: side for name, side in sides.items() if _exists(name)}
    best = in_turns(
        {name: partial(cpu_seconds, side, 20 if "count" in name else 1) for name, side in there.items()}, rounds=3
    )
    for name, beside, bar in LIMITS:
        if name in best:
            times = best[name] / best[beside]
            shown = f"{beside} {duration(best[beside])}"
            yield Row(
                f"{name} of 1e7 values", duration(best[name]), shown, f"{times:.3g} x", f"<= {bar:g} x", times <= bar
            )
        else:
            yield Row(f"{name} of 1e7 values", "none yet")
    if hasattr(statistics, "histogram"):
        keys = np.random.default_rng(2).permutation(np.arange(2 * KEYS) % KEYS)
        seconds = min(cpu_seconds(lambda: statistics.histogram(keys, keys=None, delta=DELTA, **free)) for _ in range(3))
        yield Row("unknown keys, 1e6 distinct in 2e6 rows", duration(seconds), bar="<= 2 s", holds=seconds <= 2)


# statistic, what it is timed against, and how many times longer it may take
LIMITS = (
    ("count", "count of ten values", 1.5),
    ("sum", "numpy.sum", 12),
    ("mean", "numpy.sum", 12),
    ("variance", "numpy.var", 5),
    ("quantile", "numpy.sort", 2),
    ("ten quantiles", "quantile", 1.3),
)


def _exists(name: str) -> bool:
    """Say whether a side can run: numpy's always, ours where the statistic is there."""
    plain = name.removeprefix("ten ").removesuffix(" of ten values")
    return name.startswith("numpy.") or hasattr(dp.statistics, plain)


SECTIONS: dict[str, Callable[[list[Statistician]], Iterator[Row]]] = {
    "accuracy": accuracy,
    "gaussian": gaussian,
    "ways": ways,
    "intervals": intervals,
    "population": population,
    "speed": speed,
}


def _started(stack: ExitStack) -> tuple[list[Statistician], list[str]]:
    """Start the peers that can be had here, and name those that cannot."""
    peers: list[Statistician] = []
    absent: list[str] = []
    for make in (OpenDPStatistics, Diffprivlib, TumultCore):
        try:
            peers.append(stack.enter_context(make()))
        except (CalledProcessError, OSError, RuntimeError):
            absent.append(f"{make.name} could not be installed or started here, and is left out.")
    return peers, absent


def main(arguments: list[str] | None = None) -> int:
    """Run everything, print the table, and write the page if asked; falling short of a bar is not a failure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(PAGE.parents[2])} as well")
    parser.add_argument("--only", choices=list(SECTIONS), help="run one part")
    options = parser.parse_args(arguments)
    rows: list[Row] = []
    with ExitStack() as stack:
        peers, absent = _started(stack)
        about = machine(*(f"{peer.name} {peer.version}" for peer in peers), f"discreet {dp.__version__}")
        for name, section in SECTIONS.items():
            if options.only in (None, name):
                print(f"{name} ...", file=sys.stderr, flush=True)
                rows += section(peers)
    short = sum(row.holds is False for row in rows)
    bars = sum(row.holds is not None for row in rows)
    summary = " ".join([f"{bars - short} of {bars} bars met.", *absent])
    method = (__doc__ or "").partition("\n\n")[2].strip()
    print(f"{table(rows)}\n\n{method}\n\n{about}\n{summary}")
    if options.write and options.only is None:
        text = f"# Accuracy and speed of the statistics\n\nMade by `make bench-statistics`. {summary}\n\n{method}\n\n"
        PAGE.write_text(f"{text}{about}.\n\n{table(rows)}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

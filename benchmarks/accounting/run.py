"""Time and check discreet's accountant against dp-accounting and prv-accountant, in one run: `make bench-accounting`.

Every time is CPU time of one thread, the best of seven calls, for a peer a single one where a call takes seconds. Ours
start with all caches empty and build every loss anew, at the default tolerance (1e-4 for the different Laplaces);
imports are not counted. dp-accounting runs on its default grid, 1e-4, rounded up; prv-accountant at the stated error
of its epsilon. A ratio says how many times faster ours is. Truths come from closed forms in high precision and from
contour integrals in balls; `tests/privacy/accounting/truths.py` says which. Ours contains the truth or the row falls
short; an error of a peer is its answer minus the truth.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

os.environ.update(dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import discreet as dp
from benchmarks.accounting.memory import WORK_IN_MEMORY, peak_megabytes
from benchmarks.common.measure import cpu_seconds
from benchmarks.common.peers import Answer, DPAccounting, PRVAccountant
from benchmarks.common.report import Row, compared, machine, table
from discreet.laws.enclosure import Enclosure
from discreet.privacy import ZCDP, ApproxDP, GaussianDP, PureDP, Relation, RenyiDP, adaptive, gaussian_loss, subsample
from discreet.privacy.accounting import clear_caches
from tests.privacy.accounting import truths
from tests.privacy.accounting.compositions import Part, loss_of
from tests.privacy.accounting.references import Curve, epsilon_of, gaussian, pure

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "evidence" / "bench-accounting.md"
ROUNDS = 7
QUERIES = 100_000
MEGABYTES = 1000
Peers = tuple[DPAccounting, PRVAccountant]


@dataclass(frozen=True)
class Work:
    """A composition, its true epsilon up to `doubt`, the bars, and how the peers are asked."""

    what: str
    parts: list[Part]
    truth: float
    ratio: float | None = None
    width: float | None = None
    doubt: float = 0.0
    rounds: int = ROUNDS
    errors: tuple[float, ...] = ()
    tolerance: float | None = None


WORKS = (
    Work(
        "1e3 Gaussians, scale 50",
        [("gaussian", {"scale": 50.0}, 1000)],
        truths.GAUSSIAN_THOUSAND,
        ratio=50,
        width=1e-8,
        errors=(0.01,),
    ),
    Work(
        "1e6 Gaussians, scale 1000",
        [("gaussian", {"scale": 1000.0}, 10**6)],
        truths.GAUSSIAN_MILLION,
        ratio=1000,
        errors=(0.1,),
    ),
    Work(
        "1e6 Laplaces, scale 1000",
        [("laplace", {"scale": 1000.0}, 10**6)],
        truths.LAPLACE_MILLION,
        ratio=1000,
        rounds=1,
        errors=(0.1,),
    ),
    Work(
        "1e4 sampled Gaussians, rate 0.01, scale 1",
        [("gaussian", {"scale": 1.0, "rate": 0.01}, 10_000)],
        truths.SUBSAMPLED_REMOVE,
        ratio=50,
        width=1e-6,
        errors=(0.1, 0.01),
    ),
    Work(
        "1000 different Gaussians, scales 20 to 100",
        [("gaussian", {"scale": scale}, 1) for scale in truths.GAUSSIAN_SCALES],
        truths.GAUSSIAN_DIFFERENT,
        ratio=50,
        width=1e-4,
        rounds=1,
        errors=(0.1,),
    ),
    Work(
        "1000 different Laplaces, epsilons 0.005 to 0.05",
        [("laplace", {"scale": scale}, 1) for scale in truths.LAPLACE_SCALES],
        truths.LAPLACE_DIFFERENT,
        ratio=50,
        width=1e-4,
        doubt=truths.LAPLACE_DIFFERENT_DOUBT,
        rounds=1,
        tolerance=1e-4,
    ),
    Work("1e3 pure guarantees, epsilon 0.02", [("guarantee", {"epsilon": 0.02}, 1000)], truths.PURE_THOUSAND),
)


def forget() -> None:
    """Empty the accountant's caches, and every cache of a function of the package that it may not know of."""
    clear_caches()
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == "discreet":
            for value in list(vars(module).values()):
                getattr(value, "cache_clear", lambda: None)()


def cold(call: Callable[[], Any]) -> tuple[Any, float]:
    """Return an answer and the best CPU time of calls that each start with empty caches."""
    best = float("inf")
    for _ in range(ROUNDS):
        forget()
        best = min(best, cpu_seconds(call))
    forget()
    return call(), best


def epsilon(parts: list[Part], delta: float, tolerance: float | None = None) -> Enclosure:
    """Build a composition and ask for its epsilon."""
    return loss_of(parts).epsilon(delta, tolerance=tolerance)


def interval(what: str, found: Enclosure, truth: float, peers: str, width: float | None, doubt: float = 0.0) -> Row:
    """Return the row that says whether an interval holds the truth and how wide it is."""
    # a stored truth is itself rounded to a float
    slack = doubt + 4e-16 * truth
    holds = found.lower <= truth + slack and truth - slack <= found.upper
    wanted = "contains" if width is None else f"contains, width <= {width:.2g}"
    within = width is None or found.width <= width
    shown = f"[{found.lower:.12g}, {found.upper:.12g}]"
    return Row(what, shown, f"truth {truth:.12g}{peers}", f"width {found.width:.1e}", wanted, holds and within)


def compositions(peers: Peers) -> list[Row]:
    """Compare compositions at delta = 1e-5: time, interval, and the errors of the peers."""
    rows: list[Row] = []
    for work in WORKS:
        found, seconds = cold(partial(epsilon, work.parts, truths.DELTA, work.tolerance))
        asked = {"parts": work.parts, "delta": truths.DELTA}
        theirs = peers[0].ask("epsilon", work.rounds, **asked)
        rows.append(compared(work.what, seconds, "dp-accounting", theirs.seconds, work.ratio))
        errors = f"; dp-accounting {theirs.value - work.truth:+.1e}"
        for error in work.errors:
            other = peers[1].ask("epsilon", 1, error=error, **asked)
            rows.append(compared(work.what, seconds, f"prv-accountant at {error:g}", other.seconds))
            errors += f"; prv-accountant at {error:g} {_interval_error(other, work.truth)}"
        rows.append(interval(f"{work.what}: epsilon", found, work.truth, errors, work.width, work.doubt))
    return rows


def _interval_error(answer: Answer, truth: float) -> str:
    """Say where a peer's interval lies relative to the truth."""
    low, _, high = answer.value
    return f"{low - truth:+.1e} to {high - truth:+.1e}"


def small_deltas(peers: Peers) -> list[Row]:
    """Ask for tiny deltas, where only relative accuracy helps."""
    rows = []
    kinds: dict[str, tuple[list[Part], Curve]] = {
        "1e3 Gaussians, scale 50": ([("gaussian", {"scale": 50.0}, 1000)], gaussian(Fraction(2, 5))),
        "1e3 pure guarantees, epsilon 0.02": ([("guarantee", {"epsilon": 0.02}, 1000)], pure(0.02, 1000)),
    }
    for what, (parts, curve) in kinds.items():
        for delta in (1e-12, 1e-15, 1e-30, 1e-300):
            truth = float(epsilon_of(curve, delta, digits=20))
            found, _ = cold(partial(epsilon, parts, delta))
            theirs = peers[0].ask("epsilon", 1, parts=parts, delta=delta).value
            errors = f"; dp-accounting {theirs - truth:+.1e}"
            rows.append(interval(f"{what}, delta {delta:g}", found, truth, errors, 1e-3 * truth))
    return rows


def calibration(peers: Peers) -> list[Row]:
    """Calibrate the scale of sampled Gaussians to epsilon 2."""
    rate, steps = 0.01, 10_000
    found, seconds = cold(partial(calibrated, 2, rate, steps))
    asked = {"epsilon": 2, "delta": truths.DELTA, "rate": rate, "steps": steps}
    first, second = peers[0].ask("calibrated", 1, **asked), peers[1].ask("calibrated", 1, error=0.1, **asked)
    low, high = truths.CALIBRATED
    what = "scale for epsilon 2, rate 0.01, 1e4 steps"
    said = f"truth {low} to {high}; dp-accounting {first.value:.7f}; prv-accountant at 0.1 {second.value:.7f}"
    return [
        compared(what, seconds, "dp-accounting", first.seconds, 100),
        compared(what, seconds, "prv-accountant at 0.1", second.seconds),
        Row(what, f"{found:.9f}", said, "", "6 digits, not below", low <= found <= high + 5e-6),
    ]


def calibrated(epsilon: float, rate: float, steps: int, sensitivity: float = 1.0) -> float:
    """Calibrate the scale of sampled Gaussians."""

    def loss(scale: float) -> Any:
        noise = gaussian_loss(scale, sensitivity=sensitivity, relation=Relation.ADD_REMOVE)
        return subsample(noise, rate=rate) * steps

    return float(dp.calibrate(loss, epsilon=epsilon, delta=truths.DELTA))


def rare_calibration(peers: Peers) -> list[Row]:
    """Calibrate at small rates, where one release in a thousand or fewer says much and the others almost nothing."""
    rows = []
    for rate, steps, budget, sensitivity, least in (
        (0.001, 25, 1, 6, 0.25),
        (0.001, 39_000, 3.1, 1, 0.25),
        (0.0001, 130_000, 9.11, 1, 0.25),
    ):
        found, seconds = cold(partial(calibrated, budget, rate, steps, sensitivity))
        asked = {"epsilon": budget, "delta": truths.DELTA, "rate": rate, "steps": steps, "least": least}
        theirs = peers[0].ask("calibrated", 1, **asked)
        what = f"scale for epsilon {budget:g}, rate {rate:g}, {steps} steps, sensitivity {sensitivity}"
        rows.append(compared(what, seconds, "dp-accounting", theirs.seconds, 3))
        # the peer rounds to the safe side on its grid, and stops within 1e-6 of where it looks
        shown = f"dp-accounting {sensitivity * theirs.value:.7f}"
        rows.append(Row(what, f"{found:.9f}", shown, f"{found / (sensitivity * theirs.value):.7f}"))
    return rows


def filters(_: Peers) -> list[Row]:
    """Send a hundred thousand queries through each filter, no two alike, all of which fit the budget."""
    spends: dict[str, tuple[Callable[[], Any], Callable[[float], Any]]] = {
        "pure": (lambda: adaptive.PureFilter(1100), PureDP),
        "approximate": (lambda: adaptive.ApproxFilter(1100, 0.5), lambda size: ApproxDP(size, 1e-4 * size)),
        "approximate, advanced": (
            lambda: adaptive.ApproxFilter(1100, 0.5, slack=0.1),
            lambda size: ApproxDP(size, 1e-4 * size),
        ),
        "zCDP": (lambda: adaptive.ZCDPFilter(1100), ZCDP),
        "Renyi": (lambda: adaptive.RenyiFilter(8, 1100), lambda size: RenyiDP(8, size)),
        "Gaussian": (lambda: adaptive.GaussianFilter(4), GaussianDP),
        "zCDP, Gaussian queries": (lambda: adaptive.ZCDPFilter(1100), GaussianDP),
        "zCDP, pure queries": (lambda: adaptive.ZCDPFilter(1100), PureDP),
    }
    rows = []
    for what, (make, guarantee) in spends.items():
        # built beforehand and all different, so that no remembered price answers for another query
        guarantees = [guarantee(0.01 + 1e-9 * number) for number in range(QUERIES)]
        seconds = min(_spending(make(), guarantees) for _ in range(3))
        rows.append(Row(f"filter, {what}: 1e5 queries", f"{seconds:.3f} s", bar="<= 2 s", holds=seconds <= 2))
    return rows


def _spending(session: Any, guarantees: list[Any]) -> float:
    """Return the CPU seconds of spending all guarantees, from empty caches."""
    forget()

    def spend() -> None:
        for guarantee in guarantees:
            session.spend(guarantee)

    return cpu_seconds(spend)


def memory(_: Peers) -> list[Row]:
    """Measure the largest memory of fresh processes, the interpreter and its packages included."""
    rows = []
    for what in WORK_IN_MEMORY:
        peak = peak_megabytes(what)
        rows.append(Row(f"memory: {what}", f"{peak:.0f} MB", bar=f"<= {MEGABYTES} MB", holds=peak <= MEGABYTES))
    return rows


SECTIONS = (compositions, small_deltas, calibration, rare_calibration, filters, memory)


def main(arguments: list[str] | None = None) -> int:
    """Run everything, print the table, and write the page if asked; falling short of a bar is not a failure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(PAGE.parents[2])} as well")
    parser.add_argument("--only", choices=[section.__name__ for section in SECTIONS], help="run one part")
    options = parser.parse_args(arguments)
    rows: list[Row] = []
    with DPAccounting() as first, PRVAccountant() as second:
        versions = f"dp-accounting {first.version}", f"prv-accountant {second.version}", f"discreet {dp.__version__}"
        about = machine(*versions)
        for section in SECTIONS:
            if options.only in (None, section.__name__):
                print(f"{section.__name__} ...", file=sys.stderr, flush=True)
                rows += section((first, second))
    short = sum(row.holds is False for row in rows)
    bars = sum(row.holds is not None for row in rows)
    summary = f"{bars - short} of {bars} bars met."
    method = (__doc__ or "").partition("\n\n")[2].strip()
    print(f"{table(rows)}\n\n{method}\n\n{about}\n{summary}")
    if options.write and options.only is None:
        text = f"# Speed and width of the accounting\n\nMade by `make bench-accounting`. {summary}\n\n{method}\n\n"
        PAGE.write_text(f"{text}{about}.\n\n{table(rows)}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

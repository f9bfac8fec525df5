"""Time discreet's noise against numpy's insecure generators and opendp, in one run: `make bench-noise`.

Every time is CPU time, the best of five rounds in which the sides take turns; a ratio says how many times faster ours
is. Rounded Gaussian draws give the median of eleven rounds. Vectors are given per element: ours and numpy's are 1 000
000 long, opendp's 20 000, since a million would take it minutes. opendp gets numpy arrays, the form it reads fastest,
except where a list is named. Only the correlation of noise with time reads the wall clock, as an adversary would: 20
000 calls at scale 100, the largest of five runs shown.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import discreet as dp
from benchmarks.common.measure import ROUNDS, cpu_seconds, in_turns, noise_against_time
from benchmarks.common.peers import OpenDP
from benchmarks.common.report import Row, compared, machine, table
from benchmarks.noise.importing import CORE, import_seconds, loaded, packages_of_the_core

PAGE = Path(__file__).resolve().parent.parent.parent / "docs" / "evidence" / "bench-noise.md"
COUNT, PEER_COUNT = 10**6, 20_000
CENTER, FAR = 41, 10**6
TIMED_CALLS = 20_000
CORRELATION = 0.03
MECHANISMS: dict[str, Callable[..., Any]] = {"laplace": dp.Laplace, "gaussian": dp.Gaussian}
LAWS: dict[str, Callable[..., Any]] = {"laplace": dp.laws.DiscreteLaplace, "gaussian": dp.laws.DiscreteGaussian}
NORMS = {"laplace": dp.Norm.L1, "gaussian": dp.Norm.L2}
GENERATORS = {"laplace": "Generator.laplace", "gaussian": "Generator.normal"}
BARS_TO_NUMPY = {
    ("laplace", 1): 1.0,
    ("laplace", 10): 1.0,
    ("laplace", 1000): 1.0,
    ("laplace", 10**6): 1.0,
    ("gaussian", 1): 0.8,
    ("gaussian", 10): 0.8,
    ("gaussian", 1000): 0.8,
    ("gaussian", 10**6): 0.4,
}
ROUNDED_BARS_TO_NUMPY: dict[float | Fraction, float] = {
    Fraction(1, 2): 0.8,
    1: 0.8,
    10: 0.8,
    1000: 0.8,
    10**6: 0.5,
    2**30: 0.5,
    2**40: 0.5,
}
ROUNDED_BAR_TO_DISCRETE = 1 / 1.3
ROUNDED_ROUNDS = 11


def mechanism(law: str, scale: float, one: float, length: int | None = None) -> Any:
    """Return a mechanism for arrays; `one` is the sensitivity, an int for integers and a float for floats."""
    sensitivity = dp.Sensitivity(one, norm=NORMS[law], relation=dp.Relation.ADD_REMOVE)
    return MECHANISMS[law](scale=scale, sensitivity=sensitivity, length=length)


def numpy_draws(law: str, scale: float | Fraction) -> Callable[[], Any]:
    """Return a call of numpy's generator for the continuous law."""
    generator = np.random.default_rng()
    return partial(generator.laplace if law == "laplace" else generator.normal, 0.0, float(scale), COUNT)


def each(call: Callable[[], object]) -> Callable[[], float]:
    """Return a measurement of a call on a million elements, by element."""
    return lambda: cpu_seconds(call) / COUNT


def draws(opendp: OpenDP) -> list[Row]:
    """Compare a million integer draws, alone and added to an array."""
    rows = []
    for (law, scale), bar in BARS_TO_NUMPY.items():
        sample = partial(LAWS[law](scale).sample, COUNT)
        noised = partial(mechanism(law, scale, 1), np.full(COUNT, CENTER))
        first = cpu_seconds(sample)
        best = in_turns(
            {
                "draws": each(sample),
                "array": each(noised),
                "numpy": each(numpy_draws(law, scale)),
                "opendp": partial(_opendp_vector, opendp, law, "int", scale, None),
            }
        )
        what = f"discrete {law.title()}, scale {scale:g}"
        rows += [
            compared(f"{what}: 1e6 draws", best["draws"], "opendp", best["opendp"], 500),
            compared(f"{what}: 1e6 draws", best["draws"], f"numpy {GENERATORS[law]}", best["numpy"], bar),
            compared(f"{what}: added to 1e6 integers", best["array"], "opendp", best["opendp"]),
        ]
        if first > 2 * best["draws"] * COUNT:
            rows.append(Row(f"{what}: first call, preparation included", f"{first * 1e3:.3g} ms"))
    return rows


def rounded(_: OpenDP) -> list[Row]:
    """Compare a million rounded Gaussian draws with discrete Gaussian ones and with numpy's, and one draw with time."""
    rows = []
    for scale, bar in ROUNDED_BARS_TO_NUMPY.items():
        sample = partial(dp.laws.RoundedGaussian(scale).sample, COUNT)
        discrete = partial(dp.laws.DiscreteGaussian(scale).sample, COUNT)
        first = cpu_seconds(sample)
        cpu_seconds(discrete)
        sides = {"draws": each(sample), "discrete": each(discrete), "numpy": each(numpy_draws("gaussian", scale))}
        middle = in_turns(sides, ROUNDED_ROUNDS, statistics.median)
        what = f"rounded Gaussian, scale {float(scale):g}: 1e6 draws"
        rows += [
            compared(what, middle["draws"], "discrete Gaussian", middle["discrete"], ROUNDED_BAR_TO_DISCRETE),
            compared(what, middle["draws"], "numpy Generator.normal", middle["numpy"], bar),
            Row(f"{what}, first call", f"{first * 1e3:.3g} ms"),
        ]
    return rows + [
        _correlated(f"rounded Gaussian, scale {scale}: noise and time of one draw", dp.laws.RoundedGaussian(scale))
        for scale in (1, 100, 2**30)
    ]


def _correlated(what: str, law: Any) -> Row:
    """Correlate the noise of single draws, moved far from the integers Python keeps ready, with their time."""
    return _timing_row(what, law.at(FAR).sample, FAR, None)


def floats(opendp: OpenDP) -> list[Row]:
    """Compare floats on a grid, a million of them in one array."""
    rows = []
    for law in LAWS:
        noised = partial(mechanism(law, 10.0, 1.0, COUNT), np.full(COUNT, float(CENTER)))
        best = in_turns(
            {
                "array": each(noised),
                "numpy": each(numpy_draws(law, 10.0)),
                "finest": partial(_opendp_vector, opendp, law, "float", 10.0, None),
                "coarse": partial(_opendp_vector, opendp, law, "float", 10.0, -10),
            }
        )
        what = f"{law.title()}, scale 10: added to 1e6 floats"
        rows += [
            compared(what, best["array"], "opendp, its default grid", best["finest"], 300),
            compared(what, best["array"], "opendp, k=-10 and known size", best["coarse"]),
            compared(what, best["array"], f"numpy {GENERATORS[law]} alone", best["numpy"]),
        ]
    return rows


def scalars(opendp: OpenDP) -> list[Row]:
    """Compare one call on one number."""
    rows = []
    for law, make in MECHANISMS.items():
        for value, kind in ((CENTER, "int"), (float(CENTER), "float")):
            release = partial(make(scale=type(value)(100), sensitivity=type(value)(1)), value)
            best = in_turns(
                {
                    "ours": partial(cpu_seconds, release, 20_000),
                    "opendp": partial(
                        opendp.seconds, "scalar", calls=1000, law=law, element=kind, scale=100.0, value=value
                    ),
                }
            )
            rows.append(compared(f"{law.title()}: one call m({value})", best["ours"], "opendp", best["opendp"], 10))
    return rows


def choices(opendp: OpenDP) -> list[Row]:
    """Compare one choice among a million candidates with scores 0 to 99."""
    scores = np.arange(COUNT) * 7919 % 100
    choose = partial(dp.Exponential(epsilon=1, sensitivity=1), scores)
    best = in_turns(
        {
            "ours": partial(cpu_seconds, choose),
            "list": partial(opendp.seconds, "choice", scale=2.0, length=COUNT, form="list"),
            "array": partial(opendp.seconds, "choice", scale=2.0, length=COUNT, form="array"),
        }
    )
    what = "Exponential: choose among 1e6"
    return [
        compared(what, best["ours"], "opendp noisy max, from a list", best["list"], 20),
        compared(what, best["ours"], "opendp noisy max, from an int32 array", best["array"], 20),
    ]


def timing(opendp: OpenDP) -> list[Row]:
    """Correlate the size of the noise with the time of its call, also far from the integers Python keeps ready."""
    rows = []
    for law, make in MECHANISMS.items():
        for value in (CENTER, FAR, float(CENTER)):
            kind = type(value)
            ours = partial(make(scale=kind(100), sensitivity=kind(1)), value)
            asked = {"law": law, "element": kind.__name__, "scale": 100.0, "value": value}
            theirs = opendp.timing("scalar", TIMED_CALLS, **asked)
            rows.append(_timing_row(f"{law.title()}: noise and time of m({value})", ours, value, theirs))
        many = partial(mechanism(law, 100, 1), np.full(64, CENTER))
        asked = {"law": law, "element": "int", "scale": 100.0, "value": CENTER, "length": 64, "grid": None}
        theirs = opendp.timing("vector", TIMED_CALLS, **asked)
        rows.append(_timing_row(f"{law.title()}: noise and time of m(64 integers)", many, CENTER, theirs))
    return rows


def _timing_row(what: str, release: Callable[[], Any], center: float, theirs: float | None) -> Row:
    """Measure ours, warmed up, several times, and show the largest."""
    for _ in range(2000):
        release()
    found = [noise_against_time(release, center, TIMED_CALLS) for _ in range(ROUNDS)]
    worst = max(found, key=abs)
    peer = "" if theirs is None else f"opendp {theirs:+.3f}"
    return Row(what, f"{worst:+.3f}", peer, "", f"within {CORRELATION}", abs(worst) <= CORRELATION)


def importing(_: OpenDP) -> list[Row]:
    """Time the import, and count the packages of the core."""
    seconds = min(import_seconds() for _ in range(ROUNDS))
    packages = packages_of_the_core()
    extra = sorted(packages - set(CORE))
    late = [name for name in ("scipy", "flint") if name not in loaded("scipy", "flint")]
    return [
        Row("import discreet, CPU", f"{seconds:.3f} s", bar="<= 0.3 s", holds=seconds <= 0.3),
        Row("packages of the core", f"{len(packages)}: the four and {', '.join(extra) or 'no other'}"),
        Row("left out of the import until used", ", ".join(late) or "nothing"),
    ]


def _opendp_vector(opendp: OpenDP, law: str, element: str, scale: float, grid: int | None) -> float:
    """Return opendp's time for one element of a vector."""
    size = {"length": PEER_COUNT, "value": CENTER}
    return opendp.seconds("vector", law=law, element=element, scale=float(scale), grid=grid, **size) / PEER_COUNT


SECTIONS = (draws, rounded, floats, scalars, choices, timing, importing)


def main(arguments: list[str] | None = None) -> int:
    """Run everything, print the table, and write the page if asked; falling short of a bar is not a failure."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.relative_to(PAGE.parents[2])} as well")
    parser.add_argument("--only", choices=[section.__name__ for section in SECTIONS], help="run one part")
    options = parser.parse_args(arguments)
    rows: list[Row] = []
    with OpenDP() as opendp:
        about = machine(f"opendp {opendp.version}", f"discreet {dp.__version__}")
        for section in SECTIONS:
            if options.only in (None, section.__name__):
                print(f"{section.__name__} ...", file=sys.stderr, flush=True)
                rows += section(opendp)
    short = sum(row.holds is False for row in rows)
    bars = sum(row.holds is not None for row in rows)
    summary = f"{bars - short} of {bars} bars met."
    method = (__doc__ or "").partition("\n\n")[2].strip()
    print(f"{table(rows)}\n\n{method}\n\n{about}\n{summary}")
    if options.write and options.only is None:
        page = (
            f"# Speed of the noise\n\nMade by `make bench-noise`. {summary}\n\n{method}\n\n{about}.\n\n{table(rows)}\n"
        )
        PAGE.write_text(page, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())

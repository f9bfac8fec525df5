"""Draw the decoders side by side, columns recovered from tables, and how much of a census block its tables prove."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, cast

import numpy as np

from discreet.attacks import (
    Reconstruction,
    Solver,
    block_tables,
    exhaustive,
    fourier,
    from_marginals,
    linear_program,
    noisy_answers,
    random_least_squares,
    reconstruct_block,
    recovered_fraction,
)
from discreet.attacks.asking.noise import uniform_noise
from discreet.data import census_block
from discreet.display.plots import BLUE, GREEN, INK, ORANGE, SOFT, Plot, axes
from tools.figures.panels import SMALL, logarithmic, side_by_side

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Run = Callable[[int, float, int], Reconstruction]
PURPLE = "#AA4499"
LEVEL = 0.25
PEOPLE, REPEATS = 255, 4
LEVELS = (0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.7, 1.0)


def _noisy(people: int, level: float, seed: int) -> tuple[np.ndarray, Callable[..., np.ndarray], float]:
    """Return a secret column, a curator with uniform noise of so many square roots of the people, and its error."""
    secret = np.random.default_rng(seed).integers(0, 2, people)  # noqa: TID251  invented people
    error = level * math.sqrt(people)
    return secret, noisy_answers(secret, uniform_noise(error, seed=seed + 1)), error


def _feasible(people: int, level: float, seed: int) -> Reconstruction:
    secret, ask, error = _noisy(people, level, seed)
    return linear_program(ask, people, queries=2 * people, seed=seed, error=error, truth=secret)


def _absolute(people: int, level: float, seed: int) -> Reconstruction:
    secret, ask, _ = _noisy(people, level, seed)
    return linear_program(ask, people, queries=2 * people, seed=seed, truth=secret)


def _squares(solver: Solver) -> Run:
    def run(people: int, level: float, seed: int) -> Reconstruction:
        secret, ask, _ = _noisy(people, level, seed)
        return random_least_squares(ask, people, queries=2 * people, seed=seed, solver=solver, truth=secret)

    return run


def _fourier(people: int, level: float, seed: int) -> Reconstruction:
    secret, ask, _ = _noisy(people, level, seed)
    return fourier(ask, people, relabelings=2, seed=seed, truth=secret)


def _exhaustive(people: int, level: float, seed: int) -> Reconstruction:
    secret, ask, error = _noisy(people, level, seed)
    return exhaustive(ask, people, error=error, truth=secret)


# name, how it runs, the sizes it is timed at, color, line and marker
_DECODERS: tuple[tuple[str, Run, Sequence[int], str, str, str], ...] = (
    ("exhaustive search", _exhaustive, (4, 8, 12, 16, 20), SOFT, ":", "v"),
    ("linear program", _feasible, (16, 32, 64, 128, 256, 512), ORANGE, "-", "o"),
    ("least absolute errors", _absolute, (16, 32, 64, 128, 256, 512), PURPLE, "--", "s"),
    ("least squares, dense", _squares(Solver.DENSE), (16, 64, 256, 1024, 2048), GREEN, "-", "D"),
    ("least squares, in the box", _squares(Solver.ITERATIVE), (16, 64, 256, 1024, 4096, 10_000), BLUE, "-", "^"),
    ("Fourier, two labelings", _fourier, (15, 255, 4095, 65_535, 2**20 - 1), INK, "-.", "P"),
)


def decoders() -> Plot:
    """Draw the time of every decoder against the number of people, and what it recovers against the noise."""
    left, right = side_by_side(
        "Decoders side by side: twice as many counts as people",
        left=("people", "seconds, asking included"),
        right=(f"largest error / sqrt({PEOPLE})", "bits recovered"),
        height=5.4,
    )
    for name, run, sizes, color, line, marker in _DECODERS:
        times = [min(run(size, LEVEL, seed).seconds for seed in (1, 2, 3)) for size in sizes]
        left.plot(sizes, times, line, marker=marker, color=color, linewidth=1.8, markersize=5, label=name)
        if run is not _exhaustive:
            shares = [np.mean([run(PEOPLE, level, seed).recovered for seed in range(REPEATS)]) for level in LEVELS]
            right.plot(LEVELS, shares, line, marker=marker, color=color, linewidth=1.8, markersize=5)
    theory = [recovered_fraction(level**2 * (PEOPLE + 1) / 3, queries=PEOPLE + 1) for level in LEVELS]
    right.plot(LEVELS, theory, ":", color=INK, linewidth=1.2, label="Fourier, one labeling: theory")
    logarithmic(left, x=(10, 1000, 100_000), y=(1e-4, 1e-3, 0.01, 0.1, 1, 10))
    logarithmic(right, x=(0.05, 0.1, 0.2, 0.5, 1))
    _shares(right)
    return _below(left, right, columns=3)


def marginals() -> Plot:
    """Draw what tables of two attributes give away of 2000 people, against the attributes, for several errors."""
    drawn = axes(
        title="Two-way tables of 2000 people by a secret bit",
        x_label="public attributes",
        y_label="bits recovered",
        height=4.6,
    )
    people, sizes = 2000, (20, 25, 30, 35, 40, 44, 48, 52, 56, 60, 65, 70)
    random = np.random.default_rng(7)  # noqa: TID251  invented people
    public, secret = random.integers(0, 2, (people, sizes[-1])), random.integers(0, 2, people)
    for error, color, line, marker in (
        (0, INK, "-", "o"),
        (1, BLUE, "--", "s"),
        (3, GREEN, "-.", "D"),
        (10, ORANGE, ":", "^"),
    ):
        ask = noisy_answers(secret, uniform_noise(error, seed=1))
        shares = [from_marginals(ask, public[:, :size], truth=secret).recovered or 0.0 for size in sizes]
        name = "exact counts" if error == 0 else f"errors up to {error}"
        drawn.plot(sizes, shares, line, marker=marker, color=color, linewidth=2, markersize=5, label=name)
    for attributes, words in ((44.2, "as many counts\nas half of the people"), (62.8, "as many counts\nas people")):
        drawn.axvline(attributes, color=SOFT, linewidth=1, linestyle=":")
        drawn.text(attributes + 0.4, 0.52, words, fontsize=SMALL, color=SOFT)
    _shares(drawn)
    return _below(drawn, columns=4)


def census() -> Plot:
    """Draw the share of the people of a block that its tables prove, against the size of the block."""
    drawn = axes(
        title="What exact tables prove about invented census blocks",
        x_label="people in the block",
        y_label="share of its people",
        height=4.6,
    )
    sizes = (5, 10, 15, 20, 30, 40, 60)
    found = {size: [_block(size, seed) for seed in range(8)] for size in sizes}
    lines = (
        ("proven: in every block that agrees", ORANGE, "-", "o"),
        ("exist, of one block that agrees", BLUE, "--", "s"),
    )
    for place, (name, color, line, marker) in enumerate(lines):
        shares = [[one[place] for one in found[size]] for size in sizes]
        drawn.plot(sizes, [np.mean(row) for row in shares], line, marker=marker, color=color, linewidth=2, label=name)
        low, high = [min(row) for row in shares], [max(row) for row in shares]
        drawn.fill_between(sizes, low, high, color=color, alpha=0.12, linewidth=0)
    drawn.set_ylim(0, 1.02)
    drawn.set_yticks([0, 0.25, 0.5, 0.75, 1.0], ["0", "25 %", "50 %", "75 %", "100 %"])
    return _below(drawn, columns=2)


def _block(people: int, seed: int) -> tuple[float, float]:
    """Return the share of an invented block that is proven, and that one solution has right."""
    block = census_block(people, seed=seed)
    found = reconstruct_block(block_tables(block), truth=block)
    return found.proven / people, (found.matched or 0) / people


def _shares(panel: Axes) -> None:
    """Mark the vertical axis as shares from one half, which guessing gets."""
    panel.set_ylim(0.48, 1.02)
    panel.set_yticks([0.5, 0.6, 0.7, 0.8, 0.9, 1.0], ["50 %", "60 %", "70 %", "80 %", "90 %", "100 %"])


def _below(*panels: Axes, columns: int) -> Plot:
    """Add light lines to read values by, and one legend under all panels."""
    figure = cast("Figure", panels[0].figure)
    for panel in panels:
        panel.grid(color=SOFT, alpha=0.18, linewidth=0.8)
        panel.set_axisbelow(True)
    figure.legend(loc="outside lower center", ncols=columns, frameon=False, fontsize=SMALL, labelcolor=INK)
    return Plot(figure)

"""How a model's score grows with epsilon, beside the same model without privacy: for who owns the rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.display import Table
from discreet.display.plots import BLUE, GREEN, INK, ORANGE, SOFT, Plot, axes, explained
from discreet.display.result import told_in_a_table
from discreet.errors import InputError, ParameterError, SenselessParameter
from discreet.learning.base import whole_number
from discreet.privacy.numbers import positive

_LOOKS = ((BLUE, "-", "o"), (ORANGE, "--", "s"), (GREEN, "-.", "D"), (INK, ":", "^"))


@told_in_a_table
@dataclass(frozen=True, eq=False, repr=False)
class ScoreCurve:
    """Scores of several models at several epsilons on held-out rows, each a mean over splits of one table.

    It was computed from the rows and is not private. `scores` has a line for each model, `plain` the score of the model
    without privacy where one was given.
    """

    models: tuple[str, ...]
    epsilons: tuple[float, ...]
    scores: NDArray[np.float64]
    spread: NDArray[np.float64]
    plain: float | None
    repeats: int

    def __repr__(self) -> str:
        return f"ScoreCurve({', '.join(self.models)}; {len(self.epsilons)} epsilons, private)"

    def table(self) -> Table:
        """Return one line for each model and epsilon."""
        rows: list[tuple[Any, ...]] = [
            (name, epsilon, self.scores[line, place], self.spread[line, place])
            for line, name in enumerate(self.models)
            for place, epsilon in enumerate(self.epsilons)
        ]
        rows += [] if self.plain is None else [("without privacy", None, self.plain, None)]
        caption = f"means over {self.repeats} splits (computed from the private rows: do not publish)"
        return Table(("model", "epsilon", "score", "standard deviation"), rows, caption, digits=3)

    def plot(self, *, title: str = "Score against epsilon (private: do not publish)") -> Plot:
        """Draw the scores with their standard deviations, epsilon on a logarithmic axis; needs the extra `plot`."""
        drawn = axes(title=title, x_label="epsilon", y_label="score on held-out rows")
        for line, name in enumerate(self.models):
            color, stroke, marker = _LOOKS[line % len(_LOOKS)]
            drawn.errorbar(
                self.epsilons, self.scores[line], yerr=self.spread[line], fmt=marker, linestyle=stroke, color=color,
                linewidth=1.9, markersize=5, capsize=3, label=name,
            )  # fmt: skip
        if self.plain is not None:
            drawn.axhline(self.plain, color=SOFT, linewidth=1.4, linestyle=(0, (1, 1.5)), label="without privacy")
        drawn.set_xscale("log")
        drawn.set_xticks(self.epsilons, [f"{epsilon:g}" for epsilon in self.epsilons])
        drawn.minorticks_off()
        drawn.grid(color=SOFT, alpha=0.18, linewidth=0.8)
        drawn.set_axisbelow(True)
        return explained(drawn, ncols=2, fontsize=9.5)


def score_curve(
    models: Mapping[str, Any],
    X: Any,
    y: Any,
    epsilons: Sequence[float],
    *,
    plain: Any = None,
    repeats: int = 5,
    held_out: float = 0.3,
) -> ScoreCurve:
    """Fit every model at every epsilon on random parts of the rows, and score it on the others.

    What comes back is for the owner of the rows: it is computed from them without noise, and no fit is charged.

    Args:
        models: private estimators by name; each is cloned and given every epsilon, all else as it is.
        X: rows of features.
        y: labels or numbers to be predicted.
        epsilons: the prices to try.
        plain: an estimator without privacy to compare with.
        repeats: how many random splits each score is a mean of.
        held_out: the frequency of rows that a score is computed on.
    """
    from sklearn.base import clone
    from sklearn.model_selection import train_test_split

    if not models or not epsilons:
        raise ParameterError("models and epsilons must have an entry each at least", parameter="models")
    levels = tuple(float(positive(one, name="epsilon")) for one in epsilons)
    times = whole_number(repeats, name="repeats", least=1, most=10_000)
    if not 0 < held_out < 1:
        raise ParameterError("held_out must be between 0 and 1; got another, write held_out=0.3", parameter="held_out")
    if len(np.asarray(y)) < 10:
        raise InputError("there must be at least ten rows to split; got fewer")
    scores = np.zeros((len(models), len(levels), times))
    plains = np.zeros(times)
    for split in range(times):
        train, test, known, asked = train_test_split(X, y, test_size=held_out, random_state=split)
        for line, model in enumerate(models.values()):
            for place, level in enumerate(levels):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", SenselessParameter)
                    fitted = clone(model).set_params(epsilon=level).fit(train, known)
                scores[line, place, split] = fitted.score(test, asked)
        if plain is not None:
            plains[split] = clone(plain).fit(train, known).score(test, asked)
    return ScoreCurve(
        tuple(models), levels, scores.mean(axis=2), scores.std(axis=2),
        None if plain is None else float(plains.mean()), times,
    )  # fmt: skip

"""The picture of an answer: bars or a line, with error bars."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any, cast

from discreet.display.plots import BLUE, INK, Plot, axes
from discreet.errors import ParameterError
from discreet.query.answer import Answer, key_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

_MOST_BARS = 60


def answer_plot(answer: Answer, column: str | None, confidence: float) -> Plot:
    """Draw one aggregate of an answer against its keys."""
    measured = answer.measured
    if not measured:
        raise ParameterError("this answer has no aggregate as it was released, so there is nothing to draw")
    name = column if column is not None else measured[0]
    if name not in measured:
        raise ParameterError(f"{name!r} is no aggregate of this answer; there are {', '.join(measured)}")
    estimates = answer.estimates(name, confidence)
    values = [float(one.value) for one in estimates]
    below = [value - one.low for value, one in zip(values, estimates, strict=True)]
    above = [one.high - value for value, one in zip(values, estimates, strict=True)]
    keys = key_columns(answer)
    title = f"{name}, with {100 * confidence:.6g} % intervals"
    labels: Sequence[object] = list(zip(*(answer[key] for key in keys), strict=True)) if keys else [("",)]
    if len(keys) == 1 and _ordered(answer[keys[0]]):
        drawn = axes(title=title, x_label=keys[0], y_label=name)
        drawn.errorbar(
            cast("Any", answer[keys[0]]), values, yerr=[below, above], color=BLUE, ecolor=INK, capsize=2, marker="o"
        )
        return Plot(drawn.figure)  # type: ignore[arg-type]
    shown = slice(0, _MOST_BARS)
    words = [", ".join(map(str, label)) for label in labels[shown]]  # type: ignore[call-overload]
    more = len(values) - len(words)
    drawn = axes(
        title=title + (f" (first {len(words)} of {len(values)})" if more > 0 else ""),
        x_label=name,
        y_label=", ".join(keys),
        height=max(2.2, 0.9 + 0.28 * len(words)),
    )
    places = list(range(len(words)))[::-1]
    drawn.barh(places, values[shown], xerr=[below[shown], above[shown]], color=BLUE, ecolor=INK, capsize=2)
    drawn.set_yticks(places, words)
    return Plot(drawn.figure)  # type: ignore[arg-type]


def _ordered(values: Sequence[object]) -> bool:
    """Say whether keys are numbers or dates, more than two, to be drawn along a line."""
    return len(values) > 2 and all(
        isinstance(value, int | float | date) and not isinstance(value, bool) for value in values
    )
